"""Tokens of trusted issuers are exchanged for credentials: the families of tokens, the conditions of trust policies, and failures of issuers."""

import base64
import json
import time

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from endtoend import EndToEnd
from sidecar import RpcError
from websites import DISCOVERY, KEYS, OpenIDWebsite, page
from workloads import ACTION, FAMILIES, GITHUB, arn, github, trusting

HUB = "token.actions.githubusercontent.com"


class Workloads(EndToEnd):
    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn(testing=True)

    def call(self, method, **params):
        return self.sidecar.call(method, params)

    def role(self, policy, name="deploy", **more):
        return self.call("role.put", name=name, trustPolicy=policy, **more)

    def assume(self, token, name="deploy", **more):
        return self.call("credentials.assumeRole", roleArn=f"arn:aws:iam::000000000000:role/{name}", sessionName="job", token=token, **more)

    def denied(self, wanted, token, name="deploy"):
        return self.refused(wanted, self.sidecar, "credentials.assumeRole", {
            "roleArn": f"arn:aws:iam::000000000000:role/{name}", "sessionName": "job", "token": token})


class Families(Workloads):
    def family(self, name):
        family = FAMILIES[name]()
        family.put(self.sidecar)
        self.role(family.policy)
        return family

    def check(self, name):
        family = self.family(name)
        answer = self.assume(family.token())
        self.assertEqual(answer["subject"], family.claims["sub"])
        self.assertEqual(answer["provider"], "accounts.google.com" if name == "google" else family.principal)
        verified = self.call("credentials.verify", sessionToken=answer["credentials"]["sessionToken"])
        self.assertEqual((verified["federated"]["issuer"], verified["federated"]["subject"]), (family.issuer, family.claims["sub"]))
        self.assertNotIn("identityId", verified["principal"])
        tested = 0
        for description, token, wanted in family.bad():
            with self.subTest(description):
                error = self.denied(wanted, token)
                self.assertNotIn(token.split(".")[-1] or token, str(error))
                tested += 1
        self.assertGreaterEqual(tested, 12)
        return family

    def test_github_actions(self):
        family = self.check("github")
        pull = "repo:octo-org/octo-repo:pull_request"
        for claims in ({"sub": pull}, {"sub": "repo:octo-org/octo-repo:environment:prod"}, {"repository_owner_id": "66"},
                       {"sub": "repo:octo-org@65/octo-repo@74:ref:refs/heads/main"}, {"sub": "repo:octo-org/octo-repo:ref:refs/heads/main:environment:prod"},
                       {"sub": "repo:octo-org-evil/octo-repo:ref:refs/heads/main"}, {"sub": "repo:octo-org/octo-repo:ref:refs/tags/main"}):
            self.denied("assumeRoleDenied", family.token(**claims))
        self.denied("tokenIssuerMismatch", family.token(iss=f"https://{HUB}/octo-enterprise"))
        self.denied("tokenAudienceMismatch", family.token(aud="https://github.com/octo-org"))

    def test_gitlab(self):
        family = self.check("gitlab")
        self.denied("assumeRoleDenied", family.token(ref_protected="false"))
        self.denied("assumeRoleDenied", family.token(sub="project_path:my-group/my-project:ref_type:tag:ref:main"))
        self.denied("assumeRoleDenied", family.token(project_id="21"))
        self.denied("tokenIssuerMismatch", family.token(iss="https://gitlab.example.com"))

    def test_kubernetes(self):
        family = self.check("kubernetes")
        self.denied("tokenAudienceMismatch", family.token(aud=["https://kubernetes.default.svc"]))
        self.denied("tokenClaimRejected", family.token(exp=int(time.time()) + 31_536_000, **{"kubernetes.io": {"warnafter": 1}}))
        self.denied("assumeRoleDenied", family.token(sub="system:serviceaccount:shop:other"))
        self.denied("tokenIssuerMismatch", family.token(iss="kubernetes/serviceaccount", exp=None, aud=None))

    def test_spiffe(self):
        family = self.check("spiffe")
        self.assume(family.token({"typ": "JWT"}))
        self.assume(family.token({"typ": None}))
        self.denied("tokenClaimRejected", family.token(sub="spiffe://evil.org/ns/shop/sa/api"))
        self.denied("assumeRoleDenied", family.token(sub="spiffe://example.org/ns/shop/sa/other"))
        error = self.refused("invalidTrustedIssuer", self.sidecar, "issuer.put", {
            "issuer": "https://spire.example.org", "audiences": ["a"], "claims": {"sub": ["spiffe://*/api"]}})
        self.assertEqual(error.data["violations"][0]["pointer"], "/claims/sub/0")

    def test_google(self):
        family = self.family("google")
        self.assertEqual(self.assume(family.token())["audience"], family.claims["azp"])
        self.assume(family.token(azp="any-other-app"))
        for description, token, wanted in family.bad():
            if description != "azp of another app":
                with self.subTest(description):
                    self.denied(wanted, token)
        self.denied("assumeRoleDenied", family.token(sub="999456789012345678901"))
        # The ARN form works too.
        self.role({**family.policy, "Statement": [{**family.policy["Statement"][0], "Principal": {"Federated": arn("accounts.google.com")}}]})
        self.assume(family.token())

    def test_entra(self):
        family = self.check("entra")
        self.assertEqual(self.assume(family.token())["audience"], "client-9")
        self.denied("tokenAudienceMismatch", family.token(aud="00000003-0000-0000-c000-000000000000"))
        self.denied("tokenAudienceMismatch", family.token(azp="client-8"))
        self.denied("tokenIssuerMismatch", family.token(iss="https://sts.windows.net/11111111-2222-3333-4444-555555555555/"))


    def test_buildkite(self):
        family = self.check("buildkite")
        self.denied("assumeRoleDenied", family.token(organization_slug="acme-evil", sub=family.claims["sub"].replace("acme", "acme-evil")))
        self.denied("assumeRoleDenied", family.token(step_key=None))
        self.denied("assumeRoleDenied", family.raw(json.dumps({
            **family.claims, "iss": family.issuer, "aud": family.audience, "exp": int(time.time()) + 60, "step_key": None})))
        self.denied("tokenAudienceMismatch", family.token(aud="https://buildkite.com/acme"))

    def test_circleci(self):
        family = self.check("circleci")
        self.denied("assumeRoleDenied", family.token(**{"oidc.circleci.com/ssh-rerun": True}))
        self.denied("assumeRoleDenied", family.token(**{"oidc.circleci.com/ssh-rerun": None}))
        self.denied("assumeRoleDenied", family.token(**{"oidc.circleci.com/context-ids": ["c1"]}))
        self.denied("assumeRoleDenied", family.token(sub=family.claims["sub"].replace("/project/", "/vcs-origin/")))
        self.denied("tokenIssuerMismatch", family.token(iss="https://oidc.circleci.com/org/another"))


