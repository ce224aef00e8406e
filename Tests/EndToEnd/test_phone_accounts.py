"""Accounts with a phone number and no email address: made by the developer, signed in to by SMS, exported and imported."""

import json
import unittest

from firebase_admin import auth

from endtoend import EndToEnd
from firebase import PROJECT, FirebaseProject
from hooks import PASSWORD

NUMBER, OTHER = "+15555550100", "+15555550101"
START = "signIn.startWithPhoneNumber"


class PhoneAccounts(EndToEnd):
    stores = ("sqlite", "postgres")

    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn(testing=True)
        self.call = self.sidecar.call
        self.call("tenant.update", {"tenantId": "default", "phoneSignIn": "accounts"})

    def refuse(self, type, method, **params):
        return self.refused(type, self.sidecar, method, params)

    def sign_in(self, number=NUMBER, sidecar=None):
        call = (sidecar or self.sidecar).call
        step = call(START, {"phoneNumber": number})
        code = call("test.outbox", {"to": number})["messages"][-1]["code"]
        return call("signIn.submitCode", {"continuationToken": step["continuationToken"], "code": code})

    def test_account_with_a_number_only_is_found_and_signs_in_by_sms(self):
        made = self.call("account.create", {"phoneNumber": NUMBER, "attributes": {"displayName": "Dora"}, "claims": {"plan": "gold"}})
        self.assertEqual((made["phoneNumber"], made["method"], made["providers"], "email" in made), (NUMBER, "custom", [], False))
        self.assertEqual(self.call("account.find", {"phoneNumber": NUMBER})["accountId"], made["accountId"])
        done = self.sign_in()
        self.assertEqual((done["account"]["accountId"], done["isNewAccount"]), (made["accountId"], False))
        self.call("account.update", {"accountId": made["accountId"], "disabled": True})
        self.refuse("accountDisabled", START, phoneNumber=NUMBER, language="de")

    def test_number_belongs_to_one_account_of_a_tenant(self):
        first = self.call("account.create", {"phoneNumber": NUMBER})
        for more in ({}, {"username": "bob@example.com"}):
            error = self.refuse("phoneNumberInUse", "account.create", phoneNumber=NUMBER, **more)
            self.assertNotIn(first["accountId"], str(error.data))
        self.assertEqual(len(self.call("account.list", {"tenantId": "default"})["accounts"]), 1)
        self.call("tenant.create", {"tenantId": "shop"})
        self.call("account.create", {"tenantId": "shop", "phoneNumber": NUMBER})
        self.call("account.update", {"accountId": first["accountId"], "remove": ["phoneNumber"]})
        self.call("account.create", {"phoneNumber": NUMBER})

    def test_account_needs_an_address_or_a_number(self):
        for params, found in (
                ({}, {("", "atLeastOne")}), ({"accountId": "x", "disabled": True}, {("", "atLeastOne")}),
                ({"phoneNumber": NUMBER, "password": PASSWORD}, {("/password", "requires")}),
                ({"phoneNumber": NUMBER, "emailVerified": True}, {("/emailVerified", "requires")}),
                ({"phoneNumber": NUMBER, "mustChangePassword": True}, {("/mustChangePassword", "requires")})):
            with self.subTest(params=params):
                self.assertEqual(self.violations(self.sidecar, "account.create", params), found)
        for number in ("0555", "+1", "+1 555 555 0100", "+15555550100000000"):
            self.refuse("invalidPhoneNumber", "account.create", phoneNumber=number)
        self.assertEqual(self.call("account.list", {"tenantId": "default"})["accounts"], [])

    def test_address_can_be_added_later(self):
        account = self.call("account.create", {"phoneNumber": NUMBER})["accountId"]
        changed = self.call("account.update", {"accountId": account, "username": "dora@example.com", "password": PASSWORD, "emailVerified": True})
        self.assertEqual((changed["method"], changed["phoneNumber"]), ("password", NUMBER))
        done = self.call("signIn.withPassword", {"username": "dora@example.com", "password": PASSWORD})
        self.assertEqual(self.sign_in()["account"]["accountId"], done["account"]["accountId"])

    def test_account_is_exported_and_imported(self):
        account = self.call("account.create", {"phoneNumber": NUMBER, "attributes": {"displayName": "Dora"}})["accountId"]
        path = self.path("accounts.jsonl")
        self.call("account.export", {"file": path})
        with open(path, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual([(line["accountId"], line["phoneNumber"], line["method"], "email" in line) for line in lines], [(account, NUMBER, "custom", False)])
        other = self.spawn(testing=True)
        other.call("tenant.update", {"tenantId": "default", "phoneSignIn": "accounts"})
        self.assertEqual(other.call("account.import", {"file": path})["imported"], 1)
        self.assertEqual(self.sign_in(sidecar=other)["account"]["accountId"], account)

    def test_imported_line_is_known_by_its_number(self):
        lines = [{"phoneNumber": NUMBER}, {"accountId": "dora", "phoneNumber": OTHER}]
        self.assertEqual(self.call("account.import", {"accounts": lines})["imported"], 2)
        first = self.call("account.find", {"phoneNumber": NUMBER})
        self.assertEqual((first["method"], self.call("account.get", {"accountId": "dora"})["method"]), ("custom", "custom"))
        for existing, found in (("skip", "skipped"), ("replace", "replaced"), ("fail", "failed")):
            again = self.call("account.import", {"accounts": lines[:1], "onExisting": existing})
            self.assertEqual((again["imported"], again[found]), (0, 1), existing)
        # The number of an account with an address does not sign in another user.
        self.call("account.create", {"username": "bob@example.com", "phoneNumber": "+15555550102"})
        again = self.call("account.import", {"accounts": [{"email": "eve@example.com", "phoneNumber": "+15555550102"}], "onExisting": "replace"})
        self.assertEqual(again["failures"][0]["violations"][0]["pointer"], "/phoneNumber")
        self.assertEqual(self.sign_in()["account"]["accountId"], first["accountId"])


class FirebasePhoneAccounts(FirebaseProject):
    def codes(self):
        return self.request(f"/emulator/v1/projects/{PROJECT}/verificationCodes")[1]["verificationCodes"]

    def sign_in(self, number):
        session = self.client("accounts:sendVerificationCode", phoneNumber=number)["sessionInfo"]
        code = [each["code"] for each in self.codes() if each["sessionInfo"] == session][0]
        return self.client("accounts:signInWithPhoneNumber", sessionInfo=session, code=code)

    def test_user_of_the_admin_sdk_is_the_account_of_the_method(self):
        made = auth.create_user(phone_number=NUMBER, display_name="Dora", app=self.app)
        self.assertEqual((made.email, made.phone_number, [each.provider_id for each in made.provider_data]), (None, NUMBER, ["phone"]))
        self.assertEqual(self.sidecar.call("account.find", {"tenantId": PROJECT, "phoneNumber": NUMBER})["accountId"], made.uid)
        self.assertEqual(self.sign_in(NUMBER)["localId"], made.uid)
        with self.assertRaises(auth.PhoneNumberAlreadyExistsError):
            auth.create_user(phone_number=NUMBER, app=self.app)
        account = self.sidecar.call("account.create", {"tenantId": PROJECT, "phoneNumber": OTHER})
        found = auth.get_user_by_phone_number(OTHER, app=self.app)
        self.assertEqual((found.uid, [each.provider_id for each in found.provider_data]), (account["accountId"], ["phone"]))
        signed = self.sign_in(OTHER)
        self.assertEqual((signed["localId"], signed["isNewUser"]), (found.uid, False))
        self.assertEqual(auth.verify_id_token(signed["idToken"], app=self.app)["firebase"]["sign_in_provider"], "phone")


if __name__ == "__main__":
    unittest.main()
