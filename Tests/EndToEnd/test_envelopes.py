"""JSON-RPC envelopes: IDs, traces, batches, notifications and cancellation."""

import json
import random
import shutil
import subprocess
import time

from endtoend import EndToEnd, make_pool
from sidecar import request_line


def ping(id):
    return b'{"jsonrpc":"2.0","id":' + id + b',"method":"system.ping"}\n'


class Envelopes(EndToEnd):
    stores = ("sqlite",)

    def test_ids_are_returned_exactly_as_written(self):
        """Digits and escape sequences are preserved."""
        sidecar = self.spawn()
        for id in (b"1", b"0", b"-0", b"1.0", b"1.50", b"1e3", b"1E+2", b"-7", b"123456789012345678901234567890", b"0.1e-7",
                   b'""', b'"a"', b'"\\u0061"', b'"\\/"', '"é"'.encode(), b'"\\ud83d\\ude00"', b'"a\\nb"', b"null"):
            with self.subTest(id):
                sidecar.write(ping(id))
                self.assertIn(b'"id":' + id + b",", sidecar.lines(1)[0].replace(b'"id": ', b'"id":').replace(b"}", b",}"))

    def test_white_space_between_tokens_is_accepted(self):
        sidecar = self.spawn()
        self.assertEqual(sidecar.raw(b' \t{ "jsonrpc" :\t"2.0" , "id" : 1 , "method" : "system.ping" , "params" : { } } ')["id"], 1)

    def test_carriage_returns_and_blank_lines_are_accepted(self):
        sidecar = self.spawn()
        sidecar.write(b"\n\r\n   \n" + ping(b"1").replace(b"\n", b"\r\n") + b"\r\n\n" + ping(b"2"))
        self.assertEqual({sidecar.receive()["id"], sidecar.receive()["id"]}, {1, 2})

    def test_responses_have_exactly_their_members(self):
        sidecar = self.spawn()
        self.assertEqual(set(sidecar.raw(ping(b"1").strip())), {"jsonrpc", "id", "result"})
        self.assertEqual(set(sidecar.raw(b'{"jsonrpc":"2.0","id":1,"method":"no.such"}')), {"jsonrpc", "id", "error"})

    def test_params_can_be_omitted(self):
        sidecar = self.spawn()
        self.assertIn("result", sidecar.raw(ping(b"1").strip()))
        self.assertIn("result", sidecar.raw(b'{"jsonrpc":"2.0","id":1,"method":"system.ping","params":{}}'))

    def test_empty_array_and_null_params_count_as_omitted(self):
        """Neovim and some JVM libraries send them in calls without parameters."""
        sidecar = self.spawn()
        for params in (b"[]", b"null", b"[ ]"):
            self.assertIn("result", sidecar.raw(b'{"jsonrpc":"2.0","id":1,"method":"system.ping","params":%s}' % params))
            error = sidecar.raw(b'{"jsonrpc":"2.0","id":1,"method":"pool.get","params":%s}' % params)["error"]
            self.assertEqual([each["pointer"] for each in error["data"]["violations"]], ["/poolId"])
            answers = sidecar.raw(b'[{"jsonrpc":"2.0","id":1,"method":"system.ping","params":%s}]' % params)
            self.assertIn("result", answers[0])
        self.assertEqual(sidecar.raw(b'{"jsonrpc":"2.0","id":1,"method":"system.ping","params":[1]}')["error"]["code"], -32602)
        self.assertEqual(sidecar.raw(b'{"jsonrpc":"2.0","id":1,"method":"system.ping","params":""}')["error"]["code"], -32600)

    def test_trace_is_returned(self):
        sidecar = self.spawn()
        for line in (ping(b"1").replace(b'"id"', b'"trace":"order-17","id"'), b'{"jsonrpc":"2.0","id":1,"trace":"order-17","method":"no.such"}\n'):
            sidecar.write(line)
            self.assertEqual(sidecar.receive()["trace"], "order-17")
        self.assertNotIn("trace", sidecar.raw(ping(b"1").strip()))

    def test_notifications_get_no_response(self):
        """Notifications run, and get no response even if they fail."""
        sidecar = self.spawn()
        pool = "local-1:11111111-2222-3333-4444-555555555555"
        for line in (b'{"jsonrpc":"2.0","method":"system.ping"}\n', b'{"jsonrpc":"2.0","method":"no.such"}\n',
                     b'{"jsonrpc":"2.0","method":"pool.get","params":{"poolId":7}}\n',
                     request_line("pool.create", {"name": "shop", "poolId": pool})):
            sidecar.write(line)
        self.works(sidecar)
        deadline = time.monotonic() + 60
        while not sidecar.call("pool.list")["pools"] and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertEqual([p["poolId"] for p in sidecar.call("pool.list")["pools"]], [pool])
        self.assertEqual(sidecar.finish(), 0)
        self.assertEqual(sidecar.remaining(), [])

    def test_invalid_notification_gets_error_with_null_id(self):
        """A message that is neither a request nor a notification gets an error with a null ID (JSON-RPC 2.0, section 5)."""
        sidecar = self.spawn()
        for line in (b'{"jsonrpc":"2.0","method":5}', b'{"method":"system.ping"}', b'{"jsonrpc":"2.0","method":"system.ping","params":5}',
                     b'{"jsonrpc":"2.0","method":"no.such","params":5}', b'{"jsonrpc":"2.0","method":"system.ping","trace":5}'):
            answer = sidecar.raw(line)
            self.assertEqual((answer["id"], answer["error"]["code"]), (None, -32600), line)

    def test_cancellation_with_id_is_rejected(self):
        answer = self.spawn().raw(b'{"jsonrpc":"2.0","id":7,"method":"$/cancelRequest","params":{"id":1}}')
        self.assertEqual((answer["id"], answer["error"]["code"]), (7, -32600))
        self.assertIn("notification and must not have an id", answer["error"]["message"])

    def test_limit_errors_name_limit(self):
        """If a message is too deep or too long, the error names the limit and the option that sets it."""
        sidecar = self.spawn("--max-line", "2000")
        self.assertIn("64 levels", sidecar.raw(b"[" * 65 + b"]" * 65)["error"]["message"])
        self.assertIn("--max-line", sidecar.raw(b'"' + b"x" * 3000 + b'"')["error"]["message"])

    def test_batch_gets_one_response(self):
        """The response contains one result or error for each request, none for notifications, and one error for each invalid member."""
        sidecar = self.spawn()
        answers = sidecar.raw(json.dumps([
            {"jsonrpc": "2.0", "id": 1, "method": "system.ping"},
            {"jsonrpc": "2.0", "method": "system.ping"},
            {"jsonrpc": "2.0", "id": "two", "method": "no.such"},
            1,
            {"jsonrpc": "2.0", "id": 3, "method": "pool.create", "params": {"name": "shop"}},
            [],
        ]).encode())
        self.assertIsInstance(answers, list)
        self.assertEqual(len(answers), 5)
        by_id = {a["id"]: a for a in answers if a["id"] is not None}
        self.assertIn("now", by_id[1]["result"])
        self.assertEqual(by_id["two"]["error"]["code"], -32601)
        self.assertEqual(by_id[3]["result"]["name"], "shop")
        self.assertEqual([a["error"]["code"] for a in answers if a["id"] is None], [-32600, -32600])
        self.works(sidecar)

    def test_batch_of_notifications_gets_no_response(self):
        sidecar = self.spawn()
        sidecar.write(b'[{"jsonrpc":"2.0","method":"system.ping"},{"jsonrpc":"2.0","method":"no.such"}]\n')
        self.works(sidecar)
        self.assertEqual(sidecar.finish(), 0)
        self.assertEqual(sidecar.remaining(), [])

    def test_batch_has_at_most_100_members(self):
        sidecar = self.spawn()
        batch = [{"jsonrpc": "2.0", "id": i, "method": "system.ping"} for i in range(101)]
        self.assertEqual(len(sidecar.raw(json.dumps(batch[:100]).encode())), 100)
        answer = sidecar.raw(json.dumps(batch).encode())
        self.assertEqual((answer["error"]["code"], answer["id"]), (-32600, None))
        self.works(sidecar)

    def test_batch_of_100_writes_gets_100_responses(self):
        sidecar = self.spawn(store=self.path("store.db"))
        pool = make_pool(sidecar)["poolId"]
        batch = [{"jsonrpc": "2.0", "id": i, "method": "token.mintForDeveloper",
                  "params": {"poolId": pool, "logins": {"login.shop": f"user-{i % 7}"}}} for i in range(100)]
        answers = sidecar.raw(json.dumps(batch).encode())
        self.assertEqual({a["id"] for a in answers if "result" in a}, set(range(100)))
        self.assertEqual(len({a["result"]["identityId"] for a in answers}), 7)

    def test_canceled_request_gets_exactly_one_response(self):
        """The response is the result or the error -32800."""
        sidecar = self.spawn()
        sidecar.write(b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"never was"}}\n')
        sidecar.write(b'{"jsonrpc":"2.0","method":"$/cancelRequest"}\n{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":{}}}\n')
        self.works(sidecar)
        pool = make_pool(sidecar)["poolId"]
        for i in range(200):
            sidecar.write(request_line("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": f"u{i}"}}, id=f"m{i}")
                          + request_line("$/cancelRequest", {"id": f"m{i}"}))
        answers = [sidecar.receive(lambda m: str(m.get("id")).startswith("m")) for _ in range(200)]
        self.assertEqual({a["id"] for a in answers}, {f"m{i}" for i in range(200)})
        for answer in answers:
            self.assertTrue("result" in answer or answer["error"]["code"] == -32800, answer)
        self.works(sidecar)
        self.assertEqual(sidecar.finish(), 0)
        self.assertEqual(sidecar.remaining(), [])

    def test_sequential_responses_are_in_order(self):
        sidecar = self.spawn("--sequential")
        pool = make_pool(sidecar)["poolId"]
        sidecar.write(b"".join(
            request_line("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": f"u{i % 50}"}}, id=i) if i % 2 else ping(b"%d" % i)
            for i in range(1000)))
        self.assertEqual([json.loads(line)["id"] for line in sidecar.lines(1000)], list(range(1000)))

    def test_strings_are_unchanged_by_parsing_and_serialization(self):
        """Python and Node parse strings with unusual characters to equal values."""
        sidecar = self.spawn()
        noise = random.Random(9)
        alphabet = [chr(c) for c in (*range(1, 0x250), 0x2028, 0x2029, 0x20AC, 0xD7FF, 0xE000, 0xFFFD, 0xFFFF, 0x10000, 0x1F600, 0x10FFFF)] + ['"', "\\", "/"] * 20
        traces = ["".join(noise.choices(alphabet, k=noise.randrange(1, 60))) for _ in range(500)]
        for i, trace in enumerate(traces):
            sidecar.write(json.dumps({"jsonrpc": "2.0", "id": i, "method": "system.ping", "trace": trace}, ensure_ascii=i % 2 == 0).encode() + b"\n")
        lines = sidecar.lines(len(traces))
        self.assertEqual({json.loads(line)["id"]: json.loads(line)["trace"] for line in lines}, dict(enumerate(traces)))
        node = shutil.which("node")
        self.assertIsNotNone(node, "node is needed")
        script = 'for (const l of require("fs").readFileSync(0, "utf8").split("\\n")) if (l) console.log(JSON.stringify(JSON.parse(l)))'
        through = subprocess.run([node, "-e", script], input=b"\n".join(lines), capture_output=True, check=True).stdout.splitlines()
        self.assertEqual([json.loads(line) for line in through], [json.loads(line) for line in lines])
