"""Identity Assertion JWT Authorization Grant (ID-JAG): issued and redeemed, with Authlib's implementation as the counterpart."""

import concurrent.futures
import json
import time

from authlib.oauth2.drafts.id_jag import IDJAGGrant
from authlib.oauth2.rfc6749 import AuthorizationServer, ClientMixin, InvalidGrantError, InvalidScopeError, OAuth2Error
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload, OAuth2Request
from cryptography.hazmat.primitives.asymmetric import ec
import jwt
from joserfc import jwk as joserfc_jwk
from jwt.algorithms import ECAlgorithm

from endtoend import EndToEnd, encode
from federation import PASSWORD
from sidecar import RpcError
from test_delegation import ORDERS, TYPE, claims, header
from websites import OpenIDWebsite

ID_JAG = TYPE + "id-jag"
ELSEWHERE, RESOURCE = "https://auth.example.com", "https://files.example.com"


class IdJag(EndToEnd):
    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn(testing=True)

    def call(self, method, **params):
        return self.sidecar.call(method, params)

    def user(self, tenant, name="alice", client=None, **more):
        self.call("account.create", tenantId=tenant, username=f"{name}@example.com", password=PASSWORD, emailVerified=True)
        return self.call("signIn.withPassword", tenantId=tenant, username=f"{name}@example.com", password=PASSWORD, **({"clientId": client} if client else {}), **more)


class Request(OAuth2Request):
    @property
    def form(self):
        return self.content


class Counterpart(AuthorizationServer):
    """The authorization server of another company, made with Authlib. It trusts the issuer of the assertions."""

    def __init__(self, keys, issuer, audience):
        super().__init__()
        self.used, server = set(), self

        class Client(ClientMixin):
            def get_client_id(self):
                return "chat-app"

            def check_grant_type(self, grant_type):
                return True

            def get_allowed_scope(self, scope):
                return scope or ""

            def check_client_secret(self, secret):
                return secret == "secret"

            def check_endpoint_auth_method(self, method, endpoint):
                return True

        class Grant(IDJAGGrant):
            def get_audiences(self):
                return [audience]

            def resolve_issuer_key(self, given, headers):
                if given != issuer:
                    raise InvalidGrantError(description="unknown issuer")
                return joserfc_jwk.KeySet.import_key_set({"keys": keys})

            def authenticate_user(self, subject):
                return subject

            def check_jti(self, claims, jti):
                is_new = jti not in server.used
                server.used.add(jti)
                return is_new

            def check_id_jag_permission(self, client, user, scopes):
                return True

            def authenticate_token_endpoint_client(self):
                return Client()

        self.grant = Grant
        self.scopes_supported = None

    def redeem(self, assertion, **form):
        """Returns the verified claims and the scope of the access token."""
        request = Request("POST", "https://auth.example.com/token")
        request.content = {"grant_type": IDJAGGrant.GRANT_TYPE, "assertion": assertion, **form}
        request.payload = BasicOAuth2Payload(request.content)
        grant = self.grant(request, self)
        grant.validate_token_request()
        return request.id_jag_claims, request.scope

    def validate_requested_scope(self, scope):
        return None


