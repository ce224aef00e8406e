"""Every function of firebase_admin.auth and firebase_admin.tenant_mgt, with the clients of a project and of a tenant. Management of tenants has no
variable for its address: its requests are redirected, as a proxy would do."""

import base64
import datetime
import hashlib
import hmac
import inspect
import unittest

from firebase_admin import auth, tenant_mgt

from firebase import PROJECT
from test_firebase_signed import SignedProject

SETTINGS = {"url": "https://shop.example.com/", "handle_code_in_app": True}


class Everything(SignedProject):
    """The production mode of the SDK: every token is verified with the published certificates."""

    def setUp(self):
        super().setUp()
        self.called = set()

    def function(self, module, name):
        def call(*more, **named):
            self.called.add((module.__name__, name))
            return getattr(module, name)(*more, **named, app=self.app)
        return call

    def project(self):
        return type("Project", (), {"__getattr__": lambda _, name: self.function(auth, name)})()

    def tenants(self):
        return type("Tenants", (), {"__getattr__": lambda _, name: self.function(tenant_mgt, name)})()

    def users(self, client, tenant=None):
        made = client.create_user(uid=f"{tenant}-alice", email="alice@example.com", password="secret-1", phone_number="+15555550100", email_verified=True)
        self.assertEqual(made.tenant_id, tenant)
        self.assertEqual(client.get_user(made.uid).email, "alice@example.com")
        self.assertEqual(client.get_user_by_email("alice@example.com").uid, made.uid)
        self.assertEqual(client.get_user_by_phone_number("+15555550100").uid, made.uid)
        self.assertEqual([user.uid for user in client.get_users([auth.UidIdentifier(made.uid), auth.UidIdentifier("x")]).users], [made.uid])
        self.assertEqual(client.update_user(made.uid, display_name="Alice", disabled=False).display_name, "Alice")
        client.set_custom_user_claims(made.uid, {"role": "editor"})
        self.assertEqual([user.uid for user in client.list_users().iterate_all()], [made.uid])
        return made.uid

    def tokens(self, client, uid, tenant=None):
        more = {"tenantId": tenant} if tenant else {}
        session = self.client("accounts:signInWithPassword", email="alice@example.com", password="secret-1", returnSecureToken=True, **more)
        claims = client.verify_id_token(session["idToken"], check_revoked=True)
        self.assertEqual((claims["uid"], claims["role"], claims["firebase"].get("tenant")), (uid, "editor", tenant))
        token = client.create_custom_token(uid, {"plan": "gold"}).decode()
        signed_in = self.client("accounts:signInWithCustomToken", token=token, returnSecureToken=True, **more)
        self.assertEqual(client.verify_id_token(signed_in["idToken"])["plan"], "gold")
        if not tenant:   # The SDK has no session cookies for tenants.
            cookie = client.create_session_cookie(session["idToken"], datetime.timedelta(days=1))
            self.assertEqual(client.verify_session_cookie(cookie, check_revoked=True)["uid"], uid)
        client.revoke_refresh_tokens(uid)

    def imports(self, client, uid):
        key = b"secret key"
        hashed = hmac.new(key, b"old-password" + b"salt", hashlib.sha256).digest()
        user = auth.ImportUserRecord(uid=f"{uid}-imported", email="bob@example.com", password_hash=hashed, password_salt=b"salt")
        result = client.import_users([user], hash_alg=auth.UserImportHash.hmac_sha256(key))
        self.assertEqual((result.success_count, result.failure_count), (1, 0), [each.reason for each in result.errors])
        self.assertEqual(client.delete_users([f"{uid}-imported"]).success_count, 1)

    def links(self, client):
        settings = auth.ActionCodeSettings(**SETTINGS)
        for name, mode in (("generate_password_reset_link", "resetPassword"), ("generate_email_verification_link", "verifyEmail"),
                           ("generate_sign_in_with_email_link", "signIn")):
            link = getattr(client, name)("alice@example.com", settings)
            self.assertIn(f"mode={mode}", link)
            self.assertIn("continueUrl=https%3A%2F%2Fshop.example.com%2F", link)

    def providers(self, client):
        oidc = {"client_id": "c", "issuer": "https://login.example.com"}
        client.create_oidc_provider_config(provider_id="oidc.x", **oidc)
        self.assertFalse(client.get_oidc_provider_config("oidc.x").enabled)
        self.assertTrue(client.update_oidc_provider_config("oidc.x", enabled=True).enabled)
        self.assertEqual([each.provider_id for each in client.list_oidc_provider_configs().iterate_all()], ["oidc.x"])
        client.delete_oidc_provider_config("oidc.x")
        client.create_saml_provider_config(
            provider_id="saml.x", idp_entity_id="i", sso_url="https://x.example/sso", x509_certificates=["c"], rp_entity_id="r", callback_url="https://y.example/")
        self.assertEqual(client.get_saml_provider_config("saml.x").rp_entity_id, "r")
        self.assertEqual(client.update_saml_provider_config("saml.x", display_name="X").display_name, "X")
        self.assertEqual([each.provider_id for each in client.list_saml_provider_configs().iterate_all()], ["saml.x"])
        client.delete_saml_provider_config("saml.x")

    def everything(self, client, tenant=None):
        uid = self.users(client, tenant)
        self.links(client)
        self.providers(client)
        self.imports(client, uid)
        self.tokens(client, uid, tenant)
        client.delete_user(uid)

    def test_every_function_works(self):
        tenants = self.tenants()
        self.everything(self.project())
        made = tenants.create_tenant("Work-1", allow_password_sign_up=True, enable_email_link_sign_in=True)
        self.assertEqual((made.display_name, made.allow_password_sign_up), ("Work-1", True))
        self.assertEqual(tenants.get_tenant(made.tenant_id).tenant_id, made.tenant_id)
        self.assertEqual(tenants.update_tenant(made.tenant_id, display_name="Work-2").display_name, "Work-2")
        self.assertEqual([each.tenant_id for each in tenants.list_tenants().iterate_all()], [made.tenant_id])
        self.everything(tenants.auth_for_tenant(made.tenant_id), made.tenant_id)
        tenants.delete_tenant(made.tenant_id)
        with self.assertRaises(tenant_mgt.TenantNotFoundError):
            tenants.get_tenant(made.tenant_id)
        known = {(module.__name__, name) for module in (auth, tenant_mgt) for name, function in inspect.getmembers(module, inspect.isfunction)
                 if not name.startswith("_") and function.__module__ == module.__name__}
        self.assertEqual(known - self.called, set())


