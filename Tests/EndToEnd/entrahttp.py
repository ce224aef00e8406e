"""A client of the native authentication API of Microsoft Entra, which checks every response with what MSAL's parsers require."""

import http.client
import json
import re
import threading
import urllib.parse

import entrawire
from nativeflows import ALICE, PASSWORD, NativeFlows

UUID = re.compile(r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
ALL = "oob password redirect"
MFA = {"capabilities": "mfa_required registration_required"}
NUMBER = "+4915112345678"


class EntraHTTP(NativeFlows):
    tenant = "shop"
    client_id = "mobile"

    def setUp(self):
        super().setUp()
        self.call("tenant.create", tenantId="shop", localAccountMethod="emailPassword", attributes=[{"name": "city", "type": "string", "pattern": "^[A-Z].*$"}])
        self.call("application.put", tenantId="shop", clientId="mobile")
        self.base = self.call("test.http")["baseUrl"]

    def restart(self):
        super().restart()
        self.base = self.sidecar.call("test.http", {})["baseUrl"]

    def raw(self, path, body=None, method="POST", headers=None, tenant=None):
        host = self.base.removeprefix("http://")
        connection = http.client.HTTPConnection(host, timeout=60)
        self.addCleanup(connection.close)
        sent = {"Content-Type": "application/x-www-form-urlencoded", **(headers or {})}
        connection.request(method, f"/{self.tenant if tenant is None else tenant}/{path}", body, sent)
        response = connection.getresponse()
        return response, response.read()

    def post(self, path, status=200, tenant=None, client_id=None, **form):
        if self.restarting:
            self.restart()
        before = len(self.sidecar.call("test.outbox", {})["messages"])
        form = {"client_id": client_id or self.client_id, **form}
        response, body = self.raw(path, urllib.parse.urlencode(form), tenant=tenant)
        answer = json.loads(body)
        self.assertEqual(response.status, status, answer)
        self.assertEqual(response.headers["content-type"], "application/json; charset=utf-8")
        self.assertEqual((response.headers["cache-control"], response.headers["pragma"]), ("no-store", "no-cache"))
        self.assertRegex(response.headers["client-request-id"], UUID)
        self.assertRegex(response.headers["x-ms-request-id"], UUID)
        if status == 200:
            entrawire.good(path, answer)
        else:
            entrawire.bad(path, form, answer, response.headers)
        codes = [each for each in self.sidecar.call("test.outbox", {})["messages"][before:] if "code" in each]
        # Only a challenge sends a code, and it sends one.
        self.assertEqual(len(codes), 1 if status == 200 and answer.get("challenge_type") == "oob" else 0, codes)
        return answer

    def error(self, path, wanted, **form):
        """Checks error, first code and suberror of a refused request."""
        answer = self.post(path, form.pop("status", 400), **form)
        self.assertEqual((answer["error"], answer["error_codes"][0], answer.get("suberror")), wanted, answer)
        return answer

    def start(self, path, username=ALICE, types=ALL, **form):
        return self.post(path, username=username, challenge_type=types, **form)["continuation_token"]

    def challenge(self, path, token, types=ALL):
        return self.post(path, continuation_token=token, challenge_type=types)["continuation_token"]

    def sign_up(self, username=ALICE, **form):
        token = self.challenge("signup/v1.0/challenge", self.start("signup/v1.0/start", username, password=PASSWORD, **form))
        return self.post("signup/v1.0/continue", continuation_token=token, grant_type="oob", oob=self.code(username))["continuation_token"]

    def redeem(self, token, scope="openid profile offline_access", **form):
        return self.post("oauth2/v2.0/token", continuation_token=token, grant_type="continuation_token", scope=scope, client_info="true", **form)

    def together(self, path, count=6, **form):
        """Sends the same request several times at once. Returns the responses."""
        body, answers = urllib.parse.urlencode({"client_id": self.client_id, **form}), []

        def send():
            answers.append(json.loads(self.raw(path, body)[1]))

        threads = [threading.Thread(target=send) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(answers), count)
        return answers
