"""compat.http and test.http: the wire itself, and the AWS CLI pointed at it."""

import http.client
import json
import os
import socket
import subprocess
import sys
from urllib.parse import urlsplit

from endtoend import PRINCIPAL, SIGNED, EndToEnd, only, pool_with_role

TARGET = "AWSCognitoIdentityService."
NOWHERE = "local-1:00000000-0000-0000-0000-000000000000"


class Compat(EndToEnd):
    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn()

    def ask(self, operation, body, headers=SIGNED, **more):
        body = body if isinstance(body, str) else json.dumps(body)
        answer = self.sidecar.call("compat.http", {
            "method": "POST", "url": "https://cognito-identity.eu-west-1.amazonaws.com/",
            "headers": {"x-amz-target": operation if "." in operation else TARGET + operation, **headers}, "body": body, **more})
        self.assertEqual(answer["headers"]["content-type"], "application/x-amz-json-1.1")
        self.assertRegex(answer["headers"]["x-amzn-requestid"], "^[0-9a-f-]{36}$")
        return answer["status"], json.loads(answer["body"]) if answer["body"] else None

    def test_json(self):
        status, pool = self.ask("CreateIdentityPool", {"IdentityPoolName": "shop", "AllowUnauthenticatedIdentities": True})
        self.assertEqual((status, pool["IdentityPoolTags"]), (200, {}))
        self.assertEqual(self.ask("DeleteIdentityPool", {"IdentityPoolId": pool["IdentityPoolId"]}), (200, None))
        self.assertEqual(self.ask("DeleteIdentityPool", {"IdentityPoolId": pool["IdentityPoolId"]}), (
            400, {"__type": "ResourceNotFoundException", "message": f"IdentityPool '{pool['IdentityPoolId']}' not found."}))

    def test_requests_that_cannot_be_read_are_answered(self):
        for body in ("{", "[]", '{"MaxResults": 1, "MaxResults": 2}', '{"MaxResults": "1"}', '{"MaxResults": 1.5}', "null"):
            with self.subTest(body):
                status, error = self.ask("ListIdentityPools", body)
                self.assertEqual((status, error["__type"]), (400, "SerializationException"))
        status, error = self.ask("ListIdentityPools", '{"MaxResults": 1, "Other": {"a": [1]}}')
        self.assertEqual((status, error), (200, {"IdentityPools": []}))
        for operation in ("Fly", "Other.ListIdentityPools", "AWSCognitoIdentityService."):
            status, error = self.ask(operation, "{}")
            self.assertEqual((status, error["__type"]), (400, "UnknownOperationException"))
            self.assertTrue(error["message"].endswith(f"{operation if '.' in operation else TARGET + operation}."))
        answer = self.sidecar.call("compat.http", {"method": "GET", "url": "https://s3.amazonaws.com/a"})
        self.assertEqual((answer["status"], json.loads(answer["body"])["__type"]), (404, "UnknownOperationException"))

    def test_a_signature_must_be_there_and_for_the_service(self):
        def code(headers):
            return self.ask("ListIdentityPools", {"MaxResults": 1}, headers)[1].get("__type")
        self.assertIsNone(code(SIGNED))
        self.assertEqual(code({}), "MissingAuthenticationTokenException")
        self.assertEqual(code({**SIGNED, "Authorization": "Bearer x"}), "IncompleteSignatureException")
        self.assertEqual(code({**SIGNED, "Authorization": SIGNED["Authorization"].replace("cognito-identity", "s3")}), "InvalidSignatureException")
        self.assertEqual(self.ask("GetId", {"IdentityPoolId": NOWHERE}, {})[1]["__type"], "ResourceNotFoundException")

    def test_whose_the_token_is_comes_before_the_roles(self):
        """cognito.md 2.5: the proof is step 8, the role step 10."""
        pool = self.sidecar.call("pool.create", {"name": "bare", "developerProvider": "login.bare"})["poolId"]
        alice, bob = (self.sidecar.call("token.mintForDeveloper", {"poolId": pool, "logins": {"login.bare": name}}) for name in ("alice", "bob"))
        answers = [self.ask("GetCredentialsForIdentity", {
            "IdentityId": alice["identityId"], "Logins": {"cognito-identity.amazonaws.com": who["token"]}})[1]["__type"] for who in (bob, alice)]
        self.assertEqual(answers, ["NotAuthorizedException", "InvalidIdentityPoolConfigurationException"])

    def test_tags_that_have_no_room_are_the_pools_configuration(self):
        """cognito.md 6.2, last line."""
        pool, _ = pool_with_role(self.sidecar)
        minted = self.sidecar.call("token.mintForDeveloper", {
            "poolId": pool, "logins": {"login.shop": "alice"}, "principalTags": {f"t{n}": "x" * 256 for n in range(20)}})
        status, answer = self.ask("GetCredentialsForIdentity", {
            "IdentityId": minted["identityId"], "Logins": {"cognito-identity.amazonaws.com": minted["token"]}})
        self.assertEqual((status, answer["__type"]), (400, "InvalidIdentityPoolConfigurationException"))
        self.assertIn("126 %", self.sidecar.refusal("credentials.get", {"token": minted["token"]}).message)

    @only("sqlite")
    def test_a_store_that_does_not_open_is_an_error_of_the_pipe(self):
        blocked = self.spawn(store=self.folder)
        self.refused({"storeCannotOpen", "notAStore"}, blocked, "compat.http", {"method": "GET", "url": "/"})


