package mintmark.json;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** What reads a value out of JSON. */
public final class Read {
    /** A text. */
    public static final Function<Object, String> STRING = value -> as(String.class, value, "a text");

    /** A truth value. */
    public static final Function<Object, Boolean> BOOLEAN = value -> as(Boolean.class, value, "true or false");

    /** A whole number. */
    public static final Function<Object, Long> LONG = Read::whole;

    /** A time, in seconds since 1970 on the wire. */
    public static final Function<Object, Instant> INSTANT = Read::instant;

    /** Any object. */
    public static final Function<Object, Map<String, Object>> OBJECT = Read::members;

    private Read() {}

    /**
     * A list.
     *
     * @param <T> what its elements are
     * @param element reads one
     * @return what reads the list
     */
    public static <T> Function<Object, List<T>> list(Function<Object, T> element) {
        return value -> {
            var list = as(List.class, value, "a list");
            var read = new ArrayList<T>(list.size());
            for (Object each : list) {
                read.add(Members.get(each, String.valueOf(read.size()), element));
            }
            return Collections.unmodifiableList(read);
        };
    }

    /**
     * An object with free names.
     *
     * @param <T> what its values are
     * @param element reads one
     * @return what reads the object
     */
    public static <T> Function<Object, Map<String, T>> map(Function<Object, T> element) {
        return value -> {
            var read = new LinkedHashMap<String, T>();
            members(value).forEach((name, each) -> read.put(name, Members.get(each, name, element)));
            return Collections.unmodifiableMap(read);
        };
    }

    /**
     * A record.
     *
     * @param <T> its type
     * @param of makes it of its members
     * @return what reads it
     */
    public static <T> Function<Object, T> object(Function<Map<String, ?>, T> of) {
        return value -> of.apply(members(value));
    }

    /**
     * A text of which some values are known.
     *
     * @param <T> its type
     * @param of makes it of its text
     * @return what reads it
     */
    public static <T> Function<Object, T> text(Function<String, T> of) {
        return value -> of.apply(STRING.apply(value));
    }

    private static Long whole(Object value) {
        try {
            if (value instanceof BigDecimal decimal) {
                return decimal.longValueExact();
            }
            if (value instanceof BigInteger large) {
                return large.longValueExact();
            }
        } catch (ArithmeticException tooLarge) {
            throw new JsonException("expected a whole number of 64 bits, found " + value);
        }
        return as(Number.class, value, "a whole number").longValue();
    }

    private static Instant instant(Object value) {
        try {
            return Instant.ofEpochSecond(whole(value));
        } catch (DateTimeException tooFar) {
            throw new JsonException("expected a time, found " + value);
        }
    }

    private static Map<String, Object> members(Object value) {
        var members = new LinkedHashMap<String, Object>();
        Map<?, ?> object = as(Map.class, value, "an object");
        object.forEach((name, each) -> members.put((String) name, each));
        return Collections.unmodifiableMap(members);
    }

    private static <T> T as(Class<T> type, Object value, String what) {
        if (!type.isInstance(value)) {
            throw new JsonException("expected " + what + ", found " + (value == null ? "null" : "a " + value.getClass().getSimpleName()));
        }
        return type.cast(value);
    }
}
