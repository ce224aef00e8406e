"""A line that is not a request returns an error and does not affect the next line."""

import json
import random

from endtoend import EndToEnd

NOT_JSON = {
    "an open object": b"{",
    "an open array": b'{"jsonrpc": "2.0", "id": 1, "method": "system.ping", "params": [',
    "a trailing comma in an object": b'{"jsonrpc": "2.0", "id": 1, "method": "system.ping",}',
    "a trailing comma in an array": b'[{"jsonrpc": "2.0", "id": 1, "method": "system.ping"},]',
    "a leading comma": b'{,"jsonrpc": "2.0"}',
    "single quotes": b"{'jsonrpc': '2.0'}",
    "a bare name": b'{jsonrpc: "2.0"}',
    "a duplicate member": b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "system.ping"}',
    "a duplicate member, once escaped": b'{"jsonrpc": "2.0", "id": 1, "\\u0069d": 2, "method": "system.ping"}',
    "a duplicate member deep inside": b'{"jsonrpc": "2.0", "id": 1, "method": "system.ping", "params": {"a": [{"b": 1, "b": 1}]}}',
    "a lone high surrogate": b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "system.ping"}',
    "a lone low surrogate": b'{"jsonrpc": "2.0", "id": "\\udc00", "method": "system.ping"}',
    "surrogates the wrong way round": b'{"jsonrpc": "2.0", "id": "\\udc00\\ud800", "method": "system.ping"}',
    "a control character in a string": b'{"jsonrpc": "2.0", "id": "a\tb", "method": "system.ping"}',
    "a NUL byte in a string": b'{"jsonrpc": "2.0", "id": "a\0b", "method": "system.ping"}',
    "a NUL byte outside": b'{"jsonrpc": "2.0", "id": 1, "method": "system.ping"}\0',
    "bytes that are not UTF-8": b'{"jsonrpc": "2.0", "id": "\xff\xfe", "method": "system.ping"}',
    "overlong UTF-8": b'{"jsonrpc": "2.0", "id": "\xc0\xaf", "method": "system.ping"}',
    "a surrogate in UTF-8": b'{"jsonrpc": "2.0", "id": "\xed\xa0\x80", "method": "system.ping"}',
    "UTF-8 beyond U+10FFFF": b'{"jsonrpc": "2.0", "id": "\xf4\x90\x80\x80", "method": "system.ping"}',
    "UTF-8 cut off": b'{"jsonrpc": "2.0", "id": "\xe2\x82", "method": "system.ping"}',
    "an unknown escape": b'{"jsonrpc": "2.0", "id": "\\x41", "method": "system.ping"}',
    "a short escape": b'{"jsonrpc": "2.0", "id": "\\u12g4", "method": "system.ping"}',
    "an open string": b'{"jsonrpc": "2.0", "id": "abc',
    "NaN": b'{"jsonrpc": "2.0", "id": NaN, "method": "system.ping"}',
    "Infinity": b'{"jsonrpc": "2.0", "id": -Infinity, "method": "system.ping"}',
    "a leading zero": b'{"jsonrpc": "2.0", "id": 01, "method": "system.ping"}',
    "a plus sign": b'{"jsonrpc": "2.0", "id": +1, "method": "system.ping"}',
    "a bare point": b'{"jsonrpc": "2.0", "id": 1., "method": "system.ping"}',
    "a leading point": b'{"jsonrpc": "2.0", "id": .5, "method": "system.ping"}',
    "an empty exponent": b'{"jsonrpc": "2.0", "id": 1e, "method": "system.ping"}',
    "a hexadecimal number": b'{"jsonrpc": "2.0", "id": 0x10, "method": "system.ping"}',
    "a word cut off": b'{"jsonrpc": "2.0", "id": 1, "method": "system.ping", "params": nul}',
    "two texts on one line": b'{"jsonrpc": "2.0", "id": 1, "method": "system.ping"} {}',
    "a comment": b'{"jsonrpc": "2.0", /* hello */ "id": 1, "method": "system.ping"}',
    "a missing colon": b'{"jsonrpc" "2.0"}',
    "a missing comma": b'{"jsonrpc": "2.0" "id": 1}',
    "an HTTP request": b"GET / HTTP/1.1",
    "a Content-Length header": b"Content-Length: 40",
}

