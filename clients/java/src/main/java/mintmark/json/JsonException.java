package mintmark.json;

/** A text is not valid JSON, a value cannot be written as JSON, or a JSON value has an unexpected type. */
public class JsonException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    /**
     * Creates an exception.
     *
     * @param message the reason
     */
    public JsonException(String message) {
        super(message);
    }

    /** A value exceeds the maximum nesting depth. */
    public static final class TooDeep extends JsonException {
        private static final long serialVersionUID = 1;

        TooDeep(int levels) {
            super("it nests deeper than " + levels + " levels");
        }
    }
}
