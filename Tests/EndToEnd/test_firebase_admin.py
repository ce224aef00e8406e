"""The Admin SDK of Firebase, unchanged, on test.http with a Firebase project."""

import base64
import datetime
import hashlib
import hmac
import json
import unittest

from firebase_admin import auth

from firebase import PROJECT, FirebaseProject

MEMBERS = {
    "uid": "alice-1", "email": "alice@example.com", "email_verified": True, "password": "secret-1", "display_name": "Alice",
    "photo_url": "https://example.com/alice.png", "phone_number": "+15555550100",
}


class Users(FirebaseProject):
    def create(self, **members):
        return auth.create_user(app=self.app, **members)

    def test_created_user_is_found_by_every_identifier(self):
        created = self.create(**MEMBERS)
        self.assertEqual(created.uid, "alice-1")
        for user in (
                auth.get_user("alice-1", app=self.app), auth.get_user_by_email("Alice@example.com", app=self.app),
                auth.get_user_by_phone_number("+15555550100", app=self.app)):
            self.assertEqual(user.email, "alice@example.com")
            self.assertEqual(user.display_name, "Alice")
            self.assertEqual(user.photo_url, "https://example.com/alice.png")
            self.assertEqual(user.phone_number, "+15555550100")
            self.assertTrue(user.email_verified)
            self.assertFalse(user.disabled)
            self.assertEqual({p.provider_id for p in user.provider_data}, {"password", "phone"})
            self.assertEqual(user.user_metadata.creation_timestamp, 1700000000000)
            self.assertIsNone(user.user_metadata.last_sign_in_timestamp)
            self.assertIsNone(user.custom_claims)
        found = auth.get_users([
            auth.UidIdentifier("alice-1"), auth.EmailIdentifier("alice@example.com"), auth.PhoneIdentifier("+15555550100"),
            auth.UidIdentifier("nobody"), auth.ProviderIdentifier("google.com", "7")], app=self.app)
        self.assertEqual([u.uid for u in found.users], ["alice-1"])
        self.assertEqual(len(found.not_found), 2)

    def test_user_without_members_gets_an_id_of_28_characters(self):
        user = self.create()
        self.assertRegex(user.uid, "^[A-Za-z0-9]{28}$")
        self.assertIsNone(user.email)
        self.assertEqual(user.provider_data, [])

    def test_user_with_any_id_of_up_to_128_characters_can_be_created(self):
        for uid in ("-x", "ü/é", "a b", "z" * 128):
            with self.subTest(uid):
                self.assertEqual(self.create(uid=uid).uid, uid)
                self.assertEqual(auth.get_user(uid, app=self.app).uid, uid)

    def test_duplicates_fail_with_errors_of_the_sdk(self):
        self.create(**MEMBERS)
        with self.assertRaises(auth.UidAlreadyExistsError):
            self.create(uid="alice-1")
        with self.assertRaises(auth.EmailAlreadyExistsError):
            self.create(email="ALICE@example.com")
        with self.assertRaises(auth.PhoneNumberAlreadyExistsError):
            self.create(phone_number="+15555550100")
        self.assertEqual(len(list(auth.list_users(app=self.app).iterate_all())), 1)

    def test_unknown_user_fails(self):
        for find in (lambda: auth.get_user("x", app=self.app), lambda: auth.get_user_by_email("x@example.com", app=self.app),
                     lambda: auth.update_user("x", display_name="X", app=self.app), lambda: auth.delete_user("x", app=self.app)):
            with self.assertRaises(auth.UserNotFoundError):
                find()

    def test_update_changes_and_removes_members(self):
        self.create(**MEMBERS)
        user = auth.update_user(
            "alice-1", email="a2@example.com", password="secret-2", display_name="A", photo_url="https://example.com/2.png",
            phone_number="+15555550101", disabled=False, custom_claims={"role": "editor"}, app=self.app)
        self.assertEqual((user.email, user.display_name, user.phone_number), ("a2@example.com", "A", "+15555550101"))
        self.assertFalse(user.email_verified)
        self.assertEqual(user.custom_claims, {"role": "editor"})
        user = auth.update_user(
            "alice-1", display_name=auth.DELETE_ATTRIBUTE, photo_url=auth.DELETE_ATTRIBUTE, phone_number=auth.DELETE_ATTRIBUTE,
            custom_claims=auth.DELETE_ATTRIBUTE, app=self.app)
        self.assertEqual((user.display_name, user.photo_url, user.phone_number, user.custom_claims), (None, None, None, None))
        self.client("accounts:signInWithPassword", email="a2@example.com", password="secret-2")

    def test_linked_provider_finds_the_user_until_it_is_unlinked(self):
        self.create(**MEMBERS)
        self.admin(f"v1/projects/{PROJECT}/accounts:update", {
            "localId": "alice-1", "linkProviderUserInfo": {"providerId": "google.com", "rawId": "g1", "email": "a@gmail.com"}})
        found = auth.get_users([auth.ProviderIdentifier("google.com", "g1")], app=self.app)
        self.assertEqual([u.uid for u in found.users], ["alice-1"])
        user = auth.update_user("alice-1", providers_to_delete=["google.com"], app=self.app)
        self.assertNotIn("google.com", [p.provider_id for p in user.provider_data])

    def test_users_are_listed_in_pages_with_their_hashes(self):
        for number in range(7):
            self.create(uid=f"u{number}", email=f"u{number}@example.com", password="secret-1")
        page = auth.list_users(max_results=3, app=self.app)
        self.assertEqual([u.uid for u in page.users], ["u0", "u1", "u2"])
        self.assertTrue(page.users[0].password_hash and page.users[0].password_salt)
        self.assertEqual([u.uid for u in page.iterate_all()], [f"u{n}" for n in range(7)])

    def test_users_are_deleted_one_by_one_and_together(self):
        for number in range(3):
            self.create(uid=f"u{number}")
        auth.delete_user("u0", app=self.app)
        result = auth.delete_users(["u1", "u2", "unknown"], app=self.app)
        self.assertEqual((result.success_count, result.failure_count), (3, 0))
        self.assertEqual(auth.list_users(app=self.app).users, [])

    def test_claims_are_in_the_next_token_and_reserved_names_are_refused(self):
        self.create(**MEMBERS)
        auth.set_custom_user_claims("alice-1", {"admin": True}, app=self.app)
        session = self.client("accounts:signInWithPassword", email="alice@example.com", password="secret-1")
        token = auth.verify_id_token(session["idToken"], app=self.app)
        self.assertEqual((token["uid"], token["admin"], token["email"]), ("alice-1", True, "alice@example.com"))
        self.assertEqual(token["firebase"]["sign_in_provider"], "password")
        auth.set_custom_user_claims("alice-1", None, app=self.app)
        self.assertIsNone(auth.get_user("alice-1", app=self.app).custom_claims)
        status, answer = self.request(
            f"/identitytoolkit.googleapis.com/v1/projects/{PROJECT}/accounts:update",
            {"localId": "alice-1", "customAttributes": '{"firebase": 1}'}, headers={"authorization": "Bearer owner"})
        self.assertEqual((status, answer["error"]["message"]), (400, "FORBIDDEN_CLAIM : firebase"))