NO_REQUEST = {
    "a number": b"1",
    "a string": b'"system.ping"',
    "null": b"null",
    "true": b"true",
    "an empty object": b"{}",
    "an empty batch": b"[]",
    "no version": b'{"id": 1, "method": "system.ping"}',
    "another version": b'{"jsonrpc": "1.0", "id": 1, "method": "system.ping"}',
    "the version as a number": b'{"jsonrpc": 2.0, "id": 1, "method": "system.ping"}',
    "no method": b'{"jsonrpc": "2.0", "id": 1}',
    "a method that is a number": b'{"jsonrpc": "2.0", "id": 1, "method": 1}',
    "a method that is null": b'{"jsonrpc": "2.0", "id": 1, "method": null}',
    "an id that is an object": b'{"jsonrpc": "2.0", "id": {}, "method": "system.ping"}',
    "an id that is an array": b'{"jsonrpc": "2.0", "id": [1], "method": "system.ping"}',
    "an id that is true": b'{"jsonrpc": "2.0", "id": true, "method": "system.ping"}',
    "a trace that is a number": b'{"jsonrpc": "2.0", "id": 1, "method": "system.ping", "trace": 5}',
    "a trace of 129 characters": b'{"jsonrpc": "2.0", "id": 1, "method": "system.ping", "trace": "' + b"t" * 129 + b'"}',
}


def nested(depth, id=1):
    """Returns a request whose JSON is nested to `depth`. The request itself is level 1, its params level 2."""
    inner = depth - 2
    return f'{{"jsonrpc":"2.0","id":{id},"method":"system.ping","params":{{"deep":{"[" * inner}{"]" * inner}}}}}'.encode()


