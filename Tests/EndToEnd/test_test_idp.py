"""The identity provider for tests: complete sign-ins with third-party clients, and with another Mintmark process as the client."""

import base64
import hashlib
import json
import secrets
import urllib.parse
import urllib.request

import joserfc.jwk
import joserfc.jwt
import jwt
import pyotp
from authlib.integrations.httpx_client import OAuth2Client

from endtoend import EndToEnd, only
from loginform import Person

BACK = "http://127.0.0.1:9/back"
PASSWORD = "a-long-enough-passphrase-77"


def query(url):
    return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))


class WithProvider(EndToEnd):
    stores = ("sqlite",)

    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn(testing=True)
        self.sidecar.call("test.clock", {"freeze": True})   # so that nothing expires on a slow machine
        self.idp = self.sidecar.call("test.idp", {})
        self.issuer = self.idp["issuer"]
        self.person = Person()

    def account(self, email="alice@example.com", sidecar=None, **more):
        return (sidecar or self.sidecar).call("account.create", {
            "username": email, "password": PASSWORD, "emailVerified": True, "attributes": {"displayName": "Alice"}, **more})

    def get(self, url, **headers):
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(urllib.request.Request(url, headers=headers), timeout=60) as answer:
            return json.load(answer)

    def discovery(self, issuer=None):
        return self.get((issuer or self.issuer) + "/.well-known/openid-configuration")

    def authorize_url(self, issuer=None, **more):
        return (issuer or self.issuer) + "/authorize?" + urllib.parse.urlencode({
            "client_id": "shop", "redirect_uri": BACK, "response_type": "code", "scope": "openid email profile", "state": "s-1", "nonce": "n-1", **more})

    def log_in(self, url, email="alice@example.com", password=PASSWORD, person=None):
        """Submits the login form. Returns the next page or the redirect."""
        person = person or self.person
        return person.send(person.open(url), email=email, password=password)

    def token(self, issuer=None, basic=None, **form):
        """Sends a request to the token endpoint. Returns the status, the body and the headers."""
        headers = {"Authorization": "Basic " + base64.b64encode(basic.encode()).decode()} if basic else {}
        answer = self.person.open((issuer or self.issuer) + "/token", form, **headers)
        return answer.status, json.loads(answer.body), answer.headers

    def tokens(self, **more):
        """Signs in and exchanges the code."""
        code = self.log_in(self.authorize_url(**more)).back["code"]
        status, answer, _ = self.token(grant_type="authorization_code", code=code, redirect_uri=BACK, client_id="shop")
        self.assertEqual(status, 200, answer)
        return answer

    def no_token(self, wanted, status=400, **form):
        """Checks that the token endpoint fails with an OAuth error. Returns its description."""
        got, answer, headers = self.token(**form)
        self.assertEqual((got, answer["error"]), (status, wanted), answer)
        self.assertTrue(answer["error_description"].strip())
        self.assertEqual(headers["Cache-Control"], "no-store")
        return answer["error_description"]

    def userinfo(self, token, issuer=None):
        answer = self.person.open((issuer or self.issuer) + "/userinfo", Authorization=f"Bearer {token}")
        return answer.status, json.loads(answer.body), answer.headers

    def verified(self, token, audience="shop", issuer=None):
        """Verifies a token with the keys that the issuer publishes. Returns its claims."""
        document = self.discovery(issuer)
        keys = jwt.PyJWKClient(document["jwks_uri"])
        return jwt.decode(
            token, keys.get_signing_key_from_jwt(token), algorithms=document["id_token_signing_alg_values_supported"], audience=audience,
            issuer=document["issuer"], options={"verify_iat": False})


