"""Workload identity with programs of others, unmodified: the AWS CLI makes the whole set-up, and the SPIFFE library fetches and checks tokens."""

import concurrent.futures
import json
import os
import subprocess
import sys

import grpc
from endtoend import EndToEnd
from spiffe import JwtBundle, JwtSvid, TrustDomain, WorkloadApiClient
from spiffe._proto import workload_pb2, workload_pb2_grpc
from spiffe.errors import PySpiffeError
from websites import OpenIDWebsite
from workloads import arn, trusting

SPIFFE = "spiffe://example.org/ns/shop/sa/api"


class AWSCommandLine(EndToEnd):
    stores = ("sqlite",)

    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn(testing=True)
        self.url = self.sidecar.call("test.http")["baseUrl"]
        self.site = OpenIDWebsite(algorithm="RS256")
        self.addCleanup(self.site.close)

    def aws(self, *arguments, fails=None, config="", **environment):
        """Returns the output of `aws`, or checks its error message."""
        with open(self.path("config"), "w", encoding="utf-8") as file:
            file.write(config)
        known = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        known.update({
            "HOME": self.folder, "AWS_CONFIG_FILE": self.path("config"), "AWS_SHARED_CREDENTIALS_FILE": self.path("none"), "AWS_PAGER": "",
            "AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "eu-west-1", "AWS_ENDPOINT_URL": self.url, "AWS_EC2_METADATA_DISABLED": "true",
            "NO_PROXY": "127.0.0.1", **environment})
        program = os.path.join(os.path.dirname(sys.executable), "aws")
        done = subprocess.run([program, *arguments], env=known, capture_output=True, text=True, timeout=120, check=False)
        if fails:
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(fails, done.stderr)
            return None
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout) if done.stdout.strip() else None

    def test_provider_role_and_credentials_of_a_foreign_token(self):
        keys = {"AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret"}
        name = self.site.name
        made = self.aws("iam", "create-open-id-connect-provider", "--url", self.site.issuer, "--client-id-list", "shop", "--thumbprint-list", "a" * 40, **keys)
        self.assertEqual(made["OpenIDConnectProviderArn"], arn(name))
        policy = trusting(arn(name), StringEquals={f"{name}:sub": "carol", f"{name}:aud": "shop"})
        role = self.aws("iam", "create-role", "--role-name", "deploy", "--assume-role-policy-document", json.dumps(policy), **keys)["Role"]
        self.assertEqual(self.aws("iam", "get-role", "--role-name", "deploy", **keys)["Role"]["AssumeRolePolicyDocument"], policy)

        exchange = ("sts", "assume-role-with-web-identity", "--role-arn", role["Arn"], "--role-session-name", "job", "--web-identity-token")
        answer = self.aws(*exchange, self.site.token())
        self.assertEqual((answer["SubjectFromWebIdentityToken"], answer["Audience"], answer["Provider"]), ("carol", "shop", arn(name)))
        held = answer["Credentials"]
        me = self.aws("sts", "get-caller-identity", AWS_ACCESS_KEY_ID=held["AccessKeyId"], AWS_SECRET_ACCESS_KEY=held["SecretAccessKey"], AWS_SESSION_TOKEN=held["SessionToken"])
        self.assertEqual(me["Arn"], "arn:aws:sts::000000000000:assumed-role/deploy/job")
        self.aws(*exchange, self.site.token("mallory"), fails="(AccessDenied) when calling the AssumeRoleWithWebIdentity operation")
        self.aws(*exchange, self.site.token(exp=1), fails="(ExpiredTokenException)")
        self.aws(*exchange, self.site.token(aud="another"), fails="Incorrect token audience")

        # The CLI exchanges the token in a file by itself, as in a pod.
        with open(self.path("token"), "w", encoding="ascii") as file:
            file.write(self.site.token())
        config = f"[profile pod]\nrole_arn = {role['Arn']}\nweb_identity_token_file = {self.path('token')}\nrole_session_name = pod\n"
        self.assertEqual(self.aws("sts", "get-caller-identity", "--profile", "pod", config=config)["Arn"], "arn:aws:sts::000000000000:assumed-role/deploy/pod")
        self.aws("iam", "delete-role", "--role-name", "deploy", **keys)
        self.aws("iam", "delete-open-id-connect-provider", "--open-id-connect-provider-arn", arn(name), **keys)
        self.aws(*exchange, self.site.token(), fails=f"No OpenIDConnect provider found in your account for {self.site.issuer}")


