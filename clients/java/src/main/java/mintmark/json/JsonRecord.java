package mintmark.json;

import java.util.Map;

/** An object of the contract. */
public interface JsonRecord {
    /**
     * Returns the members that are present by their names in JSON, including secrets and members that this client does not know.
     *
     * @return the object, all of it JSON
     */
    Map<String, Object> toJson();
}
