"""Families of published advisories: sessions, applications, tokens of one kind used as another, hooks, and accounts that may not be used."""

import concurrent.futures
import unittest

import jwt
import pyotp

from hooks import Host
from sidecar import RpcError
from test_advisories_links import EVIL, Advised
from test_logins import Provider, claims_of
from test_notices import ALICE, OTHER, PASSWORD

BOB = "bob@example.com"
PIPE = {"transport": "pipe"}


class Applications(Advised):
    """CVE-2026-7571 and CVE-2026-9792 (Keycloak): rules of a client were evaded by another grant. Audience and scope confusion."""

    def setUp(self):
        super().setUp()
        self.settings(audiences=["orders", "billing"], scopes=["read", "write"])
        self.call("application.put", clientId="kiosk", audiences=["orders"], scopes=["read"])
        self.account_of()

    def kiosk(self, **more):
        return self.call("signIn.withPassword", username=ALICE, password=PASSWORD, clientId="kiosk", **more)

    def test_new_tokens_after_a_change_stay_with_the_application(self):
        for method, params in (("account.setOwnPassword", {"newPassword": OTHER}),
                               ("account.changePassword", {"currentPassword": OTHER, "newPassword": PASSWORD})):
            password = PASSWORD if method == "account.setOwnPassword" else OTHER
            token = self.call("signIn.withPassword", username=ALICE, password=password, clientId="kiosk")["idToken"]
            self.refuse("audienceNotOffered", method, idToken=token, audience="billing", **params)
            self.refuse("scopeNotOffered", method, idToken=token, scope="openid write", **params)
            fresh = self.call(method, idToken=token, **params)
            self.assertEqual((claims_of(fresh["idToken"])["aud"], claims_of(fresh["accessToken"])["client_id"]), ("kiosk", "kiosk"))
            self.refuse("audienceNotOffered", "session.refresh", refreshToken=fresh["refreshToken"], audience="billing")
            self.refuse({"scopeNotOffered", "scopeNotGranted"}, "session.refresh", refreshToken=fresh["refreshToken"], scope="openid write")
        self.call("application.delete", clientId="kiosk")
        self.refuse("refreshTokenInvalid", "session.refresh", refreshToken=fresh["refreshToken"])

    def test_no_door_gives_the_application_more_than_it_has(self):
        for more, wanted in (({"audience": "billing"}, "audienceNotOffered"), ({"scope": "openid write"}, "scopeNotOffered")):
            self.refuse(wanted, "signIn.withPassword", username=ALICE, password=PASSWORD, clientId="kiosk", **more)
            step = self.call("signIn.start", username=ALICE, clientId="kiosk", language="de" if "scope" in more else "fr")
            self.refuse(wanted, "signIn.submitPassword", continuationToken=step["continuationToken"], password=PASSWORD, **more)
            self.refuse(wanted, "signIn.withCredential", credential=self.credential(), clientId="kiosk", **more)
        done = self.kiosk()
        self.refuse("audienceNotOffered", "account.link", idToken=done["idToken"], credential=self.credential(), audience="billing")
        self.refuse("audienceNotOffered", "session.refresh", refreshToken=done["refreshToken"], audience="billing")

    def test_deferred_tokens_are_those_of_the_application_and_end_with_it(self):
        """CVE-2026-9705 (Keycloak): a disabled client came back."""
        _, secret, factor = self.enroll(self.session()["idToken"])
        self.later(30)
        step = self.kiosk()
        step = self.call("mfa.resolve", continuationToken=step["continuationToken"], factorId=factor,
                         code=pyotp.TOTP(secret).at(self.now), deferTokens=True)
        token = step["continuationToken"]
        self.refuse("continuationTokenInvalid", "signIn.withContinuation", continuationToken=token, clientId="default")
        self.refuse("audienceNotOffered", "signIn.withContinuation", continuationToken=token, audience="billing")
        self.refuse("scopeNotOffered", "signIn.withContinuation", continuationToken=token, scope="openid write")
        self.call("application.delete", clientId="kiosk")
        self.call("application.put", clientId="kiosk")
        self.refuse({"flowEnded", "clientUnknown"}, "signIn.withContinuation", continuationToken=token)


