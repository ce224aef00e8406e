"""What people are told when it does not go on: what happened, for how long, and by what method it does."""

import base64
import json

import jwt

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
                self.assertIn(f"To send another code, call {kind}.resendCode", str(error))
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
        self.assertIn("All attempts fail for the next 60 s", str(error))
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


class Again(People):
    """What is asked once more, after an answer that was lost."""

    def again(self, method, **params):
        """The answer to a request, and the error that the same one gets at once, and much later."""
        done = self.call(method, **params)
        error = self.no("flowFinished", method, **params)
        self.assertIn("tokens are returned only once", str(error))
        self.assertIn("refresh token", str(error))
        self.advance(100)
        self.no("flowFinished", method, **params)
        return done

    def test_a_step_that_ended_in_tokens_says_so_and_the_tokens_are_good(self):
        self.account()
        self.account(BOB, None)
        by_password = self.again("signIn.submitPassword", continuationToken=self.start(kind="signIn"), password=PASSWORD)
        by_code = self.again("signIn.submitCode", continuationToken=self.start(BOB, "signIn"), code=self.code(BOB))
        token = self.completed("carol@example.com")
        signed_up = self.again("signIn.withContinuation", continuationToken=token)
        for done in (by_password, by_code, signed_up):
            self.call("session.refresh", refreshToken=done["refreshToken"])
        self.assertEqual(len(self.call("session.list", accountId=signed_up["account"]["accountId"])["sessions"]), 1)

    def test_a_step_that_goes_on_gets_the_same_answer_and_sends_nothing_again(self):
        for method, params in (("signUp.start", {"username": ALICE}), ("signUp.resendCode", {})):
            params = params or {"continuationToken": token}
            first = self.call(method, **params)
            self.assertEqual(self.call(method, **params), first)
            token = first["continuationToken"]
        self.assertEqual(len(self.mails()), 2)
        params = {"continuationToken": token, "code": self.code()}
        first = self.call("signUp.submitCode", **params)
        self.assertEqual(self.call("signUp.submitCode", **params), first)

    def test_what_was_refused_is_judged_again_and_counts_again(self):
        token = self.start()
        left = [self.no("invalidCode", "signUp.submitCode", continuationToken=token, code=WRONG).data["attemptsLeft"] for _ in range(3)]
        self.assertEqual(left, [4, 3, 2])
        self.account()
        left = [self.no("invalidPassword", "signIn.withPassword", username=ALICE, password=word).data["attemptsLeft"]
                for word in ("a", "a", "a", "b", "a", "c", "a", "d", "a")]
        self.assertEqual(left, [9, 9, 9, 8, 8, 7, 7, 6, 5])  # one of the last three again does not count


