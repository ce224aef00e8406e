"""Checks of new passwords against a breached-password service, and the behavior while the service is not available."""

import hashlib
import http.server
import threading

from endtoend import EndToEnd

LEAKED, GOOD = "correct Horse 9", "better Donkey 8"


class Ranges(http.server.BaseHTTPRequestHandler):
    """Contains one leaked password. `server.asked` lists the requested paths, and `server.status` is the status of the response."""

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.asked.append(self.path)
        digest = hashlib.sha1(LEAKED.encode()).hexdigest().upper()
        lines = [f"{'0' * 35}:0"] + ([f"{digest[5:]}:42"] if self.path == f"/range/{digest[:5]}" else [])
        body = "\r\n".join(lines).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class BreachedPasswords(EndToEnd):
    stores = ("sqlite",)

    def setUp(self):
        super().setUp()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Ranges)
        self.server.asked, self.server.status = [], 200
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.sidecar = self.spawn(testing=True)

    def check(self, on=True):
        url = f"http://127.0.0.1:{self.server.server_address[1]}/range/"
        policy = {"breached": {"url": url, "allowInsecure": True}} if on else {}
        self.sidecar.call("tenant.update", {"tenantId": "default", "passwordPolicy": policy})

    def start(self, password, username="alice@example.com"):
        return self.sidecar.call("signUp.start", {"username": username, "password": password})

    def records(self):
        return [record for record in self.sidecar.call("audit.list")["records"] if "breachedPasswordCheck" in str(record)]

    def refused_as_breached(self, method, params):
        error = self.refused("invalidPassword", self.sidecar, method, params)
        self.assertEqual([reason["rule"] for reason in error.data["reasons"]], ["breached"])

    def test_breached_password_is_rejected_by_every_method_and_service_receives_five_digits(self):
        self.check()
        self.refused_as_breached("signUp.start", {"username": "alice@example.com", "password": LEAKED})
        self.refused_as_breached("account.create", {"username": "alice@example.com", "password": LEAKED})
        self.assertTrue(self.server.asked and all(len(path) == len("/range/12345") for path in self.server.asked))
        account = self.sidecar.call("account.create", {"username": "alice@example.com", "password": GOOD, "emailVerified": True})
        self.assertIn("accountId", account)
        token = self.sidecar.call("passwordReset.start", {"username": "alice@example.com"})["continuationToken"]
        code = self.sidecar.call("test.outbox", {"to": "alice@example.com", "waitSeconds": 60})["messages"][-1]["code"]
        token = self.sidecar.call("passwordReset.submitCode", {"continuationToken": token, "code": code})["continuationToken"]
        self.refused_as_breached("passwordReset.submitPassword", {"continuationToken": token, "password": LEAKED})
        done = self.sidecar.call("passwordReset.submitPassword", {"continuationToken": token, "password": "another Mule 77"})
        self.assertEqual(done["state"], "completed")
        self.assertEqual(self.records(), [])

    def test_failing_service_does_not_reject_passwords_and_is_recorded_in_audit_log(self):
        self.check()
        self.server.status = 503
        self.assertEqual(self.start(LEAKED)["state"], "codeRequired")
        record, = self.records()
        self.assertEqual(record["method"], "signUp.start")
        self.assertIn("503", str(record))

    def test_service_is_called_only_if_configured_and_password_satisfies_policy(self):
        self.assertEqual(self.start(LEAKED)["state"], "codeRequired")
        self.check()
        self.refused("invalidPassword", self.sidecar, "signUp.start", {"username": "bob@example.com", "password": "short"})
        self.check(on=False)
        self.assertEqual(self.start(LEAKED, "carol@example.com")["state"], "codeRequired")
        self.assertEqual(self.server.asked, [])
        error = self.refused("invalidTenantSettings", self.sidecar, "tenant.update", {
            "tenantId": "default", "passwordPolicy": {"breached": {"url": "http://ranges.example/"}}})
        self.assertEqual(error.data["pointer"], "/passwordPolicy/breached/url")
