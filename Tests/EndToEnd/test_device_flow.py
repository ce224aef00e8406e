"""Sign-in on another device (RFC 8628) with a provider whose responses each test chooses."""

import json
import time
import urllib.parse

from endtoend import EndToEnd
from sidecar import RpcError
from test_logins import Provider
from websites import DISCOVERY, Website


class DeviceProvider(EndToEnd):
    """A provider that returns the errors in `script` in order, and then tokens."""

    def setUp(self):
        super().setUp()
        self.site = Website()
        self.addCleanup(self.site.close)
        self.provider = Provider(self.site.origin)
        self.script, self.forms, self.moments = [], [], []
        self.site.pages[DISCOVERY] = self.json({
            "issuer": self.site.origin, "jwks_uri": self.site.origin + "/jwks", "authorization_endpoint": self.site.origin + "/authorize",
            "token_endpoint": self.site.origin + "/token", "device_authorization_endpoint": self.site.origin + "/device"})
        self.device = self.json({
            "device_code": "secret-device-code", "user_code": "WDJB-MJHT", "verification_uri": "https://login.example.com/device", "expires_in": 300, "interval": 1})
        self.site.pages["/device"] = lambda request: self.form(request) and self.device
        self.site.pages["/token"] = self.token
        self.sidecar = self.spawn(testing=True)
        self.sidecar.call("idp.create", {"providerId": "oidc.tv", "clientId": "shop", "clientAuthentication": "none", "issuer": self.site.origin, "keys": [self.provider.jwk]})

    def json(self, value, status=200):
        return status, {"Content-Type": "application/json"}, json.dumps(value).encode()

    def form(self, request):
        return dict(urllib.parse.parse_qsl(request.rfile.read(int(request.headers["Content-Length"])).decode()))

    def token(self, request):
        self.forms.append(self.form(request))
        self.moments.append(time.monotonic())
        error = self.script.pop(0) if self.script else None
        if error:
            return self.json({"error": error}, 400)
        return self.json({"id_token": self.provider.token("carol", email="carol@example.com"), "access_token": "a", "token_type": "Bearer"})


class DeviceFlow(DeviceProvider):
    def begin(self):
        flow = self.sidecar.call("idp.authorizeDevice", {"providerId": "oidc.tv"})
        return flow, {"credential": {"continuationToken": flow["continuationToken"]}}

    def test_user_signs_in_on_other_device_while_call_waits(self):
        self.script = ["authorization_pending", "authorization_pending"]
        flow, sign_in = self.begin()
        self.assertEqual((flow["userCode"], flow["verificationUri"], flow["intervalSeconds"]), ("WDJB-MJHT", "https://login.example.com/device", 1))
        began = time.monotonic()
        waiting = self.sidecar.send("signIn.withCredential", sign_in)
        self.works(self.sidecar)
        self.assertEqual(self.sidecar.answer(waiting)["account"]["email"], "carol@example.com")
        self.assertEqual(len(self.forms), 3)
        self.assertEqual({key: self.forms[0][key] for key in ("grant_type", "device_code", "client_id")},
                         {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "secret-device-code", "client_id": "shop"})
        # The interval is a second. Other work of the machine can only make it longer.
        self.assertTrue(all(moment - began >= number for number, moment in enumerate(self.moments)), self.moments)
        self.refused("flowUsed", self.sidecar, "signIn.withCredential", sign_in)

    def test_slow_down_increases_polling_interval(self):
        self.script = ["slow_down"]
        _, sign_in = self.begin()
        began = time.monotonic()
        self.sidecar.call("signIn.withCredential", sign_in)
        self.assertGreaterEqual(self.moments[1] - began, 6)

    def test_denied_or_expired_device_code_fails_and_ends_flow(self):
        for error in ("access_denied", "expired_token"):
            self.script = [error]
            _, sign_in = self.begin()
            self.assertEqual(self.refused("signInRefused", self.sidecar, "signIn.withCredential", sign_in).data["error"], error)
            self.refused("flowUsed", self.sidecar, "signIn.withCredential", sign_in)

    def test_call_can_be_canceled_and_flow_expires(self):
        self.script = ["authorization_pending"] * 9
        _, sign_in = self.begin()
        waiting = self.sidecar.send("signIn.withCredential", sign_in)
        self.site.wait_until_asked("/token")
        self.sidecar.write(json.dumps({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": waiting}}).encode() + b"\n")
        with self.assertRaises(RpcError) as caught:
            self.sidecar.answer(waiting)
        self.assertEqual(caught.exception.code, -32800)
        self.sidecar.call("test.clock", {"advanceSeconds": 300})
        self.refused("continuationTokenExpired", self.sidecar, "signIn.withCredential", sign_in)

    def test_100_waiting_calls_occupy_no_thread(self):
        self.script = ["authorization_pending"] * 150
        flows = [self.begin()[1] for _ in range(100)]
        waiting = [self.sidecar.send("signIn.withCredential", each) for each in flows]
        self.site.wait_until_asked("/token", 100, timeout=60)
        self.works(self.sidecar)
        self.assertEqual({self.sidecar.answer(each, timeout=60)["state"] for each in waiting}, {"completed"})

    def test_verification_uri_must_be_a_web_page(self):
        good = json.loads(self.device[2])
        for name in ("verification_uri", "verification_uri_complete"):
            for url in ("javascript:alert(1)", "file:///etc/passwd", "ssh://x", "//x", "https://", "https://x/a\nb"):
                self.device = self.json({**good, name: url})
                self.refused("providerUnusable", self.sidecar, "idp.authorizeDevice", {"providerId": "oidc.tv"})
        self.device = self.json({**good, "verification_uri_complete": "https://login.example.com/device?code=1"})
        self.assertEqual(self.begin()[0]["verificationUriComplete"], "https://login.example.com/device?code=1")

    def test_error_of_provider_without_device_flow_names_missing_endpoint(self):
        document = json.loads(self.site.pages[DISCOVERY][2])
        del document["device_authorization_endpoint"]
        self.site.pages[DISCOVERY] = self.json(document)
        self.assertIn("device_authorization_endpoint", self.refused("providerUnusable", self.sidecar, "idp.authorizeDevice", {"providerId": "oidc.tv"}).message)
        self.site.pages[DISCOVERY] = self.json({**document, "device_authorization_endpoint": self.site.origin + "/device"})
        self.device = self.json({"error": "unauthorized_client"}, 400)
        self.assertEqual(self.refused("signInRefused", self.sidecar, "idp.authorizeDevice", {"providerId": "oidc.tv"}).data["error"], "unauthorized_client")

    def test_verification_uri_must_not_be_a_script_or_file(self):
        for name, place in (("verification_uri", "javascript:alert(1)"), ("verification_uri_complete", "file:///etc/passwd"), ("verification_uri", "http://login.example.com/device")):
            self.device = self.json({"device_code": "d", "user_code": "u", "verification_uri": "https://login.example.com/#/device", "expires_in": 300, name: place})
            self.assertIn(name, self.refused("providerUnusable", self.sidecar, "idp.authorizeDevice", {"providerId": "oidc.tv"}).message)
        self.device = self.json({"device_code": "d", "user_code": "u", "verification_uri": "https://login.example.com/#/device", "expires_in": 300})
        self.begin()
