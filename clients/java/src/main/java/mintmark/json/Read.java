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

/** Converters from JSON values. */
public final class Read {
    /** A string. */
    public static final Function<Object, String> STRING = value -> as(String.class, value, "a text");

    /** A boolean. */
    public static final Function<Object, Boolean> BOOLEAN = value -> as(Boolean.class, value, "true or false");

    /** An integer. */
    public static final Function<Object, Long> LONG = Read::whole;

    /** A time; on the wire, in seconds since 1970-01-01 UTC. */
    public static final Function<Object, Instant> INSTANT = Read::instant;

    /** Any object. */
    public static final Function<Object, Map<String, Object>> OBJECT = Read::members;

    private Read() {}

    /**
     * Returns a converter for lists.
     *
     * @param <T> the type of the elements
     * @param element converts an element
     * @return the converter
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
     * Returns a converter for objects with arbitrary member names.
     *
     * @param <T> the type of the values
     * @param element converts a value
     * @return the converter
     */
    public static <T> Function<Object, Map<String, T>> map(Function<Object, T> element) {
        return value -> {
            var read = new LinkedHashMap<String, T>();
            members(value).forEach((name, each) -> read.put(name, Members.get(each, name, element)));
            return Collections.unmodifiableMap(read);
        };
    }

    /**
     * Returns a converter for records.
     *
     * @param <T> the type of the record
     * @param of creates the record from its members
     * @return the converter
     */
    public static <T> Function<Object, T> object(Function<Map<String, ?>, T> of) {
        return value -> of.apply(members(value));
    }

    /**
     * Returns a converter for strings with known values.
     *
     * @param <T> the type of the string
     * @param of creates the value from its text
     * @return the converter
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