class Conditions(Workloads):
    def setUp(self):
        super().setUp()
        self.hub = github()
        self.hub.put(self.sidecar)

    def decide(self, condition, **claims):
        """Returns whether a policy with this condition, in addition to one on the audience and owner, allows a token with these claims."""
        base = {"StringEquals": {f"{HUB}:repository_owner_id": "65"}}
        for operator, keys in condition.items():
            base[operator] = {**base.get(operator, {}), **keys}
        self.role(trusting(arn(HUB), **base))
        token = self.hub.token(**claims)
        result = self.call("role.test", name="deploy", token=token)
        if result["allowed"]:
            self.assume(token)
        else:
            self.assertEqual(result["errorType"], "assumeRoleDenied")
            self.denied("assumeRoleDenied", token)
        return result["allowed"]

    def test_exact_traps(self):
        like = lambda value: {"StringLike": {f"{HUB}:sub": value}}
        self.assertFalse(self.decide(like("repo:octo-org/*"), sub="repo:octo-org-evil/x:ref:refs/heads/main"))
        self.assertTrue(self.decide(like("repo:octo-org/octo-repo:*"), sub="repo:octo-org/octo-repo:pull_request"))
        self.assertFalse(self.decide({"StringEquals": {f"{HUB}:sub": "repo:octo-org/*"}}))
        self.assertTrue(self.decide({"StringNotEquals": {f"{HUB}:environment": "prod"}}))
        self.assertFalse(self.decide({"StringNotEquals": {f"{HUB}:environment": "prod"}}, environment="prod"))
        self.assertTrue(self.decide({"ForAllValues:StringLike": {f"{HUB}:groups": "admins"}}))
        self.assertFalse(self.decide({"StringEquals": {f"{HUB}:groups": "admins"}}, groups=["admins", "staff"]))
        self.assertTrue(self.decide({"ForAnyValue:StringEquals": {f"{HUB}:groups": "admins"}}, groups=["admins", "staff"]))
        self.assertTrue(self.decide({"StringEqualsIfExists": {f"{HUB}:cluster": "x"}}))
        self.assertFalse(self.decide({"Null": {f"{HUB}:environment": "false"}}))
        self.assertTrue(self.decide({"Bool": {f"{HUB}:ref_protected": "true"}}))
        self.assertTrue(self.decide({"Bool": {f"{HUB}:ref_protected": "true"}}, ref_protected=True))
        self.assertFalse(self.decide({"Bool": {f"{HUB}:ssh-rerun": "false"}}, **{"ssh-rerun": True}))
        self.assertTrue(self.decide({"NumericEquals": {f"{HUB}:build_number": "7"}}, build_number=7))
        self.assertFalse(self.decide({"StringEquals": {f"{HUB}:step_key": "x"}}, step_key={"a": 1}))

    def test_keys_are_those_of_the_issuer(self):
        self.assertTrue(self.decide({"StringEquals": {f"{HUB}:REPOSITORY": "octo-org/octo-repo"}}))
        self.assertTrue(self.decide({"StringEquals": {f"{HUB}:oaud": "sts.amazonaws.com"}}, **{"OAUD": "x"}))
        self.assertTrue(self.decide({"StringEquals": {"aws:FederatedProvider": arn(HUB)}}))
        self.assertTrue(self.decide({"NumericLessThanEquals": {"sts:DurationSeconds": "3600"}}))
        self.assertFalse(self.decide({"StringEquals": {f"{HUB}:email": "a@example.com"}}, email="a@example.com"))
        self.assertTrue(self.decide({"StringEquals": {f"{HUB}:email": "a@example.com"}}, email="a@example.com", email_verified=True))
        self.denied("tokenClaimRejected", self.hub.token(**{"Repository": "octo-org/octo-repo"}))

    def from_address(self, address, **condition):
        """Returns whether a policy with this condition allows a workload at an address; the same by role.test and by credentials.assumeRole."""
        base = {"StringEquals": {f"{HUB}:repository_owner_id": "65"}, **condition}
        self.role(trusting(arn(HUB), **base))
        params = {"token": self.hub.token(), **({"sourceIp": address} if address else {})}
        result = self.call("role.test", name="deploy", **params)
        assume = {"roleArn": "arn:aws:iam::000000000000:role/deploy", "sessionName": "job", **params}
        if result["allowed"]:
            self.sidecar.call("credentials.assumeRole", assume)
        else:
            self.refused("assumeRoleDenied", self.sidecar, "credentials.assumeRole", assume)
        self.assertEqual(result["keys"].get("aws:sourceip"), [address] if address else None)
        return result["allowed"]

    def test_address_of_the_workload(self):
        office = ["203.0.113.0/24", "198.51.100.7", "2001:db8:1::/48"]
        for address, wanted in (("203.0.113.0", True), ("203.0.113.255", True), ("203.0.114.0", False), ("198.51.100.7", True), ("198.51.100.8", False),
                                ("2001:db8:1:ffff::1", True), ("2001:db8:2::1", False), ("::ffff:203.0.113.9", True), ("::ffff:9.9.9.9", False), (None, False)):
            with self.subTest(address):
                self.assertEqual(self.from_address(address, IpAddress={"aws:SourceIp": office}), wanted)
                # Without the key, the negated operator and IfExists hold.
                self.assertEqual(self.from_address(address, NotIpAddress={"aws:SourceIp": office}), not wanted)
        self.assertTrue(self.from_address(None, IpAddressIfExists={"aws:SourceIp": office}))
        self.assertTrue(self.from_address("9.9.9.9", IpAddress={"aws:SourceIp": "0.0.0.0/0"}))
        self.assertFalse(self.from_address("2001:db8::1", IpAddress={"aws:SourceIp": "0.0.0.0/0"}))
        for wrong in ("203.0.113.0/33", "203.0.113", "2001:db8::/129", "203.0.113.0/", "203.0.113.0/+8", "[::1]", "example.com", "203.0.113.*"):
            with self.subTest(wrong):
                error = self.refused("malformedPolicy", self.sidecar, "role.put", {"name": "deploy", "trustPolicy": trusting(
                    arn(HUB), StringEquals={f"{HUB}:sub": GITHUB["sub"]}, IpAddress={"aws:SourceIp": wrong})})
                self.assertEqual(error.data["pointer"], "/Statement/0/Condition/IpAddress/aws:SourceIp")
        for wrong in ("here", "203.0.113.7/32", "[::1]"):
            self.assertEqual(self.violations(self.sidecar, "role.test", {"name": "deploy", "token": self.hub.token(), "sourceIp": wrong}), {("/sourceIp", "address")})
        # An address range does not limit the subjects that the issuer may name.
        self.refused("malformedPolicy", self.sidecar, "role.put", {"name": "deploy", "trustPolicy": trusting(arn(HUB), IpAddress={"aws:SourceIp": "203.0.113.0/24"})})

    def test_bytes_of_a_claim(self):
        encoded = base64.b64encode(b"refs/heads/main").decode()
        self.assertTrue(self.decide({"BinaryEquals": {f"{HUB}:ref": encoded}}))
        self.assertFalse(self.decide({"BinaryEquals": {f"{HUB}:ref": encoded}}, ref="refs/heads/mai"))
        self.refused("malformedPolicy", self.sidecar, "role.put", {"name": "deploy", "trustPolicy": trusting(
            arn(HUB), StringEquals={f"{HUB}:sub": GITHUB["sub"]}, BinaryEquals={f"{HUB}:ref": "no base64!"})})

    def test_issuer_with_port_and_path(self):
        family = github()
        family.issuer, family.audience = "https://127.0.0.1:8443/x", "sts.amazonaws.com"
        family.put(self.sidecar)
        self.role(trusting(arn("127.0.0.1:8443/x"), StringEquals={"127.0.0.1:8443/x:sub": GITHUB["sub"]}))
        self.assume(family.token())
        self.denied("assumeRoleDenied", self.hub.token())

    def test_role_put_refuses_what_cannot_be_satisfied(self):
        good = {f"{HUB}:sub": GITHUB["sub"]}
        policies = {
            "wildcard principal": trusting("*", StringEquals=good),
            "name without ARN": trusting(HUB, StringEquals=good),
            "SAML": trusting("arn:aws:iam::000000000000:saml-provider/x", StringEquals=good),
            "another account": trusting(f"arn:aws:iam::111122223333:oidc-provider/{HUB}", StringEquals=good),
            "wildcard in the ARN": trusting("arn:aws:iam::000000000000:oidc-provider/*", StringEquals=good),
            "unknown issuer": trusting(arn("login.example.com"), StringEquals={"login.example.com:sub": "x"}),
            "only the audience of a shared issuer": trusting(arn(HUB), StringEquals={f"{HUB}:aud": "sts.amazonaws.com"}),
            "any subject": trusting(arn(HUB), StringLike={f"{HUB}:sub": "*"}),
            "any repository": trusting(arn(HUB), StringLike={f"{HUB}:sub": "repo:*"}),
            "any owner": trusting(arn(HUB), StringLike={f"{HUB}:sub": "*:ref:refs/heads/main"}),
            "negated": trusting(arn(HUB), StringNotEquals=good),
            "if it exists": trusting(arn(HUB), StringEqualsIfExists=good),
            "for all values": trusting(arn(HUB), **{"ForAllValues:StringEquals": good}),
            "another action": trusting(arn(HUB), "sts:AssumeRole", StringEquals=good),
            "key of another issuer": trusting(arn(HUB), StringEquals={**good, "gitlab.com:sub": "x"}),
            "audience that is not registered": trusting(arn(HUB), StringEquals={**good, f"{HUB}:aud": "sts.example"}),
            "original audience that is not registered": trusting(arn(HUB), StringEquals={**good, f"{HUB}:oaud": "sts.example"}),
        }
        for description, policy in policies.items():
            with self.subTest(description):
                error = self.refused("malformedPolicy", self.sidecar, "role.put", {"name": "deploy", "trustPolicy": policy})
                self.assertTrue(error.data["pointer"].startswith("/Statement/0"), error)
        unknown = policies["unknown issuer"]
        self.call("role.put", name="later", trustPolicy=unknown, allowUnknownIssuer=True)
        self.assertEqual(self.call("role.list")["roles"][0]["name"], "later")

    def warnings(self, **condition):
        return {each["code"] for each in self.role(trusting(arn(HUB), **condition)).get("warnings", [])} - {"keyNotOnAws"}

    def test_role_put_warns(self):
        owner = {f"{HUB}:repository_owner_id": "65"}
        self.assertEqual(self.warnings(StringEquals={**owner, f"{HUB}:sub": GITHUB["sub"]}), set())
        self.assertEqual(self.warnings(StringEquals={f"{HUB}:sub": GITHUB["sub"]}), {"mutableNameOnly"})
        self.assertEqual(self.warnings(StringEquals={f"{HUB}:sub": "repo:octo-org@65/octo-repo@74:ref:refs/heads/main"}), set())
        self.assertEqual(self.warnings(StringLike={f"{HUB}:sub": "repo:octo-org*/octo-repo:ref:refs/heads/main"}), {"mutableNameOnly"})
        self.assertEqual(self.warnings(StringEquals=owner, StringLike={f"{HUB}:sub": "repo:octo-org/octo-repo:*"}), {"subjectCoversPullRequests"})
        self.assertEqual(self.warnings(StringEquals=owner, StringLike={f"{HUB}:sub": "repo:octo-org/*"}), {"subjectCoversPullRequests"})
        self.assertEqual(self.warnings(StringEquals=owner, StringLike={f"{HUB}:sub": "repo:octo-org/octo-repo:ref:*"}), set())
        self.assertEqual(self.warnings(StringEquals={**owner, f"{HUB}:sub": "repo:octo-org/*"}), {"wildcardInStringEquals"})
        self.assertEqual(self.warnings(StringEquals=owner, **{"ForAllValues:StringLike": {f"{HUB}:groups": "a"}}), {"forAllValuesOnOptionalClaim"})
        role = self.role(trusting(arn(HUB), StringEquals={f"{HUB}:repository_id": "74", f"{HUB}:event_name": "push"}))
        self.assertEqual([(each["code"], each["pointer"]) for each in role["warnings"]], [("keyNotOnAws", f"/Statement/0/Condition/StringEquals/{HUB}:event_name")])
        self.assertNotIn("warnings", self.call("role.get", name="deploy"))
        # AWS offers some claims of GitHub, and none of GitLab.
        for claim, wanted in (("repository_id", []), ("enterprise_id", []), ("environment", []), ("repository_owner_id", ["keyNotOnAws"]), ("repository_owner", ["keyNotOnAws"])):
            role = self.role(trusting(arn(HUB), StringEquals={f"{HUB}:sub": "repo:octo-org@65/octo-repo@74:ref:refs/heads/main", f"{HUB}:{claim}": "1"}))
            self.assertEqual([each["code"] for each in role.get("warnings", []) if each["code"] != "mutableNameOnly"], wanted, claim)
        lab = FAMILIES["gitlab"]()
        lab.put(self.sidecar)
        role = self.role(trusting(lab.principal, StringEquals={"gitlab.com:sub": lab.claims["sub"], "gitlab.com:ref": "main", "gitlab.com:project_id": "20"}))
        self.assertEqual({each["code"] for each in role["warnings"]}, {"keyNotOnAws"})

    def test_role_test_explains(self):
        self.role(trusting(arn(HUB), StringEquals={f"{HUB}:repository_owner_id": "65", f"{HUB}:ref": "refs/heads/prod"}))
        result = self.call("role.test", name="deploy", token=self.hub.token())
        self.assertFalse(result["allowed"])
        self.assertIn(f"{HUB}:ref does not hold", result["reason"])
        self.assertEqual(result["keys"][f"{HUB}:repository"], ["octo-org/octo-repo"])
        conditions = result["statements"][0]["conditions"]
        self.assertEqual([(each["key"], each["expected"], each["actual"], each["holds"]) for each in conditions], [
            (f"{HUB}:repository_owner_id", ["65"], ["65"], True), (f"{HUB}:ref", ["refs/heads/prod"], ["refs/heads/main"], False)])
        expired = self.call("role.test", name="deploy", token=self.hub.token(exp=1))
        self.assertEqual((expired["allowed"], expired["errorType"], expired["statements"]), (False, "tokenExpired", []))
        self.refused("roleNotFound", self.sidecar, "role.test", {"name": "nobody", "token": self.hub.token()})

    def test_unknown_role_answers_like_a_refusal(self):
        self.denied("assumeRoleDenied", self.hub.token(), "nobody")


