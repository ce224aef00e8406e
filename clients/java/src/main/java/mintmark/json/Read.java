package mintmark.json;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Converters from JSON values. Each throws a {@link JsonException} if the value has another type. */
public final class Read {
    /** A string. */
    public static final Function<Object, String> STRING = value -> as(String.class, value, "a text");

    /** A boolean. */
    public static final Function<Object, Boolean> BOOLEAN = value -> as(Boolean.class, value, "true or false");

    /** An integer. */
    public static final Function<Object, Long> LONG = Read::whole;

    /** A time; in JSON, in seconds since 1970-01-01 UTC. */
    public static final Function<Object, Instant> INSTANT = Read::instant;

    /** Any object. */
    public static final Function<Object, Map<String, Object>> OBJECT = Read::members;

    /** The constants of each enumeration by their texts. */
    private static final ClassValue<Map<String, Object>> CONSTANTS = new ClassValue<>() {
        @Override
        protected Map<String, Object> computeValue(Class<?> type) {
            var constants = new HashMap<String, Object>();
            for (var constant : type.getEnumConstants()) {
                constants.put(((JsonText) constant).value(), constant);
            }
            return constants;
        }
    };

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
                read.add(named(each, String.valueOf(read.size()), element));
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
            members(value).forEach((name, each) -> read.put(name, named(each, name, element)));
            return Collections.unmodifiableMap(read);
        };
    }

    /**
     * Returns a converter for objects of the contract.
     *
     * @param <T> the type of the object
     * @param of creates the object from its members
     * @return the converter
     */
    public static <T> Function<Object, T> object(Function<Map<String, Object>, T> of) {
        return value -> of.apply(members(value));
    }

    /**
     * Returns a converter for enumerations.
     *
     * @param <E> the enumeration
     * @param type its class
     * @return the converter, which returns UNKNOWN_TO_SDK_VERSION for a text without a constant
     */
    public static <E extends Enum<E> & JsonText> Function<Object, E> constant(Class<E> type) {
        return value -> {
            var constants = CONSTANTS.get(type);
            var constant = constants.get(STRING.apply(value));
            return type.cast(constant == null ? constants.get(null) : constant);
        };
    }

    /**
     * Converts the value of a member.
     *
     * @param <T> the type of the result
     * @param value the value; null counts as absent
     * @param name the name of the member, for the exception
     * @param read converts the value
     * @return the result; null if the member is absent
     */
    public static <T> T named(Object value, String name, Function<Object, T> read) {
        try {
            return value == null ? null : read.apply(value);
        } catch (JsonException wrong) {
            throw new JsonException(name + ": " + wrong.getMessage());
        }
    }

    private static Long whole(Object value) {
        if (value instanceof Long number) {
            return number;
        }
        try {
            if (value instanceof BigDecimal decimal) {
                return decimal.longValueExact();
            }
            if (value instanceof BigInteger large) {
                return large.longValueExact();
            }
        } catch (ArithmeticException tooLarge) {
            throw new JsonException("expected an integer of 64 bits, found " + value);
        }
        return as(Number.class, value, "an integer").longValue();
    }

    private static Instant instant(Object value) {
        try {
            return Instant.ofEpochSecond(whole(value));
        } catch (DateTimeException tooFar) {
            throw new JsonException("expected a time, found " + value);
        }
    }

    /** The names of members that were read from JSON are strings. */
    @SuppressWarnings("unchecked")
    private static Map<String, Object> members(Object value) {
        return (Map<String, Object>) as(Map.class, value, "an object");
    }

    private static <T> T as(Class<T> type, Object value, String what) {
        if (!type.isInstance(value)) {
            throw new JsonException("expected " + what + ", found " + (value == null ? "null" : "a " + value.getClass().getSimpleName()));
        }
        return type.cast(value);
    }
}
