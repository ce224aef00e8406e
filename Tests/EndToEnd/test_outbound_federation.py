"""Tokens with which sessions of roles authenticate elsewhere: GetWebIdentityToken of AWS STS with boto3, verified with PyJWT and joserfc, the library of Authlib."""

import datetime
import json
import time
import urllib.request

import boto3
import botocore.config
import botocore.exceptions
import jwt
from joserfc import jwk as joserfc_jwk
from joserfc import jwt as joserfc_jwt

from endtoend import EndToEnd, pool_with_role
from workloads import ACCOUNT, github, trusting

ISSUER = f"https://testing.mintmark.localhost/accounts/{ACCOUNT}"
API = "https://api.example.com"
CLAIM = "https://sts.amazonaws.com/"


class Outbound(EndToEnd):
    def setUp(self):
        super().setUp()
        self.store = self.path("shop.db")
        self.sidecar = self.spawn(store=self.store, testing=True)
        self.url = self.sidecar.call("test.http")["baseUrl"]
        self.hub = github()
        self.hub.put(self.sidecar)
        self.role = self.sidecar.call("role.put", {"name": "deploy", "trustPolicy": self.hub.policy})["roleArn"]
        self.session = self.assume()
        self.iam = self.client("iam")
        self.sts = self.client("sts", self.session)

    def assume(self, **more):
        return self.sidecar.call("credentials.assumeRole", {
            "roleArn": self.role, "sessionName": "job", "token": self.hub.token(), **more})["credentials"]

    def client(self, service, keys=None, url=None):
        config = botocore.config.Config(retries={"mode": "standard", "total_max_attempts": 1}, proxies={})
        keys = keys or {"accessKeyId": "AKIAIOSFODNN7EXAMPLE", "secretAccessKey": "secret"}
        return boto3.client(
            service, region_name="us-east-1", endpoint_url=url or self.url, config=config, aws_access_key_id=keys["accessKeyId"],
            aws_secret_access_key=keys["secretAccessKey"], aws_session_token=keys.get("sessionToken"))

    def fails(self, code, status, operation, **params):
        with self.assertRaises(botocore.exceptions.ClientError) as refused:
            operation(**params)
        response = refused.exception.response
        self.assertEqual((response["Error"]["Code"], response["ResponseMetadata"]["HTTPStatusCode"]), (code, status), response)
        return refused.exception

    def keys(self, sidecar=None):
        return (sidecar or self.sidecar).call("token.jwks", {"issuer": ISSUER})["keys"]

    def verified(self, token, audience=API):
        """Returns the claims, verified by two libraries against the published keys."""
        published = self.keys()
        kid = jwt.get_unverified_header(token)["kid"]
        key = jwt.PyJWK([each for each in published if each["kid"] == kid][0])
        claims = jwt.decode(token, key, algorithms=[key.algorithm_name], audience=audience, issuer=ISSUER)
        other = joserfc_jwt.decode(token, joserfc_jwk.KeySet.import_key_set({"keys": published}), algorithms=["RS256", "ES384"])
        self.assertEqual(other.claims, claims)
        return claims

    def mint(self, **more):
        return self.sts.get_web_identity_token(**{"Audience": [API], "SigningAlgorithm": "ES384", **more})