class WholeLogins(WithProvider):
    @only("sqlite", "postgres")
    def test_third_party_client_completes_the_authorization_code_flow(self):
        account = self.account()
        document = self.discovery()
        self.assertEqual(document["issuer"], self.issuer)
        with OAuth2Client(
                "shop", "secret", scope="openid email profile offline_access", redirect_uri=BACK, code_challenge_method="S256", trust_env=False) as client:
            verifier = secrets.token_urlsafe(48)
            url, state = client.create_authorization_url(document["authorization_endpoint"], nonce="n-7", code_verifier=verifier)
            back = self.log_in(url)
            self.assertEqual(back.status, 303)
            self.assertEqual((back.back["state"], back.back["iss"]), (state, self.issuer))
            token = client.fetch_token(document["token_endpoint"], authorization_response=back.headers["Location"], code_verifier=verifier)
            claims = joserfc.jwt.decode(token["id_token"], joserfc.jwk.KeySet.import_key_set(self.get(document["jwks_uri"]))).claims
            self.assertEqual(
                {name: claims[name] for name in ("iss", "sub", "aud", "nonce", "email", "email_verified", "name", "amr")},
                {"iss": self.issuer, "sub": account["accountId"], "aud": "shop", "nonce": "n-7", "email": "alice@example.com", "email_verified": True,
                 "name": "Alice", "amr": ["pwd"]})
            half = hashlib.sha256(token["access_token"].encode()).digest()[:16]
            self.assertEqual(claims["at_hash"], base64.urlsafe_b64encode(half).rstrip(b"=").decode())
            self.assertEqual(client.get(document["userinfo_endpoint"]).json()["sub"], account["accountId"])
            fresh = client.refresh_token(document["token_endpoint"])
            self.assertNotEqual(fresh["refresh_token"], token["refresh_token"])
            self.assertEqual(self.verified(fresh["id_token"])["sub"], account["accountId"])
        self.assertEqual(self.verified(token["access_token"])["scope"], "openid email profile offline_access")

    def test_another_process_signs_users_in_with_the_provider(self):
        self.account()
        app = self.spawn(testing=True)
        app.call("idp.create", {"providerId": "oidc.test", "issuer": self.issuer, "clientId": "shop", "clientSecret": "s", "responseType": "code"})
        flow = app.call("idp.authorize", {"providerId": "oidc.test", "redirectUri": "https://shop.example.com/back"})
        back = self.log_in(flow["authorizationUrl"]).headers["Location"]
        answer = app.call("signIn.withCredential", {"credential": {"continuationToken": flow["continuationToken"], "url": back}, "returnProviderTokens": True})
        self.assertEqual((answer["state"], answer["account"]["email"]), ("completed", "alice@example.com"))
        self.assertTrue(app.call("idp.test", {"providerId": "oidc.test"})["ok"])

    def test_wrong_password_and_lockout_are_reported_on_the_login_page(self):
        self.account()
        wrong = self.log_in(self.authorize_url(), password="not-the-password")
        self.assertEqual(wrong.status, 200)
        self.assertIn("Wrong password.", wrong.text)
        self.assertIn("No account of tenant default has this email address.", self.log_in(self.authorize_url(), "bob@example.com").text)
        for each in range(20):
            wrong = self.log_in(self.authorize_url(), password=f"wrong-{each}")
            if "Too many failed attempts" in wrong.text:
                break
        self.assertIn("Too many failed attempts", wrong.text)
        self.assertIn("Too many failed attempts", self.log_in(self.authorize_url()).text)
        self.sidecar.call("test.clock", {"advanceSeconds": 86400})
        self.assertIn("code", self.log_in(self.authorize_url()).back)

    def test_emailed_code_signs_the_user_in(self):
        self.sidecar.call("account.create", {"username": "carol@example.com"})
        page = self.log_in(self.authorize_url(), "carol@example.com", "")
        self.assertIn("The code was sent to c***@e***.com", page.text)
        page = self.person.send(page, code="00000000")
        self.assertEqual(page.parsed.title, "Enter the code from the email")
        code = self.sidecar.call("test.outbox", {"to": "carol@example.com"})["messages"][0]["code"]
        self.assertIn("code", self.person.send(page, code=code).back)

    def test_second_factor_is_requested(self):
        self.sidecar.call("tenant.update", {"tenantId": "default", "mfa": "optional"})
        self.account()
        session = self.sidecar.call("signIn.withPassword", {"username": "alice@example.com", "password": PASSWORD})
        factor = self.sidecar.call("mfa.enroll", {"idToken": session["idToken"], "kind": "totp"})
        app = pyotp.TOTP(factor["secret"])
        now = lambda: self.sidecar.call("test.clock", {})["now"]
        self.sidecar.call("mfa.confirm", {"continuationToken": factor["continuationToken"], "code": app.at(now())})
        self.sidecar.call("test.clock", {"advanceSeconds": 60})
        page = self.log_in(self.authorize_url())
        self.assertIn("Your authenticator app shows it.", page.text)
        page = self.person.send(page, code="000000" if app.at(now()) != "000000" else "111111")
        self.assertIn("not the current code of the app", page.text)
        code = self.person.send(page, code=app.at(now())).back["code"]
        _, answer, _ = self.token(grant_type="authorization_code", code=code, redirect_uri=BACK, client_id="shop")
        self.assertEqual(self.verified(answer["id_token"])["amr"], ["pwd", "otp", "mfa"])   # RFC 8176

    def test_authorization_code_is_single_use_and_expires(self):
        self.account()
        answer = self.tokens(scope="openid offline_access")
        code = self.log_in(self.authorize_url(prompt="login")).back["code"]
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK, "client_id": "shop"}
        self.assertIn("redirect_uri differs", self.no_token("invalid_grant", **{**form, "redirect_uri": BACK + "2"}))
        self.assertIn("another client", self.no_token("invalid_grant", **{**form, "client_id": "other"}))
        good = self.token(**form)   # the rejected requests have not used the code
        self.assertEqual(good[0], 200, good)
        self.assertIn("The code was already used", self.no_token("invalid_grant", **form))
        self.assertEqual(self.person.open(self.issuer + "/userinfo", Authorization=f"Bearer {good[1]['access_token']}").status, 401)
        self.assertEqual(self.token(grant_type="refresh_token", refresh_token=answer["refresh_token"], client_id="shop")[0], 200)
        code = self.log_in(self.authorize_url(prompt="login")).back["code"]
        self.sidecar.call("test.clock", {"advanceSeconds": 61})
        self.assertIn("expired", self.no_token("invalid_grant", **{**form, "code": code}))

    def test_pkce_verifier_is_checked(self):
        self.account()
        verifier = "v" * 43
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
        for wanted, more in {None: {"code_verifier": verifier}, "does not match": {"code_verifier": "w" * 43}, "missing": {}}.items():
            code = self.log_in(self.authorize_url(prompt="login", code_challenge=challenge, code_challenge_method="S256")).back["code"]
            form = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK, "client_id": "shop", **more}
            if wanted:
                self.assertIn(wanted, self.no_token("invalid_grant", **form))
            self.assertEqual(self.token(**{**form, "code_verifier": verifier})[0], 200)
        code = self.log_in(self.authorize_url(prompt="login")).back["code"]
        self.no_token("invalid_grant", grant_type="authorization_code", code=code, redirect_uri=BACK, client_id="shop", code_verifier=verifier)
        self.assertEqual(self.person.open(self.authorize_url(code_challenge=challenge, code_challenge_method="plain")).back["error"], "invalid_request")