class Ended(People):
    """Flows that something else has ended."""

    def test_who_has_lost_a_race_for_an_address_is_told_at_every_step_until_the_flow_is_old(self):
        first = self.start(ALICE)
        code = self.code()
        self.submit(self.start(ALICE.upper()), address=ALICE.upper())
        for method, more in (("submitCode", {"code": code}), ("submitCode", {"code": code}), ("submitCode", {"code": WRONG}), ("resendCode", {})):
            error = self.no("userAlreadyExists", f"signUp.{method}", continuationToken=first, **more)
            self.assertEqual(error.data["next"], "signIn.start")

    def test_what_goes_on_for_an_account_that_is_deleted_ends_with_it(self):
        account = self.account()
        signing_in, reset = self.start(kind="signIn"), self.start(kind="passwordReset")
        code = self.code()
        self.call("account.delete", accountId=account)
        for _ in range(2):
            error = self.no("flowEnded", "signIn.submitPassword", continuationToken=signing_in, password=PASSWORD)
            self.assertEqual(error.data["cause"], "accountDeleted")
            self.assertIn("its account was deleted", str(error))
            self.no("flowEnded", "passwordReset.submitCode", continuationToken=reset, code=code)

    def test_what_goes_on_in_a_tenant_that_is_deleted_ends_with_it_also_when_there_is_one_of_that_name_again(self):
        shop = self.tenant()
        token, code = self.start(**shop), self.code()
        self.call("tenant.delete", **shop)
        error = self.no("flowEnded", "signUp.submitCode", continuationToken=token, code=code)
        self.assertEqual(error.data["cause"], "tenantDeleted")
        self.tenant()
        self.no("flowEnded", "signUp.submitCode", continuationToken=token, code=code)
        self.assertEqual(self.call("account.list", **shop)["accounts"], [])

    def test_a_change_of_the_password_ends_what_else_goes_on(self):
        self.account()
        id_token, reset = self.sign_in()["idToken"], self.start(kind="passwordReset")
        self.call("account.changePassword", idToken=id_token, currentPassword=PASSWORD, newPassword=OTHER)
        error = self.no("flowEnded", "passwordReset.submitCode", continuationToken=reset, code=self.code())
        self.assertEqual(error.data["cause"], "accountChanged")

    def test_an_address_that_somebody_else_got_meanwhile_is_said_to_be_taken_as_often_as_that_is_asked(self):
        self.account()
        id_token = self.sign_in()["idToken"]
        token = self.call("account.changeEmail", idToken=id_token, email=BOB)["continuationToken"]
        code = self.code(BOB)
        self.account(BOB)
        for _ in range(2):
            error = self.no("userAlreadyExists", "account.submitCode", continuationToken=token, code=code)
            self.assertEqual(error.data["next"], "account.changeEmail")
        self.assertIn("Continue with account.changeEmail, using another email address", str(error))
        error = self.no("userAlreadyExists", "account.changeEmail", idToken=id_token, email=BOB)
        self.assertIn("using another email address", str(error))

    def test_where_nobody_is_to_learn_who_has_an_account_its_end_is_not_told_either(self):
        self.settings(enumerationProtection=True)
        account = self.account()
        flows = [(name, self.start(name, "passwordReset")) for name in (ALICE, BOB)]
        code = self.code()
        self.call("account.delete", accountId=account)
        answers = [self.no("invalidCode", "passwordReset.submitCode", continuationToken=token, code=code).data for _, token in flows]
        self.assertEqual(*answers)

    def test_what_an_ended_flow_held_of_a_person_goes_with_it(self):
        self.account()
        store = self.path("ended.db")
        sidecar = self.spawn(testing=True, store=store)
        sidecar.call("tenant.create", {"tenantId": "shop"})
        sidecar.call("signUp.start", {"tenantId": "shop", "username": ALICE, "password": PASSWORD, "attributes": {"city": "Trondheim"}})
        sidecar.call("tenant.delete", {"tenantId": "shop"})
        rows = self.rows("SELECT password, attributes, code FROM flow", store=store)
        self.assertEqual(rows, [(None, "{}", None)])


