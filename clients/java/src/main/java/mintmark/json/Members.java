package mintmark.json;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/** The members of an object while a record is read from it. */
public final class Members {
    private final Map<String, Object> left;

    /**
     * Of an object.
     *
     * @param json its members; null stands for a member that is absent
     */
    public Members(Map<String, ?> json) {
        left = new LinkedHashMap<>(json);
    }

    /**
     * A member.
     *
     * @param <T> what it is
     * @param name its name on the wire
     * @param read reads it
     * @return the member, or null where it is absent
     * @throws JsonException if it is something else
     */
    public <T> T get(String name, Function<Object, T> read) {
        return get(left.remove(name), name, read);
    }

    static <T> T get(Object value, String name, Function<Object, T> read) {
        try {
            return value == null ? null : read.apply(value);
        } catch (JsonException wrong) {
            throw new JsonException(name + ": " + wrong.getMessage());
        }
    }

    /**
     * A whole number.
     *
     * @param name its name on the wire
     * @return the number; 0 where it is absent
     */
    public long number(String name) {
        Long value = get(name, Read.LONG);
        return value == null ? 0 : value;
    }

    /**
     * A truth value.
     *
     * @param name its name on the wire
     * @return the value; false where it is absent
     */
    public boolean truth(String name) {
        Boolean value = get(name, Read.BOOLEAN);
        return value != null && value;
    }

    /**
     * What was not asked for.
     *
     * @return the other members
     */
    public Map<String, Object> rest() {
        return Collections.unmodifiableMap(left);
    }
}
