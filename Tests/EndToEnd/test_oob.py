"""Codes and links for actions by email: oob.create, oob.inspect, oob.apply and signIn.withLink."""

import re
import unittest
import urllib.parse

from test_notices import ALICE, OTHER, PASSWORD, Noticed

BOB = "bob@example.com"
PAGE = "https://shop.example/action"
DAY = 86_400


class Links(Noticed):
    def create(self, purpose, email=ALICE, **more):
        return self.call("oob.create", purpose=purpose, email=email, returnLink=True, **more)

    def refuse(self, wanted, method, **params):
        return self.refused(wanted, self.sidecar, method, params)

    def query(self, link):
        parts = urllib.parse.urlsplit(link)
        return dict(urllib.parse.parse_qsl(parts.query))

    def mail(self, to=ALICE):
        """Returns the last message to an address and the query of its link."""
        message = self.messages(to)[-1]
        link = re.search(r"https://\S+", message["text"])[0]
        self.assertIn(link.replace("&", "&amp;"), message["html"])
        return message, self.query(link)


class Actions(Links):
    def test_password_reset_sets_a_password_once_and_unlinks_the_providers(self):
        account = self.account_of()
        self.call("account.link", idToken=self.session()["idToken"], credential=self.credential())
        session, made = self.session(), self.create("passwordReset", continueUrl=PAGE)
        self.assertEqual(self.query(made["link"]), {"mode": "passwordReset", "oobCode": made["code"], "tenantId": "default"})
        self.assertEqual(made["expiresAt"], self.now + 3600)
        shown = {"purpose": "passwordReset", "tenantId": "default", "email": ALICE, "expiresAt": self.now + 3600}
        self.assertEqual(self.call("oob.inspect", code=made["code"]), shown)
        other = self.create("passwordReset")["code"]
        for password in ("short", PASSWORD[:6]):
            self.refuse("invalidPassword", "oob.apply", code=made["code"], newPassword=password)
        self.assertEqual(self.violations(self.sidecar, "oob.apply", {"code": made["code"]}), {("/newPassword", "required")})
        done = self.call("oob.apply", code=made["code"], newPassword=OTHER)
        self.assertEqual(done, {"purpose": "passwordReset", "email": ALICE, "accountId": account})
        for code in (made["code"], other):
            self.refuse("actionCodeInvalid", "oob.apply", code=code, newPassword=OTHER)
        self.refuse("refreshTokenInvalid", "session.refresh", refreshToken=session["refreshToken"])
        self.session(password=OTHER)
        self.assertEqual([each["providerId"] for each in self.call("account.get", accountId=account)["providers"]], ["password"])
        self.assertEqual({each["purpose"] for each in self.messages(ALICE)} & {"passwordResetNotice", "providerUnlinked"},
                         {"passwordResetNotice", "providerUnlinked"})

    def test_codes_expire(self):
        self.account_of()
        for purpose, seconds in (("passwordReset", 3600), ("verifyEmail", 3 * DAY), ("signIn", 21_600)):
            code = self.create(purpose)["code"]
            self.later(seconds)
            self.refuse("actionCodeExpired", "oob.inspect", code=code)
            method, more = ("signIn.withLink", {"email": ALICE}) if purpose == "signIn" else ("oob.apply", {})
            if purpose == "passwordReset":
                more = {"newPassword": OTHER}
            self.refuse("actionCodeExpired", method, code=code, **more)

    def test_address_is_verified_unless_it_has_changed(self):
        account = self.call("account.create", username=ALICE, password=PASSWORD)["accountId"]
        code, late = self.create("verifyEmail")["code"], self.create("verifyEmail")["code"]
        self.call("oob.apply", code=code)
        self.assertTrue(self.call("account.get", accountId=account)["emailVerified"])
        self.refuse("actionCodeInvalid", "oob.apply", code=late)
        code = self.create("verifyEmail")["code"]
        self.call("account.update", accountId=account, username=BOB)
        self.refuse("actionCodeInvalid", "oob.apply", code=code)
        self.assertFalse(self.call("account.get", accountId=account)["emailVerified"])

    def test_change_of_address_is_applied_and_can_be_undone_from_the_previous_mailbox(self):
        self.settings(delivery={"linkUrl": PAGE})
        account = self.account_of()
        session = self.session()
        self.call("oob.create", purpose="changeEmail", email=ALICE, newEmail=BOB)
        message, query = self.mail(BOB)
        self.assertEqual((message["purpose"], query["mode"]), ("changeAddressLink", "changeEmail"))
        self.assertEqual(self.call("oob.apply", code=query["oobCode"])["email"], BOB)
        self.refuse("refreshTokenInvalid", "session.refresh", refreshToken=session["refreshToken"])
        message, query = self.mail(ALICE)
        self.assertEqual((message["purpose"], query["mode"]), ("addressChangedLink", "revertEmail"))
        self.assertNotIn("shop.example", self.messages(BOB)[-1]["text"])
        self.later(6 * DAY)
        self.call("oob.apply", code=query["oobCode"])
        found = self.call("account.get", accountId=account)
        self.assertEqual((found["email"], found["emailVerified"]), (ALICE, True))
        self.refuse("actionCodeInvalid", "oob.apply", code=query["oobCode"])
        self.assertEqual([each["purpose"] for each in self.messages(BOB)][-1], "addressChanged")

    def test_change_by_code_can_be_undone_too_unless_the_address_is_taken(self):
        self.settings(delivery={"linkUrl": PAGE})
        self.account_of()
        flow = self.call("account.changeEmail", idToken=self.session()["idToken"], email=BOB)
        self.call("account.submitCode", continuationToken=flow["continuationToken"], code=self.messages(BOB)[-1]["code"])
        query = self.mail(ALICE)[1]
        self.account_of(ALICE)
        self.refuse("userAlreadyExists", "oob.apply", code=query["oobCode"])
        self.call("oob.inspect", code=query["oobCode"])

    def test_new_address_of_another_account_is_refused(self):
        self.account_of()
        self.account_of(BOB)
        self.refuse("userAlreadyExists", "oob.create", purpose="changeEmail", email=ALICE, newEmail=BOB, returnLink=True)
        code = self.create("changeEmail", newEmail="carol@example.com")["code"]
        self.account_of("carol@example.com")
        self.refuse("userAlreadyExists", "oob.apply", code=code)

    def test_input_is_checked(self):
        account = self.account_of()
        bad = ({"purpose": "verifyEmail", "newEmail": BOB}, {"purpose": "changeEmail"}, {"purpose": "signIn", "continueUrl": "javascript:alert(1)//"},
               {"purpose": "signIn", "continueUrl": "/relative"}, {"purpose": "signIn", "continueUrl": "http://shop.example"})
        for params in bad:
            with self.subTest(params):
                self.refuse("invalidParams", "oob.create", email=ALICE, returnLink=True, **params)
        self.refuse("userNotFound", "oob.create", purpose="passwordReset", email="x@example.com", returnLink=True)
        self.refuse("tenantNotFound", "oob.create", purpose="signIn", email=ALICE, tenantId="nowhere", returnLink=True)
        self.refuse("linkUrlMissing", "oob.create", purpose="signIn", email=ALICE)
        for url in ("javascript://x/%0aalert(1)", "http://shop.example/", "https://", "https://a b/"):
            self.refuse("invalidTenantSettings", "tenant.update", tenantId="default", delivery={"linkUrl": url})
        self.assertNotIn("link", self.create("signIn"))
        self.call("account.update", accountId=account, disabled=True)
        self.refuse("accountDisabled", "oob.create", purpose="passwordReset", email=ALICE, returnLink=True)

    def test_code_is_not_in_the_store(self):
        self.account_of()
        code = self.create("signIn")["code"]
        self.assertEqual(len(code), 54)
        self.call("system.health")
        if self.store.startswith("/"):
            rows = self.rows("SELECT purpose, email FROM action_code", store=self.store)
            self.assertEqual(rows, [("signIn", ALICE)])


