package mintmark.json;

import java.util.Map;

/** What a record tells its members to, one after the other. A member that is null is absent. */
public interface Sink {
    /**
     * A member.
     *
     * @param name its name on the wire
     * @param value it
     */
    void put(String name, Object value);

    /**
     * A member that must not be shown.
     *
     * @param name its name on the wire
     * @param value it
     */
    void secret(String name, Object value);

    /**
     * A member in which anything may stand.
     *
     * @param name its name on the wire
     * @param value it
     */
    void free(String name, Object value);

    /**
     * The members that this client does not know.
     *
     * @param members these
     */
    void unknown(Map<String, Object> members);
}