class EndedAccounts(Advised):
    """GHSA-wv3h-x6c4-r867 and CVE-2026-1609 (Keycloak), CVE-2023-22492 (Zitadel), CVE-2025-64521 (authentik): disabled users and services got tokens."""

    def pending(self):
        _, secret, factor = self.enroll(self.session()["idToken"])
        self.later(30)
        step = self.session()
        return self.call("mfa.resolve", continuationToken=step["continuationToken"], factorId=factor,
                         code=pyotp.TOTP(secret).at(self.now), deferTokens=True)["continuationToken"]

    def test_deferred_tokens_of_an_account_that_may_not_be_used(self):
        ends = {"disabled": lambda account: self.call("account.update", accountId=account, disabled=True),
                "deleted": lambda account: self.call("account.delete", accountId=account),
                "password": lambda account: self.reset(password=OTHER),
                "tenant": lambda account: self.settings(disabled=True)}
        wanted = {"disabled": "accountDisabled", "deleted": {"flowEnded", "continuationTokenExpired"}, "password": "flowEnded", "tenant": "tenantDisabled"}
        for name, end in ends.items():
            with self.subTest(name):
                account = self.account_of()
                token = self.pending()
                end(account)
                self.refuse(wanted[name], "signIn.withContinuation", continuationToken=token)
                if name != "tenant":
                    self.call("account.delete", accountId=account) if name != "deleted" else None

    def test_deferred_tokens_end_when_all_sessions_are_revoked(self):
        account = self.account_of()
        ends = {"account": lambda: self.call("session.revokeAll", accountId=account),
                "tenant": lambda: self.call("session.revokeAll", tenantId="default"),
                "time": lambda: (self.later(1), self.call("account.update", accountId=account, tokensValidSince=self.now))}
        for name, end in ends.items():
            with self.subTest(name):
                token = self.pending()
                end()
                error = self.refuse("flowEnded", "signIn.withContinuation", continuationToken=token)
                self.assertEqual(error.data["cause"], "sessionsRevoked")
                self.call("mfa.withdraw", accountId=account, factorId=self.call("account.get", accountId=account)["factors"][0]["factorId"])

    def test_completed_reset_ends_when_all_sessions_are_revoked(self):
        account = self.account_of()
        step = self.call("passwordReset.start", username=ALICE)
        code = self.call("test.outbox", to=ALICE)["messages"][-1]["code"]
        step = self.call("passwordReset.submitCode", continuationToken=step["continuationToken"], code=code)
        done = self.call("passwordReset.submitPassword", continuationToken=step["continuationToken"], password=OTHER)
        self.call("session.revokeAll", accountId=account)
        self.refuse("flowEnded", "signIn.withContinuation", continuationToken=done["continuationToken"])

    def test_cookie_and_tokens_end_with_the_account_and_the_tenant(self):
        account = self.account_of()
        done = self.session()
        cookie = self.call("session.createCookie", idToken=done["idToken"])["cookie"]
        self.settings(disabled=True)
        for token in (cookie, done["idToken"], done["accessToken"]):
            self.refuse("tenantDisabled", "token.verify", tenantId="default", token=token)
        self.refuse("tenantDisabled", "session.refresh", refreshToken=done["refreshToken"])
        self.settings(disabled=False)
        self.call("account.update", accountId=account, disabled=True)
        self.call("account.update", accountId=account, disabled=False)
        for token in (cookie, done["idToken"], done["accessToken"]):
            self.refuse("tokenRevoked", "token.verify", tenantId="default", token=token)

    def test_own_password_does_not_prolong_a_session(self):
        """GHSA-64w3-5q9m-68xf (Keycloak): sessions outlived the settings of their lifetime."""
        self.settings(tokens={"sessionSeconds": 3600})
        self.account_of()
        first = self.session()
        begun = claims_of(first["idToken"])["auth_time"]
        token = first["idToken"]
        for password in (OTHER, PASSWORD, OTHER):
            self.later(100)
            fresh = self.call("account.setOwnPassword", idToken=token, newPassword=password)
            token = fresh["idToken"]
            self.assertEqual(claims_of(token)["auth_time"], begun)
        self.later(1)
        self.refuse("recentSignInRequired", "account.setOwnPassword", idToken=token, newPassword=PASSWORD)
        cookie = self.call("session.createCookie", idToken=token, durationSeconds=1_209_600)
        self.assertEqual((cookie["expiresAt"], claims_of(cookie["cookie"])["exp"]), (begun + 3600, begun + 3600))
        self.later(3300)
        for name in ("idToken", "accessToken"):
            self.refuse({"tokenRevoked", "tokenExpired"}, "token.verify", tenantId="default", token=fresh[name])
        self.refuse("sessionExpired", "session.refresh", refreshToken=fresh["refreshToken"])


