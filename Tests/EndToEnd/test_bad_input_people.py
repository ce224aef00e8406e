"""Common mistakes in implementations of sign-up and sign-in. Each numbered test covers one of them."""

import json

import jwt

from endtoend import EndToEnd
from sidecar import RpcError

PASSWORD, OTHER = "correct Horse 9", "another Horse 10"
ALICE, BOB = "alice@example.com", "bob@example.com"
START = 1_700_000_000
WRONG = "x" * 8


class People(EndToEnd):
    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn("--clock", str(START), testing=True)

    def call(self, method, **params):
        return self.sidecar.call(method, params)

    def no(self, wanted, method, **params):
        return self.refused(wanted, self.sidecar, method, params)

    def tenant(self, tenant="shop", **settings):
        self.call("tenant.create", tenantId=tenant, **settings)
        return {"tenantId": tenant}

    def settings(self, **settings):
        self.call("tenant.update", tenantId="default", **settings)

    def advance(self, seconds):
        self.call("test.clock", advanceSeconds=seconds)

    def mails(self, address=None):
        return self.call("test.outbox", **({"to": address} if address else {}))["messages"]

    def code(self, address=ALICE):
        return [each["code"] for each in self.mails(address) if "code" in each][-1]

    def start(self, address=ALICE, kind="signUp", **more):
        return self.call(f"{kind}.start", username=address, **more)["continuationToken"]

    def submit(self, token, code=None, kind="signUp", address=ALICE):
        return self.call(f"{kind}.submitCode", continuationToken=token, code=code or self.code(address))

    def completed(self, address=ALICE, **more):
        return self.submit(self.start(address, **more), address=address)["continuationToken"]

    def account(self, address=ALICE, password=PASSWORD, **more):
        return self.call("account.create", username=address, **({"password": password} if password else {}), **more)["accountId"]

    def sign_in(self, address=ALICE, password=PASSWORD, **more):
        return self.call("signIn.withPassword", username=address, password=password, **more)

    def tries(self, count, token, kind="signUp"):
        for _ in range(count):
            self.no("invalidCode", f"{kind}.submitCode", continuationToken=token, code=WRONG)

    def attributes(self, token, **values):
        return self.call("signUp.submitAttributes", continuationToken=token, attributes=values)


