package mintmark.json;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/** The members of a JSON object from which a record is read. */
public final class Members {
    private final Map<String, Object> left;

    /**
     * Creates a reader for a JSON object.
     *
     * @param json its members; a null value counts as absent
     */
    public Members(Map<String, ?> json) {
        left = new LinkedHashMap<>(json);
    }

    /**
     * Removes a member and converts its value.
     *
     * @param <T> the type of the member
     * @param name its name on the wire
     * @param read converts the value
     * @return the member, or null if it is absent
     * @throws JsonException if the value has an unexpected type
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
     * Removes a member that is an integer.
     *
     * @param name its name on the wire
     * @return the number, or 0 if it is absent
     */
    public long number(String name) {
        Long value = get(name, Read.LONG);
        return value == null ? 0 : value;
    }

    /**
     * Removes a member that is a boolean.
     *
     * @param name its name on the wire
     * @return the value, or false if it is absent
     */
    public boolean truth(String name) {
        Boolean value = get(name, Read.BOOLEAN);
        return value != null && value;
    }

    /**
     * The members that were not read.
     *
     * @return the remaining members
     */
    public Map<String, Object> rest() {
        return Collections.unmodifiableMap(left);
    }
}
