"""Tokens for other clouds: `mintmark gcp-credentials` and `configure gcp` with the unmodified google-auth, `azure-token-file` with azure-identity."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
import urllib.parse

import jwt

from endtoend import mint
from sidecar import clean_environment
from test_tool_credentials import ToolCredentials
from websites import Authority, page, Website
from workloads import github

AUDIENCE = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/mintmark"
ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token"
GOOGLE = """
import sys, google.auth.pluggable, google.auth.transport.requests
found = google.auth.pluggable.Credentials.from_file(sys.argv[1], scopes=["https://www.googleapis.com/auth/cloud-platform"])
found.refresh(google.auth.transport.requests.Request())
print(found.token)
"""
AZURE = """
import sys
from azure.identity import WorkloadIdentityCredential
found = WorkloadIdentityCredential(
    tenant_id="11111111-2222-3333-4444-555555555555", client_id="app", token_file_path=sys.argv[1], authority=sys.argv[2], connection_verify=sys.argv[3],
    disable_instance_discovery=True)
print(found.get_token("https://vault.azure.net/.default").token)
"""


def fields(request):
    return dict(urllib.parse.parse_qsl(request.rfile.read(int(request.headers["Content-Length"])).decode()))


class Google(ToolCredentials):
    def google(self, *options, **environment):
        asked = {"GOOGLE_EXTERNAL_ACCOUNT_AUDIENCE": AUDIENCE, "GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE": ID_TOKEN, **environment}
        done = self.mintmark("gcp-credentials", *options, **asked)
        self.assertEqual(done.stderr, b"")
        return done.returncode, json.loads(done.stdout)

    def test_answer_is_that_of_an_executable(self):
        output = self.path("cache.json")
        path = self.token_file(mint(self.sidecar, self.pool)["token"])
        code, found = self.google("--token-file", path, "--audience", AUDIENCE, GOOGLE_EXTERNAL_ACCOUNT_OUTPUT_FILE=output)
        with open(path, encoding="utf-8") as file:
            token = file.read()
        expires = jwt.decode(token, options={"verify_signature": False})["exp"]
        self.assertEqual((code, found), (0, {"version": 1, "success": True, "token_type": ID_TOKEN, "id_token": token, "expiration_time": expires}))
        self.assertEqual(stat.S_IMODE(os.stat(output).st_mode), 0o600)
        with open(output, encoding="utf-8") as file:
            self.assertEqual(json.load(file), found)

    def test_failures_are_part_of_the_protocol(self):
        user = ("--developer-user", "alice", "--pool", self.pool)
        for options, environment, wanted in (
                ((), {}, "notSignedIn"), (user, {"GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE": "urn:ietf:params:oauth:token-type:saml2"}, "INVALID_TOKEN_TYPE"),
                ((*user, "--audience", "//other"), {}, "INVALID_AUDIENCE"), (("--token-file", self.path("none")), {}, "tokenFileUnreadable"),
                (user, {"GOOGLE_EXTERNAL_ACCOUNT_REVOKE": "1"}, "REVOKE_NOT_SUPPORTED"),
                (("--developer-user", "alice"), {}, "invalidUsage"),
                (user, {"GOOGLE_EXTERNAL_ACCOUNT_OUTPUT_FILE": self.path("none", "file")}, "fileNotWritten")):
            with self.subTest(wanted):
                code, found = self.google(*options, **environment)
                self.assertEqual((code, found["version"], found["success"], found["code"]), (1, 1, False, wanted))
                self.assertIsInstance(found["message"], str)

    def test_google_auth_exchanges_the_token(self):
        site, sent = Website(), []
        self.addCleanup(site.close)

        def answer(request):
            sent.append(fields(request))
            return page({"access_token": "ya29.test", "issued_token_type": "urn:ietf:params:oauth:token-type:access_token", "token_type": "Bearer",
                         "expires_in": 3600})
        site.pages["/v1/token"] = answer
        account = self.sign_in()
        done = self.mintmark("configure", "gcp", "--audience", AUDIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        file = json.loads(done.stdout)
        self.assertEqual((file["type"], file["audience"], file["token_url"]), ("external_account", AUDIENCE, "https://sts.googleapis.com/v1/token"))
        # Only the address of Google's token service is replaced.
        file["token_url"] = site.origin + "/v1/token"
        with open(self.path("gcp.json"), "w", encoding="utf-8") as stream:
            json.dump(file, stream)

        def use():
            return subprocess.run([sys.executable, "-c", GOOGLE, self.path("gcp.json")], capture_output=True, timeout=120, env=clean_environment(
                self.folder, {**self.needed, "GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES": "1", "NO_PROXY": "*"}))
        done = use()
        self.assertEqual((done.returncode, done.stdout), (0, b"ya29.test\n"), done.stderr)
        claims = jwt.decode(sent[0]["subject_token"], options={"verify_signature": False})
        self.assertEqual((sent[0]["audience"], sent[0]["subject_token_type"], claims["sub"]), (AUDIENCE, ID_TOKEN, account))
        self.mintmark("logout")
        done = use()
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"mintmark login", done.stderr)

    def test_configuration_has_no_spaces_in_the_command(self):
        self.failed(self.mintmark("configure", "gcp"), 64, "--audience")
        self.failed(self.mintmark("configure", "gcp", "--audience", AUDIENCE, "--token-file", self.path("two words")), 64, "space")
        self.failed(self.mintmark("configure", "gcp", "--audience", AUDIENCE, "--write"), 64, "--write")
        done = self.mintmark("configure", "gcp", "--audience", AUDIENCE, "--service-account", "robot@p.iam.gserviceaccount.com")
        self.assertIn("robot%40p.iam.gserviceaccount.com:generateAccessToken", json.loads(done.stdout)["service_account_impersonation_url"])


class Azure(ToolCredentials):
    def read(self, path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def wait_for(self, check, seconds=30):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if check():
                return
            time.sleep(0.05)
        self.fail("the expected state was not reached")

    def test_file_has_the_token_only(self):
        path = self.path("azure")
        done = self.mintmark("azure-token-file", path, "--developer-user", "alice", "--pool", self.pool)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        self.assertRegex(self.read(path), r"\A[\w-]+\.[\w-]+\.[\w-]+\Z")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        self.failed(self.mintmark("azure-token-file", path), 3, "mintmark login")
        self.failed(self.mintmark("azure-token-file", self.path("none", "file"), "--developer-user", "alice", "--pool", self.pool), 74, "fileNotWritten")
        self.assertRegex(self.read(path), r"\A[\w-]+\.[\w-]+\.[\w-]+\Z")

    def test_watched_file_is_renewed_and_survives_failures(self):
        hub, path = github(), self.path("azure")
        now = int(time.time())
        first, second, third = (hub.token(exp=now + 63 + n, jti=str(n)) for n in range(3))
        source = self.token_file(first)
        process, _ = self.started("azure-token-file", path, "--watch", "--token-file", source, lines=0)
        self.wait_for(lambda: os.path.exists(path) and self.read(path) == first)
        self.token_file(second)
        self.wait_for(lambda: self.read(path) == second)
        os.remove(source)
        self.assertIn("tokenFileUnreadable", process.stderr.readline())
        self.assertEqual(self.read(path), second)
        self.token_file(third)
        self.wait_for(lambda: self.read(path) == third)
        process.send_signal(signal.SIGTERM)
        self.assertEqual((process.wait(timeout=30), process.stderr.read()), (0, ""))
        self.assertEqual([name for name in os.listdir(self.folder) if name.endswith(".part")], [])

    def test_azure_identity_sends_the_token(self):
        authority = Authority(self.folder)
        site, sent = Website(authority.context("127.0.0.1")), []
        self.addCleanup(site.close)
        tenant = "/11111111-2222-3333-4444-555555555555"

        def answer(request):
            sent.append(fields(request))
            return page({"access_token": "azure-access-token", "token_type": "Bearer", "expires_in": 3600})
        site.pages[tenant + "/oauth2/v2.0/token"] = answer
        path = self.path("azure")
        self.mintmark("azure-token-file", path, "--developer-user", "alice", "--pool", self.pool)
        done = subprocess.run(
            [sys.executable, "-c", AZURE, path, f"127.0.0.1:{site.port}", authority.path], capture_output=True, timeout=120,
            env=clean_environment(self.folder, {"NO_PROXY": "*"}))
        self.assertEqual((done.returncode, done.stdout), (0, b"azure-access-token\n"), done.stderr)
        self.assertEqual((sent[0]["client_assertion"], sent[0]["grant_type"]), (self.read(path), "client_credentials"))
        self.assertTrue(sent[0]["client_assertion_type"].endswith("jwt-bearer"))