class Issue(IdJag):
    def setUp(self):
        super().setUp()
        self.issuer = self.call("tenant.create", tenantId="corp", idJag=[
            {"clientId": "chat", "audiences": [ELSEWHERE], "resources": [RESOURCE], "scopes": ["files.read", "files.write"], "clientIdThere": "chat-app", "email": True},
            {"clientId": "corp", "audiences": ["https://other.example.com"], "scopes": [], "clientIdThere": "corp-there"}])["issuer"]
        self.call("application.put", tenantId="corp", clientId="chat")
        self.alice = self.user("corp", client="chat")

    def params(self, token=None, **more):
        return {"subjectToken": token or self.alice["idToken"], "subjectTokenType": TYPE + "id_token", "requestedTokenType": ID_JAG, "clientId": "chat",
                "audience": [ELSEWHERE], **more}

    def assertion(self, **more):
        return self.call("token.exchange", **self.params(**more))

    def denied(self, wanted, oauth, **more):
        error = self.refused(wanted, self.sidecar, "token.exchange", self.params(**more))
        self.assertEqual(error.data["oauthError"], oauth)

    def test_assertion_is_accepted_elsewhere(self):
        answer = self.assertion(resource=[RESOURCE], scope="files.read")
        self.assertEqual((answer["issuedTokenType"], answer["tokenType"], answer["scope"]), (ID_JAG, "N_A", "files.read"))
        self.assertNotIn("refreshToken", answer)
        told = claims(answer["token"])
        self.assertEqual(header(answer["token"])["typ"], "oauth-id-jag+jwt")
        account = self.alice["account"]["accountId"]
        self.assertEqual({name: told[name] for name in ("iss", "sub", "aud", "client_id", "scope", "resource", "email", "amr")}, {
            "iss": self.issuer, "sub": account, "aud": ELSEWHERE, "client_id": "chat-app", "scope": "files.read", "resource": RESOURCE,
            "email": "alice@example.com", "amr": ["pwd"]})
        self.assertLessEqual(told["exp"] - told["iat"], 300)
        self.assertIn("auth_time", told)
        other = Counterpart(self.call("token.jwks", issuer=self.issuer)["keys"], self.issuer, ELSEWHERE)
        verified, scope = other.redeem(answer["token"])
        self.assertEqual((verified["sub"], verified["client_id"], scope), (account, "chat-app", "files.read"))
        with self.assertRaises(InvalidGrantError):
            other.redeem(answer["token"])   # once only
        with self.assertRaises(InvalidScopeError):
            other.redeem(self.assertion(scope="files.read")["token"], scope="files.write")
        with self.assertRaises(OAuth2Error):
            Counterpart(self.call("token.jwks", issuer=self.issuer)["keys"], self.issuer, "https://third.example.com").redeem(self.assertion()["token"])
        self.assertEqual(self.assertion()["scope"], "files.read files.write")
        record = self.sidecar.call("audit.list", {"method": "token.exchange"})["records"][-1]
        self.assertEqual((record["subject"], record["details"]["assertionFor"], record["details"]["tokenId"]), (account, ELSEWHERE, told["jti"]))

    def test_only_what_the_tenant_permits(self):
        self.denied("exchangeNotAllowed", "invalid_target", audience=["https://evil.example.com"])
        self.denied("exchangeNotAllowed", "invalid_target", audience=["https://other.example.com"])
        self.denied("exchangeNotAllowed", "invalid_target", audience=[ELSEWHERE, "https://other.example.com"])
        for missing in ("clientId", "audience"):
            error = self.refused("exchangeNotAllowed", self.sidecar, "token.exchange", {name: value for name, value in self.params().items() if name != missing})
            self.assertIn("clientId", error.data["reason"])
        self.denied("audienceNotOffered", "invalid_target", resource=["https://evil.example.com"])
        self.denied("scopeNotGranted", "invalid_scope", scope="files.read files.delete")
        self.denied("clientUnknown", "invalid_client", clientId="nowhere")
        # The ID token of one application gives no assertion to another one.
        self.denied("tokenAudienceMismatch", "invalid_request", clientId="corp", audience=["https://other.example.com"])
        self.denied("tokenUseMismatch", "invalid_request", token=self.alice["accessToken"], subjectTokenType=TYPE + "jwt")
        self.denied("tokenTypeNotSupported", "invalid_request", token=self.alice["accessToken"], subjectTokenType=TYPE + "access_token")
        self.denied("exchangeNotAllowed", "invalid_target", actorToken=self.alice["idToken"], actorTokenType=TYPE + "id_token")
        self.denied("tokenTypeNotSupported", "invalid_request", subjectTokenType=ID_JAG)
        for name, place in (("audiences", 0),):
            again = [{"clientId": "chat", "audiences": [ELSEWHERE, ELSEWHERE + "/"], "scopes": [], "clientIdThere": "x"},
                     {"clientId": "chat", "audiences": [ELSEWHERE], "scopes": [], "clientIdThere": "y"}]
            error = self.refused("invalidTenantSettings", self.sidecar, "tenant.update", {"tenantId": "corp", "idJag": again})
            self.assertEqual(error.data["pointer"], f"/idJag/1/{name}/{place}")

    def test_confidential_application_shows_its_secret(self):
        self.call("application.put", tenantId="corp", clientId="chat", type="confidential")
        secret = self.call("application.addSecret", tenantId="corp", clientId="chat")["clientSecret"]
        self.denied("clientSecretInvalid", "invalid_client")
        self.denied("clientSecretInvalid", "invalid_client", clientSecret="wrong")
        self.assertion(clientSecret=secret)

    def test_user_must_be_signed_in(self):
        token = self.assertion()["token"]
        self.call("session.signOut", idToken=self.alice["idToken"])
        self.denied("tokenRevoked", "invalid_request")
        self.refused("tokenMalformed", self.sidecar, "token.verify", {"token": token, "tenantId": "corp"})
        for method in ("account.me", "session.signOut"):
            self.refused("tokenMalformed", self.sidecar, method, {"idToken": token})

    def test_refresh_token_proves_the_sign_in_too(self):
        refresh = {"token": self.alice["refreshToken"], "subjectTokenType": TYPE + "refresh_token"}
        told, by_id = claims(self.assertion(**refresh)["token"]), claims(self.assertion()["token"])
        for name in ("iss", "sub", "aud", "client_id", "auth_time", "amr", "email", "scope"):
            self.assertEqual(told[name], by_id[name])
        self.call("session.refresh", refreshToken=self.alice["refreshToken"])
        self.denied("refreshTokenInvalid", "invalid_request", **refresh)   # it is not used by an assertion, but by a refresh
        other = self.user("corp", "bob")
        refresh["token"] = other["refreshToken"]
        self.denied("tokenAudienceMismatch", "invalid_request", **refresh)
        self.denied("refreshTokenInvalid", "invalid_request", **{**refresh, "token": "unknown"})
        self.call("tenant.create", tenantId="third")
        self.denied("refreshTokenInvalid", "invalid_request", **refresh, tenantId="third")
        self.call("session.signOut", idToken=other["idToken"])
        self.denied("refreshTokenInvalid", "invalid_request", **refresh)
        self.refused("tokenTypeNotSupported", self.sidecar, "token.exchange", {"subjectToken": refresh["token"], "subjectTokenType": refresh["subjectTokenType"]})

    def test_unverified_address_stays_at_home(self):
        self.call("account.update", accountId=self.alice["account"]["accountId"], emailVerified=False)
        self.assertNotIn("email", claims(self.assertion()["token"]))

    def test_discovery_names_the_profile(self):
        document = self.call("token.discovery", issuer=self.issuer)
        self.assertEqual(document["authorization_grant_profiles_supported"], ["urn:ietf:params:oauth:grant-profile:id-jag"])
        self.assertIn("urn:ietf:params:oauth:grant-type:jwt-bearer", document["grant_types_supported"])


