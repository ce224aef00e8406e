"""The authorization code flow: a user is sent to a third-party identity provider and comes back."""

import concurrent.futures
import json
import time
import urllib.error
import urllib.parse
import urllib.request

from endtoend import EndToEnd
from oidcmock import OIDCProviderMock
from sidecar import RpcError
from test_logins import claims_of

BACK = "https://shop.example.com/back"
ALICE = {"sub": "alice", "email": "alice@example.com", "email_verified": True, "name": "Alice"}
BOB = {"sub": "bob", "email": "bob@example.com"}


def parameters(url):
    return {name: value for name, value in urllib.parse.parse_qsl(urllib.parse.urlparse(url).query)}


class Flows(EndToEnd):
    def setUp(self):
        super().setUp()
        self.mock = OIDCProviderMock(self, ALICE, BOB)
        self.sidecar = self.spawn(testing=True)
        self.provide()

    def provide(self, sidecar=None, **more):
        (sidecar or self.sidecar).call("idp.create", {
            "providerId": "oidc.mock", "clientId": "shop", "clientSecret": "secret", "issuer": self.mock.issuer, "responseType": "code", **more})

    def authorize(self, sidecar=None, **more):
        return (sidecar or self.sidecar).call("idp.authorize", {"providerId": "oidc.mock", **({} if "listen" in more else {"redirectUri": BACK}), **more})

    def come_back(self, flow, subject="alice"):
        return {"continuationToken": flow["continuationToken"], "url": self.mock.send(flow["authorizationUrl"], subject)}

    def sign_in(self, credential, **more):
        return self.sidecar.call("signIn.withCredential", {"credential": credential, **more})

    def guest(self):
        self.sidecar.call("tenant.update", {"tenantId": "default", "anonymousAllowed": True})
        return self.sidecar.call("signIn.anonymously", {})["idToken"]


