"""Public logins: ID tokens signed by PyJWT are verified and mapped to roles and tags. Invalid ones fail with the name of the check."""

import json
import time

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from endtoend import PRINCIPAL, SIGNED, EndToEnd, mint, trust
from rsakeys import rsa_key

ISSUER = "https://login.example.com"
NAME = "login.example.com"


class Provider:
    """An OpenID provider whose keys are part of the pool's settings."""

    def __init__(self, issuer=ISSUER, algorithm="ES256", kid="k1"):
        self.issuer, self.algorithm, self.kid = issuer, algorithm, kid
        self.key = ec.generate_private_key(ec.SECP256R1()) if algorithm == "ES256" else rsa_key()

    @property
    def jwk(self):
        public = self.key.public_key()
        known = json.loads((ECAlgorithm if self.algorithm == "ES256" else RSAAlgorithm).to_jwk(public))
        return {**known, "kid": self.kid, "alg": self.algorithm, "use": "sig"}

    def settings(self, **more):
        return {"issuer": self.issuer, "clientIds": ["shop", "shop-mobile"], "keys": [self.jwk], **more}

    def token(self, subject="carol", headers=None, key=None, **claims):
        now = int(time.time())
        claims = {"iss": self.issuer, "sub": subject, "aud": "shop", "iat": now, "exp": now + 600, **claims}
        return jwt.encode({name: value for name, value in claims.items() if value is not None}, key or self.key, self.algorithm, {"kid": self.kid, **(headers or {})})


def claims_of(token):
    return jwt.decode(token, options={"verify_signature": False})


