package mintmark;

import java.io.Serializable;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/** An error that Mintmark returned, from which exceptions are created. */
public final class ErrorResponse implements Serializable {
    private static final long serialVersionUID = 1;

    /** The number of the error. */
    private final int code;
    /** The stable name of the error. */
    private final String type;
    /** The message. */
    private final String message;
    /** The details. */
    private final LinkedHashMap<String, Object> data;
    /** The method that was called. */
    private final String method;
    /** The trace of the call, or null. */
    private final String trace;

    ErrorResponse(int code, String message, Map<String, Object> data, String method, String trace) {
        this.code = code;
        this.message = message;
        this.data = new LinkedHashMap<>(data);
        this.method = method;
        this.trace = trace;
        type = data.get("type") instanceof String text ? text : "";
    }

    /** The same error with another message. */
    ErrorResponse saying(String other) {
        return new ErrorResponse(code, other, data, method, trace);
    }

    /** {@return the number of the error, which is unique to its type and never changes} */
    public int code() {
        return code;
    }

    /** {@return the message, which includes the next action} */
    public String message() {
        return message;
    }

    String type() {
        return type;
    }

    Map<String, Object> data() {
        return Collections.unmodifiableMap(data);
    }

    String method() {
        return method;
    }

    String trace() {
        return trace;
    }
}
