"""The features that a Firebase project or tenant can disable, and second factors by an authenticator app."""

import unittest

import pyotp
from firebase_admin import auth

from firebase import PROJECT, FirebaseProject

ALL = {"allowPasswordSignup": True, "enableEmailLinkSignin": True, "enableAnonymousUser": True}
CAROL = {"email": "carol@example.com", "password": "secret-1"}


class Tenants(FirebaseProject):
    def tenant(self, **members):
        return self.admin(f"v2/projects/{PROJECT}/tenants", {"displayName": "Work", **members})["name"].split("/")[-1]

    def change(self, tenant, **members):
        mask = ",".join(members)
        self.admin(f"v2/projects/{PROJECT}/tenants/{tenant}?updateMask={mask}", members, method="PATCH")

    def test_new_tenant_offers_nothing(self):
        tenant = self.tenant()
        self.refused("OPERATION_NOT_ALLOWED", "accounts:signUp", tenantId=tenant, **CAROL)
        self.refused("ADMIN_ONLY_OPERATION", "accounts:signUp", tenantId=tenant)
        self.refused("PASSWORD_LOGIN_DISABLED", "accounts:signInWithPassword", tenantId=tenant, **CAROL)
        self.refused("PASSWORD_LOGIN_DISABLED", "accounts:resetPassword", tenantId=tenant, oobCode="x")
        self.refused("OPERATION_NOT_ALLOWED", "accounts:sendOobCode", tenantId=tenant, requestType="EMAIL_SIGNIN", email=CAROL["email"])
        self.refused("OPERATION_NOT_ALLOWED", "accounts:signInWithEmailLink", tenantId=tenant, email=CAROL["email"], oobCode="x")

    def test_each_switch_allows_its_method(self):
        tenant = self.tenant()
        self.change(tenant, allowPasswordSignup=True)
        token = self.client("accounts:signUp", tenantId=tenant, **CAROL)["idToken"]
        self.refused("ADMIN_ONLY_OPERATION", "accounts:signUp", tenantId=tenant)
        self.change(tenant, enableAnonymousUser=True)
        self.client("accounts:signUp", tenantId=tenant)
        self.change(tenant, enableEmailLinkSignin=True)
        self.client("accounts:sendOobCode", tenantId=tenant, requestType="EMAIL_SIGNIN", email=CAROL["email"])
        self.refused("OPERATION_NOT_ALLOWED", "accounts/mfaEnrollment:start", "v2", idToken=token, phoneEnrollmentInfo={"phoneNumber": "+15555550100"})

    def test_disabled_tenant_refuses_everything_but_its_configuration(self):
        tenant = self.tenant(**ALL)
        made = self.client("accounts:signUp", tenantId=tenant, **CAROL)
        self.change(tenant, disableAuth=True)
        for call, body in (("signUp", {}), ("signInWithPassword", CAROL), ("createAuthUri", {"identifier": "a@b.c", "continueUri": "http://x"}),
                           ("sendOobCode", {"requestType": "PASSWORD_RESET", "email": CAROL["email"]}), ("signInWithCustomToken", {"token": "{}"})):
            self.refused("PROJECT_DISABLED", f"accounts:{call}", tenantId=tenant, **body)
        self.refused("PROJECT_DISABLED", "accounts:lookup", idToken=made["idToken"])
        self.assertEqual(self.refresh(made["refreshToken"])[1]["error"]["message"], "PROJECT_DISABLED")
        status, answer = self.request(f"/identitytoolkit.googleapis.com/v1/projects/{PROJECT}/tenants/{tenant}/accounts:lookup", {"localId": ["x"]},
                                      headers={"authorization": "Bearer owner"})
        self.assertEqual((status, answer["error"]["message"]), (400, "PROJECT_DISABLED"))
        self.change(tenant, disableAuth=False)
        self.client("accounts:signInWithPassword", tenantId=tenant, **CAROL)

    def test_second_factor_is_asked_for_only_while_it_is_on(self):
        tenant = self.tenant(**ALL, mfaConfig={"state": "ENABLED", "enabledProviders": ["PHONE_SMS"]})
        self.admin(f"v1/projects/{PROJECT}/tenants/{tenant}/accounts", {
            **CAROL, "emailVerified": True, "mfaInfo": [{"phoneInfo": "+15555550100", "displayName": "Mine"}]})
        self.assertIn("mfaPendingCredential", self.client("accounts:signInWithPassword", tenantId=tenant, **CAROL))
        self.change(tenant, mfaConfig={"state": "DISABLED"})
        self.assertIn("idToken", self.client("accounts:signInWithPassword", tenantId=tenant, **CAROL))


