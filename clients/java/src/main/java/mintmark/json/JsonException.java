package mintmark.json;

/** A text is not JSON, a value has none, or JSON is not what it should be. */
public class JsonException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    /**
     * With what is wrong.
     *
     * @param message what is wrong
     */
    public JsonException(String message) {
        super(message);
    }

    /** A value nests deeper than it may. */
    public static final class TooDeep extends JsonException {
        private static final long serialVersionUID = 1;

        TooDeep(int levels) {
            super("it nests deeper than " + levels + " levels");
        }
    }
}
