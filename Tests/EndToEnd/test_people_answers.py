"""Errors in sign-in flows: what happened, how long the condition lasts, and which method continues the flow."""

import base64
import json

import jwt

from sidecar import RpcError
from test_bad_input_people import ALICE, BOB, OTHER, PASSWORD, WRONG, People


class Codes(People):
    def test_correct_expired_code_fails_with_code_expired_and_counts_no_attempt(self):
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
                # The account is not locked, and the next code is accepted.
                token = self.call(error.data["next"], continuationToken=token)["continuationToken"]
                self.assertIn("state", self.submit(token, kind=kind, address=address))

    def test_code_after_five_wrong_attempts_fails_with_code_expired(self):
        token, code = self.start(), self.code()
        self.tries(4, token)
        last = self.no("invalidCode", "signUp.submitCode", continuationToken=token, code=WRONG).data
        self.assertEqual((last["attemptsLeft"], last["next"]), (0, "signUp.resendCode"))
        for given in [code, WRONG] * 6:
            error = self.no("codeExpired", "signUp.submitCode", continuationToken=token, code=given)
            self.assertEqual((error.data["wrongTries"], error.data["next"]), (5, "signUp.resendCode"))
        token = self.call("signUp.resendCode", continuationToken=token)["continuationToken"]
        self.assertEqual(self.submit(token)["state"], "completed")

    def test_code_for_a_new_address_names_the_method_that_sends_another(self):
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
        """Returns the error of the attempt that locks the account, and the error of the next attempt."""
        for _ in range(2):
            token = self.start(address, kind)
            for _ in range(5):
                error = self.no("invalidCode", f"{kind}.submitCode", continuationToken=token, code=WRONG)
            self.advance(61)
        token = self.start(address, kind)
        return (self.no("invalidCode", f"{kind}.submitCode", continuationToken=token, code=WRONG),
                self.no("accountLocked", f"{kind}.submitCode", continuationToken=token, code=self.code(address)))

    def test_lockout_names_the_password_reset(self):
        self.account()
        steps = self.start(kind="signIn")   # The start of a locked account fails, too.
        for number in range(9):
            self.no("invalidPassword", "signIn.withPassword", username=ALICE, password=f"{WRONG}{number}")
        error = self.no("invalidPassword", "signIn.withPassword", username=ALICE, password=WRONG)
        now = self.call("system.ping")["now"]
        self.assertEqual((error.data["attemptsLeft"], error.data["retryAfterSeconds"], error.data["lockedUntil"]), (0, 60, now + 60))
        self.assertIn("It is not the password of this account", str(error))
        self.assertIn("All attempts fail for the next 60 s", str(error))
        for method, params in (("signIn.withPassword", {"username": ALICE}), ("signIn.submitPassword", {"continuationToken": steps})):
            error = self.no("accountLocked", method, password=PASSWORD, **params)
            self.assertEqual((error.data["next"], error.data["retryAfterSeconds"]), ("passwordReset.start", 60))
        reset = self.submit(self.start(kind="passwordReset"), kind="passwordReset")["continuationToken"]
        self.call("passwordReset.submitPassword", continuationToken=reset, password=OTHER)
        self.assertEqual(self.sign_in(password=OTHER)["state"], "completed")

    def test_lockout_of_an_account_without_a_password_names_no_reset(self):
        self.account(BOB, None)
        for kind, address in (("signUp", ALICE), ("signIn", BOB)):
            with self.subTest(kind=kind):
                last, locked = self.lock(kind, address)
                self.assertEqual(last.data["retryAfterSeconds"], locked.data["retryAfterSeconds"])
                self.assertEqual(last.data["lockedUntil"], locked.data["lockedUntil"])
                self.assertNotIn("next", locked.data)
                self.assertNotIn("reset", str(locked))

    def test_with_enumeration_protection_lockout_errors_are_identical(self):
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


