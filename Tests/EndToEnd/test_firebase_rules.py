"""Rules of the Firebase API about requests of single SDKs: enumerated values as numbers, imports, password policies, pending tokens."""

import json
import unittest
import urllib.parse

from firebase_admin import auth

from endtoend import EndToEnd
from federation import hashed
from firebase import PROJECT, FirebaseProject
from test_logins import Provider

CAROL = {"email": "carol@example.com", "password": "secret-1"}
NUMBER = "+15555550123"


class Numbers(FirebaseProject):
    """The SDK for Android sends the numbers of enumerated values."""

    def test_kinds_of_links(self):
        token = self.client("accounts:signUp", **CAROL)["idToken"]
        for number, name, more in ((1, "PASSWORD_RESET", {"email": CAROL["email"]}), (4, "VERIFY_EMAIL", {"idToken": token}),
                                   (6, "EMAIL_SIGNIN", {"email": CAROL["email"]}), ("7", "VERIFY_AND_CHANGE_EMAIL", {"idToken": token, "newEmail": "dora@example.com"})):
            self.client("accounts:sendOobCode", requestType=number, **more)
            self.assertEqual(self.request(f"/emulator/v1/projects/{PROJECT}/oobCodes")[1]["oobCodes"][-1]["requestType"], name)
        self.refused("MISSING_REQ_TYPE", "accounts:sendOobCode", requestType=0, email=CAROL["email"])
        for wrong in (2, 9, -1, "password_reset", True):
            status, answer = self.request("/identitytoolkit.googleapis.com/v1/accounts:sendOobCode?key=k", {"requestType": wrong, "email": CAROL["email"]})
            self.assertEqual((status, answer["error"]["status"]), (400, "INVALID_ARGUMENT"), wrong)

    def test_removed_attributes_and_operations(self):
        token = self.client("accounts:signUp", **CAROL)["idToken"]
        self.client("accounts:update", idToken=token, displayName="Carol", photoUrl="https://example.com/c.png")
        self.client("accounts:update", idToken=token, deleteAttribute=[2, "PHOTO_URL", 0])
        user = self.client("accounts:lookup", idToken=token)["users"][0]
        self.assertFalse({"displayName", "photoUrl"} & set(user))
        session = self.client("accounts:sendVerificationCode", phoneNumber=NUMBER)["sessionInfo"]
        code = self.request(f"/emulator/v1/projects/{PROJECT}/verificationCodes")[1]["verificationCodes"][0]["code"]
        self.refused("USER_NOT_FOUND", "accounts:signInWithPhoneNumber", sessionInfo=session, code=code, operation=2)
        session = self.client("accounts:sendVerificationCode", phoneNumber=NUMBER)["sessionInfo"]
        code = self.request(f"/emulator/v1/projects/{PROJECT}/verificationCodes")[1]["verificationCodes"][0]["code"]
        self.assertTrue(self.client("accounts:signInWithPhoneNumber", sessionInfo=session, code=code, operation=1)["isNewUser"])

    def test_unlinked_password_also_ends_sign_in_by_link(self):
        self.client("accounts:sendOobCode", requestType="EMAIL_SIGNIN", email=CAROL["email"])
        code = self.request(f"/emulator/v1/projects/{PROJECT}/oobCodes")[1]["oobCodes"][-1]["oobCode"]
        token = self.client("accounts:signInWithEmailLink", email=CAROL["email"], oobCode=code)["idToken"]
        self.assertEqual(self.client("accounts:update", idToken=token, deleteProvider=["password"])["providerUserInfo"], [])
        self.refused("EMAIL_EXISTS", "accounts:signUp", **CAROL)