class Tokens(FirebaseProject):
    def test_custom_token_signs_in_with_its_claims(self):
        token = auth.create_custom_token("bob", {"plan": "gold"}, app=self.app).decode()
        session = self.client("accounts:signInWithCustomToken", token=token, returnSecureToken=True)
        self.assertTrue(session["isNewUser"])
        claims = auth.verify_id_token(session["idToken"], check_revoked=True, app=self.app)
        self.assertEqual((claims["uid"], claims["plan"], claims["firebase"]["sign_in_provider"]), ("bob", "gold", "custom"))
        status, renewed = self.refresh(session["refreshToken"])
        self.assertEqual((status, renewed["user_id"]), (200, "bob"))
        self.assertEqual(auth.verify_id_token(renewed["id_token"], app=self.app)["plan"], "gold")
        self.assertFalse(self.client("accounts:signInWithCustomToken", token=token)["isNewUser"])

    def test_revoked_tokens_are_refused(self):
        auth.create_user(uid="bob", email="bob@example.com", password="secret-1", app=self.app)
        session = self.client("accounts:signInWithPassword", email="bob@example.com", password="secret-1")
        self.admin(f"v1/projects/{PROJECT}/accounts:update", {"localId": "bob", "validSince": 1700000060})
        auth.verify_id_token(session["idToken"], app=self.app)
        with self.assertRaises(auth.RevokedIdTokenError):
            auth.verify_id_token(session["idToken"], check_revoked=True, app=self.app)
        self.assertEqual(self.refresh(session["refreshToken"])[1]["error"]["message"], "TOKEN_EXPIRED")
        self.refused("TOKEN_EXPIRED", "accounts:lookup", idToken=session["idToken"])
        auth.update_user("bob", disabled=True, app=self.app)
        with self.assertRaises(auth.UserDisabledError):
            auth.verify_id_token(session["idToken"], check_revoked=True, app=self.app)
        self.refused("USER_DISABLED", "accounts:signInWithPassword", email="bob@example.com", password="wrong-1")

    def test_session_cookie_is_verified_until_it_is_revoked(self):
        auth.create_user(uid="bob", email="bob@example.com", password="secret-1", app=self.app)
        session = self.client("accounts:signInWithPassword", email="bob@example.com", password="secret-1")
        cookie = auth.create_session_cookie(session["idToken"], datetime.timedelta(days=5), app=self.app)
        claims = auth.verify_session_cookie(cookie, check_revoked=True, app=self.app)
        self.assertEqual((claims["uid"], claims["iss"]), ("bob", f"https://session.firebase.google.com/{PROJECT}"))
        self.assertEqual(claims["exp"] - claims["iat"], 5 * 86400)
        self.admin(f"v1/projects/{PROJECT}/accounts:update", {"localId": "bob", "validSince": 1700000060})
        with self.assertRaises(auth.RevokedSessionCookieError):
            auth.verify_session_cookie(cookie, check_revoked=True, app=self.app)

    def test_tokens_are_worthless_elsewhere(self):
        auth.create_user(uid="bob", email="bob@example.com", password="secret-1", app=self.app)
        session = self.client("accounts:signInWithPassword", email="bob@example.com", password="secret-1")
        for token in (session["idToken"], session["idToken"] + "AAAA"):
            refusal = self.sidecar.refusal("token.verify", {"token": token, "tenantId": PROJECT})
            self.assertIn(refusal.type, ("tokenMalformed", "tokenAlgorithmNotAllowed"))
        self.sidecar.refusal("session.list", {"idToken": session["idToken"]})


