package mintmark.json;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A strict JSON parser. */
final class JsonReader {
    /** Responses nest as deep as requests at most; the envelope adds a few levels. */
    private static final int LEVELS = 256;

    /** Parsing a number takes quadratic time in the number of its digits. */
    private static final int DIGITS = 10_000;

    private final String text;
    private int at;

    JsonReader(String text) {
        this.text = text;
    }

    Object read() {
        var value = value(1);
        skip();
        if (at < text.length()) {
            throw wrong("something follows the value");
        }
        return value;
    }

    private Object value(int level) {
        skip();
        if (level > LEVELS) {
            throw new JsonException.TooDeep(LEVELS);
        }
        return switch (peek()) {
            case '{' -> object(level);
            case '[' -> array(level);
            case '"' -> string();
            case 't' -> word("true", Boolean.TRUE);
            case 'f' -> word("false", Boolean.FALSE);
            case 'n' -> word("null", null);
            default -> number();
        };
    }

    private Map<String, Object> object(int level) {
        var members = new LinkedHashMap<String, Object>();
        at++;
        skip();
        if (take('}')) {
            return Map.of();
        }
        do {
            skip();
            var name = string();
            skip();
            expect(':');
            int size = members.size();
            members.put(name, value(level + 1));
            if (members.size() == size) {
                throw wrong("a member occurs twice");
            }
            skip();
        } while (take(','));
        expect('}');
        return Collections.unmodifiableMap(members);
    }

    private List<Object> array(int level) {
        var elements = new ArrayList<Object>();
        at++;
        skip();
        if (take(']')) {
            return List.of();
        }
        do {
            elements.add(value(level + 1));
            skip();
        } while (take(','));
        expect(']');
        return Collections.unmodifiableList(elements);
    }

    private String string() {
        expect('"');
        int start = at;
        int bits = 0;
        for (; at < text.length(); at++) {
            char next = text.charAt(at);
            if (next == '"' || next == '\\' || next < ' ') {
                break;
            }
            bits |= next;
        }
        if (peek() == '"') {
            var read = text.substring(start, at++);
            return bits < Character.MIN_SURROGATE ? read : whole(read);
        }
        var read = new StringBuilder().append(text, start, at);
        while (!take('"')) {
            char next = peek();
            if (next < ' ') {
                throw wrong("a control character stands in a string");
            }
            at++;
            read.append(next == '\\' ? escaped() : next);
        }
        return whole(read.toString());
    }

    /** Rejects unpaired surrogates, so that every string that was read can be written again. */
    private String whole(String read) {
        if (JsonWriter.hasHalfCharacter(read)) {
            throw wrong("a string has half of a character");
        }
        return read;
    }

    private char escaped() {
        char kind = peek();
        at++;
        return switch (kind) {
            case '"', '\\', '/' -> kind;
            case 'b' -> '\b';
            case 'f' -> '\f';
            case 'n' -> '\n';
            case 'r' -> '\r';
            case 't' -> '\t';
            case 'u' -> unit();
            default -> throw wrong("there is no such escape");
        };
    }

    private char unit() {
        int unit = 0;
        for (int i = 0; i < 4; i++) {
            char next = peek();
            int digit = next < 128 ? Character.digit(next, 16) : -1;
            if (digit < 0) {
                throw wrong("an escape has four hexadecimal digits");
            }
            unit = unit * 16 + digit;
            at++;
        }
        return (char) unit;
    }

    private Object number() {
        int start = at;
        take('-');
        if (!take('0')) {
            digits();
        }
        boolean isWhole = true;
        if (take('.')) {
            digits();
            isWhole = false;
        }
        if (take('e') || take('E')) {
            if (!take('+')) {
                take('-');
            }
            digits();
            isWhole = false;
        }
        if (at - start > DIGITS) {
            throw wrong("a number has too many digits");
        }
        var digits = text.substring(start, at);
        if (!isWhole) {
            try {
                return new BigDecimal(digits);
            } catch (NumberFormatException tooLarge) {
                throw wrong("a number is too large");
            }
        }
        return digits.length() <= 18 ? (Object) Long.valueOf(digits) : whole(new BigInteger(digits));
    }

    private static Number whole(BigInteger number) {
        return number.bitLength() < 64 ? (Number) number.longValue() : number;
    }

    private void digits() {
        int start = at;
        while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
            at++;
        }
        if (at == start) {
            throw wrong("a value is missing");
        }
    }

    private Object word(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw wrong("a value is missing");
        }
        at += word.length();
        return value;
    }

    private void skip() {
        while (at < text.length()) {
            char next = text.charAt(at);
            if (next != ' ' && next != '\n' && next != '\t' && next != '\r') {
                return;
            }
            at++;
        }
    }

    private char peek() {
        if (at >= text.length()) {
            throw wrong("it ends too early");
        }
        return text.charAt(at);
    }

    private boolean take(char wanted) {
        boolean isThere = at < text.length() && text.charAt(at) == wanted;
        at += isThere ? 1 : 0;
        return isThere;
    }

    private void expect(char wanted) {
        if (!take(wanted)) {
            throw wrong("a " + wanted + " is missing");
        }
    }

    private JsonException wrong(String what) {
        return new JsonException("This is no JSON: " + what + ", at the character " + at + ".");
    }
}
