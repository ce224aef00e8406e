"""The blocking functions beforeSendEmail and beforeSendSms, and what functions get about the credential of an identity provider."""

import json
import threading
import time
import unittest
import urllib.parse

from firebase_admin import auth

from firebase import PROJECT
from firebasefunctions import FunctionsProject
from hooks import Host
from test_hooks import PIPE, claims

CAROL = {"email": "carol@example.com", "password": "secret-1"}
NUMBER = "+15555550123"
BOTH = ("beforeSendEmail", "beforeSendSms")


class SendFunctions(FunctionsProject):
    def codes(self, kind="oobCodes"):
        return self.request(f"/emulator/v1/projects/{PROJECT}/{kind}")[1][kind]

    def sign_up(self):
        auth.create_user(uid="carol", email_verified=True, app=self.app, **CAROL)
        return self.client("accounts:signInWithPassword", **CAROL)["idToken"]

    def test_functions_are_called_before_links_that_sign_in_or_reset_a_password(self):
        url = self.begin(lambda event, claims: {}, BOTH)
        token = self.sign_up()
        for type, found in (("PASSWORD_RESET", "PASSWORD_RESET"), ("EMAIL_SIGNIN", "EMAIL_SIGN_IN"), ("VERIFY_EMAIL", None)):
            self.asked.clear()
            more = {"idToken": token} if type == "VERIFY_EMAIL" else {"email": CAROL["email"]}
            status, _ = self.request("/identitytoolkit.googleapis.com/v1/accounts:sendOobCode?key=k", {"requestType": type, **more},
                                     headers=[("x-firebase-locale", "de")])
            self.assertEqual((status, [event for event, _ in self.asked]), (200, ["beforeSendEmail"] if found else []))
            if found:
                sent = self.asked[0][1]
                self.assertEqual((sent["event_type"], sent["email_type"], sent["email"], sent["locale"], sent["aud"], sent["iss"]), (
                    "beforeSendEmail", found, CAROL["email"], "de", f"{url}/beforeSendEmail", f"https://securetoken.google.com/{PROJECT}"))
                self.assertFalse({"user_record", "sub", "sms_type"} & set(sent))
        self.assertEqual([code["requestType"] for code in self.codes()], ["PASSWORD_RESET", "EMAIL_SIGNIN", "VERIFY_EMAIL"])
        self.asked.clear()
        auth.generate_password_reset_link(CAROL["email"], app=self.app)
        self.assertEqual(self.asked, [], "a link that is returned is no email")

    def test_functions_are_called_before_codes_with_their_kind(self):
        self.begin(lambda event, claims: {}, BOTH)
        token = self.sign_up()
        self.client("accounts:sendVerificationCode", phoneNumber=NUMBER)
        started = self.client("accounts/mfaEnrollment:start", "v2", idToken=token, phoneEnrollmentInfo={"phoneNumber": NUMBER})
        session = started["phoneSessionInfo"]["sessionInfo"]
        code = [each["code"] for each in self.codes("verificationCodes") if each["sessionInfo"] == session][0]
        self.client("accounts/mfaEnrollment:finalize", "v2", idToken=token, phoneVerificationInfo={"sessionInfo": session, "code": code})
        pending = self.client("accounts:signInWithPassword", **CAROL)
        self.client("accounts/mfaSignIn:start", "v2", mfaPendingCredential=pending["mfaPendingCredential"],
                    mfaEnrollmentId=pending["mfaInfo"][0]["mfaEnrollmentId"], phoneSignInInfo={})
        self.assertEqual([(event, sent["sms_type"], sent["phone_number"]) for event, sent in self.asked], [
            ("beforeSendSms", kind, NUMBER) for kind in ("SIGN_IN_OR_SIGN_UP", "MULTI_FACTOR_ENROLLMENT", "MULTI_FACTOR_SIGN_IN")])

    def test_function_that_fails_blocks_the_message_and_no_code_is_issued(self):
        self.begin(lambda event, claims: 403, BOTH)
        self.sign_up()
        link = {"requestType": "PASSWORD_RESET", "email": CAROL["email"]}
        self.refused("BLOCKING_FUNCTION_ERROR_RESPONSE", "accounts:sendOobCode", **link)
        self.refused("BLOCKING_FUNCTION_ERROR_RESPONSE", "accounts:sendVerificationCode", phoneNumber=NUMBER)
        self.assertEqual((self.codes(), self.codes("verificationCodes")), ([], []))
        status, answer = self.request("/identitytoolkit.googleapis.com/v1/accounts:sendOobCode?key=k", link)
        self.assertIn("HTTP Cloud Function returned an error: no", answer["error"]["message"])
        self.begin(lambda event, claims: {"recaptchaActionOverride": "BLOCK"}, BOTH)
        self.refused("BLOCKING_FUNCTION_ERROR_RESPONSE", "accounts:sendOobCode", **link)
        self.begin(lambda event, claims: {"recaptchaActionOverride": "MAYBE"}, BOTH)
        self.refused("BLOCKING_FUNCTION_ERROR_RESPONSE", "accounts:sendOobCode", **link)
        self.begin(lambda event, claims: {"recaptchaActionOverride": "ALLOW"}, BOTH)
        self.client("accounts:sendOobCode", **link)

    def test_each_trigger_stands_alone_and_the_hook_of_the_tenant_takes_precedence(self):
        self.begin(lambda event, claims: 403, ("beforeSendSms",))
        self.sign_up()
        link = {"requestType": "PASSWORD_RESET", "email": CAROL["email"]}
        self.client("accounts:sendOobCode", **link)
        self.assertEqual(self.asked, [])
        host = Host(self.sidecar)
        self.sidecar.call("hooks.set", {"tenantId": PROJECT, "beforeSendMessage": PIPE})
        self.client("accounts:sendVerificationCode", phoneNumber=NUMBER)
        self.assertEqual(([params["message"]["to"] for _, params in host.asked], self.asked), ([NUMBER], []))

    def test_canceled_call_ends_while_its_function_is_asked(self):
        gate = threading.Event()
        self.addCleanup(gate.set)
        self.begin(lambda event, claims: gate.wait() and {}, BOTH)
        self.sidecar.call("account.create", {"tenantId": PROJECT, "username": "dora@example.com"})
        ids = []
        for number in range(2):
            ids.append(self.sidecar.send("signIn.start", {"tenantId": PROJECT, "username": "dora@example.com"}))
            while len(self.asked) == number:
                time.sleep(0.01)
        # The second call ends before the first one, whose function ends after seven seconds.
        for id in reversed(ids):
            self.sidecar.write(b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}\n' % id)
            answer = self.sidecar.receive(lambda m: m.get("id") in ids)
            self.assertEqual((answer["id"], answer["error"]["code"]), (id, -32800))
        self.assertEqual(self.sidecar.call("test.outbox")["messages"], [])

    def test_methods_of_the_tenant_ask_the_functions_too(self):
        self.begin(lambda event, claims: {}, BOTH)
        self.sidecar.call("account.create", {"tenantId": PROJECT, "username": "dora@example.com", "phoneNumber": NUMBER})
        self.sidecar.call("signIn.start", {"tenantId": PROJECT, "username": "dora@example.com"})
        self.sidecar.call("signIn.startWithPhoneNumber", {"tenantId": PROJECT, "phoneNumber": NUMBER})
        self.assertEqual([(event, sent.get("email_type") or sent["sms_type"]) for event, sent in self.asked],
                         [("beforeSendEmail", "EMAIL_SIGN_IN"), ("beforeSendSms", "SIGN_IN_OR_SIGN_UP")])