class Redeeming(IdJag):
    """A tenant that accepts the assertions of an issuer whose key the test has."""

    def setUp(self):
        super().setUp()
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.idp = "https://login.example.com"
        self.trust()
        self.issuer = self.call("tenant.create", tenantId="shop", audiences=[ORDERS], scopes=["read", "write"], subjectIssuers=[
            {"issuer": self.idp, "audiences": ["shop", ORDERS], "scopes": ["read", "write"]}])["issuer"]
        self.call("application.put", tenantId="shop", clientId="backend", type="confidential")
        self.secret = self.call("application.addSecret", tenantId="shop", clientId="backend")["clientSecret"]
        self.account = self.user("shop")["account"]["accountId"]
        self.call("account.update", accountId=self.account, link=[{"providerId": self.idp, "subject": "alice-7"}])

    def trust(self, **more):
        public = {**json.loads(ECAlgorithm.to_jwk(self.key.public_key())), "kid": "k1", "alg": "ES256", "use": "sig"}
        self.call("issuer.put", **{"issuer": self.idp, "audiences": ["unused"], "keys": [public], "uses": ["idJag"], **more})

    def sign(self, issuer=None, audience=None, subject="alice-7", client="backend", key=None, header=None, life=300, age=0, remove=(), **more):
        """Returns an assertion, signed by Authlib."""
        now = int(time.time()) - age
        content = {"scope": "read", **more}
        private = joserfc_jwk.ECKey.import_key(key or self.key, {"kid": "k1"})
        token = IDJAGGrant.sign(private, issuer or self.idp, audience or self.issuer, subject, client, claims=content, issued_at=now, expires_at=now + life,
                                alg="ES256", header={"alg": "ES256", "kid": "k1"})
        if not remove and not header and not isinstance(content.get("aud"), (list, int)):
            return token if isinstance(token, str) else token.decode()
        body = {name: value for name, value in claims(token if isinstance(token, str) else token.decode()).items() if name not in remove}
        return jwt.encode({**body, **{name: value for name, value in more.items()}}, self.key, "ES256",
                          {name: value for name, value in {"kid": "k1", "typ": "oauth-id-jag+jwt", **(header or {})}.items()})

    def params(self, assertion=None, **more):
        return {"tenantId": "shop", "assertion": assertion or self.sign(), "clientId": "backend", "clientSecret": self.secret, **more}

    def redeem(self, assertion=None, **more):
        return self.call("token.redeem", **self.params(assertion, **more))

    def denied(self, wanted, oauth, assertion=None, **more):
        error = self.refused(wanted, self.sidecar, "token.redeem", self.params(assertion, **more))
        self.assertEqual(error.data["oauthError"], oauth, error)
        return error


