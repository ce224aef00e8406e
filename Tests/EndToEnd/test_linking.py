"""Linking, unlinking and reauthentication."""

import secrets
import threading

from federation import PASSWORD, Federation, hashed
from sidecar import RpcError
from test_logins import claims_of


class Linking(Federation):
    def test_linking_an_anonymous_account_keeps_its_id(self):
        guest = self.anonymous()
        account = self.account(guest)
        claims = claims_of(guest["idToken"])
        self.assertEqual((claims["mintmark"]["sign_in_provider"], claims["amr"]), ("anonymous", []))
        linked = self.link(guest["idToken"], self.credential(email="carol@example.com", name="Carol"))
        self.assertEqual(self.account(linked), account)
        self.assertEqual((linked["account"]["method"], linked["account"]["email"]), ("federated", "carol@example.com"))
        self.assertEqual(linked["account"]["attributes"], {})
        self.assertEqual(claims_of(linked["idToken"])["mintmark"]["sign_in_provider"], "oidc.work")
        both = self.link(linked["idToken"], {"email": "carol@example.com", "password": PASSWORD})
        self.assertEqual(self.account(both), account)
        self.assertEqual(self.providers(account), ["password", "oidc.work"])
        self.refused("tokenRevoked", self.sidecar, "token.verify", {"token": guest["idToken"], "tenantId": "default"})
        self.assertEqual(self.account(self.sidecar.call("signIn.withPassword", {"username": "Carol@example.com", "password": PASSWORD})), account)

    def test_linking_a_provider_keeps_the_audience_of_the_session_or_uses_the_requested_one(self):
        self.sidecar.call("tenant.update", {"tenantId": "default", "audiences": ["api://a", "api://b"]})
        self.password_account()
        session = self.sidecar.call("signIn.withPassword", {"username": "carol@example.com", "password": PASSWORD, "audience": "api://a"})
        linked = self.link(session["idToken"], self.credential(email="carol@example.com"))
        self.assertEqual(claims_of(linked["accessToken"])["aud"], "api://a")
        refreshed = self.sidecar.call("session.refresh", {"refreshToken": linked["refreshToken"]})
        self.assertEqual(claims_of(refreshed["accessToken"])["aud"], "api://a")
        other = self.sidecar.call("account.link", {
            "idToken": linked["idToken"], "credential": self.credential(self.idp("oidc.other")), "audience": "api://b"})
        self.assertEqual(claims_of(other["accessToken"])["aud"], "api://b")

    def test_anonymous_sign_in_fails_if_the_tenant_does_not_allow_it(self):
        self.refused("anonymousNotAllowed", self.sidecar, "signIn.anonymously", {})

    def test_link_with_credential_of_another_account_fails_and_returns_a_pending_token(self):
        carol = self.account(self.sign_in(email="carol@example.com"))
        guest = self.anonymous()
        raw = secrets.token_urlsafe()
        shown = {**self.credential(email="carol@example.com", nonce=hashed(raw)), "rawNonce": raw}
        error = self.refused("credentialAlreadyInUse", self.sidecar, "account.link", {"idToken": guest["idToken"], "credential": shown})
        self.assertEqual((error.data["providerId"], error.data["email"]), ("oidc.work", "carol@example.com"))
        self.refused("invalidNonce", self.sidecar, "signIn.withCredential", {"credential": shown})
        answer = self.sidecar.call("signIn.withCredential", {"credential": {"pendingToken": error.data["pendingToken"]}})
        self.assertEqual(self.account(answer), carol)
        self.refused("credentialAlreadyInUse", self.sidecar, "account.link", {"idToken": answer["idToken"], "credential": self.credential()})
        self.sidecar.call("test.clock", {"advanceSeconds": 601})
        self.refused("pendingTokenInvalid", self.sidecar, "signIn.withCredential", {"credential": {"pendingToken": error.data["pendingToken"]}})

    def test_link_with_the_email_address_of_another_account_fails(self):
        self.password_account("bob@example.com")
        _, token = self.password_account()
        error = self.refused("emailAlreadyInUse", self.sidecar, "account.link", {"idToken": token, "credential": self.credential(email="bob@example.com")})
        self.assertEqual(error.data["email"], "bob@example.com")
        guest = self.anonymous()["idToken"]
        self.assertIn("pendingToken", error.data)
        error = self.refused("emailAlreadyInUse", self.sidecar, "account.link", {"idToken": guest, "credential": {"email": "bob@example.com", "password": PASSWORD}})
        self.assertNotIn("pendingToken", error.data)
        linked = self.link(token, self.credential(email="other@example.com"))
        self.assertEqual(linked["account"]["email"], "carol@example.com")

    def test_an_account_links_one_login_per_provider_and_one_password(self):
        _, token = self.password_account()
        self.link(token, self.credential())
        self.refused("providerAlreadyLinked", self.sidecar, "account.link", {"idToken": token, "credential": self.credential(subject="second")})
        self.refused("providerAlreadyLinked", self.sidecar, "account.link", {"idToken": token, "credential": {"email": "carol@example.com", "password": PASSWORD}})

    def test_linking_a_trusted_provider_verifies_the_accounts_email_address(self):
        trusted = self.idp("oidc.trusted", trustEmail=True)
        account, token = self.password_account(verified=False)
        self.assertTrue(self.link(token, self.credential(trusted, email="carol@example.com", email_verified=True))["account"]["emailVerified"])
        self.assertEqual(self.providers(account), ["password", "oidc.trusted"])

    def test_linking_a_password_requires_recent_sign_in_and_an_acceptable_password(self):
        answer = self.sign_in()
        token = answer["idToken"]
        weak = self.refused("invalidPassword", self.sidecar, "account.link", {"idToken": token, "credential": {"email": "carol@example.com", "password": "weak"}})
        self.assertIn("tooShort", [each["rule"] for each in weak.data["reasons"]])
        self.sidecar.call("test.clock", {"advanceSeconds": 301})
        credential = {"email": "carol@example.com", "password": PASSWORD}
        error = self.refused("recentSignInRequired", self.sidecar, "account.link", {"idToken": token, "credential": credential})
        self.assertEqual(error.data["maximumAgeSeconds"], 300)
        # Neither a refresh nor linking a provider counts as a recent sign-in.
        fresh = self.sidecar.call("session.refresh", {"refreshToken": answer["refreshToken"]})["idToken"]
        self.refused("recentSignInRequired", self.sidecar, "account.link", {"idToken": fresh, "credential": credential})
        other = self.link(fresh, self.credential(self.idp("oidc.other")))["idToken"]
        self.refused("recentSignInRequired", self.sidecar, "account.link", {"idToken": other, "credential": credential})
        again = self.sidecar.call("account.reauthenticate", {"idToken": fresh, "credential": self.credential()})
        self.assertEqual(self.link(again["idToken"], credential)["account"]["providers"][0]["providerId"], "password")

    def test_linking_a_password_fails_in_a_tenant_with_email_codes(self):
        self.sidecar.call("tenant.update", {"tenantId": "default", "localAccountMethod": "emailCode"})
        token = self.sign_in()["idToken"]
        self.refused("passwordNotAccepted", self.sidecar, "account.link", {"idToken": token, "credential": {"email": "carol@example.com", "password": PASSWORD}})

    def test_link_with_a_revoked_token_fails(self):
        account, token = self.password_account()
        self.sidecar.call("session.revokeAll", {"accountId": account})
        self.refused("tokenRevoked", self.sidecar, "account.link", {"idToken": token, "credential": self.credential()})
        token = self.password_session()
        self.sidecar.call("account.update", {"accountId": account, "disabled": True})
        self.refused("tokenRevoked", self.sidecar, "account.link", {"idToken": token, "credential": self.credential()})
        self.sidecar.call("account.delete", {"accountId": account})
        self.refused("tokenRevoked", self.sidecar, "account.link", {"idToken": token, "credential": self.credential()})
        self.assertTrue(self.sign_in()["isNewAccount"])

    def test_unlink_removes_the_provider_and_requires_force_for_the_last_one(self):
        account, token = self.password_account()
        self.link(token, self.credential(email="carol@example.com"))
        self.refused("providerNotLinked", self.sidecar, "account.unlink", {"idToken": token, "providerId": "google.com"})
        left = self.sidecar.call("account.unlink", {"idToken": token, "providerId": "oidc.work"})
        self.assertEqual(([each["providerId"] for each in left["providers"]], left["email"]), (["password"], "carol@example.com"))
        self.assertEqual(self.sign_in(subject="carol")["isNewAccount"], True)
        error = self.refused("lastProvider", self.sidecar, "account.unlink", {"idToken": token, "providerId": "password"})
        self.assertIn("force", error.message)
        gone = self.sidecar.call("account.unlink", {"idToken": token, "providerId": "password", "force": True})
        self.assertEqual((gone["providers"], gone["email"], gone["method"]), ([], "carol@example.com", "federated"))
        self.assertEqual(self.sidecar.call("token.verify", {"token": token, "tenantId": "default"})["claims"]["sub"], account)
        self.refused("passwordNotSet", self.sidecar, "signIn.withPassword", {"username": "carol@example.com", "password": PASSWORD})
        self.refused("userAlreadyExists", self.sidecar, "signUp.start", {"username": "carol@example.com"})

    def test_unlinking_the_password_requires_a_recent_sign_in(self):
        _, token = self.password_account()
        self.link(token, self.credential())
        self.sidecar.call("test.clock", {"advanceSeconds": 301})
        self.refused("recentSignInRequired", self.sidecar, "account.unlink", {"idToken": token, "providerId": "password"})
        self.sidecar.call("account.unlink", {"idToken": token, "providerId": "oidc.work"})

    def test_reauthentication_with_credential_of_another_account_fails(self):
        carol = self.sign_in(email="carol@example.com")
        self.sign_in(subject="bob")
        self.password_account("dora@example.com")
        token, before = carol["idToken"], len(self.sidecar.call("account.list", {})["accounts"])
        self.sidecar.call("test.clock", {"advanceSeconds": 100})
        for credential in (self.credential(subject="bob"), self.credential(subject="nobody"), {"email": "dora@example.com", "password": PASSWORD},
                           {"email": "nobody@example.com", "password": PASSWORD}, self.credential(self.idp("oidc.t", trustEmail=True), "x", email="carol@example.com", email_verified=True)):
            self.refused("userMismatch", self.sidecar, "account.reauthenticate", {"idToken": token, "credential": credential})
        self.assertEqual(len(self.sidecar.call("account.list", {})["accounts"]), before)
        self.assertEqual(self.providers(self.account(carol)), ["oidc.work"])
        again = self.sidecar.call("account.reauthenticate", {"idToken": token, "credential": self.credential()})
        self.assertEqual(self.account(again), self.account(carol))
        self.assertGreaterEqual(claims_of(again["idToken"])["auth_time"], claims_of(token)["auth_time"] + 100)
        self.sidecar.call("token.verify", {"token": token, "tenantId": "default"})

    def test_concurrent_links_of_one_login_succeed_for_one_account(self):
        tokens = [self.anonymous()["idToken"] for _ in range(12)]
        ids = [self.sidecar.send("account.link", {"idToken": token, "credential": self.credential()}) for token in tokens]
        self.assertEqual(self.outcomes(self.sidecar, ids), ["completed"] + ["credentialAlreadyInUse"] * 11)

    def outcomes(self, sidecar, ids):
        def outcome(id):
            try:
                return sidecar.answer(id, timeout=60)["state"]
            except RpcError as error:
                return error.type
        return sorted(map(outcome, ids))

    def test_concurrent_first_sign_ins_in_several_processes_create_one_account(self):
        store = self.path("shared.db")
        first = self.spawn(testing=True, store=store)
        provider = self.idp("oidc.work", first)
        others = [first, self.spawn(testing=True, store=store), self.spawn(testing=True, store=store)]
        answers, lock = [], threading.Lock()

        def run(sidecar):
            ids = [sidecar.send("signIn.withCredential", {"credential": self.credential(provider, f"user {n}", email=f"u{n}@example.com")}) for n in range(20) for _ in range(3)]
            for place, id in enumerate(ids):
                answer = sidecar.answer(id, timeout=60)
                with lock:
                    answers.append((place // 3, self.account(answer), answer["isNewAccount"]))

        threads = [threading.Thread(target=run, args=(each,)) for each in others]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(answers), 180)
        for n in range(20):
            of_one = [each for each in answers if each[0] == n]
            self.assertEqual(len({each[1] for each in of_one}), 1)
            self.assertEqual(sum(each[2] for each in of_one), 1)