class Logins(EndToEnd):
    stores = ("sqlite",)

    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn()
        self.provider = Provider()

    def pool(self, *providers, **more):
        pool = self.sidecar.call("pool.create", {"name": "shop", "allowClassicFlow": True, "developerProvider": "login.shop", "providers": list(providers) or [self.provider.settings()], **more})
        return pool["poolId"]

    def resolve(self, pool, token, name=NAME):
        return self.sidecar.call("identity.resolve", {"poolId": pool, "logins": {name: token}})

    def rejected(self, pool, token, check, name=NAME, says=""):
        error = self.refused("loginTokenInvalid", self.sidecar, "identity.resolve", {"poolId": pool, "logins": {name: token}})
        self.assertEqual((error.data["provider"], error.data["check"]), (name, check), error)
        self.assertIn(says, str(error))

    # Accepted tokens.

    def test_each_subject_resolves_to_one_identity(self):
        pool = self.pool()
        first = self.resolve(pool, self.provider.token())
        self.assertTrue(first["isNewIdentity"])
        self.assertEqual(self.resolve(pool, self.provider.token(exp=int(time.time()) - 299)), {**first, "isNewIdentity": False})
        self.assertNotEqual(self.resolve(pool, self.provider.token("Carol"))["identityId"], first["identityId"])
        self.assertTrue(self.resolve(self.pool(), self.provider.token())["isNewIdentity"])

    def test_provider_with_several_rsa_keys(self):
        old, new = Provider(algorithm="RS256", kid="old"), Provider(algorithm="RS256", kid="new")
        pool = self.pool({**old.settings(), "keys": [old.jwk, new.jwk]})
        self.assertEqual(self.resolve(pool, old.token())["identityId"], self.resolve(pool, new.token())["identityId"])

    def test_aud_must_match_and_azp_does_not_replace_it(self):
        pool = self.pool()
        self.resolve(pool, self.provider.token(aud=["other", "shop"], azp="shop-mobile"))
        self.resolve(pool, self.provider.token(aud=["shop-mobile", "shop"]))
        self.rejected(pool, self.provider.token(aud=["other", "shop"]), "audience")
        self.rejected(pool, self.provider.token(aud="https://api.example", azp="shop"), "audience")
        self.rejected(pool, self.provider.token(aud="shop", azp="other"), "audience")

    def test_google_login_is_named_by_domain_and_separated_by_client_id(self):
        google = Provider("https://accounts.google.com")
        settings = {"provider": "accounts.google.com", "clientIds": ["one", "two"], "keys": [google.jwk]}
        pool = self.pool(settings)
        one = self.resolve(pool, google.token(aud="one"), "accounts.google.com")
        short = self.resolve(pool, google.token(aud="one", iss="accounts.google.com"), "accounts.google.com")
        self.assertEqual(one["identityId"], short["identityId"])
        self.assertNotEqual(self.resolve(pool, google.token(aud="two"), "accounts.google.com")["identityId"], one["identityId"])
        token = self.sidecar.call("token.mint", {"identityId": one["identityId"], "logins": {"accounts.google.com": google.token(aud="one")}})["token"]
        self.assertEqual(claims_of(token)["amr"], ["authenticated", "accounts.google.com", "accounts.google.com:one:carol"])

    # Rejected tokens, by the check that fails.

    def test_invalid_claim_fails_with_its_check(self):
        pool, now = self.pool(), int(time.time())
        token = self.provider.token
        self.rejected(pool, token(iss="https://login.example.org"), "issuer", says="Issuer doesn't match providerName")
        self.rejected(pool, token(iss="login.example.com"), "issuer")
        self.rejected(pool, token(iss=None), "issuer")
        self.rejected(pool, token(aud=None), "audience", says="Missing a required claim: aud")
        self.rejected(pool, token(aud="other"), "audience")
        self.rejected(pool, token(aud=[]), "audience")
        self.rejected(pool, token(exp=now - 301), "expired", says="Token expired:")
        self.rejected(pool, token(exp=None), "expired")
        self.rejected(pool, token(iat=now + 400), "notYetValid")
        self.rejected(pool, token(nbf=now + 400), "notYetValid")
        self.rejected(pool, token(sub=None), "subject")
        self.rejected(pool, token(subject=""), "subject")
        self.rejected(pool, token(subject="x" * 256), "subject", says="255")

    def test_times_may_have_fractions_and_must_be_numbers(self):
        """A NumericDate (RFC 7519 §2) is any JSON number. Some providers include milliseconds."""
        pool, now, token = self.pool(), time.time(), self.provider.token
        for times in ({"exp": now + 600.5, "iat": now - 0.25, "nbf": now - 60.75}, {"exp": float(int(now) + 600)}, {"iat": now + 298.5}):
            self.resolve(pool, token(**times))
        # 1.5e300 is out of range as a number of whole seconds.
        for times, check in [
                ({"exp": now - 300.5}, "expired"), ({"exp": "tomorrow"}, "expired"), ({"exp": 1.5e300}, "expired"), ({"exp": True}, "expired"),
                ({"iat": now + 310.5}, "notYetValid"), ({"nbf": now + 310.5}, "notYetValid"), ({"nbf": []}, "notYetValid")]:
            self.rejected(pool, self.raw({"iss": ISSUER, "sub": "carol", "aud": "shop", "iat": now, "exp": now + 600, **times}), check)

    def raw(self, claims):
        """Returns a token with arbitrary claims, including claims that PyJWT does not sign."""
        return jwt.PyJWS().encode(json.dumps(claims).encode(), self.provider.key, "ES256", {"kid": "k1"})

    def test_nul_character_in_claims_is_rejected(self):
        """PostgreSQL text cannot contain U+0000. A provider's users must not be able to cause an internal error with it."""
        pool = self.pool({"provider": "accounts.google.com", "clientIds": ["shop"], "keys": [self.provider.jwk]}, self.provider.settings())
        google = Provider("https://accounts.google.com")
        google.key = self.provider.key
        for subject in ("\0", "a\0b", "carol\0"):
            self.rejected(pool, self.provider.token(subject=subject), "subject", says="U+0000")
            self.rejected(pool, google.token(subject=subject), "subject", "accounts.google.com", says="U+0000")
            self.refused("loginTokenInvalid", self.sidecar, "token.mintForDeveloper", {
                "poolId": pool, "logins": {"login.shop": "carol", NAME: self.provider.token(subject=subject)}})
        self.rejected(pool, self.provider.token(headers={"kid": "k1\0"}), "signature")
        self.rejected(pool, self.provider.token(aud="shop\0"), "audience")
        self.rejected(pool, self.provider.token(iss="https://login.example.com\0"), "issuer")
        self.assertEqual(self.sidecar.call("identity.list", {"poolId": pool})["identities"], [])
        # Claims that are not stored may contain U+0000.
        self.resolve(pool, self.provider.token(nickname="a\0b"))

    def test_forged_signature_fails(self):
        pool, token = self.pool(), self.provider.token()
        head, body, signature = token.split(".")
        self.rejected(pool, f"{head}.{body}.{signature[:-4]}AAAA", "signature", says="Couldn't verify signed token.")
        self.rejected(pool, self.provider.token(key=ec.generate_private_key(ec.SECP256R1())), "signature")
        self.rejected(pool, self.provider.token(headers={"kid": "other"}), "signature")
        self.rejected(pool, f"{head}.{body}.", "signature")
        claims = claims_of(token)
        self.rejected(pool, jwt.encode(claims, None, "none"), "malformed")
        self.rejected(pool, jwt.encode(claims, "secret" * 8, "HS256", {"kid": "k1"}), "malformed")
        self.rejected(pool, "no token", "malformed")
        self.rejected(pool, "a.b.c", "malformed")

    def test_one_invalid_login_fails_the_whole_call_without_changes(self):
        other = Provider("https://id.example.org")
        pool = self.pool(self.provider.settings(), other.settings())
        logins = {NAME: self.provider.token(), "id.example.org": other.token(exp=1)}
        self.refused("loginTokenInvalid", self.sidecar, "identity.resolve", {"poolId": pool, "logins": logins})
        self.refused("loginTokenInvalid", self.sidecar, "token.mintForDeveloper", {"poolId": pool, "logins": {**logins, "login.shop": "carol"}})
        self.assertEqual(self.sidecar.call("identity.list", {"poolId": pool})["identities"], [])

    def test_token_of_a_pool_is_not_accepted_as_login(self):
        pool = self.pool()
        token = mint(self.sidecar, pool)["token"]
        self.refused("poolTokenNotAccepted", self.sidecar, "identity.resolve", {"poolId": pool, "logins": {NAME: token}})

    def test_keys_of_a_provider_without_keys_are_fetched(self):
        pool = self.pool({"issuer": "https://login.invalid", "clientIds": ["shop"]})
        provider = Provider("https://login.invalid")
        error = self.refused("providerUnavailable", self.sidecar, "identity.resolve", {"poolId": pool, "logins": {"login.invalid": provider.token()}})
        self.assertIn("retryAfterSeconds", error.data)

    def test_invalid_provider_settings_fail_with_invalid_pool_provider(self):
        for settings in [
            {"issuer": "http://login.example.com", "clientIds": ["shop"]}, {"issuer": "https://login.example.com?x=1", "clientIds": ["shop"]},
            {"issuer": "https:///nobody", "clientIds": ["shop"]}, {"issuer": "https://a b.example", "clientIds": ["shop"]},
            {"issuer": ISSUER, "clientIds": ["shop"], "keys": [{"kty": "oct", "k": "AAAA"}]},
            {"issuer": ISSUER, "clientIds": ["shop"], "keys": [{"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}]},
            {"provider": "graph.facebook.com", "clientIds": ["1"], "keys": [self.provider.jwk]},
            self.provider.settings(keys=[self.provider.jwk, Provider().jwk]), self.provider.settings(keys=[{**Provider().jwk, "d": "AA"}]),
            self.provider.settings(keys=[{"kty": "oct", "k": "c2VjcmV0"}]),
            {"issuer": "https://login.shop", "clientIds": ["shop"]}, {"issuer": f"https://{PRINCIPAL}", "clientIds": ["shop"]},
        ]:
            error = self.refused("invalidPoolProvider", self.sidecar, "pool.create", {"name": "shop", "developerProvider": "login.shop", "providers": [settings]})
            self.assertNotRegex(str(error), r"KeyError|unsupportedType|privateKeyPublished|[a-z]\(\"")
        two = self.sidecar.refusal("pool.create", {"name": "shop", "providers": [self.provider.settings(keys=[self.provider.jwk, Provider().jwk])]})
        self.assertIn("two of its keys have the kid k1", two.message)
        pool = self.pool()
        self.refused("invalidPoolProvider", self.sidecar, "pool.update", {"poolId": pool, "name": "shop", "providers": [self.provider.settings(keys=[self.provider.jwk] * 2)]})
        self.refused("invalidPoolProvider", self.sidecar, "pool.create", {"name": "shop", "providers": [self.provider.settings(), self.provider.settings()]})
        self.violations(self.sidecar, "pool.create", {"name": "shop", "providers": [{"clientIds": ["shop"]}]})

    def test_legacy_and_saml_providers_fail_as_not_supported(self):
        pool = self.pool(allowUnauthenticated=True)
        guest = self.sidecar.call("identity.resolve", {"poolId": pool})["identityId"]
        saml = "arn:aws:iam::000000000000:saml-provider/Example"
        for name, wanted in [("api.twitter.com", "legacyProviderNotSupported"), ("www.digits.com", "legacyProviderNotSupported"), (saml, "samlNotSupported")]:
            logins = {name: "token"}
            for method, params in [("identity.resolve", {"poolId": pool}), ("token.mint", {"identityId": guest}), ("credentials.get", {"identityId": guest}),
                                   ("identity.unlink", {"identityId": guest, "loginsToRemove": [name]})]:
                error = self.refused(wanted, self.sidecar, method, {**params, "logins": logins})
                self.assertEqual(error.data["provider"], name)
            self.assertIn("OpenID Connect", error.message)
            if name != saml:
                settings = {"provider": name, "clientIds": ["key;secret"]}
                self.refused(wanted, self.sidecar, "pool.create", {"name": "shop", "providers": [settings]})
                self.refused(wanted, self.sidecar, "pool.update", {"poolId": pool, "name": "shop", "providers": [settings]})
                self.assertEqual(self.violations(self.sidecar, "system.apply", {"pools": [{"name": "shop", "providers": [settings]}]}), {("/pools/0/providers", wanted)})

        def wire(operation, **body):
            return json.loads(self.sidecar.call("compat.http", {
                "method": "POST", "url": "/", "headers": {"x-amz-target": f"AWSCognitoIdentityService.{operation}", **SIGNED}, "body": json.dumps(body)})["body"])
        error = wire("CreateIdentityPool", IdentityPoolName="shop", AllowUnauthenticatedIdentities=False, SupportedLoginProviders={"api.twitter.com": "key;secret"})
        self.assertEqual(error["__type"], "InvalidParameterException")
        self.assertIn("api.twitter.com", error["message"])
        self.assertEqual(wire("GetId", IdentityPoolId=pool, Logins={"www.digits.com": "x"}), {
            "__type": "NotAuthorizedException", "message": "Token is not from a supported provider of this identity pool."})

    # Contents of tokens and credentials.

    def role(self, name, pool):
        return self.sidecar.call("role.put", {"name": name, "trustPolicy": trust(pool=pool)})["roleArn"]

    def test_amr_lists_several_logins_sorted_by_provider(self):
        other = Provider("https://id.example.org/tenant")
        pool = self.pool(self.provider.settings(), other.settings())
        logins = {NAME: self.provider.token(), "id.example.org/tenant": other.token("c-7")}
        minted = self.sidecar.call("token.mintForDeveloper", {"poolId": pool, "logins": {**logins, "login.shop": "carol"}})
        arn = "arn:aws:iam::000000000000:oidc-provider/"
        first = ["id.example.org/tenant", f"{arn}id.example.org/tenant:OIDC:c-7", NAME, f"{arn}{NAME}:OIDC:carol"]
        self.assertEqual(claims_of(minted["token"])["amr"], ["authenticated", *first, "login.shop", f"login.shop:{pool}:carol"])
        classic = self.sidecar.call("token.mint", {"identityId": minted["identityId"], "logins": logins})
        claims = claims_of(classic["token"])
        self.assertEqual(claims["amr"], ["authenticated", *first])
        self.assertEqual(claims["exp"] - claims["iat"], 600)
        self.assertIn("https://cognito-identity.amazonaws.com/identity-pool-arn", claims)

    def test_guest_token_and_credentials_are_unauthenticated(self):
        pool = self.pool(allowUnauthenticated=True)
        guest = self.sidecar.call("identity.resolve", {"poolId": pool})["identityId"]
        claims = claims_of(self.sidecar.call("token.mint", {"identityId": guest})["token"])
        self.assertEqual(claims["amr"], ["unauthenticated"])
        self.assertEqual(set(claims), {"iss", "aud", "sub", "amr", "iat", "exp"})
        self.refused("roleNotConfigured", self.sidecar, "credentials.get", {"identityId": guest})
        role = self.sidecar.call("role.put", {"name": "visitor", "trustPolicy": trust(StringEquals={f"{PRINCIPAL}:aud": pool}, **{"ForAnyValue:StringLike": {f"{PRINCIPAL}:amr": "unauthenticated"}})})["roleArn"]
        self.sidecar.call("pool.setRoles", {"poolId": pool, "roles": {"unauthenticated": role}})
        credentials = self.sidecar.call("credentials.get", {"identityId": guest})["credentials"]
        principal = self.sidecar.call("credentials.verify", {"sessionToken": credentials["sessionToken"]})
        self.assertIn("s3:*", principal["sessionPolicy"]["Statement"][0]["Action"])
        self.assertNotIn("iam:*", principal["sessionPolicy"]["Statement"][0]["Action"])
        self.assertEqual(principal["sessionPolicy"]["Statement"][1]["Action"][0], "rum:PutRumEvents")
        self.assertFalse({"rum:*", "mobiletargeting:*"} & set(principal["sessionPolicy"]["Statement"][0]["Action"]))
        self.sidecar.call("pool.update", {"poolId": pool, "name": "shop"})
        self.refused("unauthenticatedNotAllowed", self.sidecar, "credentials.get", {"identityId": guest})

    def test_rules_select_the_role_and_claims_become_principal_tags(self):
        pool = self.pool()
        reader, editor = self.role("reader", pool), self.role("editor", pool)
        mapping = {"source": "rules", "ambiguousRoleResolution": "deny", "rules": [
            {"claim": "groups", "matchType": "contains", "value": "edit", "roleArn": editor},
            {"claim": "email", "matchType": "notEqual", "value": "nobody@example.com", "roleArn": reader}]}
        got = self.sidecar.call("pool.setRoles", {"poolId": pool, "roles": {}, "mappings": {NAME: mapping}})
        self.assertEqual(got, self.sidecar.call("pool.getRoles", {"poolId": pool}))
        self.sidecar.call("pool.setPrincipalTags", {"poolId": pool, "provider": NAME, "principalTags": {"mail": "email", "level": "level", "none": "missing"}})
        identity = self.resolve(pool, self.provider.token())["identityId"]

        def credentials(custom=None, **claims):
            more = {"customRoleArn": custom} if custom else {}
            return {"identityId": identity, "logins": {NAME: self.provider.token(**claims)}, **more}
        buy = lambda **more: self.sidecar.call("credentials.get", credentials(**more))
        self.assertEqual(buy(groups=["users", "editors"], email="c@example.com")["roleArn"], editor)
        self.assertEqual(buy(groups=["users"], email="c@example.com")["roleArn"], reader)
        self.assertEqual(buy(groups="editors", email="c@example.com", custom=reader)["roleArn"], reader)
        self.refused("roleNotOffered", self.sidecar, "credentials.get", credentials(groups="users", email="c@example.com", custom=editor))
        self.refused("ambiguousRoleDenied", self.sidecar, "credentials.get", credentials(groups="users"))
        session = buy(groups="editors", email="c@example.com", level=7)["credentials"]["sessionToken"]
        self.assertEqual(self.sidecar.call("credentials.verify", {"sessionToken": session})["principal"]["tags"], {"mail": "c@example.com", "level": "7"})
        token = self.sidecar.call("token.mint", {"identityId": identity, "logins": {NAME: self.provider.token(email="c@example.com")}})["token"]
        self.assertEqual(claims_of(token)["https://aws.amazon.com/tags"], {"principal_tags": {"mail": ["c@example.com"]}})

    def test_mapped_claims_have_at_most_460_bytes_in_total(self):
        pool = self.pool()
        self.sidecar.call("pool.setRoles", {"poolId": pool, "roles": {"authenticated": self.role("reader", pool)}})
        self.sidecar.call("pool.setPrincipalTags", {"poolId": pool, "provider": NAME, "principalTags": {"a": "one", "b": "two"}})
        fits = self.provider.token(one="x" * 256, two="ö" * 102)
        identity = self.resolve(pool, fits)["identityId"]
        for method in ("credentials.get", "token.mint"):
            self.sidecar.call(method, {"identityId": identity, "logins": {NAME: fits}})
            self.refused("invalidPrincipalTags", self.sidecar, method, {"identityId": identity, "logins": {NAME: self.provider.token(one="x" * 256, two="x" * 205)}})

    def test_claims_are_converted_to_principal_tags(self):
        pool = self.pool()
        self.sidecar.call("pool.setRoles", {"poolId": pool, "roles": {"authenticated": self.role("reader", pool)}})
        self.sidecar.call("pool.setPrincipalTags", {"poolId": pool, "provider": NAME, "principalTags": {"nick": "nickname"}})

        def tags(value):
            logins = {NAME: self.provider.token(nickname=value) if value is not None else self.raw_login(nickname=None)}
            id = self.resolve(pool, logins[NAME])["identityId"]
            session = self.sidecar.call("credentials.get", {"identityId": id, "logins": logins})["credentials"]["sessionToken"]
            return self.sidecar.call("credentials.verify", {"sessionToken": session})["principal"]["tags"]
        for value, wanted in [("Köln 7", "Köln 7"), ("٣", "٣"), ("a/b:c=d+e-f@g_h.i", "a/b:c=d+e-f@g_h.i"), (True, "true"), (7.5, "7.5"), ("x" * 256, "x" * 256), ("", "")]:
            self.assertEqual(tags(value), {"nick": wanted})
        self.assertEqual(tags(None), {})   # a claim that is null adds no tag
        for value in ("x" * 257, "a;b", "a\0b", "😀", "a\u2028b", "a\u00a0b", "①", ["a", "b"], [], {"a": 1}):
            logins = {NAME: self.provider.token("dave", nickname=value)}
            # The identity can still be resolved. Tokens and credentials are not issued without a tag that policies can require.
            dave = self.resolve(pool, logins[NAME])["identityId"]
            for method in ("credentials.get", "token.mint"):
                error = self.refused("invalidPrincipalTags", self.sidecar, method, {"identityId": dave, "logins": logins})
                self.assertEqual(error.data["tag"], "nick")
                self.assertIn(f"the claim nickname of {NAME} ", error.message)
            answer = self.sidecar.call("compat.http", {
                "method": "POST", "url": "/", "headers": {"x-amz-target": "AWSCognitoIdentityService.GetCredentialsForIdentity"},
                "body": json.dumps({"IdentityId": dave, "Logins": logins})})
            self.assertEqual(json.loads(answer["body"]), {
                "__type": "InvalidIdentityPoolConfigurationException", "message": "Invalid identity pool configuration. Check assigned IAM roles for this pool."})

    def raw_login(self, **claims):
        now = int(time.time())
        return self.raw({"iss": ISSUER, "sub": "carol", "aud": "shop", "iat": now, "exp": now + 600, **claims})

    def test_session_with_more_than_fifty_tags_fails(self):
        providers = [Provider(f"https://{name}.example") for name in ("a", "b")]
        pool = self.pool(*[each.settings() for each in providers])
        for letter, each in zip("ab", providers):
            self.sidecar.call("pool.setPrincipalTags", {"poolId": pool, "provider": f"{letter}.example", "principalTags": {f"{letter}{n}": "sub" for n in range(30)}})
        logins = {"a.example": providers[0].token()}
        carol = self.sidecar.call("identity.resolve", {"poolId": pool, "logins": logins})["identityId"]
        self.sidecar.call("token.mint", {"identityId": carol, "logins": logins})
        logins["b.example"] = providers[1].token()
        error = self.refused("invalidPrincipalTags", self.sidecar, "token.mint", {"identityId": carol, "logins": logins})
        self.assertIn("50", error.message)

    def test_developer_logins_ignore_the_role_mappings(self):
        pool = self.pool()
        reader, editor = self.role("reader", pool), self.role("editor", pool)
        mapping = {"source": "rules", "ambiguousRoleResolution": "deny", "rules": [{"claim": "sub", "matchType": "equals", "value": "carol", "roleArn": editor}]}
        self.sidecar.call("pool.setRoles", {"poolId": pool, "roles": {"authenticated": reader}, "mappings": {NAME: mapping}})
        token = self.sidecar.call("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": "carol", NAME: self.provider.token()}})["token"]
        self.assertEqual(self.sidecar.call("credentials.get", {"token": token})["roleArn"], reader)

    def test_credentials_with_a_login_of_another_identity_return_that_identity(self):
        pool = self.pool(allowUnauthenticated=True)
        role = self.role("reader", pool)
        self.sidecar.call("pool.setRoles", {"poolId": pool, "roles": {"authenticated": role}})
        carol = self.resolve(pool, self.provider.token())["identityId"]
        guest = self.sidecar.call("identity.resolve", {"poolId": pool})["identityId"]
        got = self.sidecar.call("credentials.get", {"identityId": guest, "logins": {NAME: self.provider.token()}})
        self.assertEqual(got["identityId"], carol)
        self.refused("identityDisabled", self.sidecar, "credentials.get", {"identityId": guest, "logins": {NAME: self.provider.token()}})
        dave = self.resolve(pool, self.provider.token("dave"))["identityId"]
        self.refused("loginsDoNotMatch", self.sidecar, "credentials.get", {"identityId": dave, "logins": {NAME: self.provider.token()}})
        self.refused("identityForbidden", self.sidecar, "credentials.get", {"identityId": dave})
        self.refused("identityForbidden", self.sidecar, "credentials.get", {"identityId": dave, "logins": {}})

    def test_pool_update_resets_everything_except_the_developer_provider(self):
        pool = self.pool(allowUnauthenticated=True, tags={"team": "a"})
        got = self.sidecar.call("pool.update", {"poolId": pool, "name": "bazaar"})
        self.assertEqual((got["allowUnauthenticated"], got["allowClassicFlow"], got["providers"], got["tags"], got["developerProvider"]), (False, False, [], {}, "login.shop"))
        self.refused("unsupportedLoginProvider", self.sidecar, "identity.resolve", {"poolId": pool, "logins": {NAME: self.provider.token()}})
        self.refused("developerProviderFixed", self.sidecar, "pool.update", {"poolId": pool, "name": "bazaar", "developerProvider": "login.bazaar"})
        self.sidecar.call("pool.tag", {"poolId": pool, "tags": {f"k{i}": "v" for i in range(50)}})
        self.refused("tooManyTags", self.sidecar, "pool.tag", {"poolId": pool, "tags": {"one": "more"}})
        self.assertEqual(len(self.sidecar.call("pool.untag", {"poolId": pool, "tagKeys": ["k0", "never"]})["tags"]), 49)