class Migration(SignedProject):
    """An export with hashes of Firebase's own algorithm, from the file to a signed-in user. The hash is from the documentation of the algorithm."""

    KEY = "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA=="
    HASH = "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=="

    def test_exported_user_is_imported_by_the_sdk_and_signs_in(self):
        user = auth.ImportUserRecord(
            uid="firebase-1", email="user1@example.com", email_verified=True, password_hash=base64.b64decode(self.HASH),
            password_salt=base64.b64decode("42xEC+ixf3L2lw=="), provider_data=[auth.UserProvider("g1", "google.com", "user1@gmail.com")])
        algorithm = auth.UserImportHash.scrypt(base64.b64decode(self.KEY), 8, 14, base64.b64decode("Bw=="))
        self.assertEqual(auth.import_users([user], hash_alg=algorithm, app=self.app).success_count, 1)
        session = self.client("accounts:signInWithPassword", email="user1@example.com", password="user1password", returnSecureToken=True)
        self.assertEqual(auth.verify_id_token(session["idToken"], app=self.app)["uid"], "firebase-1")
        self.assertEqual(
            self.sidecar.call("signIn.withPassword", {"tenantId": PROJECT, "username": "user1@example.com", "password": "user1password"})["account"]["accountId"],
            "firebase-1")
        self.refused("INVALID_PASSWORD", "accounts:signInWithPassword", email="user1@example.com", password="user2password")


if __name__ == "__main__":
    unittest.main()
