"""ID tokens that an application sends, and custom tokens of a backend. Each check is tested with a token that violates only this check."""

import hashlib
import secrets
import time

import jwt
from cryptography.hazmat.primitives.asymmetric import ec

from endtoend import encode
from federation import Federation, hashed
from sidecar import RpcError
from test_logins import Provider, claims_of


class Tokens(Federation):
    """Each invalid token violates exactly one check."""

    def rejected(self, error, check, token, sidecar=None, **more):
        found = self.refused(error, sidecar or self.sidecar, "signIn.withCredential", {"credential": {"providerId": "oidc.work", "idToken": token, **more}})
        self.assertEqual((found.data["providerId"], found.data["check"]), ("oidc.work", check), found)
        self.assertEqual(self.sidecar.call("account.list", {})["accounts"], [])

    def test_invalid_claim_fails_with_its_check(self):
        now, token = int(time.time()), self.provider.token
        for check, claims in [
            ("issuer", {"iss": "https://oidc.work.example.com/"}), ("issuer", {"iss": None}),
            ("audience", {"aud": "other"}), ("audience", {"aud": ["other", "third"]}),
            ("authorizedParty", {"aud": ["shop", "other"]}), ("authorizedParty", {"aud": ["shop", "other"], "azp": "other"}),
            ("expired", {"exp": now - 301}), ("expired", {"exp": None}), ("notYetValid", {"iat": now + 330}), ("notYetValid", {"iat": None}),
            ("subject", {"sub": None}), ("subject", {"sub": ""}), ("subject", {"sub": "x" * 256}), ("subject", {"sub": "caröl"}),
        ]:
            with self.subTest(check=check, claims=claims):
                self.rejected("invalidCredential", check, token(**{"subject": "carol", **claims}) if "sub" not in claims else token(**claims))

    def test_invalid_signature_fails(self):
        good = self.provider.token()
        head, body, signature = good.split(".")
        other = ec.generate_private_key(ec.SECP256R1())
        self.rejected("invalidCredential", "signature", self.provider.token(key=other))
        self.rejected("invalidCredential", "signature", f"{head}.{encode({**claims_of(good), 'sub': 'mallory'})}.{signature}")
        self.rejected("invalidCredential", "signature", self.provider.token(headers={"kid": "unknown"}))
        self.rejected("invalidCredential", "algorithm", f"{encode({'alg': 'none'})}.{body}.")
        self.rejected("invalidCredential", "algorithm", jwt.encode(claims_of(good), "secret" * 8, "HS256", {"kid": "k1"}))
        self.rejected("invalidCredential", "malformed", "no token")
        self.rejected("invalidCredential", "malformed", f"{head}.{encode([1])}.{signature}")

    def test_invalid_nonce_fails(self):
        token, raw = self.provider.token, secrets.token_urlsafe()
        self.rejected("invalidNonce", "missing", token(nonce=hashed(raw)))
        self.rejected("invalidNonce", "mismatch", token(nonce=hashed(raw)), rawNonce=raw + "x")
        self.rejected("invalidNonce", "mismatch", token(nonce=hashed(raw).upper()), rawNonce=raw)
        self.rejected("invalidNonce", "mismatch", token(nonce=raw), rawNonce=raw)
        self.rejected("invalidNonce", "unexpected", token(), rawNonce=raw)

    def test_access_token_hash_must_match(self):
        access = "some access token"
        digest = encode(hashlib.sha256(access.encode()).digest()[:16])
        self.rejected("invalidCredential", "accessTokenHash", self.provider.token(at_hash=digest), accessToken="another")
        answer = self.sidecar.call("signIn.withCredential", {"returnProviderTokens": True, "credential": {
            "providerId": "oidc.work", "idToken": (token := self.provider.token(at_hash=digest)), "accessToken": access}})
        self.assertEqual(answer["providerTokens"], {"idToken": token, "accessToken": access})

    def test_token_with_a_nonce_is_single_use(self):
        raw = secrets.token_urlsafe()
        credential = {**self.credential(nonce=hashed(raw)), "rawNonce": raw}
        self.account(self.sidecar.call("signIn.withCredential", {"credential": credential}))
        error = self.refused("invalidNonce", self.sidecar, "signIn.withCredential", {"credential": credential})
        self.assertEqual(error.data["check"], "replayed")
        again = self.credential()
        self.assertEqual(self.account(self.sidecar.call("signIn.withCredential", {"credential": again})), self.account(self.sidecar.call("signIn.withCredential", {"credential": again})))

    def test_concurrent_sign_ins_with_one_token_succeed_once(self):
        raw = secrets.token_urlsafe()
        credential = {**self.credential(nonce=hashed(raw)), "rawNonce": raw}
        ids = [self.sidecar.send("signIn.withCredential", {"credential": credential}) for _ in range(30)]
        answers = []
        for id in ids:
            try:
                answers.append(self.sidecar.answer(id)["state"])
            except RpcError as error:
                answers.append(error.type)
        self.assertEqual(sorted(answers), ["completed"] + ["invalidNonce"] * 29)

    def test_disabled_or_deleted_provider_fails(self):
        self.sidecar.call("idp.update", {"providerId": "oidc.work", "enabled": False})
        self.refused("idpDisabled", self.sidecar, "signIn.withCredential", {"credential": self.credential()})
        self.sidecar.call("idp.delete", {"providerId": "oidc.work"})
        self.refused("idpNotFound", self.sidecar, "signIn.withCredential", {"credential": self.credential()})

    def test_credential_members_must_belong_together(self):
        for credential, wanted in [
            ({}, {("/credential", "exactlyOne")}),
            ({"providerId": "oidc.work"}, {("/credential/idToken", "required")}),
            ({"providerId": "oidc.work", "idToken": "x", "password": "y"}, {("/credential/password", "unknown")}),
            ({"providerId": "oidc.work", "accessToken": "x", "rawNonce": "y"}, {("/credential/rawNonce", "unknown")}),
            ({"email": "a@b.de"}, {("/credential/password", "required")}),
            ({"email": "a@b.de", "password": "x", "idToken": "y"}, {("/credential/idToken", "unknown")}),
            ({"pendingToken": "x", "idToken": "y", "password": "z"}, {("/credential/idToken", "unknown"), ("/credential/password", "unknown")}),
            ({"pendingToken": "x", "providerId": "oidc.work"}, {("/credential", "exactlyOne")}),
        ]:
            with self.subTest(credential=credential):
                self.assertEqual(self.violations(self.sidecar, "signIn.withCredential", {"credential": credential}), wanted)


