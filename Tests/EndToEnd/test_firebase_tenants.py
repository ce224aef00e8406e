"""Tenants and settings of a Firebase project, and input that the SDKs never send."""

import json
import random
import unittest

from firebase_admin import auth, tenant_mgt

from firebase import PROJECT, FirebaseProject


class Tenants(FirebaseProject):
    def test_tenant_has_its_own_users(self):
        made = self.admin(f"v2/projects/{PROJECT}/tenants", {"displayName": "Work-1", "allowPasswordSignup": True})
        tenant = made["name"].split("/")[-1]
        self.assertEqual((made["displayName"], made["enableEmailLinkSignin"]), ("Work-1", False))
        client = tenant_mgt.auth_for_tenant(tenant, app=self.app)
        user = client.create_user(email="alice@example.com", password="secret-1")
        self.assertEqual((user.tenant_id, client.get_user(user.uid).email), (tenant, "alice@example.com"))
        with self.assertRaises(auth.UserNotFoundError):
            auth.get_user(user.uid, app=self.app)
        self.refused("EMAIL_NOT_FOUND", "accounts:signInWithPassword", email="alice@example.com", password="secret-1")
        session = self.client("accounts:signInWithPassword", email="alice@example.com", password="secret-1", tenantId=tenant)
        self.assertEqual(client.verify_id_token(session["idToken"])["firebase"]["tenant"], tenant)
        self.assertEqual(self.client("accounts:lookup", idToken=session["idToken"])["users"][0]["tenantId"], tenant)
        self.assertEqual(self.refresh(session["refreshToken"])[0], 200)
        self.refused("TENANT_ID_MISMATCH", "accounts:lookup", idToken=session["idToken"], tenantId="other")
        self.refused("UNSUPPORTED_TENANT_OPERATION", "accounts:sendVerificationCode", phoneNumber="+15555550100", tenantId=tenant)
        self.refused("TENANT_NOT_FOUND", "accounts:signUp", tenantId="nowhere")

    def test_tenant_is_changed_listed_and_deleted(self):
        path = f"v2/projects/{PROJECT}/tenants"
        names = sorted(self.admin(path, {"displayName": f"Work-{number}"})["name"] for number in range(3))
        page = self.admin(path + "?pageSize=2")
        self.assertEqual([each["name"] for each in page["tenants"]], names[:2])
        rest = self.admin(path + f"?pageSize=2&pageToken={page['nextPageToken']}")
        self.assertEqual(([each["name"] for each in rest["tenants"]], "nextPageToken" in rest), (names[2:], False))
        changed = self.admin(
            f"v2/{names[0]}?updateMask=displayName", {"displayName": "New", "allowPasswordSignup": True}, method="PATCH")
        self.assertEqual((changed["displayName"], changed["allowPasswordSignup"]), ("New", False))
        self.assertEqual(self.admin(f"v2/{names[0]}"), changed)
        self.assertEqual(self.admin(f"v2/{names[0]}", method="DELETE"), {})
        status, answer = self.request(f"/identitytoolkit.googleapis.com/v2/{names[0]}", headers={"authorization": "Bearer owner"})
        self.assertEqual((status, answer["error"]["message"]), (400, "TENANT_NOT_FOUND"))

    def test_project_settings_are_kept(self):
        path = f"v2/projects/{PROJECT}/config"
        changed = self.admin(path + "?updateMask=signIn.allowDuplicateEmails", {"signIn": {"allowDuplicateEmails": True}}, method="PATCH")
        self.assertTrue(changed["signIn"]["allowDuplicateEmails"])
        self.assertFalse(self.sidecar.call("tenant.get", {"tenantId": PROJECT})["oneAccountPerAddress"])


class Fuzz(FirebaseProject):
    """Nothing but errors in the format of the API, and never a status of the 5xx range except 501, which SDKs would repeat."""

    CALLS = [
        "accounts:" + name for name in (
            "signUp lookup update delete signInWithPassword signInWithCustomToken signInWithEmailLink sendOobCode resetPassword createAuthUri "
            "signInWithIdp batchGet batchCreate batchDelete query sendVerificationCode signInWithPhoneNumber revokeToken signInWithGameCenter").split()
    ] + ["accounts/mfaEnrollment:start", "accounts/mfaEnrollment:finalize", "accounts/mfaSignIn:start", "accounts/mfaSignIn:finalize", ":createSessionCookie"]
    NAMES = (
        "email password localId idToken oobCode newPassword requestType users hashAlgorithm rounds signerKey phoneNumber sessionInfo code "
        "expression limit sortBy token postBody requestUri providerId customAttributes validSince mfa deleteProvider tenantId federatedUserId "
        "identifier continueUri validDuration mfaPendingCredential createdAt").split()

    def test_random_members_fail_with_documented_errors(self):
        chance = random.Random(7)
        values = [
            None, "", "x", 7, -1, 1e300, True, [], ["x"], {}, {"a": {"b": 1}}, [{"localId": "a", "passwordHash": "!", "email": 7}], "a" * 70000,
            "alice@example.com", "é\u0001", "{\"sub\":\"1\"}", "eyJhbGciOiJub25lIn0.e30.", "providerId=google.com&id_token=%7B%22sub%22%3A%221%22%7D",
            "9" * 30, "PASSWORD_RESET", "SCRYPT", [{"providerId": "p", "rawId": "r"}], {"enrollments": [{"phoneInfo": "+15555550100"}]}]
        for number in range(400):
            call = chance.choice(self.CALLS)
            body = {name: chance.choice(values) for name in chance.sample(self.NAMES, chance.randrange(6))}
            version = "v2" if "mfa" in call else "v1"
            is_admin = chance.random() < 0.5
            path = f"/identitytoolkit.googleapis.com/{version}/projects/{PROJECT}/{call}" if is_admin else f"/identitytoolkit.googleapis.com/{version}/{call}?key=k"
            path = path.replace("/:", ":")
            status, answer = self.request(path, body, headers={"authorization": "Bearer owner"} if is_admin else {})
            with self.subTest(path=path, body=json.dumps(body)[:300]):
                self.assertIn(status, (200, 400, 401, 403, 404, 409, 501))
                if status != 200:
                    self.assertEqual(answer["error"]["code"], status)
                    self.assertRegex(answer["error"]["message"], "^[A-Z][A-Za-z_]+")

    def test_paths_that_do_not_exist_fail(self):
        for path in ("/identitytoolkit.googleapis.com/v1/", "/identitytoolkit.googleapis.com/v9/%ff%00", "/emulator/v1/projects/", "/emulator/nothing",
                     f"/emulator/v1/projects/{PROJECT}/%2e%2e", "/securetoken.googleapis.com/v1/other?key=k", "/www.googleapis.com/robot?key=k"):
            status, answer = self.request(path, headers={"authorization": "Bearer owner"})
            self.assertEqual((status, answer["error"]["status"]), (404, "NOT_FOUND"), path)


if __name__ == "__main__":
    unittest.main()