class Links(FirebaseProject):
    def setUp(self):
        super().setUp()
        auth.create_user(uid="bob", email="bob@example.com", password="secret-1", app=self.app)

    def code(self, link):
        from urllib.parse import parse_qs, urlsplit
        parts = urlsplit(link)
        self.assertEqual(parts.path, "/emulator/action")
        return {name: values[0] for name, values in parse_qs(parts.query).items()}

    def test_reset_link_sets_a_password(self):
        settings = auth.ActionCodeSettings("http://localhost/done", handle_code_in_app=False)
        query = self.code(auth.generate_password_reset_link("bob@example.com", settings, app=self.app))
        self.assertEqual((query["mode"], query["continueUrl"]), ("resetPassword", "http://localhost/done"))
        checked = self.client("accounts:resetPassword", oobCode=query["oobCode"])
        self.assertEqual((checked["email"], checked["requestType"]), ("bob@example.com", "PASSWORD_RESET"))
        self.client("accounts:resetPassword", oobCode=query["oobCode"], newPassword="secret-2")
        self.client("accounts:signInWithPassword", email="bob@example.com", password="secret-2")
        self.assertTrue(auth.get_user("bob", app=self.app).email_verified)
        self.refused("INVALID_OOB_CODE", "accounts:resetPassword", oobCode=query["oobCode"], newPassword="secret-3")

    def test_verification_link_verifies_the_address(self):
        query = self.code(auth.generate_email_verification_link("bob@example.com", app=self.app))
        self.client("accounts:update", oobCode=query["oobCode"])
        self.assertTrue(auth.get_user("bob", app=self.app).email_verified)

    def test_sign_in_link_signs_in_and_creates_users(self):
        settings = auth.ActionCodeSettings("http://localhost/done", handle_code_in_app=True)
        for email, is_new in (("new@example.com", True), ("bob@example.com", False)):
            query = self.code(auth.generate_sign_in_with_email_link(email, settings, app=self.app))
            answer = self.client("accounts:signInWithEmailLink", email=email, oobCode=query["oobCode"])
            self.assertEqual((answer["isNewUser"], answer["email"]), (is_new, email))
            self.assertTrue(auth.get_user(answer["localId"], app=self.app).email_verified)

    def test_expired_code_fails(self):
        query = self.code(auth.generate_password_reset_link("bob@example.com", app=self.app))
        self.advance(3600)
        self.refused("EXPIRED_OOB_CODE", "accounts:resetPassword", oobCode=query["oobCode"])

    def test_reset_link_for_an_unknown_address_fails(self):
        with self.assertRaises(auth.EmailNotFoundError):
            auth.generate_password_reset_link("nobody@example.com", app=self.app)


