package mintmark.json;

/**
 * JSON (RFC 8259). An object is a {@code Map<String, Object>} in its own order, an array a {@code List<Object>}; a whole number is a Long, or a
 * BigInteger where that is too small, any other number a BigDecimal: none loses a digit.
 */
public final class Json {
    private Json() {}

    /**
     * Reads one JSON text.
     *
     * @param text the text; a member twice, half of a character, or a number of more than 10,000 digits is refused
     * @return the value, null for null
     * @throws JsonException if it is no JSON
     */
    public static Object read(String text) {
        return new JsonReader(text).read();
    }

    /**
     * Writes a value: null, texts, booleans, finite numbers, maps with texts as names, collections, arrays of objects, records of the contract.
     *
     * @param value the value
     * @return its JSON, in one line
     * @throws JsonException if it has none: dates, NaN, half characters, what contains itself
     */
    public static String write(Object value) {
        return write(value, Integer.MAX_VALUE);
    }

    /**
     * The same within limits.
     *
     * @param value the value
     * @param levels how deep it may nest
     * @return its JSON
     * @throws JsonException if it has none
     */
    public static String write(Object value, int levels) {
        return new JsonWriter(levels).write(value);
    }
}
