"""What the public test suites of the Firebase SDKs and of the emulator assert, request by request: the web SDK's integration tests, the Admin SDKs'
integration tests, and the emulator's own tests."""

import base64
import hashlib
import json
import unittest
import urllib.parse

from firebase_admin import auth

from firebase import PROJECT, FirebaseProject

CAROL = {"email": "carol@example.com", "password": "secret-1"}
CONFIG = f"v2/projects/{PROJECT}/config"


def claims_of(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


class Suite(FirebaseProject):
    def idp(self, provider, claims, **more):
        post = urllib.parse.urlencode({"providerId": provider, "id_token": json.dumps(claims)})
        return self.client("accounts:signInWithIdp", requestUri="http://localhost", postBody=post, returnSecureToken=True, returnIdpCredential=True, **more)

    def me(self, answer):
        return self.client("accounts:lookup", idToken=answer["idToken"])["users"][0]

    def providers(self, answer):
        return sorted(entry["providerId"] for entry in self.me(answer).get("providerUserInfo", []))

    def codes(self, kind="oobCodes"):
        return self.request(f"/emulator/v1/projects/{PROJECT}/{kind}")[1][kind]

    def email_link(self, email, **more):
        self.client("accounts:sendOobCode", requestType="EMAIL_SIGNIN", email=email, continueUrl="http://localhost/action_code_return", canHandleCodeInApp=True)
        return self.client("accounts:signInWithEmailLink", email=email, oobCode=self.codes()[-1]["oobCode"], **more)

    def methods(self, email):
        return self.client("accounts:createAuthUri", identifier=email, continueUri="http://localhost")["signinMethods"]

    def refused_admin(self, code, path, body, **more):
        status, answer = self.request(f"/identitytoolkit.googleapis.com/{path}", body, headers={"authorization": "Bearer owner"}, **more)
        self.assertEqual((status, answer["error"]["message"].split(" : ")[0]), (400, code), answer)


class IdentityProviders(Suite):
    """firebase-js-sdk, integration/flows/idp.local.test.ts, and firebase-tools, auth/idp.spec.ts."""

    def test_signed_in_user_is_new_and_has_one_provider(self):
        made = self.idp("google.com", {"email": CAROL["email"], "email_verified": True, "sub": "s1"})
        self.assertTrue(made["isNewUser"])
        user = self.me(made)
        self.assertEqual((user["emailVerified"], len(user["providerUserInfo"]), user["providerUserInfo"][0]["email"]), (True, 1, CAROL["email"]))

    def test_verified_address_of_any_provider_is_verified_in_a_test(self):
        made = self.idp("facebook.com", {"email": CAROL["email"], "email_verified": True, "sub": "f1"})
        self.assertTrue(self.me(made)["emailVerified"])
        changed = self.client("accounts:update", idToken=made["idToken"], email="dora@example.com", returnSecureToken=True)
        self.assertFalse(self.me(changed)["emailVerified"])
        self.assertEqual(self.me(self.idp("facebook.com", {"email": CAROL["email"], "email_verified": True, "sub": "f1"}))["email"], "dora@example.com")

    def test_providers_with_the_same_verified_address_are_linked(self):
        first = self.idp("google.com", {"sub": "x", "email": CAROL["email"], "email_verified": True})
        second = self.idp("github.com", {"sub": "x", "email": CAROL["email"], "email_verified": True})
        third = self.idp("google.com", {"sub": "x", "email": CAROL["email"], "email_verified": True})
        self.assertEqual({first["localId"], second["localId"], third["localId"]}, {first["localId"]})
        self.assertEqual(self.providers(third), ["github.com", "google.com"])

    def test_profile_is_kept_over_sign_ins(self):
        claims = {"sub": "g", "email": CAROL["email"], "email_verified": True}
        made = self.idp("github.com", claims)
        self.client("accounts:update", idToken=made["idToken"], displayName="David", photoUrl="photo-url", returnSecureToken=True)
        user = self.me(self.idp("github.com", claims))
        self.assertEqual((user["displayName"], user["photoUrl"]), ("David", "photo-url"))

    def test_profile_of_google_has_scopes_and_a_locale(self):
        with_address = json.loads(self.idp("google.com", {"sub": "1", "email": CAROL["email"], "email_verified": True})["rawUserInfo"])
        without = json.loads(self.idp("google.com", {"sub": "2"})["rawUserInfo"])
        base = ["openid", "https://www.googleapis.com/auth/userinfo.profile"]
        self.assertEqual(with_address["granted_scopes"].split(), base + ["https://www.googleapis.com/auth/userinfo.email"])
        self.assertEqual((without["granted_scopes"].split(), without["locale"], with_address["verified_email"]), (base, "en", True))

    def test_screen_name_becomes_that_of_the_user(self):
        made = self.idp("google.com", {"sub": "1", "screen_name": "turingcomplete", "name": "Alan Turing"})
        self.assertEqual((made["screenName"], self.me(made)["screenName"]), ("turingcomplete", "turingcomplete"))

    def test_methods_are_found_by_the_address_at_the_provider(self):
        self.idp("google.com", {"sub": "1", "email": CAROL["email"]})
        again = self.idp("google.com", {"sub": "1", "email": "dora@example.com"})
        self.assertEqual(self.methods("dora@example.com"), ["google.com"])
        self.assertEqual(self.me(again)["email"], CAROL["email"])
        self.email_link("erin@example.com", idToken=again["idToken"])
        self.assertEqual(sorted(self.methods("dora@example.com")), ["emailLink", "google.com"])
        self.assertEqual(self.methods("nobody@example.com"), [])

    def test_number_is_not_a_subject(self):
        for token in ("{}", '{"sub": 12345}'):
            self.refused("INVALID_IDP_RESPONSE", "accounts:signInWithIdp", requestUri="http://localhost", postBody=f"providerId=google.com&id_token={token}")

    def test_login_is_linked_without_a_credential_in_a_test(self):
        made = self.client("accounts:signUp", **CAROL)
        self.refused("MISSING_RAW_ID", "accounts:update", idToken=made["idToken"], linkProviderUserInfo={"providerId": "google.com"})
        linked = self.client("accounts:update", idToken=made["idToken"], linkProviderUserInfo={"providerId": "google.com", "rawId": "g1", "email": "l@example.com"})
        self.assertEqual(sorted(entry["providerId"] for entry in linked["providerUserInfo"]), ["google.com", "password"])

    def test_sign_in_begins_at_the_page_in_place_of_the_provider(self):
        start = self.client("accounts:createAuthUri", providerId="google.com", continueUri="http://localhost/back?a=1", sessionId="my-session")
        self.assertEqual((start["sessionId"], start["providerId"]), ("my-session", "google.com"))
        uri = urllib.parse.urlsplit(start["authUri"])
        query = dict(urllib.parse.parse_qsl(uri.query))
        self.assertEqual((uri.path, query["redirectUrl"], query["authType"]), ("/emulator/auth/handler", "http://localhost/back?a=1", "createAuthUri"))
        self.refused("INVALID_CONTINUE_URI", "accounts:createAuthUri", providerId="google.com", continueUri="http://localhost/#a")

    def test_only_tokens_of_apple_are_revoked(self):
        made = self.idp("apple.com", {"sub": "a1", "email": CAROL["email"]})
        revoke = {"idToken": made["idToken"], "providerId": "apple.com", "tokenType": "ACCESS_TOKEN", "token": "t"}
        self.client("accounts:revokeToken", "v2", **revoke)
        for wrong, code in (({"providerId": "google.com"}, "INVALID_PROVIDER_ID"), ({"tokenType": 0}, "MISSING_TOKEN_TYPE"), ({"token": ""}, "MISSING_TOKEN"),
                            ({"idToken": None}, "MISSING_ID_TOKEN"), ({"idToken": "x"}, "INVALID_ID_TOKEN")):
            self.refused(code, "accounts:revokeToken", "v2", **{**revoke, **wrong})
        other = self.client("accounts:signUp")
        self.refused("INVALID_PROVIDER_ID", "accounts:revokeToken", "v2", **{**revoke, "idToken": other["idToken"]})


class WebFlows(Suite):
    """firebase-js-sdk, integration/flows: anonymous, custom.local, email, oob.local, phone."""

    def test_custom_token_takes_over_the_anonymous_user_with_its_id(self):
        made = self.client("accounts:signUp", returnSecureToken=True)
        self.assertEqual(self.client("accounts:signInWithCustomToken", token=json.dumps({"uid": made["localId"]}))["localId"], made["localId"])

    def test_deleted_user_of_a_custom_token_is_new_the_next_time(self):
        token = json.dumps({"uid": "test.email.1@test.com", "claims": {"customClaim": "some-claim"}})
        made = self.client("accounts:signInWithCustomToken", token=token)
        self.assertEqual((made["isNewUser"], claims_of(made["idToken"])["customClaim"]), (True, "some-claim"))
        self.client("accounts:update", idToken=made["idToken"], displayName="Display Name", photoUrl="photo-url", returnSecureToken=True)
        self.client("accounts:delete", idToken=made["idToken"])
        self.refused("USER_NOT_FOUND", "accounts:lookup", idToken=made["idToken"])
        self.assertEqual(self.refresh(made["refreshToken"])[1]["error"]["message"], "INVALID_REFRESH_TOKEN")
        again = self.client("accounts:signInWithCustomToken", token=token)
        self.assertNotIn("displayName", self.me(again))
        self.request(f"/emulator/v1/projects/{PROJECT}/accounts", method="DELETE")
        self.assertNotIn("customAuth", self.me(self.client("accounts:signUp")))

    def test_users_of_custom_tokens_get_an_address_and_a_password(self):
        made = self.client("accounts:signInWithCustomToken", token=json.dumps({"uid": CAROL["email"]}))
        changed = self.client("accounts:update", idToken=made["idToken"], email=CAROL["email"], returnSecureToken=True)
        self.client("accounts:update", idToken=changed["idToken"], password=CAROL["password"], returnSecureToken=True)
        self.assertEqual(self.client("accounts:signInWithPassword", **CAROL)["localId"], made["localId"])

    def test_link_by_email_signs_in_links_and_is_used_once(self):
        made = self.email_link(CAROL["email"])
        self.assertTrue(self.me(made)["emailVerified"])
        self.assertEqual(self.methods(CAROL["email"]), ["emailLink"])
        self.client("accounts:update", idToken=made["idToken"], password="password", returnSecureToken=True)
        self.assertEqual(sorted(self.methods(CAROL["email"])), ["emailLink", "password"])
        anonymous = self.client("accounts:signUp")
        self.assertEqual(self.email_link("dora@example.com", idToken=anonymous["idToken"])["localId"], anonymous["localId"])
        self.client("accounts:sendOobCode", requestType="EMAIL_SIGNIN", email="erin@example.com")
        self.refused("INVALID_EMAIL", "accounts:signInWithEmailLink", email=CAROL["email"], oobCode=self.codes()[-1]["oobCode"])

    def test_codes_of_addresses_that_are_taken_or_not_proved(self):
        made = self.client("accounts:signUp", **CAROL)
        self.refused("INVALID_ID_TOKEN", "accounts:sendOobCode", requestType="VERIFY_EMAIL", email=CAROL["email"])
        self.client("accounts:sendOobCode", requestType="VERIFY_AND_CHANGE_EMAIL", idToken=made["idToken"], newEmail="dora@example.com")
        self.client("accounts:signUp", email="dora@example.com", password="secret-1")
        self.refused("EMAIL_EXISTS", "accounts:update", oobCode=self.codes()[-1]["oobCode"])
        self.assertEqual(self.codes(), [])

    def test_any_value_of_valid_since_ends_the_other_sessions(self):
        first = self.client("accounts:signUp", **CAROL)
        self.advance(2)
        second = self.client("accounts:update", idToken=first["idToken"], validSince="0")
        self.refused("TOKEN_EXPIRED", "accounts:lookup", idToken=first["idToken"])
        self.assertEqual(self.me(second)["email"], CAROL["email"])


class Factors(Suite):
    """firebase-js-sdk, integration/flows/mfa.local.test.ts, and the links that undo an enrollment."""

    def enroll(self, token, number, name):
        start = self.client("accounts/mfaEnrollment:start", "v2", idToken=token, phoneEnrollmentInfo={"phoneNumber": number, "recaptchaToken": "x"})
        session = start["phoneSessionInfo"]["sessionInfo"]
        code = next(each["code"] for each in self.codes("verificationCodes") if each["sessionInfo"] == session)
        return self.client("accounts/mfaEnrollment:finalize", "v2", idToken=token, displayName=name, phoneVerificationInfo={"sessionInfo": session, "code": code})

    def test_link_removes_a_factor_that_was_added_and_ends_the_sessions(self):
        made = self.email_link(CAROL["email"])
        enrolled = self.enroll(made["idToken"], "+16505550001", "Work phone")
        record = self.codes()[-1]
        self.assertEqual((record["requestType"], record["email"], set(record)), (
            "REVERT_SECOND_FACTOR_ADDITION", CAROL["email"], {"email", "requestType", "oobCode", "oobLink"}))
        self.assertIn("mode=revertSecondFactorAddition", record["oobLink"])
        checked = self.client("accounts:resetPassword", oobCode=record["oobCode"])
        self.assertEqual((checked["requestType"], checked["mfaInfo"]["phoneInfo"]), ("REVERT_SECOND_FACTOR_ADDITION", "+16505550001"))
        self.refused("INVALID_OOB_CODE", "accounts:resetPassword", oobCode=record["oobCode"], newPassword="password")
        self.advance(1)
        self.assertEqual(self.client("accounts:update", oobCode=record["oobCode"])["email"], CAROL["email"])
        self.refused("TOKEN_EXPIRED", "accounts:lookup", idToken=enrolled["idToken"])
        self.assertNotIn("mfaInfo", self.me(self.email_link(CAROL["email"])))
        self.refused("INVALID_OOB_CODE", "accounts:update", oobCode=record["oobCode"])

    def test_page_of_the_link_removes_the_factor(self):
        made = self.email_link(CAROL["email"])
        self.enroll(made["idToken"], "+16505550001", "Work phone")
        link = self.codes()[-1]["oobLink"]
        status, answer = self.request(link[len(self.base):])
        self.assertEqual((status, answer["authEmulator"]["success"]), (200, "The second factor was removed."))
        self.assertEqual(self.request(link[len(self.base):])[0], 400)
        self.assertIn("idToken", self.email_link(CAROL["email"]))

    def test_administrators_set_factors_with_their_times(self):
        auth.create_user(uid="carol", email_verified=True, app=self.app, **CAROL)
        path = f"v1/projects/{PROJECT}/accounts:update"
        first = {"mfaEnrollmentId": "mfaUid1", "phoneInfo": "+16505550001", "displayName": "Work", "enrolledAt": "2016-10-12T01:05:05.000Z"}
        self.admin(path, {"localId": "carol", "mfa": {"enrollments": [first]}})
        def shown():
            return self.admin(f"v1/projects/{PROJECT}/accounts:lookup", {"localId": ["carol"]})["users"][0]
        self.assertEqual(shown()["mfaInfo"][0]["enrolledAt"], "2016-10-12T01:05:05Z")
        self.admin(path, {"localId": "carol", "mfa": {"enrollments": [{name: first[name] for name in ("mfaEnrollmentId", "phoneInfo")}]}})
        self.assertEqual(shown()["mfaInfo"][0]["enrolledAt"], "2016-10-12T01:05:05Z")
        status, answer = self.request(f"/identitytoolkit.googleapis.com/{path}", {"localId": "carol", "mfa": {"enrollments": [{**first, "enrolledAt": "yesterday"}]}},
                                      headers={"authorization": "Bearer owner"})
        self.assertEqual((status, answer["error"]["status"]), (400, "INVALID_ARGUMENT"))
        for wrong, code in (([{"phoneInfo": "+16505550001"}], "INVALID_MFA_ENROLLMENT_ID"),
                            (None, "Invalid JSON payload received. /mfa/enrollments must be array")):
            self.refused_admin(code, path, {"localId": "carol", "mfa": {"enrollments": wrong}})
        self.assertEqual(len(shown()["mfaInfo"]), 1)
        self.admin(path, {"localId": "carol", "mfa": {}})
        self.assertNotIn("mfaInfo", shown())


class Addresses(Suite):
    """firebase-tools, auth/rest.spec.ts."""

    def test_administrator_names_another_project_which_exists_at_once(self):
        path = "/identitytoolkit.googleapis.com/v1/accounts:signUp"
        status, made = self.request(path, {"targetProjectId": "example2"}, headers={"authorization": "bEArEr OWNER"})
        self.assertEqual(status, 200, made)
        found = self.admin("v1/projects/example2/accounts:lookup", {"localId": [made["localId"]]})
        self.assertEqual(len(found["users"]), 1)
        self.assertNotIn("users", self.admin(f"v1/projects/{PROJECT}/accounts:lookup", {"localId": [made["localId"]]}))
        self.assertEqual(self.request(path, {"targetProjectId": "Not A Project"}, headers={"authorization": "Bearer owner"})[0], 400)
        self.assertEqual(self.request(path + "?key=k", {"targetProjectId": "example3"})[0], 400)
        self.assertNotIn("example3", [each["tenantId"] for each in self.sidecar.call("tenant.list", {})["tenants"]])


class Administration(Suite):
    """The integration tests of the Admin SDKs for Node, Python and Go."""

    def test_listed_users_without_an_address_have_their_password(self):
        made = [auth.create_user(password="password", app=self.app).uid for _ in range(3)]
        found = {user.uid: user for user in auth.list_users(app=self.app).iterate_all()}
        for uid in made:
            self.assertTrue(found[uid].password_hash and found[uid].password_salt)
            self.assertEqual(found[uid].provider_data, [])
        auth.update_user(made[0], email=CAROL["email"], app=self.app)
        self.assertEqual(self.client("accounts:signInWithPassword", email=CAROL["email"], password="password")["localId"], made[0])

    def test_imported_user_has_times_and_no_refresh(self):
        factor = {"mfaEnrollmentId": "f1", "phoneInfo": "+16505550001", "enrolledAt": "2016-10-12T01:05:05.000Z"}
        users = [{"localId": "carol", "email": CAROL["email"], "emailVerified": True, "createdAt": "1476234305000", "lastLoginAt": "1476234305000", "mfaInfo": [factor]}]
        self.assertNotIn("error", self.admin(f"v1/projects/{PROJECT}/accounts:batchCreate", {"users": users}))
        user = auth.get_user("carol", app=self.app)
        self.assertEqual((user.user_metadata.creation_timestamp, user.user_metadata.last_sign_in_timestamp, user.user_metadata.last_refresh_timestamp),
                         (1476234305000, 1476234305000, None))
        shown = self.admin(f"v1/projects/{PROJECT}/accounts:lookup", {"localId": ["carol"]})["users"][0]
        self.assertEqual(shown["mfaInfo"][0]["enrolledAt"], "2016-10-12T01:05:05Z")

    def test_administrators_set_times(self):
        made = self.client("accounts:signInWithCustomToken", token='{"uid": "carol"}')
        path = f"v1/projects/{PROJECT}/accounts:update"
        self.admin(path, {"localId": "carol", "createdAt": "1476234305000", "lastLoginAt": "1476234306000"})
        user = self.me(made)
        self.assertEqual((user["createdAt"], user["lastLoginAt"], user["customAuth"]), ("1476234305000", "1476234306000", True))
        self.refused_admin("INVALID_ARGUMENT", path, {"localId": "carol", "createdAt": "1800000000000"})
        self.refused_admin("INVALID_ARGUMENT", path, {"localId": "carol", "lastLoginAt": "-1"})
        self.client("accounts:update", idToken=made["idToken"], createdAt="1", lastLoginAt="1")
        self.assertEqual(self.me(made)["createdAt"], "1476234305000")

    def test_regions_of_messages(self):
        def configure(mask, **regions):
            return self.admin(f"{CONFIG}?updateMask={mask}", {"smsRegionConfig": regions}, method="PATCH")["smsRegionConfig"]
        denied = {"allowByDefault": {"disallowedRegions": ["AC", "DE"]}}
        self.assertEqual(configure("smsRegionConfig.allowByDefault.disallowedRegions", **denied), denied)
        self.refused("OPERATION_NOT_ALLOWED", "accounts:sendVerificationCode", phoneNumber="+4930123456")
        self.client("accounts:sendVerificationCode", phoneNumber="+16505550001")
        allowed = {"allowlistOnly": {"allowedRegions": ["CA", "KZ"]}}
        self.assertEqual(configure("smsRegionConfig.allowlistOnly.allowedRegions", **allowed), allowed)
        self.client("accounts:sendVerificationCode", phoneNumber="+14165550001")
        self.client("accounts:sendVerificationCode", phoneNumber="+77015550001")
        for number in ("+16505550001", "+79015550001", "+8835100012345"):
            self.refused("OPERATION_NOT_ALLOWED", "accounts:sendVerificationCode", phoneNumber=number)
        numbers = {"enabled": True, "testPhoneNumbers": {"+16505550009": "123456"}}
        self.admin(f"{CONFIG}?updateMask=signIn.phoneNumber", {"signIn": {"phoneNumber": numbers}}, method="PATCH")
        self.client("accounts:sendVerificationCode", phoneNumber="+16505550009")
        for wrong in ({**denied, **allowed}, {"allowlistOnly": {"allowedRegions": ["usa"]}}):
            self.refused_admin("INVALID_CONFIG", f"{CONFIG}?updateMask=smsRegionConfig", {"smsRegionConfig": wrong}, method="PATCH")

    def test_settings_are_stored_and_returned(self):
        quota = {"signUpQuotaConfig": {"quota": "100", "startTime": "2024-01-01T00:00:00Z", "quotaDuration": "7200s"}}
        self.admin(f"{CONFIG}?updateMask=quota,mobileLinksConfig.domain", {"quota": quota, "mobileLinksConfig": {"domain": "HOSTING_DOMAIN"}}, method="PATCH")
        shown = self.admin(CONFIG, method="GET")
        self.assertEqual((shown["quota"], shown["mobileLinksConfig"]), (quota, {"domain": "HOSTING_DOMAIN"}))

    def test_old_anonymous_users_are_deleted_if_configured(self):
        old = [self.client("accounts:signUp") for _ in range(3)]
        self.client("accounts:update", idToken=old[1]["idToken"], email=CAROL["email"], password=CAROL["password"])
        self.idp("google.com", {"sub": "g1"}, idToken=old[2]["idToken"])
        self.advance(31 * 86400)
        self.client("accounts:signUp")
        self.assertEqual(len(list(auth.list_users(app=self.app).iterate_all())), 4)
        self.admin(f"{CONFIG}?updateMask=autodeleteAnonymousUsers", {"autodeleteAnonymousUsers": True}, method="PATCH")
        young = self.client("accounts:signUp")
        left = {user.uid for user in auth.list_users(app=self.app).iterate_all()}
        self.assertEqual((len(left), old[0]["localId"] in left, {old[1]["localId"], old[2]["localId"], young["localId"]} <= left), (4, False, True))

    def test_import_with_hashes_of_md5(self):
        digest = hashlib.md5(b"NaClpassword", usedforsecurity=False).digest()
        user = auth.ImportUserRecord(uid="carol", email=CAROL["email"], password_hash=digest, password_salt=b"NaCl")
        self.assertEqual(auth.import_users([user], hash_alg=auth.UserImportHash.md5(0), app=self.app).failure_count, 0)
        self.assertEqual(self.client("accounts:signInWithPassword", email=CAROL["email"], password="password")["localId"], "carol")


if __name__ == "__main__":
    unittest.main()
