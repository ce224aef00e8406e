package mintmark.json;

/** A string with known values, which can also have other values. */
public interface JsonText {
    /**
     * Returns the text on the wire.
     *
     * @return the text
     */
    String value();
}
