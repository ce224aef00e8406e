package mintmark.conformance;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import mintmark.json.Json;
import mintmark.json.Read;

/** A decoded step; each kind of step uses some of the members. */
record Step(Map<String, Object> members) {
    static Step of(String line) {
        return new Step(object(Json.read(line)));
    }

    static Map<String, Object> object(Object value) {
        return value == null ? Map.of() : Read.OBJECT.apply(value);
    }

    String what() {
        return text("do");
    }

    /** The step that a `begin` step begins. */
    Step then() {
        var other = new HashMap<>(members);
        other.put("do", members.getOrDefault("then", "call"));
        return new Step(other);
    }

    String text(String name) {
        return (String) members.get(name);
    }

    boolean truth(String name) {
        return Boolean.TRUE.equals(members.get(name));
    }

    List<?> list(String name) {
        return members.get(name) instanceof List<?> list ? list : List.of();
    }

    Map<String, Object> params() {
        return object(members.get("params"));
    }

    Map<String, String> logins() {
        return members.get("logins") == null ? null : Read.map(Read.STRING).apply(members.get("logins"));
    }

    /** The duration, or null if the member is absent or not positive. */
    Duration seconds(String name) {
        return members.get(name) instanceof Number seconds && seconds.doubleValue() > 0
                ? Duration.ofNanos((long) (seconds.doubleValue() * 1e9)) : null;
    }
}
