"""compat.http and test.http: the AWS wire format, and the AWS CLI with Mintmark as its endpoint."""

import contextlib
import http.client
import json
import os
import socket
import sqlite3
import subprocess
import sys
from urllib.parse import urlencode, urlsplit

import boto3
import botocore.config
import botocore.exceptions
from botocore import UNSIGNED
from botocore.auth import HmacV1QueryAuth, SigV2Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from endtoend import PRINCIPAL, SIGNED, EndToEnd, only, pool_with_role
from test_logins import Provider

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

    def test_json_protocol(self):
        status, pool = self.ask("CreateIdentityPool", {"IdentityPoolName": "shop", "AllowUnauthenticatedIdentities": True})
        self.assertEqual((status, pool["IdentityPoolTags"]), (200, {}))
        self.assertEqual(self.ask("DeleteIdentityPool", {"IdentityPoolId": pool["IdentityPoolId"]}), (200, None))
        self.assertEqual(self.ask("DeleteIdentityPool", {"IdentityPoolId": pool["IdentityPoolId"]}), (
            400, {"__type": "ResourceNotFoundException", "message": f"IdentityPool '{pool['IdentityPoolId']}' not found."}))

    def test_unreadable_requests_fail_with_aws_errors(self):
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

    def test_signature_is_required_and_bound_to_service(self):
        def code(headers):
            return self.ask("ListIdentityPools", {"MaxResults": 1}, headers)[1].get("__type")
        self.assertIsNone(code(SIGNED))
        self.assertEqual(code({}), "MissingAuthenticationTokenException")
        self.assertEqual(code({**SIGNED, "Authorization": "Bearer x"}), "IncompleteSignatureException")
        self.assertEqual(code({**SIGNED, "Authorization": SIGNED["Authorization"].replace("cognito-identity", "s3")}), "InvalidSignatureException")
        self.assertEqual(self.ask("GetId", {"IdentityPoolId": NOWHERE}, {})[1]["__type"], "ResourceNotFoundException")

    def test_ownership_of_token_is_checked_before_role(self):
        """GetCredentialsForIdentity validates the login before it selects the role."""
        pool = self.sidecar.call("pool.create", {"name": "bare", "developerProvider": "login.bare"})["poolId"]
        alice, bob = (self.sidecar.call("token.mintForDeveloper", {"poolId": pool, "logins": {"login.bare": name}}) for name in ("alice", "bob"))
        answers = [self.ask("GetCredentialsForIdentity", {
            "IdentityId": alice["identityId"], "Logins": {"cognito-identity.amazonaws.com": who["token"]}})[1]["__type"] for who in (bob, alice)]
        self.assertEqual(answers, ["NotAuthorizedException", "InvalidIdentityPoolConfigurationException"])

    def test_tags_that_exceed_session_size_are_a_pool_configuration_error(self):
        pool, _ = pool_with_role(self.sidecar)
        minted = self.sidecar.call("token.mintForDeveloper", {
            "poolId": pool, "logins": {"login.shop": "alice"}, "principalTags": {f"t{n}": "x" * 256 for n in range(20)}})
        status, answer = self.ask("GetCredentialsForIdentity", {
            "IdentityId": minted["identityId"], "Logins": {"cognito-identity.amazonaws.com": minted["token"]}})
        self.assertEqual((status, answer["__type"]), (400, "InvalidIdentityPoolConfigurationException"))
        self.assertIn("126 %", self.sidecar.refusal("credentials.get", {"token": minted["token"]}).message)

    def sts(self, sidecar=None, headers=None, **parameters):
        """Returns the status, the content type and the body of the STS response."""
        answer = (sidecar or self.sidecar).call("compat.http", {
            "method": "POST", "url": "https://sts.eu-west-1.amazonaws.com/",
            "headers": {"content-type": "application/x-www-form-urlencoded", **(headers or {})},
            "body": urlencode({"Version": "2011-06-15", **parameters})})
        return answer["status"], answer["headers"]["content-type"], answer["body"]

    def test_sts_returns_json_if_accepted(self):
        signed = {**SIGNED, "Authorization": SIGNED["Authorization"].replace("cognito-identity", "sts")}
        for accept in ("application/json", "Application/JSON; charset=utf-8", "text/xml;q=0.5, application/json", "application/json, */*"):
            status, kind, body = self.sts(headers={**signed, "Accept": accept}, Action="GetCallerIdentity")
            self.assertEqual((status, kind), (200, "application/json"), accept)
            found = json.loads(body)["GetCallerIdentityResponse"]
            self.assertEqual(found["GetCallerIdentityResult"], {
                "Arn": "arn:aws:iam::000000000000:root", "UserId": "000000000000", "Account": "000000000000"})
            self.assertIn("RequestId", found["ResponseMetadata"])
        for accept in ("*/*", "text/xml", "application/json;q=0.5, application/xml", "application/json;q=0", ""):
            self.assertEqual(self.sts(headers={**signed, "Accept": accept}, Action="GetCallerIdentity")[1], "text/xml", accept)
        status, kind, body = self.sts(headers={"Accept": "application/json"}, Action="GetCallerIdentity")
        self.assertEqual((status, kind, json.loads(body)["Error"]["Code"]), (403, "application/json", "MissingAuthenticationToken"))
        self.assertEqual(set(json.loads(body)), {"Error", "RequestId"})
        pool, role = pool_with_role(self.sidecar)
        token = self.sidecar.call("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": "alice"}, "principalTags": {"a": "b"}})
        status, _, body = self.sts(
            headers={"Accept": "application/json"}, Action="AssumeRoleWithWebIdentity", RoleArn=role, RoleSessionName="me", WebIdentityToken=token["token"])
        found = json.loads(body)["AssumeRoleWithWebIdentityResponse"]["AssumeRoleWithWebIdentityResult"]
        self.assertEqual((status, found["SubjectFromWebIdentityToken"]), (200, token["identityId"]))
        self.assertIsInstance(found["Credentials"]["Expiration"], int)
        self.assertIsInstance(found["PackedPolicySize"], int)

    def test_control_characters_in_arn_are_a_validation_error(self):
        for bad in ("\x01", "\x7f", "\x9f", "\ufffe"):
            status, _, body = self.sts(
                Action="AssumeRoleWithWebIdentity", RoleArn=f"arn:aws:iam::000000000000:role/a{bad}b", RoleSessionName="me", WebIdentityToken="abcd")
            self.assertEqual(status, 400, repr(bad))
            self.assertIn("<Code>ValidationError</Code>", body)
            self.assertIn("at &#39;roleArn&#39; failed to satisfy constraint: Member must satisfy regular expression pattern: ", body)
        status, _, body = self.sts(
            Action="AssumeRoleWithWebIdentity", RoleArn="arn:aws:iam::000000000000:role/naïve", RoleSessionName="me", WebIdentityToken="abcd")
        self.assertIn("<Code>InvalidIdentityToken</Code>", body)

    def test_providers_are_returned_as_given(self):
        arn = "arn:aws:iam::000000000000:oidc-provider/"
        pools = [f"cognito-idp.{place}_1a" for place in (
            "eu-west-1.amazonaws.com/eu-west-1", "us-gov-west-1.amazonaws.com/us-gov-west-1", "cn-north-1.amazonaws.com.cn/cn-north-1")]
        given = {
            "OpenIdConnectProviderARNs": [arn + "login.example.com", arn + "token.example.com/path"],
            "CognitoIdentityProviders": [{"ProviderName": name, "ClientId": "web", "ServerSideTokenCheck": False} for name in pools]}
        status, pool = self.ask("CreateIdentityPool", {"IdentityPoolName": "shop", "AllowUnauthenticatedIdentities": False, **given})
        self.assertEqual((status, {name: pool.get(name) for name in given}), (200, given), pool)
        for name, value, words in (
                ("CognitoIdentityProviders", [{"ProviderName": "testprovider", "ClientId": "web"}], "testprovider is not the name of a user pool"),
                ("CognitoIdentityProviders", [{"ProviderName": "cognito-idp.eu-west-1.amazonaws.com/", "ClientId": "web"}], "is not the name of a user pool"),
                ("OpenIdConnectProviderARNs", ["arn:aws:rds:eu-west-2:123456789012:db:mysql-db"], "is not the ARN of an OpenID provider"),
                ("OpenIdConnectProviderARNs", ["arn:aws:iam::123456789012:oidc-provider/login.example.com"], "of this account"),
                ("OpenIdConnectProviderARNs", [arn], "is not the ARN of an OpenID provider")):
            status, error = self.ask("CreateIdentityPool", {"IdentityPoolName": "no", "AllowUnauthenticatedIdentities": False, name: value})
            self.assertEqual((status, error["__type"]), (400, "InvalidParameterException"), value)
            self.assertIn(words, error["message"])

    def test_provider_without_clients_accepts_tokens_only_after_clients_are_added(self):
        provider = Provider("https://login.example.com")
        status, pool = self.ask("CreateIdentityPool", {
            "IdentityPoolName": "shop", "AllowUnauthenticatedIdentities": False,
            "OpenIdConnectProviderARNs": ["arn:aws:iam::000000000000:oidc-provider/login.example.com"]})
        settings = {"issuer": provider.issuer, "keys": provider.settings()["keys"], "clientIds": []}
        update = {"poolId": pool["IdentityPoolId"], "name": "shop", "allowUnauthenticated": False}
        self.sidecar.call("pool.update", {**update, "providers": [settings]})
        login = {"poolId": pool["IdentityPoolId"], "logins": {"login.example.com": provider.token("carol", aud="shop")}}
        self.refused("loginTokenInvalid", self.sidecar, "identity.resolve", login)
        self.sidecar.call("pool.update", {**update, "providers": [{**settings, "clientIds": ["shop"]}]})
        self.sidecar.call("identity.resolve", login)
        # An update in the format of AWS keeps the settings that this format cannot express.
        status, again = self.ask("UpdateIdentityPool", pool)
        self.assertEqual((status, again["OpenIdConnectProviderARNs"]), (200, pool["OpenIdConnectProviderARNs"]))
        self.assertEqual(self.sidecar.call("pool.get", {"poolId": pool["IdentityPoolId"]})["providers"][0]["clientIds"], ["shop"])

    def test_arns_have_partition_of_region(self):
        signed = {**SIGNED, "Authorization": SIGNED["Authorization"].replace("cognito-identity", "sts")}
        for region, partition in (("cn-north-1", "aws-cn"), ("us-gov-west-1", "aws-us-gov"), ("eu-west-1", "aws"), ("local-1", "aws")):
            sidecar = self.spawn("--region", region)
            pool, role = pool_with_role(sidecar)
            self.assertEqual(role, f"arn:{partition}:iam::000000000000:role/reader")
            self.assertTrue(sidecar.call("pool.get", {"poolId": pool})["arn"].startswith(f"arn:{partition}:cognito-identity:{region}:"))
            self.assertIn(f"<Arn>arn:{partition}:iam::000000000000:root</Arn>", self.sts(sidecar, signed, Action="GetCallerIdentity")[2])
            token = sidecar.call("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": "alice"}})["token"]
            got = sidecar.call("credentials.get", {"token": token})
            self.assertEqual(got["roleArn"], role)
            # An ARN that was written before partitions were supported still identifies the role.
            former = "arn:aws:iam::000000000000:role/reader"
            assumed = sidecar.call("credentials.assumeRole", {"roleArn": former, "sessionName": "me", "token": token})
            self.assertEqual(assumed["assumedRole"]["arn"], f"arn:{partition}:sts::000000000000:assumed-role/reader/me")
            session = {"sessionToken": assumed["credentials"]["sessionToken"]}
            sidecar.call("credentials.verify", session)
            self.assertEqual(sidecar.call("credentials.revoke", {"roleArn": former})["subject"], role)
            self.refused("credentialsRevoked", sidecar, "credentials.verify", session)

    def test_signature_version_2_error_names_remedy(self):
        words = "Signature Version 2 is not supported; configure signature_version='s3v4'"
        request = AWSRequest(method="GET", url="https://files.example.com/bucket/key")
        HmacV1QueryAuth(Credentials("AKIA", "secret", "session"), expires=60).add_auth(request)
        query = AWSRequest(method="POST", url="https://sts.amazonaws.com/", data={"Action": "GetCallerIdentity", "Version": "2011-06-15"})
        SigV2Auth(Credentials("AKIA", "secret")).add_auth(query)
        for signed in (
                {"method": "GET", "url": request.url, "headers": {"host": "files.example.com"}},
                {"method": "POST", "url": "https://sts.amazonaws.com/?" + urlencode(query.data), "headers": {"host": "sts.amazonaws.com"}},
                {"method": "GET", "url": "https://files.example.com/key", "headers": {"host": "files.example.com", "Authorization": "AWS AKIA:c2ln"}}):
            error = self.refused("signatureMalformed", self.sidecar, "credentials.verify", {"request": signed})
            self.assertEqual(error.data["reason"], words, signed)
        status, _, body = self.sts(**query.data)
        self.assertEqual(status, 403)
        self.assertIn("<Code>IncompleteSignature</Code>", body)
        self.assertIn("Signature Version 2 is not supported", body)

    @only("sqlite")
    def test_revocation_stored_under_former_arn_stays_effective(self):
        store = self.path("china.db")
        sidecar = self.spawn("--region", "cn-north-1", store=store)
        pool, role = pool_with_role(sidecar)
        token = sidecar.call("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": "alice"}})["token"]
        session = {"sessionToken": sidecar.call("credentials.get", {"token": token})["credentials"]["sessionToken"]}
        sidecar.call("credentials.revoke", {"roleArn": role})
        self.assertEqual(sidecar.finish(), 0)
        with contextlib.closing(sqlite3.connect(store)) as file, file:
            changed = file.execute("UPDATE revocation SET target = replace(target, 'arn:aws-cn:', 'arn:aws:')")
            self.assertEqual(changed.rowcount, 1)
        self.refused("credentialsRevoked", self.spawn("--region", "cn-north-1", store=store), "credentials.verify", session)

    @only("sqlite")
    def test_store_that_cannot_open_is_a_json_rpc_error(self):
        blocked = self.spawn(store=self.folder)
        self.refused({"storeCannotOpen", "notAStore"}, blocked, "compat.http", {"method": "GET", "url": "/"})