class Credentials(FunctionsProject):
    def sign_in(self, **more):
        body = urllib.parse.urlencode({"providerId": "google.com", "access_token": "at-1", "id_token": json.dumps(
            {"sub": "g1", "email": "carol@example.com", "email_verified": True, "given_name": "Carol"}), **more})
        return self.client("accounts:signInWithIdp", requestUri="http://localhost", returnSecureToken=True, postBody=body)

    def configure(self, **forwards):
        url = self.begin(lambda event, claims: {"userRecord": {"updateMask": "photoURL", "photoURL": "https://example.com/c.png"}})
        self.admin(f"v2/projects/{PROJECT}/config?updateMask=blockingFunctions.forwardInboundCredentials", {
            "blockingFunctions": {"forwardInboundCredentials": forwards}}, method="PATCH")
        return url

    def test_function_gets_profile_and_credentials_only_if_configured(self):
        self.configure()
        told = claims(self.sign_in()["idToken"])
        self.assertEqual(told["picture"], "https://example.com/c.png", "the SDKs for functions write photoURL")
        self.assertEqual([event for event, _ in self.asked], ["beforeCreate", "beforeSignIn"])
        for _, sent in self.asked:
            self.assertEqual(json.loads(sent["raw_user_info"])["given_name"], "Carol")
            self.assertFalse([name for name in sent if name.startswith("oauth_")])
        self.assertEqual([each["provider_id"] for each in self.asked[1][1]["user_record"]["provider_data"]], ["google.com"])

    def test_forwarded_credentials(self):
        self.configure(idToken=True, accessToken=True, refreshToken=True)
        self.sign_in()
        sent = self.asked[-1][1]
        self.assertEqual((json.loads(sent["oauth_id_token"])["sub"], sent["oauth_access_token"], "oauth_refresh_token" in sent), ("g1", "at-1", False))
        self.configure(idToken=False, accessToken=True)
        self.sign_in()
        self.assertEqual({name for name in self.asked[-1][1] if name.startswith("oauth_")}, {"oauth_access_token"})

    def test_hook_of_the_tenant_gets_no_credentials(self):
        self.configure(idToken=True, accessToken=True)
        host = Host(self.sidecar)
        self.sidecar.call("hooks.set", {"tenantId": PROJECT, "beforeCreate": PIPE, "beforeSignIn": PIPE})
        self.sign_in()
        self.assertEqual((len(host.asked), self.asked), (2, []))
        self.assertNotIn("at-1", json.dumps(host.asked))


if __name__ == "__main__":
    unittest.main()
