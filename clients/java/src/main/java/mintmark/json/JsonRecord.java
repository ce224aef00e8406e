package mintmark.json;

import java.util.Map;

/** An object of the contract. */
public interface JsonRecord {
    /**
     * Its members that are there, by their names on the wire, with those that this client does not know.
     *
     * @return the object, all of it JSON
     */
    Map<String, Object> toJson();
}
