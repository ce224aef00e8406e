"""Families of published advisories, at the wire formats of other products: the Firebase API and the native authentication API of Entra."""

import json
import unittest

from endtoend import EndToEnd
from firebase import PROJECT
from test_advisories_links import EVIL
from test_entra_http import EntraHTTP as Entra
from nativeflows import ALICE, PASSWORD

NEW = "another Horse 10 Battery"


class Firebase(EndToEnd):
    """compat.http as a host offers it to the public: Firebase misuse families, CVE-2026-53516 (Better Auth), CVE-2026-44166 (PocketBase)."""

    stores = ("sqlite", "postgres")

    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn("--clock", "1700000000", testing=True)
        self.sidecar.call("tenant.create", {"tenantId": PROJECT, "notices": "none", "anonymousAllowed": True})

    def send(self, path, body, admin=False, headers=None):
        answer = self.sidecar.call("compat.http", {
            "method": "POST", "url": path, "headers": {"Host": "auth.example.com", **(headers or {})}, "body": json.dumps(body),
            "firebase": {"projectId": PROJECT, "administrator": admin}})
        return answer["status"], json.loads(answer["body"])

    def client(self, name, **body):
        return self.send(f"/identitytoolkit.googleapis.com/v1/{name}", body)

    def ok(self, name, **body):
        status, answer = self.client(name, **body)
        self.assertEqual(status, 200, answer)
        return answer

    def error(self, wanted, name, **body):
        status, answer = self.client(name, **body)
        self.assertNotEqual(status, 200, answer)
        self.assertIn(answer["error"]["message"].split(" : ")[0], {wanted} if isinstance(wanted, str) else wanted, answer)

    def link(self, kind, **body):
        status, answer = self.send(f"/identitytoolkit.googleapis.com/v1/projects/{PROJECT}/accounts:sendOobCode",
                                   {"requestType": kind, "email": ALICE, "returnOobLink": True, **body}, admin=True)
        self.assertEqual(status, 200, answer)
        return answer

    def later(self, seconds=2):
        self.sidecar.call("test.clock", {"advanceSeconds": seconds})

    def test_owner_who_comes_by_a_link_gets_the_account_alone(self):
        made = self.ok("accounts:signUp", email=ALICE, password=PASSWORD)
        self.later()
        done = self.ok("accounts:signInWithEmailLink", email=ALICE, oobCode=self.link("EMAIL_SIGNIN")["oobCode"])
        self.assertEqual(done["localId"], made["localId"])
        self.error({"INVALID_PASSWORD", "INVALID_LOGIN_CREDENTIALS"}, "accounts:signInWithPassword", email=ALICE, password=PASSWORD)
        self.error({"TOKEN_EXPIRED", "INVALID_ID_TOKEN"}, "accounts:lookup", idToken=made["idToken"])

    def test_verified_owner_keeps_password_after_link(self):
        self.ok("accounts:signUp", email=ALICE, password=PASSWORD)
        self.ok("accounts:update", oobCode=self.link("VERIFY_EMAIL")["oobCode"])
        self.ok("accounts:signInWithEmailLink", email=ALICE, oobCode=self.link("EMAIL_SIGNIN")["oobCode"])
        self.ok("accounts:signInWithPassword", email=ALICE, password=PASSWORD)

    def test_links_requested_before_a_new_password_end(self):
        """CVE-2026-115770 (Pocket ID), CVE-2026-9087 (Keycloak)."""
        self.ok("accounts:signUp", email=ALICE, password=PASSWORD)
        change, reset = self.link("VERIFY_AND_CHANGE_EMAIL", newEmail=EVIL)["oobCode"], self.link("PASSWORD_RESET")["oobCode"]
        self.later()
        self.ok("accounts:resetPassword", oobCode=self.link("PASSWORD_RESET")["oobCode"], newPassword=NEW)
        self.error("INVALID_OOB_CODE", "accounts:update", oobCode=change)
        self.error("INVALID_OOB_CODE", "accounts:resetPassword", oobCode=reset, newPassword=PASSWORD)
        self.ok("accounts:signInWithPassword", email=ALICE, password=NEW)

    def test_code_of_one_purpose_serves_no_other(self):
        """CVE-2026-114607 (Better Auth)."""
        self.ok("accounts:signUp", email=ALICE, password=PASSWORD)
        for kind in ("PASSWORD_RESET", "VERIFY_EMAIL"):
            self.error("INVALID_OOB_CODE", "accounts:signInWithEmailLink", email=ALICE, oobCode=self.link(kind)["oobCode"])
        for kind in ("EMAIL_SIGNIN", "VERIFY_EMAIL"):
            self.error("INVALID_OOB_CODE", "accounts:resetPassword", oobCode=self.link(kind)["oobCode"], newPassword=NEW)
        self.error("INVALID_EMAIL", "accounts:signInWithEmailLink", email=EVIL, oobCode=self.link("EMAIL_SIGNIN")["oobCode"])

    def test_page_of_a_link_is_the_tenants_whatever_host_the_request_names(self):
        """CVE-2025-48936 and CVE-2025-64101 (Zitadel): password reset poisoning."""
        self.ok("accounts:signUp", email=ALICE, password=PASSWORD)
        self.sidecar.call("tenant.update", {"tenantId": PROJECT, "delivery": {"linkUrl": "https://shop.example/action?a=1#top"}})
        for headers in ({"Host": "evil.example"}, {"X-Forwarded-Host": "evil.example"}, {"Forwarded": "host=evil.example"}):
            status, answer = self.send(f"/identitytoolkit.googleapis.com/v1/projects/{PROJECT}/accounts:sendOobCode",
                                       {"requestType": "PASSWORD_RESET", "email": ALICE, "returnOobLink": True}, True, headers)
            self.assertEqual(status, 200, answer)
            self.assertTrue(answer["oobLink"].startswith("https://shop.example/action?a=1&mode=resetPassword&"), answer)
            self.assertTrue(answer["oobLink"].endswith("#top"), answer)
            self.assertNotIn("evil.example", answer["oobLink"])

    def test_continue_url_is_a_web_address(self):
        """CVE-2024-56734 (Better Auth); Zitadel's logout page ran scripts."""
        self.ok("accounts:signUp", email=ALICE, password=PASSWORD)
        for url in ("javascript://x/%0aalert(1)", "JavaScript://x", "data://text/html,x", "vbscript://x", "//evil.example", "/x", "x"):
            status, answer = self.send(f"/identitytoolkit.googleapis.com/v1/projects/{PROJECT}/accounts:sendOobCode", {
                "requestType": "PASSWORD_RESET", "email": ALICE, "returnOobLink": True, "continueUrl": url}, admin=True)
            self.assertEqual((status, answer["error"]["message"].split(" : ")[0]), (400, "INVALID_CONTINUE_URI"), url)

    def test_client_sets_nothing_that_is_the_administrators(self):
        """Mass assignment and objects of others: CVE-2025-61928 (Better Auth), CVE-2026-27946 (Zitadel)."""
        victim = self.ok("accounts:signUp", email="bob@example.com", password=PASSWORD)["localId"]
        made = self.ok("accounts:signUp", email=ALICE, password=PASSWORD, emailVerified=True, customAttributes='{"admin":true}', disabled=False)
        user = self.ok("accounts:lookup", idToken=made["idToken"])["users"][0]
        self.assertFalse(user.get("emailVerified", False))
        self.assertNotIn("customAttributes", user)
        self.error("INSUFFICIENT_PERMISSION", "accounts:update", idToken=made["idToken"], customAttributes='{"admin":true}')
        self.error("UNEXPECTED_PARAMETER", "accounts:signUp", email=EVIL, password=PASSWORD, localId=victim)
        self.ok("accounts:update", idToken=made["idToken"], localId=victim, displayName="x", emailVerified=True)
        self.assertEqual(self.ok("accounts:lookup", idToken=made["idToken"])["users"][0].get("emailVerified", False), False)
        self.ok("accounts:delete", idToken=made["idToken"], localId=victim)
        self.ok("accounts:signInWithPassword", email="bob@example.com", password=PASSWORD)
        for body in ({"localId": victim, "password": NEW}, {"localId": victim, "emailVerified": True}, {"localId": [victim]}):
            self.error({"INVALID_REQ_TYPE", "MISSING_ID_TOKEN", "INVALID_ID_TOKEN"}, "accounts:update", **body)
        self.error("INSUFFICIENT_PERMISSION", "accounts:lookup", targetProjectId="other", localId=[victim])

    def test_token_of_another_project_or_store_is_refused(self):
        """Audience and issuer confusion: CVE-2026-55669 (Zitadel)."""
        made = self.ok("accounts:signUp", email=ALICE, password=PASSWORD)
        native = self.sidecar.call("signIn.withPassword", {"tenantId": PROJECT, "username": ALICE, "password": PASSWORD})
        for token in (native["idToken"], native["accessToken"], made["refreshToken"], '{"sub":"%s"}' % made["localId"]):
            self.error("INVALID_ID_TOKEN", "accounts:lookup", idToken=token)
        self.refused({"tokenMalformed", "tokenKeyUnknown", "tokenUseMismatch", "tokenIssuerMismatch"}, self.sidecar, "account.me", {
            "idToken": made["idToken"]})