class GetWebIdentityToken(Outbound):
    def test_switch(self):
        self.fails("FeatureDisabled", 404, self.iam.get_outbound_web_identity_federation_info)
        self.fails("FeatureDisabled", 404, self.iam.disable_outbound_web_identity_federation)
        self.fails("OutboundWebIdentityFederationDisabledException", 403, self.mint)
        self.refused("issuerNotFound", self.sidecar, "token.jwks", {"issuer": ISSUER})
        self.assertEqual(self.iam.enable_outbound_web_identity_federation()["IssuerIdentifier"], ISSUER)
        self.fails("FeatureEnabled", 409, self.iam.enable_outbound_web_identity_federation)
        info = self.iam.get_outbound_web_identity_federation_info()
        self.assertEqual((info["IssuerIdentifier"], info["JwtVendingEnabled"]), (ISSUER, True))
        token = self.mint()["WebIdentityToken"]
        self.iam.disable_outbound_web_identity_federation()
        self.assertFalse(self.sidecar.call("token.outboundFederation")["enabled"])
        self.fails("OutboundWebIdentityFederationDisabledException", 403, self.mint)
        self.verified(token)   # tokens issued before stay good
        self.assertTrue(self.sidecar.call("token.outboundFederation", {"enabled": True})["enabled"])
        self.assertEqual({record["details"]["enabled"] for record in self.sidecar.call("audit.list", {"method": "token.outboundFederation"})["records"]}, {
            True, False})

    def test_token_of_each_algorithm(self):
        self.iam.enable_outbound_web_identity_federation()
        discovery = self.sidecar.call("token.discovery", {"issuer": ISSUER})
        self.assertEqual((discovery["issuer"], discovery["id_token_signing_alg_values_supported"]), (ISSUER, ["ES384", "RS256"]))
        self.assertNotIn("authorization_grant_profiles_supported", discovery)
        self.assertEqual({(key["alg"], key["kty"], key.get("crv")) for key in self.keys()}, {("RS256", "RSA", None), ("ES384", "EC", "P-384")})
        for algorithm in ("RS256", "ES384"):
            with self.subTest(algorithm):
                answer = self.mint(SigningAlgorithm=algorithm, DurationSeconds=60, Tags=[{"Key": "team", "Value": "blue"}, {"Key": "stage", "Value": ""}])
                token, now = answer["WebIdentityToken"], int(time.time())
                head = jwt.get_unverified_header(token)
                self.assertEqual((head["alg"], head["typ"]), (algorithm, "JWT"))
                claims = self.verified(token)
                self.assertEqual((claims["sub"], claims["aud"], claims["exp"] - claims["iat"]), (self.role, API, 60))
                self.assertEqual(answer["Expiration"], datetime.datetime.fromtimestamp(claims["exp"], datetime.timezone.utc))
                self.assertLess(abs(claims["iat"] - now), 20)
                facts = claims[CLAIM]
                self.assertEqual((facts["aws_account"], facts["source_region"]), (ACCOUNT, "local-1"))
                self.assertEqual(facts["request_tags"], {"team": "blue", "stage": ""})
                self.assertNotIn("principal_tags", facts)
                self.assertTrue(facts["original_session_exp"].endswith("Z"))
        self.assertNotEqual(self.verified(self.mint()["WebIdentityToken"])["jti"], claims["jti"])
        self.assertEqual(self.verified(self.mint(Audience=["a", "b"])["WebIdentityToken"], "b")["aud"], ["a", "b"])

    def test_tags_of_the_session(self):
        self.iam.enable_outbound_web_identity_federation()
        policy = trusting(self.hub.principal, "sts:AssumeRoleWithWebIdentity", "sts:TagSession", StringEquals={f"{self.hub.name}:sub": self.hub.claims["sub"]})
        role = self.sidecar.call("role.put", {"name": "tagged", "trustPolicy": policy})["roleArn"]
        token = self.hub.token(**{"https://aws.amazon.com/tags": {"principal_tags": {"team": ["red"]}}})
        keys = self.sidecar.call("credentials.assumeRole", {"roleArn": role, "sessionName": "job", "token": token})["credentials"]
        self.sts = self.client("sts", keys)
        self.assertEqual(self.verified(self.mint()["WebIdentityToken"])[CLAIM]["principal_tags"], {"team": "red"})

    def test_errors(self):
        self.iam.enable_outbound_web_identity_federation()
        self.fails("SessionDurationEscalationException", 403, self.client("sts", self.assume(durationSeconds=900)).get_web_identity_token,
                   Audience=[API], SigningAlgorithm="ES384", DurationSeconds=3600)
        many = [{"Key": f"{number:03}" + "k" * 120, "Value": "v" * 256} for number in range(50)]
        self.fails("JWTPayloadSizeExceededException", 400, self.mint, Tags=many)
        for wrong in ({"SigningAlgorithm": "HS256"}, {"Tags": [{"Key": "a", "Value": "1"}, {"Key": "A", "Value": "2"}]},
                      {"Tags": [{"Key": "aws:x", "Value": "1"}]}, {"Tags": [{"Key": "a!", "Value": "1"}]}):
            with self.subTest(wrong):
                self.fails("ValidationError", 400, self.mint, **wrong)
        for keys in (None, {"accessKeyId": "AKIAIOSFODNN7EXAMPLE", "secretAccessKey": "x"}):
            self.fails("AccessDenied", 403, self.client("sts", keys).get_web_identity_token, Audience=[API], SigningAlgorithm="ES384")
        self.fails("SignatureDoesNotMatch", 403, self.client("sts", {**self.session, "secretAccessKey": "x"}).get_web_identity_token,
                   Audience=[API], SigningAlgorithm="ES384")
        self.sidecar.call("credentials.revoke", {"roleArn": self.role})
        self.fails("AccessDenied", 403, self.mint)

    def test_session_policy_must_allow_it(self):
        self.iam.enable_outbound_web_identity_federation()

        def policy(effect="Allow", action="sts:GetWebIdentityToken", resource="*", **more):
            return {"Version": "2012-10-17", "Statement": [{"Effect": effect, "Action": action, "Resource": resource, **more}]}
        for allowed in (policy(), policy(action=["s3:*", "sts:Get*"]), policy(action="*")):
            self.sts = self.client("sts", self.assume(policy=allowed))
            self.mint()
        deny = policy(action="*")
        deny["Statement"].append(policy("Deny", "STS:getweb*")["Statement"][0])
        for refused in (policy(action="s3:*"), policy(action="sts:GetCallerIdentity"), deny,
                        policy(Condition={"StringEquals": {"aws:username": "x"}})):
            self.sts = self.client("sts", self.assume(policy=refused))
            self.fails("AccessDenied", 403, self.mint)
            self.sts.get_caller_identity()
        # Guests have a policy that excludes AWS STS.
        pool = self.sidecar.call("pool.create", {"name": "guests", "allowUnauthenticated": True})["poolId"]
        name = "cognito-identity.amazonaws.com"
        role = self.sidecar.call("role.put", {"name": "guest", "trustPolicy": {"Version": "2012-10-17", "Statement": [{
            "Effect": "Allow", "Principal": {"Federated": name}, "Action": "sts:AssumeRoleWithWebIdentity", "Condition": {
                "StringEquals": {f"{name}:aud": pool}, "ForAnyValue:StringLike": {f"{name}:amr": "unauthenticated"}}}]}})["roleArn"]
        self.sidecar.call("pool.setRoles", {"poolId": pool, "roles": {"unauthenticated": role}})
        identity = self.sidecar.call("identity.resolve", {"poolId": pool})["identityId"]
        keys = self.sidecar.call("credentials.get", {"identityId": identity})["credentials"]
        self.sts = self.client("sts", keys)
        self.fails("AccessDenied", 403, self.mint)

    def test_without_signature_and_with_values_that_boto3_does_not_send(self):
        self.iam.enable_outbound_web_identity_federation()
        for body in (b"Action=GetWebIdentityToken&Version=2011-06-15", b"Action=GetWebIdentityToken&Version=2010-05-08"):
            request = urllib.request.Request(self.url, body, {"Content-Type": "application/x-www-form-urlencoded"})
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request)
            self.assertIn(refused.exception.code, (400, 403))
        too_short = {"DurationSeconds": 59}
        self.sts.meta.events.register("before-parameter-build.sts.GetWebIdentityToken", lambda **_: None)
        with self.assertRaises((botocore.exceptions.ParamValidationError, botocore.exceptions.ClientError)):
            self.mint(**too_short)

    def test_rotation_concerns_one_algorithm(self):
        self.iam.enable_outbound_web_identity_federation()
        before = {key["alg"]: key["kid"] for key in self.keys()}
        old = self.mint()["WebIdentityToken"]
        new = self.sidecar.call("key.rotate", {"issuer": ISSUER, "activateAfterSeconds": 0})
        self.assertEqual((new["algorithm"], new["issuer"], new["state"]), ("ES384", ISSUER, "active"))
        self.assertEqual(jwt.get_unverified_header(self.mint()["WebIdentityToken"])["kid"], new["kid"])
        self.assertEqual(jwt.get_unverified_header(self.mint(SigningAlgorithm="RS256")["WebIdentityToken"])["kid"], before["RS256"])
        self.verified(old)
        states = {key["kid"]: key["state"] for key in self.sidecar.call("key.list", {"issuer": ISSUER})["keys"]}
        self.assertEqual(states, {before["RS256"]: "active", before["ES384"]: "retired", new["kid"]: "active"})
        next_key = self.sidecar.call("key.rotate", {"issuer": ISSUER, "algorithm": "RS256", "activateAfterSeconds": 600})
        self.assertEqual((next_key["algorithm"], next_key["state"]), ("RS256", "next"))
        self.sidecar.call("key.rotate", {"issuer": ISSUER, "algorithm": "ES384", "activateAfterSeconds": 600})
        self.assertEqual(len(self.keys()), 5)   # the next key of one algorithm does not replace that of the other
        self.sidecar.call("key.revoke", {"kid": new["kid"]})
        self.assertNotIn(new["kid"], [key["kid"] for key in self.keys()])
        self.assertEqual(jwt.get_unverified_header(self.mint()["WebIdentityToken"])["alg"], "ES384")
        self.assertEqual(self.violations(self.sidecar, "key.rotate", {"issuer": ISSUER, "algorithm": "EdDSA"}), {("/algorithm", "enum")})
        for unknown in ("https://example.com", "https://testing.mintmark.localhost/accounts/111111111111", "https://testing.mintmark.localhost/accounts/"):
            self.refused("issuerNotFound", self.sidecar, "key.rotate", {"issuer": unknown})
        self.sidecar.call("test.clock", {"advanceSeconds": 86_400 * 3})
        self.assertEqual({key["state"] for key in self.sidecar.call("key.list", {"issuer": ISSUER})["keys"]} - {"revoked"}, {"active"})

    def test_skewed_clock(self):
        self.iam.enable_outbound_web_identity_federation()
        self.sidecar.call("test.clock", {"advanceSeconds": 3700})
        self.fails("ExpiredToken", 403, self.mint)

    def test_json_answer(self):
        """As aws-iam-authenticator reads it."""
        self.iam.enable_outbound_web_identity_federation()
        found = []
        self.sts.meta.events.register("before-send.sts.*", lambda request, **_: found.append(request) and None)
        self.mint()
        request = found[0]
        send = urllib.request.Request(request.url, request.body.encode() if isinstance(request.body, str) else request.body, {**{name: value if isinstance(value, str) else value.decode() for name, value in request.headers.items()},
                                                                  "Accept": "application/json, text/xml"})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(send) as answer:
            told = json.load(answer)["GetWebIdentityTokenResponse"]
        self.verified(told["GetWebIdentityTokenResult"]["WebIdentityToken"])
        self.assertIn("RequestId", told["ResponseMetadata"])

    def test_faults(self):
        self.iam.enable_outbound_web_identity_federation()
        self.sidecar.call("test.fault", {"method": "token.mintForSession", "error": "sessionDurationEscalation", "times": 1})
        self.fails("SessionDurationEscalationException", 403, self.mint)
        self.mint()