class Import(FirebaseProject):
    """Each hash algorithm of the SDK. The hashes are those of Python's standard library and of Firebase's documentation."""

    def check(self, algorithm, hashed, salt=b"NaCl", password="secret-1"):
        user = auth.ImportUserRecord(
            uid="bob", email="bob@example.com", email_verified=True, password_hash=hashed, password_salt=salt, custom_claims={"admin": True},
            provider_data=[auth.UserProvider(uid="g1", provider_id="google.com", email="bob@gmail.com")])
        result = auth.import_users([user], hash_alg=algorithm, app=self.app)
        self.assertEqual((result.success_count, [e.reason for e in result.errors]), (1, []))
        for _ in range(2):  # The hash of the store replaces the imported one at the first sign-in.
            self.client("accounts:signInWithPassword", email="bob@example.com", password=password)
        self.refused("INVALID_PASSWORD", "accounts:signInWithPassword", email="bob@example.com", password=password + "x")
        imported = auth.get_user("bob", app=self.app)
        self.assertEqual(imported.custom_claims, {"admin": True})
        self.assertEqual([p.uid for p in imported.provider_data if p.provider_id == "google.com"], ["g1"])

    def test_hmac(self):
        for name in ("sha512", "sha256", "sha1", "md5"):
            with self.subTest(name):
                made = getattr(auth.UserImportHash, f"hmac_{name}")(key=b"key")
                self.check(made, hmac.new(b"key", b"NaClsecret-1", name).digest())

    def test_hash_functions(self):
        for name, rounds in (("sha512", 1), ("sha256", 3), ("sha1", 2), ("md5", 0)):
            with self.subTest(name):
                value = b"NaClsecret-1"
                for _ in range(max(1, rounds)):
                    value = hashlib.new(name, value).digest()
                self.check(getattr(auth.UserImportHash, name)(rounds=rounds), value)

    def test_pbkdf2(self):
        for name, make in (("sha1", auth.UserImportHash.pbkdf_sha1), ("sha256", auth.UserImportHash.pbkdf2_sha256)):
            with self.subTest(name):
                self.check(make(rounds=1000), hashlib.pbkdf2_hmac(name, b"secret-1", b"NaCl", 1000))

    def test_standard_scrypt(self):
        algorithm = auth.UserImportHash.standard_scrypt(memory_cost=1024, parallelization=2, block_size=8, derived_key_length=32)
        self.check(algorithm, hashlib.scrypt(b"secret-1", salt=b"NaCl", n=1024, r=8, p=2, dklen=32))

    def test_firebase_scrypt(self):
        decode = base64.b64decode
        algorithm = auth.UserImportHash.scrypt(
            key=decode("jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA=="),
            salt_separator=decode("Bw=="), rounds=8, memory_cost=14)
        self.check(
            algorithm, decode("lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=="),
            salt=decode("42xEC+ixf3L2lw=="), password="user1password")

    def test_bcrypt(self):
        # Test vectors of the author of crypt_blowfish (Openwall).
        for password, hashed in (
                ("U*U", b"$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
                ("U*U*U", b"$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a")):
            self.check(auth.UserImportHash.bcrypt(), hashed, salt=None, password=password)

    def test_hashes_with_parameters_in_them_are_checked(self):
        for hashed in (b"$2b$12$x", b"$1$" + b"a" * 57, b"$2b$31$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"):
            user = auth.ImportUserRecord(uid="bob", email="bob@example.com", password_hash=hashed)
            result = auth.import_users([user], hash_alg=auth.UserImportHash.bcrypt(), app=self.app)
            self.assertRegex(result.errors[0].reason, "INVALID_PASSWORD_HASH")

    def test_users_that_cannot_be_imported_are_reported_by_index(self):
        auth.create_user(uid="a", email="a@example.com", app=self.app)
        result = auth.import_users(
            [auth.ImportUserRecord(uid="b", email="b@example.com"), auth.ImportUserRecord(uid="c", email="a@example.com")], app=self.app)
        self.assertEqual((result.success_count, [e.index for e in result.errors]), (1, [1]))


class Providers(FirebaseProject):
    def test_oidc_configuration(self):
        made = auth.create_oidc_provider_config(
            provider_id="oidc.work", client_id="c", issuer="https://login.example.com", display_name="Work", enabled=True,
            client_secret="s", code_response_type=True, id_token_response_type=False, app=self.app)
        self.assertEqual((made.provider_id, made.client_id, made.enabled), ("oidc.work", "c", True))
        changed = auth.update_oidc_provider_config("oidc.work", display_name=auth.DELETE_ATTRIBUTE, enabled=False, app=self.app)
        self.assertEqual((changed.display_name, changed.enabled, changed.issuer), (None, False, "https://login.example.com"))
        self.assertEqual([c.provider_id for c in auth.list_oidc_provider_configs(app=self.app).iterate_all()], ["oidc.work"])
        auth.delete_oidc_provider_config("oidc.work", app=self.app)
        with self.assertRaises(auth.ConfigurationNotFoundError):
            auth.get_oidc_provider_config("oidc.work", app=self.app)

    def test_saml_configuration(self):
        auth.create_saml_provider_config(
            provider_id="saml.work", idp_entity_id="i", sso_url="https://login.example.com/sso", x509_certificates=["c1"],
            rp_entity_id="r", callback_url="https://example.com/cb", enabled=True, display_name="Work", app=self.app)
        changed = auth.update_saml_provider_config("saml.work", x509_certificates=["c2", "c3"], app=self.app)
        self.assertEqual((changed.x509_certificates, changed.rp_entity_id), (["c2", "c3"], "r"))
        auth.delete_saml_provider_config("saml.work", app=self.app)
        self.assertEqual(list(auth.list_saml_provider_configs(app=self.app).iterate_all()), [])


class Clients(FirebaseProject):
    """The requests of the web SDK."""

    def test_sign_up_look_up_change_and_delete(self):
        made = self.client("accounts:signUp", email="Carol@example.com", password="secret-1", returnSecureToken=True)
        self.assertEqual((made["kind"], made["email"]), ("identitytoolkit#SignupNewUserResponse", "carol@example.com"))
        user = self.client("accounts:lookup", idToken=made["idToken"])["users"][0]
        self.assertEqual((user["passwordHash"], "salt" in user), ("UkVEQUNURUQ=", False))
        changed = self.client("accounts:update", idToken=made["idToken"], displayName="Carol", returnSecureToken=True)
        self.assertEqual(auth.verify_id_token(changed["idToken"], app=self.app)["name"], "Carol")
        self.refused("EMAIL_EXISTS", "accounts:signUp", email="carol@example.com", password="secret-1")
        self.refused("WEAK_PASSWORD", "accounts:signUp", email="d@example.com", password="12345")
        self.refused("INVALID_EMAIL", "accounts:signUp", email="d", password="secret-1")
        self.refused("MISSING_PASSWORD", "accounts:signUp", email="d@example.com")
        self.assertEqual(self.client("accounts:delete", idToken=made["idToken"])["kind"], "identitytoolkit#DeleteAccountResponse")
        self.refused("USER_NOT_FOUND", "accounts:lookup", idToken=made["idToken"])

    def test_password_and_deletion_need_a_recent_sign_in(self):
        made = self.client("accounts:signUp", email="carol@example.com", password="secret-1")
        self.advance(301)
        self.refused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN", "accounts:delete", idToken=made["idToken"])
        self.refused("CREDENTIAL_TOO_OLD_LOGIN_AGAIN", "accounts:update", idToken=made["idToken"], password="secret-2")
        session = self.client("accounts:signInWithPassword", email="carol@example.com", password="secret-1")
        fresh = self.client("accounts:update", idToken=session["idToken"], password="secret-2", returnSecureToken=True)
        self.refused("INVALID_PASSWORD", "accounts:signInWithPassword", email="carol@example.com", password="secret-1")
        self.client("accounts:lookup", idToken=fresh["idToken"])
        self.advance(1)
        self.assertEqual(self.refresh(session["refreshToken"])[1]["error"]["message"], "TOKEN_EXPIRED")
        self.assertEqual(self.refresh(fresh["refreshToken"])[0], 200)

    def test_anonymous_user_keeps_the_id_when_a_password_is_linked(self):
        made = self.client("accounts:signUp", returnSecureToken=True)
        claims = auth.verify_id_token(made["idToken"], app=self.app)
        self.assertEqual((claims["provider_id"], claims["firebase"]["sign_in_provider"]), ("anonymous", "anonymous"))
        self.advance(600)
        linked = self.client("accounts:signUp", idToken=made["idToken"], email="carol@example.com", password="secret-1")
        self.assertEqual(linked["localId"], made["localId"])

    def test_identity_provider_signs_in_links_and_asks_for_confirmation(self):
        def post(provider, **claims):
            from urllib.parse import urlencode
            return urlencode({"providerId": provider, "id_token": json.dumps(claims)})

        new = self.client(
            "accounts:signInWithIdp", requestUri="http://localhost", returnSecureToken=True,
            postBody=post("google.com", sub="g1", email="carol@example.com", email_verified=True, name="Carol"))
        self.assertTrue(new["isNewUser"])
        self.assertEqual(auth.verify_id_token(new["idToken"], app=self.app)["firebase"]["identities"]["google.com"], ["g1"])
        again = self.client("accounts:signInWithIdp", requestUri="http://localhost", postBody=post("google.com", sub="g1"))
        self.assertEqual((again["localId"], "isNewUser" in again), (new["localId"], False))
        asked = self.client(
            "accounts:signInWithIdp", requestUri="http://localhost", postBody=post("facebook.com", sub="f1", email="carol@example.com"))
        self.assertEqual((asked["needConfirmation"], asked["verifiedProvider"], "idToken" in asked), (True, ["google.com"], False))
        self.client(
            "accounts:signInWithIdp", requestUri="http://localhost", idToken=again["idToken"],
            postBody=post("facebook.com", sub="f1", email="carol@example.com"))
        self.refused("FEDERATED_USER_ID_ALREADY_LINKED", "accounts:signInWithIdp", requestUri="http://localhost",
                     idToken=again["idToken"], postBody=post("facebook.com", sub="f1"))
        kept = self.client("accounts:update", idToken=again["idToken"], deleteProvider=["facebook.com"])
        self.assertEqual([p["providerId"] for p in kept["providerUserInfo"]], ["google.com"])

    def test_older_address_returns_the_same(self):
        self.client("accounts:signUp", email="carol@example.com", password="secret-1")
        status, answer = self.request(
            "/www.googleapis.com/identitytoolkit/v3/relyingparty/verifyPassword?key=any",
            {"email": "carol@example.com", "password": "secret-1"})
        self.assertEqual((status, answer["kind"]), (200, "identitytoolkit#VerifyPasswordResponse"))

    def test_emulator_addresses(self):
        self.client("accounts:signUp", email="carol@example.com", password="secret-1")
        self.client("accounts:sendOobCode", requestType="PASSWORD_RESET", email="carol@example.com")
        codes = self.request(f"/emulator/v1/projects/{PROJECT}/oobCodes")[1]["oobCodes"]
        self.assertEqual([(c["email"], c["requestType"]) for c in codes], [("carol@example.com", "PASSWORD_RESET")])
        link = codes[0]["oobLink"][len(self.base):]
        self.assertEqual(self.request(link)[0], 400)
        self.assertEqual(self.request(link + "&newPassword=secret-2")[1]["authEmulator"]["email"], "carol@example.com")
        config = {"signIn": {"allowDuplicateEmails": False}, "emailPrivacyConfig": {"enableImprovedEmailPrivacy": True}}
        self.assertEqual(self.request(
            f"/emulator/v1/projects/{PROJECT}/config", {"emailPrivacyConfig": config["emailPrivacyConfig"]}, method="PATCH"), (200, config))
        self.refused("INVALID_LOGIN_CREDENTIALS", "accounts:signInWithPassword", email="x@example.com", password="secret-1")
        self.assertEqual(self.request(f"/emulator/v1/projects/{PROJECT}/accounts", method="DELETE"), (200, {}))
        self.assertEqual(auth.list_users(app=self.app).users, [])
        self.assertTrue(self.request("/")[1]["authEmulator"]["ready"])

    def test_requests_without_a_credential_are_refused(self):
        base = "/identitytoolkit.googleapis.com/v1/"
        cases = [
            (base + "accounts:signUp", {}, 403, "PERMISSION_DENIED"), (base + f"projects/{PROJECT}/accounts", {}, 401, "UNAUTHENTICATED"),
            (base + f"projects/{PROJECT}/accounts:batchGet?key=any", {}, 401, "UNAUTHENTICATED"), (base + "accounts:fly?key=any", {}, 404, "NOT_FOUND"),
        ]
        for path, body, status, name in cases:
            with self.subTest(path):
                answer = self.request(path, body)
                self.assertEqual((answer[0], answer[1]["error"]["status"]), (status, name))
        for raw in (b"{", b"[]", b'"x"', b"\xff"):
            answer = self.request(base + "accounts:signUp?key=any", raw=raw)
            self.assertEqual((answer[0], answer[1]["error"]["status"]), (400, "INVALID_ARGUMENT"))
        self.assertEqual(self.request(base + "accounts:signUp?key=any", {"email": {"a": 1}, "password": []})[0], 400)


if __name__ == "__main__":
    unittest.main()
