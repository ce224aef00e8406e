"""Email address and name from the UserInfo endpoint, if the ID token omits them (OpenID Connect Core §5.3 and §5.4)."""

import json
import threading
import urllib.parse

from endtoend import EndToEnd
from oidcmock import OIDCProviderMock
from websites import DISCOVERY, KEYS, OpenIDWebsite, page

BACK = "https://shop.example.com/back"
CAROL = {"sub": "carol", "email": "Carol@Example.com", "email_verified": True, "name": "Carol", "picture": "https://x.example/c.png"}


class UserInfo(EndToEnd):
    def setUp(self):
        super().setUp()
        self.site = site = OpenIDWebsite()
        self.addCleanup(site.close)
        self.document = {
            "issuer": site.issuer, "jwks_uri": site.issuer + KEYS, "authorization_endpoint": site.issuer + "/authorize",
            "token_endpoint": site.issuer + "/token", "userinfo_endpoint": site.issuer + "/userinfo", "device_authorization_endpoint": site.issuer + "/device"}
        site.pages[DISCOVERY] = lambda _: page(self.document)
        site.pages["/token"] = self.tokens
        site.pages["/userinfo"] = self.userinfo
        site.pages["/device"] = lambda request: self.body(request) and page({"device_code": "d", "user_code": "U", "verification_uri": "https://login.example.com/d", "interval": 1})
        self.claims, self.said, self.bearer, self.nonce = {}, page(CAROL), [], None
        self.open()

    def open(self, **more):
        self.sidecar, site = self.spawn(testing=True, **more), self.site
        self.sidecar.call("idp.create", {
            "providerId": "oidc.site", "clientId": "shop", "clientSecret": "s", "responseType": "code", "issuer": site.issuer, "trustEmail": True})

    def body(self, request):
        return request.rfile.read(int(request.headers["Content-Length"]))

    def tokens(self, request):
        self.body(request)
        nonce = {"nonce": self.nonce} if self.nonce else {}
        return page({"access_token": "the-access-token", "token_type": "Bearer", "id_token": self.site.token(**nonce, **self.claims)})

    def userinfo(self, request):
        self.bearer.append(request.headers["Authorization"])
        return self.said(request) if callable(self.said) else self.said

    def credential(self):
        flow = self.sidecar.call("idp.authorize", {"providerId": "oidc.site", "redirectUri": BACK})
        sent = dict(urllib.parse.parse_qsl(urllib.parse.urlparse(flow["authorizationUrl"]).query))
        self.nonce = sent["nonce"]
        return {"credential": {"continuationToken": flow["continuationToken"], "url": f"{BACK}?{urllib.parse.urlencode({'code': 'c', 'state': sent['state']})}"}}

    def sign_in(self):
        answer = self.sidecar.call("signIn.withCredential", self.credential())
        self.assertEqual(answer["state"], "completed")
        return answer

    def test_missing_claims_are_requested_from_userinfo(self):
        answer = self.sign_in()
        self.assertEqual(self.bearer, ["Bearer the-access-token"])
        account = answer["account"]
        self.assertEqual((account["email"], account["emailVerified"], account["attributes"]), ("carol@example.com", True, {"displayName": "Carol", "picture": "https://x.example/c.png"}))
        self.assertEqual((account["providers"][0]["email"], account["providers"][0]["displayName"]), ("carol@example.com", "Carol"))
        self.assertEqual({name: answer["additionalUserInfo"]["profile"][name] for name in CAROL}, CAROL)

    def test_complete_id_token_causes_no_userinfo_request(self):
        self.claims = {"email": "carol@example.com", "name": "Carol"}
        self.sign_in()
        self.assertEqual(self.bearer, [])

    def test_id_token_claims_take_precedence_and_userinfo_does_not_verify_their_address(self):
        self.claims = {"email": "own@example.com"}
        self.said = page({**CAROL, "iss": "https://evil.example", "aud": "x"})
        answer = self.sign_in()
        self.assertEqual((answer["account"]["email"], answer["account"]["emailVerified"], answer["account"]["attributes"]["displayName"]), ("own@example.com", False, "Carol"))
        self.assertEqual(answer["additionalUserInfo"]["profile"]["iss"], self.site.issuer)

    def test_userinfo_of_another_subject_fails(self):
        self.said = page({**CAROL, "sub": "mallory"})
        error = self.refused("invalidCredential", self.sidecar, "signIn.withCredential", self.credential())
        self.assertEqual(error.data["check"], "userInfo")
        self.assertEqual(self.sidecar.call("account.list", {})["accounts"], [])

    def test_invalid_userinfo_response_does_not_prevent_sign_in(self):
        answers = [
            page({}, status=500), page({"error": "invalid_token"}, status=401), (200, {"Content-Type": "text/html"}, b"<html>"), page([CAROL]),
            page({"email": "nobody@example.com", "name": "No subject"}), page({"sub": 7, "email": "nobody@example.com"}), (200, {}, b""),
            (302, {"Location": "https://evil.example/"}, b""), page({**CAROL, "more": "x" * (2 << 20)})]
        for said in answers:
            with self.subTest(said=(said[0], said[2][:60])):
                self.said = said
                self.assertNotIn("email", self.sign_in()["account"])
        for endpoint in ("ftp://x/y", "http://example.com/userinfo", f"http://127.0.0.1:1/userinfo", ""):
            with self.subTest(endpoint):
                self.document["userinfo_endpoint"] = endpoint
                self.sidecar.call("idp.test", {"providerId": "oidc.site"})  # fetches the discovery document again
                self.assertNotIn("email", self.sign_in()["account"])
        self.assertEqual(len(self.bearer), len(answers))

    def test_hanging_userinfo_endpoint_times_out(self):
        self.open(environment={"MINTMARK_PROVIDER_TIMEOUT": "1"})
        hanging = threading.Event()
        self.addCleanup(hanging.set)
        self.said = lambda _: hanging.wait(60) and page(CAROL)
        self.assertNotIn("email", self.sign_in()["account"])
        self.assertFalse(hanging.is_set())

    def test_device_flow_requests_userinfo(self):
        flow = self.sidecar.call("idp.authorizeDevice", {"providerId": "oidc.site"})
        answer = self.sidecar.call("signIn.withCredential", {"credential": {"continuationToken": flow["continuationToken"]}})
        self.assertEqual((answer["account"]["email"], self.bearer), ("carol@example.com", ["Bearer the-access-token"]))

    def test_third_party_provider_signs_in_with_and_without_profile_scopes(self):
        """With the scope `openid` alone, the ID token lacks email and name, and UserInfo returns only the claims of this scope."""
        mock = OIDCProviderMock(self, {"sub": "alice", "email": "alice@example.com", "name": "Alice"})
        self.sidecar.call("idp.create", {"providerId": "oidc.mock", "clientId": "shop", "clientSecret": "secret", "issuer": mock.issuer, "responseType": "code"})
        for openidOnly in (True, False):
            self.sidecar.call("idp.update", {"providerId": "oidc.mock", "openidOnly": openidOnly})
            flow = self.sidecar.call("idp.authorize", {"providerId": "oidc.mock", "redirectUri": BACK})
            credential = {"continuationToken": flow["continuationToken"], "url": mock.send(flow["authorizationUrl"])}
            self.assertEqual(self.sidecar.call("signIn.withCredential", {"credential": credential})["state"], "completed")