class Imports(FirebaseProject):
    def upload(self, *users, **more):
        return self.admin(f"v1/projects/{PROJECT}/accounts:batchCreate", {"users": list(users), **more}).get("error", [])

    def test_plain_password_is_hashed(self):
        self.assertEqual(self.upload({"localId": "carol", "email": CAROL["email"], "rawPassword": "secret-1"}), [])
        self.assertEqual(self.client("accounts:signInWithPassword", **CAROL)["localId"], "carol")
        self.refused("INVALID_PASSWORD", "accounts:signInWithPassword", email=CAROL["email"], password="secret-2")
        self.assertNotIn("secret-1", json.dumps(self.admin(f"v1/projects/{PROJECT}/accounts:batchGet", method="GET")))

    def test_existing_user_is_replaced_unless_the_request_forbids_it(self):
        auth.create_user(uid="carol", display_name="Carol", app=self.app)
        self.assertEqual(self.upload({"localId": "carol", "displayName": "Eve"}, allowOverwrite=False), [
            {"index": 0, "message": "localId belongs to an existing account - can not overwrite."}])
        self.assertEqual(auth.get_user("carol", app=self.app).display_name, "Carol")
        self.assertEqual(auth.import_users([auth.ImportUserRecord(uid="carol", display_name="Dora")], app=self.app).success_count, 1)
        self.assertEqual(auth.get_user("carol", app=self.app).display_name, "Dora")

    def test_duplicates_and_foreign_tenants(self):
        google = {"providerUserInfo": [{"providerId": "google.com", "rawId": "g1"}]}
        for users, more, code in (
                ([{"localId": "a"}, {"localId": "a"}], {"allowOverwrite": False}, "DUPLICATE_LOCAL_ID"),
                ([{"localId": "a", "email": "a@example.com"}, {"localId": "b", "email": "A@example.com"}], {"sanityCheck": True}, "DUPLICATE_EMAIL"),
                ([{"localId": "a", **google}, {"localId": "b", **google}], {"sanityCheck": True}, "DUPLICATE_RAW_ID")):
            status, answer = self.request(f"/identitytoolkit.googleapis.com/v1/projects/{PROJECT}/accounts:batchCreate", {"users": users, **more},
                                          headers={"authorization": "Bearer owner"})
            self.assertEqual((status, answer["error"]["message"].split(" : ")[0]), (400, code))
        errors = self.upload({"localId": "a", "tenantId": "other"}, {"localId": "b", "customAttributes": '{"iss": 1}'}, {"localId": "c", "customAttributes": "x"})
        self.assertEqual([(each["index"], each["message"]) for each in errors], [
            (0, "Tenant id in userInfo does not match the tenant id in request."), (1, "Custom claims provided include a reserved claim."),
            (2, "Invalid custom claims provided.")])

    def test_ids_of_factors_are_unique(self):
        auth.create_user(uid="carol", email_verified=True, app=self.app, **CAROL)
        factors = [{"mfaEnrollmentId": "f", "phoneInfo": NUMBER}, {"mfaEnrollmentId": "f", "phoneInfo": "+15555550124"}]
        status, answer = self.request(f"/identitytoolkit.googleapis.com/v1/projects/{PROJECT}/accounts:update",
                                      {"localId": "carol", "mfa": {"enrollments": factors}}, headers={"authorization": "Bearer owner"})
        self.assertEqual((status, answer["error"]["message"]), (400, "DUPLICATE_MFA_ENROLLMENT_ID"))


class Emulator(FirebaseProject):
    """Requests that clients of the emulator may send although the original API does not document them."""

    def test_all_users_and_numbers_as_ids(self):
        for number in range(25):
            auth.create_user(uid=f"u{number:02}", app=self.app)
        found = self.admin(f"v1/projects/{PROJECT}/accounts:batchGet?maxResults=-1", method="GET")
        self.assertEqual((len(found["users"]), "nextPageToken" in found), (25, False))
        for wrong in (0, -2, 1001, 9223372036854775807):
            status, answer = self.request(f"/identitytoolkit.googleapis.com/v1/projects/{PROJECT}/accounts:batchGet?maxResults={wrong}", method="GET",
                                          headers={"authorization": "Bearer owner"})
            self.assertEqual((status, answer["error"]["message"]), (400, "INVALID_PAGE_SELECTION"), wrong)
        self.assertEqual(auth.verify_id_token(self.client("accounts:signInWithCustomToken", token='{"uid": 17}')["idToken"], app=self.app)["uid"], "17")
        self.refused("MISSING_IDENTIFIER", "accounts:signInWithCustomToken", token='{"uid": ""}')

    def test_text_true_verifies_an_address(self):
        post = urllib.parse.urlencode({"providerId": "google.com", "id_token": json.dumps({"sub": "g1", "email": CAROL["email"], "email_verified": "true"})})
        made = self.client("accounts:signInWithIdp", requestUri="http://localhost", postBody=post)
        self.assertTrue(auth.get_user(made["localId"], app=self.app).email_verified)

    def test_methods_of_an_address_that_several_users_have(self):
        post = urllib.parse.urlencode({"providerId": "google.com", "id_token": json.dumps({"sub": "g1", "email": CAROL["email"], "email_verified": True})})
        made = self.client("accounts:signInWithIdp", requestUri="http://localhost", postBody=post)
        auth.update_user(made["localId"], password="secret-1", app=self.app)
        identifier = {"identifier": CAROL["email"], "continueUri": "http://localhost"}
        self.assertEqual(self.client("accounts:createAuthUri", **identifier)["signinMethods"], ["password", "google.com"])
        self.request(f"/emulator/v1/projects/{PROJECT}/config", {"signIn": {"allowDuplicateEmails": True}}, method="PATCH")
        self.assertEqual(self.client("accounts:createAuthUri", **identifier)["signinMethods"], ["password"])