class MintForSession(Outbound):
    def test_tokens_for_sessions(self):
        params = {"sessionToken": self.session["sessionToken"], "audience": [API], "signingAlgorithm": "RS256", "tags": {"team": "blue"}}
        self.refused("outboundFederationDisabled", self.sidecar, "token.mintForSession", params)
        self.sidecar.call("token.outboundFederation", {"enabled": True})
        answer = self.sidecar.call("token.mintForSession", params)
        claims = self.verified(answer["token"])
        self.assertEqual((claims["sub"], claims["exp"], claims["iss"]), (self.role, answer["expiresAt"], answer["issuer"]))
        error = self.refused("sessionDurationEscalation", self.sidecar, "token.mintForSession", {
            **params, "sessionToken": self.assume(durationSeconds=900)["sessionToken"], "durationSeconds": 3600})
        self.assertLessEqual(error.data["maximumSeconds"], 900)
        self.refused("sessionTokenInvalid", self.sidecar, "token.mintForSession", {**params, "sessionToken": "abc"})
        self.refused("tokenPayloadTooLarge", self.sidecar, "token.mintForSession", {**params, "audience": ["x" * 1000] * 10})
        self.assertEqual(self.violations(self.sidecar, "token.mintForSession", {**params, "tags": {"aws:x": "1"}}), {("/tags/aws:x", "propertyNames")})
        record = self.sidecar.call("audit.list", {"method": "token.mintForSession"})["records"][-1]
        self.assertEqual((record["subject"], record["details"]["tokenId"]), (self.role, claims["jti"]))
        self.sidecar.call("credentials.revoke", {"roleArn": self.role})
        self.refused("credentialsRevoked", self.sidecar, "token.mintForSession", params)

    def test_session_of_an_identity(self):
        self.sidecar.call("token.outboundFederation", {"enabled": True})
        pool, role = pool_with_role(self.sidecar)
        token = self.sidecar.call("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": "alice"}})["token"]
        keys = self.sidecar.call("credentials.get", {"token": token})["credentials"]
        answer = self.sidecar.call("token.mintForSession", {"sessionToken": keys["sessionToken"], "audience": [API], "signingAlgorithm": "ES384"})
        self.assertEqual(self.verified(answer["token"])["sub"], role)

    def test_tokens_are_not_accepted_by_this_store(self):
        """As in AWS, they cannot be exchanged for credentials of the same account."""
        self.sidecar.call("token.outboundFederation", {"enabled": True})
        answer = self.sidecar.call("token.mintForSession", {"sessionToken": self.session["sessionToken"], "audience": ["shop"], "signingAlgorithm": "ES384"})
        self.refused("invalidTrustedIssuer", self.sidecar, "issuer.put", {"issuer": ISSUER, "audiences": ["shop"]})
        self.sidecar.call("tenant.create", {"tenantId": "shop"})
        for method, params in (("token.verify", {"token": answer["token"], "issuer": ISSUER}), ("credentials.get", {"token": answer["token"]}),
                               ("credentials.assumeRole", {"roleArn": self.role, "sessionName": "job", "token": answer["token"]}),
                               ("token.exchange", {"subjectToken": answer["token"], "subjectTokenType": "urn:ietf:params:oauth:token-type:jwt", "tenantId": "shop"}),
                               ("account.me", {"idToken": answer["token"]})):
            with self.subTest(method):
                self.refused({"tokenUseMismatch", "tokenIssuerMismatch"}, self.sidecar, method, params)

    def test_two_processes_create_the_keys_once(self):
        other = self.spawn(store=self.store, testing=True)
        sent = [(each, each.send("token.outboundFederation", {"enabled": True})) for each in (self.sidecar, other)]
        for each, id in sent:
            self.assertTrue(each.answer(id)["enabled"])
        self.assertEqual(sorted(key["alg"] for key in self.keys()), ["ES384", "RS256"])
        deadline = time.monotonic() + 60
        while self.keys(other) != self.keys():   # PostgreSQL: within a second
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        answer = other.call("token.mintForSession", {"sessionToken": self.session["sessionToken"], "audience": [API], "signingAlgorithm": "ES384"})
        self.verified(answer["token"])

    def test_seeded_store_repeats_keys_and_signatures(self):
        keys = []
        for _ in range(2):
            sidecar = self.spawn("--clock", "1700000000", testing=True)
            sidecar.call("test.seed", {"seed": "seven"})
            sidecar.call("token.outboundFederation", {"enabled": True})
            keys.append(sidecar.call("token.jwks", {"issuer": ISSUER})["keys"])
        self.assertEqual(keys[0], keys[1])


if __name__ == "__main__":
    import unittest
    unittest.main()
