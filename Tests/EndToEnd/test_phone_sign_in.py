"""Sign-in with a code by SMS: signIn.startWithPhoneNumber and the tenant setting phoneSignIn."""

import unittest

import pyotp

from endtoend import EndToEnd
from hooks import PASSWORD, Host
from test_hooks import PIPE, claims

NUMBER, OTHER, ALICE = "+15555550100", "+15555550101", "alice@example.com"
START = "signIn.startWithPhoneNumber"


class PhoneSignIn(EndToEnd):
    stores = ("sqlite", "postgres")

    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn(testing=True)
        self.call = self.sidecar.call

    def settings(self, **settings):
        self.call("tenant.update", {"tenantId": "default", **settings})

    def account(self, **more):
        return self.call("account.create", {"username": ALICE, "phoneNumber": NUMBER, **more})["accountId"]

    def refuse(self, type, method, **params):
        return self.refused(type, self.sidecar, method, params)

    def start(self, number=NUMBER, **more):
        step = self.call(START, {"phoneNumber": number, **more})
        self.assertEqual((step["state"], step["channel"]), ("codeRequired", "sms"))
        return step["continuationToken"]

    def code(self, number=NUMBER):
        return self.call("test.outbox", {"to": number})["messages"][-1]["code"]

    def submit(self, token, number=NUMBER, **more):
        return self.call("signIn.submitCode", {"continuationToken": token, "code": self.code(number), **more})

    def test_number_of_an_account_signs_in_without_verifying_the_address(self):
        self.settings(phoneSignIn="accounts")
        account = self.account()
        done = self.submit(self.start())
        self.assertEqual((done["state"], done["account"]["accountId"], done["isNewAccount"]), ("completed", account, False))
        self.assertFalse(done["account"]["emailVerified"])
        self.assertEqual(claims(done["idToken"])["amr"], ["sms"])
        message = self.call("test.outbox", {"to": NUMBER})["messages"][0]
        self.assertEqual((message["channel"], message["purpose"]), ("sms", "signIn"))
        self.refuse("phoneNumberUnknown", START, phoneNumber=OTHER)
        self.refuse("invalidPhoneNumber", START, phoneNumber="0555")

    def test_setting_is_off_until_the_developer_turns_it_on(self):
        self.account()
        self.assertNotIn("phoneSignIn", self.call("tenant.get", {"tenantId": "default"}))
        self.refuse("phoneSignInNotAllowed", START, phoneNumber=NUMBER)
        self.settings(phoneSignIn="accounts")
        token = self.start()
        self.settings(phoneSignIn="off")
        self.refuse("phoneSignInNotAllowed", "signIn.submitCode", continuationToken=token, code=self.code())
        self.refuse("phoneSignInNotAllowed", "signIn.resendCode", continuationToken=token)
        self.refuse("invalidTenantSettings", "tenant.create", tenantId="bank", assurance="asvs-l2", phoneSignIn="accounts")

    def test_everyone_gets_an_account_with_the_first_sign_in(self):
        self.settings(phoneSignIn="everyone")
        host = Host(self.sidecar, lambda hook, params: None if hook == "beforeSendMessage" else {"claims": {"by": hook}})
        self.call("hooks.set", {"beforeCreate": PIPE, "beforeSignIn": PIPE, "beforeSendMessage": PIPE})
        first = self.submit(self.start())
        self.assertEqual((first["isNewAccount"], first["account"]["phoneNumber"], first["account"]["claims"]), (True, NUMBER, {"by": "beforeSignIn"}))
        self.assertEqual([name for name, _ in host.asked], ["beforeSendMessage", "beforeCreate", "beforeSignIn"])
        self.assertEqual(host.asked[1][1]["provider"], "phone")
        again = self.submit(self.start(language="de"))
        self.assertEqual((again["isNewAccount"], again["account"]["accountId"]), (False, first["account"]["accountId"]))
        self.settings(signUpAllowed=False)
        self.refuse("phoneNumberUnknown", START, phoneNumber=OTHER)

    def test_two_first_sign_ins_make_one_account(self):
        self.settings(phoneSignIn="everyone")
        one, two = self.start(), self.start(language="de")
        codes = [message["code"] for message in self.call("test.outbox", {"to": NUMBER})["messages"]]
        self.call("signIn.submitCode", {"continuationToken": one, "code": codes[0]})
        self.refuse("flowEnded", "signIn.submitCode", continuationToken=two, code=codes[1])
        self.assertEqual(len(self.call("account.list", {"tenantId": "default"})["accounts"]), 1)

    def test_wrong_codes_lock_the_account_and_unknown_numbers(self):
        self.settings(phoneSignIn="everyone", lockout={"threshold": 3, "durationSeconds": 60})
        self.account()
        for number in (NUMBER, OTHER):
            token = self.start(number)
            wrong = "00000000" if self.code(number) != "00000000" else "00000001"
            for _ in range(3):
                self.refuse("invalidCode", "signIn.submitCode", continuationToken=token, code=wrong)
            self.refuse("accountLocked", "signIn.submitCode", continuationToken=token, code=self.code(number))
        self.refuse("accountLocked", START, phoneNumber=NUMBER, language="de")

    def test_messages_to_a_number_are_limited(self):
        self.settings(phoneSignIn="accounts", codes={"sendsPerAddress": 3})
        self.account()
        token = self.start()
        for _ in range(2):
            token = self.call("signIn.resendCode", {"continuationToken": token})["continuationToken"]
        error = self.refuse("tooManyCodes", "signIn.resendCode", continuationToken=token)
        self.assertIn("retryAfterSeconds", error.data)
        self.refuse("tooManyCodes", START, phoneNumber=NUMBER, language="de")

    def test_hidden_accounts_have_the_same_answers(self):
        self.settings(phoneSignIn="accounts", enumerationProtection=True)
        self.account()
        known, unknown = (self.call(START, {"phoneNumber": number}) for number in (NUMBER, OTHER))
        self.assertEqual([set(known), known["codeLength"], known["channel"]], [set(unknown), unknown["codeLength"], unknown["channel"]])
        self.assertEqual([m["purpose"] for m in self.call("test.outbox", {"to": OTHER})["messages"]], ["noAccountNotice"])
        self.refuse("invalidCode", "signIn.submitCode", continuationToken=unknown["continuationToken"], code="00000000")
        self.refuse("stepNotPossible", "signIn.submitPassword", continuationToken=known["continuationToken"], password=PASSWORD)

    def test_number_that_changed_its_account_does_not_sign_in(self):
        self.settings(phoneSignIn="accounts")
        account = self.account()
        token = self.start()
        self.call("account.update", {"accountId": account, "remove": ["phoneNumber"]})
        self.call("account.create", {"username": "bob@example.com", "phoneNumber": NUMBER})
        self.refuse("flowEnded", "signIn.submitCode", continuationToken=token, code=self.code())

    def test_second_factor_is_still_required_and_sms_does_not_count_twice(self):
        self.settings(phoneSignIn="accounts", mfa="optional")
        self.call("test.clock", {"setAt": 1_700_000_010, "freeze": True})
        self.account(password=PASSWORD, emailVerified=True)
        token = self.call("signIn.withPassword", {"username": ALICE, "password": PASSWORD})["idToken"]
        step = self.call("mfa.enroll", {"idToken": token, "kind": "sms", "phoneNumber": NUMBER})
        done = self.call("mfa.confirm", {"continuationToken": step["continuationToken"], "code": self.code()})
        step = self.call("mfa.enroll", {"idToken": done["idToken"], "kind": "totp"})
        self.call("mfa.confirm", {"continuationToken": step["continuationToken"], "code": pyotp.TOTP(step["secret"]).at(1_700_000_010)})
        pending = self.submit(self.start())
        self.assertEqual((pending["state"], [hint["kind"] for hint in pending["hints"]]), ("secondFactorRequired", ["totp"]))
        self.call("test.clock", {"advanceSeconds": 30})
        done = self.call("mfa.resolve", {"continuationToken": pending["continuationToken"], "factorId": pending["hints"][0]["factorId"],
                                         "code": pyotp.TOTP(step["secret"]).at(1_700_000_040)})
        self.assertEqual(claims(done["idToken"])["amr"], ["sms", "otp", "mfa"])

    def test_required_factor_is_enrolled_but_not_by_sms(self):
        self.settings(phoneSignIn="everyone", mfa="required")
        step = self.submit(self.start())
        self.assertEqual(step["state"], "secondFactorEnrollmentRequired")
        self.assertNotIn("sms", step["factorKinds"])
        self.refuse("factorAddsNothing", "mfa.enroll", continuationToken=step["continuationToken"], kind="sms", phoneNumber=NUMBER)

    def test_first_code_can_be_sent_later(self):
        self.settings(phoneSignIn="accounts")
        self.account()
        step = self.call(START, {"phoneNumber": NUMBER, "send": False})
        self.assertEqual((step["sent"], self.call("test.outbox", {"to": NUMBER})["messages"]), (False, []))
        sent = self.call("signIn.challenge", {"continuationToken": step["continuationToken"]})
        self.assertEqual(self.submit(sent["continuationToken"])["state"], "completed")
        redirected = self.call(START, {"phoneNumber": NUMBER, "accepts": ["password"]})
        self.assertEqual((redirected["state"], redirected["missing"]), ("redirectRequired", ["code"]))


if __name__ == "__main__":
    unittest.main()