class Sessions(Workloads):
    def setUp(self):
        super().setUp()
        self.hub = github()
        self.hub.put(self.sidecar)
        self.owner = {"StringEquals": {f"{HUB}:repository_owner_id": "65"}}

    def verified(self, answer):
        return self.call("credentials.verify", sessionToken=answer["credentials"]["sessionToken"])

    def test_tags_need_permission(self):
        tags = {"https://aws.amazon.com/tags": {"principal_tags": {"Project": ["shop"]}, "transitive_tag_keys": ["Project"]}}
        self.role(trusting(arn(HUB), **self.owner))
        self.assertEqual(self.denied("assumeRoleDenied", self.hub.token(**tags)).data["action"], "sts:TagSession")
        self.role(trusting(arn(HUB), ACTION, "sts:TagSession", **{**self.owner, "StringLike": {"aws:RequestTag/Project": "sh*"}}))
        answer = self.assume(self.hub.token(**tags))
        self.assertIn("packedPolicyPercent", answer)
        for keys, wanted in (("Project", True), ("Stage", False)):
            self.role(trusting(arn(HUB), ACTION, "sts:TagSession", **{**self.owner, "ForAnyValue:StringEquals": {"sts:TransitiveTagKeys": keys}}))
            self.assertEqual(self.call("role.test", name="deploy", token=self.hub.token(**tags))["allowed"], wanted)
        self.role(trusting(arn(HUB), ACTION, "sts:TagSession", **{**self.owner, "StringLike": {"aws:RequestTag/Project": "sh*"}}))
        self.assertEqual(self.verified(answer)["principal"]["tags"], {"Project": "shop"})
        flat = {"https://aws.amazon.com/tags/principal_tags/Project": "shop"}
        self.assertEqual(self.verified(self.assume(self.hub.token(**flat)))["principal"]["tags"], {"Project": "shop"})
        for bad in ({"A": ["1", "2"]}, {"A": []}, {"A": "1"}, {"A": [1]}, {"aws:x": ["1"]}, {"A": ["1"], "a": ["2"]}, {"A": ["x" * 257]}, {"A!": ["1"]},
                    {f"k{index}": ["1"] for index in range(51)}):
            self.denied("tokenClaimRejected", self.hub.token(**{"https://aws.amazon.com/tags": {"principal_tags": bad}}))
        self.denied("tokenClaimRejected", self.hub.token(**{"https://aws.amazon.com/tags": {"principal_tags": {"A": ["1"]}, "transitive_tag_keys": ["B"]}}))

    def test_source_identity_needs_permission(self):
        claim = {"https://aws.amazon.com/source_identity": "octocat"}
        self.role(trusting(arn(HUB), **self.owner))
        self.assertEqual(self.denied("assumeRoleDenied", self.hub.token(**claim)).data["action"], "sts:SetSourceIdentity")
        self.role(trusting(arn(HUB), ACTION, "sts:SetSourceIdentity", **{**self.owner, "StringLike": {"sts:SourceIdentity": "octo*"}}))
        answer = self.assume(self.hub.token(**claim))
        self.assertEqual((answer["sourceIdentity"], self.verified(answer)["sourceIdentity"]), ("octocat", "octocat"))
        for bad in ("x", "aws:me", "a b", 7, "y" * 65):
            self.denied("tokenClaimRejected", self.hub.token(**{"https://aws.amazon.com/source_identity": bad}))

    def test_each_token_once(self):
        self.hub.put(self.sidecar, singleUse=True)
        self.role(trusting(arn(HUB), **self.owner))
        token = self.hub.token(jti="one")
        self.denied("assumeRoleDenied", self.hub.token(jti="one", repository_owner_id="1"))
        self.assume(token)
        self.denied("tokenReplayed", token)
        self.assume(self.hub.token(jti="two"))
        self.denied("tokenClaimRejected", self.hub.token(jti=None))

    def test_limits_of_the_issuer(self):
        self.role(trusting(arn(HUB), **self.owner))
        self.hub.put(self.sidecar, claims={"repository_owner_id": ["6?"], "ref": ["refs/heads/*", "refs/tags/*"]})
        self.assume(self.hub.token())
        self.denied("tokenClaimRejected", self.hub.token(repository_owner_id="165"))
        self.denied("tokenClaimRejected", self.hub.token(ref=None))
        self.hub.put(self.sidecar, maxAgeSeconds=60, maxLifetimeSeconds=900)
        self.denied("tokenClaimRejected", self.hub.token(iat=int(time.time()) - 120))
        self.denied("tokenClaimRejected", self.hub.token(iat=None))
        self.denied("tokenClaimRejected", self.hub.token(exp=int(time.time()) + 1000))
        self.hub.put(self.sidecar, algorithms=["ES256"])
        self.denied("tokenAlgorithmNotAllowed", self.hub.token())
        self.hub.put(self.sidecar, uses=["exchange"])
        self.denied("tokenIssuerMismatch", self.hub.token())
        self.hub.put(self.sidecar, types=["JWT", "at+jwt"])
        self.assume(self.hub.token({"typ": "application/AT+JWT"}))
        self.hub.put(self.sidecar, audiences=[])
        self.denied("tokenAudienceMismatch", self.hub.token())

    def test_revocation_of_issuer_subject_and_role(self):
        self.role(trusting(arn(HUB), **self.owner))
        now = int(time.time())
        self.call("test.clock", setAt=now, freeze=True)
        answer = self.assume(self.hub.token(iat=now - 5))
        for target in ({"issuer": self.hub.issuer, "subject": GITHUB["sub"]}, {"issuer": self.hub.issuer}, {"roleName": "deploy"}):
            with self.subTest(target):
                kind = self.call("credentials.revoke", **target)["kind"]
                self.refused("credentialsRevoked", self.sidecar, "credentials.verify", {"sessionToken": answer["credentials"]["sessionToken"]})
                if kind != "roleArn":
                    self.denied("tokenRevoked", self.hub.token(iat=now - 5))
                    self.denied("tokenRevoked", self.hub.token(iat=None))
                now += 10
                self.call("test.clock", setAt=now, freeze=True)
                answer = self.assume(self.hub.token(iat=now - 1))
                self.verified(answer)
        self.refused("invalidParams", self.sidecar, "credentials.revoke", {"roleName": "deploy", "subject": "x"})

    def test_deleted_issuer(self):
        self.role(trusting(arn(HUB), **self.owner))
        answer = self.assume(self.hub.token())
        self.call("issuer.delete", arn=arn(HUB))
        self.denied("tokenIssuerMismatch", self.hub.token())
        self.verified(answer)
        self.refused("trustedIssuerNotFound", self.sidecar, "issuer.get", {"issuer": self.hub.issuer})

    def test_tenant_as_issuer(self):
        self.call("tenant.create", tenantId="shop")
        record = self.call("issuer.put", tenantId="shop", audiences=["shop"])
        self.role(trusting(record["arn"], StringEquals={f"{record['name']}:sub": "$none"}), name="nobody")
        self.call("tenant.update", tenantId="shop", anonymousAllowed=True)
        tokens = self.call("signIn.anonymously", tenantId="shop")
        account = tokens["account"]["accountId"]
        self.role(trusting(record["arn"], StringEquals={f"{record['name']}:sub": account}))
        self.assertEqual(self.assume(tokens["idToken"])["subject"], account)
        self.denied("assumeRoleDenied", tokens["idToken"], "nobody")
        self.denied("tokenUseMismatch", tokens["accessToken"])
        self.call("account.update", accountId=account, disabled=True)
        self.denied("tokenRevoked", tokens["idToken"])