class Loopback(EndToEnd):
    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn(testing=True)
        self.url = self.sidecar.call("test.http")["baseUrl"]

    def post(self, body, headers, connection=None):
        connection = connection or http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=20)
        connection.request("POST", "/", body, headers)
        response = connection.getresponse()
        return response.status, response.read()

    def test_it_answers_as_compat_http_does_on_one_connection(self):
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=20)
        for _ in range(3):
            status, body = self.post(b'{"IdentityPoolId": "%s"}' % NOWHERE.encode(), {"X-Amz-Target": TARGET + "GetId"}, connection)
            self.assertEqual((status, json.loads(body)["__type"]), (400, "ResourceNotFoundException"))
        self.assertEqual(self.post(b"\xff", {"X-Amz-Target": TARGET + "GetId"}, connection)[0], 400)
        connection.close()

    def test_it_listens_on_this_machine_alone_and_knows_its_name(self):
        port = urlsplit(self.url).port
        self.assertRegex(self.url, r"^http://127\.0\.0\.1:\d+$")
        with open("/proc/net/tcp", encoding="ascii") as table:
            local = [line.split()[1] for line in table if line.split()[3] == "0A" and line.split()[1].endswith(f":{port:04X}")]
        self.assertEqual(local, [f"0100007F:{port:04X}"])
        self.assertEqual(self.post(b"{}", {"Host": "rebound.example", "X-Amz-Target": TARGET + "GetId"})[0], 421)

    def test_asked_again_it_says_where_it_is_and_other_ports_are_others(self):
        self.assertEqual(self.sidecar.call("test.http")["baseUrl"], self.url)
        self.assertEqual(self.sidecar.call("test.http", {"port": urlsplit(self.url).port})["baseUrl"], self.url)
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            error = self.refused("portUnavailable", self.sidecar, "test.http", {"port": taken.getsockname()[1]})
            self.assertEqual(error.data["port"], taken.getsockname()[1])
            free = taken.getsockname()[1]
        self.assertEqual(self.sidecar.call("test.http", {"port": free})["baseUrl"], f"http://127.0.0.1:{free}")

    def test_it_ends_with_the_process_and_is_for_tests_alone(self):
        idle = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=20)
        self.post(b"{}", {"X-Amz-Target": TARGET + "GetId"}, idle)
        self.assertEqual(self.sidecar.finish(), 0)
        self.assertEqual(idle.sock.recv(1), b"")
        idle.close()
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", urlsplit(self.url).port), timeout=20)
        self.refused("methodNotFound", self.spawn(), "test.http")

    # The AWS CLI

    def aws(self, *arguments, fails=None, credentials=None):
        """What `aws` prints; or, where it fails, what it says of it."""
        program = os.path.join(os.path.dirname(sys.executable), "aws")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        environment.update({
            "HOME": self.folder, "AWS_CONFIG_FILE": self.path("none"), "AWS_SHARED_CREDENTIALS_FILE": self.path("none"), "AWS_PAGER": "",
            "AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "eu-west-1", "AWS_ENDPOINT_URL": self.url, "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any", **(credentials or {})})
        done = subprocess.run([program, *arguments], env=environment, capture_output=True, text=True, timeout=120, check=False)
        if fails:
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(fails, done.stderr)
            return None
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout) if done.stdout.strip() else None

    def test_the_aws_cli_from_a_token_to_credentials(self):
        created = self.aws(
            "cognito-identity", "create-identity-pool", "--identity-pool-name", "bazaar", "--no-allow-unauthenticated-identities",
            "--developer-provider-name", "login.bazaar", "--identity-pool-tags", "team=a")
        self.assertEqual(created["IdentityPoolTags"], {"team": "a"})
        pool, role = pool_with_role(self.sidecar)
        listed = self.aws("cognito-identity", "list-identity-pools", "--max-results", "60")
        self.assertEqual({each["IdentityPoolId"] for each in listed["IdentityPools"]}, {created["IdentityPoolId"], pool})

        token = self.aws(
            "cognito-identity", "get-open-id-token-for-developer-identity", "--identity-pool-id", pool, "--logins", "login.shop=alice", "--token-duration", "3600")
        got = self.aws(
            "cognito-identity", "get-credentials-for-identity", "--no-sign-request", "--identity-id", token["IdentityId"],
            "--logins", f"{PRINCIPAL}={token['Token']}")
        self.assertEqual(got["IdentityId"], token["IdentityId"])
        held = {"AWS_ACCESS_KEY_ID": got["Credentials"]["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": got["Credentials"]["SecretKey"], "AWS_SESSION_TOKEN": got["Credentials"]["SessionToken"]}
        me = self.aws("sts", "get-caller-identity", credentials=held)
        self.assertEqual(me["Arn"], "arn:aws:sts::000000000000:assumed-role/reader/CognitoIdentityCredentials")
        self.aws("cognito-identity", "list-identities", "--identity-pool-id", pool, "--max-results", "1", credentials=held, fails="(AccessDeniedException)")
        self.aws("sts", "get-caller-identity", credentials={**held, "AWS_SECRET_ACCESS_KEY": "forged"}, fails="(SignatureDoesNotMatch)")

        assumed = self.aws(
            "sts", "assume-role-with-web-identity", "--no-sign-request", "--role-arn", role, "--role-session-name", "laptop", "--web-identity-token", token["Token"])
        self.assertEqual(assumed["SubjectFromWebIdentityToken"], token["IdentityId"])
        # The CLI and every SDK do the same by themselves when they find a token in a file.
        with open(self.path("token"), "w", encoding="ascii") as file:
            file.write(token["Token"])
        own = self.aws("sts", "get-caller-identity", credentials={
            "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_ROLE_ARN": role, "AWS_ROLE_SESSION_NAME": "pod", "AWS_WEB_IDENTITY_TOKEN_FILE": self.path("token")})
        self.assertEqual(own["Arn"], "arn:aws:sts::000000000000:assumed-role/reader/pod")

    def test_the_aws_cli_is_told_what_is_wrong(self):
        self.aws("cognito-identity", "describe-identity-pool", "--identity-pool-id", NOWHERE,
                 fails=f"An error occurred (ResourceNotFoundException) when calling the DescribeIdentityPool operation: IdentityPool '{NOWHERE}' not found.")
        self.aws("cognito-identity", "describe-identity-pool", "--identity-pool-id", "nonsense",
                 fails=r"1 validation error detected: Value 'nonsense' at 'identityPoolId' failed to satisfy constraint: Member must satisfy regular expression pattern: [\w-]+:[0-9a-f-]+")
