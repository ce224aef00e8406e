package mintmark;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import mintmark.json.JsonException;
import mintmark.json.JsonText;
import mintmark.json.Read;

/** Reads the members of a JSON object. A method fails with a {@link ProtocolException} if its member is absent or has another type. */
public final class Members {
    private final Map<String, Object> json;

    Members(Map<String, Object> json) {
        this.json = json;
    }

    /**
     * {@return a string}
     * @param name the name of the member
     */
    public String text(String name) {
        return required(name, Read.STRING);
    }

    /**
     * {@return a string that may be absent}
     * @param name the name of the member
     */
    public Optional<String> optionalText(String name) {
        return optional(name, Read.STRING);
    }

    /**
     * {@return an integer}
     * @param name the name of the member
     */
    public long number(String name) {
        return required(name, Read.LONG);
    }

    /**
     * {@return an integer that may be absent}
     * @param name the name of the member
     */
    public OptionalLong optionalNumber(String name) {
        var number = read(name, Read.LONG);
        return number == null ? OptionalLong.empty() : OptionalLong.of(number);
    }

    /**
     * {@return a boolean}
     * @param name the name of the member
     */
    public boolean truth(String name) {
        return required(name, Read.BOOLEAN);
    }

    /**
     * {@return a boolean that may be absent}
     * @param name the name of the member
     */
    public Optional<Boolean> optionalTruth(String name) {
        return optional(name, Read.BOOLEAN);
    }

    /**
     * {@return a time}
     * @param name the name of the member
     */
    public Instant time(String name) {
        return required(name, Read.INSTANT);
    }

    /**
     * {@return a time that may be absent}
     * @param name the name of the member
     */
    public Optional<Instant> optionalTime(String name) {
        return optional(name, Read.INSTANT);
    }

    /**
     * {@return a constant of an enumeration}
     * @param <E> the enumeration
     * @param name the name of the member
     * @param type the class of the enumeration
     */
    public <E extends Enum<E> & JsonText> E constant(String name, Class<E> type) {
        return required(name, Read.constant(type));
    }

    /**
     * {@return a constant of an enumeration that may be absent}
     * @param <E> the enumeration
     * @param name the name of the member
     * @param type the class of the enumeration
     */
    public <E extends Enum<E> & JsonText> Optional<E> optionalConstant(String name, Class<E> type) {
        return optional(name, Read.constant(type));
    }

    /**
     * {@return an object}
     * @param <T> the type of the object
     * @param name the name of the member
     * @param of creates the object
     */
    public <T> T object(String name, Function<Map<String, Object>, T> of) {
        return required(name, Read.object(of));
    }

    /**
     * {@return an object that may be absent}
     * @param <T> the type of the object
     * @param name the name of the member
     * @param of creates the object
     */
    public <T> Optional<T> optionalObject(String name, Function<Map<String, Object>, T> of) {
        return optional(name, Read.object(of));
    }

    /**
     * {@return a list; empty if the member is absent}
     * @param <T> the type of the elements
     * @param name the name of the member
     * @param element converts an element
     */
    public <T> List<T> list(String name, Function<Object, T> element) {
        var list = read(name, Read.list(element));
        return list == null ? List.of() : list;
    }

    /**
     * {@return a map; empty if the member is absent}
     * @param <T> the type of the values
     * @param name the name of the member
     * @param value converts a value
     */
    public <T> Map<String, T> map(String name, Function<Object, T> value) {
        var map = read(name, Read.map(value));
        return map == null ? Map.of() : map;
    }

    /**
     * {@return an object with arbitrary JSON; empty if the member is absent}
     * @param name the name of the member
     */
    public Map<String, Object> free(String name) {
        var map = read(name, Read.OBJECT);
        return map == null ? Map.of() : map;
    }

    private <T> Optional<T> optional(String name, Function<Object, T> read) {
        return Optional.ofNullable(read(name, read));
    }

    private <T> T required(String name, Function<Object, T> read) {
        var value = read(name, read);
        if (value == null) {
            throw ProtocolException.ofMember(name + " is missing");
        }
        return value;
    }

    private <T> T read(String name, Function<Object, T> read) {
        try {
            return Read.named(json.get(name), name, read);
        } catch (JsonException wrong) {
            throw ProtocolException.ofMember(wrong.getMessage());
        }
    }
}
