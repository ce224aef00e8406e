"""`signInWithIdp` of the Firebase API with the address of a user who has another user ID at the provider, and before a second factor."""

import json
import urllib.parse

from firebase_admin import auth

from firebase import PROJECT, FirebaseProject

CAROL = "carol@example.com"
PASSWORD = "secret-1"


class Recycling(FirebaseProject):
    def codes(self):
        return {each["sessionInfo"]: each["code"] for each in
                self.request(f"/emulator/v1/projects/{PROJECT}/verificationCodes")[1]["verificationCodes"]}

    def enrolled(self):
        """Creates the user bob with the address of Carol and a second factor."""
        auth.create_user(uid="bob", email=CAROL, password=PASSWORD, email_verified=True, app=self.app)
        token = self.client("accounts:signInWithPassword", email=CAROL, password=PASSWORD)["idToken"]
        started = self.client("accounts/mfaEnrollment:start", "v2", idToken=token, phoneEnrollmentInfo={"phoneNumber": "+15555550100"})
        session = started["phoneSessionInfo"]["sessionInfo"]
        self.client("accounts/mfaEnrollment:finalize", "v2", idToken=token, displayName="Mine",
                    phoneVerificationInfo={"sessionInfo": session, "code": self.codes()[session]})

    def proof(self, pending):
        """The request that ends the sign-in with the code of the second factor."""
        credential = {"mfaPendingCredential": pending["mfaPendingCredential"]}
        factor = pending["mfaInfo"][0]["mfaEnrollmentId"]
        session = self.client("accounts/mfaSignIn:start", "v2", mfaEnrollmentId=factor, phoneSignInInfo={}, **credential)
        session = session["phoneResponseInfo"]["sessionInfo"]
        return {"phoneVerificationInfo": {"sessionInfo": session, "code": self.codes()[session]}, **credential}

    def sign_in(self, subject, provider="google.com", **claims):
        claims = {"sub": subject, "email": CAROL, "email_verified": True, **claims}
        return self.client(
            "accounts:signInWithIdp", requestUri="http://localhost", returnSecureToken=True,
            postBody=urllib.parse.urlencode({"providerId": provider, "id_token": json.dumps(claims)}))

    def logins(self, uid):
        return {each.provider_id: each.uid for each in auth.get_user(uid, app=self.app).provider_data}

    def test_recycled_address_is_not_linked(self):
        made = self.sign_in("g1")
        asked = self.sign_in("g2")
        self.assertEqual((asked["needConfirmation"], asked["verifiedProvider"]), (True, ["google.com"]))
        self.assertFalse({"idToken", "emailRecycled"} & set(asked))
        self.assertEqual(self.logins(made["localId"])["google.com"], "g1")
        # Another provider is linked, as before.
        self.assertEqual(self.sign_in("a1", "apple.com")["localId"], made["localId"])

    def test_recycled_address_replaces_the_login_if_the_tenant_permits_it(self):
        self.sidecar.call("tenant.update", {"tenantId": PROJECT, "recyclesAddresses": True})
        self.assertTrue(self.sidecar.call("tenant.get", {"tenantId": PROJECT})["recyclesAddresses"])
        made = self.sign_in("g1")
        taken = self.sign_in("g2")
        self.assertEqual((taken["localId"], taken["emailRecycled"], "idToken" in taken), (made["localId"], True, True))
        self.assertEqual(self.logins(made["localId"]), {"google.com": "g2"})
        self.assertNotIn("emailRecycled", self.sign_in("g2"))
        # An address that the provider did not verify is never enough.
        self.assertTrue(self.sign_in("g3", email_verified=False)["needConfirmation"])
        self.sidecar.call("tenant.update", {"tenantId": PROJECT, "recyclesAddresses": False})
        self.assertNotIn("recyclesAddresses", self.sidecar.call("tenant.get", {"tenantId": PROJECT}))
        self.assertTrue(self.sign_in("g4")["needConfirmation"])

    def test_login_is_linked_after_the_second_factor(self):
        self.enrolled()
        pending = self.sign_in("g1")
        self.assertNotIn("idToken", pending)
        self.assertNotIn("google.com", self.logins("bob"), "linked before the second factor")
        self.client("accounts/mfaSignIn:finalize", "v2", **self.proof(pending))
        self.assertEqual(self.logins("bob")["google.com"], "g1")

    def test_login_linked_to_another_user_during_request_is_not_linked(self):
        self.enrolled()
        pending = self.sign_in("g1")
        auth.update_user("bob", email="robert@example.com", app=self.app)
        eve = auth.ImportUserRecord(uid="eve", email="eve@example.com", provider_data=[auth.UserProvider("g1", provider_id="google.com")])
        auth.import_users([eve], app=self.app)
        self.refused("INVALID_MFA_PENDING_CREDENTIAL", "accounts/mfaSignIn:finalize", "v2", **self.proof(pending))
        self.assertNotIn("google.com", self.logins("bob"))