class WholeFlow(Flows):
    def test_flow_signs_the_user_in(self):
        flow = self.authorize(customParameters={"login_hint": "alice"})
        sent = parameters(flow["authorizationUrl"])
        self.assertEqual(
            {name: sent[name] for name in ("client_id", "response_type", "redirect_uri", "scope", "code_challenge_method", "login_hint")},
            {"client_id": "shop", "response_type": "code", "redirect_uri": BACK, "scope": "openid email profile", "code_challenge_method": "S256", "login_hint": "alice"})
        self.assertTrue(all(len(sent[name]) == 43 for name in ("state", "nonce", "code_challenge")))
        self.assertEqual(len({sent["state"], sent["nonce"], sent["code_challenge"], parameters(self.authorize()["authorizationUrl"])["state"]}), 4)
        answer = self.sign_in(self.come_back(flow), returnProviderTokens=True)
        self.assertEqual((answer["state"], answer["isNewAccount"], answer["account"]["email"]), ("completed", True, "alice@example.com"))
        self.assertEqual(claims_of(answer["providerTokens"]["idToken"])["nonce"], sent["nonce"])
        self.assertIn("accessToken", answer["providerTokens"])

    def test_flow_is_single_use(self):
        credential = self.come_back(self.authorize())
        self.sign_in(credential)
        self.refused("flowUsed", self.sidecar, "signIn.withCredential", {"credential": credential})
        credential = self.come_back(self.authorize())

        def race(_):
            try:
                return self.sign_in(credential)["state"]
            except RpcError as error:
                return error.type
        with concurrent.futures.ThreadPoolExecutor(6) as threads:   # Another exception in a thread fails the test here.
            self.assertEqual(sorted(threads.map(race, range(6))), ["completed"] + ["flowUsed"] * 5)

    def test_flow_continues_after_a_restart(self):
        store = self.path("flow.db")
        first = self.spawn(testing=True, store=store)
        self.provide(first)
        credential = self.come_back(self.authorize(first))
        first.finish()
        second = self.spawn(testing=True, store=store)
        self.assertEqual(second.call("signIn.withCredential", {"credential": credential})["state"], "completed")

    def test_flow_links_and_reauthenticates(self):
        token = self.sign_in(self.come_back(self.authorize()))["idToken"]
        guest = self.guest()
        linked = self.sidecar.call("account.link", {"idToken": guest, "credential": self.come_back(self.authorize(idToken=guest), "bob")})
        self.assertEqual([each["providerId"] for each in linked["account"]["providers"]], ["oidc.mock"])
        again = self.sidecar.call("account.reauthenticate", {"idToken": token, "credential": self.come_back(self.authorize(idToken=token))})
        self.assertEqual(again["state"], "completed")
        credential = self.come_back(self.authorize(), "bob")
        self.refused("userMismatch", self.sidecar, "account.reauthenticate", {"idToken": token, "credential": credential})
        error = self.refused("credentialAlreadyInUse", self.sidecar, "account.link", {"idToken": self.guest(), "credential": self.come_back(self.authorize())})
        self.assertEqual(self.sign_in({"pendingToken": error.data["pendingToken"]})["state"], "completed")

    def test_flow_bound_to_an_account_is_valid_for_this_account_only(self):
        guest = self.guest()
        credential = self.come_back(self.authorize(idToken=guest))
        self.refused("userMismatch", self.sidecar, "signIn.withCredential", {"credential": credential})
        self.refused("userMismatch", self.sidecar, "account.link", {"idToken": self.guest(), "credential": credential})
        self.assertEqual(self.sidecar.call("account.link", {"idToken": guest, "credential": credential})["state"], "completed")

    def test_callback_that_does_not_belong_to_the_flow_fails_and_changes_nothing(self):
        flow, other = self.authorize(), self.authorize()
        right = self.come_back(flow)
        url = right["url"]
        for check, wrong in {
            "redirectUri": url.replace("shop.example.com", "evil.example.com"),
            "state": self.come_back(other)["url"],
            "malformed": url + "&code=second",
            "missing": url.replace("code=", "kode="),
            "issuer": url + "&iss=https%3A%2F%2Fevil.example.com",
        }.items():
            error = self.refused("callbackInvalid", self.sidecar, "signIn.withCredential", {"credential": {**right, "url": wrong}})
            self.assertEqual(error.data["check"], check, error.message)
        self.refused("invalidParams", self.sidecar, "signIn.withCredential", {"credential": {"continuationToken": flow["continuationToken"]}})
        self.refused("invalidParams", self.sidecar, "signIn.withCredential", {"credential": {**right, "providerId": "oidc.mock"}})
        self.assertEqual(self.sign_in(right)["state"], "completed")

    def test_code_of_another_flow_fails_with_invalid_nonce(self):
        mine, theirs = self.authorize(), self.authorize()
        url = self.come_back(mine)["url"]
        stolen = parameters(self.come_back(theirs)["url"])["code"]
        injected = {"continuationToken": mine["continuationToken"], "url": url.replace(parameters(url)["code"], stolen)}
        # This provider does not check code verifiers, so that only the nonce detects the code of another flow.
        error = self.refused("invalidNonce", self.sidecar, "signIn.withCredential", {"credential": injected})
        self.assertEqual(error.data["check"], "mismatch")

    def test_code_rejected_by_the_provider_fails_and_uses_the_flow(self):
        flow = self.authorize()
        right = self.come_back(flow)
        wrong = {**right, "url": right["url"].replace(parameters(right["url"])["code"], "made-up")}
        error = self.refused("invalidCredential", self.sidecar, "signIn.withCredential", {"credential": wrong})
        self.assertEqual(error.data["check"], "code")
        self.refused("flowUsed", self.sidecar, "signIn.withCredential", {"credential": right})

    def test_refusal_at_the_provider_fails_with_sign_in_refused(self):
        flow = self.authorize()
        url = f"{BACK}?error=access_denied&state={parameters(flow['authorizationUrl'])['state']}"
        error = self.refused("signInRefused", self.sidecar, "signIn.withCredential", {"credential": {"continuationToken": flow["continuationToken"], "url": url}})
        self.assertEqual(error.data["error"], "access_denied")

    def test_failed_flow_cannot_be_used_again(self):
        """A flow is single-use, whatever its outcome: a valid callback after a failure is rejected."""
        for error in ("access_denied", "server_error", "invalid_scope"):
            flow = self.authorize()
            right, state = self.come_back(flow), parameters(flow["authorizationUrl"])["state"]
            self.refused("signInRefused", self.sidecar, "signIn.withCredential", {"credential": {**right, "url": f"{BACK}?error={error}&state={state}"}})
            self.refused("flowUsed", self.sidecar, "signIn.withCredential", {"credential": right})
        # In the implicit flow, a rejected ID token also uses the flow: the valid token is rejected afterwards.
        self.sidecar.call("idp.update", {"providerId": "oidc.mock", "responseType": "idToken"})
        flow = self.authorize()
        sent = parameters(flow["authorizationUrl"])
        good = self.mock.sign_in("shop", "alice", sent["nonce"])["id_token"]
        bad = self.mock.sign_in("shop", "alice", "of another flow")["id_token"]
        back = lambda token: {"continuationToken": flow["continuationToken"], "url": f"{BACK}#id_token={token}&state={sent['state']}"}
        self.refused("invalidNonce", self.sidecar, "signIn.withCredential", {"credential": back(bad)})
        self.refused("flowUsed", self.sidecar, "signIn.withCredential", {"credential": back(good)})
        self.assertEqual(self.sidecar.call("account.list", {})["accounts"], [])

    def test_flow_is_used_even_if_its_account_cannot_sign_in(self):
        account = self.sign_in(self.come_back(self.authorize()))["account"]["accountId"]
        for method, before, after, wanted, subject in [
                ("account.update", {"accountId": account, "disabled": True}, {"accountId": account, "disabled": False}, "accountDisabled", "alice"),
                ("tenant.update", {"tenantId": "default", "signUpAllowed": False}, {"tenantId": "default", "signUpAllowed": True}, "signUpNotAllowed", "bob")]:
            credential = self.come_back(self.authorize(), subject)
            self.sidecar.call(method, before)
            self.refused(wanted, self.sidecar, "signIn.withCredential", {"credential": credential})
            self.sidecar.call(method, after)
            self.refused("flowUsed", self.sidecar, "signIn.withCredential", {"credential": credential})

    def test_flow_expires_after_ten_minutes(self):
        credential = self.come_back(self.authorize())
        self.sidecar.call("test.clock", {"advanceSeconds": 600})
        self.refused("continuationTokenExpired", self.sidecar, "signIn.withCredential", {"credential": credential})
        self.refused("continuationTokenInvalid", self.sidecar, "signIn.withCredential", {"credential": {**credential, "continuationToken": "x"}})

    def test_reserved_parameters_and_invalid_redirect_uris_fail(self):
        error = self.refused("invalidParams", self.sidecar, "idp.authorize", {"providerId": "oidc.mock", "redirectUri": BACK, "customParameters": {"state": "x", "Nonce": "y", "prompt": "login"}})
        self.assertEqual([each["pointer"] for each in error.data["violations"]], ["/customParameters/state", "/customParameters/Nonce"])
        for uri in ("javascript:alert(1)", "http://example.com/back", "shop:/back", "https://shop.example.com/back#x", "https:///back"):
            self.refused("invalidParams", self.sidecar, "idp.authorize", {"providerId": "oidc.mock", "redirectUri": uri})
        for uri in ("com.example.shop:/back", "http://127.0.0.1:8080/back", "https://shop.example.com/back?from=here"):
            self.assertEqual(self.authorize(redirectUri=uri)["redirectUri"], uri)

    def test_unreachable_provider_does_not_use_the_flow(self):
        credential = self.come_back(self.authorize())
        self.mock.stop()
        self.refused("providerUnavailable", self.sidecar, "signIn.withCredential", {"credential": credential})
        self.refused("providerUnavailable", self.sidecar, "signIn.withCredential", {"credential": credential})
        # The discovery document is cached, so that users can still be sent to the provider.
        self.authorize()
        other = self.spawn(testing=True)
        self.provide(other)
        self.refused("providerUnavailable", other, "idp.authorize", {"providerId": "oidc.mock", "redirectUri": BACK})


