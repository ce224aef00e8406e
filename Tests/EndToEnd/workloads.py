"""Tokens of workloads as their issuers write them, for tests of trusted issuers: eight families, each with a policy, a good token and bad ones."""

import json
import time

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from endtoend import encode
from rsakeys import rsa_key

ACCOUNT = "000000000000"
ACTION = "sts:AssumeRoleWithWebIdentity"


def arn(name):
    return f"arn:aws:iam::{ACCOUNT}:oidc-provider/{name}"


def trusting(principal, *actions, **condition):
    """Returns a trust policy with one statement for a federated principal."""
    return {"Version": "2012-10-17", "Statement": [{
        "Effect": "Allow", "Principal": {"Federated": principal}, "Action": list(actions) or [ACTION], "Condition": condition}]}


class Family:
    """An issuer with its own key. `content` are the claims of a good token, without times."""

    def __init__(self, issuer, audience, content, policy, algorithm="RS256", header=None, **settings):
        self.issuer, self.audience, self.claims, self.policy, self.algorithm = issuer, audience, content, policy, algorithm
        self.header, self.settings = {"typ": "JWT", **(header or {})}, settings
        self.key = ec.generate_private_key(ec.SECP256R1()) if algorithm == "ES256" else rsa_key()

    @property
    def name(self):
        return self.issuer.split("://")[1]

    @property
    def principal(self):
        return arn(self.name)

    @property
    def jwk(self):
        writer = ECAlgorithm if self.algorithm == "ES256" else RSAAlgorithm
        return {**json.loads(writer.to_jwk(self.key.public_key())), "kid": "k1", "alg": self.algorithm, "use": "sig"}

    def put(self, sidecar, **more):
        settings = {"issuer": self.issuer, "audiences": [self.audience], "keys": [self.jwk], **self.settings, **more}
        return sidecar.call("issuer.put", settings)

    def token(self, header=None, key=None, algorithm=None, **claims):
        """Returns a good token, with changed claims. `None` removes a claim or header."""
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": self.audience, "iat": now, "nbf": now, "exp": now + 600, **self.claims, **claims}
        headers = {"kid": "k1", **self.header, **(header or {})}
        return jwt.encode(
            {name: value for name, value in claims.items() if value is not None}, key or self.key, algorithm or self.algorithm,
            {name: value for name, value in headers.items()})

    def raw(self, payload):
        """Returns a correctly signed token with exactly this payload."""
        return jwt.PyJWS().encode(payload.encode(), self.key, self.algorithm, {"kid": "k1", "typ": "JWT"})

    def bad(self):
        """Yields bad tokens that no issuer may get accepted: (description, token, error types)."""
        now, good = int(time.time()), self.token()
        header, payload, signature = good.split(".")
        audience = {"tokenAudienceMismatch"}
        yield "another key", self.token(key=type(self)(self.issuer, "x", {}, {}, self.algorithm).key), {"tokenSignatureInvalid"}
        yield "unknown kid", self.token({"kid": "k2"}), {"tokenKeyUnknown"}
        yield "unsigned", f"{encode({'alg': 'none', 'typ': 'JWT'})}.{payload}.", {"tokenAlgorithmNotAllowed"}
        yield "symmetric", jwt.encode({"iss": self.issuer}, "s" * 32, "HS256", {"kid": "k1"}), {"tokenAlgorithmNotAllowed"}
        yield "changed claims", f"{header}.{encode({'iss': self.issuer, 'sub': 'x', 'aud': self.audience, 'exp': now + 60})}.{signature}", {"tokenSignatureInvalid"}
        yield "expired", self.token(exp=now - 301, iat=now - 900), {"tokenExpired"}
        yield "no exp", self.token(exp=None), {"tokenMalformed"}
        yield "exp as string", self.token(exp=str(now + 600)), {"tokenMalformed"}
        yield "issued in the future", self.token(iat=now + 400), {"tokenNotYetValid"}
        yield "not yet valid", self.token(nbf=now + 400), {"tokenNotYetValid"}
        yield "valid for years", self.token(exp=now + 200_000), {"tokenClaimRejected"}
        yield "another audience", self.token(aud="https://other.example"), audience
        yield "additional audience", self.token(aud=[self.audience, "https://other.example"], azp=None), audience
        yield "audience as number", self.raw(json.dumps({"iss": self.issuer, "sub": "x", "aud": 7, "exp": now + 60})), audience
        yield "no audience", self.token(aud=None), audience
        yield "empty audience list", self.token(aud=[]), audience
        yield "azp of another app", self.token(azp="somebody-else"), audience
        yield "no subject", self.token(sub=None), {"tokenMalformed"}
        yield "empty subject", self.token(sub=""), {"tokenMalformed"}
        yield "subject as list", self.raw(json.dumps({"iss": self.issuer, "sub": ["x"], "aud": self.audience, "exp": now + 60})), {"tokenMalformed"}
        yield "two subjects", self.raw(f'{{"iss":"{self.issuer}","sub":"a","sub":"b","aud":"{self.audience}","exp":{now + 60}}}'), {"tokenMalformed"}
        yield "access token", self.token({"typ": "at+jwt"}), {"tokenUseMismatch"}
        yield "logout token", self.token({"typ": "logout+jwt"}), {"tokenUseMismatch"}
        yield "critical header", self.token({"crit": ["b64"], "b64": True}), {"tokenMalformed"}
        yield "security event", self.token(events={"http://schemas.openid.net/event/backchannel-logout": {}}), {"tokenClaimRejected"}
        yield "bound to a key", self.token(cnf={"jkt": "x"}), {"tokenClaimRejected"}
        yield "issuer with a slash", self.token({"typ": "JWT"}, iss=self.issuer + "/"), {"tokenIssuerMismatch"}
        yield "another issuer", self.token({"typ": "JWT"}, iss="https://evil.example"), {"tokenIssuerMismatch"}