class Policies(FirebaseProject):
    def configure(self, state="ENFORCE", upgrade=False, **options):
        policy = {"passwordPolicyEnforcementState": state, "forceUpgradeOnSignin": upgrade, "passwordPolicyVersions": [{"customStrengthOptions": options}]}
        return self.request(f"/identitytoolkit.googleapis.com/v2/projects/{PROJECT}/config?updateMask=passwordPolicyConfig", {"passwordPolicyConfig": policy},
                            method="PATCH", headers={"authorization": "Bearer owner"})

    def test_chosen_passwords_meet_the_policy_and_everything_missing_is_named(self):
        self.assertEqual(self.configure(minPasswordLength=10, containsUppercaseCharacter=True, containsNumericCharacter=True, containsNonAlphanumericCharacter=True)[0], 200)
        status, answer = self.request("/identitytoolkit.googleapis.com/v1/accounts:signUp?key=k", {"email": "a@example.com", "password": "secrets"})
        self.assertEqual(answer["error"]["message"], (
            "PASSWORD_DOES_NOT_MEET_REQUIREMENTS : Missing password requirements: [Password must contain at least 10 characters, "
            "Password must contain an upper case character, Password must contain a numeric character, Password must contain a non-alphanumeric character]"))
        made = self.client("accounts:signUp", email="a@example.com", password="Secrets-12")
        self.refused("PASSWORD_DOES_NOT_MEET_REQUIREMENTS", "accounts:update", idToken=made["idToken"], password="secrets")
        self.client("accounts:sendOobCode", requestType="PASSWORD_RESET", email="a@example.com")
        code = self.request(f"/emulator/v1/projects/{PROJECT}/oobCodes")[1]["oobCodes"][-1]["oobCode"]
        self.refused("PASSWORD_DOES_NOT_MEET_REQUIREMENTS", "accounts:resetPassword", oobCode=code, newPassword="secrets")
        self.client("accounts:resetPassword", oobCode=code, newPassword="Secrets-34")
        auth.create_user(app=self.app, **CAROL)
        shown = self.request("/identitytoolkit.googleapis.com/v2/passwordPolicy?key=k")[1]
        self.assertEqual(shown["customStrengthOptions"], {
            "minPasswordLength": 10, "containsUppercaseCharacter": True, "containsNumericCharacter": True, "containsNonAlphanumericCharacter": True})
        self.assertEqual((shown["enforcementState"], shown["schemaVersion"], shown["forceUpgradeOnSignin"]), ("ENFORCE", 1, False))
        self.client("accounts:signInWithPassword", **CAROL)

    def test_weak_password_cannot_sign_in_if_it_must_be_upgraded(self):
        auth.create_user(uid="carol", app=self.app, **CAROL)
        self.configure(upgrade=True, minPasswordLength=12)
        self.refused("PASSWORD_DOES_NOT_MEET_REQUIREMENTS", "accounts:signInWithPassword", **CAROL)
        self.refused("INVALID_PASSWORD", "accounts:signInWithPassword", email=CAROL["email"], password="wrong")
        self.assertEqual(self.sidecar.call("session.list", {"accountId": "carol"})["sessions"], [])
        self.configure(state="OFF", upgrade=True, minPasswordLength=12)
        self.client("accounts:signInWithPassword", **CAROL)

    def test_invalid_policy_is_refused_and_changes_nothing(self):
        for wrong in ({"minPasswordLength": 5}, {"minPasswordLength": 31}, {"minPasswordLength": 8, "maxPasswordLength": 7}, {"containsNumericCharacter": "often"}):
            self.assertEqual(self.configure(**wrong)[0], 400, wrong)
        self.assertEqual(self.configure(state="SOMETIMES")[0], 400)
        self.assertNotIn("passwordPolicyConfig", self.admin(f"v2/projects/{PROJECT}/config", method="GET"))

    def test_password_is_replaced_by_a_user_who_knows_the_old_one(self):
        old = self.client("accounts:signUp", **CAROL)
        change = {"email": CAROL["email"], "oldPassword": "secret-1", "newPassword": "secret-2"}
        for wrong, code in (({**change, "oldPassword": "wrong"}, "INVALID_PASSWORD"), ({**change, "newPassword": "short"}, "WEAK_PASSWORD"),
                            ({**change, "email": "x@example.com"}, "EMAIL_NOT_FOUND"), ({**change, "newPassword": ""}, "MISSING_PASSWORD"),
                            ({"oldPassword": "secret-1", "newPassword": "secret-2"}, "MISSING_EMAIL")):
            self.refused(code, "accounts:resetPassword", **wrong)
        self.advance(1)
        self.assertEqual(self.client("accounts:resetPassword", **change)["email"], CAROL["email"])
        self.refused("TOKEN_EXPIRED", "accounts:lookup", idToken=old["idToken"])
        self.assertEqual(self.refresh(old["refreshToken"])[0], 400)
        self.client("accounts:signInWithPassword", email=CAROL["email"], password="secret-2")

    def test_hidden_addresses_are_changed_only_by_link(self):
        token = self.client("accounts:signUp", **CAROL)["idToken"]
        self.request(f"/emulator/v1/projects/{PROJECT}/config", {"emailPrivacyConfig": {"enableImprovedEmailPrivacy": True}}, method="PATCH")
        self.refused("OPERATION_NOT_ALLOWED", "accounts:update", idToken=token, email="dora@example.com")
        self.client("accounts:update", idToken=token, email=CAROL["email"])
        self.client("accounts:sendOobCode", requestType="VERIFY_AND_CHANGE_EMAIL", idToken=token, newEmail="dora@example.com")
        self.refused("MISSING_ANDROID_PACKAGE_NAME", "accounts:sendOobCode", requestType="EMAIL_SIGNIN", email=CAROL["email"], androidInstallApp=True)


