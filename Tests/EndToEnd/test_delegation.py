"""Token exchange (RFC 8693): access only becomes less, actors must be permitted, and the end of either session ends the token."""

import base64
import json

from endtoend import EndToEnd
from federation import PASSWORD
from workloads import github

TYPE = "urn:ietf:params:oauth:token-type:"
ORDERS, BILLS = "https://orders.example.com", "https://bills.example.com"
NOW = 1_700_000_000


def claims(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def header(token):
    part = token.split(".")[0]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


class Delegation(EndToEnd):
    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn(testing=True)
        self.tenant = self.call("tenant.create", tenantId="shop", audiences=[ORDERS, BILLS], scopes=["read", "write"])
        self.issuer = self.tenant["issuer"]
        self.alice = self.sign_in("alice", scope="openid read write")
        self.agent = self.sign_in("agent")

    def call(self, method, **params):
        return self.sidecar.call(method, params)

    def sign_in(self, name, create=True, **more):
        if create:
            self.call("account.create", tenantId="shop", username=f"{name}@example.com", password=PASSWORD)
        return self.call("signIn.withPassword", tenantId="shop", username=f"{name}@example.com", password=PASSWORD, **more)

    def account(self, tokens):
        return tokens["account"]["accountId"]

    def params(self, subject, kind="access_token", actor=None, actor_kind="access_token", **more):
        acting = {"actorToken": actor, "actorTokenType": TYPE + actor_kind} if actor else {}
        return {"subjectToken": subject, "subjectTokenType": TYPE + kind, **acting, **more}

    def exchange(self, *given, **more):
        answer = self.call("token.exchange", **self.params(*given, **more))
        self.assertNotIn("refreshToken", answer)
        return answer["token"]

    def denied(self, wanted, oauth, *given, **more):
        error = self.refused(wanted, self.sidecar, "token.exchange", self.params(*given, **more))
        self.assertEqual(error.data["oauthError"], oauth)
        return error

    def verify(self, token, **more):
        return self.call("token.verify", token=token, tenantId="shop", **more)

    def delegate(self, actor=None, **more):
        return self.call("token.delegate", idToken=self.alice["idToken"], actor={"sub": self.account(actor or self.agent)}, **more)["token"]

    def signed(self, use="access", subject=None, key="active", header=None, audience="shop", **content):
        return self.call("test.token", issuer=self.issuer, use=use, subject=subject or self.account(self.alice), audience=audience, keyState=key,
                         claims=content, header=header or {})["token"]


class Narrowing(Delegation):
    def test_access_token_becomes_one_for_a_single_audience(self):
        token = self.exchange(self.alice["accessToken"], audience=[ORDERS], scope="read")
        told, before = claims(token), claims(self.alice["accessToken"])
        self.assertEqual((told["aud"], told["scope"], told["client_id"]), (ORDERS, "read", "shop"))
        for name in ("iss", "sub", "sid", "auth_time", "amr"):
            self.assertEqual(told[name], before[name])
        self.assertLessEqual(told["exp"], before["exp"])
        self.assertNotEqual(told["jti"], before["jti"])
        self.assertEqual(header(token)["typ"], "at+jwt")
        self.assertEqual(self.verify(token, audience=ORDERS, scope="read")["use"], "access")
        self.denied("audienceNotOffered", "invalid_target", token, audience=[BILLS])
        self.denied("audienceNotOffered", "invalid_target", token, audience=["shop"])
        self.denied("scopeNotGranted", "invalid_scope", token, scope="read write")
        self.denied("exchangeNotAllowed", "unauthorized_client", token)
        self.denied("exchangeNotAllowed", "unauthorized_client", token, audience=[ORDERS], scope="read")

    def test_id_token_has_the_scopes_of_its_sign_in(self):
        token = self.exchange(self.alice["idToken"], "id_token", audience=[ORDERS])
        self.assertEqual(claims(token)["scope"], "openid read write")
        self.denied("scopeNotGranted", "invalid_scope", self.sign_in("bob")["idToken"], "id_token", audience=[ORDERS], scope="read")
        self.denied("exchangeNotAllowed", "unauthorized_client", self.alice["idToken"], "id_token")

    def test_several_audiences_are_all_or_nothing(self):
        token = self.exchange(self.alice["accessToken"], audience=[ORDERS], resource=[BILLS])
        self.assertEqual(claims(token)["aud"], [ORDERS, BILLS])
        self.verify(token, audience=BILLS)
        self.refused("tokenAudienceMismatch", self.sidecar, "token.verify", {"token": token, "audience": "https://other.example.com"})
        self.assertEqual(claims(self.exchange(token, audience=[BILLS]))["aud"], BILLS)
        self.denied("audienceNotOffered", "invalid_target", self.alice["accessToken"], audience=[ORDERS, "https://evil.example.com"])

    def test_life_only_becomes_shorter(self):
        self.call("test.clock", setAt=self.call("system.ping")["now"], freeze=True)
        now = self.call("system.ping")["now"]
        token = self.exchange(self.alice["accessToken"], expiresInSeconds=60)
        self.assertEqual(claims(token)["exp"], now + 60)
        self.denied("exchangeNotAllowed", "unauthorized_client", token, expiresInSeconds=3600)
        self.assertEqual(claims(self.exchange(token, expiresInSeconds=30, scope="openid"))["exp"], now + 30)
        self.call("test.clock", advanceSeconds=60)
        self.denied("tokenExpired", "invalid_request", token, scope="openid")

    def test_audience_that_was_removed_is_refused(self):
        token = self.exchange(self.alice["accessToken"], audience=[ORDERS, BILLS])
        self.call("tenant.update", tenantId="shop", audiences=[ORDERS])
        self.denied("audienceNotOffered", "invalid_target", token, scope="read")
        self.denied("audienceNotOffered", "invalid_target", self.alice["accessToken"], audience=[BILLS])
        self.exchange(token, audience=[ORDERS])

    def test_types_must_be_true_and_known(self):
        access, identity = self.alice["accessToken"], self.alice["idToken"]
        self.denied("tokenUseMismatch", "invalid_request", identity, "access_token", scope="read")
        self.denied("tokenUseMismatch", "invalid_request", access, "id_token", scope="read")
        self.exchange(access, "jwt", scope="read")
        for kind in ("refresh_token", "id_token", "saml2"):
            self.denied("tokenTypeNotSupported", "invalid_request", access, scope="read", requestedTokenType=TYPE + kind)
        self.denied("tokenTypeNotSupported", "invalid_request", access, "saml1", scope="read")
        cookie = self.call("session.createCookie", idToken=identity, durationSeconds=600)["cookie"]
        self.denied("tokenUseMismatch", "invalid_request", cookie, "jwt", scope="openid")
        pool = self.call("pool.create", name="p", allowUnauthenticated=True, allowClassicFlow=True)["poolId"]
        guest = self.call("token.mint", identityId=self.call("identity.resolve", poolId=pool)["identityId"])["token"]
        self.denied("tokenUseMismatch", "invalid_request", guest, "jwt", scope="openid")
        self.denied("tokenIssuerMismatch", "invalid_request", access, scope="read", tenantId="default")

    def test_invalid_subjects_are_refused(self):
        for wanted, token in (("tokenSignatureInvalid", self.signed(key="wrong")), ("tokenKeyUnknown", self.signed(key="unknown")),
                              ("tokenAlgorithmNotAllowed", self.signed(header={"alg": "none"})), ("tokenMalformed", "abc")):
            self.denied(wanted, "invalid_request", token, scope="openid")
        self.denied("tokenIssuerMismatch", "invalid_request", github().token(), "jwt", scope="openid")

    def test_end_of_the_session_or_account_ends_all_tokens(self):
        token = self.exchange(self.alice["accessToken"], audience=[ORDERS])
        other = self.sign_in("alice", create=False, scope="read")
        self.call("session.signOut", idToken=self.alice["idToken"])
        self.denied("tokenRevoked", "invalid_request", token, scope="read")
        self.refused("tokenRevoked", self.sidecar, "token.verify", {"token": token, "tenantId": "shop"})
        self.verify(token, checkRevoked=False)
        self.call("account.update", accountId=self.account(self.alice), disabled=True)
        self.denied("tokenRevoked", "invalid_request", other["idToken"], "id_token", audience=[ORDERS])

    def test_own_claims_are_kept_and_replace_nothing(self):
        for name in ("act", "may_act", "cnf"):
            self.refused("claimNameReserved", self.sidecar, "account.setClaims", {
                "accountId": self.account(self.alice), "claims": {name: {"sub": "x"}}})
        self.call("account.setClaims", accountId=self.account(self.alice), claims={"role": "admin", "mint": 1})
        told = claims(self.exchange(self.alice["accessToken"], audience=[ORDERS]))
        self.assertEqual(told["role"], "admin")
        self.assertNotIn("act", told)


class Acting(Delegation):
    def test_actor_named_by_the_user_acts(self):
        token = self.delegate(audience=[ORDERS], scope="read")
        self.assertEqual(claims(token)["may_act"], {"sub": self.account(self.agent), "iss": self.issuer})
        acting = self.exchange(token, actor=self.agent["accessToken"])
        told = claims(acting)
        self.assertEqual((told["sub"], told["aud"], told["scope"]), (self.account(self.alice), ORDERS, "read"))
        self.assertEqual(told["act"], {"sub": self.account(self.agent), "iss": self.issuer, "client_id": "shop"})
        self.assertNotIn("may_act", told)
        self.assertLessEqual(told["exp"], min(claims(token)["exp"], claims(self.agent["accessToken"])["exp"]))
        self.assertEqual(self.verify(acting)["claims"]["act"], told["act"])
        records = [record for record in self.call("audit.list")["records"] if record["method"] in ("token.delegate", "token.exchange")]
        acts = [record["details"].get("act", {}).get("sub") for record in records]
        self.assertIn(self.account(self.agent), acts)
        self.assertEqual({record["subject"] for record in records}, {self.account(self.alice)})
        self.assertIn(self.account(self.agent), [record["details"].get("mayAct", {}).get("sub") for record in records])
        # Narrower again, by the same actor only.
        self.denied("actorTokenRequired", "invalid_request", acting, scope="read", expiresInSeconds=5)
        again = self.exchange(acting, actor=self.agent["idToken"], actor_kind="id_token", expiresInSeconds=60)
        self.assertEqual(claims(again)["act"], told["act"])
        self.denied("actorNotAllowed", "unauthorized_client", acting, actor=self.sign_in("third")["accessToken"], expiresInSeconds=5)
        self.denied("exchangeNotAllowed", "unauthorized_client", acting, actor=self.agent["accessToken"])

    def test_other_actors_are_refused(self):
        token, rogue = self.delegate(), self.sign_in("rogue")
        self.denied("actorNotAllowed", "unauthorized_client", token, actor=rogue["accessToken"])
        self.denied("actorTokenRequired", "invalid_request", token, audience=[ORDERS])
        self.denied("actorNotAllowed", "unauthorized_client", self.alice["accessToken"], actor=self.agent["accessToken"], audience=[ORDERS])
        self.denied("actorNotAllowed", "unauthorized_client", self.signed(may_act={"sub": self.account(self.alice)}), actor=self.alice["accessToken"])
        acting = self.exchange(token, actor=self.agent["accessToken"])
        for delegated in (acting, self.delegate()):
            self.denied("actorNotAllowed", "unauthorized_client", self.delegate(), actor=delegated)
        self.refused("actorNotAllowed", self.sidecar, "token.delegate", {
            "idToken": self.alice["idToken"], "actor": {"sub": self.account(self.alice)}})
        for name in ("agent@example.com", "unknown"):
            self.refused("accountNotFound", self.sidecar, "token.delegate", {"idToken": self.alice["idToken"], "actor": {"sub": name}})
        self.refused("trustedIssuerNotFound", self.sidecar, "token.delegate", {
            "idToken": self.alice["idToken"], "actor": {"sub": "x", "iss": "https://untrusted.example.com"}})
        self.refused("tokenUseMismatch", self.sidecar, "token.delegate", {
            "idToken": self.alice["accessToken"], "actor": {"sub": self.account(self.agent)}})
        self.refused("scopeNotGranted", self.sidecar, "token.delegate", {
            "idToken": self.agent["idToken"], "actor": {"sub": self.account(self.alice)}, "scope": "write"})

    def test_invalid_actor_tokens_are_refused(self):
        token, actor = self.delegate(), self.account(self.agent)
        now = self.call("system.ping")["now"]
        for wanted, bad in (("tokenSignatureInvalid", self.signed(subject=actor, key="wrong")),
                            ("tokenExpired", self.signed(subject=actor, exp=now - 1)),
                            ("tokenAlgorithmNotAllowed", self.signed(subject=actor, header={"alg": "none"})),
                            ("tokenAudienceMismatch", self.signed(subject=actor, audience=ORDERS)), ("tokenIssuerMismatch", github().token()),
                            ("tokenMalformed", "abc")):
            self.denied(wanted, "invalid_request", token, actor=bad)
        other = self.call("tenant.create", tenantId="other")
        foreign = self.call("test.token", issuer=other["issuer"], use="id", subject=actor, audience="other")["token"]
        self.denied("tokenIssuerMismatch", "invalid_request", token, actor=foreign)
        for half in ({"actorToken": self.agent["accessToken"]}, {"actorTokenType": TYPE + "jwt"}):
            self.denied("actorTokenRequired", "invalid_request", token, **half)
        self.denied("tokenUseMismatch", "invalid_request", token, actor=self.agent["idToken"])

    def test_invalid_permissions_are_refused(self):
        actor = self.agent["accessToken"]
        for wrong in ("x", [], [{"sub": self.account(self.agent)}], {}, {"iss": self.issuer}, {"sub": 7}):
            for acting in ({}, {"actor": actor}):
                self.denied("subjectTokenInvalid", "invalid_request", self.signed(may_act=wrong), **acting, scope="openid")
        for wrong in ("x", [], {}, {"sub": 1}, {"sub": "x", "iss": 1}, {"sub": "x", "act": 1}):
            self.denied("subjectTokenInvalid", "invalid_request", self.signed(act=wrong), actor=actor)
        for other in ({"iss": "https://elsewhere.example.com"}, {"client_id": "other"}, {"email": "agent@example.com"}):
            self.denied("actorNotAllowed", "unauthorized_client", self.signed(may_act={"sub": self.account(self.agent), **other}), actor=actor)
        permission = {"sub": self.account(self.agent), "iss": self.issuer, "client_id": "shop", "scope": "openid"}
        self.exchange(self.signed(may_act=permission), actor=actor)

    def test_chain_has_at_most_four_actors_in_their_order(self):
        chain = None
        for name in ("one", "two", "three", "four"):
            tokens = self.sign_in(name)
            token = self.signed(may_act={"sub": self.account(tokens)}, **({"act": chain} if chain else {}))
            told = claims(self.exchange(token, actor=tokens["accessToken"]))["act"]
            self.assertEqual((told["sub"], told.get("act")), (self.account(tokens), chain))
            chain = told
        deep = self.signed(act=chain, may_act={"sub": self.account(self.agent)})
        self.denied("delegationTooDeep", "invalid_request", deep, actor=self.agent["accessToken"])

    def test_end_of_the_actors_session_or_account_ends_the_token(self):
        ends = (lambda tokens: self.call("session.signOut", idToken=tokens["idToken"]),
                lambda tokens: self.call("account.update", accountId=self.account(tokens), disabled=True),
                lambda tokens: self.call("account.delete", accountId=self.account(tokens)))
        for place, end in enumerate(ends):
            with self.subTest(place):
                agent = self.sign_in(f"agent{place}")
                token = self.delegate(agent)
                acting = self.exchange(token, actor=agent["accessToken"], audience=[ORDERS])
                self.verify(acting)
                end(agent)
                self.refused("tokenRevoked", self.sidecar, "token.verify", {"token": acting, "tenantId": "shop"})
                self.denied("tokenRevoked", "invalid_request", token, actor=agent["accessToken"])
                self.denied("tokenRevoked", "invalid_request", acting, actor=self.agent["accessToken"], expiresInSeconds=5)
                self.verify(acting, checkRevoked=False)

    def test_tenant_permits_an_actor_for_all_users(self):
        self.refused("invalidTenantSettings", self.sidecar, "tenant.update", {"tenantId": "shop", "delegations": [
            {"actor": {"sub": "x"}, "audiences": ["https://unknown.example.com"], "scopes": []}]})
        entry = {"actor": {"sub": self.account(self.agent)}, "audiences": [ORDERS], "scopes": ["read"]}
        self.assertEqual(self.call("tenant.update", tenantId="shop", delegations=[entry])["delegations"], [entry])
        told = claims(self.exchange(self.alice["accessToken"], actor=self.agent["accessToken"], audience=[ORDERS]))
        self.assertEqual((told["scope"], told["act"]["sub"]), ("read", self.account(self.agent)))
        self.denied("scopeNotGranted", "invalid_scope", self.alice["accessToken"], actor=self.agent["accessToken"], audience=[ORDERS], scope="write")
        self.denied("audienceNotOffered", "invalid_target", self.alice["accessToken"], actor=self.agent["accessToken"], audience=[BILLS])
        self.denied("audienceNotOffered", "invalid_target", self.alice["accessToken"], actor=self.agent["accessToken"])
        third = self.sign_in("third")["accessToken"]
        self.denied("actorNotAllowed", "unauthorized_client", self.alice["accessToken"], actor=third, audience=[ORDERS])
        self.call("tenant.update", tenantId="shop", delegations=[])
        self.denied("actorNotAllowed", "unauthorized_client", self.alice["accessToken"], actor=self.agent["accessToken"], audience=[ORDERS])

    def test_workload_acts_until_its_issuer_is_no_longer_trusted(self):
        hub = github()
        hub.put(self.sidecar)
        subject = hub.claims["sub"]
        actor = {"sub": subject, "iss": hub.issuer}
        self.refused("trustedIssuerNotFound", self.sidecar, "token.delegate", {"idToken": self.alice["idToken"], "actor": actor})
        hub.put(self.sidecar, uses=["exchange"])
        token = self.call("token.delegate", idToken=self.alice["idToken"], actor=actor)["token"]
        acting = self.exchange(token, actor=hub.token(), actor_kind="jwt", audience=[ORDERS])
        self.assertEqual(claims(acting)["act"], {"sub": subject, "iss": hub.issuer})
        self.assertEqual(claims(acting)["client_id"], "shop")
        self.verify(acting)
        self.denied("actorNotAllowed", "unauthorized_client", token, actor=hub.token(sub="repo:evil/x:ref:refs/heads/main"), actor_kind="jwt")
        self.denied("tokenAudienceMismatch", "invalid_request", token, actor=hub.token(aud="https://other.example.com"), actor_kind="jwt")
        self.denied("tokenUseMismatch", "invalid_request", token, actor=hub.token(), actor_kind="access_token")
        hub.put(self.sidecar, uses=["roles"])
        self.refused("tokenRevoked", self.sidecar, "token.verify", {"token": acting, "tenantId": "shop"})
        self.denied("tokenIssuerMismatch", "invalid_request", token, actor=hub.token(), actor_kind="jwt")

    def test_workload_token_that_is_single_use_acts_once(self):
        hub = github()
        hub.put(self.sidecar, uses=["exchange"], singleUse=True)
        token = self.call("token.delegate", idToken=self.alice["idToken"], actor={"sub": hub.claims["sub"], "iss": hub.issuer})["token"]
        once = hub.token(jti="once")
        self.exchange(token, actor=once, actor_kind="jwt")
        self.denied("tokenReplayed", "invalid_request", token, actor=once, actor_kind="jwt")


if __name__ == "__main__":
    import unittest
    unittest.main()
