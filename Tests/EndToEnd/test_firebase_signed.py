"""Signed tokens: the Admin SDK of Firebase in its production mode, with its requests redirected to the endpoint, and compat.http."""

import datetime
import json
import os
import time
import unittest
import unittest.mock

import firebase_admin
import firebase_admin.credentials
import jwt
import requests.adapters
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from firebase_admin import auth
from google.oauth2 import service_account

from endtoend import EndToEnd
from firebase import PROJECT, FirebaseRequests
from rsakeys import rsa_key

ACCOUNT = "backend@demo.iam.gserviceaccount.com"
CUSTOM_AUDIENCE = "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"


class ServiceAccount(service_account.Credentials):
    """A service account whose access tokens need no request."""

    def refresh(self, request):
        self.token, self.expiry = "ya29.any", datetime.datetime(2100, 1, 1)


class Credential(firebase_admin.credentials.Base):
    def __init__(self):
        self.key = rsa_key()
        pem = self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
        self._made = ServiceAccount.from_service_account_info(
            {"private_key": pem, "private_key_id": "1", "client_email": ACCOUNT, "token_uri": "https://oauth2.example/token"})

    def get_credential(self):
        return self._made


class SignedProject(FirebaseRequests, EndToEnd):
    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn("--testing")
        self.base = self.sidecar.call("test.http", {"firebase": {"projectId": PROJECT, "tokens": "signed"}})["baseUrl"]
        variables = {name: value for name, value in os.environ.items() if name != "FIREBASE_AUTH_EMULATOR_HOST"}
        self.enterContext(unittest.mock.patch.dict(os.environ, variables, clear=True))
        send = requests.adapters.HTTPAdapter.send

        def redirected(adapter, request, *more, **named):
            self.assertTrue(request.url.startswith("https://"), request.url)
            request.url = request.url.replace("https://", self.base + "/", 1)
            self.sent.append(request.url[len(self.base):])
            return send(adapter, request, *more, **named)

        self.sent = []
        self.enterContext(unittest.mock.patch.object(requests.adapters.HTTPAdapter, "send", redirected))
        self.app = firebase_admin.initialize_app(Credential(), options={"projectId": PROJECT}, name=self.id())
        self.addCleanup(firebase_admin.delete_app, self.app)

    def signed_in(self):
        return self.client("accounts:signUp", email="carol@example.com", password="secret-1", returnSecureToken=True)