class Hooks(Advised):
    """Hooks are a boundary: no new door may go around them. CVE-2026-9792 (Keycloak): a policy that one grant did not evaluate."""

    def host(self, decide):
        host = Host(self.sidecar, decide)
        self.call("hooks.set", beforeCreate=PIPE, beforeSignIn=PIPE)
        return host

    def test_links_ask_before_they_create_and_sign_in(self):
        refuses = ["beforeCreate"]
        host = self.host(lambda name, params: {"refuse": "only employees"} if name in refuses else None)
        code = self.create("signIn", email=BOB)
        self.refuse("refusedByHook", "signIn.withLink", email=BOB, code=code)
        self.assertEqual(self.call("account.list")["accounts"], [])
        refuses[:] = ["beforeSignIn"]
        self.refuse("refusedByHook", "signIn.withLink", email=BOB, code=code)
        self.assertEqual(self.call("account.list")["accounts"], [])
        refuses[:] = []
        done = self.call("signIn.withLink", email=BOB, code=code)
        self.assertTrue(done["isNewAccount"])
        self.assertEqual({name for name, _ in host.asked}, {"beforeCreate", "beforeSignIn"})
        self.assertEqual([params["provider"] for name, params in host.asked if name == "beforeCreate"][0], "code")

    def test_hook_that_disables_stops_links_and_own_passwords(self):
        account = self.account_of()
        token = self.session()["idToken"]
        self.host(lambda name, params: {"disabled": True} if name == "beforeSignIn" else None)
        self.refuse("accountDisabled", "account.setOwnPassword", idToken=token, newPassword=OTHER)
        self.call("account.update", accountId=account, disabled=False)
        self.refuse("accountDisabled", "signIn.withLink", email=ALICE, code=self.create("signIn"))
        self.refuse("tokenRevoked", "account.me", idToken=token)

    def test_hook_cannot_set_claims_of_the_token_itself(self):
        """Role and claim injection: values that only the server may set; CVE-2025-61928 (Better Auth)."""
        self.account_of()
        given = [{}]
        self.host(lambda name, params: {"sessionClaims": given[0]} if name == "beforeSignIn" else None)
        for claims in ({"sub": "x"}, {"amr": ["mfa"]}, {"act": {"sub": "x"}}, {"may_act": {"sub": "x"}}, {"email_verified": True}, {"aud": "x"},
                       {"https://aws.amazon.com/tags": {}}, {"sid": "x"}, {"client_id": "x"}):
            given[0] = claims
            try:
                done = self.session()
            except RpcError as error:
                self.assertEqual(error.type, "hookFailed")
                continue
            shown = claims_of(done["idToken"])
            name, value = next(iter(claims.items()))
            self.assertNotIn(name, ("sub", "amr", "email_verified", "aud", "sid"), "accepted")
            self.assertEqual((name, shown[name]), (name, value))


class Kinds(Advised):
    """Tokens of one kind used as another: CVE-2026-114607 (Better Auth), GHSA-6mq3-xmgp-pjm5 (Zitadel: truncated tokens)."""

    def test_only_an_id_token_acts_for_the_user(self):
        self.account_of()
        done = self.session()
        cookie = self.call("session.createCookie", idToken=done["idToken"])["cookie"]
        for token in (done["accessToken"], cookie):
            for method, params in (("account.me", {}), ("account.updateOwn", {"attributes": {"displayName": "x"}}), ("account.deleteOwn", {}),
                                   ("account.setOwnPassword", {"newPassword": OTHER}), ("session.list", {}), ("session.revoke", {"sessionId": "x"}),
                                   ("session.createCookie", {}), ("session.revokeAll", {}), ("passkey.list", {}), ("mfa.list", {})):
                self.refuse("tokenUseMismatch", method, idToken=token, **params)
        for token in (done["refreshToken"][:40], done["refreshToken"] + "A", done["refreshToken"][:-1]):
            self.refuse("refreshTokenInvalid", "session.refresh", refreshToken=token)
        head, body, signature = done["idToken"].split(".")
        for token in (f"{head}.{body}.", f"{head}.{body}.{signature[:-4]}", f"{head}.{body}", f"{head}.{body}.{signature}.{signature}"):
            self.refuse({"tokenMalformed", "tokenSignatureInvalid"}, "account.me", idToken=token)

    def test_token_signed_by_a_stranger_for_any_key(self):
        """CVE-2026-11800 (Keycloak): algorithm confusion. Injection by key ID: paths and queries."""
        self.account_of()
        token = self.session()["idToken"]
        claims, header = claims_of(token), jwt.get_unverified_header(token)
        public = self.call("token.jwks", issuer=claims["iss"])["keys"][0]["x"]
        stranger = Provider()
        for changed in ({"alg": "none"}, {"alg": "HS256"}, {"kid": "../../../dev/null"}, {"kid": "' UNION SELECT 'x"}, {"kid": ""},
                        {"jwk": stranger.jwk}, {"jku": "https://evil.example/jwks"}, {"x5u": "https://evil.example/c"}, {"crit": ["exp"]}):
            with self.subTest(changed):
                kind = changed.get("alg", "ES256")
                forged = jwt.encode(claims, {"none": None, "HS256": public, "ES256": stranger.key}[kind], kind, {**header, **changed, "alg": kind})
                self.refuse({"tokenAlgorithmNotAllowed", "tokenKeyUnknown", "tokenMalformed", "tokenSignatureInvalid"}, "account.me", idToken=forged)