class SignIn(Links):
    def test_link_signs_in_to_account_with_password_only_once(self):
        account = self.account_of()
        code = self.create("signIn", continueUrl="myapp://open/path#part")
        self.assertTrue(code["link"].startswith("myapp://open/path?mode=signIn&oobCode=") and code["link"].endswith("#part"))
        self.assertNotIn("email", self.call("oob.inspect", code=code["code"]))
        self.refuse("actionCodeInvalid", "signIn.withLink", email=BOB, code=code["code"])
        self.refuse("actionCodeInvalid", "oob.apply", code=code["code"])
        done = self.call("signIn.withLink", email=ALICE.upper(), code=code["code"])
        self.assertEqual((done["state"], done["account"]["accountId"], done["isNewAccount"]), ("completed", account, False))
        self.refuse("actionCodeInvalid", "signIn.withLink", email=ALICE, code=code["code"])
        self.session()

    def test_new_address_creates_an_account_if_sign_up_is_allowed(self):
        code, other = self.create("signIn")["code"], self.create("signIn", email=BOB)["code"]
        done = self.call("signIn.withLink", email=ALICE, code=code)
        self.assertEqual((done["isNewAccount"], done["account"]["emailVerified"], done["account"]["method"]), (True, True, "code"))
        self.settings(signUpAllowed=False)
        self.refuse("signUpNotAllowed", "signIn.withLink", email=BOB, code=other)
        self.call("oob.inspect", code=other)

    def test_account_whose_address_was_never_verified_loses_what_another_user_may_have_added(self):
        account = self.call("account.create", username=ALICE, password=PASSWORD)["accountId"]
        before = self.session()
        done = self.call("signIn.withLink", email=ALICE, code=self.create("signIn")["code"])
        self.assertEqual((done["account"]["accountId"], done["account"]["emailVerified"]), (account, True))
        self.refuse("refreshTokenInvalid", "session.refresh", refreshToken=before["refreshToken"])
        self.refuse("passwordNotSet", "signIn.withPassword", username=ALICE, password=PASSWORD)

    def test_second_factor_is_required(self):
        import pyotp

        self.account_of()
        enrolled = self.call("mfa.enroll", idToken=self.session()["idToken"], kind="totp")
        self.call("mfa.confirm", continuationToken=enrolled["continuationToken"], code=pyotp.TOTP(enrolled["secret"]).at(self.now))
        done = self.call("signIn.withLink", email=ALICE, code=self.create("signIn")["code"])
        self.assertEqual(done["state"], "secondFactorRequired")


