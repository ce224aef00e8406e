package mintmark.json;

/** A text of which some values are known. */
public interface JsonText {
    /**
     * The text on the wire.
     *
     * @return the text
     */
    String value();
}