class ProductionMode(SignedProject):
    stores = ("sqlite",)

    def test_id_token_is_verified_with_the_published_certificate(self):
        made = self.signed_in()
        claims = auth.verify_id_token(made["idToken"], check_revoked=True, app=self.app)
        self.assertEqual((claims["uid"], claims["email"]), (made["localId"], "carol@example.com"))
        self.assertIn("/www.googleapis.com/robot/v1/metadata/x509/securetoken@system.gserviceaccount.com", self.sent)
        head, body, signature = made["idToken"].split(".")
        for wrong in (f"{head}.{body}.", f"{head}.{body}.{signature[:-8]}AAAAAAAA"):
            with self.assertRaises(auth.InvalidIdTokenError):
                auth.verify_id_token(wrong, app=self.app)
            self.refused("INVALID_ID_TOKEN", "accounts:lookup", idToken=wrong)

    def test_session_cookie_has_a_key_of_its_own_and_is_revocable(self):
        made = self.signed_in()
        cookie = auth.create_session_cookie(made["idToken"], datetime.timedelta(days=5), app=self.app)
        self.assertEqual(auth.verify_session_cookie(cookie, check_revoked=True, app=self.app)["uid"], made["localId"])
        self.assertIn("/www.googleapis.com/identitytoolkit/v3/relyingparty/publicKeys", self.sent)
        self.refused("INVALID_ID_TOKEN", "accounts:lookup", idToken=cookie)
        with self.assertRaises(auth.InvalidIdTokenError):
            auth.verify_id_token(cookie, app=self.app)
        self.sidecar.call("test.clock", {"advanceSeconds": 2})
        with unittest.mock.patch("time.time", lambda now=time.time: now() + 2):
            auth.revoke_refresh_tokens(made["localId"], app=self.app)
            with self.assertRaises(auth.RevokedSessionCookieError):
                auth.verify_session_cookie(cookie, check_revoked=True, app=self.app)

    def test_custom_token_of_the_service_account_signs_in(self):
        token = auth.create_custom_token("dora", {"plan": "gold"}, app=self.app).decode()
        session = self.client("accounts:signInWithCustomToken", token=token, returnSecureToken=True)
        self.assertEqual(auth.verify_id_token(session["idToken"], app=self.app)["plan"], "gold")
        renewed = self.refresh(session["refreshToken"])[1]["id_token"]
        self.assertEqual(auth.verify_id_token(renewed, app=self.app)["plan"], "gold")

    def test_published_keys_agree_and_need_no_credential(self):
        made = self.signed_in()
        kid = jwt.get_unverified_header(made["idToken"])["kid"]
        certificates = self.request("/www.googleapis.com/robot/v1/metadata/x509/securetoken@system.gserviceaccount.com")[1]
        self.assertEqual(list(certificates), [kid])
        certificate = x509.load_pem_x509_certificate(certificates[kid].encode())
        certificate.verify_directly_issued_by(certificate)
        self.assertEqual(certificate.subject.rfc4514_string(), f"CN={PROJECT}")
        self.assertLess(certificate.not_valid_before_utc.timestamp(), time.time())
        self.assertFalse(certificate.extensions.get_extension_for_class(x509.BasicConstraints).value.ca)
        keys = self.request("/www.googleapis.com/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com")[1]["keys"]
        claims = jwt.decode(
            made["idToken"], jwt.PyJWK(keys[0]).key, ["RS256"], audience=PROJECT, issuer="https://securetoken.google.com/" + PROJECT)
        self.assertEqual((keys[0]["kid"], claims["sub"]), (kid, made["localId"]))

    def test_keys_survive_a_restart_and_unsigned_tokens_are_refused(self):
        first = self.signed_in()["idToken"]
        self.base = self.sidecar.call("test.http", {"firebase": {"projectId": PROJECT}})["baseUrl"]
        unsigned = self.client("accounts:signInWithPassword", email="carol@example.com", password="secret-1")["idToken"]
        self.assertTrue(unsigned.endswith("."))
        self.base = self.sidecar.call("test.http", {"firebase": {"projectId": PROJECT, "tokens": "signed"}})["baseUrl"]
        self.refused("INVALID_ID_TOKEN", "accounts:lookup", idToken=unsigned)
        self.client("accounts:lookup", idToken=first)