class Others(Advised):
    """Objects of other users: CVE-2026-105209 (Zitadel), CVE-2025-48370 (Supabase), CVE-2025-61928 (Better Auth)."""

    def test_session_of_another_user_is_not_listed_or_revoked(self):
        self.account_of()
        self.account_of(BOB)
        alice, bob = self.session(), self.session(BOB)
        foreign = self.call("session.list", idToken=alice["idToken"])["sessions"][0]["sessionId"]
        for name in (foreign, foreign + "/", f"../{foreign}", "%", "*"):
            self.refuse("sessionNotFound", "session.revoke", idToken=bob["idToken"], sessionId=name)
        self.assertEqual(len(self.call("session.list", idToken=bob["idToken"])["sessions"]), 1)
        account = self.call("account.me", idToken=alice["idToken"])["accountId"]
        public = {"idToken": bob["idToken"], "accountId": account}
        for method, params in (("session.list", public), ("session.revokeAll", public), ("mfa.list", public), ("account.me", public),
                               ("account.updateOwn", {**public, "attributes": {}}), ("account.deleteOwn", public)):
            self.refuse("invalidParams", method, **params)
        self.call("account.me", idToken=alice["idToken"])

    def test_user_cannot_write_what_is_the_developers(self):
        """CVE-2026-27946 (Zitadel): users verified their own address; mass assignment at sign-up."""
        self.settings(attributes=[{"name": "plan", "type": "string"}, {"name": "displayName", "type": "string"}])
        self.account_of()
        token = self.session()["idToken"]
        for name in ("plan",):
            self.refuse("attributeNotYours", "account.updateOwn", idToken=token, attributes={name: "gold"})
        for name in ("emailVerified", "email_verified", "claims", "role", "accountId", "disabled", "__proto__", "username"):
            self.refuse("invalidAttributes", "account.updateOwn", idToken=token, attributes={name: True})
            self.refuse({"invalidAttributes"}, "signUp.start", username=EVIL, attributes={name: True})
            self.refuse("invalidParams", "account.updateOwn", idToken=token, attributes={}, **({name: True} if name != "accountId" else {"claims": {}}))
            self.refuse("invalidParams", "signUp.start", username=EVIL, password=PASSWORD, **({name: True} if name != "username" else {"role": 1}))

    def test_parallel_use_of_a_refresh_token_leaves_one_session_line(self):
        """CVE-2026-1035 (Keycloak): a refresh token was used more than once at the same time."""
        self.settings(tokens={"refreshReuseGraceSeconds": 0})
        self.account_of()
        token = self.session()["refreshToken"]
        others = [self.spawn(store=self.store, testing=True) for _ in range(2)] if self.store.startswith("/") else []

        def use(sidecar):
            try:
                return sidecar.call("session.refresh", {"refreshToken": token}, timeout=60)["refreshToken"]
            except RpcError as error:
                return error.type
        with concurrent.futures.ThreadPoolExecutor() as pool:
            found = list(pool.map(use, [self.sidecar, *others] * 3))
        good = [each for each in found if each not in ("refreshTokenReused", "refreshTokenInvalid")]
        self.assertLessEqual(len(good), 1, found)
        for fresh in good:
            self.refuse("refreshTokenInvalid", "session.refresh", refreshToken=fresh)


if __name__ == "__main__":
    unittest.main()