class EntraRules(Entra):
    """The endpoints of Entra's API keep to the rules of the flows they carry."""

    def test_token_belongs_to_its_tenant_and_application(self):
        """CVE-2026-105209 (Zitadel): an organization in the request instead of that of the user; flows of other clients."""
        self.sidecar.call("application.put", {"tenantId": "shop", "clientId": "other"})
        self.sidecar.call("tenant.create", {"tenantId": "bank"})
        self.sidecar.call("application.put", {"tenantId": "bank", "clientId": "mobile"})
        token = self.sign_up()
        form = {"continuation_token": token, "grant_type": "continuation_token", "scope": "openid", "client_info": "true"}
        self.post("oauth2/v2.0/token", 400, client_id="other", **form)
        self.post("oauth2/v2.0/token", 400, tenant="bank", **form)
        self.post("oauth2/v2.0/token", 400, client_id="none", **form)
        tokens = self.redeem(token)
        refresh = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], "scope": "openid offline_access"}
        self.post("oauth2/v2.0/token", 400, client_id="other", **refresh)
        self.post("oauth2/v2.0/token", 400, tenant="bank", **refresh)
        self.post("oauth2/v2.0/token", **refresh)

    def test_reset_needs_its_code_at_every_endpoint(self):
        """CVE-2026-18963 (Keycloak)."""
        self.sign_up()
        token = self.start("resetpassword/v1.0/start")
        self.post("resetpassword/v1.0/submit", 400, continuation_token=token, new_password=NEW)
        self.post("resetpassword/v1.0/poll_completion", 400, continuation_token=token)
        self.post("oauth2/v2.0/token", 400, continuation_token=token, grant_type="continuation_token", scope="openid", client_info="true")
        token = self.challenge("resetpassword/v1.0/challenge", token)
        self.post("resetpassword/v1.0/submit", 400, continuation_token=token, new_password=NEW)
        self.post("signup/v1.0/continue", 400, continuation_token=token, grant_type="password", password=NEW)
        self.post("oauth2/v2.0/token", 400, continuation_token=token, grant_type="oob", oob=self.code(), scope="openid", client_info="true")

    def test_foreign_pages_get_no_answer(self):
        """CORS: origins of pages that no application lists, and null."""
        self.sidecar.call("application.put", {"tenantId": "shop", "clientId": "mobile", "origins": ["https://shop.example.com"]})
        for origin in ("https://evil.example", "null", "https://shop.example.com.evil.example", "http://shop.example.com", "https://SHOP.example.com:443"):
            response, _ = self.raw("oauth2/v2.0/initiate", f"client_id=mobile&username={ALICE}&challenge_type=redirect", headers={"Origin": origin})
            self.assertIsNone(response.headers["access-control-allow-origin"], origin)
        response, _ = self.raw("oauth2/v2.0/initiate", "client_id=mobile", headers={"Origin": "https://shop.example.com"})
        self.assertEqual(response.headers["access-control-allow-origin"], "https://shop.example.com")
        self.assertIsNone(response.headers["access-control-allow-credentials"])


# The tests of the base class run in their own module.
for _name in [name for name in dir(Entra) if name.startswith("test_")]:
    setattr(EntraRules, _name, None)
del Entra


if __name__ == "__main__":
    unittest.main()
