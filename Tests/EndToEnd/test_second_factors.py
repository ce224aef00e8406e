"""Second factors: enrollment, challenges in every sign-in method, wrong codes, removal. pyotp and oathtool compute the codes of apps."""

import subprocess
import threading
import time

import pyotp

from federation import PASSWORD, Federation
from sidecar import RpcError
from test_logins import Provider, claims_of


class SecondFactors(Federation):
    def setUp(self):
        super().setUp()
        # The clock is frozen at the start of a TOTP period. The providers' tokens are issued at the current time.
        self.start = self.now = int(time.time()) // 30 * 30
        self.sidecar.call("test.clock", {"setAt": self.now, "freeze": True})

    def later(self, seconds):
        self.now += seconds
        self.sidecar.call("test.clock", {"advanceSeconds": seconds})

    def code(self, secret, steps=0):
        """Returns the code that pyotp computes."""
        return pyotp.TOTP(secret).at(self.now, steps)

    def code_of_oathtool(self, secret, steps=0):
        command = ["oathtool", "--totp", "--base32", "--now", f"@{self.now + 30 * steps}", secret]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    def mailed(self):
        return [message["code"] for message in self.sidecar.call("test.outbox", {})["messages"] if "code" in message][-1]

    def sent_to(self, address):
        return [message["code"] for message in self.sidecar.call("test.outbox", {"to": address})["messages"] if "code" in message][-1]

    def enroll(self, token, kind="totp", **more):
        """Enrolls a factor for a signed-in user. Returns the result of mfa.confirm, and the secret of an app."""
        step = self.sidecar.call("mfa.enroll", {"idToken": token, "kind": kind, **more})
        code = self.code(step["secret"]) if kind == "totp" else self.mailed()
        done = self.sidecar.call("mfa.confirm", {"continuationToken": step["continuationToken"], "code": code})
        self.assertEqual(done["state"], "completed")
        return done, step.get("secret")

    def begin(self):
        answer = self.sidecar.call("signIn.withPassword", {"username": "carol@example.com", "password": PASSWORD})
        self.assertEqual(answer["state"], "secondFactorRequired")
        self.assertNotIn("idToken", answer)
        return answer

    def resolve(self, answer, code, **more):
        return self.sidecar.call("mfa.resolve", {"continuationToken": answer["continuationToken"], "code": code, **more})

    def policy(self, mfa, **more):
        self.sidecar.call("tenant.update", {"tenantId": "default", "mfa": mfa, **more})

    def factors(self, token):
        return self.sidecar.call("mfa.list", {"idToken": token})

    def test_session_without_the_second_factor_cannot_change_sign_in_methods(self):
        """A sign-in with a custom token requires no second factor. Its session is recent but has no second factor."""
        backend = Provider("backend@shop.example")
        self.policy("optional", customTokenSigners=[{"issuer": backend.issuer, "keys": [backend.jwk]}])
        audience = self.sidecar.call("tenant.get", {"tenantId": "default"})["issuer"]
        account, token = self.password_account()
        custom = lambda: self.sidecar.call("signIn.withCustomToken", {
            "token": backend.token(subject=backend.issuer, aud=audience, uid=account, iat=self.now, exp=self.now + 3600)})["idToken"]
        # Enrolling a factor ends flows that such a session has started before.
        begun = self.sidecar.call("account.changeEmail", {"idToken": custom(), "email": "thief@example.com"})["continuationToken"]
        own = self.sidecar.call("account.changeEmail", {"idToken": token, "email": "other@example.com"})["continuationToken"]
        done, secret = self.enroll(token)
        for step, address in ((begun, "thief@example.com"), (own, "other@example.com")):
            error = self.refused("flowEnded", self.sidecar, "account.submitCode", {"continuationToken": step, "code": self.sent_to(address)})
            self.assertEqual(error.data["cause"], "accountChanged")
        for method, params in (
                ("account.changeEmail", {"email": "thief@example.com"}),
                ("account.changeEmail", {"email": "thief@example.com", "currentPassword": PASSWORD}),
                ("account.changePassword", {"currentPassword": PASSWORD, "newPassword": "another Horse 10 Battery"}),
                ("account.link", {"credential": self.credential(subject="thief", email="thief@example.com")}),
                ("account.unlink", {"providerId": "password", "force": True})):
            with self.subTest(method=method):
                self.refused("secondFactorNeeded", self.sidecar, method, {"idToken": custom(), **params})
        self.assertEqual(self.providers(account), ["password"])
        self.assertEqual(self.sidecar.call("account.get", {"accountId": account})["email"], "carol@example.com")
        # A session with the second factor, and the developer, can change them.
        self.later(30)
        shown = self.resolve(self.begin(), self.code(secret), factorId=done["account"]["factors"][0]["factorId"])["idToken"]
        for who in ({"idToken": shown}, {"accountId": account}):
            self.assertEqual(self.sidecar.call("account.changeEmail", {**who, "email": "new@example.com"})["state"], "codeRequired")

    # Sessions without a second factor.

    def test_custom_token_session_cannot_change_factors(self):
        backend = Provider("backend@shop.example")
        self.policy("optional", customTokenSigners=[{"issuer": backend.issuer, "keys": [backend.jwk]}], anonymousAllowed=True)
        audience = self.sidecar.call("tenant.get", {"tenantId": "default"})["issuer"]
        account, token = self.password_account()
        custom = lambda: self.sidecar.call("signIn.withCustomToken", {
            "token": backend.token(subject=backend.issuer, aud=audience, uid=account, iat=self.now, exp=self.now + 3600)})["idToken"]
        self.assertEqual(self.merged(custom())["movedFactors"], [])
        done, _ = self.enroll(token)
        factor = done["account"]["factors"][0]["factorId"]
        for method, params in {"mfa.withdraw": {"factorId": factor}, "mfa.recoveryCodes": {}, "mfa.enroll": {"kind": "totp"}}.items():
            self.refused(("secondFactorNeeded", "unsupportedFirstFactor"), self.sidecar, method, {"idToken": custom(), **params})
        self.refused("secondFactorNeeded", self.sidecar, "mfa.withdraw", {"idToken": custom(), "factorId": factor})
        self.refused("secondFactorNeeded", self.sidecar, "mfa.recoveryCodes", {"idToken": custom()})
        guest = self.anonymous()["idToken"]
        for tokens in ((guest, custom()), (custom(), guest)):
            self.refused("secondFactorNeeded", self.sidecar, "account.merge", {"idToken": tokens[0], "sourceIdToken": tokens[1]})
        self.assertEqual([each["factorId"] for each in self.factors(done["idToken"])["factors"]], [factor])

    def merged(self, target):
        return self.sidecar.call("account.merge", {"idToken": target, "sourceIdToken": self.anonymous()["idToken"]})

    def test_linking_an_anonymous_account_requires_enrollment_if_the_tenant_requires_a_second_factor(self):
        self.policy("required", anonymousAllowed=True)
        for number, credential in enumerate(({"email": "carol@example.com", "password": PASSWORD}, self.credential())):
            with self.subTest(list(credential)):
                guest = self.anonymous()
                linked = self.link(guest["idToken"], credential)
                self.assertEqual(linked["state"], "secondFactorEnrollmentRequired")
                self.assertNotIn("idToken", linked)
                self.refused("refreshTokenInvalid", self.sidecar, "session.refresh", {"refreshToken": guest["refreshToken"]})
                enrolling = {"kind": "email"} if number == 0 else {"kind": "sms", "phoneNumber": "+491511234567"}
                step = self.sidecar.call("mfa.enroll", {"continuationToken": linked["continuationToken"], **enrolling})
                done = self.sidecar.call("mfa.confirm", {"continuationToken": step["continuationToken"], "code": self.mailed()})
                self.assertEqual((done["state"], done["account"]["accountId"]), ("completed", self.account(guest)))
                self.assertIn("mfa", claims_of(done["idToken"])["amr"])
        # If the second factor is optional, linking completes the sign-in.
        self.policy("optional")
        self.assertEqual(self.link(self.anonymous()["idToken"], self.credential(subject="bob"))["state"], "completed")

    # Links that wait for the second factor.

    def protected(self, verified=True):
        """Creates an account with a password and an authenticator app, and a trusted provider for its email address."""
        trusted = self.idp("oidc.trusted", trustEmail=True)
        self.policy("optional")
        account, token = self.password_account()
        _, secret = self.enroll(token)
        if not verified:
            self.sidecar.call("account.update", {"accountId": account, "emailVerified": False})
        self.later(30)
        return account, secret, trusted

    def come_from(self, trusted, subject="carol", **claims):
        claims = {"email": "carol@example.com", "email_verified": True, "iat": self.now, "exp": self.now + 600, **claims}
        return self.sidecar.call("signIn.withCredential", {"credential": self.credential(trusted, subject, **claims), "returnProviderTokens": True})

    def records(self, account):
        return [each for each in self.sidecar.call("audit.list", {"limit": 60})["records"] if each.get("subject") == account and "linked" in each.get("details", {})]

    def test_provider_is_linked_only_after_the_second_factor(self):
        account, secret, trusted = self.protected()
        before = self.sidecar.call("account.get", {"accountId": account})
        answer = self.come_from(trusted, name="Carol T.")
        self.assertEqual((answer["state"], "idToken" in answer), ("secondFactorRequired", False))
        self.refused("factorCodeInvalid", self.sidecar, "mfa.resolve", {"continuationToken": answer["continuationToken"], "factorId": answer["hints"][0]["factorId"], "code": "000000"})
        # Without the second factor, nothing changes.
        self.assertEqual(self.sidecar.call("account.get", {"accountId": account}), before)
        self.assertEqual(self.records(account), [])
        done = self.resolve(answer, self.code(secret), factorId=answer["hints"][0]["factorId"])
        self.assertEqual((done["state"], self.account(done), done["isNewAccount"]), ("completed", account, False))
        self.assertEqual((self.providers(account), done["account"]["attributes"]["displayName"]), (["password", "oidc.trusted"], "Carol T."))
        self.assertEqual(done["providerTokens"]["idToken"].count("."), 2)
        self.assertEqual(set(claims_of(done["idToken"])["amr"]), {"fed", "otp", "mfa"})
        self.assertEqual([each["method"] for each in self.records(account)], ["mfa.resolve"])
        # The provider now leads to the account, and every sign-in requires the second factor.
        self.assertEqual(self.come_from(trusted)["state"], "secondFactorRequired")

    def test_claiming_an_unverified_address_waits_for_the_second_factor(self):
        account, secret, trusted = self.protected(verified=False)
        session = self.resolve(self.begin(), self.code(secret), factorId=self.sidecar.call("account.get", {"accountId": account})["factors"][0]["factorId"])
        self.later(30)
        before = self.sidecar.call("account.get", {"accountId": account})
        answer = self.come_from(trusted)
        self.assertEqual(answer["state"], "secondFactorRequired")
        self.assertEqual(self.sidecar.call("account.get", {"accountId": account}), before)
        self.sidecar.call("session.refresh", {"refreshToken": session["refreshToken"]})
        done = self.resolve(answer, self.code(secret), factorId=answer["hints"][0]["factorId"])
        self.assertEqual((self.providers(account), done["account"]["emailVerified"], len(done["account"]["factors"])), (["oidc.trusted"], True, 1))
        self.refused("refreshTokenInvalid", self.sidecar, "session.refresh", {"refreshToken": session["refreshToken"]})
        self.sidecar.call("token.verify", {"token": done["idToken"], "tenantId": "default"})

    def test_waiting_link_fails_if_the_account_or_the_login_changes(self):
        account, secret, trusted = self.protected()
        factor = self.sidecar.call("account.get", {"accountId": account})["factors"][0]["factorId"]
        _, bob = self.password_account("bob@example.com")
        def another_subject():
            other = self.come_from(trusted, "other")
            return self.resolve(other, self.code(secret), factorId=factor)["idToken"]
        def another_account():
            self.link(bob, self.credential(trusted))
        for change in (another_subject, another_account):
            with self.subTest(change.__name__):
                answer = self.come_from(trusted)
                token = change()
                self.later(30)
                before = self.providers(account)
                refused = {"continuationToken": answer["continuationToken"], "factorId": factor, "code": self.code(secret)}
                self.refused("flowEnded", self.sidecar, "mfa.resolve", refused)
                self.refused("flowEnded", self.sidecar, "mfa.resolve", refused)
                self.assertEqual(self.providers(account), before)
                if token:
                    self.sidecar.call("account.unlink", {"idToken": token, "providerId": "oidc.trusted"})

    def test_two_waiting_links_of_one_login_both_succeed_and_link_it_once(self):
        account, secret, trusted = self.protected()
        first, second = self.come_from(trusted), self.come_from(trusted)
        factor = first["hints"][0]["factorId"]
        self.resolve(first, self.code(secret), factorId=factor)
        self.later(30)
        self.assertEqual(self.account(self.resolve(second, self.code(secret), factorId=factor)), account)
        self.assertEqual(self.providers(account), ["password", "oidc.trusted"])

    # Enrollment.

    def test_enrolled_app_matches_pyotp_and_oathtool(self):
        account, token = self.password_account()
        other = self.password_session()
        self.sidecar.call("tenant.update", {"tenantId": "default", "name": "The Shop, Bern"})
        step = self.sidecar.call("mfa.enroll", {"idToken": token, "kind": "totp", "displayName": "My phone"})
        self.assertEqual((step["state"], step["codeLength"], step["periodSeconds"], step["algorithm"]), ("codeRequired", 6, 30, "SHA1"))
        parsed = pyotp.parse_uri(step["otpauthUri"])
        self.assertEqual((parsed.secret, parsed.issuer, parsed.name, parsed.digits, parsed.interval), (step["secret"], "The Shop, Bern", "carol@example.com", 6, 30))
        self.assertEqual(self.code(step["secret"]), self.code_of_oathtool(step["secret"]))
        again = self.sidecar.call("mfa.enroll", {"idToken": token, "kind": "totp", "displayName": "My phone"})
        self.assertEqual(again, step)
        self.assertEqual(self.factors(token)["factors"], [])
        error = self.refused("factorCodeInvalid", self.sidecar, "mfa.confirm", {"continuationToken": step["continuationToken"], "code": "000000"})
        self.assertEqual((error.data["check"], error.data["attemptsLeft"]), ("wrong", 4))
        done = self.sidecar.call("mfa.confirm", {"continuationToken": step["continuationToken"], "code": self.code_of_oathtool(step["secret"])})
        claims = claims_of(done["idToken"])
        factor = done["account"]["factors"][0]
        self.assertEqual(claims["amr"], ["pwd", "otp", "mfa"])
        self.assertEqual(claims["mintmark"]["second_factor"], {"kind": "totp", "factor_id": factor["factorId"]})
        self.assertEqual((factor["kind"], factor["displayName"], factor["enrolledAt"]), ("totp", "My phone", self.start))
        self.assertNotIn("secret", str(done))
        for gone in (token, other):
            self.refused("tokenRevoked", self.sidecar, "token.verify", {"token": gone, "tenantId": "default"})
        self.assertEqual(self.sidecar.call("account.get", {"accountId": account})["factors"], [factor])
        self.assertEqual(self.sidecar.call("mfa.list", {"accountId": account})["factors"], [factor])
        self.refused("flowFinished", self.sidecar, "mfa.confirm", {"continuationToken": step["continuationToken"], "code": self.code(step["secret"])})

    def test_enrollment_requires_a_verified_address_a_recent_sign_in_and_an_allowed_first_factor(self):
        account, token = self.password_account(verified=False)
        self.refused("emailNotVerified", self.sidecar, "mfa.enroll", {"idToken": token, "kind": "totp"})
        done, _ = self.enroll(token, "email")
        self.assertTrue(done["account"]["emailVerified"])
        done, _ = self.enroll(done["idToken"])
        self.assertEqual(len(done["account"]["factors"]), 2)
        guest = self.anonymous()["idToken"]
        self.refused("unsupportedFirstFactor", self.sidecar, "mfa.enroll", {"idToken": guest, "kind": "totp"})
        self.policy("off")
        error = self.refused("secondFactorsOff", self.sidecar, "mfa.enroll", {"idToken": done["idToken"], "kind": "totp"})
        self.assertEqual(error.data["tenantId"], "default")
        self.policy("optional")
        self.later(301)
        self.refused("recentSignInRequired", self.sidecar, "mfa.enroll", {"idToken": done["idToken"], "kind": "totp"})
        self.assertEqual(len(self.sidecar.call("account.get", {"accountId": account})["factors"]), 2)

    def test_account_has_at_most_five_different_factors(self):
        _, token = self.password_account()
        for number in range(5):
            done, _ = self.enroll(token, "sms", phoneNumber=f"+491511234567{number}")
            token = done["idToken"]
            self.later(1)
            if number == 3:
                error = self.refused("factorExists", self.sidecar, "mfa.enroll", {"idToken": token, "kind": "sms", "phoneNumber": "+4915112345670"})
                self.assertEqual(error.data["factorId"], done["account"]["factors"][0]["factorId"])
        error = self.refused("tooManyFactors", self.sidecar, "mfa.enroll", {"idToken": token, "kind": "totp"})
        self.assertEqual(error.data["maximum"], 5)

    def test_invalid_enrollment_target_fails(self):
        _, token = self.password_account()
        for bad in ("", "0151 1234567", "+49", "+49151a2345678"):
            self.assertRaises(RpcError, self.sidecar.call, "mfa.enroll", {"idToken": token, "kind": "sms", "phoneNumber": bad})
        self.refused("invalidPhoneNumber", self.sidecar, "mfa.enroll", {"idToken": token, "kind": "sms", "phoneNumber": "0151"})
        self.refused("factorTargetMissing", self.sidecar, "mfa.enroll", {"idToken": token, "kind": "sms"})
        self.refused("factorTargetMissing", self.sidecar, "mfa.enroll", {"idToken": token, "kind": "totp", "email": "a@example.com"})
        self.refused("factorTargetMissing", self.sidecar, "mfa.enroll", {"idToken": token, "kind": "email", "phoneNumber": "+4915112345678"})
        self.refused("invalidUsername", self.sidecar, "mfa.enroll", {"idToken": token, "kind": "email", "email": "nobody"})

    def test_email_factor_fails_for_an_account_that_signs_in_by_email_code(self):
        self.sidecar.call("account.create", {"username": "dave@example.com", "emailVerified": True})
        start = self.sidecar.call("signIn.start", {"username": "dave@example.com"})
        token = self.sidecar.call("signIn.submitCode", {"continuationToken": start["continuationToken"], "code": self.mailed()})["idToken"]
        self.refused("factorAddsNothing", self.sidecar, "mfa.enroll", {"idToken": token, "kind": "email"})

    def test_concurrent_enrollments_in_one_session_succeed_once(self):
        account, token = self.password_account()
        steps = [self.sidecar.call("mfa.enroll", {"idToken": token, "kind": "totp", "displayName": name}) for name in ("a", "b")]
        outcomes = []

        def confirm(step):
            try:
                outcomes.append(self.sidecar.call("mfa.confirm", {"continuationToken": step["continuationToken"], "code": self.code(step["secret"])})["state"])
            except RpcError as error:
                outcomes.append(error.type)

        threads = [threading.Thread(target=confirm, args=(step,)) for step in steps]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        # The first confirmation ends the session in which both enrollments were started.
        self.assertEqual(sorted(outcomes), ["completed", "tokenRevoked"])
        self.assertEqual(len(self.sidecar.call("account.get", {"accountId": account})["factors"]), 1)

    # Signing in.

    def test_every_sign_in_method_requires_the_second_factor(self):
        account, token = self.password_account()
        linked = self.link(token, self.credential())
        done, secret = self.enroll(linked["idToken"])
        steps = self.sidecar.call("signIn.start", {"username": "carol@example.com"})
        answers = {
            "withPassword": self.begin(),
            "submitPassword": self.sidecar.call("signIn.submitPassword", {"continuationToken": steps["continuationToken"], "password": PASSWORD}),
            "withCredential": self.sidecar.call("signIn.withCredential", {"credential": self.credential()}),
            "password as a credential": self.sidecar.call("signIn.withCredential", {"credential": {"email": "carol@example.com", "password": PASSWORD}}),
            "reauthenticate": self.sidecar.call("account.reauthenticate", {"idToken": done["idToken"], "credential": self.credential()}),
        }
        reset = self.sidecar.call("passwordReset.start", {"username": "carol@example.com"})
        reset = self.sidecar.call("passwordReset.submitCode", {"continuationToken": reset["continuationToken"], "code": self.mailed()})
        self.later(30)
        for name, answer in answers.items():
            with self.subTest(name):
                self.assertEqual(answer["state"], "secondFactorRequired")
                self.assertEqual([hint["kind"] for hint in answer["hints"]], ["totp"])
                self.assertFalse({"idToken", "accessToken", "refreshToken", "account"} & set(answer))
                final = self.resolve(answer, self.code(secret), factorId=answer["hints"][0]["factorId"])
                self.assertEqual(self.account(final), account)
                claims = claims_of(final["idToken"])
                self.assertEqual(claims["amr"][-2:], ["otp", "mfa"])
                self.assertEqual(claims["mintmark"]["second_factor"]["kind"], "totp")
                self.later(30)
        reset = self.sidecar.call("passwordReset.submitPassword", {"continuationToken": reset["continuationToken"], "password": "another horse 9 Battery"})
        answer = self.sidecar.call("signIn.withContinuation", {"continuationToken": reset["continuationToken"]})
        self.assertEqual(answer["state"], "secondFactorRequired")
        self.resolve(answer, self.code(secret), factorId=answer["hints"][0]["factorId"])

    def test_sign_in_after_an_address_change_requires_the_second_factor(self):
        _, token = self.password_account()
        done, secret = self.enroll(token)
        step = self.sidecar.call("account.changeEmail", {"idToken": done["idToken"], "email": "carol@example.org"})
        step = self.sidecar.call("account.submitCode", {"continuationToken": step["continuationToken"], "code": self.sent_to("carol@example.org")})
        answer = self.sidecar.call("signIn.withContinuation", {"continuationToken": step["continuationToken"]})
        self.assertEqual(answer["state"], "secondFactorRequired")
        self.later(30)
        final = self.resolve(answer, self.code(secret), factorId=answer["hints"][0]["factorId"])
        self.assertEqual(final["account"]["email"], "carol@example.org")

    def test_wrong_codes_are_counted_per_client(self):
        _, token = self.password_account()
        _, secret = self.enroll(token)
        self.policy("optional", lockout={"threshold": 100})
        here, there = {"client": {"address": "192.0.2.7"}}, {"client": {"address": "192.0.2.8"}}
        for guesses in (60, 40):
            self.later(30)
            answer = self.begin()
            given = {"continuationToken": answer["continuationToken"], "factorId": answer["hints"][0]["factorId"]}
            wrong = "000000" if self.code(secret) != "000000" else "000001"
            for count in range(guesses):
                self.refused("factorCodeInvalid", self.sidecar, "mfa.resolve", {**given, **here, "code": wrong})
                if count % 20 == 19:
                    self.later(1)
            if guesses == 40:
                self.refused("tooManyFromClient", self.sidecar, "mfa.resolve", {**given, **here, "code": self.code(secret)})
            self.sidecar.call("mfa.resolve", {**given, **there, "code": self.code(secret)})

    def test_repeated_step_returns_the_same_result(self):
        _, token = self.password_account()
        self.enroll(token)
        start = self.sidecar.call("signIn.start", {"username": "carol@example.com"})
        given = {"continuationToken": start["continuationToken"], "password": PASSWORD}
        self.assertEqual(self.sidecar.call("signIn.submitPassword", given), self.sidecar.call("signIn.submitPassword", given))
        pending = self.sidecar.call("signIn.submitPassword", given)["continuationToken"]
        error = self.refused("stepNotPossible", self.sidecar, "signIn.submitPassword", {**given, "continuationToken": pending})
        self.assertEqual(error.data["expected"], "mfa.resolve")

    def test_sign_in_is_recorded_only_after_the_second_factor(self):
        account, token = self.password_account()
        done, secret = self.enroll(token)
        last = self.sidecar.call("account.get", {"accountId": account})["lastSignInAt"]
        self.later(100)
        answer = self.begin()
        self.assertEqual(self.sidecar.call("account.get", {"accountId": account})["lastSignInAt"], last)
        self.assertEqual(len(self.sidecar.call("session.list", {"accountId": account})["sessions"]), 1)
        final = self.resolve(answer, self.code(secret), factorId=answer["hints"][0]["factorId"])
        self.assertEqual(final["account"]["lastSignInAt"], self.now)
        session = self.sidecar.call("session.list", {"accountId": account})["sessions"][0]
        self.assertEqual((session["amr"], session["secondFactor"]), (["pwd", "otp", "mfa"], "totp"))
        fresh = self.sidecar.call("session.refresh", {"refreshToken": final["refreshToken"]})
        self.assertEqual(claims_of(fresh["idToken"])["mintmark"]["second_factor"], claims_of(final["idToken"])["mintmark"]["second_factor"])
        self.assertEqual(claims_of(fresh["accessToken"])["amr"], ["pwd", "otp", "mfa"])
        for method, given in {"mfa.resolve": {"code": self.code(secret)}, "mfa.challenge": {"factorId": answer["hints"][0]["factorId"]}}.items():
            self.refused("flowFinished", self.sidecar, method, {"continuationToken": answer["continuationToken"], **given})

    def test_code_is_single_use_and_limited_to_adjacent_periods(self):
        _, token = self.password_account()
        step = self.sidecar.call("mfa.enroll", {"idToken": token, "kind": "totp"})
        secret = step["secret"]
        self.sidecar.call("mfa.confirm", {"continuationToken": step["continuationToken"], "code": self.code(secret)})
        answer = self.begin()
        factor = answer["hints"][0]["factorId"]
        error = self.refused("factorCodeInvalid", self.sidecar, "mfa.resolve", {"continuationToken": answer["continuationToken"], "factorId": factor, "code": self.code(secret)})
        self.assertEqual(error.data["check"], "used")
        self.later(300)
        self.resolve(answer, self.code(secret), factorId=factor)
        for steps, expected in ((-2, "wrong"), (2, "wrong"), (-1, "used"), (0, "used"), (1, None), (0, "used"), (1, "used")):
            with self.subTest(steps=steps):
                answer = self.begin()
                given = {"continuationToken": answer["continuationToken"], "factorId": factor, "code": self.code(secret, steps)}
                if expected:
                    self.assertEqual(self.refused("factorCodeInvalid", self.sidecar, "mfa.resolve", given).data["check"], expected)
                else:
                    self.sidecar.call("mfa.resolve", given)
        self.policy("optional", totpAdjacentIntervals=0)
        self.later(600)
        answer = self.begin()
        given = {"continuationToken": answer["continuationToken"], "factorId": factor}
        self.refused("factorCodeInvalid", self.sidecar, "mfa.resolve", {**given, "code": self.code(secret, 1)})
        self.sidecar.call("mfa.resolve", {**given, "code": self.code(secret)})

    def test_concurrent_sign_ins_with_one_code_succeed_once(self):
        _, token = self.password_account()
        _, secret = self.enroll(token)
        self.later(30)
        answers = [self.begin() for _ in range(6)]
        outcomes = []

        def resolve(answer):
            try:
                outcomes.append(self.resolve(answer, self.code(secret), factorId=answer["hints"][0]["factorId"])["state"])
            except RpcError as error:
                outcomes.append(error.data["check"])

        threads = [threading.Thread(target=resolve, args=(answer,)) for answer in answers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(outcomes), ["completed"] + ["used"] * 5)

    def test_wrong_codes_lock_the_account_and_a_correct_password_does_not_reset_the_count(self):
        _, token = self.password_account()
        _, secret = self.enroll(token)
        self.later(30)
        left = []
        for _ in range(10):
            answer = self.begin()
            factor = answer["hints"][0]["factorId"]
            wrong = "000000" if self.code(secret) != "000000" else "000001"
            error = self.refused("factorCodeInvalid", self.sidecar, "mfa.resolve", {"continuationToken": answer["continuationToken"], "factorId": factor, "code": wrong})
            left.append(error.data["attemptsLeft"])
        self.assertEqual(left, list(range(9, -1, -1)))
        given = {"continuationToken": answer["continuationToken"], "factorId": factor}
        error = self.refused("accountLocked", self.sidecar, "mfa.resolve", {**given, "code": self.code(secret)})
        self.refused("accountLocked", self.sidecar, "mfa.challenge", given)
        self.later(error.data["retryAfterSeconds"])
        self.assertEqual(self.resolve(answer, self.code(secret), factorId=factor)["state"], "completed")
        answer = self.begin()
        error = self.refused("factorCodeInvalid", self.sidecar, "mfa.resolve", {"continuationToken": answer["continuationToken"], "factorId": factor, "code": wrong})
        self.assertEqual(error.data["attemptsLeft"], 9)

    def test_codes_are_sent_by_email_and_sms(self):
        _, token = self.password_account()
        done, _ = self.enroll(token, "email", email="backup@example.org", displayName="Backup")
        done, _ = self.enroll(done["idToken"], "sms", phoneNumber="+4915112345678")
        answer = self.begin()
        self.assertEqual(
            [{key: hint.get(key) for key in ("kind", "displayName", "sentTo")} for hint in answer["hints"]],
            [{"kind": "email", "displayName": "Backup", "sentTo": "b***@e***.org"}, {"kind": "sms", "displayName": None, "sentTo": "+***78"}])
        mail, text = (hint["factorId"] for hint in answer["hints"])
        error = self.refused("stepNotPossible", self.sidecar, "mfa.resolve", {"continuationToken": answer["continuationToken"], "code": "1"})
        self.assertIn("mfa.challenge", error.data["expected"])
        self.refused("stepNotPossible", self.sidecar, "mfa.resolve", {"continuationToken": answer["continuationToken"], "factorId": mail, "code": "1"})
        self.refused("factorNotFound", self.sidecar, "mfa.challenge", {"continuationToken": answer["continuationToken"], "factorId": "other"})
        given = {"continuationToken": answer["continuationToken"], "factorId": mail}
        sent = self.sidecar.call("mfa.challenge", given)
        self.assertEqual((sent["state"], sent["sentTo"], sent["channel"], sent["codeLength"]), ("codeRequired", "b***@e***.org", "email", 8))
        count = len(self.sidecar.call("test.outbox", {})["messages"])
        self.assertEqual(self.sidecar.call("mfa.challenge", given), sent)
        messages = self.sidecar.call("test.outbox", {})["messages"]
        self.assertEqual((len(messages), messages[-1]["to"], messages[-1]["channel"]), (count, "backup@example.org", "email"))
        first = self.mailed()
        # Selecting another factor invalidates the code of the first one.
        second = self.sidecar.call("mfa.challenge", {"continuationToken": sent["continuationToken"], "factorId": text})
        message = self.sidecar.call("test.outbox", {})["messages"][-1]
        self.assertEqual((second["sentTo"], second["channel"], message["to"], message["channel"]), ("+***78", "sms", "+4915112345678", "sms"))
        self.assertIn(message["code"], message["text"])
        error = self.refused("factorCodeInvalid", self.sidecar, "mfa.resolve", {"continuationToken": second["continuationToken"], "code": first})
        self.assertEqual((error.data["check"], error.data["attemptsLeft"]), ("wrong", 4))
        self.assertGreater(error.data["resendAt"], self.start)
        final = self.resolve(second, message["code"])
        claims = claims_of(final["idToken"])
        self.assertEqual((claims["amr"], claims["mintmark"]["second_factor"]), (["pwd", "sms", "mfa"], {"kind": "sms", "factor_id": text}))
        self.assertEqual(self.factors(final["idToken"])["factors"][1]["phoneNumber"], "+4915112345678")

    def test_sent_code_expires_and_is_limited_to_five_attempts(self):
        _, token = self.password_account()
        self.enroll(token, "sms", phoneNumber="+4915112345678")
        self.later(901)
        answer = self.begin()
        factor = answer["hints"][0]["factorId"]
        sent = self.sidecar.call("mfa.challenge", {"continuationToken": answer["continuationToken"], "factorId": factor})
        code = self.mailed()
        for left in (4, 3, 2, 1, 0):
            error = self.refused("factorCodeInvalid", self.sidecar, "mfa.resolve", {"continuationToken": sent["continuationToken"], "code": "1"})
            self.assertEqual(error.data["attemptsLeft"], left)
        self.refused("factorCodeInvalid", self.sidecar, "mfa.resolve", {"continuationToken": sent["continuationToken"], "code": code})
        sent = self.sidecar.call("mfa.challenge", {"continuationToken": sent["continuationToken"], "factorId": factor})
        self.assertEqual(self.resolve(sent, self.mailed())["state"], "completed")
        self.later(901)
        self.policy("optional", codes={"lifetimeSeconds": 60})
        sent = self.sidecar.call("mfa.challenge", {"continuationToken": self.begin()["continuationToken"], "factorId": factor})
        self.later(60)
        error = self.refused("factorCodeInvalid", self.sidecar, "mfa.resolve", {"continuationToken": sent["continuationToken"], "code": self.mailed()})
        self.assertEqual((error.data["check"], error.data["attemptsLeft"]), ("expired", 0))

    def test_changes_between_the_two_factors_take_effect(self):
        account, token = self.password_account()
        done, secret = self.enroll(token)
        self.later(30)
        answer = self.begin()
        factor = answer["hints"][0]["factorId"]
        given = {"continuationToken": answer["continuationToken"], "factorId": factor, "code": self.code(secret)}
        self.sidecar.call("account.update", {"accountId": account, "disabled": True})
        self.refused("accountDisabled", self.sidecar, "mfa.resolve", given)
        self.sidecar.call("account.update", {"accountId": account, "disabled": False})
        self.sidecar.call("mfa.withdraw", {"accountId": account, "factorId": factor})
        self.refused("factorNotFound", self.sidecar, "mfa.resolve", given)
        self.sidecar.call("account.delete", {"accountId": account})
        self.refused("flowEnded", self.sidecar, "mfa.resolve", given)

    def test_tenant_with_policy_off_requires_no_second_factor(self):
        _, token = self.password_account()
        self.enroll(token)
        self.policy("off")
        self.assertIn("idToken", self.sidecar.call("signIn.withPassword", {"username": "carol@example.com", "password": PASSWORD}))
        self.policy("optional")
        self.begin()

    def test_session_without_a_second_factor_cannot_change_factors(self):
        _, token = self.password_account()
        done, _ = self.enroll(token)
        factor = done["account"]["factors"][0]["factorId"]
        self.policy("off")
        weak = self.password_session()
        self.policy("optional")
        for method, given in {"mfa.withdraw": {"factorId": factor}, "mfa.enroll": {"kind": "totp"}, "mfa.recoveryCodes": {}}.items():
            self.refused("secondFactorNeeded", self.sidecar, method, {"idToken": weak, **given})

    def test_linking_and_password_change_keep_the_second_factor_of_the_session(self):
        _, token = self.password_account()
        done, _ = self.enroll(token)
        shown = claims_of(done["idToken"])["mintmark"]["second_factor"]
        linked = self.link(done["idToken"], self.credential())
        self.assertEqual(claims_of(linked["idToken"])["mintmark"]["second_factor"], shown)
        changed = self.sidecar.call("account.changePassword", {"idToken": linked["idToken"], "currentPassword": PASSWORD, "newPassword": "another horse 9 Battery"})
        claims = claims_of(changed["idToken"])
        self.assertEqual((claims["mintmark"]["second_factor"], claims["amr"]), (shown, ["pwd", "otp", "mfa"]))

    # Required second factors.

    def test_required_factor_is_enrolled_during_sign_in(self):
        account, _ = self.password_account()
        self.policy("required")
        answer = self.sidecar.call("signIn.withPassword", {"username": "carol@example.com", "password": PASSWORD})
        self.assertEqual((answer["state"], set(answer)), ("secondFactorEnrollmentRequired", {"state", "continuationToken", "expiresAt", "factorKinds", "kinds"}))
        self.assertEqual(answer["factorKinds"], ["totp", "email", "sms"])
        start = answer["continuationToken"]
        self.refused("stepNotPossible", self.sidecar, "mfa.resolve", {"continuationToken": start, "code": "1"})
        self.refused("stepNotPossible", self.sidecar, "mfa.confirm", {"continuationToken": start, "code": "1"})
        mail = self.sidecar.call("mfa.enroll", {"continuationToken": start, "kind": "sms", "phoneNumber": "+4915112345678"})
        app = self.sidecar.call("mfa.enroll", {"continuationToken": mail["continuationToken"], "kind": "totp"})
        self.assertEqual(self.sidecar.call("mfa.enroll", {"continuationToken": mail["continuationToken"], "kind": "totp"}), app)
        self.refused("continuationTokenInvalid", self.sidecar, "mfa.confirm", {"continuationToken": mail["continuationToken"], "code": "1"})
        done = self.sidecar.call("mfa.confirm", {"continuationToken": app["continuationToken"], "code": self.code(app["secret"])})
        self.assertEqual(self.account(done), account)
        self.assertEqual([each["factorId"] for each in done["account"]["factors"]], [app["factorId"]])
        self.assertEqual(claims_of(done["idToken"])["mintmark"]["second_factor"]["kind"], "totp")
        self.begin()

    def test_required_enrollment_lists_the_possible_kinds(self):
        self.policy("required")
        sign_in = {"username": "dave@example.com", "password": PASSWORD}
        account = self.sidecar.call("account.create", sign_in)["accountId"]
        step = self.sidecar.call("signIn.withPassword", sign_in)
        self.assertEqual(step["factorKinds"], ["email"])
        self.refused("emailNotVerified", self.sidecar, "mfa.enroll", {"continuationToken": step["continuationToken"], "kind": "totp"})
        self.assertEqual(self.sidecar.call("mfa.enroll", {"continuationToken": step["continuationToken"], "kind": "email"})["kind"], "email")
        self.sidecar.call("account.update", {"accountId": account, "emailVerified": True})
        self.assertEqual(self.sidecar.call("signIn.withPassword", sign_in)["factorKinds"], ["totp", "email", "sms"])
        # Outside of testing stores, a factor requires a configured delivery.
        hooks, mail = {"url": "https://hooks.example.com", "secret": "s" * 32}, {"host": "mail.example.com", "from": "a@example.com"}
        real = self.spawn(store=self.path("real.db"))
        real.call("idp.create", {"providerId": "oidc.work", "issuer": self.provider.issuer, "clientId": "shop", "keys": [self.provider.jwk]})
        for delivery, kinds in (({}, ["totp"]), ({"smtp": mail}, ["totp", "email"]), ({"webhook": hooks}, ["totp", "email", "sms"])):
            real.call("tenant.update", {"tenantId": "default", "mfa": "required", "delivery": delivery})
            credential = {"providerId": "oidc.work", "idToken": self.provider.token("erin")}
            self.assertEqual(real.call("signIn.withCredential", {"credential": credential})["factorKinds"], kinds)

    def test_required_factor_is_enrolled_after_sign_up(self):
        self.policy("required")
        step = self.sidecar.call("signUp.start", {"username": "dave@example.com"})
        step = self.sidecar.call("signUp.submitCode", {"continuationToken": step["continuationToken"], "code": self.mailed()})
        given = {"continuationToken": step["continuationToken"]}
        step = self.sidecar.call("signIn.withContinuation", given)
        self.assertEqual(step["state"], "secondFactorEnrollmentRequired")
        self.assertEqual(self.sidecar.call("signIn.withContinuation", given), step)
        step = self.sidecar.call("mfa.enroll", {"continuationToken": step["continuationToken"], "kind": "totp"})
        done = self.sidecar.call("mfa.confirm", {"continuationToken": step["continuationToken"], "code": self.code(step["secret"])})
        self.assertTrue(done["isNewAccount"])
        self.assertEqual(claims_of(done["idToken"])["amr"], ["otp", "mfa"])

    def test_sign_in_result_contains_the_provider_profile_after_enrollment(self):
        self.policy("required")
        credential = self.credential(subject="erin", name="Erin")
        answer = self.sidecar.call("signIn.withCredential", {"credential": credential, "returnProviderTokens": True})
        self.assertEqual(answer["state"], "secondFactorEnrollmentRequired")
        step = self.sidecar.call("mfa.enroll", {"continuationToken": answer["continuationToken"], "kind": "totp"})
        done = self.sidecar.call("mfa.confirm", {"continuationToken": step["continuationToken"], "code": self.code(step["secret"])})
        self.assertEqual((done["isNewAccount"], done["additionalUserInfo"]["profile"]["name"]), (True, "Erin"))
        self.assertEqual(done["providerTokens"], {"idToken": credential["idToken"]})

    def test_second_concurrent_enrollment_during_sign_in_requires_the_first_factor(self):
        self.password_account()
        self.policy("required")
        first, second = (self.sidecar.call("signIn.withPassword", {"username": "carol@example.com", "password": PASSWORD}) for _ in range(2))
        steps = [self.sidecar.call("mfa.enroll", {"continuationToken": answer["continuationToken"], "kind": "totp"}) for answer in (first, second)]
        self.sidecar.call("mfa.confirm", {"continuationToken": steps[0]["continuationToken"], "code": self.code(steps[0]["secret"])})
        self.refused("secondFactorNeeded", self.sidecar, "mfa.confirm", {"continuationToken": steps[1]["continuationToken"], "code": self.code(steps[1]["secret"])})

    # Recovery codes.

    def test_recovery_codes_are_single_use(self):
        account, token = self.password_account()
        self.refused("noSecondFactor", self.sidecar, "mfa.recoveryCodes", {"idToken": token})
        done, _ = self.enroll(token)
        old = self.sidecar.call("mfa.recoveryCodes", {"idToken": done["idToken"]})["codes"]
        codes = self.sidecar.call("mfa.recoveryCodes", {"idToken": done["idToken"]})["codes"]
        self.assertEqual((len(set(codes)), len(set(codes) & set(old))), (10, 0))
        for code in codes:
            self.assertRegex(code, "^[a-z2-7]{4}(-[a-z2-7]{4}){6}$")
        answer = self.begin()
        self.assertEqual([hint["kind"] for hint in answer["hints"]], ["totp", "recovery"])
        given = {"continuationToken": answer["continuationToken"], "factorId": "recovery"}
        self.refused("factorCodeInvalid", self.sidecar, "mfa.resolve", {**given, "code": old[0]})
        final = self.sidecar.call("mfa.resolve", {**given, "code": codes[0].upper().replace("-", " ")})
        self.assertEqual(claims_of(final["idToken"])["mintmark"]["second_factor"], {"kind": "recovery", "factor_id": "recovery"})
        self.assertEqual(self.factors(final["idToken"])["recoveryCodesLeft"], 9)
        given["continuationToken"] = self.begin()["continuationToken"]
        self.refused("factorCodeInvalid", self.sidecar, "mfa.resolve", {**given, "code": codes[0]})
        # After a sign-in with a recovery code, the user removes the lost app and enrolls another one.
        factor = final["account"]["factors"][0]["factorId"]
        gone = self.sidecar.call("mfa.withdraw", {"idToken": final["idToken"], "factorId": factor})
        self.assertEqual(gone["state"], "completed")
        self.assertEqual(self.factors(gone["idToken"]), {"factors": [], "recoveryCodesLeft": 0, "policy": "optional"})
        self.enroll(gone["idToken"])
        self.assertNotIn(codes[1], str(self.sidecar.call("account.get", {"accountId": account})))

    # Removing factors.

    def test_removing_the_factor_of_the_session_ends_the_session(self):
        account, token = self.password_account()
        done, secret = self.enroll(token)
        self.later(30)
        answer = self.begin()
        factor = answer["hints"][0]["factorId"]
        other = self.resolve(answer, self.code(secret), factorId=factor)
        self.refused("factorNotFound", self.sidecar, "mfa.withdraw", {"idToken": other["idToken"], "factorId": "other"})
        gone = self.sidecar.call("mfa.withdraw", {"idToken": done["idToken"], "factorId": factor})
        self.assertEqual((gone["state"], set(gone), gone["account"]["accountId"]), ("signedOut", {"state", "account"}, account))
        self.refused("tokenRevoked", self.sidecar, "token.verify", {"token": done["idToken"], "tenantId": "default"})
        self.sidecar.call("token.verify", {"token": other["idToken"], "tenantId": "default"})
        self.assertIn("idToken", self.sidecar.call("signIn.withPassword", {"username": "carol@example.com", "password": PASSWORD}))

    def test_removing_another_factor_keeps_the_session(self):
        _, token = self.password_account()
        done, _ = self.enroll(token, "sms", phoneNumber="+4915112345678")
        done, _ = self.enroll(done["idToken"])
        text, app = (factor["factorId"] for factor in done["account"]["factors"])
        gone = self.sidecar.call("mfa.withdraw", {"idToken": done["idToken"], "factorId": text})
        self.assertEqual(claims_of(gone["idToken"])["mintmark"]["second_factor"]["factor_id"], app)
        self.assertEqual([factor["factorId"] for factor in gone["account"]["factors"]], [app])
        self.later(301)
        self.refused("recentSignInRequired", self.sidecar, "mfa.withdraw", {"idToken": gone["idToken"], "factorId": app})

    def test_last_factor_cannot_be_removed_by_the_user_if_one_is_required(self):
        account, token = self.password_account()
        done, _ = self.enroll(token)
        factor = done["account"]["factors"][0]["factorId"]
        self.policy("required")
        self.refused("lastFactor", self.sidecar, "mfa.withdraw", {"idToken": done["idToken"], "factorId": factor})
        self.sidecar.call("mfa.withdraw", {"accountId": account, "factorId": factor})
        answer = self.sidecar.call("signIn.withPassword", {"username": "carol@example.com", "password": PASSWORD})
        self.assertEqual(answer["state"], "secondFactorEnrollmentRequired")
        self.sidecar.call("token.verify", {"token": done["idToken"], "tenantId": "default"})

    def test_public_caller_cannot_name_an_account(self):
        with self.spawn("--caller", "public") as public:
            for method, given in {"mfa.list": {}, "mfa.withdraw": {"factorId": "1"}}.items():
                self.refused("callerNotAllowed", public, method, {"accountId": "somebody", **given})

    # Audit log.

    def test_every_factor_change_is_recorded_without_secrets(self):
        account, token = self.password_account()
        done, secret = self.enroll(token)
        codes = self.sidecar.call("mfa.recoveryCodes", {"idToken": done["idToken"]})["codes"]
        self.sidecar.call("mfa.withdraw", {"accountId": account, "factorId": done["account"]["factors"][0]["factorId"]})
        records = self.sidecar.call("audit.list", {"limit": 60})["records"]
        of_factors = [record["method"] for record in records if record["method"].startswith("mfa.")]
        self.assertEqual(sorted(of_factors), ["mfa.confirm", "mfa.recoveryCodes", "mfa.withdraw"])
        self.assertTrue(self.sidecar.call("audit.verify", {})["intact"])
        self.assertNotIn(secret, str(records))
        self.assertNotIn(codes[0], str(records))
