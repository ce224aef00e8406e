"""Rate limits and lockouts: each error names the limit and the method that helps."""

from test_bad_input_people import ALICE, BOB, PASSWORD, WRONG, People


class Codes(People):
    def test_resend_above_flow_limit_fails_and_names_the_start_method(self):
        self.settings(codes={"sendsPerFlow": 2, "sendsPerAddress": 3})
        self.account(BOB, None)
        for kind, address in (("signUp", ALICE), ("signIn", BOB)):
            token = self.call(f"{kind}.resendCode", continuationToken=self.start(address, kind))["continuationToken"]
            error = self.no("tooManyCodes", f"{kind}.resendCode", continuationToken=token)
            self.assertEqual((error.data["sentInFlow"], error.data["next"]), (2, f"{kind}.start"))
            self.assertNotIn("retryAfterSeconds", error.data)
            # The named method succeeds immediately.
            self.call(error.data["next"], username=address.upper())
            error = self.no("tooManyCodes", f"{kind}.resendCode", continuationToken=token)
            self.assertEqual((error.data["sentInFlow"], error.data["retryAfterSeconds"]), (2, 900))
            error = self.no("tooManyCodes", f"{kind}.start", username=address, language="de")
            self.assertEqual(set(error.data) - {"type", "trace"}, {"retryAfterSeconds"})
            self.assertNotIn("start another flow", str(error))

    def test_unknown_address_gets_no_sign_up_hint_if_sign_up_is_disabled(self):
        tenant = self.tenant("closed", signUpAllowed=False)
        for method, params in (("signIn.start", {}), ("signIn.withPassword", {"password": PASSWORD}), ("passwordReset.start", {})):
            error = self.no("userNotFound", method, username=ALICE, **tenant, **params)
            self.assertNotIn("next", error.data)
            self.assertIn("have an administrator create the account", str(error))
            self.assertEqual(self.no("userNotFound", method, username=ALICE, **params).data["next"], "signUp.start")


class Locks(People):
    def wrong(self, count):
        for number in range(count):
            self.no("invalidPassword", "signIn.withPassword", username=ALICE, password=f"{WRONG}{number}")

    def test_wrong_reset_codes_count_toward_lockout_and_reset_stays_possible(self):
        self.account()
        self.wrong(9)
        token = self.start(kind="passwordReset")
        self.tries(1, token, "passwordReset")
        self.assertEqual(self.no("accountLocked", "signIn.withPassword", username=ALICE, password=PASSWORD).data["next"], "passwordReset.start")
        step = self.submit(token, kind="passwordReset")
        self.call("passwordReset.submitPassword", continuationToken=step["continuationToken"], password=PASSWORD + "2")
        self.assertEqual(self.sign_in(password=PASSWORD + "2")["state"], "completed")

    def test_lockout_covers_passwords_codes_and_continuation_tokens_but_not_sessions_and_resets(self):
        done = self.completed(password=PASSWORD)
        session = self.call("signIn.withContinuation", continuationToken=self.completed(BOB, password=PASSWORD))
        change = self.call("account.changeEmail", idToken=session["idToken"], email="bob@example.org")["continuationToken"]
        changed = self.call("account.submitCode", continuationToken=change, code=self.code("bob@example.org"))["continuationToken"]
        self.settings(lockout={"threshold": 1, "durationSeconds": 60})
        refresh = self.sign_in()["refreshToken"]
        for address in (ALICE, "bob@example.org"):
            self.no("invalidPassword", "signIn.withPassword", username=address, password=WRONG)
        for token in (done, changed):
            error = self.no("accountLocked", "signIn.withContinuation", continuationToken=token)
            self.assertEqual((error.data["retryAfterSeconds"], error.data["next"]), (60, "passwordReset.start"))
        self.no("accountLocked", "signIn.withPassword", username=ALICE, password=PASSWORD)
        self.no("accountLocked", "signIn.submitPassword", continuationToken=self.start(kind="signIn"), password=PASSWORD)
        refresh = self.call("session.refresh", refreshToken=refresh)["refreshToken"]
        # The rejected call does not consume the token.
        self.advance(60)
        for token in (done, changed):
            self.assertEqual(self.call("signIn.withContinuation", continuationToken=token)["state"], "completed")
        self.no("invalidPassword", "signIn.withPassword", username=ALICE, password=WRONG + "again")
        step = self.submit(self.start(kind="passwordReset"), kind="passwordReset")
        done = self.call("passwordReset.submitPassword", continuationToken=step["continuationToken"], password=PASSWORD + "2")
        self.assertEqual(self.call("signIn.withContinuation", continuationToken=done["continuationToken"])["state"], "completed")

    def test_ten_wrong_reset_codes_lock_resets_and_errors_suggest_no_reset(self):
        self.account()
        for address in (ALICE, ALICE.upper()):
            token = self.start(address, "passwordReset")
            self.tries(5, token, "passwordReset")
        token = self.call("passwordReset.resendCode", continuationToken=token)["continuationToken"]
        error = self.no("accountLocked", "passwordReset.submitCode", continuationToken=token, code=self.code())
        self.assertEqual(error.data["only"], "password resets")
        error = self.no("accountLocked", "signIn.withPassword", username=ALICE, password=PASSWORD)
        self.assertNotIn("next", error.data)
        self.advance(60)
        self.assertEqual(self.submit(token, kind="passwordReset")["state"], "passwordRequired")

    def test_with_enumeration_protection_wrong_reset_codes_lock_every_address_alike(self):
        self.settings(enumerationProtection=True)
        self.account()
        self.account("carol@example.com", None)
        seen = []
        for address in (ALICE, BOB, "carol@example.com"):
            for spelled in (address, address.upper()):
                self.tries(5, self.start(spelled, "passwordReset"), "passwordReset")
            seen.append(self.no("accountLocked", "signIn.withPassword", username=address, password=PASSWORD).data)
        self.assertEqual(seen[1:], seen[:1] * 2)
