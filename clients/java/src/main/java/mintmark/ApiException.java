package mintmark;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/** Mintmark returned an error. Each error that this client knows has a subclass in {@link mintmark.contract}. */
public class ApiException extends MintmarkException {
    private static final long serialVersionUID = 1;

    /** The error. */
    private final ErrorResponse response;

    /**
     * Creates an exception from an error.
     *
     * @param response the error
     */
    public ApiException(ErrorResponse response) {
        super(response.method() + ": " + response.message());
        this.response = response;
    }

    /** {@return the error as Mintmark returned it, whose message does not begin with the method} */
    public final ErrorResponse response() {
        return response;
    }

    /** {@return the number of the error, which is unique to its type and never changes} */
    public final int code() {
        return response.code();
    }

    /** {@return the stable name of the error} */
    public final String type() {
        return response.type();
    }

    /** {@return the details of the error by their names in JSON} The text of the map hides secrets. */
    public final Map<String, Object> data() {
        return new Shapes.Hidden(type(), response.data());
    }

    /** {@return the method that was called} */
    public final String method() {
        return response.method();
    }

    /** {@return the trace of the call} */
    public final Optional<String> trace() {
        return Optional.ofNullable(response.trace());
    }

    /** {@return the time after which the same call can succeed} Empty if a retry cannot succeed. */
    public final Optional<Duration> retryAfter() {
        return response.data().get("retryAfterSeconds") instanceof Long seconds ? Optional.of(Duration.ofSeconds(seconds)) : Optional.empty();
    }

    /**
     * The details, for the getters.
     *
     * @return the members
     */
    protected final Members json() {
        return new Members(response.data());
    }
}