class Listening(Flows):
    """The same flow, with a listener of this process as the redirect URI."""

    stores = ("sqlite",)

    def error(self, waiting):
        with self.assertRaises(RpcError) as caught:
            self.sidecar.answer(waiting)
        return caught.exception

    def fetch(self, url, **options):
        try:
            with urllib.request.urlopen(urllib.request.Request(url, **options), timeout=60) as answer:
                return answer.status, answer.read().decode(), answer.headers
        except urllib.error.HTTPError as answer:
            with answer:
                return answer.code, answer.read().decode(), answer.headers

    def test_listener_receives_the_callback(self):
        flow = self.authorize(listen={})
        waiting = self.sidecar.send("signIn.withCredential", {"credential": {"continuationToken": flow["continuationToken"]}})
        self.sidecar.call("system.ping", {})
        status, page, headers = self.fetch(self.mock.send(flow["authorizationUrl"]))
        self.assertEqual((status, headers["referrer-policy"], headers["cache-control"]), (200, "no-referrer", "no-store"))
        self.assertIn("You can close this window", page)
        self.assertEqual(self.sidecar.answer(waiting)["account"]["email"], "alice@example.com")

    def test_callback_before_the_sign_in_call_is_kept(self):
        flow = self.authorize(listen={"path": "/back"})
        self.assertRegex(flow["redirectUri"], r"^http://127\.0\.0\.1:\d+/back$")
        self.fetch(self.mock.send(flow["authorizationUrl"]))
        self.assertEqual(self.sign_in({"continuationToken": flow["continuationToken"]})["state"], "completed")

    def test_invalid_requests_to_the_listener_change_nothing(self):
        flow = self.authorize(listen={})
        there = flow["redirectUri"]
        self.assertEqual(self.fetch(there)[0], 400)
        self.assertEqual(self.fetch(there + "?code=x&state=y")[0], 400)
        self.assertEqual(self.fetch(there.rsplit("/", 1)[0] + "/")[0], 404)
        self.assertEqual(self.fetch(there, method="PUT")[0], 405)
        self.assertEqual(self.fetch(there, headers={"Host": "evil.example.com"})[0], 421)
        self.assertEqual(self.fetch(there, data=b"x" * 20000)[0], 413)
        back = self.mock.send(flow["authorizationUrl"])
        self.assertEqual(self.fetch(back)[0], 200)
        with self.assertRaises(OSError):
            self.fetch(back)
        self.assertEqual(self.sign_in({"continuationToken": flow["continuationToken"]})["state"], "completed")

    def test_error_is_shown_on_the_page_and_returned(self):
        flow = self.authorize(listen={})
        waiting = self.sidecar.send("signIn.withCredential", {"credential": {"continuationToken": flow["continuationToken"]}})
        state = parameters(flow["authorizationUrl"])["state"]
        _, page, _ = self.fetch(f"{flow['redirectUri']}?error=access_denied&error_description=%3Cb%3E&state={state}")
        self.assertIn("You are not signed in", page)
        self.assertIn("&lt;b&gt;", page)
        self.assertEqual(self.error(waiting).type, "signInRefused")

    def test_cancellation_closes_the_port(self):
        flow = self.authorize(listen={})
        credential = {"credential": {"continuationToken": flow["continuationToken"]}}
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:   # A call that is canceled before it waits closes nothing.
            waiting = self.sidecar.send("signIn.withCredential", credential)
            self.sidecar.call("system.ping", {})
            self.sidecar.write(json.dumps({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": waiting}}).encode() + b"\n")
            error = self.error(waiting)
            if error.code != -32800:
                break
        self.assertEqual(error.type, "listenerGone")
        with self.assertRaises(OSError):
            while time.monotonic() < deadline:
                self.fetch(flow["redirectUri"])

    def test_end_of_input_ends_waiting_calls(self):
        flows = [self.authorize(listen={}) for _ in range(2)]
        waiting = [self.sidecar.send("signIn.withCredential", {"credential": {"continuationToken": each["continuationToken"]}}) for each in flows]
        self.sidecar.call("system.ping", {})
        self.sidecar.end_input()
        for id in waiting:
            error = self.error(id)
            self.assertEqual((error.code, error.type, error.data["retryAfterSeconds"]), (1001, "shuttingDown", 1))
        self.assertEqual(self.sidecar.wait(), 0)

    def test_port_that_is_in_use_fails(self):
        port = int(self.authorize(listen={})["redirectUri"].split(":")[2].split("/")[0])
        error = self.refused("listenerUnavailable", self.sidecar, "idp.authorize", {"providerId": "oidc.mock", "listen": {"port": port}})
        self.assertEqual(error.data["port"], port)
