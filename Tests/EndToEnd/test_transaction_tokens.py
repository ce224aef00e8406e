"""Transaction tokens (draft-ietf-oauth-transaction-tokens): they carry the user, the actors and the context of one request, and give no access here."""

import jwt
from endtoend import only
from test_delegation import Delegation, ORDERS, TYPE, claims, header

DOMAIN = "shop.internal"
CONTEXT, DETAILS = {"req_ip": "203.0.113.7"}, {"action": "BUY", "quantity": 100, "item": {"id": "a"}}


class TransactionTokens(Delegation):
    def setUp(self):
        super().setUp()
        self.call("application.put", tenantId="shop", clientId="gateway", type="confidential")
        self.secret = self.call("application.addSecret", tenantId="shop", clientId="gateway")["clientSecret"]
        self.permit({"clientId": "gateway", "audience": DOMAIN, "scopes": ["read", "write"]})

    def permit(self, *entries):
        self.call("tenant.update", tenantId="shop", transactionTokens=list(entries))

    def wish(self, **more):
        known = {"requestedTokenType": TYPE + "txn_token", "audience": [DOMAIN], "scope": "read", "clientId": "gateway", "clientSecret": self.secret, **more}
        return {name: value for name, value in known.items() if value is not None}

    def transaction(self, subject=None, kind="access_token", **more):
        return self.call("token.exchange", **self.params(subject or self.alice["accessToken"], kind, **self.wish(**more)))

    def no_transaction(self, wanted, oauth, subject=None, kind="access_token", **more):
        return self.denied(wanted, oauth, subject or self.alice["accessToken"], kind, **self.wish(**more))

    @only("sqlite", "postgres")
    def test_workloads_verify_the_token_with_the_keys_of_the_tenant(self):
        answer = self.transaction(requestContext=CONTEXT, requestDetails=DETAILS)
        self.assertEqual((answer["issuedTokenType"], answer["tokenType"], answer["scope"]), (TYPE + "txn_token", "N_A", "read"))
        keys = {key["kid"]: jwt.PyJWK(key) for key in self.call("token.jwks", issuer=self.issuer)["keys"]}
        head = jwt.get_unverified_header(answer["token"])
        self.assertEqual(head["typ"], "txntoken+jwt")
        found = jwt.decode(answer["token"], keys[head["kid"]], algorithms=[head["alg"]], audience=DOMAIN, options={"verify_iat": False, "verify_exp": False})
        self.assertEqual((found["exp"] - found["iat"], found["exp"]), (300, answer["expiresAt"]))
        self.assertEqual({name: value for name, value in found.items() if name not in ("iat", "exp", "txn")}, {
            "iss": self.issuer, "aud": DOMAIN, "sub": self.account(self.alice), "scope": "read", "req_wl": "gateway", "rctx": CONTEXT, "tctx": DETAILS})
        self.assertNotEqual(claims(self.transaction()["token"])["txn"], found["txn"])
        record = [each for each in self.call("audit.list")["records"] if each["method"] == "token.exchange"][0]
        self.assertEqual(record["subject"], self.account(self.alice))
        self.assertIn(record["details"]["clientId"], "gateway")
        self.assertNotIn(DETAILS["action"], str(record))

    def test_token_of_any_kind_of_the_user_is_accepted(self):
        for kind, name in (("access_token", "accessToken"), ("id_token", "idToken"), ("jwt", "accessToken")):
            self.assertEqual(claims(self.transaction(self.alice[name], kind)["token"])["sub"], self.account(self.alice))
        short = self.transaction(expiresInSeconds=5)
        self.assertEqual(claims(short["token"])["exp"] - claims(short["token"])["iat"], 5)

    def test_actors_are_kept(self):
        acting = self.exchange(self.delegate(scope="read"), "access_token", self.agent["accessToken"], audience=[ORDERS])
        found = claims(self.transaction(acting)["token"])
        self.assertEqual((found["sub"], found["act"]), (self.account(self.alice), claims(acting)["act"]))
        self.no_transaction("scopeNotGranted", "invalid_scope", acting, scope="write")
        self.no_transaction("actorTokenRequired", "invalid_request", self.delegate())
        self.no_transaction("exchangeNotAllowed", "unauthorized_client", actorToken=self.agent["accessToken"], actorTokenType=TYPE + "access_token")
        self.call("session.signOut", idToken=self.agent["idToken"])
        self.no_transaction("tokenRevoked", "invalid_request", acting)

    def test_only_what_the_tenant_permits(self):
        for wanted, oauth, more in (
                ("exchangeNotAllowed", "unauthorized_client", {"audience": ["other.internal"]}), ("exchangeNotAllowed", "unauthorized_client", {"audience": None}),
                ("exchangeNotAllowed", "unauthorized_client", {"audience": [DOMAIN, ORDERS]}), ("exchangeNotAllowed", "unauthorized_client", {"scope": None}),
                ("exchangeNotAllowed", "unauthorized_client", {"resource": [ORDERS]}), ("exchangeNotAllowed", "unauthorized_client", {"clientId": None, "clientSecret": None}),
                ("scopeNotGranted", "invalid_scope", {"scope": "read admin"}), ("scopeNotGranted", "invalid_scope", {"scope": "openid"}),
                ("clientSecretInvalid", "invalid_client", {"clientSecret": "wrong"}), ("clientSecretInvalid", "invalid_client", {"clientSecret": None}),
                ("clientUnknown", "invalid_client", {"clientId": "nobody"})):
            with self.subTest(more):
                self.no_transaction(wanted, oauth, **more)
        self.permit({"clientId": "gateway", "audience": DOMAIN, "scopes": ["write"]})
        self.no_transaction("scopeNotGranted", "invalid_scope")
        # A public application has no secret.
        self.call("application.put", tenantId="shop", clientId="page")
        self.permit({"clientId": "page", "audience": DOMAIN, "scopes": ["read"]})
        self.no_transaction("clientSecretInvalid", "invalid_client", clientId="page", clientSecret=None)
        self.no_transaction("exchangeNotAllowed", "unauthorized_client")

    def test_context_has_a_maximum_length(self):
        for name in ("requestContext", "requestDetails"):
            self.transaction(**{name: {"a": "x" * 4000}})
            found = self.violations(self.sidecar, "token.exchange", self.params(self.alice["accessToken"], **self.wish(**{name: {"a": "x" * 4100}})))
            self.assertEqual(found, {(f"/{name}", "maxLength")})

    def test_bad_subjects_are_refused(self):
        self.no_transaction("tokenSignatureInvalid", "invalid_request", self.signed(key="wrong"))
        self.no_transaction("tokenExpired", "invalid_request", self.signed(exp=1))
        self.no_transaction("tokenUseMismatch", "invalid_request", self.alice["idToken"])
        self.no_transaction("tokenTypeNotSupported", "invalid_request", self.alice["refreshToken"], "refresh_token")
        self.call("session.signOut", idToken=self.alice["idToken"])
        self.no_transaction("tokenRevoked", "invalid_request")

    def test_token_gives_no_access(self):
        token = self.transaction()["token"]
        self.assertEqual(header(token)["typ"], "txntoken+jwt")
        self.refused("tokenMalformed", self.sidecar, "token.verify", {"token": token, "tenantId": "shop"})
        for kind in ("access_token", "id_token", "jwt"):
            self.no_transaction("tokenMalformed", "invalid_request", token, kind)
        self.no_transaction("tokenTypeNotSupported", "invalid_request", token, "txn_token")
        self.refused("tokenMalformed", self.sidecar, "account.me", {"idToken": token})

    def test_settings_are_shown_applied_and_exported(self):
        entry = {"clientId": "gateway", "audience": DOMAIN, "scopes": ["read"]}
        self.call("system.apply", tenants=[{"tenantId": "shop", "transactionTokens": [entry]}])
        self.assertEqual(self.call("tenant.get", tenantId="shop")["transactionTokens"], [entry])
        self.assertEqual([each.get("transactionTokens") for each in self.call("system.export")["tenants"] if each["tenantId"] == "shop"], [[entry]])
        self.call("tenant.update", tenantId="shop", name="Shop")
        self.assertEqual(self.call("tenant.get", tenantId="shop")["transactionTokens"], [entry])
