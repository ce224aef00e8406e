"""`--framing content-length`: the headers of the Language Server Protocol, as its clients write and read them."""

import json
import threading
import unittest

import neovim
from endtoend import EndToEnd
from pylsp_jsonrpc.endpoint import Endpoint
from pylsp_jsonrpc.exceptions import JsonRpcException
from pylsp_jsonrpc.streams import JsonRpcStreamReader, JsonRpcStreamWriter


def frame(message, header=""):
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"%sContent-Length: %d\r\n\r\n%s" % (header.encode(), len(body), body)


def ping(id):
    return {"jsonrpc": "2.0", "id": id, "method": "system.ping"}


def unframed(data):
    """Returns all messages of a stream, which must not contain anything else."""
    messages = []
    while data:
        header, _, rest = data.partition(b"\r\n\r\n")
        name, length = header.split(b": ")
        assert name == b"Content-Length", header
        messages.append(json.loads(rest[:int(length)]))
        data = rest[int(length):]
    return messages


class Framed(EndToEnd):
    stores = ("sqlite",)

    def exchange(self, data, *options, status=0, environment=None):
        """Returns the responses of a process to `data`, and its standard error."""
        sidecar = self.spawn(*(options or ["--framing", "content-length"]), reading=False, environment=environment)
        out, _ = sidecar.process.communicate(data, timeout=60)
        self.assertEqual(sidecar.process.returncode, status, sidecar.stderr_text())
        return unframed(out), sidecar.stderr_text()

    def client(self):
        """Returns a connected endpoint of python-lsp-jsonrpc."""
        sidecar = self.spawn("--framing", "content-length", reading=False, testing=True)
        notified = []
        writer = JsonRpcStreamWriter(sidecar.process.stdin)
        endpoint = Endpoint({"credentialsProvider/identityChanged": notified.append}, writer.write)
        reader = JsonRpcStreamReader(open(sidecar.process.stdout.fileno(), "rb", closefd=False))
        thread = threading.Thread(target=reader.listen, args=(endpoint.consume,), daemon=True)
        thread.start()
        self.addCleanup(endpoint.shutdown)
        self.addCleanup(thread.join, 20)
        self.addCleanup(sidecar.end_input)
        return endpoint, notified

    def test_client_of_language_server_protocol_works(self):
        """python-lsp-jsonrpc also sends Content-Type, and uses UUIDs as IDs."""
        client, notified = self.client()
        pool = client.request("pool.create", {"name": "shop", "developerProvider": "login.shop"}).result(60)
        futures = [client.request("token.mintForDeveloper", {"poolId": pool["poolId"], "logins": {"login.shop": f"u{n}"}}) for n in range(200)]
        self.assertEqual(len({each.result(60)["identityId"] for each in futures}), 200)
        with self.assertRaises(JsonRpcException) as refused:
            client.request("pool.create", {"name": "Bäckerei 🥨"}).result(60)
        self.assertEqual((refused.exception.code, refused.exception.data["type"]), (-32602, "invalidParams"))
        self.assertIn("Bäckerei 🥨", refused.exception.message)

    def test_notifications_are_framed(self):
        client, notified = self.client()
        pool = client.request("pool.create", {"name": "s", "developerProvider": "l", "allowUnauthenticated": True}).result(60)["poolId"]
        alice = client.request("token.mintForDeveloper", {"poolId": pool, "logins": {"l": "alice"}}).result(60)["identityId"]
        provider = client.request("credentialsProvider.open", {"poolId": pool}).result(60)["provider"]
        client.request("credentialsProvider.identityId", {"provider": provider}).result(60)
        client.request("credentialsProvider.setLogins", {"provider": provider, "logins": {"l": "alice"}}).result(60)
        self.assertEqual(client.request("credentialsProvider.identityId", {"provider": provider}).result(60)["identityId"], alice)
        self.assertEqual([each["newIdentityId"] for each in notified], [alice])

    def test_canceled_request_gets_response(self):
        """python-lsp-jsonrpc does not accept this response, so the test writes the frames itself."""
        sidecar = self.spawn("--framing", "content-length", reading=False, testing=True)
        sidecar.write(frame({"jsonrpc": "2.0", "id": 7, "method": "test.outbox", "params": {"waitSeconds": 60}}))
        sidecar.write(frame({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 7}}))
        sidecar.end_input()
        answers = unframed(sidecar.process.stdout.read())
        self.assertEqual([(each["id"], each["error"]["code"]) for each in answers], [(7, -32800)])

    @unittest.skipUnless(neovim.program(), "no Neovim here")
    def test_built_in_client_of_neovim_works(self):
        answers, errors = neovim.run(self.folder, ["--store", ":memory:", "--framing", "content-length"], [
            {"method": "pool.create", "params": {"name": "shop", "developerProvider": "login.shop"}}, {"method": "system.info"},
            {"method": "no.such"}, {"method": "system.ping"}])
        self.assertEqual([set(each) for each in answers], [{"result"}, {"result"}, {"error"}, {"result"}], errors)
        self.assertEqual((answers[0]["result"]["name"], answers[2]["error"]["code"]), ("shop", -32601))

    def test_fragmented_frames_and_batches_are_read(self):
        sidecar = self.spawn("--framing", "content-length", reading=False)
        for byte in frame([ping(1), ping(2)]) + frame(ping(3), "X-Field: y\r\n"):
            sidecar.write(bytes([byte]))
        sidecar.end_input()
        batch, single = sorted(unframed(sidecar.process.stdout.read()), key=lambda m: isinstance(m, dict))
        self.assertEqual(({each["id"] for each in batch}, single["id"]), ({1, 2}, 3))

    def test_environment_selects_framing(self):
        messages, _ = self.exchange(frame(ping(1)), "--sequential", environment={"MINTMARK_FRAMING": "content-length"})
        self.assertEqual([m["id"] for m in messages], [1])

    def test_unknown_framing_is_rejected(self):
        for options, environment in ((["--framing", "headers"], {}), (["--sequential"], {"MINTMARK_FRAMING": "headers"})):
            sidecar = self.spawn(*options, environment=environment)
            self.assertEqual(sidecar.wait(), 64)
            self.assertIn("must be lines or content-length, not 'headers'", sidecar.stderr_text())

    def test_oversized_body_is_skipped(self):
        """--max-line limits the body. The next message is read."""
        body = json.dumps({**ping(1), "x": "y" * 2000}).encode()
        messages, _ = self.exchange(frame(body) + frame(ping(2)) + frame(b"x" * 500_000) + frame(ping(3)),
                                    "--framing", "content-length", "--max-line", "1024")
        self.assertEqual([(m["id"], m["error"]["code"]) for m in messages if "error" in m], [(None, -32600)] * 2)
        self.assertIn("--max-line sets the limit", next(m for m in messages if "error" in m)["error"]["message"])
        self.assertEqual({m["id"] for m in messages if "result" in m}, {2, 3})

    def test_other_charset_is_rejected_and_next_message_read(self):
        messages, _ = self.exchange(frame(ping(1), "Content-Type: application/vscode-jsonrpc; charset=utf-16\r\n") + frame(ping(2)))
        self.assertEqual({(m["id"], "error" in m) for m in messages}, {(None, True), (2, False)})

    def test_invalid_json_is_rejected_and_next_message_read(self):
        messages, _ = self.exchange(frame(b"{nonsense") + frame(b"") + frame(b"\xff") + frame(ping(2)))
        self.assertEqual(sorted(m.get("error", {}).get("code", 0) for m in messages), [-32700, -32700, -32700, 0])
        for each in messages:
            self.assertNotIn("line", each.get("error", {}).get("message", ""))

    def test_malformed_header_ends_session_in_order(self):
        """Earlier requests get responses, the reason is returned and logged, later input is not read, and the exit status is 74."""
        for broken, word in ((b"Content-Length: -1\r\n\r\n", "decimal"), (b"Content-Length: 5\r\nContent-Length: 5\r\n\r\n", "twice"),
                             (b"\r\n", "no Content-Length"), (b"Content-Length: 99999999999\r\n\r\n", "67108864"),
                             (b"Content-Length: 5\n\n", "\\r\\n"), (b"X" * 5000, "4096"), (b'{"jsonrpc":"2.0","id":1}\n', "omit --framing"),
                             (b"Content-Length: 500\r\n\r\n{", "ended inside"), (b"Content-Le", "ended inside")):
            with self.subTest(broken[:40]):
                rest = b"" if word == "ended inside" else frame(ping(2))
                messages, log = self.exchange(frame(ping(1)) + broken + rest, status=74)
                refusals = [m["error"] for m in messages if m["id"] is None]
                self.assertEqual([each["code"] for each in refusals], [-32600])
                self.assertIn(word, refusals[0]["message"])
                self.assertEqual([m["id"] for m in messages if "result" in m], [1])
                self.assertIn("the requests cannot be read", log)
                self.assertIn("malformed header", log)

    def test_large_content_length_allocates_no_memory(self):
        sidecar = self.spawn("--framing", "content-length", "--max-line", "67108864", reading=False)
        sidecar.write(frame(ping(1)))
        sidecar.process.stdout.read(30)
        sidecar.write(b"Content-Length: 67108864\r\n\r\n{")
        with open(f"/proc/{sidecar.process.pid}/status") as status:
            resident = next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))
        self.assertLess(resident, 60_000)

    def test_headers_without_framing_option_name_option(self):
        sidecar = self.spawn()
        error = sidecar.raw(b"Content-Length: 58\r")["error"]
        self.assertEqual(error["code"], -32700)
        self.assertIn("--framing content-length", error["message"])