class Messages(Links):
    def test_each_purpose_has_a_message_and_a_template(self):
        self.settings(delivery={"linkUrl": PAGE + "?a=1", "templates": [
            {"purpose": "signInLink", "language": "de", "subject": "Anmelden", "text": "Hier: {{link}} ({{minutes}} min)"}]})
        self.account_of()
        for purpose, words in (("passwordReset", "set a new password"), ("verifyEmail", "is your email address"), ("signIn", "sign in")):
            answer = self.call("oob.create", purpose=purpose, email=ALICE, continueUrl="https://shop.example/next?x=1&y=2")
            self.assertEqual(set(answer), {"purpose", "email", "expiresAt"})
            message, query = self.mail()
            self.assertIn(words, message["text"])
            self.assertEqual((query["a"], query["mode"], query["continueUrl"]), ("1", purpose, "https://shop.example/next?x=1&y=2"))
            self.call("oob.inspect", code=query["oobCode"])
        self.call("oob.create", purpose="signIn", email=ALICE, language="de")
        self.assertRegex(self.messages(ALICE)[-1]["text"], r"^Hier: https://shop.example/action\?a=1&mode=signIn\S+ \(360 min\)$")

    def test_template_without_the_link_is_refused(self):
        for text in ("Nothing.", "{{code}}", "{{link}} {{code}}"):
            template = {"purpose": "signInLink", "language": "en", "subject": "s", "text": text}
            self.refuse("invalidTenantSettings", "tenant.update", tenantId="default", delivery={"templates": [template]})

    def test_messages_to_one_address_are_limited_together_with_codes(self):
        self.settings(delivery={"linkUrl": PAGE}, codes={"sendsPerAddress": 2})
        self.account_of()
        for _ in range(2):
            self.call("oob.create", purpose="signIn", email=ALICE)
        self.refuse("tooManyCodes", "oob.create", purpose="signIn", email=ALICE)
        self.refuse("tooManyCodes", "passwordReset.start", username=ALICE)
        self.create("signIn")


if __name__ == "__main__":
    unittest.main()
