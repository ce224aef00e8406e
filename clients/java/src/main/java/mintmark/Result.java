package mintmark;

import java.lang.reflect.InvocationTargetException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import mintmark.json.Json;
import mintmark.json.JsonRecord;
import mintmark.json.Read;

/**
 * An immutable object that Mintmark returns or accepts. It keeps the complete JSON. A getter converts its member when it is called, and
 * fails with a {@link ProtocolException} if the JSON does not match the contract.
 */
public abstract class Result implements JsonRecord {
    private final Map<String, Object> members;

    /**
     * Creates an object.
     *
     * @param json its members, which must not change
     */
    protected Result(Map<String, Object> json) {
        members = json;
    }

    /**
     * Creates an object from JSON, for example in a test of code that reads results.
     *
     * @param <R> the type of the object
     * @param type its class
     * @param json its members
     * @return the object
     * @throws IllegalArgumentException if a value has no JSON
     */
    public static <R extends Result> R of(Class<R> type, Map<String, ?> json) {
        try {
            var constructor = type.getDeclaredConstructor(Map.class);
            constructor.setAccessible(true);
            return constructor.newInstance(Read.OBJECT.apply(Json.read(Json.write(json))));
        } catch (InvocationTargetException | IllegalAccessException | InstantiationException | NoSuchMethodException wrong) {
            throw new IllegalArgumentException(type + " is not a class of mintmark.contract.", wrong);
        }
    }

    /** Returns the complete JSON, with secrets. */
    @Override
    public final Map<String, Object> toJson() {
        return members;
    }

    /**
     * Returns the members that this client does not know.
     *
     * @return the members by their names
     */
    public final Map<String, Object> unknownMembers() {
        var unknown = new LinkedHashMap<>(members);
        unknown.keySet().removeAll(Shapes.known(shape()));
        return Collections.unmodifiableMap(unknown);
    }

    /** Two objects of the same class are equal if their JSON is equal. */
    @Override
    public final boolean equals(Object other) {
        return other instanceof Result result && getClass() == result.getClass() && members.equals(result.members);
    }

    @Override
    public final int hashCode() {
        return members.hashCode();
    }

    /** Hides secrets and the values of members that this client does not know. */
    @Override
    public final String toString() {
        return Shapes.text(shape(), members);
    }

    /** The line of the table of shapes that describes this object. */
    String shape() {
        return Shapes.name(getClass());
    }

    /**
     * The members, for the getters.
     *
     * @return the members
     */
    protected final Members json() {
        return new Members(members);
    }

    /**
     * Copies the members with another value.
     *
     * @param name the name of the member
     * @param value the value; null removes the member
     * @return the members of the copy
     */
    protected final Map<String, Object> with(String name, Object value) {
        return withJson(name, Values.plain(value));
    }

    /**
     * Copies the members with arbitrary JSON of the application.
     *
     * @param name the name of the member
     * @param value the JSON; null removes the member
     * @return the members of the copy
     */
    protected final Map<String, Object> withFree(String name, Object value) {
        return withJson(name, Values.free(value));
    }

    private Map<String, Object> withJson(String name, Object value) {
        var copy = new LinkedHashMap<>(members);
        Values.set(copy, name, value);
        return Collections.unmodifiableMap(copy);
    }

    /** The result of a method that was called by its name. */
    static final class Untyped extends Result {
        private final String method;

        Untyped(String method, Map<String, Object> json) {
            super(json);
            this.method = method;
        }

        @Override
        String shape() {
            return Shapes.result(method);
        }
    }
}