class Processes(EndToEnd):
    def test_one_of_many_processes_accepts_a_single_use_token(self):
        store = self.path("store.db")
        processes = [self.spawn(store=store) for _ in range(3)]
        hub = github()
        hub.put(processes[0], singleUse=True)
        role = processes[0].call("role.put", {"name": "deploy", "trustPolicy": hub.policy})["roleArn"]
        for process in processes:
            self.wait_until_known(process, hub)
        for number in range(5):
            params = {"roleArn": role, "sessionName": "job", "token": hub.token(jti=f"token-{number}")}
            sent = [(process, process.send("credentials.assumeRole", params)) for process in processes for _ in range(4)]
            outcomes = []
            for process, id in sent:
                try:
                    process.answer(id)
                    outcomes.append("accepted")
                except RpcError as error:
                    outcomes.append(error.type)
            self.assertEqual(sorted(outcomes), ["accepted"] + ["tokenReplayed"] * 11)

    def test_change_of_an_issuer_reaches_every_process(self):
        store = self.path("store.db")
        one, two = self.spawn(store=store), self.spawn(store=store)
        hub = github()
        hub.put(one)
        role = one.call("role.put", {"name": "deploy", "trustPolicy": hub.policy})["roleArn"]
        self.wait_until_known(two, hub)
        params = {"roleArn": role, "sessionName": "job", "token": hub.token()}
        two.call("credentials.assumeRole", params)
        one.call("issuer.delete", {"issuer": hub.issuer})
        self.soon_refused("tokenIssuerMismatch", two, "credentials.assumeRole", params)

    def wait_until_known(self, process, family):
        """PostgreSQL makes changes visible to other processes within one second."""
        deadline = time.monotonic() + 30
        while not process.call("role.test", {"name": "deploy", "token": family.token()})["allowed"]:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)