class Redeem(Redeeming):
    def test_assertion_becomes_an_access_token(self):
        answer = self.redeem()
        self.assertEqual(set(answer), {"token", "tokenType", "expiresAt", "scope"})
        told = claims(answer["token"])
        self.assertEqual({name: told[name] for name in ("iss", "sub", "aud", "client_id", "scope", "amr")}, {
            "iss": self.issuer, "sub": self.account, "aud": "shop", "client_id": "backend", "scope": "read", "amr": ["fed"]})
        self.assertEqual(self.call("token.verify", token=answer["token"], tenantId="shop", scope="read")["use"], "access")
        record = self.sidecar.call("audit.list", {"method": "token.redeem"})["records"][0]
        self.assertEqual((record["subject"], record["details"]["issuer"], record["details"]["clientId"]), (self.account, self.idp, "backend"))
        for resource in (ORDERS, [ORDERS]):
            told = claims(self.redeem(self.sign(resource=resource))["token"])
            self.assertEqual(told["aud"], ORDERS)
        self.assertEqual(claims(self.redeem(self.sign(resource=[ORDERS, "shop"]))["token"])["aud"], [ORDERS, "shop"])
        # The application ends, and the token with it.
        self.call("application.delete", tenantId="shop", clientId="backend")
        self.refused("tokenRevoked", self.sidecar, "token.verify", {"token": answer["token"], "tenantId": "shop"})

    def test_every_check(self):
        now = int(time.time())
        grant = "invalid_grant"
        for wanted, bad in (
                ("tokenUseMismatch", self.sign(header={"typ": "JWT"})), ("tokenUseMismatch", self.sign(header={"typ": "at+jwt"})),
                ("tokenUseMismatch", self.sign(header={"typ": "OAUTH-ID-JAG+JWT"})), ("tokenUseMismatch", self.sign(header={"typ": None})),
                ("tokenMalformed", self.sign(header={"crit": ["x"], "x": 1})), ("tokenMalformed", "abc"), ("tokenKeyUnknown", self.sign(header={"kid": "k9"})),
                ("tokenIssuerMismatch", self.sign(issuer="https://evil.example.com")), ("tokenIssuerMismatch", self.sign(issuer=self.idp + "/")),
                ("tokenSignatureInvalid", self.sign(key=ec.generate_private_key(ec.SECP256R1()))),
                ("tokenAudienceMismatch", self.sign(audience="https://other.example.com")), ("tokenAudienceMismatch", self.sign(audience=self.issuer + "/token")),
                ("tokenAudienceMismatch", self.sign(aud=[self.issuer])), ("tokenAudienceMismatch", self.sign(aud=[self.issuer, "x"])),
                ("tokenAudienceMismatch", self.sign(remove=("aud",))), ("tokenClaimRejected", self.sign(client="other")),
                ("tokenExpired", self.sign(age=400)), ("tokenNotYetValid", self.sign(age=-100)), ("tokenNotYetValid", self.sign(nbf=now + 200)),
                ("tokenClaimRejected", self.sign(life=601)), ("tokenClaimRejected", self.sign(cnf={"jkt": "x"})),
                ("tokenClaimRejected", self.sign(act={"sub": "x"})), ("tokenClaimRejected", self.sign(authorization_details=[])),
                ("tokenClaimRejected", self.sign(tenant="t1")), ("tokenClaimRejected", self.sign(scope=["read"])), ("tokenClaimRejected", self.sign(resource=7)),
                ("tokenClaimRejected", self.sign(events={})), ("userNotFound", self.sign(subject="unknown")),
                ("audienceNotOffered", self.sign(resource="https://evil.example.com")),
                *(("tokenMalformed", self.sign(remove=(name,))) for name in ("exp", "iat", "jti", "sub", "client_id"))):
            with self.subTest(wanted, told=claims(bad) if bad.count(".") == 2 else bad):
                self.denied(wanted, grant, bad)
        self.denied("scopeNotGranted", "invalid_scope", scope="write")
        self.denied("scopeNotGranted", "invalid_scope", self.sign(remove=("scope",)), scope="openid")
        self.assertEqual(self.redeem(self.sign(scope="read write admin"))["scope"], "read write")
        self.assertEqual(self.redeem(self.sign(scope="read write"), scope="write")["scope"], "write")
        self.assertEqual(self.redeem(self.sign(remove=("scope",)))["scope"], "")
        head, body, _ = self.sign().split(".")
        self.denied("tokenAlgorithmNotAllowed", grant, f"{encode({'alg': 'none', 'typ': 'oauth-id-jag+jwt'})}.{body}.")
        self.trust(claims={"tenant": ["t1"]})
        self.redeem(self.sign(tenant="t1"))
        self.denied("tokenClaimRejected", grant, self.sign(tenant="t2"))

    def test_client_must_be_confidential_and_authenticated(self):
        self.denied("clientSecretInvalid", "invalid_client", clientSecret="wrong")
        self.refused("clientSecretInvalid", self.sidecar, "token.redeem", {name: value for name, value in self.params().items() if name != "clientSecret"})
        self.denied("clientUnknown", "invalid_client", clientId="nowhere")
        self.call("application.put", tenantId="shop", clientId="mobile")
        self.denied("clientSecretInvalid", "invalid_client", self.sign(client="mobile"), clientId="mobile", clientSecret=self.secret)
        error = self.refused("clientSecretInvalid", self.sidecar, "token.redeem", {
            "tenantId": "shop", "assertion": self.sign(client="mobile"), "clientId": "mobile"})
        self.assertEqual(error.data["oauthError"], "invalid_client")

    def test_each_assertion_once(self):
        assertion = self.sign()
        self.denied("scopeNotGranted", "invalid_scope", assertion, scope="write")   # a request that failed uses nothing
        self.redeem(assertion)
        self.denied("tokenReplayed", "invalid_grant", assertion)
        # Another issuer has its own values.
        told = claims(assertion)
        self.denied("tokenReplayed", "invalid_grant", self.sign(jti=told["jti"], remove=("none",)))

    def test_uses_do_not_mix(self):
        self.trust(uses=["roles", "exchange"])
        self.denied("tokenIssuerMismatch", "invalid_grant")
        self.trust()
        self.refused({"tokenUseMismatch", "tokenIssuerMismatch"}, self.sidecar, "token.exchange", {
            "subjectToken": self.sign(), "subjectTokenType": TYPE + "jwt", "tenantId": "shop"})
        self.call("tenant.update", tenantId="shop", subjectIssuers=[])
        self.denied("tokenIssuerMismatch", "invalid_grant")

    def test_account_and_tenant_must_be_open(self):
        token = self.redeem()["token"]
        self.call("account.update", accountId=self.account, disabled=True)
        self.refused("tokenRevoked", self.sidecar, "token.verify", {"token": token, "tenantId": "shop"})
        self.denied("accountDisabled", "invalid_grant")
        self.call("account.update", accountId=self.account, disabled=False)
        self.call("tenant.update", tenantId="shop", mfa="required")
        self.denied("secondFactorRequired", "invalid_grant")
        self.call("tenant.update", tenantId="shop", mfa="off", disabled=True)
        self.denied("tenantDisabled", "invalid_grant")

    def test_accounts_are_created_if_permitted(self):
        self.call("tenant.update", tenantId="shop", subjectIssuers=[
            {"issuer": self.idp, "audiences": ["shop"], "scopes": [], "createAccounts": True}])
        one, two = (claims(self.redeem(self.sign(subject="bob-8"))["token"])["sub"] for _ in range(2))
        self.assertEqual(one, two)
        self.assertEqual(self.call("account.get", accountId=one)["method"], "federated")

    def test_another_tenant_of_the_store_as_issuer(self):
        corp = self.call("tenant.create", tenantId="corp", idJag=[
            {"clientId": "corp", "audiences": [self.issuer], "resources": [ORDERS], "scopes": ["read"], "clientIdThere": "backend"}])["issuer"]
        self.call("issuer.put", tenantId="corp", audiences=["corp"], uses=["idJag"])
        self.call("tenant.update", tenantId="shop", subjectIssuers=[{"issuer": corp, "audiences": [ORDERS], "scopes": ["read"]}])
        carol = self.user("corp", "carol")
        self.call("account.update", accountId=self.account, link=[{"providerId": corp, "subject": carol["account"]["accountId"]}])

        def assertion():
            return self.call("token.exchange", subjectToken=carol["idToken"], subjectTokenType=TYPE + "id_token", requestedTokenType=ID_JAG, clientId="corp",
                             audience=[self.issuer], resource=[ORDERS])["token"]
        told = claims(self.redeem(assertion())["token"])
        self.assertEqual((told["sub"], told["aud"], told["scope"]), (self.account, ORDERS, "read"))
        self.denied("tokenUseMismatch", "invalid_grant", carol["idToken"])
        # A key of one tenant signs nothing for another one.
        forged = self.call("test.token", issuer=self.issuer, use="id", subject=carol["account"]["accountId"], audience=self.issuer, header={"typ": "oauth-id-jag+jwt"},
                           claims={"iss": corp, "client_id": "backend", "jti": "x"})["token"]
        self.denied("tokenKeyUnknown", "invalid_grant", forged)
        old = assertion()
        self.call("key.rotate", tenantId="corp", activateAfterSeconds=0)
        self.redeem(assertion())
        self.redeem(old)
        self.call("credentials.revoke", issuer=corp)
        self.call("test.clock", advanceSeconds=0)
        self.call("issuer.delete", tenantId="corp")
        self.denied("tokenIssuerMismatch", "invalid_grant", assertion())