class RepeatedRequests(People):
    """Requests that the client repeats because it did not receive the response."""

    def again(self, method, **params):
        """Returns the result of a request. Repeating the request fails immediately and also 100 seconds later."""
        done = self.call(method, **params)
        error = self.no("flowFinished", method, **params)
        self.assertIn("tokens are returned only once", str(error))
        self.assertIn("refresh token", str(error))
        self.advance(100)
        self.no("flowFinished", method, **params)
        return done

    def test_repeated_final_step_fails_with_flow_finished_and_the_tokens_stay_valid(self):
        self.account()
        self.account(BOB, None)
        by_password = self.again("signIn.submitPassword", continuationToken=self.start(kind="signIn"), password=PASSWORD)
        by_code = self.again("signIn.submitCode", continuationToken=self.start(BOB, "signIn"), code=self.code(BOB))
        token = self.completed("carol@example.com")
        signed_up = self.again("signIn.withContinuation", continuationToken=token)
        for done in (by_password, by_code, signed_up):
            self.call("session.refresh", refreshToken=done["refreshToken"])
        self.assertEqual(len(self.call("session.list", accountId=signed_up["account"]["accountId"])["sessions"]), 1)

    def test_repeated_step_returns_the_same_result_and_sends_nothing(self):
        for method, params in (("signUp.start", {"username": ALICE}), ("signUp.resendCode", {})):
            params = params or {"continuationToken": token}
            first = self.call(method, **params)
            self.assertEqual(self.call(method, **params), first)
            token = first["continuationToken"]
        self.assertEqual(len(self.mails()), 2)
        params = {"continuationToken": token, "code": self.code()}
        first = self.call("signUp.submitCode", **params)
        self.assertEqual(self.call("signUp.submitCode", **params), first)

    def test_repeated_wrong_attempts_count_again(self):
        token = self.start()
        left = [self.no("invalidCode", "signUp.submitCode", continuationToken=token, code=WRONG).data["attemptsLeft"] for _ in range(3)]
        self.assertEqual(left, [4, 3, 2])
        self.account()
        left = [self.no("invalidPassword", "signIn.withPassword", username=ALICE, password=word).data["attemptsLeft"]
                for word in ("a", "a", "a", "b", "a", "c", "a", "d", "a")]
        self.assertEqual(left, [9, 9, 9, 8, 8, 7, 7, 6, 5])  # a repetition of one of the last three wrong passwords does not count


class EndedFlows(People):
    """Flows that another change has ended."""

    def test_sign_up_whose_address_was_taken_fails_at_every_step(self):
        first = self.start(ALICE)
        code = self.code()
        self.submit(self.start(ALICE.upper()), address=ALICE.upper())
        for method, more in (("submitCode", {"code": code}), ("submitCode", {"code": code}), ("submitCode", {"code": WRONG}), ("resendCode", {})):
            error = self.no("userAlreadyExists", f"signUp.{method}", continuationToken=first, **more)
            self.assertEqual(error.data["next"], "signIn.start")

    def test_deleting_an_account_ends_its_flows(self):
        account = self.account()
        signing_in, reset = self.start(kind="signIn"), self.start(kind="passwordReset")
        code = self.code()
        self.call("account.delete", accountId=account)
        for _ in range(2):
            error = self.no("flowEnded", "signIn.submitPassword", continuationToken=signing_in, password=PASSWORD)
            self.assertEqual(error.data["cause"], "accountDeleted")
            self.assertIn("its account was deleted", str(error))
            self.no("flowEnded", "passwordReset.submitCode", continuationToken=reset, code=code)

    def test_deleting_a_tenant_ends_its_flows_even_if_it_is_created_again(self):
        shop = self.tenant()
        token, code = self.start(**shop), self.code()
        self.call("tenant.delete", **shop)
        error = self.no("flowEnded", "signUp.submitCode", continuationToken=token, code=code)
        self.assertEqual(error.data["cause"], "tenantDeleted")
        self.tenant()
        self.no("flowEnded", "signUp.submitCode", continuationToken=token, code=code)
        self.assertEqual(self.call("account.list", **shop)["accounts"], [])

    def test_password_change_ends_pending_resets(self):
        self.account()
        id_token, reset = self.sign_in()["idToken"], self.start(kind="passwordReset")
        self.call("account.changePassword", idToken=id_token, currentPassword=PASSWORD, newPassword=OTHER)
        error = self.no("flowEnded", "passwordReset.submitCode", continuationToken=reset, code=self.code())
        self.assertEqual(error.data["cause"], "accountChanged")

    def test_address_change_fails_if_the_address_was_taken_in_the_meantime(self):
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

    def test_with_enumeration_protection_account_deletion_is_not_disclosed(self):
        self.settings(enumerationProtection=True)
        account = self.account()
        flows = [(name, self.start(name, "passwordReset")) for name in (ALICE, BOB)]
        code = self.code()
        self.call("account.delete", accountId=account)
        answers = [self.no("invalidCode", "passwordReset.submitCode", continuationToken=token, code=code).data for _, token in flows]
        self.assertEqual(*answers)

    def test_ended_flow_keeps_no_user_data(self):
        self.account()
        store = self.path("ended.db")
        sidecar = self.spawn(testing=True, store=store)
        sidecar.call("tenant.create", {"tenantId": "shop"})
        sidecar.call("signUp.start", {"tenantId": "shop", "username": ALICE, "password": PASSWORD, "attributes": {"city": "Trondheim"}})
        sidecar.call("tenant.delete", {"tenantId": "shop"})
        rows = self.rows("SELECT password, attributes, code FROM flow", store=store)
        self.assertEqual(rows, [(None, "{}", None)])