class Project(FirebaseProject):
    def change(self, mask, config):
        self.admin(f"v2/projects/{PROJECT}/config?updateMask={mask}", config, method="PATCH")

    def test_clients_cannot_create_or_delete_users_if_it_is_forbidden(self):
        made = self.client("accounts:signUp", **CAROL)
        self.change("client.permissions", {"client": {"permissions": {"disabledUserSignup": True, "disabledUserDeletion": True}}})
        self.refused("ADMIN_ONLY_OPERATION", "accounts:delete", idToken=made["idToken"])
        self.refused("ADMIN_ONLY_OPERATION", "accounts:signUp", email="d@example.com", password="secret-1")
        self.refused("ADMIN_ONLY_OPERATION", "accounts:signUp")
        self.refused("ADMIN_ONLY_OPERATION", "accounts:signInWithIdp", requestUri="http://x", postBody='providerId=google.com&id_token={"sub":"1"}')
        self.client("accounts:signUp", idToken=made["idToken"], email="other@example.com", password="secret-1")
        auth.create_user(uid="d", app=self.app)
        auth.delete_user("d", app=self.app)

    def test_methods_of_the_project_can_be_switched_off(self):
        self.change("signIn", {"signIn": {"email": {"enabled": False}, "anonymous": {"enabled": False}, "phoneNumber": {"enabled": False}}})
        self.refused("PASSWORD_LOGIN_DISABLED", "accounts:signInWithPassword", **CAROL)
        self.refused("OPERATION_NOT_ALLOWED", "accounts:signUp", **CAROL)
        self.refused("ADMIN_ONLY_OPERATION", "accounts:signUp")
        self.refused("OPERATION_NOT_ALLOWED", "accounts:sendVerificationCode", phoneNumber="+15555550100")
        self.change("signIn.email", {"signIn": {"email": {"enabled": True, "passwordRequired": True}}})
        self.client("accounts:signUp", **CAROL)
        self.refused("OPERATION_NOT_ALLOWED", "accounts:sendOobCode", requestType="EMAIL_SIGNIN", email=CAROL["email"])

    def test_test_number_has_a_fixed_code(self):
        self.change("signIn", {"signIn": {"phoneNumber": {"enabled": True, "testPhoneNumbers": {"+15555550123": "424242"}}}})
        session = self.client("accounts:sendVerificationCode", phoneNumber="+15555550123")["sessionInfo"]
        self.refused("INVALID_CODE", "accounts:signInWithPhoneNumber", sessionInfo=session, code="000000")
        self.client("accounts:signInWithPhoneNumber", sessionInfo=session, code="424242")
        for numbers in ({"+1": "123456"}, {"+15555550123": "12"}, {f"+155555501{n}": "123456" for n in range(10, 21)}, []):
            status, _ = self.request(
                f"/identitytoolkit.googleapis.com/v2/projects/{PROJECT}/config?updateMask=signIn",
                {"signIn": {"phoneNumber": {"testPhoneNumbers": numbers}}}, method="PATCH", headers={"authorization": "Bearer owner"})
            self.assertEqual(status, 400)