class Loopback(EndToEnd):
    stores = ("sqlite",)

    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn(testing=True)
        self.url = self.sidecar.call("test.http")["baseUrl"]

    def post(self, body, headers, connection=None):
        connection = connection or http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=60)
        connection.request("POST", "/", body, headers)
        response = connection.getresponse()
        return response.status, response.read()

    def test_http_endpoint_responds_like_compat_http_over_one_connection(self):
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=60)
        for _ in range(3):
            status, body = self.post(b'{"IdentityPoolId": "%s"}' % NOWHERE.encode(), {"X-Amz-Target": TARGET + "GetId"}, connection)
            self.assertEqual((status, json.loads(body)["__type"]), (400, "ResourceNotFoundException"))
        self.assertEqual(self.post(b"\xff", {"X-Amz-Target": TARGET + "GetId"}, connection)[0], 400)
        connection.close()

    def test_http_endpoint_listens_only_on_loopback_and_checks_host(self):
        port = urlsplit(self.url).port
        self.assertRegex(self.url, r"^http://127\.0\.0\.1:\d+$")
        with open("/proc/net/tcp", encoding="ascii") as table:
            local = [line.split()[1] for line in table if line.split()[3] == "0A" and line.split()[1].endswith(f":{port:04X}")]
        self.assertEqual(local, [f"0100007F:{port:04X}"])
        self.assertEqual(self.post(b"{}", {"Host": "rebound.example", "X-Amz-Target": TARGET + "GetId"})[0], 421)

    def test_repeated_call_returns_same_endpoint_and_other_port_adds_one(self):
        self.assertEqual(self.sidecar.call("test.http")["baseUrl"], self.url)
        self.assertEqual(self.sidecar.call("test.http", {"port": urlsplit(self.url).port})["baseUrl"], self.url)
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            error = self.refused("portUnavailable", self.sidecar, "test.http", {"port": taken.getsockname()[1]})
            self.assertEqual(error.data["port"], taken.getsockname()[1])
            free = taken.getsockname()[1]
        self.assertEqual(self.sidecar.call("test.http", {"port": free})["baseUrl"], f"http://127.0.0.1:{free}")

    def test_http_endpoint_ends_with_process_and_requires_testing(self):
        idle = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=60)
        self.post(b"{}", {"X-Amz-Target": TARGET + "GetId"}, idle)
        self.assertEqual(self.sidecar.finish(), 0)
        self.assertEqual(idle.sock.recv(1), b"")
        idle.close()
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", urlsplit(self.url).port), timeout=60)
        self.refused("methodNotFound", self.spawn(), "test.http")

    # Browsers

    def ask(self, method, headers, body=None):
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=60)
        connection.request(method, "/", body, headers)
        response = connection.getresponse()
        response.read()
        connection.close()
        return response

    def test_browsers_can_call_http_endpoint(self):
        """Fetch standard, CORS protocol: pages of the given origins only."""
        page, wanted = "http://localhost:5173", "amz-sdk-invocation-id,amz-sdk-request,cache-control,content-type,x-amz-target,x-amz-user-agent"
        preflight = {"Origin": page, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": wanted}
        post = (({"X-Amz-Target": TARGET + "GetId"}, 400), ({}, 404))
        body = b'{"IdentityPoolId": "%s"}' % NOWHERE.encode()

        def cors(response):
            return {name.lower() for name in response.headers if name.lower().startswith("access-control")}
        # None by default.
        response = self.ask("OPTIONS", preflight)
        self.assertEqual((response.status, cors(response)), (403, set()))
        for headers, status in post:
            response = self.ask("POST", {"Origin": page, **headers}, body)
            self.assertEqual((response.status, cors(response)), (status, set()))
        for allowed in ([page], ["*"]):
            self.sidecar.call("test.http", {"allowOrigins": allowed})
            response = self.ask("OPTIONS", {**preflight, "Access-Control-Request-Private-Network": "true"})
            told = {name: response.headers[name] for name in (
                "access-control-allow-origin", "access-control-allow-methods", "access-control-allow-headers", "access-control-max-age", "vary",
                "access-control-allow-private-network", "access-control-allow-credentials")}
            self.assertEqual((response.status, told), (204, {
                "access-control-allow-origin": page, "access-control-allow-methods": "POST, GET, OPTIONS", "access-control-allow-headers": wanted,
                "access-control-max-age": "600", "vary": "Origin", "access-control-allow-private-network": "true", "access-control-allow-credentials": None}))
            self.assertIsNone(self.ask("OPTIONS", preflight).headers["access-control-allow-private-network"])
            for headers, status in post:
                response = self.ask("POST", {"Origin": page, **headers}, body)
                self.assertEqual((response.status, response.headers["access-control-allow-origin"], response.headers["vary"]), (status, page, "Origin"))
                self.assertEqual(response.headers["access-control-expose-headers"], "x-amzn-requestid, x-amzn-errortype, date")
            self.assertEqual(cors(self.ask("POST", {}, body)), set())   # a program that is no page
        self.sidecar.call("test.http", {"allowOrigins": [page]})
        for other in ("http://localhost:5174", "https://localhost:5173", "http://localhost:5173/", "http://LOCALHOST:5173", "null", "http://evil.example"):
            self.assertEqual((self.ask("OPTIONS", {**preflight, "Origin": other}).status, cors(self.ask("POST", {"Origin": other}, body))), (403, set()))
        self.assertEqual(self.sidecar.call("test.http")["baseUrl"], self.url)   # a call without the parameter changes nothing
        self.assertEqual(self.ask("OPTIONS", preflight).status, 204)
        self.sidecar.call("test.http", {"allowOrigins": []})
        self.assertEqual(self.ask("OPTIONS", preflight).status, 403)
        for wrong in ("localhost:5173", "http://localhost:5173/", "ftp://x", "HTTP://X"):
            self.assertEqual(self.violations(self.sidecar, "test.http", {"allowOrigins": [wrong]}), {("/allowOrigins/0", "pattern")})
        # Another name for this machine does not bypass the check of the host.
        self.assertEqual(self.post(b"{}", {"Host": "rebound.example", "Origin": "http://rebound.example"})[0], 421)

    # Faults

    def client(self, service, attempts=1, **more):
        config = botocore.config.Config(
            signature_version=UNSIGNED, retries={"mode": "standard", "total_max_attempts": attempts}, proxies={}, **more)
        return boto3.client(service, region_name="eu-west-1", endpoint_url=self.url, config=config)

    def fault(self, method, error, **more):
        return self.sidecar.call("test.fault", {"method": method, "error": error, **more})

    def test_method_faults_reach_sdk(self):
        pool, role = pool_with_role(self.sidecar, allowUnauthenticated=True)
        token = self.sidecar.call("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": "alice"}})["token"]
        identity = lambda attempts=1: self.client("cognito-identity", attempts).get_id(IdentityPoolId=pool)
        assume = lambda attempts=1: self.client("sts", attempts).assume_role_with_web_identity(
            RoleArn=role, RoleSessionName="me", WebIdentityToken=token)
        for ask, method, error, wanted, status in (
                (identity, "identity.resolve", "tooManyRequests", "TooManyRequestsException", 400),
                (identity, "identity.resolve", "storeBusy", "InternalErrorException", 500),
                (identity, "identity.resolve", "poolNotFound", "ResourceNotFoundException", 400),
                (identity, "identity.resolve", "unauthenticatedNotAllowed", "NotAuthorizedException", 400),
                (identity, "compat.http", "tooManyRequests", "TooManyRequestsException", 400),
                (assume, "credentials.assumeRole", "tooManyRequests", "Throttling", 400),
                (assume, "credentials.assumeRole", "shuttingDown", "InternalFailure", 500),
                (assume, "credentials.assumeRole", "assumeRoleDenied", "AccessDenied", 403),
                (assume, "compat.http", "storeBusy", "InternalFailure", 500)):
            with self.subTest(method, error=error):
                self.fault(method, error)
                with self.assertRaises(botocore.exceptions.ClientError) as refused:
                    ask()
                self.assertEqual(refused.exception.response["Error"]["Code"], wanted)
                self.assertEqual(refused.exception.response["ResponseMetadata"]["HTTPStatusCode"], status)
                ask()
        # An unmodified SDK retries by itself, so each failure is counted.
        for ask, method in ((identity, "identity.resolve"), (assume, "credentials.assumeRole")):
            for error in ("tooManyRequests", "storeBusy"):
                self.fault(method, error, times=2)
                self.assertEqual(ask(3)["ResponseMetadata"]["RetryAttempts"], 2)
                self.assertEqual(self.sidecar.call("test.fault")["armed"], [])
        self.fault("identity.resolve", "storeBusy", afterCalls=1)
        identity()
        self.assertRaises(botocore.exceptions.ClientError, identity)

    def test_faults_reach_compat_http_over_pipe(self):
        self.fault("identity.resolve", "tooManyRequests")
        request = {"method": "POST", "url": "/", "headers": {"X-Amz-Target": TARGET + "GetId"}, "body": json.dumps({"IdentityPoolId": NOWHERE})}
        self.assertEqual(json.loads(self.sidecar.call("compat.http", request)["body"])["__type"], "TooManyRequestsException")
        self.fault("compat.http", "storeBusy")
        self.refused("storeBusy", self.sidecar, "compat.http", request)

    # AWS CLI

    def aws(self, *arguments, fails=None, credentials=None):
        """Returns the parsed output of `aws`, or checks its error message if `fails` is given."""
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

    def test_aws_cli_exchanges_token_for_credentials(self):
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
        # The CLI and every SDK make the same exchange by themselves if they find a token in a file.
        with open(self.path("token"), "w", encoding="ascii") as file:
            file.write(token["Token"])
        own = self.aws("sts", "get-caller-identity", credentials={
            "AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_ROLE_ARN": role, "AWS_ROLE_SESSION_NAME": "pod", "AWS_WEB_IDENTITY_TOKEN_FILE": self.path("token")})
        self.assertEqual(own["Arn"], "arn:aws:sts::000000000000:assumed-role/reader/pod")

    def test_aws_cli_shows_error_messages(self):
        self.aws("cognito-identity", "describe-identity-pool", "--identity-pool-id", NOWHERE,
                 fails=f"An error occurred (ResourceNotFoundException) when calling the DescribeIdentityPool operation: IdentityPool '{NOWHERE}' not found.")
        self.aws("cognito-identity", "describe-identity-pool", "--identity-pool-id", "nonsense",
                 fails=r"1 validation error detected: Value 'nonsense' at 'identityPoolId' failed to satisfy constraint: Member must satisfy regular expression pattern: [\w-]+:[0-9a-f-]+")
