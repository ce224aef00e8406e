package mintmark;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import mintmark.contract.Errors;
import mintmark.json.Json;
import mintmark.json.JsonException;

/** Encodes JSON-RPC 2.0 messages, one per line. */
final class Wire {
    /** The maximum nesting depth of parameters: Mintmark accepts 64 levels, including the request. */
    private static final int LEVELS = 63;

    /** The maximum length of the beginning of a request: its ID and progress token. */
    private static final int BEGINNING = 80;

    private Wire() {}

    /**
     * Encodes a request without its beginning, from the member after the ID onwards.
     *
     * @throws IllegalArgumentException if the method or its parameters are null or cannot be encoded as JSON
     * @throws ApiException if Mintmark would reject the line, because it is too long or too deeply nested
     */
    static byte[] body(String method, Map<String, ?> params, String trace, int longest) {
        if (method == null || params == null) {
            throw new IllegalArgumentException("A call requires a method and parameters: call(\"system.ping\", Map.of()).");
        }
        var text = new StringBuilder(128).append(",\"method\":");
        try {
            Json.append(text, method, LEVELS);
            Json.append(text.append(",\"params\":"), params, LEVELS);
            if (trace != null) {
                Json.append(text.append(",\"trace\":"), trace, LEVELS);
            }
        } catch (JsonException.TooDeep tooDeep) {
            throw refused(method, -32700, "parseError", "it nests deeper than 64 levels");
        } catch (JsonException wrong) {
            throw new IllegalArgumentException("The parameters of " + method + " are not JSON: " + wrong.getMessage() + ".", wrong);
        }
        var body = text.append("}\n").toString().getBytes(StandardCharsets.UTF_8);
        if (body.length + BEGINNING > longest) {
            throw refused(method, -32600, "invalidRequest", "it is longer than " + longest + " bytes (options.maxLineBytes)");
        }
        return body;
    }

    /** The error that Mintmark would return for a line that it cannot parse. */
    private static ApiException refused(String method, int code, String type, String reason) {
        Map<String, Object> data = Map.of("type", type, "reason", reason, "offset", 0L);
        return Errors.of(new ErrorResponse(code, "The request cannot be sent: " + reason + ".", data, method, null));
    }

    /** Encodes a complete request. If `isReporting` is set, its ID is also its progress token. */
    static byte[] line(long id, boolean isReporting, byte[] body) {
        var token = isReporting ? ",\"progressToken\":" + id : "";
        var beginning = ("{\"jsonrpc\":\"2.0\",\"id\":" + id + token).getBytes(StandardCharsets.UTF_8);
        var line = new byte[beginning.length + body.length];
        System.arraycopy(beginning, 0, line, 0, beginning.length);
        System.arraycopy(body, 0, line, beginning.length, body.length);
        return line;
    }

    static byte[] cancellation(long id) {
        return ("{\"jsonrpc\":\"2.0\",\"method\":\"$/cancelRequest\",\"params\":{\"id\":" + id + "}}\n").getBytes(StandardCharsets.UTF_8);
    }

    /** Whether a version such as 0.1.0 is below another. A text that is not a version is never below another. */
    static boolean isBelow(String version, String other) {
        if (!version.matches("\\d+(\\.\\d+)*([-+].*)?")) {
            return false;
        }
        var left = numbers(version);
        var right = numbers(other);
        for (int i = 0; i < right.length; i++) {
            if (left[i] != right[i]) {
                return left[i] < right[i];
            }
        }
        return false;
    }

    private static int[] numbers(String version) {
        var numbers = new int[3];
        var parts = version.split("[-+]", 2)[0].split("\\.");
        for (int i = 0; i < Math.min(parts.length, numbers.length); i++) {
            numbers[i] = parts[i].length() < 10 ? Integer.parseInt(parts[i]) : Integer.MAX_VALUE;
        }
        return numbers;
    }
}