class PendingTokens(EndToEnd):
    """compat.http: an ID token with a nonce is used once, so the pending token links the login after the user signed in another way."""

    stores = ("sqlite", "postgres")

    def client(self, name, **body):
        answer = self.sidecar.call("compat.http", {
            "method": "POST", "url": f"/identitytoolkit.googleapis.com/v1/{name}", "headers": {"Host": "auth.example.com"},
            "firebase": {"projectId": PROJECT}, "body": json.dumps(body)})
        return answer["status"], json.loads(answer["body"])

    def test_pending_token_links_after_the_confirmation(self):
        self.sidecar = self.spawn()
        self.sidecar.call("tenant.create", {"tenantId": PROJECT, "notices": "none"})
        provider = Provider("https://work.example.com")
        self.sidecar.call("idp.create", {"tenantId": PROJECT, "providerId": "oidc.work", "clientId": "shop", "issuer": provider.issuer, "keys": [provider.jwk]})
        self.sidecar.call("account.create", {"tenantId": PROJECT, "username": CAROL["email"], "password": "correct horse 9 Battery"})
        post = urllib.parse.urlencode({"providerId": "oidc.work", "nonce": "n1", "id_token": provider.token("c1", email=CAROL["email"], nonce=hashed("n1"))})
        status, answer = self.client("accounts:signInWithIdp", requestUri="http://localhost", postBody=post, returnIdpCredential=True)
        self.assertEqual((status, answer.get("needConfirmation")), (200, True), answer)
        token = self.client("accounts:signInWithPassword", email=CAROL["email"], password="correct horse 9 Battery")[1]["idToken"]
        again = self.client("accounts:signInWithIdp", requestUri="http://localhost", idToken=token, postBody=post)
        self.assertEqual(again[1]["error"]["message"].split(" : ")[0], "MISSING_OR_INVALID_NONCE")
        linked = self.client("accounts:signInWithIdp", requestUri="http://localhost", idToken=token, pendingToken=answer["pendingToken"])
        self.assertEqual((linked[0], linked[1].get("providerId")), (200, "oidc.work"), linked)
        wrong = self.client("accounts:signInWithIdp", requestUri="http://localhost", pendingToken=answer["pendingToken"][:-4] + "AAAA")
        self.assertEqual(wrong[1]["error"]["message"], "INVALID_PENDING_TOKEN")


if __name__ == "__main__":
    unittest.main()
