"""Sign-in with phone numbers and second factors by SMS, as the web SDK of Firebase requests them."""

import unittest

from firebase_admin import auth

from firebase import PROJECT, FirebaseProject

NUMBER = "+15555550100"


class Phone(FirebaseProject):
    def codes(self):
        return {each["sessionInfo"]: each["code"] for each in
                self.request(f"/emulator/v1/projects/{PROJECT}/verificationCodes")[1]["verificationCodes"]}

    def message(self, number=NUMBER):
        session = self.client("accounts:sendVerificationCode", phoneNumber=number, recaptchaToken="ignored")["sessionInfo"]
        return {"sessionInfo": session, "code": self.codes()[session]}

    def test_number_signs_in_the_same_user_again(self):
        first = self.client("accounts:signInWithPhoneNumber", **self.message())
        again = self.client("accounts:signInWithPhoneNumber", **self.message())
        self.assertEqual((first["isNewUser"], again["isNewUser"], again["localId"]), (True, False, first["localId"]))
        claims = auth.verify_id_token(again["idToken"], app=self.app)
        self.assertEqual((claims["phone_number"], claims["firebase"]["sign_in_provider"]), (NUMBER, "phone"))
        self.assertEqual(auth.get_user_by_phone_number(NUMBER, app=self.app).uid, first["localId"])
        self.assertEqual(self.codes(), {})

    def test_wrong_code_keeps_the_session_and_an_old_one_ends_it(self):
        right = self.message()
        wrong = "000000" if right["code"] != "000000" else "000001"
        self.refused("INVALID_CODE", "accounts:signInWithPhoneNumber", sessionInfo=right["sessionInfo"], code=wrong)
        self.refused("INVALID_SESSION_INFO", "accounts:signInWithPhoneNumber", sessionInfo="x", code=right["code"])
        self.refused("MISSING_CODE", "accounts:signInWithPhoneNumber", sessionInfo=right["sessionInfo"])
        self.refused("MISSING_SESSION_INFO", "accounts:signInWithPhoneNumber", code=right["code"])
        self.client("accounts:signInWithPhoneNumber", **right)
        self.refused("INVALID_SESSION_INFO", "accounts:signInWithPhoneNumber", **right)
        old = self.message()
        self.advance(300)
        self.refused("SESSION_EXPIRED", "accounts:signInWithPhoneNumber", **old)
        for number in (None, "", "5555550100", "+1"):
            self.refused("INVALID_PHONE_NUMBER", "accounts:sendVerificationCode", phoneNumber=number)

    def test_number_is_linked_unless_another_user_has_it(self):
        owner = self.client("accounts:signInWithPhoneNumber", **self.message())
        other = self.client("accounts:signUp", email="bob@example.com", password="secret-1")
        answer = self.client("accounts:signInWithPhoneNumber", idToken=other["idToken"], **self.message())
        self.assertEqual((answer["phoneNumber"], "idToken" in answer), (NUMBER, False))
        proof = {"temporaryProof": answer["temporaryProof"], "phoneNumber": NUMBER}
        self.refused("PHONE_NUMBER_EXISTS", "accounts:signInWithPhoneNumber", idToken=other["idToken"], **proof)
        self.assertEqual(self.client("accounts:signInWithPhoneNumber", **proof)["localId"], owner["localId"])
        linked = self.client("accounts:signInWithPhoneNumber", idToken=other["idToken"], **self.message("+15555550101"))
        self.assertEqual(linked["localId"], other["localId"])
        kept = self.client("accounts:update", idToken=linked["idToken"], deleteProvider=["phone"])
        self.assertEqual([each["providerId"] for each in kept["providerUserInfo"]], ["password"])

    def enrolled(self):
        auth.create_user(uid="bob", email="bob@example.com", password="secret-1", email_verified=True, app=self.app)
        token = self.client("accounts:signInWithPassword", email="bob@example.com", password="secret-1")["idToken"]
        started = self.client("accounts/mfaEnrollment:start", "v2", idToken=token, phoneEnrollmentInfo={"phoneNumber": NUMBER})
        session = started["phoneSessionInfo"]["sessionInfo"]
        return self.client(
            "accounts/mfaEnrollment:finalize", "v2", idToken=token, displayName="Mine",
            phoneVerificationInfo={"sessionInfo": session, "code": self.codes()[session]})

    def test_second_factor_is_enrolled_asked_for_and_withdrawn(self):
        enrolled = self.enrolled()
        claims = auth.verify_id_token(enrolled["idToken"], app=self.app)
        self.assertEqual(claims["firebase"]["sign_in_second_factor"], "phone")
        pending = self.client("accounts:signInWithPassword", email="bob@example.com", password="secret-1")
        self.assertEqual((pending["mfaInfo"][0]["phoneInfo"], "idToken" in pending), ("+*******0100", False))
        factor = pending["mfaInfo"][0]["mfaEnrollmentId"]
        credential = {"mfaPendingCredential": pending["mfaPendingCredential"]}
        session = self.client("accounts/mfaSignIn:start", "v2", mfaEnrollmentId=factor, phoneSignInInfo={}, **credential)
        session = session["phoneResponseInfo"]["sessionInfo"]
        self.refused("INVALID_CODE", "accounts/mfaSignIn:finalize", "v2", phoneVerificationInfo={"sessionInfo": session, "code": "x"}, **credential)
        done = self.client(
            "accounts/mfaSignIn:finalize", "v2", phoneVerificationInfo={"sessionInfo": session, "code": self.codes()[session]}, **credential)
        claims = auth.verify_id_token(done["idToken"], app=self.app)
        self.assertEqual(claims["firebase"]["second_factor_identifier"], factor)
        self.refused("UNSUPPORTED_FIRST_FACTOR", "accounts:signInWithPhoneNumber", idToken=done["idToken"], **self.message("+15555550109"))
        self.refused("MFA_ENROLLMENT_NOT_FOUND", "accounts/mfaEnrollment:withdraw", "v2", idToken=done["idToken"], mfaEnrollmentId="x")
        self.client("accounts/mfaEnrollment:withdraw", "v2", idToken=done["idToken"], mfaEnrollmentId=factor)
        self.assertIn("idToken", self.client("accounts:signInWithPassword", email="bob@example.com", password="secret-1"))

    def test_enrollment_needs_a_verified_address(self):
        made = self.client("accounts:signUp", email="bob@example.com", password="secret-1")
        self.refused(
            "UNVERIFIED_EMAIL", "accounts/mfaEnrollment:start", "v2", idToken=made["idToken"], phoneEnrollmentInfo={"phoneNumber": NUMBER})


if __name__ == "__main__":
    unittest.main()
