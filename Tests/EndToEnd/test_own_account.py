"""The user's own account by ID token, and session cookies."""

import unittest

import jwt

from test_notices import ALICE, OTHER, PASSWORD, Noticed


class Own(Noticed):
    def test_user_reads_and_changes_the_profile_at_any_time(self):
        account, token = self.account_of(), self.session()["idToken"]
        self.later(3000)
        self.assertEqual(self.call("account.me", idToken=token)["accountId"], account)
        changed = self.call("account.updateOwn", idToken=token, attributes={"displayName": "Alice", "picture": "https://example.com/a.png"})
        self.assertEqual(changed["attributes"], {"displayName": "Alice", "picture": "https://example.com/a.png"})
        self.assertEqual(self.call("account.updateOwn", idToken=token, attributes={"picture": None})["attributes"], {"displayName": "Alice"})
        self.refused("invalidAttributes", self.sidecar, "account.updateOwn", {"idToken": token, "attributes": {"role": "admin"}})
        self.assertEqual(self.notices(), [])

    def test_password_is_set_without_the_current_one_within_five_minutes(self):
        self.account_of()
        first, token = self.session(), self.session()["idToken"]
        self.later(300)
        fresh = self.call("account.setOwnPassword", idToken=token, newPassword=OTHER)
        self.assertEqual([each["purpose"] for each in self.messages(ALICE)], ["passwordChanged"])
        self.refused("refreshTokenInvalid", self.sidecar, "session.refresh", {"refreshToken": first["refreshToken"]})
        self.refused("tokenRevoked", self.sidecar, "account.me", {"idToken": token})
        self.session(password=OTHER)
        self.later(301)
        self.refused("recentSignInRequired", self.sidecar, "account.setOwnPassword", {"idToken": fresh["idToken"], "newPassword": PASSWORD})
        self.call("account.me", idToken=fresh["idToken"])

    def test_password_needs_the_rules_and_a_verified_address(self):
        self.account_of()
        token = self.session()["idToken"]
        for password in ("short", PASSWORD):
            self.refused("invalidPassword", self.sidecar, "account.setOwnPassword", {"idToken": token, "newPassword": password})
        self.call("account.create", username="bob@example.com", password=PASSWORD)
        token = self.session("bob@example.com")["idToken"]
        self.refused("emailNotVerified", self.sidecar, "account.setOwnPassword", {"idToken": token, "newPassword": OTHER})

    def test_session_without_the_second_factor_changes_nothing(self):
        import pyotp

        self.account_of()
        token = self.session()["idToken"]
        enrolled = self.call("mfa.enroll", idToken=token, kind="totp")
        self.call("mfa.confirm", continuationToken=enrolled["continuationToken"], code=pyotp.TOTP(enrolled["secret"]).at(self.now))
        for method, more in (("account.setOwnPassword", {"newPassword": OTHER}), ("account.deleteOwn", {})):
            self.refused("tokenRevoked", self.sidecar, method, {"idToken": token, **more})

    def test_user_deletes_the_account_within_five_minutes(self):
        account, session = self.account_of(), self.session()
        self.later(301)
        self.refused("recentSignInRequired", self.sidecar, "account.deleteOwn", {"idToken": session["idToken"]})
        self.assertEqual(self.call("account.deleteOwn", idToken=self.session()["idToken"]), {"accountId": account})
        self.refused("accountNotFound", self.sidecar, "account.get", {"accountId": account})
        self.refused("refreshTokenInvalid", self.sidecar, "session.refresh", {"refreshToken": session["refreshToken"]})
        self.account_of()
        self.assertIn("account.deleteOwn", [each["method"] for each in self.call("audit.list")["records"]])

    def test_anonymous_user_can_delete_the_account_at_any_time(self):
        self.settings(anonymousAllowed=True)
        session = self.call("signIn.anonymously")
        self.later(3000)
        self.call("account.deleteOwn", idToken=session["idToken"])

    def test_public_callers_have_these_methods_and_no_others(self):
        store = self.path("public.db")
        developer, public = self.spawn(store=store), self.spawn("--caller", "public", store=store)
        developer.call("account.create", {"username": ALICE, "password": PASSWORD, "emailVerified": True})
        token = public.call("signIn.withPassword", {"username": ALICE, "password": PASSWORD})["idToken"]
        self.assertEqual(public.call("account.me", {"idToken": token})["email"], ALICE)
        self.refused("callerNotAllowed", public, "session.createCookie", {"idToken": token})
        self.refused("callerNotAllowed", public, "account.get", {"accountId": "x"})


