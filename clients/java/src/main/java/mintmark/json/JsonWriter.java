package mintmark.json;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;

/** Writes one value as JSON. */
final class JsonWriter {
    private final StringBuilder text;
    private final int levels;

    /** The containers around the current value, to detect cycles. */
    private final ArrayList<Object> around = new ArrayList<>(4);

    JsonWriter(StringBuilder text, int levels) {
        this.text = text;
        this.levels = levels;
    }

    void append(Object value) {
        if (value == null || value instanceof Boolean) {
            text.append(value);
        } else if (value instanceof String string) {
            append(string);
        } else if (value instanceof Number number) {
            text.append(finite(number));
        } else if (value instanceof JsonText known) {
            append(known.value());
        } else if (value instanceof JsonRecord record) {
            append(record.toJson());
        } else if (value instanceof Map<?, ?> members) {
            enter(value);
            object(members);
            leave();
        } else if (value instanceof Collection<?> elements) {
            enter(value);
            array(elements);
            leave();
        } else if (value instanceof Object[] elements) {
            enter(value);
            array(Arrays.asList(elements));
            leave();
        } else {
            throw new JsonException("a " + value.getClass().getName() + " has no JSON: give its text, or a time as seconds since 1970");
        }
    }

    private void enter(Object container) {
        for (var each : around) {
            if (each == container) {
                throw new JsonException("a " + container.getClass().getSimpleName() + " contains itself");
            }
        }
        around.add(container);
        if (around.size() > levels) {
            throw new JsonException.TooDeep(levels);
        }
    }

    private void leave() {
        around.remove(around.size() - 1);
    }

    private void object(Map<?, ?> members) {
        text.append('{');
        String separator = "";
        for (var member : members.entrySet()) {
            if (!(member.getKey() instanceof String name)) {
                throw new JsonException("a member's name is a text, not " + member.getKey());
            }
            text.append(separator);
            append(name);
            text.append(':');
            append(member.getValue());
            separator = ",";
        }
        text.append('}');
    }

    private void array(Collection<?> elements) {
        text.append('[');
        String separator = "";
        for (var element : elements) {
            text.append(separator);
            append(element);
            separator = ",";
        }
        text.append(']');
    }

    private void append(String string) {
        if (hasHalfCharacter(string)) {
            throw new JsonException("a text has half of a character");
        }
        text.append('"');
        if (isPlain(string)) {
            text.append(string).append('"');
            return;
        }
        for (int i = 0; i < string.length(); i++) {
            char next = string.charAt(i);
            switch (next) {
                case '"', '\\' -> text.append('\\').append(next);
                case '\n' -> text.append("\\n");
                case '\r' -> text.append("\\r");
                case '\t' -> text.append("\\t");
                default -> {
                    if (next < ' ') {
                        text.append(String.format("\\u%04x", (int) next));
                    } else {
                        text.append(next);
                    }
                }
            }
        }
        text.append('"');
    }

    /** Whether the text needs no escapes. */
    private static boolean isPlain(String string) {
        for (int i = 0; i < string.length(); i++) {
            char next = string.charAt(i);
            if (next < ' ' || next == '"' || next == '\\') {
                return false;
            }
        }
        return true;
    }

    private static Number finite(Number number) {
        if (number instanceof Double || number instanceof Float) {
            if (!Double.isFinite(number.doubleValue())) {
                throw new JsonException("the number " + number + " has no JSON");
            }
        } else if (!(number instanceof Long || number instanceof Integer || number instanceof Short || number instanceof Byte
                || number instanceof BigInteger || number instanceof BigDecimal)) {
            throw new JsonException("a " + number.getClass().getName() + " has no JSON");
        }
        return number;
    }

    /** Whether the text contains an unpaired surrogate. */
    static boolean hasHalfCharacter(String string) {
        for (int i = 0; i < string.length(); i++) {
            char next = string.charAt(i);
            if (!Character.isSurrogate(next)) {
                continue;
            }
            if (Character.isLowSurrogate(next) || i + 1 == string.length() || !Character.isLowSurrogate(string.charAt(i + 1))) {
                return true;
            }
            i++;
        }
        return false;
    }
}
