"""`--trace-file`: records all messages in both directions without their secrets, and never impairs the service."""

import json
import os
import resource
import stat
import subprocess
import time

import stores
from endtoend import EndToEnd
from sidecar import binary, clean_environment


class Traces(EndToEnd):
    stores = ("sqlite",)

    def setUp(self):
        super().setUp()
        self.file = self.path("trace.jsonl")

    def traced(self, *options, **more):
        return self.spawn("--trace-file", self.file, *options, **{"testing": True, **more})

    def records(self, file=None):
        with open(file or self.file, encoding="utf-8") as opened:
            return [json.loads(line) for line in opened]

    def last_line(self):
        """Returns the last record, or an empty dictionary if the last line is incomplete."""
        with open(self.file, encoding="utf-8") as opened:
            lines = opened.read().split("\n")
        try:
            return json.loads(lines[-2]) if lines[-1] == "" else {}
        except ValueError:
            return {}

    def text(self):
        with open(self.file, encoding="utf-8") as opened:
            return opened.read()

    def test_every_message_is_recorded_with_time_and_direction(self):
        sidecar = self.traced()
        sidecar.call("system.ping", trace="order-17")
        sidecar.raw(b'[{"jsonrpc":"2.0","id":"b","method":"system.ping"},{"jsonrpc":"2.0","id":"c","method":"no.such"}]')
        sidecar.write(b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}\n')
        sidecar.raw(b"{nonsense")
        sidecar.finish()
        records = self.records()
        self.assertEqual([r["direction"] for r in records if isinstance(r.get("message"), dict) and r["message"].get("id") == 1], ["in", "out"])
        first, answer = records[0], next(r for r in records if r["direction"] == "out")
        self.assertEqual(first["message"], {"jsonrpc": "2.0", "id": 1, "trace": "order-17", "method": "system.ping"})
        self.assertIn("now", answer["message"]["result"])
        self.assertLessEqual(first["at"], answer["at"])
        self.assertGreater(first["at"], 1_600_000_000)
        self.assertEqual({r["process"] for r in records}, {sidecar.process.pid})
        self.assertEqual([len(r["message"]) for r in records if isinstance(r.get("message"), list)], [2, 2])
        self.assertIn({"id": 1}, [r["message"].get("params") for r in records if isinstance(r.get("message"), dict)])
        self.assertEqual([r["unreadableBytes"] for r in records if "unreadableBytes" in r], [9])
        self.assertEqual(len(records), 7)

    def test_no_secret_is_recorded(self):
        """Passwords, tokens, codes and keys: in params, results and error data, and in unexpected places."""
        sidecar = self.traced()
        secrets = ["hunter2-hunter2!", "b64-Secret-of-a-client"]
        pool = sidecar.call("pool.create", {"name": "shop", "developerProvider": "login.shop"})["poolId"]
        role = sidecar.call("role.put", {"name": "shopper", "poolId": pool})["roleArn"]
        sidecar.call("pool.setRoles", {"poolId": pool, "roles": {"authenticated": role}})
        minted = sidecar.call("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": "alice-at-shop"}})
        credentials = sidecar.call("credentials.get", {"token": minted["token"]})["credentials"]
        secrets += [minted["token"], "alice-at-shop", credentials["secretAccessKey"], credentials["sessionToken"]]
        sidecar.call("idp.create", {"providerId": "oidc.work", "issuer": "https://login.example.com", "clientId": "shop",
                                    "clientSecret": secrets[1], "responseType": "code"})
        step = sidecar.call("signUp.start", {"username": "alice@example.com", "password": secrets[0]})
        sidecar.refusal("signUp.submitCode", {"continuationToken": step["continuationToken"], "code": "00000001"})
        secrets += [step["continuationToken"], "00000001"]
        # Secrets in misspelled parameters, in the params of unknown methods, outside of the params, and in lines that are not valid JSON.
        sidecar.refusal("signIn.withPassword", {"username": "alice@example.com", "pasword": "misspelt-hunter2"})
        sidecar.refusal("signin.withPassword", {"password": "elsewhere-hunter2"})
        sidecar.refusal("account.import", {"accounts": [{"email": "bob@example.com", "pasword_hash": "nested-hunter2", "factors": [{"kind": "totp", "seed": "deeper-hunter2"}]}]})
        sidecar.refusal("signIn.withCredential", {"credential": {"providerId": "oidc.work", "tokn": "credential-hunter2"}})
        secrets += ["nested-hunter2", "deeper-hunter2", "credential-hunter2"] + [each["code"] for each in sidecar.call("test.outbox")["messages"]]
        sidecar.raw(b'{"jsonrpc":"2.0","id":"p","method":"system.ping","password":"beside-hunter2"}')
        sidecar.raw(b'{"password":"unreadable-hunter2"')
        sidecar.raw(b'"alone-hunter2"')
        secrets += ["misspelt-hunter2", "elsewhere-hunter2", "beside-hunter2", "unreadable-hunter2", "alone-hunter2"]
        self.assertEqual(sidecar.finish(), 0)
        text = self.text()
        for secret in secrets:
            self.assertNotIn(secret, text)
        self.assertIn('"token":"***"', text)
        self.assertIn(minted["identityId"], text)
        self.assertIn("alice@example.com", text)
        self.assertIn(credentials["accessKeyId"], text)
        self.assertGreater(text.count("***"), 10)

    def test_step_is_masked_by_the_schema_of_its_state(self):
        sidecar = self.traced()
        step = sidecar.call("signUp.start", {"username": "alice@example.com"})
        account = sidecar.call("account.create", {"username": "bob@example.com", "password": "correct horse 9 Battery"})
        signed_in = sidecar.call("signIn.withPassword", {"username": "bob@example.com", "password": "correct horse 9 Battery"})
        nodes = sidecar.call("account.graph", {"accountId": account["accountId"]})["nodes"]
        sidecar.finish()
        results = [each["message"].get("result") for each in self.records() if each["direction"] == "out"]
        self.assertIn({**step, "continuationToken": "***"}, results)
        masked = {**signed_in, **{name: "***" for name in ("idToken", "accessToken", "refreshToken")}}
        masked["account"]["attributes"] = "***"
        self.assertIn(masked, results)
        self.assertIn(nodes, [each.get("nodes") for each in results if each])

    def test_result_of_an_ambiguous_request_is_masked(self):
        """The responses to two requests with the same ID can be sent in any order."""
        sidecar = self.traced()
        pool = sidecar.call("pool.create", {"name": "shop", "developerProvider": "login.shop"})["poolId"]
        mint = {"poolId": pool, "logins": {"login.shop": "a"}}
        both = [json.dumps({"jsonrpc": "2.0", "id": "x", "method": m, "params": p}).encode() + b"\n"
                for m, p in (("token.mintForDeveloper", mint), ("pool.list", {}))]
        sidecar.write(b"".join(both * 20))
        answers = [sidecar.receive() for _ in range(40)]
        sidecar.finish()
        for answer in answers:
            if "token" in answer["result"]:
                self.assertNotIn(answer["result"]["token"], self.text())

    def test_error_data_is_masked_by_the_schema_of_the_error(self):
        sidecar = self.traced()
        sidecar.refusal("pool.get", {"poolId": 7})
        sidecar.finish()
        error = self.records()[-1]["message"]["error"]
        self.assertEqual((error["code"], error["data"]["violations"][0]["pointer"]), (-32602, "/poolId"))

    def test_mcp_tool_calls_are_masked(self):
        store, needed = stores.current.place(":memory:")
        lines = [
            {"id": "i", "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
            {"id": 1, "method": "tools/call", "params": {"name": "pool_create", "arguments": {"name": "shop", "developerProvider": "login.shop"}}},
            {"id": 2, "method": "tools/call", "params": {"name": "test_token", "arguments": {"subject": "s", "audience": "default"}}},
            {"id": 3, "method": "tools/call", "params": {"name": "token_verify", "arguments": {"token": "a.secret.token", "audience": "x"}}},
            {"id": 4, "method": "tools/call", "params": {"name": "no_such", "arguments": {"password": "hunter2-hunter2"}}}]
        process = subprocess.Popen(
            [binary(), "mcp", "--store", store, "--testing", "--allow", "all", "--trace-file", self.file], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=clean_environment(self.folder, needed))
        answers = {}
        for line in lines:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **line}).encode() + b"\n")
            process.stdin.flush()
            answers[line["id"]] = json.loads(process.stdout.readline())
        process.stdin.close()
        self.assertEqual(process.wait(20), 0)
        process.stdout.close()
        text = self.text()
        token = answers[2]["result"]["structuredContent"]["token"]
        for secret in (token, "a.secret.token", "hunter2-hunter2"):
            self.assertNotIn(secret, text)
        self.assertIn(answers[1]["result"]["structuredContent"]["poolId"], text)
        self.assertIn("tokenMalformed", text)
        self.assertEqual(len(self.records()), 10)

    def test_content_length_frames_are_recorded(self):
        sidecar = self.traced("--framing", "content-length", reading=False)
        body = b'{"jsonrpc":"2.0","id":1,"method":"system.ping"}'
        sidecar.process.communicate(b"Content-Length: %d\r\n\r\n%s" % (len(body), body), timeout=20)
        self.assertEqual([r["message"]["id"] for r in self.records()], [1, 1])

    # The file.

    def test_file_is_private_and_records_are_appended(self):
        for round in (1, 2):
            sidecar = self.traced()
            sidecar.call("system.ping")
            self.assertEqual(sidecar.finish(), 0)
            self.assertEqual(stat.S_IMODE(os.stat(self.file).st_mode), 0o600)
            self.assertEqual(len(self.records()), 2 * round)

    def test_unsafe_files_fail(self):
        open(self.file, "w").close()
        os.chmod(self.file, 0o644)
        link, fifo = self.path("link"), self.path("fifo")
        os.symlink(self.path("elsewhere"), link)
        os.mkfifo(fifo, 0o600)
        for file, word in ((self.file, "chmod 600"), (link, "symbolic link"), (fifo, ""), (self.folder, ""), (self.path("no", "folder"), "No such file")):
            sidecar = self.spawn("--trace-file", file)
            self.assertEqual(sidecar.wait(), 64, file)
            self.assertIn("--trace-file", sidecar.stderr_text())
            self.assertIn(word, sidecar.stderr_text())
        self.assertFalse(os.path.exists(self.path("elsewhere")))

    def test_environment_variable_names_the_file(self):
        sidecar = self.spawn(environment={"MINTMARK_TRACE_FILE": self.file})
        sidecar.call("system.ping")
        sidecar.finish()
        self.assertEqual(len(self.records()), 2)

    def test_a_full_disk_costs_records_and_nothing_else(self):
        """A limit of the file size simulates the full disk. When there is space again, a record contains the number of missing records."""
        sidecar = self.traced(store=":memory:", testing=False)
        pings = 0
        resource.prlimit(sidecar.process.pid, resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
        deadline = time.monotonic() + 30
        while pings < 300 or "cannot be written" not in sidecar.stderr_text():
            self.assertLess(time.monotonic(), deadline)
            sidecar.call("system.ping")
            pings += 1
            time.sleep(0.002)   # lets the thread that masks and writes records keep up
        self.assertLessEqual(os.path.getsize(self.file), 3000)
        resource.prlimit(sidecar.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        while os.path.getsize(self.file) <= 3000 or "message" not in self.last_line():
            self.assertLess(time.monotonic(), deadline)
            sidecar.call("system.ping")
            pings += 1
            time.sleep(0.002)   # lets the thread that masks and writes records keep up
        self.assertEqual(sidecar.finish(), 0)
        readable = missing = 0
        with open(self.file, encoding="utf-8") as opened:
            for line in opened:
                try:
                    record = json.loads(line)
                except ValueError:
                    continue   # the line that the full disk has truncated
                missing += record.get("missing", 0)
                readable += "message" in record
        self.assertEqual(readable + missing, 2 * pings)
        self.assertGreater(missing, 0)
        self.assertEqual(sidecar.stderr_text().count("the trace file cannot be written"), 1)
    test_a_full_disk_costs_records_and_nothing_else.stores = ("sqlite",)
