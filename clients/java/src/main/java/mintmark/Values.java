package mintmark;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import mintmark.json.JsonRecord;
import mintmark.json.JsonText;

/** Converts typed values to JSON. */
final class Values {
    private Values() {}

    /** Converts times, objects and enumerations, also in lists and maps. Other values are already JSON, or fail when they are written. */
    static Object plain(Object value) {
        if (value instanceof Instant time) {
            return time.getEpochSecond();
        }
        if (value instanceof JsonRecord object) {
            return object.toJson();
        }
        if (value instanceof JsonText text) {
            if (text.value() == null) {
                throw new IllegalArgumentException(text + " is not a value of the contract. Send a newer value by m.call(\"method\", Map.of(…)).");
            }
            return text.value();
        }
        if (value instanceof List<?> elements) {
            var all = new ArrayList<Object>(elements.size());
            elements.forEach(each -> all.add(plain(each)));
            return Collections.unmodifiableList(all);
        }
        if (value instanceof Map<?, ?> members) {
            var all = new LinkedHashMap<Object, Object>();
            members.forEach((name, each) -> all.put(name, plain(each)));
            return Collections.unmodifiableMap(all);
        }
        return value;
    }

    /** Copies arbitrary JSON of the application, so that later changes of the map have no effect. */
    static Object free(Object value) {
        return value instanceof Map<?, ?> members ? Collections.unmodifiableMap(new LinkedHashMap<Object, Object>(members)) : value;
    }

    /** Sets a member, or removes it if the value is null. */
    static void set(Map<String, Object> members, String name, Object value) {
        if (value == null) {
            members.remove(name);
        } else {
            members.put(name, value);
        }
    }
}