class Words(People):
    """What is said is so, where it is said."""

    def test_no_continuation_token_is_spoken_of_where_there_is_none(self):
        self.account()
        id_token, account = self.sign_in()["idToken"], self.call("account.find", username=ALICE)["accountId"]
        for wanted, method, params in (
                ("invalidPassword", "signUp.start", {"username": BOB, "password": "x"}),
                ("invalidPassword", "signIn.withPassword", {"username": ALICE, "password": "x"}),
                ("invalidPassword", "account.create", {"username": BOB, "password": "x"}),
                ("invalidPassword", "account.changePassword", {"idToken": id_token, "currentPassword": PASSWORD, "newPassword": "x"}),
                ("invalidAttributes", "signUp.start", {"username": BOB, "attributes": {"city": 1}}),
                ("invalidAttributes", "account.update", {"accountId": account, "attributes": {"city": 1}})):
            with self.subTest(method=method):
                self.assertNotIn("ontinuation token", str(self.no(wanted, method, **params)))

    def test_every_rule_that_a_password_breaks_stands_in_the_message(self):
        error = self.no("invalidPassword", "signUp.start", username=BOB, password="x")
        self.assertIn("It needs at least 8 characters. It needs 3 of these", str(error))

    def test_the_own_address_and_names_are_no_password_wherever_one_comes_in(self):
        address, weak = "alice9@example.com", "Alice9@example.com"
        names = {"givenName": "Gwendolyn", "surname": "Fairfax", "displayName": "Honorable Gwen"}
        self.settings(anonymousAllowed=True)

        def weakness(method, **params):
            error = self.no("invalidPassword", method, **params)
            self.assertEqual([each["rule"] for each in error.data["reasons"]], ["banned"], str(error))
            self.assertIn("too similar to the email address", error.data["reasons"][0]["message"])

        weakness("account.create", username=address, password=weak)
        weakness("account.create", username=address, password="A1ice9-2026x")
        for name in ("Gwendolyn-26", "Fairfax-2026", "FairfaxGwendolyn1", "Honorable-26"):
            weakness("account.create", username=address, password=name, attributes=names)
        weakness("signUp.start", username=address, password=weak)
        self.settings(localAccountMethod="emailPassword")
        token = self.completed(address)
        weakness("signUp.submitPassword", continuationToken=token, password=weak)
        self.call("signUp.submitPassword", continuationToken=token, password=PASSWORD)
        signed_in = self.sign_in(address)
        weakness("account.changePassword", idToken=signed_in["idToken"], currentPassword=PASSWORD, newPassword=weak)
        reset = self.start(address, "passwordReset")
        reset = self.submit(reset, kind="passwordReset", address=address)["continuationToken"]
        weakness("passwordReset.submitPassword", continuationToken=reset, password=weak)
        guest = self.call("signIn.anonymously")["idToken"]
        weakness("account.link", idToken=guest, credential={"email": "bob.builder77@example.com", "password": "Bob.Builder77"})
        # A password that is much more than a part of the address is accepted.
        self.settings(passwordPolicy={"minimumClasses": 1})
        self.account("horse@example.com", "correct horse battery staple")

    def test_too_many_codes_at_a_start_promise_nothing_about_a_token(self):
        self.settings(codes={"sendsPerAddress": 1})
        self.start()
        error = self.no("tooManyCodes", "signUp.start", username=ALICE.upper())
        self.assertIn("Codes already sent stay valid in their flows", str(error))

    def test_an_account_is_not_called_by_signs_alone(self):
        for name in ("--", "-a", "."):
            self.assertEqual(self.violations(self.sidecar, "account.create", {"username": ALICE, "accountId": name}), {("/accountId", "pattern")})

    def test_a_pattern_that_cannot_be_read_is_said_so_in_one_sentence(self):
        error = self.no("invalidTenantSettings", "tenant.create", tenantId="shop", attributes=[{"name": "a", "type": "string", "pattern": "(?z"}])
        self.assertNotIn("..", str(error))
        self.assertIn("The pattern is not valid at character", str(error))

    def test_a_violated_pattern_is_described_in_words(self):
        for method, params, wanted in (
                ("pool.get", {"poolId": "n\u00e4h"}, "poolId must be a region, a colon and a UUID in lowercase, such as"),
                ("account.export", {"file": "here"}, "file must be an absolute path, which starts with `/`"),
                ("tenant.create", {"tenantId": "a b"}, "tenantId must be an ID of letters, digits, `.`, `_` and `-` that starts with")):
            message = self.no("invalidParams", method, **params).data["violations"][0]["message"]
            self.assertIn(wanted, message)
            self.assertNotRegex(message, r"\^|\\|\[")

    def test_an_account_is_found_by_email_or_username(self):
        account = self.account()
        for params in ({"username": ALICE.upper()}, {"email": ALICE.upper()}):
            self.assertEqual(self.call("account.find", **params)["accountId"], account)
        self.no("accountNotFound", "account.find", email=BOB)
        for params in ({}, {"email": ALICE, "username": ALICE}):
            self.assertEqual(self.violations(self.sidecar, "account.find", params), {("", "exactlyOne")})

    def test_the_developer_changes_and_removes_a_picture_that_the_tenant_does_not_ask_for(self):
        shop = self.tenant(attributes=[{"name": "city", "type": "string"}])
        old = "https://x.example/old.png"
        self.call("account.import", accounts=[{"accountId": "a", "email": ALICE, "attributes": {"picture": old, "displayName": "A"}}], **shop)
        update = lambda **attributes: self.call("account.update", accountId="a", attributes=attributes)["attributes"]
        new = "https://x.example/new.png"
        self.assertEqual(update(picture=new), {"picture": new, "displayName": "A"})
        self.assertEqual(update(picture=None, city="Bern"), {"displayName": "A", "city": "Bern"})
        self.assertEqual(update(displayName="", picture=None), {"city": "Bern"})
        self.assertEqual(update(picture=old), {"picture": old, "city": "Bern"})
        for attributes, wanted in (({"picture": 7}, [("picture", "type")]), ({"picture": "x" * 2049}, [("picture", "tooLong")]),
                                   ({"picture": "a\nb", "nope": "x"}, [("picture", "disallowedCharacters"), ("nope", "unknown")])):
            error = self.no("invalidAttributes", "account.update", accountId="a", attributes=attributes)
            self.assertEqual([(each["name"], each["rule"]) for each in error.data["attributes"]], wanted)
        # What the tenant has stopped asking for can be removed, but not changed.
        self.call("tenant.update", tenantId="shop", attributes=[])
        self.no("invalidAttributes", "account.update", accountId="a", attributes={"city": "Ulm"})
        self.assertEqual(update(city=None), {"picture": old})

    def test_null_where_something_must_be_is_not_to_be_left_out(self):
        for method, params, wanted in (("signUp.start", {"username": None}, "username must be a string; it is null."),
                                       ("signUp.start", {"username": ALICE, "language": None},
                                        "language must be a string; it is null: omit it instead.")):
            error = self.no("invalidParams", method, **params)
            self.assertEqual([each["message"] for each in error.data["violations"]], [wanted])

    def test_the_outbox_shows_a_mail_as_it_would_be_sent(self):
        template = {"purpose": "signUp", "language": "en", "subject": "{{code}}", "text": "Code {{code}}", "html": "<b>{{code}}</b>"}
        shop = self.tenant(delivery={"smtp": {"host": "mail.example.com", "from": "shop@example.com"}, "templates": [template]})
        self.start(**shop)
        mail = self.mails()[-1]
        self.assertEqual((mail["html"], mail["from"]), (f"<b>{mail['code']}</b>", "shop@example.com"))
        self.start(BOB)
        self.assertNotIn("from", self.mails(BOB)[-1])

    def test_a_mail_of_a_tenant_without_a_name_reads_well(self):
        words = {"purpose": "signUp", "language": "en", "subject": "Your code for {{tenantName}}", "text": "{{code}} is your code for {{tenantName}}."}
        server = {"host": "mail.example.com", "from": "accounts@shop.example"}
        for name, settings, wanted in (
                ("named", {"name": "The Shop", "delivery": {"smtp": server, "templates": [words]}}, "The Shop"),
                ("sender", {"delivery": {"smtp": {**server, "fromName": "Shop Accounts"}, "templates": [words]}}, "Shop Accounts"),
                ("domain", {"delivery": {"smtp": server, "templates": [words]}}, "shop.example"),
                ("bare", {"delivery": {"templates": [words]}}, "bare")):
            address = f"{name}@example.com"
            self.start(address, **self.tenant(name, **settings))
            mail = self.mails(address)[-1]
            self.assertEqual((mail["subject"], mail["text"]), (f"Your code for {wanted}", f"{mail['code']} is your code for {wanted}."))
        # The built-in texts say the name, or leave the place out.
        for name, settings, wanted in (("with", {"name": "The Shop"}, " for The Shop"), ("without", {}, "")):
            address = f"{name}.words@example.com"
            self.start(address, **self.tenant(name, **settings))
            mail = self.mails(address)[-1]
            self.assertEqual(mail["subject"], f"{mail['code']} is your code to confirm your email address{wanted}")
            self.assertIn(f"To create your account{wanted}, enter this code:", mail["text"])

    def test_where_the_issuer_of_a_tenant_stands(self):
        error = self.no("issuerNotFound", "token.jwks", issuer="https://elsewhere.example")
        self.assertIn("tenant.get the issuer of a tenant", str(error))

    def test_a_person_whose_session_ended_is_told_to_sign_in(self):
        self.account()
        done = self.sign_in()
        self.call("session.signOut", refreshToken=done["refreshToken"])
        self.assertIn("Sign the user in again", str(self.no("tokenRevoked", "token.verify", token=done["idToken"], tenantId="default")))

    def test_an_id_token_carries_the_username_unless_the_developer_gave_the_claim(self):
        account = self.account()
        claims = lambda step, token="idToken": jwt.decode(step[token], options={"verify_signature": False})
        self.assertEqual(claims(self.sign_in())["preferred_username"], ALICE)
        self.assertNotIn("preferred_username", claims(self.sign_in(), "accessToken"))
        self.call("tenant.update", tenantId="default", anonymousAllowed=True, attributes=[{"name": "preferred_username", "type": "string", "inIdToken": True}])
        self.assertNotIn("preferred_username", claims(self.call("signIn.anonymously")))
        self.assertEqual(claims(self.sign_in())["preferred_username"], ALICE)
        for change, wanted in ((("account.update", {"attributes": {"preferred_username": "alice"}}), "alice"),
                               (("account.setClaims", {"claims": {"preferred_username": "al"}}), "al")):
            self.call(change[0], accountId=account, **change[1])
            payload = base64.urlsafe_b64decode(self.sign_in()["idToken"].split(".")[1] + "==").decode()
            self.assertEqual((json.loads(payload)["preferred_username"], payload.count("preferred_username")), (wanted, 1))

    def test_a_token_of_a_session_that_another_call_replaced_says_which(self):
        self.settings(anonymousAllowed=True)
        guest = self.call("signIn.anonymously")
        linked = self.call("account.link", idToken=guest["idToken"], credential={"email": ALICE, "password": PASSWORD})
        changed = self.call("account.changePassword", idToken=linked["idToken"], currentPassword=PASSWORD, newPassword=OTHER)
        self.call("account.submitCode", **self.verifying(changed["idToken"]))
        fresh = self.sign_in(password=OTHER)
        step = self.call("mfa.enroll", idToken=fresh["idToken"], kind="sms", phoneNumber="+4915112345678")
        done = self.call("mfa.confirm", continuationToken=step["continuationToken"], code=self.code("+4915112345678"))
        self.assertEqual(done["account"]["factors"][0]["factorId"], step["factorId"])
        for old, why in ((guest, "account.link gave the account a password"), (linked, "account.changePassword changed the password"),
                         (fresh, "mfa.confirm enrolled a second factor")):
            for method, params in (("token.verify", {"token": old["idToken"], "tenantId": "default"}), ("mfa.list", {"idToken": old["idToken"]})):
                reason = self.no("tokenRevoked", method, **params).data["reason"]
                self.assertEqual(reason, f"{why} and ended all earlier sessions; its result contains the new tokens")
        self.assertTrue(self.call("token.verify", token=done["idToken"], tenantId="default"))
        # The reason is kept as long as such a token can be valid.
        self.assertGreater(self.call("store.stats")["rows"]["revocation"], 0)
        self.advance(86_400 + 3_602)
        self.assertEqual(self.call("store.stats")["rows"]["revocation"], 0)

    def verifying(self, id_token):
        """The verification of the present address, with the code that was sent there."""
        token = self.call("account.changeEmail", idToken=id_token, email=ALICE)["continuationToken"]
        return {"continuationToken": token, "code": self.code()}

    def test_a_used_refresh_token_is_taken_again_as_often_as_it_comes_until_what_it_brought_is_used(self):
        self.account()
        first = self.sign_in()["refreshToken"]
        brought = [self.call("session.refresh", refreshToken=first)["refreshToken"] for _ in range(3)]
        # Each window goes on by itself; the token before them all is good no more.
        self.advance(86400)
        after = [self.call("session.refresh", refreshToken=token)["refreshToken"] for token in brought]
        self.assertEqual(len(set(after)), 3)
        self.no("refreshTokenReused", "session.refresh", refreshToken=first)
        for token in after:
            self.no("refreshTokenInvalid", "session.refresh", refreshToken=token)

    def test_a_group_that_is_given_in_part_gets_its_defaults_for_the_rest_as_is_said(self):
        shop = self.tenant(passwordPolicy={"minimumLength": 12, "bannedTerms": ["mintmark"]})
        policy = self.call("tenant.update", **shop, passwordPolicy={"minimumClasses": 2})["passwordPolicy"]
        self.assertEqual((policy["minimumLength"], policy["minimumClasses"], policy["bannedTerms"]), (8, 2, []))
        said = {each["name"]: each["description"] for each in self.call("rpc.discover")["methods"]}
        for method in ("tenant.update", "system.apply"):
            self.assertIn("returns to its default", said[method])
