"""Stored provider tokens of an account: stored at sign-in, refreshed before they expire, and deleted with the login."""

import json
import threading
import urllib.error
import urllib.parse
import urllib.request

from endtoend import EndToEnd
from glewlwyd import Glewlwyd
from oidcmock import OIDCProviderMock
from sidecar import RpcError
from test_logins import Provider
from websites import DISCOVERY, Website, page

BACK = "https://shop.example.com/back"
ALICE = {"sub": "alice", "email": "alice@example.com", "email_verified": True}


class KeptTokens(EndToEnd):
    """Shared by the tests of stored provider tokens."""

    def authorize(self, **more):
        return self.sidecar.call("idp.authorize", {"providerId": self.name, "redirectUri": BACK, **more})

    def token(self, session, sidecar=None, **more):
        return (sidecar or self.sidecar).call("account.providerToken", {"idToken": session["idToken"], "providerId": self.name, **more})

    def not_there(self, error, session, **more):
        return self.refused(error, self.sidecar, "account.providerToken", {"idToken": session["idToken"], "providerId": self.name, **more})

    def later(self, seconds):
        self.sidecar.call("test.clock", {"advanceSeconds": seconds})

    def guest(self):
        self.sidecar.call("tenant.update", {"tenantId": "default", "anonymousAllowed": True})
        return self.sidecar.call("signIn.anonymously", {})