class Records(Workloads):
    def test_rules_of_the_record(self):
        cases = {
            "/issuer": ["http://login.example.com", "https://login.example.com/?a=1", "https://u@login.example.com", "https://Login.example.com",
                        "https://login.example.com/.well-known/openid-configuration", "https://login.example.com/#a", "https://sts", "ftp://login.example.com"]}
        for issuer in cases["/issuer"]:
            with self.subTest(issuer):
                sidecar = self.spawn()
                error = self.refused("invalidTrustedIssuer", sidecar, "issuer.put", {"issuer": issuer, "audiences": ["a"]})
                self.assertEqual(error.data["violations"][0]["pointer"], "/issuer")
        family = github()
        private = {"kty": "oct", "k": "c2VjcmV0"}
        for pointer, settings in (("/keys/0", {"keys": [private]}), ("/keys", {"keys": [family.jwk, family.jwk]}), ("/types/0", {"types": ["logout+jwt"]}),
                                  ("/jwksUri", {"jwksUri": "ftp://keys.example"}), ("/jwksUri", {"keys": [family.jwk], "jwksUri": "https://x.example"}),
                                  ("/thumbprints/0", {"thumbprints": ["z" * 40]})):
            with self.subTest(pointer, settings=settings):
                error = self.refused("invalidTrustedIssuer", self.sidecar, "issuer.put", {"issuer": "https://a.example", "audiences": ["a"], **settings})
                self.assertEqual(error.data["violations"][0]["pointer"], pointer)

    def test_replace_keeps_creation_time_and_lists_by_name(self):
        self.call("test.clock", setAt=1700000000, freeze=True)
        first = self.call("issuer.put", issuer="https://b.example", audiences=["a"])
        self.call("test.clock", setAt=1700000100, freeze=True)
        second = self.call("issuer.put", issuer="https://b.example", audiences=["b"])
        self.assertEqual((first["createdAt"], second["createdAt"], second["updatedAt"]), (1700000000, 1700000000, 1700000100))
        self.call("issuer.put", issuer="https://a.example/", audiences=["a"])
        page = self.call("issuer.list", limit=1)
        self.assertEqual(page["issuers"][0]["name"], "a.example/")
        self.assertEqual(self.call("issuer.list", cursor=page["nextCursor"])["issuers"][0]["audiences"], ["b"])
        self.assertEqual(self.call("audit.list")["records"][0]["method"], "issuer.put")

    def test_at_most_100(self):
        for number in range(100):
            self.call("issuer.put", issuer=f"https://{number}.example", audiences=["a"])
        self.refused("tooManyTrustedIssuers", self.sidecar, "issuer.put", {"issuer": "https://more.example", "audiences": ["a"]})
        self.call("issuer.put", issuer="https://7.example", audiences=["b"])

    def test_apply_and_export(self):
        family = github()
        document = {"issuers": [{"issuer": family.issuer, "audiences": [family.audience], "keys": [family.jwk]}],
                    "roles": [{"name": "deploy", "trustPolicy": family.policy, "description": "Deploys."}]}
        changes = self.call("system.apply", **document)["changes"]
        self.assertEqual([(each["kind"], each["change"]) for each in changes], [("issuer", "created"), ("role", "created")])
        self.assume(family.token())
        self.assertEqual({each["change"] for each in self.call("system.apply", **document)["changes"]}, {"unchanged"})
        exported = self.call("system.export")
        self.assertEqual({each["change"] for each in self.call("system.apply", **exported)["changes"]}, {"unchanged"})
        other = self.spawn()
        other.call("system.apply", exported)
        self.assertEqual(other.call("issuer.list")["issuers"][0]["audiences"], [family.audience])
        document["issuers"][0]["audiences"] = ["x"]
        document["roles"] = []
        self.assertEqual(self.call("system.apply", **document)["changes"][0]["changed"], ["audiences"])
        self.refused("invalidParams", self.sidecar, "system.apply", {"issuers": [{"issuer": "https://A.example", "audiences": []}]})


