package mintmark;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import mintmark.json.JsonRecord;

/** The parameters of a method. They are not safe for use by multiple threads; a call copies them. */
public abstract class Params implements JsonRecord {
    /** The parameters of methods that have none. */
    public static final Params NONE = new Params() {};

    private final Map<String, Object> members = new LinkedHashMap<>();

    /** Creates parameters without values. */
    protected Params() {}

    /**
     * Sets parameters with a function.
     *
     * @param <P> the type of the parameters
     * @param params the parameters
     * @param fill sets the values
     * @return the parameters
     */
    public static <P extends Params> P filled(P params, Consumer<? super P> fill) {
        fill.accept(params);
        return params;
    }

    /**
     * Sets a value.
     *
     * @param <P> the type of the parameters
     * @param params the parameters
     * @param name the name of the member
     * @param value the value; null removes the member
     * @return the parameters
     */
    protected static <P extends Params> P set(P params, String name, Object value) {
        Values.set(members(params), name, Values.plain(value));
        return params;
    }

    /**
     * Sets a member with arbitrary JSON of the application.
     *
     * @param <P> the type of the parameters
     * @param params the parameters
     * @param name the name of the member
     * @param value the JSON; null removes the member
     * @return the parameters
     */
    protected static <P extends Params> P setFree(P params, String name, Object value) {
        Values.set(members(params), name, Values.free(value));
        return params;
    }

    /** Adds the values of other parameters. */
    static <P extends Params> P copied(P from, P to) {
        members(to).putAll(members(from));
        return to;
    }

    private static Map<String, Object> members(Params params) {
        return params.members;
    }

    /**
     * Checks that required members are set.
     *
     * @param names the names of the members
     * @return this
     * @throws IllegalArgumentException if a member is not set
     */
    public final Params require(String... names) {
        var missing = List.of(names).stream().filter(name -> !members.containsKey(name)).toList();
        if (!missing.isEmpty()) {
            throw new IllegalArgumentException(
                    getClass().getSimpleName() + ": " + String.join(" and ", missing) + (missing.size() == 1 ? " is" : " are") + " required.");
        }
        return this;
    }

    @Override
    public final Map<String, Object> toJson() {
        return Collections.unmodifiableMap(new LinkedHashMap<>(members));
    }

    /** The members without a copy. */
    final Map<String, Object> members() {
        return members;
    }

    /** Hides secrets. */
    @Override
    public final String toString() {
        return Shapes.text(Shapes.name(getClass()), members);
    }
}