GITHUB = {
    "sub": "repo:octo-org/octo-repo:ref:refs/heads/main", "actor": "octocat", "actor_id": "12", "base_ref": "", "event_name": "push", "head_ref": "",
    "job_workflow_ref": "octo-org/octo-automation/.github/workflows/oidc.yml@refs/heads/main", "ref": "refs/heads/main", "ref_type": "branch",
    "ref_protected": "true", "repository": "octo-org/octo-repo", "repository_id": "74", "repository_owner": "octo-org", "repository_owner_id": "65",
    "repository_visibility": "private", "run_id": "example-run-id", "run_number": "10", "run_attempt": "2", "runner_environment": "github-hosted",
    "sha": "d1e7", "workflow": "example-workflow", "jti": "example-id"}


def github():
    name = "token.actions.githubusercontent.com"
    return Family(f"https://{name}", "sts.amazonaws.com", GITHUB, trusting(
        arn(name), StringEquals={f"{name}:aud": "sts.amazonaws.com", f"{name}:repository_owner_id": "65", f"{name}:sub": GITHUB["sub"]}))


def gitlab():
    claims = {
        "sub": "project_path:my-group/my-project:ref_type:branch:ref:main", "namespace_id": "72", "namespace_path": "my-group", "project_id": "20",
        "project_path": "my-group/my-project", "user_id": "1", "user_login": "sample-user", "user_email": "sample@example.com", "pipeline_id": "574",
        "pipeline_source": "push", "job_id": "302", "ref": "main", "ref_type": "branch", "ref_path": "refs/heads/main", "ref_protected": "true",
        "runner_id": 1, "runner_environment": "gitlab-hosted", "sha": "714a", "jti": "235b3a54"}
    return Family("https://gitlab.com", "sts.amazonaws.com", claims, trusting(
        arn("gitlab.com"), StringEquals={"gitlab.com:sub": claims["sub"], "gitlab.com:project_id": "20"}, Bool={"gitlab.com:ref_protected": "true"}))