class Rehearsals(Redeeming):
    """The failure of each dependency."""

    def setUp(self):
        super().setUp()
        self.site = OpenIDWebsite()
        self.addCleanup(self.site.close)
        self.call("issuer.put", issuer=self.site.issuer, audiences=["unused"], allowInsecure=True, uses=["idJag"])
        self.call("tenant.update", tenantId="shop", subjectIssuers=[{"issuer": self.site.issuer, "audiences": ["shop"], "scopes": ["read"]}])
        self.call("account.update", accountId=self.account, link=[{"providerId": self.site.issuer, "subject": "carol"}])

    def fetched(self, **more):
        kid = list(self.site.keys)[-1]
        self.key = self.site.keys[kid]
        return self.sign(issuer=self.site.issuer, subject="carol", header={"kid": kid}, **more)

    def test_issuer_is_down_and_back(self):
        pages = dict(self.site.pages)
        for path in pages:
            self.site.pages[path] = (503, {}, b"")
        assertion = self.fetched()
        self.denied("providerUnavailable", "temporarily_unavailable", assertion)
        self.site.pages.update(pages)
        deadline = time.monotonic() + 60
        while True:
            try:
                self.redeem(assertion)
                break
            except RpcError as error:
                self.assertEqual(error.type, "providerUnavailable")
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.1)

    def test_keys_are_rotated(self):
        old = self.fetched()
        self.redeem(self.fetched())
        self.site.rotate("second")
        self.redeem(self.fetched())
        self.denied("tokenKeyUnknown", "invalid_grant", old)

    def test_clock_is_wrong(self):
        self.redeem(self.fetched(age=-50))
        self.denied("tokenNotYetValid", "invalid_grant", self.fetched(age=-90))
        self.redeem(self.fetched(age=330))
        self.denied("tokenExpired", "invalid_grant", self.fetched(age=370))

    def test_subject_is_revoked(self):
        old = self.fetched(age=5)
        self.call("credentials.revoke", issuer=self.site.issuer, subject="carol")
        self.denied("tokenRevoked", "invalid_grant", old)


class Processes(Redeeming):
    def setUp(self):
        self.store = None
        super().setUp()

    def spawn(self, *options, **more):
        self.store = self.store or self.path("shop.db")
        return super().spawn(*options, store=self.store, **more)

    def test_one_of_many_processes_accepts_an_assertion(self):
        sidecars = [self.sidecar, self.spawn(testing=True), self.spawn(testing=True)]
        params = self.params()

        def attempt(sidecar):
            try:
                return sidecar.call("token.redeem", params)["scope"]
            except RpcError as error:
                return error.type
        with concurrent.futures.ThreadPoolExecutor(3) as threads:
            self.assertEqual(sorted(threads.map(attempt, sidecars)), ["read", "tokenReplayed", "tokenReplayed"])


if __name__ == "__main__":
    import unittest
    unittest.main()
