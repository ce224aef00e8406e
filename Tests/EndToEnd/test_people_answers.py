"""What people are told when it does not go on: what happened, for how long, and by what method it does."""

from sidecar import RpcError
from test_bad_input_people import ALICE, BOB, OTHER, PASSWORD, WRONG, People


class Codes(People):
    def test_a_right_code_that_is_over_is_said_to_be_over_and_counts_for_nothing(self):
        self.settings(codes={"lifetimeSeconds": 60})
        self.account(BOB, None)
        self.account("carol@example.com")
        for kind, address in (("signUp", ALICE), ("signIn", BOB), ("passwordReset", "carol@example.com")):
            with self.subTest(kind=kind):
                token, code = self.start(address, kind), self.code(address)
                self.advance(60)
                for _ in range(12):
                    error = self.no("codeExpired", f"{kind}.submitCode", continuationToken=token, code=code)
                self.assertEqual((error.data["next"], error.data["expiredAt"]), (f"{kind}.resendCode", error.data["resendAt"]))
                self.assertIn(f"{kind}.resendCode sends another one", str(error))
                # Nobody is locked out by it, and the code after it is taken.
                token = self.call(error.data["next"], continuationToken=token)["continuationToken"]
                self.assertIn("state", self.submit(token, kind=kind, address=address))

    def test_a_code_that_wrong_tries_have_used_up_says_so_and_counts_no_more(self):
        token, code = self.start(), self.code()
        self.tries(4, token)
        last = self.no("invalidCode", "signUp.submitCode", continuationToken=token, code=WRONG).data
        self.assertEqual((last["attemptsLeft"], last["next"]), (0, "signUp.resendCode"))
        for given in [code, WRONG] * 6:
            error = self.no("codeExpired", "signUp.submitCode", continuationToken=token, code=given)
            self.assertEqual((error.data["wrongTries"], error.data["next"]), (5, "signUp.resendCode"))
        token = self.call("signUp.resendCode", continuationToken=token)["continuationToken"]
        self.assertEqual(self.submit(token)["state"], "completed")

    def test_the_code_to_a_new_address_names_what_sends_another_one(self):
        self.account()
        id_token = self.sign_in()["idToken"]
        token = self.call("account.changeEmail", idToken=id_token, email=BOB)["continuationToken"]
        for _ in range(5):
            error = self.no("invalidCode", "account.submitCode", continuationToken=token, code=WRONG)
        self.assertEqual(error.data["next"], "account.changeEmail")
        error = self.no("codeExpired", "account.submitCode", continuationToken=token, code=self.code(BOB))
        self.assertIn("state", self.call(error.data["next"], continuationToken=token))


class Locks(People):
    def lock(self, kind, address):
        """The error of the failure that locks, and that of the next one."""
        for _ in range(2):
            token = self.start(address, kind)
            for _ in range(5):
                error = self.no("invalidCode", f"{kind}.submitCode", continuationToken=token, code=WRONG)
            self.advance(61)
        token = self.start(address, kind)
        return (self.no("invalidCode", f"{kind}.submitCode", continuationToken=token, code=WRONG),
                self.no("accountLocked", f"{kind}.submitCode", continuationToken=token, code=self.code(address)))

    def test_a_lock_names_the_reset_where_there_is_one(self):
        self.account()
        for number in range(9):
            self.no("invalidPassword", "signIn.withPassword", username=ALICE, password=f"{WRONG}{number}")
        error = self.no("invalidPassword", "signIn.withPassword", username=ALICE, password=WRONG)
        now = self.call("system.ping")["now"]
        self.assertEqual((error.data["attemptsLeft"], error.data["retryAfterSeconds"], error.data["lockedUntil"]), (0, 60, now + 60))
        self.assertIn("It is not the password of this account", str(error))
        self.assertIn("Nothing is accepted for 60 s", str(error))
        steps = self.start(kind="signIn")
        for method, params in (("signIn.withPassword", {"username": ALICE}), ("signIn.submitPassword", {"continuationToken": steps})):
            error = self.no("accountLocked", method, password=PASSWORD, **params)
            self.assertEqual((error.data["next"], error.data["retryAfterSeconds"]), ("passwordReset.start", 60))
        reset = self.submit(self.start(kind="passwordReset"), kind="passwordReset")["continuationToken"]
        self.call("passwordReset.submitPassword", continuationToken=reset, password=OTHER)
        self.assertEqual(self.sign_in(password=OTHER)["state"], "completed")

    def test_a_lock_names_no_reset_where_there_is_none(self):
        self.account(BOB, None)
        for kind, address in (("signUp", ALICE), ("signIn", BOB)):
            with self.subTest(kind=kind):
                last, locked = self.lock(kind, address)
                self.assertEqual(last.data["retryAfterSeconds"], locked.data["retryAfterSeconds"])
                self.assertEqual(last.data["lockedUntil"], locked.data["lockedUntil"])
                self.assertNotIn("next", locked.data)
                self.assertNotIn("reset", str(locked))

    def test_where_nobody_is_to_learn_who_has_a_password_a_lock_is_the_same_for_everybody(self):
        for method, names in (("emailPassword", True), ("either", True), ("emailCode", False)):
            tenant = self.tenant(f"t-{method.lower()}", localAccountMethod=method, enumerationProtection=True)
            self.account(password=PASSWORD if names else None, **tenant)
            seen = []
            for address in (ALICE, BOB):
                for number in range(10):
                    self.no("invalidPassword", "signIn.withPassword", username=address, password=f"{WRONG}{number}", **tenant)
                seen.append(self.no("accountLocked", "signIn.withPassword", username=address, password=PASSWORD, **tenant).data)
            self.assertEqual(*seen)
            self.assertEqual("next" in seen[0], names, method)
