package mintmark.json;

/**
 * JSON (RFC 8259). An object is a {@code Map<String, Object>} that keeps the order of its members, and an array is a {@code List<Object>}.
 * An integer is a Long, or a BigInteger if it does not fit; any other number is a BigDecimal. No digits are lost.
 */
public final class Json {
    private Json() {}

    /**
     * Parses a JSON text.
     *
     * @param text the text; duplicate members, unpaired surrogates and numbers of more than 10,000 digits are rejected
     * @return the value, null for null
     * @throws JsonException if the text is not valid JSON
     */
    public static Object read(String text) {
        return new JsonReader(text).read();
    }

    /**
     * Writes a value: null, strings, booleans, finite numbers, maps with string keys, collections, object arrays, or records of the
     * contract.
     *
     * @param value the value
     * @return its JSON, in one line
     * @throws JsonException if the value cannot be written: dates, NaN, unpaired surrogates, cycles
     */
    public static String write(Object value) {
        return write(value, Integer.MAX_VALUE);
    }

    /**
     * Writes a value with a maximum nesting depth.
     *
     * @param value the value
     * @param levels the maximum depth
     * @return its JSON
     * @throws JsonException if the value cannot be written or is nested too deeply
     */
    public static String write(Object value, int levels) {
        var text = new StringBuilder();
        append(text, value, levels);
        return text.toString();
    }

    /**
     * Appends a value to a text, with a maximum nesting depth.
     *
     * @param text the text, which is incomplete if this method throws
     * @param value the value
     * @param levels the maximum depth
     * @throws JsonException if the value cannot be written or is nested too deeply
     */
    public static void append(StringBuilder text, Object value, int levels) {
        new JsonWriter(text, levels).append(value);
    }
}