class Hosted(EndToEnd):
    """compat.http with firebase: the host has authenticated the sender, on any store."""

    stores = ("sqlite", "postgres")

    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn()
        policy = {"minimumLength": 8, "minimumClasses": 1, "checksBanned": False}
        self.sidecar.call("tenant.create", {"tenantId": PROJECT, "passwordPolicy": policy, "notices": "none", "anonymousAllowed": True})

    def send(self, path, body=None, *, admin=False, method=None, **more):
        answer = self.sidecar.call("compat.http", {
            "method": method or ("GET" if body is None else "POST"), "url": path, "headers": {"Host": "auth.example.com"},
            "firebase": {"projectId": PROJECT, "administrator": admin}, **({} if body is None else {"body": json.dumps(body)}), **more})
        return answer["status"], json.loads(answer["body"])

    def client(self, name, version="v1", /, **body):
        return self.send(f"/identitytoolkit.googleapis.com/{version}/{name}", body)

    def test_client_signs_up_and_its_token_is_signed(self):
        status, made = self.client("accounts:signUp", email="carol@example.com", password="secret-12")
        self.assertEqual(status, 200, made)
        status, found = self.client("accounts:lookup", idToken=made["idToken"])
        self.assertEqual((status, found["users"][0]["email"]), (200, "carol@example.com"))
        certificates = self.send("/www.googleapis.com/robot/v1/metadata/x509/securetoken@system.gserviceaccount.com")[1]
        kid = jwt.get_unverified_header(made["idToken"])["kid"]
        key = x509.load_pem_x509_certificate(certificates[kid].encode()).public_key()
        self.assertEqual(jwt.decode(made["idToken"], key, ["RS256"], audience=PROJECT)["sub"], made["localId"])
        head = made["idToken"].split(".")
        forged = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0." + head[1] + "."
        self.assertEqual(self.client("accounts:lookup", idToken=forged)[1]["error"]["message"], "INVALID_ID_TOKEN")

    def test_only_an_administrator_sees_other_users(self):
        made = self.client("accounts:signUp", email="carol@example.com", password="secret-12")[1]
        path = f"/identitytoolkit.googleapis.com/v1/projects/{PROJECT}/accounts:lookup"
        for headers in ({}, {"Authorization": "Bearer owner"}, {"Authorization": "Bearer ya29.x"}):
            status, answer = self.send(path, {"localId": [made["localId"]]}, headers=headers)
            self.assertEqual((status, answer["error"]["status"]), (401, "UNAUTHENTICATED"))
        self.assertEqual(self.send(path, {"localId": [made["localId"]]}, admin=True)[1]["users"][0]["localId"], made["localId"])
        other = path.replace(PROJECT, "other")
        self.assertEqual(self.send(other, {"localId": ["x"]}, admin=True)[0], 400)

    def test_nothing_of_the_emulator_is_offered(self):
        for path in ("/", f"/emulator/v1/projects/{PROJECT}/oobCodes", f"/emulator/v1/projects/{PROJECT}/accounts"):
            self.assertEqual(self.send(path, admin=True)[0], 404, path)
        self.assertEqual(self.send(f"/emulator/v1/projects/{PROJECT}/accounts", method="DELETE", admin=True)[0], 404)
        self.client("accounts:signUp", email="carol@example.com", password="secret-12")
        # No message is sent without a page for links, and none to a number before the tenant allows sign-ins with it.
        for call, body in (("sendOobCode", {"requestType": "PASSWORD_RESET", "email": "carol@example.com"}), ("sendVerificationCode", {"phoneNumber": "+15555550100"})):
            status, answer = self.client(f"accounts:{call}", **body)
            self.assertEqual((status, answer["error"]["message"].split(" : ")[0]), (400, "OPERATION_NOT_ALLOWED"))
        status, link = self.send(
            f"/identitytoolkit.googleapis.com/v1/projects/{PROJECT}/accounts:sendOobCode",
            {"requestType": "PASSWORD_RESET", "email": "carol@example.com", "returnOobLink": True}, admin=True)
        self.assertEqual(status, 200)
        self.assertTrue(link["oobLink"].startswith("https://auth.example.com/__/auth/action?mode=resetPassword&"), link)

    def test_credentials_of_identity_providers_are_verified(self):
        status, answer = self.client(
            "accounts:signInWithIdp", requestUri="http://localhost", postBody='providerId=google.com&id_token={"sub":"1"}')
        self.assertEqual((status, answer["error"]["message"].split(" : ")[0]), (400, "OPERATION_NOT_ALLOWED"))
        self.sidecar.call("idp.create", {"tenantId": PROJECT, "providerId": "google.com", "clientId": "c", "clientSecret": "s"})
        for token in ('{"sub":"1"}', "eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0."):
            status, answer = self.client(
                "accounts:signInWithIdp", requestUri="http://localhost", postBody=f"providerId=google.com&id_token={token}")
            self.assertEqual((status, answer["error"]["message"].split(" : ")[0]), (400, "INVALID_IDP_RESPONSE"), answer)

    def test_custom_token_needs_a_signer_of_the_tenant(self):
        key = rsa_key()
        now = int(time.time())
        claims = {"iss": ACCOUNT, "sub": ACCOUNT, "aud": CUSTOM_AUDIENCE, "uid": "dora", "iat": now, "exp": now + 3600, "claims": {"plan": "gold"}}
        token = jwt.encode(claims, key, "RS256", headers={"kid": "b1"})
        for wrong in (token, '{"uid":"dora"}', jwt.encode(claims, None, "none")):
            status, answer = self.client("accounts:signInWithCustomToken", token=wrong)
            self.assertEqual((status, answer["error"]["message"].split(" : ")[0]), (400, "INVALID_CUSTOM_TOKEN"), answer)
        public = {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key())), "kid": "b1", "alg": "RS256"}
        public.pop("key_ops", None)
        self.sidecar.call("tenant.update", {"tenantId": PROJECT, "customTokenSigners": [{"issuer": ACCOUNT, "keys": [public]}]})
        status, answer = self.client("accounts:signInWithCustomToken", token=token)
        self.assertEqual((status, jwt.decode(answer["idToken"], options={"verify_signature": False})["plan"]), (200, "gold"))


if __name__ == "__main__":
    unittest.main()
