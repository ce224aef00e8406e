package mintmark.json;

import java.util.Map;

/** An object of the contract. */
public interface JsonRecord {
    /**
     * Returns the members that are present, by their names on the wire, including those that this client does not know.
     *
     * @return the object, all of it JSON
     */
    Map<String, Object> toJson();
}
