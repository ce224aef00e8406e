"""Limits of the Firebase API that its clients cannot go around: required second factors, guesses of codes, and the age of a sign-in."""

import unittest

import jwt
from firebase_admin import auth

from firebase import PROJECT, FirebaseProject

CAROL = {"email": "carol@example.com", "password": "secret-1"}
NUMBER = "+15555550123"
IDP = 'providerId=google.com&id_token={"sub":"1","email":"carol@example.com","email_verified":true}'


class RequiredFactor(FirebaseProject):
    def require(self):
        self.admin(f"v2/projects/{PROJECT}/config?updateMask=mfa", {"mfa": {"state": "MANDATORY", "enabledProviders": ["PHONE_SMS"]}}, method="PATCH")
        self.assertEqual(self.sidecar.call("tenant.get", {"tenantId": PROJECT})["mfa"], "required")

    def code(self, session):
        return next(each["code"] for each in self.request(f"/emulator/v1/projects/{PROJECT}/verificationCodes")[1]["verificationCodes"]
                    if each["sessionInfo"] == session)

    def users(self):
        return len(auth.list_users(app=self.app).users)

    def test_new_user_gets_no_tokens_and_is_not_created(self):
        self.require()
        link = auth.generate_sign_in_with_email_link(CAROL["email"], auth.ActionCodeSettings("http://localhost/", True), app=self.app)
        code = link.split("oobCode=")[1].split("&")[0]
        session = self.client("accounts:sendVerificationCode", phoneNumber=NUMBER)["sessionInfo"]
        self.refused("OPERATION_NOT_ALLOWED", "accounts:signUp", **CAROL)
        self.refused("OPERATION_NOT_ALLOWED", "accounts:signInWithEmailLink", email=CAROL["email"], oobCode=code)
        self.refused("OPERATION_NOT_ALLOWED", "accounts:signInWithIdp", requestUri="http://x", postBody=IDP)
        self.refused("OPERATION_NOT_ALLOWED", "accounts:signInWithPhoneNumber", sessionInfo=session, code=self.code(session))
        self.assertEqual(self.users(), 0)

    def test_user_without_a_factor_gets_no_tokens_and_nothing_is_linked(self):
        auth.create_user(uid="carol", email_verified=True, phone_number=NUMBER, app=self.app, **CAROL)
        self.require()
        self.refused("OPERATION_NOT_ALLOWED", "accounts:signInWithPassword", **CAROL)
        self.refused("OPERATION_NOT_ALLOWED", "accounts:signInWithIdp", requestUri="http://x", postBody=IDP)
        session = self.client("accounts:sendVerificationCode", phoneNumber=NUMBER)["sessionInfo"]
        self.refused("OPERATION_NOT_ALLOWED", "accounts:signInWithPhoneNumber", sessionInfo=session, code=self.code(session))
        self.assertEqual({each.provider_id for each in auth.get_user("carol", app=self.app).provider_data}, {"password", "phone"})

    def test_wrong_password_does_not_reveal_that_a_factor_is_missing(self):
        auth.create_user(uid="carol", app=self.app, **CAROL)
        self.require()
        self.refused("INVALID_PASSWORD", "accounts:signInWithPassword", email=CAROL["email"], password="wrong-1")

    def test_session_from_before_can_enroll_a_factor_but_not_continue_without_one(self):
        auth.create_user(uid="carol", email_verified=True, app=self.app, **CAROL)
        before = self.client("accounts:signInWithPassword", **CAROL)
        self.require()
        status, answer = self.refresh(before["refreshToken"])
        self.assertEqual((status, answer["error"]["message"]), (400, "TOKEN_EXPIRED"))
        self.refused("OPERATION_NOT_ALLOWED", "accounts:update", idToken=before["idToken"], password="secret-2")
        started = self.client("accounts/mfaEnrollment:start", "v2", idToken=before["idToken"], phoneEnrollmentInfo={"phoneNumber": NUMBER})
        session = started["phoneSessionInfo"]["sessionInfo"]
        done = self.client("accounts/mfaEnrollment:finalize", "v2", idToken=before["idToken"],
                           phoneVerificationInfo={"sessionInfo": session, "code": self.code(session)})
        self.assertEqual(self.refresh(done["refreshToken"])[0], 200)
        self.assertIn("mfaPendingCredential", self.client("accounts:signInWithPassword", **CAROL))
        factor = self.client("accounts:lookup", idToken=done["idToken"])["users"][0]["mfaInfo"][0]["mfaEnrollmentId"]
        self.refused("OPERATION_NOT_ALLOWED", "accounts/mfaEnrollment:withdraw", "v2", idToken=done["idToken"], mfaEnrollmentId=factor)

    def test_linking_keeps_the_factor_of_the_session(self):
        self.admin(f"v1/projects/{PROJECT}/accounts", {**CAROL, "emailVerified": True, "mfaInfo": [{"phoneInfo": NUMBER}]})
        self.require()
        pending = self.client("accounts:signInWithPassword", **CAROL)
        credential = {"mfaPendingCredential": pending["mfaPendingCredential"]}
        session = self.client("accounts/mfaSignIn:start", "v2", mfaEnrollmentId=pending["mfaInfo"][0]["mfaEnrollmentId"], phoneSignInInfo={},
                              **credential)["phoneResponseInfo"]["sessionInfo"]
        done = self.client("accounts/mfaSignIn:finalize", "v2", phoneVerificationInfo={"sessionInfo": session, "code": self.code(session)}, **credential)
        linked = self.client("accounts:signInWithIdp", requestUri="http://x", idToken=done["idToken"], postBody=IDP)
        self.assertEqual(auth.verify_id_token(linked["idToken"], app=self.app)["firebase"]["sign_in_second_factor"], "phone")

    def test_anonymous_users_and_custom_tokens_are_exempt(self):
        self.require()
        self.assertIn("idToken", self.client("accounts:signUp"))
        self.assertIn("idToken", self.client("accounts:signInWithCustomToken", token='{"uid": "bob"}'))


    def test_anonymous_user_with_a_password_is_no_longer_exempt(self):
        self.require()
        anonymous = self.client("accounts:signUp")["idToken"]
        for change in (CAROL, {"email": CAROL["email"]}, {"password": CAROL["password"]}):
            self.refused("OPERATION_NOT_ALLOWED", "accounts:update", idToken=anonymous, returnSecureToken=True, **change)
            self.refused("OPERATION_NOT_ALLOWED", "accounts:update", idToken=anonymous, **change)
        self.refused("OPERATION_NOT_ALLOWED", "accounts:signUp", idToken=anonymous, **CAROL)
        self.assertNotIn("email", self.client("accounts:lookup", idToken=anonymous)["users"][0])