class Cookies(Noticed):
    DAY = 86_400

    def cookie(self, **more):
        self.tokens = self.session()
        return self.call("session.createCookie", idToken=self.tokens["idToken"], **more)

    def check(self, cookie, **more):
        return self.call("token.verify", token=cookie, tenantId="default", use="cookie", **more)

    def test_cookie_has_the_claims_of_the_token_and_lives_longer(self):
        self.account_of()
        made = self.cookie()
        self.assertEqual(made["expiresAt"], self.now + 5 * self.DAY)
        self.later(4 * self.DAY)
        found = self.check(made["cookie"])
        before = jwt.decode(self.tokens["idToken"], options={"verify_signature": False})
        self.assertEqual({**found["claims"], "exp": before["exp"]}, before)
        self.assertEqual((found["use"], found["header"]["typ"]), ("cookie", "cookie+jwt"))
        self.later(self.DAY)
        self.refused("tokenExpired", self.sidecar, "token.verify", {"token": made["cookie"], "tenantId": "default"})

    def test_cookie_and_id_token_do_not_replace_each_other(self):
        self.account_of()
        cookie = self.cookie()["cookie"]
        for method, more in (("account.me", {}), ("session.createCookie", {}), ("mfa.list", {}), ("account.setOwnPassword", {"newPassword": OTHER})):
            self.refused("tokenUseMismatch", self.sidecar, method, {"idToken": cookie, **more})
        self.refused("tokenUseMismatch", self.sidecar, "token.verify", {"token": cookie, "tenantId": "default", "use": "id"})
        for token in (self.tokens["idToken"], self.tokens["accessToken"]):
            self.refused("tokenUseMismatch", self.sidecar, "token.verify", {"token": token, "tenantId": "default", "use": "cookie"})

    def test_cookie_ends_with_the_sessions_of_the_account(self):
        account = self.account_of()
        for change in (
                lambda: self.call("session.revokeAll", accountId=account), lambda: self.call("session.signOut", refreshToken=self.tokens["refreshToken"]),
                lambda: self.call("account.update", accountId=account, disabled=True)):
            cookie = self.cookie()["cookie"]
            self.check(cookie)
            change()
            self.refused("tokenRevoked", self.sidecar, "token.verify", {"token": cookie, "tenantId": "default", "use": "cookie"})
            self.check(cookie, checkRevoked=False)

    def test_cookie_is_valid_after_the_key_was_rotated(self):
        self.account_of()
        cookie = self.cookie(durationSeconds=14 * self.DAY)["cookie"]
        self.call("key.rotate", tenantId="default", activateAfterSeconds=0)
        self.later(14 * self.DAY - 1)
        self.call("system.health")
        self.check(cookie)
        self.assertEqual(len(self.call("token.jwks", issuer=jwt.decode(cookie, options={"verify_signature": False})["iss"])["keys"]), 1)

    def test_duration_has_limits(self):
        self.account_of()
        token = self.session()["idToken"]
        for seconds in (299, 1_209_601, 0, "300"):
            self.refused("invalidParams", self.sidecar, "session.createCookie", {"idToken": token, "durationSeconds": seconds})
        self.call("session.createCookie", idToken=token, durationSeconds=300)


if __name__ == "__main__":
    unittest.main()