class CustomTokens(Federation):
    def setUp(self):
        super().setUp()
        self.backend = Provider("backend@shop.example")
        self.sidecar.call("tenant.update", {"tenantId": "default", "customTokenSigners": [{"issuer": self.backend.issuer, "keys": [self.backend.jwk]}]})
        self.audience = self.sidecar.call("tenant.get", {"tenantId": "default"})["issuer"]

    def token(self, **claims):
        now = int(time.time())
        return self.backend.token(**{"subject": self.backend.issuer, "aud": self.audience, "uid": "dora", "iat": now, "exp": now + 3600, **claims})

    def test_custom_token_determines_the_account_and_the_claims_of_the_session(self):
        answer = self.sidecar.call("signIn.withCustomToken", {"token": self.token(claims={"plan": "gold"})})
        self.assertEqual((answer["account"]["accountId"], answer["isNewAccount"], answer["account"]["method"]), ("dora", True, "custom"))
        self.sidecar.call("account.setClaims", {"accountId": "dora", "claims": {"plan": "silver", "team": "a"}})
        fresh = self.sidecar.call("session.refresh", {"refreshToken": answer["refreshToken"]})
        claims = claims_of(fresh["idToken"])
        self.assertEqual((claims["plan"], claims["team"], claims["mintmark"]["sign_in_provider"]), ("gold", "a", "custom"))
        again = self.sidecar.call("signIn.withCustomToken", {"token": self.token()})
        self.assertEqual((again["isNewAccount"], claims_of(again["idToken"])["plan"]), (False, "silver"))
        self.assertEqual(self.account(self.link(again["idToken"], self.credential())), "dora")

    def test_custom_token_grants_the_requested_scopes(self):
        self.sidecar.call("tenant.update", {"tenantId": "default", "scopes": ["orders"]})
        answer = self.sidecar.call("signIn.withCustomToken", {"token": self.token(), "scope": "orders"})
        self.assertEqual(claims_of(answer["accessToken"])["scope"], "orders")
        self.refused("scopeNotOffered", self.sidecar, "signIn.withCustomToken", {"token": self.token(), "scope": "all"})

    def test_invalid_custom_token_fails_with_its_check(self):
        now = int(time.time())
        for check, claims in [
            ("issuer", {"iss": "mallory"}), ("issuer", {"sub": "dora"}), ("audience", {"aud": "default"}), ("tenant", {"tenant_id": "shop"}),
            ("notYetValid", {"iat": now + 400, "exp": now + 500}), ("expired", {"iat": now - 900, "exp": now - 400}), ("lifetime", {"iat": now, "exp": now + 3601}),
            ("subject", {"uid": None}), ("subject", {"uid": ""}), ("subject", {"uid": "a" * 129}), ("claims", {"claims": [1]}),
            ("signature", {"key": ec.generate_private_key(ec.SECP256R1())}),
        ]:
            with self.subTest(check=check, claims=claims):
                claims = {**claims, "subject": claims["sub"]} if "sub" in claims else claims
                claims.pop("sub", None)
                error = self.refused("customTokenInvalid", self.sidecar, "signIn.withCustomToken", {"token": self.token(**claims)})
                self.assertEqual(error.data["check"], check)
        self.refused("claimNameReserved", self.sidecar, "signIn.withCustomToken", {"token": self.token(claims={"sub": "x"})})
        self.refused("claimsTooLong", self.sidecar, "signIn.withCustomToken", {"token": self.token(claims={"x": "y" * 1000})})
        self.assertEqual(self.sidecar.call("account.list", {})["accounts"], [])

    def test_custom_token_for_another_tenant_or_a_disabled_account_fails(self):
        self.sidecar.call("tenant.create", {"tenantId": "shop"})
        self.refused("customTokenInvalid", self.sidecar, "signIn.withCustomToken", {"tenantId": "shop", "token": self.token()})
        self.sidecar.call("signIn.withCustomToken", {"token": self.token()})
        self.sidecar.call("account.update", {"accountId": "dora", "disabled": True})
        self.refused("accountDisabled", self.sidecar, "signIn.withCustomToken", {"token": self.token()})