class Dependencies(Workloads):
    """The issuer publishes its keys by HTTP."""

    def setUp(self):
        super().setUp()
        self.site = OpenIDWebsite()
        self.addCleanup(self.site.close)
        self.name = self.site.name

    def trust(self, **more):
        record = self.call("issuer.put", issuer=self.site.issuer, audiences=["shop"], allowInsecure=True, **more)
        self.role(trusting(record["arn"], StringEquals={f"{record['name']}:sub": "carol"}))

    def test_keys_are_fetched_once(self):
        self.trust()
        for _ in range(3):
            self.assume(self.site.token())
        self.assertEqual((self.site.count(DISCOVERY), self.site.count(KEYS)), (1, 1))

    def test_key_set_url_replaces_discovery(self):
        self.site.pages[DISCOVERY] = (404, {}, b"")
        self.trust(jwksUri=self.site.issuer + KEYS)
        self.assume(self.site.token())
        self.assertEqual(self.site.count(DISCOVERY), 0)

    def test_rotated_keys_are_found(self):
        self.trust()
        self.assume(self.site.token())
        old = self.site.token()
        self.site.rotate("second")
        self.assume(self.site.token())
        self.denied("tokenKeyUnknown", old)

    def test_issuer_down_and_back(self):
        self.trust()
        good = self.site.pages[DISCOVERY]
        self.site.pages[DISCOVERY] = (503, {}, b"")
        self.denied("providerUnavailable", self.site.token())
        self.site.pages[DISCOVERY] = good
        self.call("test.fault", clear=True)
        deadline = time.monotonic() + 60
        while True:
            try:
                self.assume(self.site.token())
                break
            except Exception:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.5)

    def test_known_keys_outlive_the_issuer(self):
        self.trust()
        self.assume(self.site.token())
        self.site.close()
        self.assume(self.site.token())

    def test_wrong_documents(self):
        self.trust()
        self.site.pages[DISCOVERY] = page({"issuer": "https://evil.example", "jwks_uri": self.site.issuer + KEYS})
        self.denied("providerUnusable", self.site.token())
        result = self.call("issuer.test", issuer=self.site.issuer)
        self.assertEqual([(each["check"], each["ok"]) for each in result["checks"]], [("settings", True), ("discovery", False)])

    def test_key_set_has_at_most_100_keys_of_a_kind(self):
        """As in AWS IAM."""
        self.trust()
        points = [(ec.generate_private_key(ec.SECP256R1()), number) for number in range(101)]
        keys = [{**json.loads(ECAlgorithm.to_jwk(key.public_key())), "kid": f"k{number}", "alg": "ES256"} for key, number in points]
        self.site.pages[KEYS] = page({"keys": keys})
        error = self.denied("providerUnusable", self.site.token())
        self.assertIn("101 EC keys", error.data["reason"])
        self.assertIn("101 EC keys", self.call("issuer.test", issuer=self.site.issuer)["checks"][-1]["message"])
        self.site.pages[KEYS] = page({"keys": keys[:99] + [self.site.jwk("first")]})
        self.assertTrue(self.call("issuer.test", issuer=self.site.issuer)["ok"])

    def test_issuer_test_names_the_failed_check(self):
        self.trust()
        result = self.call("issuer.test", issuer=self.site.issuer, token=self.site.token())
        self.assertTrue(result["ok"], result)
        self.assertEqual([each["check"] for each in result["checks"]], ["settings", "discovery", "keys", "token"])
        result = self.call("issuer.test", issuer=self.site.issuer, token=self.site.token(aud="other"))
        self.assertIn("audience", result["checks"][-1]["message"])

    def test_skewed_clock(self):
        """A token is accepted until 299 seconds after `exp`, and 300 seconds before `iat`."""
        self.trust()
        now = int(time.time())
        self.call("test.clock", setAt=now, freeze=True)
        self.assume(self.site.token(iat=now + 300, exp=now + 900))
        self.denied("tokenNotYetValid", self.site.token(iat=now + 301, exp=now + 900))
        self.assume(self.site.token(exp=now - 299, iat=now - 900))
        self.denied("tokenExpired", self.site.token(exp=now - 300, iat=now - 900))


