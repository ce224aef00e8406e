"""OAuth 2.0 for First-Party Applications at the identity provider for tests, with the OAuth client of Authlib."""

import base64
import json

import test_test_idp_dpop as dpop
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


class BoundCodes(WithProvider):
    """The session and its code are bound to the key of a proof (RFC 9449 section 10.1)."""

    begin, send = dpop.Proofs.begin, dpop.Proofs.send

    def setUp(self):
        super().setUp()
        self.account(ALICE)
        self.sidecar.call("application.put", {"clientId": "app"})
        self.holder = dpop.Holder()
        self.begin("optional")

    def step(self, *proofs, **form):
        return self.send(form, *proofs, url=self.issuer + "/authorize-challenge")

    def proven(self, **claims):
        return self.holder.proof(self.issuer + "/authorize-challenge", **claims)

    def session(self, *proofs):
        status, answer, _ = self.step(*proofs, client_id="app", login_hint=ALICE, scope="openid offline_access")
        self.assertEqual((status, answer["next"]), (400, "password"), answer)
        return {"auth_session": answer["auth_session"], "password": PASSWORD}

    def test_every_request_needs_a_proof_of_the_first_key(self):
        form = self.session(self.proven())
        for proofs in ((), (dpop.Holder().proof(self.issuer + "/authorize-challenge"),)):
            status, answer, _ = self.step(*proofs, **form)
            self.assertEqual((status, answer["error"]), (400, "invalid_session"), answer)
        for proofs in (("nonsense",), (self.holder.proof(self.endpoint),), (self.proven(), self.proven())):
            status, answer, _ = self.step(*proofs, **form)
            self.assertEqual((status, answer["error"]), (400, "invalid_dpop_proof"), answer)
        status, answer, _ = self.step(self.proven(), **form)
        self.assertEqual(status, 200, answer)
        code = {"grant_type": "authorization_code", "client_id": "app", "code": answer["authorization_code"]}
        for proofs in ((), (dpop.Holder().proof(self.endpoint),)):
            status, answer, _ = self.send(code, *proofs)
            self.assertEqual((status, answer["error"]), (400, "invalid_grant"), answer)
        base = self.sidecar.call("test.http", {})["baseUrl"]
        status, answer, _ = self.send(code, url=base + "/default/oauth2/v2.0/token")
        self.assertEqual((status, answer["error"]), (400, "invalid_grant"), answer)
        status, answer, _ = self.send(code, self.holder.proof(self.endpoint))
        self.assertEqual((status, answer["token_type"]), (200, "DPoP"), answer)
        self.assertEqual(self.verified(answer["access_token"], "app", self.issuer)["cnf"], {"jkt": self.holder.thumbprint})

    def test_session_without_a_proof_is_not_bound(self):
        status, answer, _ = self.step(self.proven(), **self.session())
        self.assertEqual(status, 200, answer)
        code = {"grant_type": "authorization_code", "client_id": "app", "code": answer["authorization_code"]}
        status, answer, _ = self.send(code)
        self.assertEqual((status, answer["token_type"]), (200, "Bearer"), answer)

    def test_proofs_have_the_nonce_of_the_issuer(self):
        self.begin("requiredWithNonce")
        status, answer, headers = self.step(self.proven(), client_id="app", login_hint=ALICE)
        self.assertEqual((status, answer["error"]), (400, "use_dpop_nonce"), answer)
        status, answer, headers = self.step(self.proven(nonce=headers["dpop-nonce"]), client_id="app", login_hint=ALICE)
        self.assertEqual((status, answer["next"]), (400, "password"), answer)
        self.assertTrue(headers["dpop-nonce"])