def kubernetes():
    name = "oidc.eks.eu-west-1.amazonaws.com/id/EXAMPLED539D4633E53DE1B71EXAMPLE"
    claims = {
        "sub": "system:serviceaccount:shop:api", "aud": ["sts.amazonaws.com"], "jti": "ea28",
        "kubernetes.io": {"namespace": "shop", "serviceaccount": {"name": "api", "uid": "14ee"}, "pod": {"name": "api-1", "uid": "5e0c"}}}
    return Family(f"https://{name}", "sts.amazonaws.com", claims, trusting(
        arn(name), StringEquals={f"{name}:aud": "sts.amazonaws.com", f"{name}:sub": claims["sub"]}))


def spiffe():
    name = "oidc-discovery.example.org"
    claims = {"sub": "spiffe://example.org/ns/shop/sa/api", "aud": ["mintmark"], "iat": None, "nbf": None}
    return Family(f"https://{name}", "mintmark", claims, trusting(arn(name), StringEquals={f"{name}:sub": claims["sub"]}), "ES256",
                  {"typ": "JOSE"}, types=["JWT", "JOSE"], claims={"sub": ["spiffe://example.org/*"]})


def google():
    claims = {"sub": "113456789012345678901", "azp": "113456789012345678901", "email": "api@shop.iam.gserviceaccount.com", "email_verified": True}
    return Family("https://accounts.google.com", "mintmark", claims, trusting(
        "accounts.google.com", StringEquals={"accounts.google.com:sub": claims["sub"], "accounts.google.com:oaud": "mintmark"}))


def entra():
    tenant = "11111111-2222-3333-4444-555555555555"
    name = f"login.microsoftonline.com/{tenant}/v2.0"
    claims = {
        "sub": "object-1", "oid": "object-1", "azp": "client-9", "azpacr": "1", "idtyp": "app", "tid": tenant, "ver": "2.0", "rh": "0.A", "uti": "u", "aio": "a"}
    return Family(f"https://{name}", "api-client-1", claims, trusting(
        arn(name), StringEquals={f"{name}:sub": "object-1", f"{name}:oaud": "api-client-1"}), authorizedParties=["client-9"])


def buildkite():
    name = "agent.buildkite.com"
    claims = {
        "sub": "organization:acme:pipeline:shop:ref:refs/heads/main:commit:9f3182061f1e2cca4702c368cbc039b7dc9d4485:step:deploy", "organization_slug": "acme",
        "organization_id": "f02d6a6f", "pipeline_slug": "shop", "build_number": 1, "build_branch": "main", "build_tag": "", "build_commit": "9f31", "step_key": "deploy",
        "job_id": "0184", "agent_id": "0185", "build_source": "ui", "runner_environment": "self-hosted"}
    return Family(f"https://{name}", "sts.amazonaws.com", claims, trusting(
        arn(name), StringEquals={f"{name}:organization_slug": "acme", f"{name}:step_key": "deploy"}, StringLike={f"{name}:sub": "organization:acme:pipeline:shop:*"}))


def circleci():
    organization, project = "33333333-4444-5555-6666-777777777777", "88888888-9999-aaaa-bbbb-cccccccccccc"
    name = f"oidc.circleci.com/org/{organization}"
    claims = {
        "sub": f"org/{organization}/project/{project}/user/dddddddd-eeee-ffff-0000-111111111111", "oidc.circleci.com/project-id": project,
        "oidc.circleci.com/context-ids": ["c1", "c2"], "oidc.circleci.com/ssh-rerun": False, "oidc.circleci.com/vcs-origin": "github.com/acme/shop",
        "oidc.circleci.com/vcs-ref": "refs/heads/main"}
    # Names of claims begin like the name of the issuer.
    return Family(f"https://{name}", organization, claims, trusting(
        arn(name), StringLike={f"{name}:sub": f"org/{organization}/project/{project}/*"}, Bool={f"{name}:oidc.circleci.com/ssh-rerun": "false"},
        **{"ForAnyValue:StringEquals": {f"{name}:oidc.circleci.com/context-ids": ["c2"]}}))


FAMILIES = {
    "github": github, "gitlab": gitlab, "kubernetes": kubernetes, "spiffe": spiffe, "google": google, "entra": entra, "buildkite": buildkite,
    "circleci": circleci}
