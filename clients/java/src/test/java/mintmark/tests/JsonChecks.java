package mintmark.tests;

import static mintmark.tests.Checks.check;
import static mintmark.tests.Checks.equal;
import static mintmark.tests.Checks.expect;
import static mintmark.tests.Checks.thrown;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import mintmark.json.Json;
import mintmark.json.JsonException;

/** Tests of the JSON reader and writer. */
final class JsonChecks {
    private JsonChecks() {}

    static void add() {
        check("reading and writing a JSON text returns the same text", () -> {
            for (var text : List.of(
                    "null", "true", "false", "0", "-1", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1.50", "2.5E+400",
                    "\"\"", "\"a\\\"\\\\\\n\\u0001\u007f\u2028\ufeff\uffff👩‍👩‍👧‍👦\"", "[]", "{}", "[1,[2,{\"a\":null}]]", "{\"b\":1,\"a\":2}")) {
                equal(Json.write(Json.read(text)), text);
            }
        });
        check("white space and escapes are read", () -> {
            equal(Json.read(" [ 1 ,\t2\r\n] "), List.of(1L, 2L));
            equal(Json.read("\"\\u0041\\/\\b\\f\\n\\r\\t\\ud83d\\ude00\""), "A/\b\f\n\r\t😀");
        });
        check("numbers keep all digits", () -> {
            equal(Json.read("123456789012345678901234567890"), new BigInteger("123456789012345678901234567890"));
            equal(Json.read("0.1000000000000000055511151231257827"), new BigDecimal("0.1000000000000000055511151231257827"));
            equal(Json.read("999999999999999999"), 999999999999999999L);
            equal(Json.write(List.of(1, 2L, (short) 3, 1.5, 0.25f, BigInteger.TEN)), "[1,2,3,1.5,0.25,10]");
        });
        check("invalid JSON is rejected", () -> {
            for (var text : List.of(
                    "", " ", "nul", "tru", "01", "1.", ".5", "+1", "-", "1e", "0x1", "NaN", "Infinity", "'a'", "\"a", "\"\\x\"", "\"\\u12g4\"",
                    "\"\\u００４１\"", "\"\n\"", "\"\\ud83d\"", "\"\\ude00\\ud83d\"", "[1,]", "[1 2]", "[", "{\"a\":1,}", "{\"a\" 1}", "{a:1}", "{1:1}",
                    "{\"a\":1,\"a\":2}", "1 2", "[]]", "/**/1", "1e99999999999", "\u00a01")) {
                thrown(JsonException.class, () -> Json.read(text));
            }
        });
        check("a number with too many digits is rejected without delay", () -> {
            equal(Json.read("9".repeat(10_000)).toString().length(), 10_000);
            for (var digits : List.of("9".repeat(10_000_000), "-0." + "9".repeat(10_000_000), "1e" + "9".repeat(10_000_000))) {
                var wrong = thrown(JsonException.class, () -> Json.read("[" + digits + "]"));
                expect(wrong.getMessage().contains("too many digits"), wrong);
            }
        });
        check("excessive nesting is rejected without a stack overflow", () -> {
            thrown(JsonException.TooDeep.class, () -> Json.read("[".repeat(1_000_000)));
            List<Object> deep = new ArrayList<>();
            for (int level = 0; level < 100; level++) {
                deep = new ArrayList<>(List.<Object>of(deep));
            }
            var tooDeep = deep;
            thrown(JsonException.TooDeep.class, () -> Json.write(tooDeep, 64));
        });
        check("values without a JSON form are rejected", () -> {
            var itself = new ArrayList<Object>();
            itself.add(itself);
            for (var value : new Object[] {
                Double.NaN, Float.NEGATIVE_INFINITY, Instant.EPOCH, new Date(), new Object(), 'c', new int[] {1}, Map.of(1, 2), itself, "\ud800x",
                Map.of("\udc00", 1)}) {
                thrown(JsonException.class, () -> Json.write(value));
            }
        });
        check("a value that occurs twice in an array is not a cycle", () -> {
            var twice = List.of(1);
            equal(Json.write(List.of(twice, twice)), "[[1],[1]]");
        });
    }
}
