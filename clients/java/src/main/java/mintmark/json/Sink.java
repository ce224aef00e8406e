package mintmark.json;

import java.util.Map;

/** Receives the members of a record, one at a time. A null value means that the member is absent. */
public interface Sink {
    /**
     * Receives a member.
     *
     * @param name its name on the wire
     * @param value its value
     */
    void put(String name, Object value);

    /**
     * Receives a member that must not be displayed.
     *
     * @param name its name on the wire
     * @param value its value
     */
    void secret(String name, Object value);

    /**
     * Receives a member with an arbitrary JSON value.
     *
     * @param name its name on the wire
     * @param value its value
     */
    void free(String name, Object value);

    /**
     * Receives the members that this client does not know.
     *
     * @param members the members
     */
    void unknown(Map<String, Object> members);
}
