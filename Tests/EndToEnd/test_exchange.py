"""Exchange of tokens for credentials. Requests that botocore signs with the credentials are verified, and altered requests are rejected."""

import contextlib
import datetime
import hashlib
import json
import sqlite3
from unittest import mock

import botocore.auth
from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth, SigV4Auth, SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from endtoend import PRINCIPAL, EndToEnd, make_pool, mint, pool_with_role, trust
from sidecar import run


def sha256(body):
    return hashlib.sha256(body).hexdigest()


def signed(credentials, method="GET", url="https://api.example.com/items", body=b"", headers=None, signer=SigV4Auth, service="execute-api", region="us-east-1"):
    """Returns a request that botocore has signed, in the form that `credentials.verify` accepts."""
    keys = Credentials(credentials["accessKeyId"], credentials["secretAccessKey"], credentials["sessionToken"])
    request = AWSRequest(method=method, url=url, data=body, headers={"Content-Type": "application/json", **(headers or {})})
    signer(keys, service, region).add_auth(request)
    return {"method": method, "url": url, "headers": dict(request.headers.items()), "bodySha256": sha256(body)}


def presigned(credentials, url="https://files.example.com/key?v=1", expires=300, signer=SigV4QueryAuth, service="execute-api", method="GET"):
    keys = Credentials(credentials["accessKeyId"], credentials["secretAccessKey"], credentials["sessionToken"])
    request = AWSRequest(method=method, url=url)
    signer(keys, service, "us-east-1", expires=expires).add_auth(request)
    body = {} if signer is S3SigV4QueryAuth else {"bodySha256": sha256(b"")}
    return {"method": method, "url": request.url, "headers": {"host": "files.example.com"}, **body}


def with_pool(pool, conditions):
    """Returns the conditions and the condition that every trust policy requires: the pool of the token."""
    audience = {f"{PRINCIPAL}:aud": pool}
    return {**conditions, "StringEquals": {**audience, **conditions.get("StringEquals", {})}}


class StoredTrust(EndToEnd):
    stores = ("sqlite",)

    def test_stored_trust_policy_without_pool_denies(self):
        """A store of an earlier version can contain such a policy, since `amr` alone used to be sufficient."""
        store = self.path("open.db")
        sidecar = self.spawn(store=store)
        pool, role = pool_with_role(sidecar)
        other = make_pool(sidecar)["poolId"]
        self.assertEqual(sidecar.finish(), 0)
        policy = trust(**{"ForAnyValue:StringLike": {f"{PRINCIPAL}:amr": "authenticated"}})
        with contextlib.closing(sqlite3.connect(store)) as file, file:
            file.execute("UPDATE role SET trust_policy = ?", (json.dumps(policy),))
        sidecar = self.spawn(store=store)
        self.assertEqual(sidecar.call("role.get", {"name": "reader"})["trustPolicy"], policy)
        for asking in (pool, other):
            token = mint(sidecar, asking)["token"]
            self.refused("assumeRoleDenied", sidecar, "credentials.assumeRole", {"roleArn": role, "sessionName": "me", "token": token})
        self.refused("roleNotConfigured", sidecar, "credentials.get", {"token": mint(sidecar, pool)["token"]})
        sidecar.finish()
        report = run("doctor", "--store", store)
        self.assertEqual(report.returncode, 2)
        self.assertIn(b"the trust policy of reader", report.stdout)
        sidecar = self.spawn(store=store)
        sidecar.call("role.put", {"name": "reader", "poolId": pool})
        sidecar.call("credentials.get", {"token": mint(sidecar, pool)["token"]})