class MalformedLines(EndToEnd):
    stores = ("sqlite",)

    def check(self, sidecar, line, code, kind):
        answer = sidecar.raw(line)
        self.assertEqual(answer["error"]["code"], code, answer)
        self.assertEqual(answer["error"]["data"]["type"], kind)
        self.assertTrue(answer["error"]["message"])
        self.works(sidecar)
        return answer

    def test_invalid_json_fails_with_parse_error(self):
        """Each kind of invalid JSON fails with -32700, a null ID and the byte offset of the error."""
        sidecar = self.spawn()
        for name, line in NOT_JSON.items():
            with self.subTest(name):
                answer = self.check(sidecar, line, -32700, "parseError")
                self.assertIsNone(answer["id"])
                self.assertTrue(answer["error"]["data"]["reason"])
                self.assertLessEqual(answer["error"]["data"]["offset"], len(line))

    def test_parse_error_offset_is_the_invalid_byte(self):
        sidecar = self.spawn()
        for line, offset in ((b'{"a":tru}', 8), (b"[1,]", 3), ('"é" x'.encode(), 5)):
            with self.subTest(line):
                found = sidecar.raw(line)["error"]["data"]["offset"]
                # Both the start of the invalid token and its first invalid byte are accepted.
                self.assertTrue(offset - 3 <= found <= offset, found)

    def test_json_that_is_not_a_request_fails_with_invalid_request(self):
        """Each kind of invalid envelope fails with -32600."""
        sidecar = self.spawn()
        for name, line in NO_REQUEST.items():
            with self.subTest(name):
                self.check(sidecar, line, -32600, "invalidRequest")

    def test_params_that_are_not_an_object_fail(self):
        """Positional params are valid JSON-RPC but not supported. Other values are not valid. Both errors contain the request's ID."""
        sidecar = self.spawn()
        for params, code in ((b'["x"]', {-32600, -32602}), (b"[]", {-32600, -32602}), (b'"x"', {-32600}), (b"1", {-32600}), (b"true", {-32600})):
            answer = sidecar.raw(b'{"jsonrpc": "2.0", "id": 1, "method": "pool.get", "params": ' + params + b"}")
            self.assertIn(answer["error"]["code"], code, params)
            self.assertEqual(answer["id"], 1)
            self.works(sidecar)

    def test_line_of_two_mebibytes_fails(self):
        """A line that is too long fails with -32600 and a null ID, whatever its content."""
        sidecar = self.spawn()
        valid = b'{"jsonrpc":"2.0","id":1,"method":"system.ping","trace":"' + b"x" * (2 << 20) + b'"}'
        for line in (valid, b"x" * (2 << 20), b"[" * (2 << 20)):
            self.assertIsNone(self.check(sidecar, line, -32600, "invalidRequest")["id"])

    def test_line_of_one_mebibyte_is_read(self):
        """A line of 1 MiB is read. A line that is one byte longer fails."""
        sidecar = self.spawn()
        start, end = b'{"jsonrpc":"2.0","id":1,"method":"system.ping","params":{', b"}}"
        self.assertIn("result", sidecar.raw(start + b" " * ((1 << 20) - len(start) - len(end)) + end))
        self.check(sidecar, start + b" " * ((1 << 20) - len(start) - len(end) + 1) + end, -32600, "invalidRequest")

    def test_max_line_option_limits_the_line_length(self):
        sidecar = self.spawn("--max-line", "4096")
        self.assertIn("result", sidecar.raw(b'{"jsonrpc":"2.0","id":1,"method":"system.ping"' + b" " * 4000 + b"}"))
        self.check(sidecar, b'{"jsonrpc":"2.0","id":1,"method":"system.ping"' + b" " * 4100 + b"}", -32600, "invalidRequest")

    def test_a_hundred_thousand_brackets_fail_with_parse_error(self):
        sidecar = self.spawn()
        for line in (b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 100_000, nested(100_000)):
            self.check(sidecar, line, -32700, "parseError")

    def test_json_of_depth_64_is_read_and_depth_65_fails(self):
        sidecar = self.spawn()
        self.check(sidecar, nested(64), -32602, "invalidParams")
        self.check(sidecar, nested(65), -32700, "parseError")

    def test_random_bytes_fail_without_internal_error(self):
        """Each line of random bytes returns one parse or request error, never an internal error."""
        sidecar = self.spawn()
        noise = random.Random(7)
        for _ in range(200):
            line = noise.randbytes(noise.randrange(1, 3000)).replace(b"\n", b"\r").strip(b" \t\r") or b"x"
            answer = sidecar.raw(line)
            self.assertIn(answer["error"]["code"], (-32700, -32600), line)
            self.assertIsNone(answer["id"])
        self.works(sidecar)

    def test_request_with_changed_bytes_never_ends_the_process(self):
        """A request with changed bytes returns a result or an error, never an internal error, and the process continues."""
        sidecar = self.spawn(checked=False)   # All requests have the same ID, and some name other methods.
        noise = random.Random(8)
        request = b'{"jsonrpc":"2.0","id":"r","method":"pool.create","params":{"name":"shop","developerProvider":"login.shop","tags":{"a":"b"}}}'
        for _ in range(1000):
            line = bytearray(request)
            for _ in range(noise.choice((1, 1, 2, 5))):
                line[noise.randrange(len(line))] = noise.choice([b for b in range(256) if b not in (10, 13)])
            # A changed byte in `"id"` makes the line a notification, which has no response. The ping after it always has one.
            sidecar.write(bytes(line) + b"\n")
        self.works(sidecar)
        for answer in [json.loads(line) if isinstance(line, bytes) else line for line in sidecar.lines(0)]:
            self.assertNotEqual(answer.get("error", {}).get("code"), -32603, answer)

    def test_invalid_lines_between_requests_do_not_affect_them(self):
        """In one burst, each valid line returns its result and each invalid line its error."""
        sidecar = self.spawn()
        burst = b"".join(
            b"{broken\n" if i % 3 == 0 else b'{"jsonrpc":"2.0","id":%d,"method":"system.ping"}\n' % i for i in range(3000))
        sidecar.write(burst)
        answers = [json.loads(line) for line in sidecar.lines(3000)]
        self.assertEqual(sum(1 for a in answers if a.get("error", {}).get("code") == -32700), 1000)
        self.assertEqual({a["id"] for a in answers if "result" in a}, {i for i in range(3000) if i % 3})

    def test_last_line_without_newline_is_read(self):
        """The text before the end of input is a line even without a newline."""
        sidecar = self.spawn()
        sidecar.write(b'{"jsonrpc":"2.0","id":1,"method":"system.ping"}')
        sidecar.end_input()
        self.assertIn("result", sidecar.receive())
        self.assertEqual(sidecar.wait(), 0)