class List(People):
    def test_01_existing_account_is_revealed_only_without_enumeration_protection(self):
        self.account()
        self.no("userAlreadyExists", "signUp.start", username=ALICE)
        for method in ("signIn.start", "passwordReset.start"):
            self.no("userNotFound", method, username=BOB)
        self.settings(enumerationProtection=True, localAccountMethod="emailPassword")
        for method in ("signUp.start", "signIn.start", "passwordReset.start"):
            known, unknown = (self.call(method, username=name) for name in (ALICE, "anna@example.com"))
            self.assertEqual({**known, "continuationToken": ""}, {**unknown, "continuationToken": ""}, method)
        self.assertEqual([(each["purpose"], "code" in each) for each in self.mails(ALICE)], [("signUpNotice", False), ("passwordReset", True)])
        taken = self.start(ALICE.upper())
        self.no("invalidCode", "signUp.submitCode", continuationToken=taken, code="00000000")
        for _ in range(2):
            answers = [self.no("invalidPassword", "signIn.withPassword", username=name, password=WRONG).data for name in (ALICE, BOB)]
            self.assertEqual(*answers)
        for address in ("carol@example.com", "alice@example.com"):
            quota = [self.sent("signUp.start", address, number) for number in range(6)]
            self.assertEqual(quota[-1], "tooManyCodes", address)

    def sent(self, method, address, number):
        try:
            self.advance(61)
            return self.call(method, username=address)["state"]
        except RpcError as error:
            return error.type

    def test_02_code_is_single_use_and_bound_to_its_flow(self):
        first, second = self.start(attributes={"city": "A"}), self.start(attributes={"city": "B"})
        codes = [each["code"] for each in self.mails()]
        self.no("invalidCode", "signUp.submitCode", continuationToken=first, code=codes[1])
        self.no("invalidCode", "signUp.submitCode", continuationToken=second, code=codes[0])
        done = self.submit(first, codes[0])
        self.no("stepNotPossible", "signUp.submitCode", continuationToken=done["continuationToken"], code=codes[0])
        self.account(BOB)
        reset, password = self.start(BOB, "passwordReset"), "passwordReset.submitCode"
        self.no("continuationTokenInvalid", "signUp.submitCode", continuationToken=reset, code=self.code(BOB))
        step = self.call(password, continuationToken=reset, code=self.code(BOB))
        self.no("stepNotPossible", password, continuationToken=step["continuationToken"], code=self.code(BOB))

    def test_03_resend_invalidates_previous_code_and_keeps_limits_of_flow(self):
        self.settings(codes={"sendsPerFlow": 3, "sendsPerAddress": 100}, lockout={"threshold": 100})
        token, seen = self.start(), [self.code()]
        for wrong in (5, 4):
            self.tries(wrong, token)
            self.no("codeExpired", "signUp.submitCode", continuationToken=token, code=seen[-1])
            token = self.call("signUp.resendCode", continuationToken=token)["continuationToken"]
            seen.append(self.code())
            error = self.no("invalidCode", "signUp.submitCode", continuationToken=token, code=seen[-2])
            self.assertEqual(error.data["attemptsLeft"], 4)
        self.assertEqual(len(set(seen)), 3)
        error = self.no("tooManyCodes", "signUp.resendCode", continuationToken=token)
        self.assertEqual((error.data["sentInFlow"], error.data["next"]), (3, "signUp.start"))
        self.assertEqual(self.submit(token, seen[-1])["state"], "completed")

    def test_04_wrong_codes_count_against_code_and_account(self):
        token = self.start()
        left = [self.no("invalidCode", "signUp.submitCode", continuationToken=token, code=WRONG).data["attemptsLeft"] for _ in range(5)]
        self.assertEqual(left, [4, 3, 2, 1, 0])
        for code in (WRONG, self.code()):
            self.no("codeExpired", "signUp.submitCode", continuationToken=token, code=code)
        another = self.start(attributes={"city": "B"})
        self.tries(4, another)
        another = self.call("signUp.resendCode", continuationToken=another)["continuationToken"]
        self.tries(1, another)
        self.no("accountLocked", "signUp.submitCode", continuationToken=another, code=self.code())
        self.account(BOB, None)
        for _ in range(2):
            self.tries(5, self.start(BOB, "signIn"), "signIn")
            self.advance(61)
        # A single failure after the end of the first lock causes a longer lock.
        token = self.start(BOB, "signIn")
        self.tries(1, token, "signIn")
        error = self.no("accountLocked", "signIn.submitCode", continuationToken=token, code=self.code(BOB))
        self.assertGreater(error.data["retryAfterSeconds"], 60)

    def test_05_continuation_token_stays_valid_after_invalid_input(self):
        shop = self.tenant(localAccountMethod="emailPassword", attributes=[{"name": "size", "type": "integer", "required": True}])
        token = self.start(**shop)
        self.no("invalidCode", "signUp.submitCode", continuationToken=token, code=WRONG)
        token = self.submit(token)["continuationToken"]
        self.no("invalidPassword", "signUp.submitPassword", continuationToken=token, password="short")
        token = self.call("signUp.submitPassword", continuationToken=token, password=PASSWORD)["continuationToken"]
        self.no("invalidAttributes", "signUp.submitAttributes", continuationToken=token, attributes={"size": "x"})
        self.assertEqual(self.attributes(token, size=1)["state"], "completed")
        for kind, wrong in (("signIn", {"password": WRONG}), ("passwordReset", {"code": WRONG})):
            token = self.start(ALICE, kind, **shop)
            method = f"{kind}.submitPassword" if kind == "signIn" else f"{kind}.submitCode"
            self.no({"invalidPassword", "invalidCode"}, method, continuationToken=token, **wrong)
            right = {"password": PASSWORD} if kind == "signIn" else {"code": self.code()}
            step = self.call(method, continuationToken=token, **right)
            self.assertIn(step["state"], ("completed", "passwordRequired"))
        token = step["continuationToken"]
        for wrong in ("short", PASSWORD):   # The first violates the policy, the second is the current password.
            self.no("invalidPassword", "passwordReset.submitPassword", continuationToken=token, password=wrong)
        self.assertEqual(self.call("passwordReset.submitPassword", continuationToken=token, password=OTHER)["state"], "completed")
        self.account(BOB, None)
        token = self.start(BOB, "signIn")
        self.tries(2, token, "signIn")
        self.assertEqual(self.submit(token, kind="signIn", address=BOB)["state"], "completed")

    def test_06_used_continuation_token_is_rejected(self):
        token = self.start()
        fresh = self.call("signUp.resendCode", continuationToken=token)["continuationToken"]
        self.no("continuationTokenInvalid", "signUp.submitCode", continuationToken=token, code=self.code())
        done = self.submit(fresh)["continuationToken"]
        self.no("continuationTokenInvalid", "signUp.submitPassword", continuationToken=fresh, password=PASSWORD)
        self.call("signIn.withContinuation", continuationToken=done)
        for _ in range(2):
            self.no("flowFinished", "signIn.withContinuation", continuationToken=done)
        self.assertEqual(len(self.call("session.list", accountId=self.call("account.find", username=ALICE)["accountId"])["sessions"]), 1)

    def test_07_call_out_of_order_names_expected_method_and_changes_nothing(self):
        shop = self.tenant(localAccountMethod="emailPassword", attributes=[{"name": "size", "type": "integer", "required": True}])
        self.account(BOB, **shop)
        token = self.start(**shop)
        error = self.no("stepNotPossible", "signIn.withContinuation", continuationToken=token)
        self.assertEqual(error.data["expected"], "signUp.submitCode")
        token = self.submit(token)["continuationToken"]
        for method, params, due in [
                ("signUp.submitCode", {"code": "1"}, "signUp.submitPassword"), ("signUp.resendCode", {}, "signUp.submitPassword"),
                ("signUp.submitAttributes", {"attributes": {"size": 1}}, "signUp.submitPassword")]:
            self.assertEqual(self.no("stepNotPossible", method, continuationToken=token, **params).data["expected"], due)
        self.call("signUp.submitPassword", continuationToken=token, password=PASSWORD)
        reset = self.start(BOB, "passwordReset", **shop)
        error = self.no("stepNotPossible", "passwordReset.submitPassword", continuationToken=reset, password=OTHER)
        self.assertEqual(error.data["expected"], "passwordReset.submitCode")
        self.submit(reset, kind="passwordReset", address=BOB)

    def test_08_foreign_and_altered_tokens_fail_with_identical_error(self):
        self.account(BOB)
        other = self.spawn("--clock", str(START), testing=True, environment={"MINTMARK_MASTER_KEY": "B" * 42 + "A"})
        elsewhere = other.call("signUp.start", {"username": ALICE})["continuationToken"]
        own = self.start()
        altered = own[:20] + ("A" if own[20] != "A" else "B") + own[21:]
        answers = {str(self.no("continuationTokenInvalid", "signUp.submitCode", continuationToken=token, code="1"))
                   for token in (elsewhere, altered, self.start(BOB, "signIn"), self.start(BOB, "passwordReset"), "x", own + "=")}
        self.assertEqual(len(answers), 1)

    def test_09_addresses_are_compared_case_insensitively_in_ascii_and_stored_as_typed(self):
        typed = "Info.Desk+News@EXAMPLE.com"
        done = self.call("signIn.withContinuation", continuationToken=self.completed(typed))
        claims = jwt.decode(done["idToken"], options={"verify_signature": False})
        self.assertEqual(claims["email"], typed)
        for same in (typed, typed.lower(), typed.upper()):
            self.no("userAlreadyExists", "signUp.start", username=same)
        for another in ("infodesk+news@example.com", "info.desk@example.com"):
            self.assertEqual(self.call("signUp.start", username=another)["state"], "codeRequired")
        for other in ("ınfo.desk+news@example.com", "İnfo.desk+news@example.com"):
            self.no("invalidUsername", "signIn.start", username=other)

    def test_10_characters_beyond_ascii_are_accepted_only_where_allowed(self):
        for address in ("älice@example.com", "alice@exämple.com", " alice@example.com", "alice@example.com ", "alice@example.com\n"):
            self.no("invalidUsername", "signUp.start", username=address)
        for password in ("pässword Nr 9", "password\tNr 9", "password Nr 9\u200b"):
            error = self.no("invalidPassword", "signUp.start", username=ALICE, password=password)
            self.assertIn("disallowedCharacters", [each["rule"] for each in error.data["reasons"]])
        blanks = f" {PASSWORD} "
        self.completed(password=blanks)
        self.no("invalidPassword", "signIn.withPassword", username=ALICE, password=PASSWORD)
        self.sign_in(password=blanks)
        token = self.start(BOB)
        code = self.code(BOB)
        for changed in (f" {code}", f"{code} ", f"{code[:4]} {code[4:]}", "".join(chr(0x660 + int(digit)) for digit in code)):
            self.no("invalidCode", "signUp.submitCode", continuationToken=token, code=changed)
        name = "e\u0301" + "👩‍💻" * 84 + "ab"
        self.assertEqual(len(name), 256)
        for wrong in (name + "a", "👍" * 257):
            self.no("invalidAttributes", "signUp.start", username="carol@example.com", attributes={"displayName": wrong})
        self.completed("carol@example.com", attributes={"displayName": name})
        self.assertEqual(self.call("account.find", username="carol@example.com")["attributes"]["displayName"], name)

    def test_11_first_of_two_sign_ups_for_one_address_succeeds(self):
        first, second = self.start(attributes={"city": "A"}), self.start(attributes={"city": "B"})
        codes = [each["code"] for each in self.mails()]
        self.assertEqual(self.submit(second, codes[1])["state"], "completed")
        error = self.no("userAlreadyExists", "signUp.submitCode", continuationToken=first, code=codes[0])
        self.assertEqual(error.data["next"], "signIn.start")
        self.start(BOB)
        for city in range(4):
            self.start(BOB, attributes={"city": str(city)})
        self.no("tooManyCodes", "signUp.start", username=BOB, attributes={"city": "one too many"})

    def test_12_repeated_step_returns_same_response(self):
        shop = self.tenant(localAccountMethod="emailPassword", attributes=[{"name": "size", "type": "integer", "required": True}])
        steps = [("signUp.start", {"username": ALICE, **shop}), ("signUp.submitCode", None), ("signUp.submitPassword", {"password": PASSWORD}),
                 ("signUp.submitAttributes", {"attributes": {"size": 1}})]
        token = {}
        for method, params in steps:
            params = {"code": self.code()} if params is None else params
            first, again = (self.call(method, **params, **token) for _ in range(2))
            self.assertEqual(first, again)
            token = {"continuationToken": first["continuationToken"]}
        self.assertEqual((len(self.call("account.list", **shop)["accounts"]), len(self.mails())), (1, 1))

    def asked(self, *definitions, **more):
        """Returns the continuation token of a sign-up that requires the given attributes."""
        self.settings(attributes=[{"type": "string", "required": True, **each} for each in definitions], localAccountMethod="emailCode")
        step = self.submit(self.start(**more))
        self.assertEqual(step["state"], "attributesRequired")
        return step["continuationToken"]

    def test_13_missing_attributes_are_returned_and_every_invalid_one_is_named(self):
        token, left = self.asked({"name": "one"}, {"name": "two"}, {"name": "three"}), ["one", "two", "three"]
        for name in ("two", "one"):
            wrong = {name: "x", left[0 if name == "two" else -1]: 1, "four": 1}
            error = self.no("invalidAttributes", "signUp.submitAttributes", continuationToken=token, attributes=wrong)
            self.assertEqual(len(error.data["attributes"]), 2)
            step = self.attributes(token, **{name: "x"})
            left.remove(name)
            self.assertEqual([each["name"] for each in step["attributes"]], left)
            token = step["continuationToken"]
        self.assertEqual(self.attributes(token, three="x")["state"], "completed")

    def test_14_optional_attributes_after_code_are_ignored(self):
        token = self.asked({"name": "one"}, {"name": "nick", "required": False})
        step = self.attributes(token, nick="late")
        self.assertEqual([each["name"] for each in step["attributes"]], ["one"])
        self.attributes(step["continuationToken"], one="x")
        self.assertEqual(self.call("account.find", username=ALICE)["attributes"], {"one": "x"})

    def test_15_empty_and_null_attributes_are_missing_and_long_ones_invalid(self):
        token = self.asked({"name": "one"})
        for empty in ("", None):
            step = self.attributes(token, one=empty)
            self.assertEqual([each["name"] for each in step["attributes"]], ["one"])
            token = step["continuationToken"]
        self.no("invalidAttributes", "signUp.submitAttributes", continuationToken=token, attributes={"one": "x" * 251})
        self.assertEqual(self.attributes(token, one="x" * 250)["state"], "completed")

    def test_16_booleans_and_integers_have_strict_syntax(self):
        token = self.asked({"name": "flag", "type": "boolean", "required": False}, {"name": "size", "type": "integer"})
        for name, values in {"flag": ["1", "yes", " true", 1, 0, "ｔrue"],
                             "size": [" 5", "5.0", "1e3", 5.5, "+5", "0x10", "--1", "٥", "9223372036854775808", "-9223372036854775809", True]}.items():
            for value in values:
                with self.subTest(name=name, value=value):
                    self.no("invalidAttributes", "signUp.submitAttributes", continuationToken=token, attributes={"size": 1, name: value})
        for raw in ("5.0", "1e3", "9223372036854775808"):
            self.no("invalidAttributes", "signUp.submitAttributes", continuationToken=token, attributes={"size": json.loads(raw)})
        done = self.attributes(token, flag="FaLsE", size="-9223372036854775808")
        self.assertEqual(done["state"], "completed")
        self.assertEqual(self.call("account.find", username=ALICE)["attributes"], {"flag": False, "size": -(1 << 63)})

    def test_17_patterns_with_exponential_backtracking_take_linear_time(self):
        text = "a" * 200 + "!"
        for number, pattern in enumerate([
                "(a+)+$", "([a-zA-Z]+)*$", "(a|aa)+$", "(a|a?)+$", "(.*a){30}$", "^(([a-z])+.)+[A-Z]([a-z])+$", "((a*)*)*b",
                "(?:a?){60}a{60}b", "(x+x+)+y", "(?:(?:a+){2,}){2,}b"]):
            with self.subTest(pattern=pattern):
                tenant = {"tenantId": f"t{number}"}
                self.call("tenant.create", **tenant, attributes=[{"name": "text", "type": "string", "pattern": pattern}])
                before = self.sidecar.processor_seconds()
                self.no("invalidAttributes", "signUp.start", username=ALICE, attributes={"text": text}, **tenant)
                self.assertLess(self.sidecar.processor_seconds() - before, 20)

    def test_18_password_of_sign_up_is_stored_as_hash_and_deleted_with_flow(self):
        self.sidecar.close()
        self.store = self.path("people.db")
        self.sidecar = self.spawn("--clock", str(START), testing=True, store=self.store)
        self.no("invalidPassword", "signUp.start", username=ALICE, password="Quillon Wind 42", attributes={"givenName": "Quillon"})
        self.start(password=PASSWORD)
        flow = self.rows("SELECT * FROM flow")
        self.assertEqual(len(flow), 1)
        self.assertNotIn(PASSWORD, str(flow))
        self.assertFalse(any(PASSWORD.encode() in cell for cell in flow[0] if isinstance(cell, (bytes, memoryview))))
        self.advance(4000)
        self.assertEqual(self.rows("SELECT * FROM flow"), [])
        self.no("userNotFound", "signIn.withPassword", username=ALICE, password=PASSWORD)
        # A name that is submitted later is not checked against a password that was accepted earlier.
        token = self.start(BOB, password="Quillon Wind 42")
        token = self.call("signUp.submitAttributes", continuationToken=token, attributes={"givenName": "Quillon"})["continuationToken"]
        self.submit(token, address=BOB)
        self.sign_in(BOB, "Quillon Wind 42")

    def test_19_account_keeps_its_sign_in_method_when_tenant_changes(self):
        self.completed(password=PASSWORD)
        self.settings(localAccountMethod="emailCode")
        self.completed(BOB)
        self.assertEqual(self.sign_in()["account"]["method"], "password")
        self.assertEqual(self.call("signIn.start", username=ALICE)["state"], "passwordRequired")
        self.settings(localAccountMethod="emailPassword")
        self.assertEqual(self.call("signIn.start", username=BOB)["state"], "codeRequired")
        self.no("passwordNotSet", "signIn.withPassword", username=BOB, password=PASSWORD)

    def test_20_pending_sign_up_does_not_block_address(self):
        self.start(password=PASSWORD)
        self.no("userNotFound", "signIn.start", username=ALICE)
        self.no("userNotFound", "signIn.withPassword", username=ALICE, password=PASSWORD)
        self.assertEqual(self.call("account.list")["accounts"], [])
        self.account(password=OTHER)
        self.sign_in(password=OTHER)

    def test_21_method_that_tenant_does_not_support_fails(self):
        self.settings(localAccountMethod="emailCode")
        self.no("passwordNotAccepted", "signUp.start", username=ALICE, password=PASSWORD)
        token = self.start()
        self.no("passwordNotAccepted", "signUp.submitPassword", continuationToken=token, password=PASSWORD)
        self.submit(token)
        self.no("passwordNotSet", "passwordReset.start", username=ALICE)
        self.settings(signUpAllowed=False)
        self.no("signUpNotAllowed", "signUp.start", username=BOB)

    def test_22_completed_sign_up_does_not_require_automatic_sign_in(self):
        token = self.completed(password=PASSWORD)
        self.advance(300)
        self.no("continuationTokenExpired", "signIn.withContinuation", continuationToken=token)
        self.sign_in()
        token = self.completed(BOB)
        self.call("account.delete", accountId=self.call("account.find", username=BOB)["accountId"])
        self.no("flowEnded", "signIn.withContinuation", continuationToken=token)

    def test_23_codes_tokens_locks_and_quotas_expire_at_exact_second(self):
        self.settings(codes={"lifetimeSeconds": 120, "sendsPerAddress": 100})
        for seconds, outcome in ((119, "completed"), (120, "codeExpired")):
            address = f"code{seconds}@example.com"
            token = self.start(address)
            self.advance(seconds)
            self.assertEqual(self.outcome("signUp.submitCode", continuationToken=token, code=self.code(address)), outcome)
        self.settings(codes={"lifetimeSeconds": 3600, "sendsPerAddress": 100})
        for seconds, outcome in ((3599, "completed"), (3600, "continuationTokenExpired")):
            address = f"flow{seconds}@example.com"
            token = self.start(address)
            self.advance(seconds)
            self.assertEqual(self.outcome("signUp.submitCode", continuationToken=token, code=self.code(address)), outcome)
        self.settings(codes={"lifetimeSeconds": 600, "sendsPerAddress": 100})
        for seconds, outcome in ((599, "completed"), (600, "codeExpired"), (1199, "codeExpired"), (1200, "continuationTokenExpired")):
            address = f"rest{seconds}@example.com"
            token = self.start(address)
            self.advance(seconds)
            self.assertEqual(self.outcome("signUp.submitCode", continuationToken=token, code=self.code(address)), outcome)
        asking = self.tenant("asking", localAccountMethod="emailPassword")
        for seconds, outcome in ((599, "completed"), (600, "continuationTokenExpired")):
            address = f"asked{seconds}@example.com"
            token = self.submit(self.start(address, **asking), address=address)["continuationToken"]
            self.advance(seconds)
            self.assertEqual(self.outcome("signUp.submitPassword", continuationToken=token, password=PASSWORD), outcome)
        for seconds, outcome in ((299, "completed"), (300, "continuationTokenExpired")):
            token = self.completed(f"done{seconds}@example.com")
            self.advance(seconds)
            self.assertEqual(self.outcome("signIn.withContinuation", continuationToken=token), outcome)
        self.account()
        for seconds, outcome in ((59, "accountLocked"), (60, "completed")):
            self.settings(lockout={"threshold": 1, "durationSeconds": 60})
            self.no("invalidPassword", "signIn.withPassword", username=ALICE, password=WRONG + str(seconds))
            self.advance(seconds)
            self.assertEqual(self.outcome("signIn.withPassword", username=ALICE, password=PASSWORD), outcome)
            self.advance(61)
            self.sign_in()
        for seconds, outcome in ((899, "tooManyCodes"), (900, "codeRequired")):
            address = f"quota{seconds}@example.com"
            self.settings(codes={"sendsPerAddress": 1, "windowSeconds": 900})
            self.start(address)
            self.advance(seconds)
            self.assertEqual(self.outcome("signUp.start", username=address), outcome)

    def outcome(self, method, **params):
        try:
            return self.call(method, **params)["state"]
        except RpcError as error:
            return error.type

    def test_24_lock_covers_passwords_and_codes_and_rejects_correct_ones(self):
        self.account()
        self.account(BOB, None)
        for number in range(10):
            self.no("invalidPassword", "signIn.withPassword", username=ALICE, password=f"wrong {number}")
        self.no("accountLocked", "signIn.withPassword", username=ALICE, password=PASSWORD)
        self.no("accountLocked", "signIn.submitPassword", continuationToken=self.start(ALICE, "signIn"), password=PASSWORD)
        self.tries(5, self.start(BOB, "signIn"), "signIn")
        self.advance(61)
        token = self.start(BOB, "signIn")
        self.tries(5, token, "signIn")
        self.no("accountLocked", "signIn.submitCode", continuationToken=token, code=self.code(BOB))

    def test_25_password_reset_revokes_other_sessions(self):
        self.account()
        before = [self.sign_in() for _ in range(2)]
        token = self.submit(self.start(ALICE, "passwordReset"), kind="passwordReset")["continuationToken"]
        done = self.call("passwordReset.submitPassword", continuationToken=token, password=OTHER)["continuationToken"]
        for session in before:
            self.no("refreshTokenInvalid", "session.refresh", refreshToken=session["refreshToken"])
            self.no("tokenRevoked", "token.verify", token=session["idToken"], tenantId="default")
        fresh = self.call("signIn.withContinuation", continuationToken=done)
        self.call("session.refresh", refreshToken=fresh["refreshToken"])

    def test_26_masked_address_does_not_reveal_its_length(self):
        masked = lambda address: self.call("signUp.start", username=address)["sentTo"]
        self.assertEqual(masked("alice@example.com"), masked("alexandra.longest-name@elsewhere-and-far.com"))
        for address in ("a@b.io", "q@example.com"):
            shown = masked(address)
            self.assertNotIn(address.split("@")[0] + "@", shown)
            self.assertIn("***@", shown)

    def test_27_secrets_do_not_appear_in_errors_and_log(self):
        self.sidecar.close()
        self.sidecar = self.spawn("--log-level", "debug", "--clock", str(START), testing=True)
        secrets = ["Secret Horse 99", "attribute-value-77", "unknown-token-55", "secret-code-33"]
        self.settings(attributes=[{"name": "size", "type": "integer"}])
        token = self.start()
        errors = [
            self.no("invalidAttributes", "signUp.submitAttributes", continuationToken=token, attributes={"size": secrets[1]}),
            self.no("invalidCode", "signUp.submitCode", continuationToken=token, code=secrets[3]),
            self.no("continuationTokenInvalid", "signUp.submitCode", continuationToken=secrets[2], code=secrets[3]),
            self.no("userNotFound", "signIn.withPassword", username=BOB, password=secrets[0]),
            self.no("invalidParams", "signIn.withPassword", username=BOB, password=secrets[0], pasword=secrets[0]),
            self.no("invalidPassword", "signUp.start", username=BOB, password=secrets[0][:6])]
        code = self.code()
        self.submit(token)
        seen = " ".join(map(str, errors)) + self.sidecar.stderr_text()
        for secret in [*secrets, secrets[0][:6], token, code]:
            self.assertNotIn(secret, seen)

    def test_28_responses_have_required_members_and_unknown_parameters_are_rejected(self):
        found = self.violations(self.sidecar, "signUp.start", {"username": ALICE, "capabilities": "mfa_required"})
        self.assertEqual({pointer for pointer, _ in found}, {"/capabilities"})
        self.settings(attributes=[{"name": "size", "type": "integer", "required": True}])
        step = self.call("signUp.start", username=ALICE)
        self.assertLessEqual({"state", "continuationToken", "sentTo", "channel", "codeLength", "resendAt", "expiresAt"}, set(step))
        step = self.submit(step["continuationToken"])
        self.assertLessEqual({"state", "continuationToken", "expiresAt", "attributes"}, set(step))
        for attribute in step["attributes"]:
            self.assertLessEqual({"name", "type", "required"}, set(attribute))
        done = self.call("signIn.withContinuation", continuationToken=self.attributes(step["continuationToken"], size=1)["continuationToken"])
        self.assertLessEqual({"state", "account", "idToken", "accessToken", "refreshToken"}, set(done))