class RealProvider(KeptTokens):
    """Tests with a third-party provider, which also validates the returned tokens."""

    name = "oidc.mock"

    def setUp(self):
        super().setUp()
        self.mock = OIDCProviderMock(self, ALICE, {"sub": "bob", "email": "bob@example.com"})
        self.sidecar = self.spawn(testing=True)
        self.provide()

    def provide(self, **more):
        self.sidecar.call("idp.create", {
            "providerId": "oidc.mock", "clientId": "shop", "clientSecret": "secret", "issuer": self.mock.issuer, "responseType": "code", **more})

    def credential(self, subject="alice", **more):
        flow = self.authorize(**more)
        return {"continuationToken": flow["continuationToken"], "url": self.mock.send(flow["authorizationUrl"], subject)}

    def sign_in(self, subject="alice", **more):
        return self.sidecar.call("signIn.withCredential", {"credential": self.credential(subject), **more})

    def who(self, token):
        """Returns the subject that the provider returns for the access token, or the HTTP status of its error."""
        request = urllib.request.Request(f"{self.mock.issuer}/userinfo", headers={"Authorization": f"Bearer {token['accessToken']}"})
        try:
            with urllib.request.urlopen(request) as answer:
                return json.load(answer)["sub"]
        except urllib.error.HTTPError as answer:
            with answer:
                return answer.code

    def test_token_is_stored_and_refreshed_before_expiry(self):
        session = self.sign_in(returnProviderTokens=True)
        now = self.sidecar.call("system.ping")["now"]
        first = self.token(session)
        self.assertEqual(first["accessToken"], session["providerTokens"]["accessToken"])
        self.assertEqual((first["scopes"], self.who(first)), (["openid", "email", "profile"], "alice"))
        self.assertAlmostEqual(first["expiresAt"], now + 3600, delta=60)
        self.later(3200)
        self.assertEqual(self.token(session), first)
        second = self.token(session, minValidSeconds=600)
        self.assertNotEqual(second["accessToken"], first["accessToken"])
        self.assertEqual((self.who(second), second["scopes"]), ("alice", first["scopes"]))
        self.assertGreater(second["expiresAt"], first["expiresAt"])
        self.assertEqual(self.token(session), second)

    def test_next_sign_in_replaces_token(self):
        session = self.sign_in()
        first = self.token(session)
        again = self.sidecar.call("account.reauthenticate", {"idToken": session["idToken"], "credential": self.credential()})
        self.assertNotEqual(self.token(again)["accessToken"], first["accessToken"])
        self.assertEqual(self.token(session), self.token(again))

    def test_link_stores_token_and_unlink_deletes_it(self):
        session = self.guest()
        self.assertEqual(self.not_there("providerNotLinked", session).data["linked"], [])
        linked = self.sidecar.call("account.link", {"idToken": session["idToken"], "credential": self.credential()})
        self.assertEqual(self.who(self.token(linked)), "alice")
        self.sidecar.call("account.unlink", {"idToken": linked["idToken"], "providerId": "oidc.mock", "force": True})
        self.not_there("providerNotLinked", linked)
        self.sidecar.call("account.link", {"idToken": linked["idToken"], "credential": self.credential("bob")})
        self.assertEqual(self.who(self.token(linked)), "bob")

    def test_pending_token_stores_token_in_its_account(self):
        owner = self.sign_in()
        guest = self.guest()
        error = self.refused("credentialAlreadyInUse", self.sidecar, "account.link", {"idToken": guest["idToken"], "credential": self.credential()})
        before, credential = self.token(owner), {"pendingToken": error.data["pendingToken"]}
        session = self.sidecar.call("signIn.withCredential", {"credential": credential})
        brought = self.token(session)
        self.assertNotEqual(brought["accessToken"], before["accessToken"])
        self.later(300)
        fresh = self.token(session, minValidSeconds=3500)
        self.assertNotEqual(fresh["accessToken"], brought["accessToken"])
        self.sidecar.call("signIn.withCredential", {"credential": credential})
        self.assertEqual(self.token(session), fresh)   # An older token does not replace a newer one.
        self.assertEqual(self.who(fresh), "alice")

    def test_merge_moves_token(self):
        target, source = self.guest(), self.sign_in()
        kept = self.token(source)
        merged = self.sidecar.call("account.merge", {"idToken": target["idToken"], "sourceIdToken": source["idToken"]})
        self.assertEqual(self.token(merged), kept)
        self.later(3550)
        self.assertEqual(self.who(self.token(merged)), "alice")

    def test_token_is_deleted_with_account(self):
        session = self.sign_in()
        self.sidecar.call("account.delete", {"accountId": session["account"]["accountId"]})
        self.not_there("tokenRevoked", session)

    def test_token_is_available_after_second_factor(self):
        self.sidecar.call("tenant.update", {"tenantId": "default", "mfa": "required"})
        step = self.sign_in()
        self.assertEqual(step["state"], "secondFactorEnrollmentRequired")
        enrolment = self.sidecar.call("mfa.enroll", {"continuationToken": step["continuationToken"], "kind": "email"})
        code = self.sidecar.call("test.outbox", {"to": "alice@example.com", "waitSeconds": 60})["messages"][-1]["code"]
        session = self.sidecar.call("mfa.confirm", {"continuationToken": enrolment["continuationToken"], "code": code})
        self.assertEqual(self.who(self.token(session)), "alice")

    def test_rejected_refresh_requires_new_sign_in(self):
        session = self.sign_in()
        urllib.request.urlopen(urllib.request.Request(f"{self.mock.issuer}/users/alice/revoke-tokens", method="POST")).close()
        self.assertIn("accessToken", self.token(session))   # The store has no record of the revocation.
        self.later(3550)
        error = self.not_there("providerTokenRefused", session)
        self.assertIn("Sign in again", error.message)
        self.mock.stop()
        self.not_there("providerTokenRefused", session)   # The rejection was recorded.

    def test_unavailable_provider_can_be_retried(self):
        session = self.sign_in()
        self.mock.stop()
        self.assertIn("accessToken", self.token(session))
        self.later(3550)
        for _ in range(2):
            error = self.not_there("providerUnavailable", session)
            self.assertEqual(error.data["retryAfterSeconds"], 5)

    def test_disabled_deleted_or_replaced_provider_returns_no_token(self):
        session = self.sign_in()
        self.sidecar.call("idp.update", {"providerId": "oidc.mock", "enabled": False})
        self.not_there("idpDisabled", session)
        self.sidecar.call("idp.delete", {"providerId": "oidc.mock"})
        self.not_there("idpNotFound", session)
        self.provide(clientId="another")
        self.not_there("providerTokenNotKept", session)   # The stored token is not returned for another client.

    def test_token_requires_valid_id_token(self):
        session = self.sign_in()
        self.refused("tokenUseMismatch", self.sidecar, "account.providerToken", {"idToken": session["accessToken"], "providerId": "oidc.mock"})
        self.sidecar.call("session.signOut", {"refreshToken": session["refreshToken"]})
        self.not_there("tokenRevoked", session)

    def test_token_is_encrypted_in_store(self):
        self.store = self.path("s.db")
        self.sidecar = self.spawn(testing=True, store=self.store)
        self.provide()
        token = self.token(self.sign_in())["accessToken"]
        rows = self.rows("SELECT subject, tokens FROM account_login")
        self.assertEqual((len(rows), rows[0][0]), (1, "alice"))
        self.assertNotIn(token, str(rows))
        self.assertNotIn(token, str(self.sidecar.call("audit.list", {})))


