"""`test.idp` as the authorization server of an MCP server: both sides are the official Python SDK, unmodified."""

import jwt
import protectedmcp
from authlib.integrations.httpx_client import OAuth2Client
from cryptography.hazmat.primitives import serialization
from endtoend import only
from jwt.algorithms import RSAAlgorithm
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider, PrivateKeyJWTOAuthProvider, SignedJWTParameters, static_assertion_provider
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider
from mcp.shared.auth import OAuthClientInformationFull
from protectedmcp import BACK, Server, Storage, User
from rsakeys import rsa_key
from test_test_idp import WithProvider
from websites import page, Authority, Website

EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"


class Clients(WithProvider):
    def setUp(self):
        super().setUp()
        self.sidecar.call("test.clock", {"freeze": False})
        self.user_id = self.account()["accountId"]
        self.server, self.user, self.storage = Server(), User(), Storage()
        self.begin()
        self.addCleanup(self.server.close)

    def begin(self, **more):
        """Starts an issuer for the MCP server, and the server."""
        issuer = self.configure(**more)
        self.server.begin(issuer["issuer"], issuer["jwksUrl"])
        self.server.now = lambda: self.sidecar.call("system.ping")["now"]
        return issuer

    def configure(self, **more):
        return self.sidecar.call("test.idp", {"issuers": [{
            "name": "mcp", "tenantId": "default", "signInAs": "alice@example.com",
            "resources": [{"resource": self.server.resource, "scopes": ["notes", "admin"]}], **more}]})

    def provider(self, **more):
        return OAuthClientProvider(
            self.server.resource, protectedmcp.metadata(**more.pop("metadata", {})), self.storage, self.user.redirect, self.user.callback, **more)

    @only("sqlite", "postgres")
    def test_client_discovers_registers_signs_in_and_refreshes(self):
        def expire():
            self.sidecar.call("test.clock", {"advanceSeconds": 7200})
            self.storage.tokens.expires_in = -1
            auth.context.token_expiry_time = 1
        auth = self.provider()
        self.assertEqual(protectedmcp.call(self.server, auth, expire), [self.user_id] * 2)
        asked = self.user.asked
        self.assertEqual((asked["resource"], asked["code_challenge_method"]), (self.server.resource, "S256"))
        self.assertTrue(asked["client_id"].startswith("client-"))
        self.assertEqual(len(self.user.urls), 1)
        first, second = self.storage.all
        self.assertNotEqual(first.refresh_token, second.refresh_token)
        self.assertEqual({claims["aud"] for claims in self.server.accepted}, {self.server.resource})
        self.assertEqual({claims["client_id"] for claims in self.server.accepted}, {asked["client_id"]})

    def test_deleted_registration_makes_the_client_fail_and_a_new_one_works(self):
        protectedmcp.call(self.server, self.provider())
        self.sidecar.call("test.reset", {})
        self.user_id = self.account()["accountId"]
        self.configure()
        self.storage = Storage()
        self.assertEqual(protectedmcp.call(self.server, self.provider()), [self.user_id])

    def test_client_with_a_metadata_document_needs_no_registration(self):
        authority = Authority(self.folder)
        site = Website(authority.context("127.0.0.1"))
        self.addCleanup(site.close)
        client_id = f"{site.origin}/client.json"
        site.pages["/client.json"] = page({
            "client_id": client_id, "client_name": "inspector", "redirect_uris": [BACK], "grant_types": ["authorization_code", "refresh_token"]})
        self.sidecar.close()
        self.sidecar = self.spawn("--ca-file", authority.path, testing=True)
        self.user_id = self.account()["accountId"]
        self.server.close()
        self.server = Server()
        self.begin()
        self.assertEqual(protectedmcp.call(self.server, self.provider(client_metadata_url=client_id)), [self.user_id])
        self.assertEqual(self.user.asked["client_id"], client_id)
        self.assertEqual(site.asked, ["/client.json"])
        self.assertIsNotNone(self.storage.tokens.refresh_token)

    def test_configured_client_gets_tokens_for_itself(self):
        self.configure(clients=[{"clientId": "cron", "clientSecret": "secret of cron"}])
        auth = ClientCredentialsOAuthProvider(
            self.server.resource, self.storage, "cron", "secret of cron", issuer=self.server.issuer, scope="notes")
        self.assertEqual(protectedmcp.call(self.server, auth), ["cron"])

    def test_client_signs_its_requests_for_tokens(self):
        def signing(key):
            pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
            signed = SignedJWTParameters(issuer="cron", subject="cron", signing_key=pem)
            return PrivateKeyJWTOAuthProvider(
                self.server.resource, self.storage, "cron", signed.create_assertion_provider(), issuer=self.server.issuer, scope="notes")

        def expire():
            self.sidecar.call("test.clock", {"advanceSeconds": 7200})
        key, other = (rsa_key() for _ in range(2))
        self.configure(clients=[{"clientId": "cron", "keys": [RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)]}])
        self.assertEqual(protectedmcp.call(self.server, signing(key), expire), ["cron"] * 2)
        self.assertEqual(len(self.storage.all), 2)
        self.assertIsNone(self.storage.tokens.refresh_token)
        self.storage = Storage()
        with self.assertRaises(BaseException) as caught:
            protectedmcp.call(self.server, signing(other))
        self.assertIn("signature", "".join(str(each) for each in self.leaves(caught.exception)))

    def test_workload_authenticates_with_the_token_of_its_platform(self):
        def expire():
            self.sidecar.call("test.clock", {"advanceSeconds": 120})
        made = self.sidecar.call("test.workloadToken", {"family": "kubernetes", "claims": {"aud": [self.server.issuer]}})
        subject = jwt.decode(made["token"], options={"verify_signature": False})["sub"]
        self.sidecar.call("tenant.update", {"tenantId": "default", "tokens": {"accessTokenSeconds": 60}})
        self.configure(clients=[{"clientId": "pod", "keys": made["keys"], "assertionIssuer": made["issuer"], "assertionSubject": subject}])
        auth = PrivateKeyJWTOAuthProvider(
            self.server.resource, self.storage, "pod", static_assertion_provider(made["token"]), issuer=self.server.issuer, scope="notes")
        self.assertEqual(protectedmcp.call(self.server, auth, expire), ["pod"] * 2)
        self.assertEqual(len(self.storage.all), 2)

    def test_identity_assertion_of_a_company_signs_in_at_the_server(self):
        """Cross-app access: the identity provider of the company issues the assertion, the server's authorization server redeems it."""
        company = self.sidecar.call("test.idp", {"issuers": [{
            "name": "company", "clients": [{"clientId": "desk", "clientSecret": "desk's secret", "redirectUris": [BACK]}], "signInAs": "alice@example.com",
            "createAccounts": True}]})["issuer"]
        self.configure(clients=[{"clientId": "desk", "clientSecret": "the other secret"}])
        with OAuth2Client("desk", "desk's secret", scope="openid email", redirect_uri=BACK, trust_env=False) as http:
            url, _ = http.create_authorization_url(company + "/authorize")
            http.fetch_token(company + "/token", authorization_response=self.user.person.open(url).headers["Location"])
            id_token = http.token["id_token"]
        audiences = []

        async def assertion(audience, resource):
            audiences.append((audience, resource))
            status, answer, _ = self.token(
                company, basic="desk:desk's secret", grant_type=EXCHANGE, requested_token_type=ID_JAG, subject_token=id_token,
                subject_token_type="urn:ietf:params:oauth:token-type:id_token", audience=audience, resource=resource, scope="notes")
            self.assertEqual((status, answer["token_type"], answer["issued_token_type"]), (200, "N_A", ID_JAG), answer)
            self.assertEqual(jwt.get_unverified_header(answer["access_token"])["typ"], "oauth-id-jag+jwt")
            return answer["access_token"]

        auth = IdentityAssertionOAuthProvider(
            self.server.resource, self.storage, "desk", "the other secret", self.server.issuer, assertion, scope="notes")
        self.assertEqual(protectedmcp.call(self.server, auth), [self.user_id])
        self.assertEqual(audiences, [(self.server.issuer, self.server.resource)])
        self.assertIsNone(self.storage.tokens.refresh_token)

    def test_tokens_of_another_resource_and_issuer_are_refused_by_the_server(self):
        other = "http://127.0.0.1:9/other"
        self.configure(resources=[{"resource": self.server.resource, "scopes": ["notes"]}, {"resource": other, "scopes": ["notes"]}])
        auth = self.provider()
        protectedmcp.call(self.server, auth)
        for claims, status in (({"aud": self.server.resource}, 200), ({"aud": other}, 401), ({"iss": self.issuer}, 401)):
            token = self.sidecar.call("test.token", {
                "issuer": self.server.issuer, "subject": self.user_id, "use": "access", "audience": self.server.resource,
                "claims": {"scope": "notes", "client_id": "x", **claims}})["token"]
            answer = self.user.person.open(self.server.resource, {}, Authorization=f"Bearer {token}")
            self.assertEqual(answer.status == 401, status == 401, answer.body)
        answer = self.user.person.open(self.server.resource, {})
        self.assertEqual(answer.status, 401)
        self.assertIn("resource_metadata=", answer.headers["WWW-Authenticate"])

    def test_stored_registration_of_another_server_is_not_accepted(self):
        self.storage.client = OAuthClientInformationFull(client_id="client-of-nobody", redirect_uris=[BACK], token_endpoint_auth_method="none")
        with self.assertRaises(BaseException) as caught:
            protectedmcp.call(self.server, self.provider())
        self.assertIn("client-of-nobody", "".join(str(each) for each in self.leaves(caught.exception)))

    def leaves(self, error):
        return [leaf for each in error.exceptions for leaf in self.leaves(each)] if isinstance(error, BaseExceptionGroup) else [error]
