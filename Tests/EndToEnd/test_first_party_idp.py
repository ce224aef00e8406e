"""OAuth 2.0 for First-Party Applications at the identity provider for tests, with the OAuth client of Authlib."""

import base64
import json

from authlib.integrations.httpx_client import OAuth2Client
from authlib.oauth2.rfc7636 import create_s256_code_challenge

from test_test_idp import PASSWORD, WithProvider

VERIFIER = "a-code-verifier-of-at-least-forty-three-characters"
ALICE = "alice@example.com"


class FirstPartyProvider(WithProvider):
    def setUp(self):
        super().setUp()
        self.metadata = self.get(self.issuer + "/.well-known/oauth-authorization-server")
        self.call = self.sidecar.call
        self.call("application.put", {"clientId": "mobile"})
        self.account(ALICE)

    def challenge(self, status=400, basic=None, **form):
        headers = {"Authorization": "Basic " + base64.b64encode(basic.encode()).decode()} if basic else {}
        answer = self.person.open(self.metadata["authorization_challenge_endpoint"], form, **headers)
        self.assertEqual(answer.status, status, answer.body)
        self.assertIsNone(answer.headers["Access-Control-Allow-Origin"])
        return json.loads(answer.body)

    def signed_in(self, **form):
        step = self.challenge(client_id="mobile", login_hint=ALICE, **form)
        self.assertEqual((step["error"], step["next"]), ("insufficient_authorization", "password"))
        return self.challenge(200, auth_session=step["auth_session"], password=PASSWORD)["authorization_code"]

    def test_metadata_has_both_names_of_the_endpoint(self):
        self.assertEqual(self.metadata["authorization_challenge_endpoint"], self.issuer + "/authorize-challenge")
        self.assertEqual(self.metadata["native_authorization_endpoint"], self.issuer + "/authorize-challenge")
        self.assertEqual(self.discovery(), self.metadata)

    def test_an_oauth_client_redeems_the_code_and_refreshes(self):
        code = self.signed_in(scope="openid email offline_access", code_challenge=create_s256_code_challenge(VERIFIER), code_challenge_method="S256")
        client = OAuth2Client("mobile", token_endpoint_auth_method="none", code_challenge_method="S256", trust_env=False)
        self.addCleanup(client.close)
        token = client.fetch_token(self.metadata["token_endpoint"], grant_type="authorization_code", code=code, code_verifier=VERIFIER)
        claims = self.verified(token["id_token"], "mobile")
        self.assertEqual((claims["iss"], claims["email"], claims["amr"]), (self.issuer, ALICE, ["pwd"]))
        fresh = client.refresh_token(self.metadata["token_endpoint"], refresh_token=token["refresh_token"])
        self.assertEqual(self.verified(fresh["id_token"], "mobile")["sub"], claims["sub"])
        self.assertEqual(self.userinfo(fresh["access_token"])[1]["email"], ALICE)
        self.no_token("invalid_grant", grant_type="authorization_code", client_id="mobile", code=code, code_verifier=VERIFIER)

    def test_codes_are_bound(self):
        code = self.signed_in(code_challenge=create_s256_code_challenge(VERIFIER), code_challenge_method="S256")
        form = {"grant_type": "authorization_code", "code": code}
        self.no_token("invalid_grant", client_id="mobile", **form)
        self.no_token("invalid_grant", client_id="other", code_verifier=VERIFIER, **form)
        self.call("test.clock", {"advanceSeconds": 60})
        self.no_token("invalid_grant", client_id="mobile", code_verifier=VERIFIER, **form)

    def test_confidential_applications_authenticate(self):
        self.call("application.put", {"clientId": "server", "type": "confidential"})
        form = {"client_id": "server", "login_hint": ALICE}
        self.assertEqual(self.challenge(**form)["error"], "invalid_client")
        # Without configured clients, any secret is accepted at the token endpoint, and proves nothing here.
        self.assertEqual(self.challenge(client_secret="guess", **form)["error"], "invalid_client")
        self.call("test.idp", {"issuers": [{"name": "default", "tenantId": "default", "clients": [{"clientId": "server", "clientSecret": "s3cret-of-server"}]}]})
        self.assertEqual(self.challenge(**form)["error"], "invalid_client")
        self.assertEqual(self.challenge(401, basic="server:wrong", login_hint=ALICE)["error"], "invalid_client")
        step = self.challenge(basic="server:s3cret-of-server", login_hint=ALICE)
        self.assertEqual(step["next"], "password")
        self.assertEqual(self.challenge(auth_session=step["auth_session"], password=PASSWORD)["error"], "invalid_client")
        code = self.challenge(200, basic="server:s3cret-of-server", auth_session=step["auth_session"], password=PASSWORD)["authorization_code"]
        self.no_token("invalid_client", 401, grant_type="authorization_code", client_id="server", code=code)
        status, tokens, _ = self.token(basic="server:s3cret-of-server", grant_type="authorization_code", code=code)
        self.assertEqual((status, tokens["token_type"]), (200, "Bearer"))
