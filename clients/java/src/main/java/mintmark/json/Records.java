package mintmark.json;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.function.Consumer;

/** What all records do. */
public final class Records {
    private Records() {}

    /**
     * A record as JSON.
     *
     * @param tell tells its members
     * @return its members, by their names on the wire
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
     * A record for people, without its secrets. A member that is not known may be one.
     *
     * @param name the record's name
     * @param tell tells its members
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

    /** Times are counted in seconds, records are objects; all else is JSON already. */
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
     * Looks that a builder was told what cannot be left out.
     *
     * @param <T> what it is
     * @param name its name
     * @param value it
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
     * A builder, once it has been told.
     *
     * @param <B> its type
     * @param builder it
     * @param tell tells it
     * @return the builder
     */
    public static <B> B told(B builder, Consumer<? super B> tell) {
        tell.accept(builder);
        return builder;
    }

    /**
     * An object without members.
     *
     * @return one that can be changed
     */
    public static Map<String, Object> members() {
        return new LinkedHashMap<>();
    }

    /**
     * A list that does not change with another.
     *
     * @param <T> what its elements are
     * @param list the other, or null
     * @return the copy, or null
     */
    public static <T> List<T> copy(List<T> list) {
        return list == null ? null : Collections.unmodifiableList(new ArrayList<>(list));
    }

    /**
     * A map that does not change with another.
     *
     * @param <T> what its values are
     * @param map the other, or null
     * @return the copy, or null
     */
    public static <T> Map<String, T> copy(Map<String, T> map) {
        return map == null ? null : Collections.unmodifiableMap(new LinkedHashMap<>(map));
    }
}