class EndedSessions(FirebaseProject):
    """Tokens of a session that was ended, or of a tenant that was disabled, changed the account."""

    def setUp(self):
        super().setUp()
        auth.create_user(uid="carol", email_verified=True, app=self.app, **CAROL)
        self.token = self.client("accounts:signInWithPassword", **CAROL)["idToken"]

    def uses(self, code):
        self.refused(code, "accounts:lookup", idToken=self.token)
        self.refused(code, "accounts:update", idToken=self.token, password="secret-2")
        self.refused(code, "accounts/mfaEnrollment:start", "v2", idToken=self.token, phoneEnrollmentInfo={"phoneNumber": NUMBER})
        self.refused(code, "accounts:delete", idToken=self.token)

    def test_token_of_a_session_that_was_revoked_alone_is_refused(self):
        other = self.client("accounts:signInWithPassword", **CAROL)["idToken"]
        native = self.sidecar.call("signIn.withPassword", {"tenantId": PROJECT, "username": CAROL["email"], "password": CAROL["password"]})["idToken"]
        ended = jwt.decode(self.token, options={"verify_signature": False})["sid"]
        self.sidecar.call("session.revoke", {"idToken": native, "sessionId": ended})
        self.uses("TOKEN_EXPIRED")
        self.client("accounts:lookup", idToken=other)

    def test_token_of_a_disabled_tenant_is_refused(self):
        self.sidecar.call("tenant.update", {"tenantId": PROJECT, "disabled": True})
        self.uses("OPERATION_NOT_ALLOWED")
        self.sidecar.call("tenant.update", {"tenantId": PROJECT, "disabled": False})
        self.client("accounts:lookup", idToken=self.token)