class ErrorTexts(People):
    """The texts of errors and messages."""

    def test_errors_of_calls_without_continuation_token_do_not_mention_one(self):
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

    def test_message_lists_every_rule_that_a_password_violates(self):
        error = self.no("invalidPassword", "signUp.start", username=BOB, password="x")
        self.assertIn("It needs at least 8 characters. It needs 3 of these", str(error))

    def test_password_similar_to_the_address_or_name_fails_in_every_method(self):
        address, weak = "alice9@example.com", "Alice9@example.com"
        names = {"givenName": "Gwendolyn", "surname": "Fairfax", "displayName": "Honorable Gwen"}
        self.settings(anonymousAllowed=True)

        def weakness(method, **params):
            error = self.no("invalidPassword", method, **params)
            self.assertEqual([each["rule"] for each in error.data["reasons"]], ["context"], str(error))
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
        # A password that contains more than a part of the address is accepted.
        self.settings(passwordPolicy={"minimumClasses": 1})
        self.account("horse@example.com", "correct horse battery staple")

    def test_too_many_codes_at_a_start_mentions_no_continuation_token(self):
        self.settings(codes={"sendsPerAddress": 1})
        self.start()
        error = self.no("tooManyCodes", "signUp.start", username=ALICE.upper())
        self.assertIn("Codes already sent stay valid in their flows", str(error))

    def test_account_id_has_no_control_characters(self):
        for name in ("a\n", "\t", "a\x7f"):
            self.assertEqual(self.violations(self.sidecar, "account.create", {"username": ALICE, "accountId": name}), {("/accountId", "pattern")})

    def test_invalid_pattern_fails_with_one_sentence(self):
        error = self.no("invalidTenantSettings", "tenant.create", tenantId="shop", attributes=[{"name": "a", "type": "string", "pattern": "(?z"}])
        self.assertNotIn("..", str(error))
        self.assertIn(": the pattern is not valid at character 3: `z` is not a flag.", error.message)

    def test_violated_pattern_is_described_without_a_regular_expression(self):
        for method, params, wanted in (
                ("pool.get", {"poolId": "n\u00e4h"}, "poolId must be a region, a colon and a UUID in lowercase, such as"),
                ("account.export", {"file": "here"}, "file must be an absolute path, which starts with `/`"),
                ("tenant.create", {"tenantId": "a b"}, "tenantId must be an ID of letters, digits, `.`, `_` and `-` that starts with")):
            message = self.no("invalidParams", method, **params).data["violations"][0]["message"]
            self.assertIn(wanted, message)
            self.assertNotRegex(message, r"\^|\\|\[")

    def test_account_find_accepts_email_or_username(self):
        account = self.account()
        for params in ({"username": ALICE.upper()}, {"email": ALICE.upper()}):
            self.assertEqual(self.call("account.find", **params)["accountId"], account)
        self.no("accountNotFound", "account.find", email=BOB)
        for params in ({}, {"email": ALICE, "username": ALICE}):
            self.assertEqual(self.violations(self.sidecar, "account.find", params), {("", "exactlyOne")})

    def test_developer_changes_and_removes_a_picture_outside_the_attribute_schema(self):
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
        # An attribute that was removed from the tenant's schema can be removed but not changed.
        self.call("tenant.update", tenantId="shop", attributes=[])
        self.no("invalidAttributes", "account.update", accountId="a", attributes={"city": "Ulm"})
        self.assertEqual(update(city=None), {"picture": old})

    def test_null_for_a_required_parameter_does_not_suggest_to_omit_it(self):
        for method, params, wanted in (("signUp.start", {"username": None}, "username must be a string; it is null."),
                                       ("signUp.start", {"username": ALICE, "language": None},
                                        "language must be a string; it is null: omit it instead.")):
            error = self.no("invalidParams", method, **params)
            self.assertEqual([each["message"] for each in error.data["violations"]], [wanted])

    def test_outbox_shows_a_message_as_it_would_be_sent(self):
        template = {"purpose": "signUp", "language": "en", "subject": "{{code}}", "text": "Code {{code}}", "html": "<b>{{code}}</b>"}
        shop = self.tenant(delivery={"smtp": {"host": "mail.example.com", "from": "shop@example.com"}, "templates": [template]})
        self.start(**shop)
        mail = self.mails()[-1]
        self.assertEqual((mail["html"], mail["from"]), (f"<b>{mail['code']}</b>", "shop@example.com"))
        self.start(BOB)
        self.assertNotIn("from", self.mails(BOB)[-1])

    def test_message_of_a_tenant_without_a_name_uses_the_sender_or_the_domain(self):
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
        # The built-in texts include the tenant's name, if it has one.
        for name, settings, wanted in (("with", {"name": "The Shop"}, " for The Shop"), ("without", {}, "")):
            address = f"{name}.words@example.com"
            self.start(address, **self.tenant(name, **settings))
            mail = self.mails(address)[-1]
            self.assertEqual(mail["subject"], f"{mail['code']} is your code to confirm your email address{wanted}")
            self.assertIn(f"To create your account{wanted}, enter this code:", mail["text"])

    def test_issuer_not_found_names_the_method_that_returns_issuers(self):
        error = self.no("issuerNotFound", "token.jwks", issuer="https://elsewhere.example")
        self.assertIn("tenant.get the issuer of a tenant", str(error))

    def test_token_of_an_ended_session_fails_with_a_hint_to_sign_in(self):
        self.account()
        done = self.sign_in()
        self.call("session.signOut", refreshToken=done["refreshToken"])
        self.assertIn("Sign the user in again", str(self.no("tokenRevoked", "token.verify", token=done["idToken"], tenantId="default")))

    def test_id_token_contains_the_username_unless_the_developer_sets_the_claim(self):
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

    def test_token_of_a_replaced_session_fails_with_the_reason(self):
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
        # The store keeps the reason as long as such a token can be valid.
        self.assertGreater(self.call("store.stats")["rows"]["revocation"], 0)
        self.advance(86_400 + 3_602)
        self.assertEqual(self.call("store.stats")["rows"]["revocation"], 0)

    def verifying(self, id_token):
        """Starts the verification of the current address. Returns the continuation token and the code."""
        token = self.call("account.changeEmail", idToken=id_token, email=ALICE)["continuationToken"]
        return {"continuationToken": token, "code": self.code()}

    def test_used_refresh_token_is_accepted_until_one_of_its_successors_is_used(self):
        self.account()
        first = self.sign_in()["refreshToken"]
        brought = [self.call("session.refresh", refreshToken=first)["refreshToken"] for _ in range(3)]
        # Each successor has a separate grace period. The first token is no longer valid, and using it revokes the session.
        self.advance(86400)
        after = [self.call("session.refresh", refreshToken=token)["refreshToken"] for token in brought]
        self.assertEqual(len(set(after)), 3)
        self.no("refreshTokenReused", "session.refresh", refreshToken=first)
        for token in after:
            self.no("refreshTokenInvalid", "session.refresh", refreshToken=token)

    def test_omitted_members_of_a_settings_group_return_to_their_defaults(self):
        shop = self.tenant(passwordPolicy={"minimumLength": 12, "bannedTerms": ["mintmark"]})
        policy = self.call("tenant.update", **shop, passwordPolicy={"minimumClasses": 2})["passwordPolicy"]
        self.assertEqual((policy["minimumLength"], policy["minimumClasses"], policy["bannedTerms"]), (8, 2, []))
        said = {each["name"]: each["description"] for each in self.call("rpc.discover")["methods"]}
        for method in ("tenant.update", "system.apply"):
            self.assertIn("returns to its default", said[method])
