package mintmark;

import java.util.AbstractMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;

/** Formats objects for display without secrets, from the table of their known members. The table is read when it is first needed. */
final class Shapes {
    private static final String SECRET = "!";
    private static final Map<String, Map<String, String>> TABLE = new LinkedHashMap<>();
    private static final Map<String, String> RESULTS = new LinkedHashMap<>();

    static {
        ShapeTable.TEXT.lines().forEach(Shapes::add);
    }

    private Shapes() {}

    private static void add(String line) {
        var words = line.split(" ");
        if (words[0].startsWith("=")) {
            RESULTS.put(words[0].substring(1), words[1]);
            return;
        }
        var members = new LinkedHashMap<String, String>();
        for (var word : List.of(words).subList(1, words.length)) {
            var parts = word.split(":", 2);
            boolean isSecret = word.endsWith(SECRET);
            members.put(isSecret ? word.substring(0, word.length() - 1) : parts[0], isSecret ? SECRET : parts.length == 2 ? parts[1] : "");
        }
        TABLE.put(words[0], members);
    }

    /** The key of a class of the contract. */
    static String name(Class<?> type) {
        var name = type.getName();
        return name.substring(name.lastIndexOf('.') + 1).replace('$', '.');
    }

    /** The key of the result of a method; the name of the method if this client does not know it. */
    static String result(String method) {
        return RESULTS.getOrDefault(method, method);
    }

    /** The known members. A variant has those of the type with variants. */
    private static Map<String, String> shape(String key) {
        var shape = TABLE.get(key);
        int end = key.lastIndexOf('.');
        return shape != null ? shape : end < 0 || key.startsWith(SECRET) ? Map.of() : TABLE.getOrDefault(key.substring(0, end), Map.of());
    }

    /** The names of the known members. */
    static Set<String> known(String key) {
        return shape(key).keySet();
    }

    /** Formats an object. The value of a member that is not in the table can be a secret. */
    static String text(String key, Map<?, ?> json) {
        var known = shape(key);
        var text = new StringJoiner(", ", (key.startsWith(SECRET) ? "" : key) + "[", "]");
        json.forEach((name, value) -> {
            var shape = known.get(name);
            var shown = shape == null ? "[unknown]" : shape.equals(SECRET) ? "[secret]" : shape.isEmpty() ? String.valueOf(value) : nested(shape, value);
            text.add(name + "=" + shown);
        });
        return text.toString();
    }

    private static String nested(String key, Object value) {
        if (value instanceof List<?> list) {
            return list.stream().map(each -> nested(key, each)).toList().toString();
        }
        if (!(value instanceof Map<?, ?> map)) {
            return String.valueOf(value);
        }
        // In a map of objects, the names are those of the application, and all values are objects.
        boolean isObject = map.isEmpty() || map.keySet().stream().anyMatch(known(key)::contains) || !map.values().stream().allMatch(Map.class::isInstance);
        if (isObject) {
            return text(key, map);
        }
        var all = new LinkedHashMap<Object, String>();
        map.forEach((name, each) -> all.put(name, nested(key, each)));
        return all.toString();
    }

    /** The details of an error: a map whose text hides secrets. */
    static final class Hidden extends AbstractMap<String, Object> {
        private final String key;
        private final Map<String, Object> json;

        Hidden(String type, Map<String, Object> json) {
            key = SECRET + type;
            this.json = json;
        }

        @Override
        public Set<Entry<String, Object>> entrySet() {
            return json.entrySet();
        }

        @Override
        public Object get(Object name) {
            return json.get(name);
        }

        @Override
        public boolean containsKey(Object name) {
            return json.containsKey(name);
        }

        @Override
        public String toString() {
            return text(key, json);
        }
    }
}
