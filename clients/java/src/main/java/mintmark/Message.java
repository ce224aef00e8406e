package mintmark;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import mintmark.json.Json;
import mintmark.json.JsonException;
import mintmark.json.Read;

/** A message from the process. */
record Message(Map<?, ?> members) {
    private static final char REPLACEMENT = '\ufffd';
    /** The beginning of most responses, and what follows their ID. */
    private static final byte[] HEAD = "{\"jsonrpc\":\"2.0\",\"id\":".getBytes(StandardCharsets.UTF_8);
    private static final byte[] RESULT = ",\"result\":".getBytes(StandardCharsets.UTF_8);

    /**
     * Parses a line.
     *
     * @return the message, or null if the line is not a JSON-RPC 2.0 message
     */
    static Message of(byte[] line) {
        try {
            var quick = quickly(line);
            if (quick != null) {
                return quick;
            }
            var text = new String(line, StandardCharsets.UTF_8);
            if (text.indexOf(REPLACEMENT) >= 0) {
                // The character occurs in the line, or replaces bytes that are not valid.
                text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(line)).toString();
            }
            return Json.read(text) instanceof Map<?, ?> members && "2.0".equals(members.get("jsonrpc")) ? new Message(members) : null;
        } catch (CharacterCodingException | JsonException garbage) {
            return null;
        }
    }

    /** Parses a response in the form in which Mintmark writes results. Returns null for any other line. */
    private static Message quickly(byte[] line) {
        int at = HEAD.length;
        if (!has(line, 0, HEAD) || line[line.length - 1] != '}') {
            return null;
        }
        long id = 0;
        for (; at < line.length && at - HEAD.length < 18 && line[at] >= '0' && line[at] <= '9'; at++) {
            id = id * 10 + line[at] - '0';
        }
        // The IDs of this client begin with 1.
        if (line[HEAD.length] == '0' || !has(line, at, RESULT)) {
            return null;
        }
        at += RESULT.length;
        var text = new String(line, at, line.length - 1 - at, StandardCharsets.UTF_8);
        if (text.indexOf(REPLACEMENT) >= 0) {
            return null;
        }
        try {
            var result = Json.read(text);
            return result == null ? null : new Message(Map.of("id", id, "result", result));
        } catch (JsonException other) {
            return null;
        }
    }

    private static boolean has(byte[] line, int at, byte[] part) {
        return line.length > at + part.length && Arrays.equals(line, at, at + part.length, part, 0, part.length);
    }

    Object id() {
        return members.get("id");
    }

    String method() {
        return members.get("method") instanceof String method ? method : null;
    }

    Object result() {
        return members.get("result");
    }

    boolean isError() {
        return members.get("error") != null;
    }

    /** Whether the message has a result, or an error object as defined by JSON-RPC 2.0. */
    boolean isAnswer() {
        var error = object(members.get("error"));
        return isError() ? error.get("code") instanceof Long && error.get("message") instanceof String : members.containsKey("result");
    }

    Map<String, Object> params() {
        return object(members.get("params"));
    }

    /** The error that this message returns for a call. */
    ErrorResponse error(String method) {
        var error = object(members.get("error"));
        return new ErrorResponse(
                error.get("code") instanceof Long code ? code.intValue() : 0, error.get("message") instanceof String text ? text : "",
                object(error.get("data")), method, members.get("trace") instanceof String trace ? trace : null);
    }

    static Map<String, Object> object(Object value) {
        return value instanceof Map<?, ?> ? Read.OBJECT.apply(value) : Map.of();
    }
}