class Spire(workload_pb2_grpc.SpiffeWorkloadAPIServicer):
    """The Workload API of an agent, which hands out tokens of this store."""

    def __init__(self, sidecar):
        self.sidecar = sidecar
        self.found = sidecar.call("test.workloadToken", {"family": "spiffe", "claims": {"aud": ["shop"]}})

    def FetchJWTSVID(self, request, context):
        made = self.sidecar.call("test.workloadToken", {"family": "spiffe", "claims": {"aud": list(request.audience)}})
        return workload_pb2.JWTSVIDResponse(svids=[workload_pb2.JWTSVID(spiffe_id=SPIFFE, svid=made["token"])])

    def FetchJWTBundles(self, request, context):
        yield workload_pb2.JWTBundlesResponse(bundles={"spiffe://example.org": json.dumps({"keys": self.found["keys"]}).encode()})


class SpiffeLibrary(EndToEnd):
    stores = ("sqlite",)

    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn(testing=True)
        self.agent = Spire(self.sidecar)
        self.server = grpc.server(concurrent.futures.ThreadPoolExecutor(4))
        workload_pb2_grpc.add_SpiffeWorkloadAPIServicer_to_server(self.agent, self.server)
        self.socket = "unix://" + self.path("agent.sock")
        self.server.add_insecure_port(self.socket)
        self.server.start()
        self.addCleanup(self.server.stop, None)

    def test_token_that_the_library_fetches_is_exchanged(self):
        issuer = self.agent.found["issuer"]
        name = issuer.split("://")[1]
        self.sidecar.call("issuer.put", {"issuer": issuer, "audiences": ["shop"], "keys": self.agent.found["keys"], "types": ["JWT", "JOSE"], "claims": {"sub": ["spiffe://example.org/*"]}})
        role = self.sidecar.call("role.put", {"name": "api", "trustPolicy": trusting(arn(name), StringEquals={f"{name}:sub": SPIFFE})})["roleArn"]
        with WorkloadApiClient(self.socket) as client:
            token = client.fetch_jwt_svid({"shop"}).token
            self.assertEqual(str(client.fetch_jwt_bundles().get_bundle_for_trust_domain(TrustDomain("example.org")).trust_domain), "example.org")
            other = client.fetch_jwt_svid({"another"}).token
        given = self.sidecar.call("credentials.assumeRole", {"roleArn": role, "sessionName": "api", "token": token})
        self.assertEqual(given["subject"], SPIFFE)
        self.refused("tokenAudienceMismatch", self.sidecar, "credentials.assumeRole", {"roleArn": role, "sessionName": "api", "token": other})

    def test_library_accepts_and_refuses_the_same_tokens(self):
        bundle = JwtBundle.parse(TrustDomain("example.org"), json.dumps({"keys": self.agent.found["keys"]}).encode())
        self.assertEqual(str(JwtSvid.parse_and_validate(self.agent.found["token"], bundle, {"shop"}).spiffe_id), SPIFFE)
        for changed in ({"aud": ["another"]}, {"exp": 1}, {"sub": "no spiffe id"}):
            bad = self.sidecar.call("test.workloadToken", {"family": "spiffe", "claims": {"aud": ["shop"], **changed}})["token"]
            self.assertRaises(PySpiffeError, JwtSvid.parse_and_validate, bad, bundle, {"shop"})