class Guesses(FirebaseProject):
    def wrong(self, session):
        return self.request("/identitytoolkit.googleapis.com/v1/accounts:signInWithPhoneNumber?key=any", {
            "sessionInfo": session, "code": "000000"})[1]["error"]["message"].split(" : ")[0]

    def start(self):
        return self.client("accounts:sendVerificationCode", phoneNumber=NUMBER)["sessionInfo"]

    def test_code_expires_after_wrong_guesses(self):
        session = self.start()
        answers = [self.wrong(session) for _ in range(6)]
        self.assertEqual(answers[0], "INVALID_CODE")
        self.assertEqual(answers[-1], "SESSION_EXPIRED")

    def test_fixed_code_of_a_test_number_cannot_be_guessed_with_ever_new_sessions(self):
        self.admin(f"v2/projects/{PROJECT}/config?updateMask=signIn.phoneNumber",
                   {"signIn": {"phoneNumber": {"enabled": True, "testPhoneNumbers": {NUMBER: "424242"}}}}, method="PATCH")
        answers = [self.wrong(self.start()) for _ in range(40)]
        self.assertLess(answers.count("INVALID_CODE"), 15)
        self.assertEqual(answers[-1], "TOO_MANY_ATTEMPTS_TRY_LATER")
        self.refused("TOO_MANY_ATTEMPTS_TRY_LATER", "accounts:signInWithPhoneNumber", sessionInfo=self.start(), code="424242")
        self.advance(86_400)
        self.client("accounts:signInWithPhoneNumber", sessionInfo=self.start(), code="424242")


class Age(FirebaseProject):
    """As at the original service, tokens that replace revoked ones have the time of the change in `auth_time`. It does not count as a new sign-in."""

    def test_changes_do_not_renew_the_sign_in(self):
        token = self.client("accounts:signUp", **CAROL)["idToken"]
        self.advance(200)
        answer = self.client("accounts:update", idToken=token, password="secret-2")
        claims = auth.verify_id_token(answer["idToken"], check_revoked=True, app=self.app)
        self.assertEqual(claims["auth_time"], 1_700_000_200)
        self.advance(101)
        self.refused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN", "accounts:update", idToken=answer["idToken"], password="secret-3")
        self.refused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN", "accounts:delete", idToken=answer["idToken"])
        status, renewed = self.refresh(answer["refreshToken"])
        self.assertEqual(status, 200)
        self.refused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN", "accounts:delete", idToken=renewed["id_token"])
        self.client("accounts:delete", idToken=self.client("accounts:signInWithPassword", email=CAROL["email"], password="secret-2")["idToken"])

    def test_linking_does_not_renew_the_sign_in(self):
        token = self.client("accounts:signUp", **CAROL)["idToken"]
        self.advance(200)
        linked = self.client("accounts:signInWithIdp", requestUri="http://x", idToken=token, postBody='providerId=github.com&id_token={"sub":"7"}')
        session = self.client("accounts:sendVerificationCode", phoneNumber=NUMBER)["sessionInfo"]
        code = self.request(f"/emulator/v1/projects/{PROJECT}/verificationCodes")[1]["verificationCodes"][0]["code"]
        phone = self.client("accounts:signInWithPhoneNumber", idToken=linked["idToken"], sessionInfo=session, code=code)
        self.advance(101)
        for answer in (linked, phone):
            self.refused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN", "accounts:delete", idToken=answer["idToken"])

    def test_link_to_a_new_address_needs_a_recent_sign_in(self):
        token = self.client("accounts:signUp", **CAROL)["idToken"]
        self.advance(301)
        self.refused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN", "accounts:sendOobCode", requestType="VERIFY_AND_CHANGE_EMAIL", idToken=token, newEmail="dora@example.com")

    def test_change_of_the_address_can_be_undone(self):
        token = self.client("accounts:signUp", **CAROL)["idToken"]
        changed = self.client("accounts:update", idToken=token, email="thief@example.com")
        codes = self.request(f"/emulator/v1/projects/{PROJECT}/oobCodes")[1]["oobCodes"]
        self.assertEqual([(each["requestType"], each["email"]) for each in codes], [("RECOVER_EMAIL", CAROL["email"])])
        self.client("accounts:update", oobCode=codes[0]["oobCode"])
        user = auth.get_user(changed["localId"], app=self.app)
        self.assertEqual((user.email, user.email_verified), (CAROL["email"], True))


if __name__ == "__main__":
    unittest.main()
