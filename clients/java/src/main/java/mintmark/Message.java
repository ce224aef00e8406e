package mintmark;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import mintmark.json.Json;
import mintmark.json.JsonException;
import mintmark.json.Read;

/** Whatever comes out of the pipe. */
record Message(Map<?, ?> members) {
    /**
     * Reads a line.
     *
     * @return nothing if it is no message of JSON-RPC 2.0
     */
    static Message of(byte[] line) {
        try {
            var text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(line)).toString();
            return Json.read(text) instanceof Map<?, ?> members && "2.0".equals(members.get("jsonrpc")) ? new Message(members) : null;
        } catch (CharacterCodingException | JsonException garbage) {
            return null;
        }
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

    /** Whether it has a result, or an error as JSON-RPC has it. */
    boolean isAnswer() {
        var error = object(members.get("error"));
        return isError() ? error.get("code") instanceof Long && error.get("message") instanceof String : members.containsKey("result");
    }

    Map<String, Object> params() {
        return object(members.get("params"));
    }

    /** The error of an answer to a call. */
    Answer answer(String call) {
        var error = object(members.get("error"));
        var data = object(error.get("data"));
        return new Answer(
                error.get("code") instanceof Long code ? code.intValue() : 0, text(data.get("type")), text(error.get("message")), data, call,
                members.get("trace") instanceof String trace ? trace : null);
    }

    private static String text(Object value) {
        return value instanceof String text ? text : "";
    }

    static Map<String, Object> object(Object value) {
        return value instanceof Map<?, ?> ? Read.OBJECT.apply(value) : Map.of();
    }
}