class Exchange(EndToEnd):
    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn()
        self.pool, self.role = pool_with_role(self.sidecar)
        self.minted = mint(self.sidecar, self.pool, principalTags={"plan": "gold"})
        self.token = self.minted["token"]


    def test_pool_token_is_accepted_as_login_as_in_aws_sdks(self):
        """The AWS SDKs pass the token of GetOpenIdTokenForDeveloperIdentity to GetCredentialsForIdentity:
        Logins={"cognito-identity.amazonaws.com": token}."""
        identity, logins = self.minted["identityId"], {PRINCIPAL: self.minted["token"]}
        got = self.sidecar.call("credentials.get", {"identityId": identity, "logins": logins})
        self.assertEqual((got["identityId"], got["roleArn"]), (identity, self.role))
        verified = self.sidecar.call("credentials.verify", {"request": signed(got["credentials"])})
        self.assertEqual((verified["principal"]["identityId"], verified["principal"]["tags"]), (identity, {"plan": "gold"}))
        other = mint(self.sidecar, self.pool, "bob")
        self.refused("loginsDoNotMatch", self.sidecar, "credentials.get", {"identityId": other["identityId"], "logins": logins})
        self.refused("identityNotFound", self.sidecar, "credentials.get", {"identityId": identity[:-1] + ("0" if identity[-1] != "0" else "1"), "logins": logins})
        self.refused(("tokenMalformed", "tokenSignatureInvalid"), self.sidecar, "credentials.get", {"identityId": identity, "logins": {PRINCIPAL: self.minted["token"][:-4] + "AAAA"}})
        self.assertEqual(self.violations(self.sidecar, "credentials.get", {"identityId": identity, "logins": {**logins, "login.example.com": "x"}}), {("/logins", "alone")})
        # In all other methods, and in addition to a token, it is not accepted as a login.
        self.refused("poolTokenNotAccepted", self.sidecar, "credentials.get", {"token": self.minted["token"], "logins": logins})
        for method, params in {"identity.resolve": {"poolId": self.pool}, "token.mint": {"identityId": identity}}.items():
            self.refused(("poolTokenNotAccepted", "classicFlowDisabled"), self.sidecar, method, {**params, "logins": logins})
        self.sidecar.call("identity.delete", {"identityIds": [identity]})
        self.refused("identityNotFound", self.sidecar, "credentials.get", {"identityId": identity, "logins": logins})

    def enhanced(self, token=None):
        return self.sidecar.call("credentials.get", {"token": token or self.token})["credentials"]

    def basic(self, **more):
        return self.sidecar.call("credentials.assumeRole", {"roleArn": self.role, "sessionName": "laptop", "token": self.token, **more})

    def verify(self, request, **more):
        return self.sidecar.call("credentials.verify", {"request": request, **more})

    def fails(self, wanted, request, **more):
        return self.refused(wanted, self.sidecar, "credentials.verify", {"request": request, **more})

    # Obtaining credentials

    def test_enhanced_flow(self):
        got = self.sidecar.call("credentials.get", {"token": self.token})
        self.assertEqual((got["identityId"], got["roleArn"]), (self.minted["identityId"], self.role))
        self.assertRegex(got["credentials"]["accessKeyId"], r"^ASIA[A-Z0-9]{16}$")
        self.assertAlmostEqual(got["credentials"]["expiresAt"], self.sidecar.call("system.ping")["now"] + 3600, delta=30)

    def test_basic_flow(self):
        got = self.basic(durationSeconds=900)
        self.assertEqual((got["subject"], got["audience"], got["provider"]), (self.minted["identityId"], self.pool, PRINCIPAL))
        self.assertEqual(got["assumedRole"]["arn"], "arn:aws:sts::000000000000:assumed-role/reader/laptop")
        self.assertRegex(got["assumedRole"]["id"], r"^AROA[A-Z0-9]+:laptop$")
        self.assertAlmostEqual(got["credentials"]["expiresAt"], self.sidecar.call("system.ping")["now"] + 900, delta=30)

    def test_session_duration_is_limited_by_schema_and_role(self):
        for seconds in (899, 43201, 0):
            found = self.violations(self.sidecar, "credentials.assumeRole", {
                "roleArn": self.role, "sessionName": "me", "token": self.token, "durationSeconds": seconds})
            self.assertEqual({pointer for pointer, _ in found}, {"/durationSeconds"})
        error = self.refused("durationExceedsRoleMaximum", self.sidecar, "credentials.assumeRole", {
            "roleArn": self.role, "sessionName": "me", "token": self.token, "durationSeconds": 3601})
        self.assertEqual((error.data["durationSeconds"], error.data["maximumSeconds"]), (3601, 3600))
        self.sidecar.call("role.put", {"name": "reader", "poolId": self.pool, "maxSessionSeconds": 43200})
        self.basic(durationSeconds=43200)

    def test_every_exchange_creates_a_new_session(self):
        both = [self.enhanced(), self.enhanced()]
        for member in ("accessKeyId", "secretAccessKey", "sessionToken"):
            self.assertNotEqual(both[0][member], both[1][member])

    # Trust policies

    def test_trust_policy_that_does_not_match_denies(self):
        """The basic flow fails with `assumeRoleDenied`, the enhanced flow with `roleNotConfigured`."""
        allow = trust(pool=self.pool)["Statement"][0]

        def trust_with(**conditions):
            return trust(**with_pool(self.pool, conditions))

        no = {
            "another pool": trust(StringEquals={f"{PRINCIPAL}:aud": "local-1:00000000-0000-0000-0000-000000000000"}),
            "guests only": trust(**{"StringEquals": {f"{PRINCIPAL}:aud": self.pool}, "ForAnyValue:StringLike": {f"{PRINCIPAL}:amr": "unauthenticated"}}),
            "another principal": trust({**allow, "Principal": {"AWS": "arn:aws:iam::000000000000:root"}}),
            "an explicit deny": trust(allow, {**allow, "Effect": "Deny", "Condition": {"StringEquals": {f"{PRINCIPAL}:aud": self.pool}}}),
            "no TagSession for a token with tags": trust({**allow, "Action": "sts:AssumeRoleWithWebIdentity"}),
            "another action": trust({**allow, "Action": ["sts:AssumeRole", "sts:TagSession"]}),
            "another user": trust_with(StringEquals={f"{PRINCIPAL}:sub": "local-1:00000000-0000-0000-0000-000000000000"}),
            "amr without a set operator": trust_with(StringLike={f"{PRINCIPAL}:amr": "authenticated"}),
            "a key the request lacks": trust(StringEquals={f"{PRINCIPAL}:aud": self.pool, "aws:RequestTag/team": "blue"}),
        }
        for name, policy in no.items():
            with self.subTest(name):
                role = self.sidecar.call("role.put", {"name": "closed", "trustPolicy": policy})["roleArn"]
                error = self.refused("assumeRoleDenied", self.sidecar, "credentials.assumeRole", {"roleArn": role, "sessionName": "me", "token": self.token})
                self.assertEqual(error.data["roleArn"], role)
                self.sidecar.call("pool.setRoles", {"poolId": self.pool, "roles": {"authenticated": role}})
                self.refused("roleNotConfigured", self.sidecar, "credentials.get", {"token": self.token})

    def test_trust_policy_that_matches_allows(self):
        subject = self.minted["identityId"]
        allow = trust(pool=self.pool)["Statement"][0]

        def trust_with(**conditions):
            return trust(**with_pool(self.pool, conditions))

        yes = {
            "two statements, one action each": trust({**allow, "Action": "sts:AssumeRoleWithWebIdentity"}, {**allow, "Action": "sts:Tag*"}),
            "wildcards": trust({**allow, "Action": "*"}),
            "its own subject": trust_with(StringEquals={f"{PRINCIPAL}:sub": [subject, "local-1:00"]}),
            "the provider in amr": trust_with(**{"ForAnyValue:StringEquals": {f"{PRINCIPAL}:amr": "login.shop"}}),
            "the qualified user in amr": trust_with(**{"ForAnyValue:StringLike": {f"{PRINCIPAL}:amr": "login.shop:*:alice"}}),
            "a tag": trust_with(StringEquals={"aws:RequestTag/plan": ["silver", "gold"]}),
            "key names in another case": trust(StringEquals={"Cognito-Identity.amazonaws.com:AUD": self.pool}),
            "a negated operator on a missing key": trust_with(StringNotEquals={"aws:RequestTag/team": "blue"}),
            "IfExists on a missing key": trust_with(StringEqualsIfExists={"aws:RequestTag/team": "blue"}),
            "Null on a missing key": trust_with(Null={"aws:RequestTag/team": "true"}),
            "ignoring case": trust_with(StringEqualsIgnoreCase={"aws:RequestTag/plan": "GOLD"}),
            "the session name": trust_with(StringLike={"sts:RoleSessionName": "m?"}),
        }
        for name, policy in yes.items():
            with self.subTest(name):
                role = self.sidecar.call("role.put", {"name": "open", "trustPolicy": policy})["roleArn"]
                self.sidecar.call("credentials.assumeRole", {"roleArn": role, "sessionName": "me", "token": self.token})

    def test_trust_policy_can_test_time(self):
        """`aws:CurrentTime` and `aws:EpochTime` are the time of the store, in both flows."""
        sidecar = self.spawn(testing=True)
        sidecar.call("test.clock", {"freeze": True, "setAt": 1_795_262_399})  # 2026-11-21T11:59:59Z
        pool = make_pool(sidecar)["poolId"]
        aud = {"StringEquals": {f"{PRINCIPAL}:aud": pool}}
        noon = "2026-11-21T12:00:00Z"
        policies = {  # before noon, at noon, after noon
            (False, False, True): {"DateGreaterThan": {"aws:CurrentTime": noon}},
            (False, True, True): {"DateGreaterThanEquals": {"aws:CurrentTime": "2026-11-21T13:00:00+01:00"}},
            (True, False, False): {"DateLessThan": {"AWS:currenttime": noon}},
            (True, True, False): {"DateLessThanEquals": {"aws:EpochTime": "1795262400"}},
            (False, True, False): {"NumericEquals": {"aws:EpochTime": 1795262400}},
            (True, False, True): {"DateNotEquals": {"aws:EpochTime": noon}},
            (True, True, True): {"DateGreaterThan": {"aws:CurrentTime": "2026-11-21"}, "DateLessThan": {"aws:CurrentTime": "2026-11-22"}},
        }
        roles = {
            wanted: sidecar.call("role.put", {"name": f"role-{i}", "trustPolicy": trust(**aud, **conditions)})["roleArn"]
            for i, (wanted, conditions) in enumerate(policies.items())
        }
        for moment in range(3):
            token = mint(sidecar, pool)["token"]
            for wanted, role in roles.items():
                with self.subTest(policies[wanted], moment=moment):
                    sidecar.call("pool.setRoles", {"poolId": pool, "roles": {"authenticated": role}})
                    basic = ("credentials.assumeRole", {"roleArn": role, "sessionName": "me", "token": token})
                    enhanced = ("credentials.get", {"token": token})
                    if wanted[moment]:
                        self.assertEqual(sidecar.call(*basic)["subject"], sidecar.call(*enhanced)["identityId"])
                    else:
                        self.refused("assumeRoleDenied", sidecar, *basic)
                        self.refused("roleNotConfigured", sidecar, *enhanced)
            sidecar.call("test.clock", {"advanceSeconds": 1})

    def test_trust_policy_must_name_pool(self):
        """Tokens of every pool have the same principal and the same `amr`, so a role must name the pool that it trusts (CVE-2024-28056)."""
        amr = {"ForAnyValue:StringLike": {f"{PRINCIPAL}:amr": "authenticated"}}
        for open_to_all in (
            trust(**amr),
            trust(StringLike={f"{PRINCIPAL}:aud": "*"}, **amr),
            trust(StringLike={f"{PRINCIPAL}:aud": "local-1:*"}, **amr),
            trust(StringEquals={f"{PRINCIPAL}:aud": "${" + f"{PRINCIPAL}:aud" + "}"}, **amr),
            trust(StringEqualsIfExists={f"{PRINCIPAL}:aud": self.pool}, **amr),
            trust(trust(pool=self.pool)["Statement"][0], trust(**amr)["Statement"][0]),
        ):
            with self.subTest(open_to_all):
                error = self.refused("malformedPolicy", self.sidecar, "role.put", {"name": "open", "trustPolicy": open_to_all})
                self.assertEqual(error.data["policy"], "trust")
                self.assertIn("/Statement/", error.data["pointer"])
                self.assertIn(f"{PRINCIPAL}:aud", error.data["reason"])
                found = self.violations(self.sidecar, "system.apply", {"roles": [{"name": "open", "trustPolicy": open_to_all}]})
                self.assertEqual({(pointer, rule) for pointer, rule in found}, {("/roles/0/trustPolicy", "malformedPolicy")})
        self.refused("roleNotFound", self.sidecar, "role.get", {"name": "open"})

    def test_unknown_role_fails_like_denied_role(self):
        self.refused("assumeRoleDenied", self.sidecar, "credentials.assumeRole", {
            "roleArn": "arn:aws:iam::000000000000:role/nobody", "sessionName": "me", "token": self.token})

    def test_trust_policy_has_at_most_8192_bytes(self):
        condition = {"StringEquals": {"cognito-identity.amazonaws.com:aud": "*" * 7900}}
        policy = {"Version": "2012-10-17", "Statement": [{
            "Effect": "Allow", "Principal": {"Federated": "cognito-identity.amazonaws.com"}, "Action": "sts:AssumeRoleWithWebIdentity",
            "Condition": condition}]}
        sidecar = self.spawn()
        sidecar.call("role.put", {"name": "long", "trustPolicy": policy})
        condition["StringEquals"]["cognito-identity.amazonaws.com:aud"] += "*" * 200
        self.assertIn("8192", sidecar.refusal("role.put", {"name": "long", "trustPolicy": policy}).message)

    def test_malformed_trust_policies_are_rejected(self):
        """The policies violate the policy language or have no condition."""
        allow = trust(pool=self.pool)["Statement"][0]
        for name, policy in {
            "no condition": trust({k: v for k, v in allow.items() if k != "Condition"}),
            "no statement": {"Version": "2012-10-17"},
            "no effect": trust({k: v for k, v in allow.items() if k != "Effect"}),
            "an unknown effect": trust({**allow, "Effect": "allow"}),
            "an unknown operator": trust(StringEqual={f"{PRINCIPAL}:aud": self.pool}),
            "an unknown member": trust({**allow, "Principle": "*"}),
            "an unknown version": {**trust(allow), "Version": "2020-01-01"},
            "a condition that is a list": trust({**allow, "Condition": []}),
            "empty": {},
        }.items():
            with self.subTest(name):
                error = self.refused("malformedPolicy", self.sidecar, "role.put", {"name": "wrong", "trustPolicy": policy})
                self.assertEqual(error.data["policy"], "trust")
                self.assertTrue(error.data["reason"])

    # Verification

    REQUESTS = (
        ("GET", "https://api.example.com/", b""),
        ("GET", "https://api.example.com", b""),
        ("GET", "https://api.example.com/items?b=2&a=1&a=0", b""),
        ("GET", "https://api.example.com/items?flag&empty=&x=a+b&y=%20", b""),
        ("POST", "https://api.example.com/p%20q/%C3%A9?x=%2F", b'{"a": 1}'),
        ("PUT", "https://api.example.com//x/../y/./z", b"z" * 1000),
        ("DELETE", "https://api.example.com:8443/a/b/~c-d_e.f", b""),
        ("PATCH", "https://api.example.com/a%2Fb/c:d@e,f;g=h!i'(j)*k", b"x"),
        ("GET", "https://api.example.com/?A=1&a=2&B=3&%41=4", b""),
    )

    def test_requests_signed_in_headers_are_verified(self):
        for credentials in (self.enhanced(), self.basic()["credentials"]):
            for method, url, body in self.REQUESTS:
                with self.subTest(f"{method} {url}"):
                    request = signed(credentials, method, url, body)
                    found = self.verify(request, service="execute-api", region="us-east-1")
                    self.assertEqual(found["principal"]["identityId"], self.minted["identityId"])
                    self.assertEqual(found["principal"]["tags"], {"plan": "gold"})
                    self.assertEqual(found["principal"]["accessKeyId"], credentials["accessKeyId"])
                    self.assertTrue(found["bodyVerified"])

    def test_principal_names_pool_role_and_session(self):
        found = self.verify(signed(self.basic()["credentials"]))["principal"]
        self.assertEqual((found["poolId"], found["roleArn"], found["sessionName"]), (self.pool, self.role, "laptop"))
        self.assertEqual(self.verify(signed(self.enhanced()))["principal"]["sessionName"], "CognitoIdentityCredentials")

    def test_unusual_header_values_are_verified(self):
        for headers in ({"X-Note": "  two   spaces  "}, {"X-Empty": ""}, {"X-UTF": "caf\u00e9"}, {"X-Quoted": '"a  b"'}, {"x-amz-meta-b": "1", "X-Amz-Meta-A": "2"}):
            with self.subTest(headers):
                self.verify(signed(self.enhanced(), headers=headers))

    def test_requests_signed_for_s3_are_verified(self):
        for url in ("https://b.example.com/k", "https://b.example.com/a//b/../c?acl", "https://b.example.com/%C3%A9%20x"):
            self.verify(signed(self.enhanced(), "PUT", url, b"data", signer=S3SigV4Auth, service="s3"))

    def test_presigned_urls_are_verified_and_alterations_rejected(self):
        for signer, service in ((SigV4QueryAuth, "execute-api"), (S3SigV4QueryAuth, "s3")):
            with self.subTest(service):
                request = presigned(self.enhanced(), signer=signer, service=service)
                self.assertEqual(self.verify(request)["principal"]["identityId"], self.minted["identityId"])
                for change in ({"url": request["url"].replace("v=1", "v=2")}, {"url": request["url"].replace("X-Amz-Expires=300", "X-Amz-Expires=3000")},
                               {"headers": {"host": "c.example.com"}}, {"method": "PUT"}):
                    self.fails({"signatureMismatch", "signatureMalformed"}, {**request, **change})

    def test_altered_requests_are_rejected(self):
        request = signed(self.enhanced(), "POST", "https://api.example.com/items?a=1", b"body", headers={"X-Note": "hello"})
        self.verify(request)
        headers = request["headers"]
        self.fails("signatureMismatch", {**request, "method": "PUT"})
        self.fails("signatureMismatch", {**request, "url": request["url"] + "&b=2"})
        self.fails("signatureMismatch", {**request, "url": request["url"].replace("/items", "/item")})
        self.fails({"signatureMismatch", "signatureMalformed"}, {**request, "url": request["url"].replace("api.", "apx.")})
        self.fails({"signatureMismatch", "bodyHashMismatch"}, {**request, "bodySha256": sha256(b"other")})
        self.fails("signatureMismatch", {**request, "headers": {**headers, "X-Note": "hallo"}})
        auth = headers["Authorization"]
        self.fails("signatureMismatch", {**request, "headers": {**headers, "Authorization": auth[:-1] + ("0" if auth[-1] != "0" else "1")}})
        error = self.fails("signatureMismatch", {**request, "method": "PUT"})
        self.assertIn("PUT", error.data["canonicalRequest"])
        self.assertNotIn(headers["X-Amz-Security-Token"], str(error.data))

    def test_signature_mismatch_error_names_likely_cause(self):
        request = signed(self.enhanced(), "POST", "https://api.example.com/items", b"body")
        error = self.fails("signatureMismatch", {**request, "method": "PUT"})
        self.assertIn("bodySha256", error.message)
        host = {"Host": "api.example.com", "HOST": "api.example.com"}
        error = self.fails("signatureMalformed", {**request, "headers": {**request["headers"], **host}})
        self.assertIn("host header occurs twice", error.message)

    def test_incomplete_signatures_are_rejected(self):
        request = signed(self.enhanced(), "POST", "https://api.example.com/items", b"body")
        headers = request["headers"]
        without = lambda *names: {k: v for k, v in headers.items() if k not in names}
        self.fails("signatureMalformed", {**request, "headers": without("Authorization")})
        self.fails({"signatureMalformed", "sessionTokenInvalid"}, {**request, "headers": without("X-Amz-Security-Token")})
        self.fails("signatureMalformed", {**request, "headers": without("X-Amz-Date")})
        for auth in ("", "Bearer x", "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256 Credential=x", headers["Authorization"].replace("Signature=", "Signature=zz"),
                     headers["Authorization"].replace("AWS4-HMAC-SHA256", "AWS4-HMAC-SHA1"), headers["Authorization"].replace("host;", ""),
                     headers["Authorization"].replace("aws4_request", "aws5_request"), headers["Authorization"] + ", Signature=" + "0" * 64):
            with self.subTest(auth[:60]):
                self.fails({"signatureMalformed", "signatureMismatch", "credentialScopeMismatch"}, {**request, "headers": {**headers, "Authorization": auth}})

    def test_credential_scope_is_compared_with_expected_service_and_region(self):
        request = signed(self.enhanced(), service="s3", region="eu-west-1", signer=SigV4Auth)
        error = self.fails("credentialScopeMismatch", request, service="execute-api")
        self.assertEqual((error.data["part"], error.data["expected"], error.data["actual"]), ("service", "execute-api", "s3"))
        self.assertEqual(self.fails("credentialScopeMismatch", request, region="us-east-1").data["part"], "region")
        self.verify(request, service="s3", region="eu-west-1")

    def at(self, seconds):
        """Returns a patch that shifts the clock of botocore."""
        moved = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
        return mock.patch.object(botocore.auth, "get_current_datetime", lambda *_, **__: moved.replace(tzinfo=None))

    def test_request_time_may_deviate_by_minutes_but_not_hours(self):
        credentials = self.enhanced()
        for seconds in (-240, 240):
            with self.at(seconds):
                request = signed(credentials)
            self.verify(request)
        for seconds in (-3600, 3600):
            with self.at(seconds):
                request = signed(credentials)
            self.fails("requestTimeTooSkewed", request)
        with self.at(-600):
            request = presigned(credentials, expires=300)
        self.fails("requestExpired", request)

    def test_parts_of_other_credentials_are_rejected(self):
        mine, other = self.enhanced(), self.enhanced()
        self.fails("signatureMismatch", signed({**mine, "secretAccessKey": other["secretAccessKey"]}))
        self.fails({"sessionTokenInvalid", "signatureMismatch"}, signed({**mine, "accessKeyId": other["accessKeyId"]}))
        self.fails({"sessionTokenInvalid", "signatureMismatch"}, signed({**mine, "sessionToken": other["sessionToken"]}))

    def test_foreign_and_altered_session_tokens_are_rejected(self):
        token = self.enhanced()["sessionToken"]
        self.sidecar.call("credentials.verify", {"sessionToken": token})
        elsewhere = self.spawn()
        self.refused("sessionTokenInvalid", elsewhere, "credentials.verify", {"sessionToken": token})
        for bad in (token[:-1], token[:-4], token + "A", "A" + token, token[:50] + ("A" if token[50] != "A" else "B") + token[51:], "x", "=", "é"):
            with self.subTest(bad[:20]):
                self.refused("sessionTokenInvalid", self.sidecar, "credentials.verify", {"sessionToken": bad})

    def test_secret_access_key_cannot_be_derived_from_session_token(self):
        """A session token in a log must not allow its reader to sign requests."""
        credentials = self.enhanced()
        self.assertNotIn(credentials["secretAccessKey"], credentials["sessionToken"])
        self.fails("signatureMismatch", signed({**credentials, "secretAccessKey": credentials["sessionToken"][:40]}))

    # Revocation

    def test_revoked_credentials_are_rejected_and_later_ones_accepted(self):
        for target in ("sessionToken", "identityId", "roleArn", "poolId"):
            with self.subTest(target):
                sidecar = self.spawn(testing=True)
                pool, role = pool_with_role(sidecar)
                minted = mint(sidecar, pool)
                old = sidecar.call("credentials.get", {"token": minted["token"]})["credentials"]
                sidecar.call("test.clock", {"advanceSeconds": 5})
                value = {"sessionToken": old["sessionToken"], "identityId": minted["identityId"], "roleArn": role, "poolId": pool}[target]
                record = sidecar.call("credentials.revoke", {target: value})
                self.assertEqual(record["kind"], target)
                self.refused("credentialsRevoked", sidecar, "credentials.verify", {"sessionToken": old["sessionToken"]})
                sidecar.call("test.clock", {"advanceSeconds": 5})
                # Revoking an identity or a pool also revokes the tokens issued before.
                if target in ("identityId", "poolId"):
                    self.refused("tokenRevoked", sidecar, "credentials.get", {"token": minted["token"]})
                    self.refused("tokenRevoked", sidecar, "credentials.assumeRole", {"roleArn": role, "sessionName": "me", "token": minted["token"]})
                new = sidecar.call("credentials.get", {"token": mint(sidecar, pool)["token"]})["credentials"]
                sidecar.call("credentials.verify", {"sessionToken": new["sessionToken"]})

    def test_revocation_with_frozen_clock(self):
        """A token of the same second stays valid, since it can be newer than the revocation. `issuedBefore` with the next second also revokes that
        token, but no later one."""
        for target in ("identityId", "poolId"):
            with self.subTest(target):
                sidecar = self.spawn("--clock", "1700000000", testing=True)
                pool, role = pool_with_role(sidecar)
                minted = mint(sidecar, pool)
                old = sidecar.call("credentials.get", {"token": minted["token"]})["credentials"]
                value = {target: minted["identityId"] if target == "identityId" else pool}
                sidecar.call("credentials.revoke", value)
                self.refused("credentialsRevoked", sidecar, "credentials.verify", {"sessionToken": old["sessionToken"]})
                sidecar.call("credentials.get", {"token": minted["token"]})
                sidecar.call("credentials.revoke", {**value, "issuedBefore": 1_700_000_001})
                self.refused("tokenRevoked", sidecar, "credentials.get", {"token": minted["token"]})
                self.refused("tokenRevoked", sidecar, "token.verify", {"token": minted["token"], "audience": pool})
                sidecar.call("test.clock", {"advanceSeconds": 1})
                new = sidecar.call("credentials.get", {"token": mint(sidecar, pool)["token"]})["credentials"]
                sidecar.call("credentials.verify", {"sessionToken": new["sessionToken"]})

    def test_revocation_applies_in_every_process(self):
        store = self.path("store.db")
        one, two = self.spawn(store=store), self.spawn(store=store)
        pool, _ = pool_with_role(one)
        minted = mint(one, pool)
        credentials = two.call("credentials.get", {"token": minted["token"]})["credentials"]
        two.call("credentials.verify", {"sessionToken": credentials["sessionToken"]})
        one.call("credentials.revoke", {"sessionToken": credentials["sessionToken"]})
        self.refused("credentialsRevoked", one, "credentials.verify", {"sessionToken": credentials["sessionToken"]})
        self.soon_refused("credentialsRevoked", two, "credentials.verify", {"sessionToken": credentials["sessionToken"]})

    def test_expired_credentials_are_rejected(self):
        sidecar = self.spawn(testing=True)
        pool, _ = pool_with_role(sidecar)
        credentials = sidecar.call("credentials.get", {"token": mint(sidecar, pool)["token"]})["credentials"]
        sidecar.call("test.clock", {"advanceSeconds": 3599 - 5})
        sidecar.call("credentials.verify", {"sessionToken": credentials["sessionToken"]})
        sidecar.call("test.clock", {"advanceSeconds": 10})
        error = self.refused("credentialsExpired", sidecar, "credentials.verify", {"sessionToken": credentials["sessionToken"]})
        self.assertEqual(error.data["expiredAt"], credentials["expiresAt"])