class App(FirebaseProject):
    """Second factors by an authenticator app."""

    def setUp(self):
        super().setUp()
        auth.create_user(uid="carol", email_verified=True, app=self.app, **CAROL)
        self.now = 1_700_000_000

    def later(self, seconds):
        self.advance(seconds)
        self.now += seconds

    def start(self):
        self.token = self.client("accounts:signInWithPassword", **CAROL)["idToken"]
        return self.client("accounts/mfaEnrollment:start", "v2", idToken=self.token, totpEnrollmentInfo={})["totpSessionInfo"]

    def enrolled(self):
        session = self.start()
        self.app_ = pyotp.TOTP(session["sharedSecretKey"])
        return self.client("accounts/mfaEnrollment:finalize", "v2", idToken=self.token, displayName="Phone", totpVerificationInfo={
            "sessionInfo": session["sessionInfo"], "verificationCode": self.app_.at(self.now)})

    def finish(self, pending, code, **more):
        return {"mfaPendingCredential": pending["mfaPendingCredential"], "mfaEnrollmentId": pending["mfaInfo"][0]["mfaEnrollmentId"],
                "totpVerificationInfo": {"verificationCode": code}, **more}

    def test_app_is_enrolled_asked_for_and_withdrawn(self):
        session = self.start()
        self.assertEqual((session["verificationCodeLength"], session["hashingAlgorithm"], session["periodSec"]), (6, "SHA1", 30))
        self.assertEqual(session["finalizeEnrollmentTime"], "2023-11-14T22:18:20Z")
        self.refused("INVALID_CODE", "accounts/mfaEnrollment:finalize", "v2", idToken=self.token, totpVerificationInfo={
            "sessionInfo": session["sessionInfo"], "verificationCode": "000000"})
        enrolled = self.enrolled()
        self.assertIn("totpAuthInfo", enrolled)
        claims = auth.verify_id_token(enrolled["idToken"], app=self.app)["firebase"]
        self.assertEqual(claims["sign_in_second_factor"], "totp")
        info = self.client("accounts:lookup", idToken=enrolled["idToken"])["users"][0]["mfaInfo"]
        self.assertEqual([(each["displayName"], each["totpInfo"], "phoneInfo" in each) for each in info], [("Phone", {}, False)])
        pending = self.client("accounts:signInWithPassword", **CAROL)
        self.assertNotIn("idToken", pending)
        self.refused("INVALID_CODE", "accounts/mfaSignIn:finalize", "v2", **self.finish(pending, self.app_.at(self.now)))
        self.later(30)
        done = self.client("accounts/mfaSignIn:finalize", "v2", **self.finish(pending, self.app_.at(self.now)))
        claims = auth.verify_id_token(done["idToken"], app=self.app)["firebase"]
        self.assertEqual(claims["second_factor_identifier"], info[0]["mfaEnrollmentId"])
        self.client("accounts/mfaEnrollment:withdraw", "v2", idToken=done["idToken"], mfaEnrollmentId=info[0]["mfaEnrollmentId"])
        self.assertIn("idToken", self.client("accounts:signInWithPassword", **CAROL))

    def test_app_still_works_after_a_number_was_added(self):
        enrolled = self.enrolled()
        started = self.client("accounts/mfaEnrollment:start", "v2", idToken=enrolled["idToken"], phoneEnrollmentInfo={"phoneNumber": "+15555550100"})
        session = started["phoneSessionInfo"]["sessionInfo"]
        codes = self.request(f"/emulator/v1/projects/{PROJECT}/verificationCodes")[1]["verificationCodes"]
        self.client("accounts/mfaEnrollment:finalize", "v2", idToken=enrolled["idToken"], phoneVerificationInfo={
            "sessionInfo": session, "code": codes[0]["code"]})
        self.later(30)
        pending = self.client("accounts:signInWithPassword", **CAROL)
        self.assertEqual(len(pending["mfaInfo"]), 2)
        self.client("accounts/mfaSignIn:finalize", "v2", **self.finish(pending, self.app_.at(self.now)))

    def test_input_is_checked(self):
        session = self.start()
        def refuse(code, **info):
            self.refused(code, "accounts/mfaEnrollment:finalize", "v2", idToken=self.token, totpVerificationInfo=info)
        refuse("MISSING_SESSION_INFO", verificationCode="1")
        refuse("MISSING_CODE", sessionInfo=session["sessionInfo"])
        refuse("INVALID_SESSION_INFO", sessionInfo="x", verificationCode="1")
        self.later(300)
        refuse("SESSION_EXPIRED", sessionInfo=session["sessionInfo"], verificationCode=pyotp.TOTP(session["sharedSecretKey"]).at(self.now))
        self.later(1)
        self.refused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN", "accounts/mfaEnrollment:start", "v2", idToken=self.token, totpEnrollmentInfo={})
        self.enrolled()
        pending = self.client("accounts:signInWithPassword", **CAROL)
        self.refused("MISSING_MFA_ENROLLMENT_ID", "accounts/mfaSignIn:finalize", "v2", **{**self.finish(pending, "1"), "mfaEnrollmentId": ""})
        self.refused("MFA_ENROLLMENT_NOT_FOUND", "accounts/mfaSignIn:finalize", "v2", **{**self.finish(pending, "1"), "mfaEnrollmentId": "x"})
        self.refused("INVALID_ARGUMENT", "accounts/mfaSignIn:start", "v2", mfaPendingCredential=pending["mfaPendingCredential"],
                     mfaEnrollmentId=pending["mfaInfo"][0]["mfaEnrollmentId"], phoneSignInInfo={})

    def test_wrong_codes_lock_the_factor(self):
        self.enrolled()
        pending = self.client("accounts:signInWithPassword", **CAROL)
        for number in range(30):
            body = self.finish(pending, "00000" + str(number % 10))
            answer = self.request("/identitytoolkit.googleapis.com/v2/accounts/mfaSignIn:finalize?key=any", body)[1]["error"]["message"]
            if answer.startswith("TOO_MANY_ATTEMPTS_TRY_LATER"):
                return
        self.fail("the factor was never locked")

    def test_app_can_be_switched_off(self):
        self.admin(f"v2/projects/{PROJECT}/config?updateMask=mfa", {"mfa": {"state": "ENABLED", "enabledProviders": ["PHONE_SMS"]}}, method="PATCH")
        token = self.client("accounts:signInWithPassword", **CAROL)["idToken"]
        self.refused("OPERATION_NOT_ALLOWED", "accounts/mfaEnrollment:start", "v2", idToken=token, totpEnrollmentInfo={})
        config = {"state": "ENABLED", "providerConfigs": [{"state": "ENABLED", "totpProviderConfig": {"adjacentIntervals": 0}}]}
        self.admin(f"v2/projects/{PROJECT}/config?updateMask=mfa", {"mfa": config}, method="PATCH")
        self.refused("OPERATION_NOT_ALLOWED", "accounts/mfaEnrollment:start", "v2", idToken=token, phoneEnrollmentInfo={"phoneNumber": "+15555550100"})
        self.assertEqual(self.sidecar.call("tenant.get", {"tenantId": PROJECT})["totpAdjacentIntervals"], 0)
        self.start()


if __name__ == "__main__":
    unittest.main()
