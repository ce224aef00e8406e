package mintmark.json;

/** A string with known values. */
public interface JsonText {
    /**
     * Returns the text in JSON.
     *
     * @return the text; null for a value that this client does not know
     */
    String value();
}
