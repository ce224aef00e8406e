"""Messages of the Firebase API in compat.http: they are sent as the tenant's delivery says, within its limits, and after its hook agreed."""

import json
import re
import unittest

from endtoend import EndToEnd
from firebase import PROJECT
from hooks import Host
from test_hooks import PIPE

PAGE = "https://shop.example.com/account"
CAROL = {"email": "carol@example.com", "password": "secret-1"}
NUMBER = "+15555550123"


class Messages(EndToEnd):
    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn("--testing", "--clock", "1700000000")
        self.sidecar.call("tenant.create", {
            "tenantId": PROJECT, "passwordPolicy": {"minimumLength": 6, "minimumClasses": 1, "checksBanned": False}, "anonymousAllowed": True,
            "notices": "none", "phoneSignIn": "everyone", "delivery": {"linkUrl": PAGE}})

    def http(self, name, body, version="v1", headers=(), admin=False, method="POST"):
        answer = self.sidecar.call("compat.http", {
            "method": method, "url": f"/identitytoolkit.googleapis.com/{version}/{name}?key=k", "body": json.dumps(body),
            "headers": {"content-type": "application/json", "host": "evil.example", **dict(headers)},
            "firebase": {"projectId": PROJECT, "administrator": admin}})
        return answer["status"], json.loads(answer["body"])

    def done(self, name, body, *more, **named):
        status, answer = self.http(name, body, *more, **named)
        self.assertEqual(status, 200, answer)
        return answer

    def refusal(self, name, body, *more, **named):
        status, answer = self.http(name, body, *more, **named)
        self.assertEqual(status, 400, answer)
        return answer["error"]["message"].split(" : ")[0]

    def outbox(self, to):
        return self.sidecar.call("test.outbox", {"to": to})["messages"]

    def link(self, to):
        return re.search(r"https://\S+", self.outbox(to)[-1]["text"])[0]

    def code(self, to):
        link = self.link(to)
        self.assertTrue(link.startswith(PAGE + "?"), link)
        return link.split("oobCode=")[1].split("&")[0]

    def test_links_are_sent_to_the_page_of_the_tenant(self):
        token = self.done("accounts:signUp", CAROL)["idToken"]
        answer = self.done("accounts:sendOobCode", {"requestType": "VERIFY_EMAIL", "idToken": token})
        self.assertEqual(answer, {"kind": "identitytoolkit#GetOobConfirmationCodeResponse", "email": CAROL["email"]})
        self.done("accounts:update", {"oobCode": self.code(CAROL["email"])})
        self.assertTrue(self.done("accounts:lookup", {"idToken": token})["users"][0]["emailVerified"])
        self.done("accounts:sendOobCode", {"requestType": "PASSWORD_RESET", "email": CAROL["email"]})
        self.done("accounts:resetPassword", {"oobCode": self.code(CAROL["email"]), "newPassword": "secret-2"})
        session = self.done("accounts:signInWithPassword", {**CAROL, "password": "secret-2"})
        self.done("accounts:sendOobCode", {"requestType": "VERIFY_AND_CHANGE_EMAIL", "idToken": session["idToken"], "newEmail": "dora@example.com"})
        self.done("accounts:update", {"oobCode": self.code("dora@example.com")})
        self.done("accounts:update", {"oobCode": self.code(CAROL["email"])})   # undoes the change
        self.done("accounts:sendOobCode", {"requestType": "EMAIL_SIGNIN", "email": CAROL["email"]})
        self.done("accounts:signInWithEmailLink", {"email": CAROL["email"], "oobCode": self.code(CAROL["email"])})

    def test_link_needs_a_page_and_a_known_host(self):
        self.done("accounts:signUp", CAROL)
        reset = {"requestType": "PASSWORD_RESET", "email": CAROL["email"]}
        for url in ("https://evil.example/", "https://shop.example.com@evil.example/", "https://evil.example\\.shop.example.com/", "app://x"):
            self.assertEqual(self.refusal("accounts:sendOobCode", {**reset, "continueUrl": url}), "UNAUTHORIZED_DOMAIN", url)
        self.done("accounts:sendOobCode", {**reset, "continueUrl": "https://shop.example.com/done?a=b"})
        self.assertIn("continueUrl=https", self.link(CAROL["email"]))
        self.sidecar.call("tenant.create", {"tenantId": "bare"})
        answer = self.sidecar.call("compat.http", {
            "method": "POST", "url": "/identitytoolkit.googleapis.com/v1/accounts:sendOobCode?key=k",
            "body": json.dumps({"requestType": "EMAIL_SIGNIN", "email": "a@example.com"}), "firebase": {"projectId": "bare"}})
        self.assertIn("delivery.linkUrl", answer["body"])

    def test_messages_are_limited_as_codes_are(self):
        self.done("accounts:signUp", CAROL)
        reset = {"requestType": "PASSWORD_RESET", "email": CAROL["email"]}
        answers = [self.http("accounts:sendOobCode", reset) for _ in range(20)]
        self.assertEqual(answers[0][0], 200)
        self.assertEqual(answers[-1][1]["error"]["message"].split(" : ")[0], "RESET_PASSWORD_EXCEED_LIMIT")
        sent = [self.http("accounts:sendVerificationCode", {"phoneNumber": NUMBER}) for _ in range(20)]
        self.assertEqual(sent[-1][1]["error"]["message"].split(" : ")[0], "TOO_MANY_ATTEMPTS_TRY_LATER")
        self.assertEqual(len(self.outbox(NUMBER)), sum(status == 200 for status, _ in sent))

    def test_numbers_of_one_client_are_limited(self):
        statuses = [self.http("accounts:sendVerificationCode", {"phoneNumber": f"+1555555{number:04}"}, headers=[("x-forwarded-for", "192.0.2.7")])[0]
                    for number in range(60)]
        self.assertEqual((statuses[0], statuses[-1]), (200, 400))

    def test_wrong_passwords_of_one_client_are_limited_across_accounts(self):
        answers = [self.http("accounts:signInWithPassword", {"email": f"u{number}@example.com", "password": "secret-1"}, headers=[("x-forwarded-for", "192.0.2.7")])[1]
                   for number in range(30)]
        self.assertEqual(answers[0]["error"]["message"].split(" : ")[0], "EMAIL_NOT_FOUND")
        self.assertEqual(answers[-1]["error"]["message"].split(" : ")[0], "TOO_MANY_ATTEMPTS_TRY_LATER")

    def test_code_by_sms_signs_in_and_enrolls(self):
        session = self.done("accounts:sendVerificationCode", {"phoneNumber": NUMBER})["sessionInfo"]
        message = self.outbox(NUMBER)[-1]
        self.assertEqual((message["channel"], message["purpose"], len(message["code"])), ("sms", "signIn", 6))
        wrong = "000000" if message["code"] != "000000" else "000001"
        self.assertEqual(self.refusal("accounts:signInWithPhoneNumber", {"sessionInfo": session, "code": wrong}), "INVALID_CODE")
        made = self.done("accounts:signInWithPhoneNumber", {"sessionInfo": session, "code": message["code"]})
        self.assertEqual((made["phoneNumber"], made["isNewUser"]), (NUMBER, True))
        self.assertEqual(self.sidecar.call("account.find", {"tenantId": PROJECT, "phoneNumber": NUMBER})["accountId"], made["localId"])
        self.sidecar.call("account.create", {"tenantId": PROJECT, "username": CAROL["email"], "password": "secret-1", "emailVerified": True})
        token = self.done("accounts:signInWithPassword", CAROL)["idToken"]
        started = self.done("accounts/mfaEnrollment:start", {"idToken": token, "phoneEnrollmentInfo": {"phoneNumber": "+15555550199"}}, "v2")
        message = self.outbox("+15555550199")[-1]
        self.assertEqual(message["purpose"], "verifyAddress")
        self.done("accounts/mfaEnrollment:finalize", {
            "idToken": token, "phoneVerificationInfo": {"sessionInfo": started["phoneSessionInfo"]["sessionInfo"], "code": message["code"]}}, "v2")

    def test_tenant_decides_who_signs_in_with_a_number(self):
        session = self.done("accounts:sendVerificationCode", {"phoneNumber": NUMBER})["sessionInfo"]
        code = self.outbox(NUMBER)[-1]["code"]
        self.sidecar.call("tenant.update", {"tenantId": PROJECT, "phoneSignIn": "accounts"})
        self.assertEqual(self.refusal("accounts:signInWithPhoneNumber", {"sessionInfo": session, "code": code}), "ADMIN_ONLY_OPERATION")
        self.sidecar.call("tenant.update", {"tenantId": PROJECT, "phoneSignIn": "off"})
        self.assertEqual(self.refusal("accounts:sendVerificationCode", {"phoneNumber": NUMBER}), "OPERATION_NOT_ALLOWED")

    def test_users_cannot_create_accounts_where_sign_ups_are_not_allowed(self):
        self.sidecar.call("tenant.update", {"tenantId": PROJECT, "signUpAllowed": False})
        self.done("accounts:sendOobCode", {"requestType": "EMAIL_SIGNIN", "email": CAROL["email"]})
        self.assertEqual(self.refusal("accounts:signInWithEmailLink", {"email": CAROL["email"], "oobCode": self.code(CAROL["email"])}), "ADMIN_ONLY_OPERATION")
        self.assertEqual(self.refusal("accounts:signUp", CAROL), "ADMIN_ONLY_OPERATION")

    def test_unknown_address_gets_a_notice_where_addresses_are_hidden(self):
        self.sidecar.call("tenant.update", {"tenantId": PROJECT, "enumerationProtection": True})
        answer = self.done("accounts:sendOobCode", {"requestType": "PASSWORD_RESET", "email": "nobody@example.com"})
        self.assertEqual(answer["email"], "nobody@example.com")
        self.assertEqual([each["purpose"] for each in self.outbox("nobody@example.com")], ["noAccountNotice"])

    def test_hook_decides_about_links_and_codes(self):
        refuses = [True]
        host = Host(self.sidecar, lambda hook, params: {"refuse": "not this one"} if refuses[0] else None)
        self.sidecar.call("hooks.set", {"tenantId": PROJECT, "beforeSendMessage": PIPE})
        link = {"requestType": "EMAIL_SIGNIN", "email": CAROL["email"]}
        self.assertEqual(self.refusal("accounts:sendOobCode", link), "BLOCKING_FUNCTION_ERROR_RESPONSE")
        self.assertEqual(self.refusal("accounts:sendVerificationCode", {"phoneNumber": NUMBER}), "BLOCKING_FUNCTION_ERROR_RESPONSE")
        self.assertEqual(self.outbox(CAROL["email"]) + self.outbox(NUMBER), [])
        refuses[0] = False
        self.done("accounts:sendOobCode", link, headers=[("x-firebase-locale", "de")])
        self.done("accounts:sendVerificationCode", {"phoneNumber": NUMBER})
        self.assertEqual([params["message"]["purpose"] for _, params in host.asked], ["signInLink", "signIn", "signInLink", "signIn"])
        self.assertEqual(host.asked[2][1]["message"], {"channel": "email", "to": CAROL["email"], "purpose": "signInLink", "language": "de"})
        self.done(f"projects/{PROJECT}/accounts:sendOobCode", {**link, "returnOobLink": True}, admin=True)
        self.assertEqual(len(host.asked), 4, "a link that is returned is no message")


if __name__ == "__main__":
    unittest.main()