class Fixtures(Workloads):
    """`test.workloadToken` signs a token of each family, without keys and network."""

    # Claims that limit a policy, by family.
    CLAIMS = {"github": "repository_owner_id", "gitlab": "project_id", "kubernetes": "sub", "spiffe": "sub", "google": "sub", "entra": "oid",
              "buildkite": "organization_slug", "circleci": "oidc.circleci.com/project-id"}

    def test_tokens_of_every_family(self):
        for family, claim in self.CLAIMS.items():
            with self.subTest(family):
                made = self.call("test.workloadToken", family=family)
                record = self.call("issuer.put", issuer=made["issuer"], keys=made["keys"], audiences=made["audiences"], authorizedParties=["*"])
                claims = jwt.decode(made["token"], options={"verify_signature": False})
                key = f"{record['name']}:{claim}"
                principal = "accounts.google.com" if family == "google" else record["arn"]
                self.role(trusting(principal, StringEquals={key: claims[claim]}), name=family)
                self.assertEqual(self.assume(made["token"], family)["subject"], claims["sub"])
                changed = self.call("test.workloadToken", family=family, claims={claim: "another"})
                self.denied("assumeRoleDenied", changed["token"], family)
                self.assertEqual(changed["keys"], made["keys"])
                expired = self.call("test.workloadToken", family=family, expiresInSeconds=-400, claims={"iat": None, "nbf": None})
                self.denied("tokenExpired", expired["token"], family)

    def test_legacy_tokens_of_kubernetes_never_expire_and_are_rejected(self):
        made = self.call("test.workloadToken", family="kubernetesLegacy", issuer="https://cluster.example.org")
        self.assertNotIn("exp", jwt.decode(made["token"], options={"verify_signature": False}))
        self.call("issuer.put", issuer=made["issuer"], keys=made["keys"], audiences=["a"])
        self.denied("tokenMalformed", made["token"])

    def test_null_and_boolean_claims(self):
        """A missing `step_key` does not count as a key, and `ssh-rerun` true does not satisfy false."""
        made = self.call("test.workloadToken", family="circleci", claims={"oidc.circleci.com/ssh-rerun": True})
        record = self.call("issuer.put", issuer=made["issuer"], keys=made["keys"], audiences=made["audiences"])
        name = record["name"]
        self.role(trusting(record["arn"], StringLike={f"{name}:sub": "org/3333*"}, Bool={f"{name}:oidc.circleci.com/ssh-rerun": "false"}))
        self.denied("assumeRoleDenied", made["token"])
        self.assume(self.call("test.workloadToken", family="circleci")["token"])
