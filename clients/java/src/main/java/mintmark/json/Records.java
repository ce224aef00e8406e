package mintmark.json;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.function.Consumer;

/** Functions that all records share. */
public final class Records {
    private Records() {}

    /**
     * Converts a record to JSON.
     *
     * @param tell writes the members to the sink
     * @return the members, by their names on the wire
     */
    public static Map<String, Object> json(Consumer<Sink> tell) {
        var members = new LinkedHashMap<String, Object>();
        tell.accept(new Sink() {
            @Override
            public void put(String name, Object value) {
                free(name, plain(value));
            }

            @Override
            public void secret(String name, Object value) {
                free(name, plain(value));
            }

            @Override
            public void free(String name, Object value) {
                if (value != null) {
                    members.put(name, value);
                }
            }

            @Override
            public void unknown(Map<String, Object> more) {
                members.putAll(more);
            }
        });
        return members;
    }

    /**
     * Formats a record for display, without its secrets. Unknown members are hidden, because they may be secrets.
     *
     * @param name the record's name
     * @param tell writes the members to the sink
     * @return the text
     */
    public static String text(String name, Consumer<Sink> tell) {
        var text = new StringJoiner(", ", name + "[", "]");
        tell.accept(new Sink() {
            @Override
            public void put(String name, Object value) {
                if (value != null) {
                    text.add(name + "=" + value);
                }
            }

            @Override
            public void secret(String name, Object value) {
                put(name, value == null ? null : "[secret]");
            }

            @Override
            public void free(String name, Object value) {
                put(name, value);
            }

            @Override
            public void unknown(Map<String, Object> members) {
                members.keySet().forEach(name -> put(name, "[unknown]"));
            }
        });
        return text.toString();
    }

    /** Converts times to seconds and records to objects. Other values are already JSON. */
    private static Object plain(Object value) {
        if (value instanceof Instant time) {
            return time.getEpochSecond();
        }
        if (value instanceof JsonRecord record) {
            return record.toJson();
        }
        if (value instanceof JsonText text) {
            return text.value();
        }
        if (value instanceof List<?> elements) {
            var all = new ArrayList<Object>(elements.size());
            elements.forEach(each -> all.add(plain(each)));
            return all;
        }
        if (value instanceof Map<?, ?> members) {
            var all = new LinkedHashMap<Object, Object>();
            members.forEach((name, each) -> all.put(name, plain(each)));
            return all;
        }
        return value;
    }

    /**
     * Checks that a required value of a builder is set.
     *
     * @param <T> the type of the value
     * @param name the name of the value
     * @param value the value
     * @return the value
     * @throws IllegalArgumentException if it is null
     */
    public static <T> T required(String name, T value) {
        if (value == null) {
            throw new IllegalArgumentException(name + " is missing: it cannot be left out.");
        }
        return value;
    }

    /**
     * Applies a function to a builder.
     *
     * @param <B> the type of the builder
     * @param builder the builder
     * @param tell sets the values of the builder
     * @return the builder
     */
    public static <B> B told(B builder, Consumer<? super B> tell) {
        tell.accept(builder);
        return builder;
    }

    /**
     * Returns a new empty object.
     *
     * @return a mutable map
     */
    public static Map<String, Object> members() {
        return new LinkedHashMap<>();
    }

    /**
     * Returns an unmodifiable copy of a list.
     *
     * @param <T> the type of the elements
     * @param list the list, or null
     * @return the copy, or null
     */
    public static <T> List<T> copy(List<T> list) {
        return list == null ? null : Collections.unmodifiableList(new ArrayList<>(list));
    }

    /**
     * Returns an unmodifiable copy of a map.
     *
     * @param <T> the type of the values
     * @param map the map, or null
     * @return the copy, or null
     */
    public static <T> Map<String, T> copy(Map<String, T> map) {
        return map == null ? null : Collections.unmodifiableMap(new LinkedHashMap<>(map));
    }
}