class ScriptedProvider(KeptTokens):
    """Tests with a provider that rotates refresh tokens and revokes the grant if a refresh token is reused."""

    name = "oidc.strict"

    def setUp(self):
        super().setUp()
        self.site, self.forms, self.gate, self.answer, self.current = Website(), [], threading.Event(), {}, "r0"
        self.gate.set()
        self.addCleanup(self.gate.set)
        self.addCleanup(self.site.close)
        self.signer, self.lock = Provider(self.site.origin), threading.Lock()
        self.site.pages[DISCOVERY] = page({
            "issuer": self.site.origin, "jwks_uri": self.site.origin + "/jwks", "authorization_endpoint": self.site.origin + "/authorize",
            "token_endpoint": self.site.origin + "/token"})
        self.site.pages["/token"] = self.give
        self.store = self.path("s.db")
        self.sidecar = self.spawn(testing=True, store=self.store)
        self.sidecar.call("idp.create", {
            "providerId": self.name, "clientId": "shop", "clientSecret": "hush", "issuer": self.site.origin, "keys": [self.signer.jwk],
            "responseType": "code"})

    def give(self, request):
        form = dict(urllib.parse.parse_qsl(request.rfile.read(int(request.headers["Content-Length"])).decode()))
        if form["grant_type"] == "authorization_code":
            self.current = "r0"
            token = self.signer.token("carol", nonce=self.nonce)
            return page({"id_token": token, "access_token": "a0", "token_type": "Bearer", "expires_in": "3600", "refresh_token": "r0", **self.answer})
        with self.lock:
            self.forms.append((request.headers["Authorization"], form))
            number = len(self.forms)
            good, self.current = form["refresh_token"] == self.current, f"r{number}"
        self.gate.wait()
        if not good:
            return page({"error": "invalid_grant"}, status=400)
        return page({"access_token": f"a{number}", "token_type": "Bearer", "expires_in": 3600, "refresh_token": self.current, **self.answer})

    def sign_in(self):
        flow = self.authorize()
        sent = dict(urllib.parse.parse_qsl(urllib.parse.urlparse(flow["authorizationUrl"]).query))
        self.nonce = sent["nonce"]
        return self.sidecar.call("signIn.withCredential", {"credential": {
            "continuationToken": flow["continuationToken"], "url": f"{BACK}?code=c&state={sent['state']}"}})

    def test_rotated_refresh_tokens_are_used(self):
        session = self.sign_in()
        wanted = ["a0"]
        for number in (1, 2, 3):
            self.later(3400)
            session = self.sidecar.call("session.refresh", {"refreshToken": session["refreshToken"]})
            wanted.append(self.token(session)["accessToken"])
        self.assertEqual(wanted, ["a0", "a1", "a2", "a3"])
        self.assertEqual([form["refresh_token"] for _, form in self.forms], ["r0", "r1", "r2"])
        self.assertEqual({authorization for authorization, _ in self.forms}, {"Basic c2hvcDpodXNo"})

    def test_concurrent_calls_send_one_refresh(self):
        session = self.sign_in()
        self.later(3400)
        self.gate.clear()
        waiting = [self.sidecar.send("account.providerToken", {"idToken": session["idToken"], "providerId": self.name}) for _ in range(40)]
        self.works(self.sidecar)
        self.site.wait_until_asked("/token", 2)
        self.settled(self.sidecar)
        self.gate.set()
        self.assertEqual({self.sidecar.answer(each)["accessToken"] for each in waiting}, {"a1"})
        self.assertEqual(len(self.forms), 1)

    def test_concurrent_processes_send_one_refresh(self):
        session = self.sign_in()
        self.later(3400)
        self.gate.clear()
        sidecars = [self.sidecar] + [self.spawn(testing=True, store=self.store) for _ in range(3)]
        for each in sidecars:
            self.works(each)
        waiting = [(each, each.send("account.providerToken", {"idToken": session["idToken"], "providerId": self.name})) for each in sidecars for _ in range(5)]
        self.site.wait_until_asked("/token", 2)
        self.settled(*sidecars)
        self.gate.set()
        self.assertEqual({each.answer(id)["accessToken"] for each, id in waiting}, {"a1"})
        self.assertEqual(len(self.forms), 1)

    def test_lease_of_crashed_process_expires(self):
        session = self.sign_in()
        self.later(3400)
        self.rows("UPDATE account_login SET tokens_lease = 'somebody who died'")
        waiting = self.sidecar.send("account.providerToken", {"idToken": session["idToken"], "providerId": self.name})
        self.settled(self.sidecar)   # The call waits from the current time of the virtual clock on.
        self.later(15)
        self.assertEqual(self.forms, [])
        self.later(10)   # The lease is valid for 20 seconds of the virtual clock.
        self.assertEqual(self.sidecar.answer(waiting)["accessToken"], "a1")

    def test_waiting_call_can_be_canceled(self):
        session = self.sign_in()
        self.later(3400)
        self.rows("UPDATE account_login SET tokens_lease = 'somebody who died'")
        waiting = self.sidecar.send("account.providerToken", {"idToken": session["idToken"], "providerId": self.name})
        self.settled(self.sidecar)
        self.sidecar.write(json.dumps({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": waiting}}).encode() + b"\n")
        with self.assertRaises(RpcError) as caught:
            self.sidecar.answer(waiting)
        self.assertEqual(caught.exception.code, -32800)

    def test_omitted_members_of_token_response_have_defaults(self):
        self.answer = {"expires_in": None, "refresh_token": None}
        session = self.sign_in()
        self.assertEqual(self.token(session), {"accessToken": "a0", "scopes": ["openid", "email", "profile"]})
        self.answer = {"refresh_token": None, "scope": "openid calendar.read"}
        session = self.sign_in()
        self.assertEqual(self.token(session)["scopes"], ["openid", "calendar.read"])
        self.later(3400)
        error = self.not_there("providerTokenExpired", session)
        self.assertIn("offline_access", error.message)
        self.assertEqual(self.forms, [])

    def test_short_lived_token_is_returned_despite_minimum_validity(self):
        self.answer = {"expires_in": 60}
        session = self.sign_in()
        self.later(3000)
        for seconds in (86400, 0):
            self.assertIn("accessToken", self.token(session, minValidSeconds=seconds))
        self.assertEqual(len(self.forms), 1)
        self.answer = {"expires_in": 0}
        self.later(100)
        self.assertEqual(self.token(session)["accessToken"], "a2")

    def test_rejected_client_does_not_invalidate_refresh_token(self):
        session = self.sign_in()
        self.later(3400)
        self.site.pages["/token"] = lambda request: request.rfile.read(int(request.headers["Content-Length"])) and page({"error": "invalid_client"}, status=401)
        error = self.not_there("providerUnusable", session)
        self.assertEqual(error.data["check"], "client")
        self.assertIn("clientSecret", error.message)
        self.site.pages["/token"] = self.give
        self.assertEqual(self.token(session)["accessToken"], "a1")

    def test_tokens_of_direct_credential_are_not_stored(self):
        session = self.sidecar.call("signIn.withCredential", {"credential": {"providerId": self.name, "idToken": self.signer.token("carol"), "accessToken": "x"}})
        self.assertIn("idp.authorize", self.not_there("providerTokenNotKept", session).message)


class StrictProvider(KeptTokens):
    """Tests with glewlwyd, with the code flow and the device flow."""

    name = "oidc.strict"

    def test_tokens_of_code_flow_and_device_flow_are_refreshed(self):
        provider = Glewlwyd(self, BACK)
        self.sidecar = self.spawn(testing=True)
        self.sidecar.call("idp.create", {
            "providerId": self.name, "clientId": "shop", "clientSecret": "shop-secret", "issuer": provider.issuer, "openidOnly": True})
        for way in ("code", "device"):
            if way == "code":
                flow = self.authorize()
                credential = {"continuationToken": flow["continuationToken"], "url": provider.send(flow["authorizationUrl"])}
            else:
                flow = self.sidecar.call("idp.authorizeDevice", {"providerId": self.name})
                provider.send(f"{provider.issuer}/device?code={flow['userCode']}")
                credential = {"continuationToken": flow["continuationToken"]}
            session = self.sidecar.call("signIn.withCredential", {"credential": credential})
            first = self.token(session)
            self.later(3400)
            session = self.sidecar.call("session.refresh", {"refreshToken": session["refreshToken"]})
            second = self.token(session)
            self.assertNotEqual(second["accessToken"], first["accessToken"])
            self.assertGreater(second["expiresAt"], first["expiresAt"])
            self.later(-3400)
