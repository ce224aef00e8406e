"""Credentials where AWS SDKs look for them: `mintmark exec`, `aws-credentials`, `container-credentials` and `configure aws`, with the unmodified boto3
and AWS CLI."""

import concurrent.futures
import http.client
import json
import os
import signal
import stat
import subprocess
import sys
import time
import urllib.parse

import stores
from endtoend import EndToEnd, make_pool, mint, only, pool_with_role
from sidecar import binary, clean_environment, run
from websites import closed_port, page, Website
from workloads import github, trusting

PASSWORD = "correct horse 9 Battery"
SHOW = "import json, os; print(json.dumps({n: v for n, v in os.environ.items()}))"
# A program that uses an AWS SDK without knowing where its credentials come from.
BOTO = """
import json, boto3
found = boto3.Session().get_credentials()
now = found.get_frozen_credentials()
print(json.dumps({"method": found.method, "key": now.access_key, "secret": now.secret_key, "token": now.token}))
"""
AWS = {name: None for name in os.environ if name.startswith("AWS_")}


class ToolCredentials(EndToEnd):
    stores = ("sqlite",)

    def setUp(self):
        super().setUp()
        self.store = self.path("store.db")
        self.location, self.needed = stores.current.place(self.store)
        self.sidecar = self.spawn(store=self.store)
        self.pool, self.role = pool_with_role(self.sidecar)

    @property
    def alice(self):
        return ("--role", "reader", "--developer-user", "alice", "--pool", self.pool)

    def environment(self, more):
        return {**AWS, **self.needed, "AWS_EC2_METADATA_DISABLED": "true", **more}

    def mintmark(self, command, *arguments, input=b"", cwd=None, **environment):
        return run(command, "--store", self.location, *arguments, home=self.folder, input=input, cwd=cwd or self.folder,
                   environment=self.environment(environment))

    def started(self, command, *arguments, lines=1, stdin=None, **environment):
        """Starts a command. Returns the process and its first lines."""
        process = subprocess.Popen(
            [binary(), command, "--store", self.location, *arguments], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=clean_environment(self.folder, self.environment(environment)), cwd=self.folder)
        for close in (process.stdout.close, process.stderr.close, process.wait, process.kill):
            self.addCleanup(close)
        return process, [process.stdout.readline().strip() for _ in range(lines)]

    def printed(self, *arguments, **environment):
        done = self.mintmark("aws-credentials", *arguments, **environment)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return json.loads(done.stdout)

    def failed(self, done, code, *words):
        """Checks that a command has failed with one line of error and without output."""
        self.assertEqual((done.returncode, done.stdout), (code, b""), done.stderr)
        if code != 64:
            self.assertEqual(done.stderr.count(b"\n"), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr.decode())

    def verified(self, token):
        return self.sidecar.call("credentials.verify", {"sessionToken": token})

    def token_file(self, text, name="token"):
        path = self.path(name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".new", path)
        return path

    def sign_in(self, *tenant):
        """Creates a trusted tenant, a role for its users, and a session of `mintmark login`."""
        issuer = self.sidecar.call("issuer.put", {"tenantId": "default", "audiences": ["default"]})
        account = self.sidecar.call("account.create", {"username": "alice@example.com", "password": PASSWORD, "emailVerified": True})["accountId"]
        self.sidecar.call("role.put", {"name": "mine", "trustPolicy": trusting(issuer["arn"], StringEquals={f"{issuer['name']}:sub": account})})
        done = self.mintmark("login", "--email", "alice@example.com", input=PASSWORD.encode() + b"\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        return account


class Exec(ToolCredentials):
    def variables(self, *options, **environment):
        done = self.mintmark("exec", *self.alice, *options, "--", sys.executable, "-c", SHOW, **environment)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return json.loads(done.stdout)

    def test_command_gets_credentials_of_role(self):
        found = self.variables(AWS_PROFILE="other", AWS_ACCESS_KEY_ID="old", AWS_WEB_IDENTITY_TOKEN_FILE="old", AWS_SDK_LOAD_CONFIG="1", MINE="kept")
        principal = self.verified(found["AWS_SESSION_TOKEN"])["principal"]
        self.assertEqual(principal["roleArn"], self.role)
        self.assertTrue(found["AWS_ACCESS_KEY_ID"].startswith("ASIA"))
        self.assertNotEqual(found["AWS_SECRET_ACCESS_KEY"], "")
        self.assertEqual((found["AWS_REGION"], found["AWS_DEFAULT_REGION"]), ("local-1", "local-1"))
        expires = time.strptime(found["AWS_CREDENTIAL_EXPIRATION"], "%Y-%m-%dT%H:%M:%SZ")
        self.assertGreater(time.mktime(expires) - time.timezone, time.time() + 800)
        self.assertEqual((found["AWS_SDK_LOAD_CONFIG"], found["MINE"]), ("1", "kept"))
        for name in ("AWS_PROFILE", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI"):
            self.assertNotIn(name, found)
        self.assertEqual(self.variables(AWS_REGION="eu-west-3")["AWS_DEFAULT_REGION"], "eu-west-3")

    def test_streams_and_exit_code_are_those_of_the_command(self):
        done = self.mintmark("exec", *self.alice, "--", "sh", "-c", "cat; echo told >&2; exit 7", input=b"given")
        self.assertEqual((done.stdout, done.stderr, done.returncode), (b"given", b"told\n", 7))
        for words, code in ((("sh", "-c", "kill -9 $$"), 137), (("/no/such/command",), 127), ((self.folder,), 126)):
            self.assertEqual(self.mintmark("exec", *self.alice, "--", *words).returncode, code, words)
        self.assertEqual(self.mintmark("exec", *self.alice, "--", "echo", "--role", "--", "-x").stdout, b"--role -- -x\n")

    def test_command_is_not_started_without_credentials(self):
        mark = self.path("mark")
        for options, code, word in (
                (("--role", "nobody", "--developer-user", "alice", "--pool", self.pool), 1, "assumeRoleDenied"),
                (("--role", "reader"), 3, "mintmark login --store"),
                (("--role", "reader", "--token-file", self.path("none")), 1, "tokenFileUnreadable"),
                (("--role", "reader", "--token-command", "echo secret >&2; exit 3"), 1, "exit code 3"),
                ((), 64, "--role"), (("--role", "reader", "--identity", "x", "--developer-user", "y"), 64, "exclude each other"),
                (("--role", "reader", "--developer-user", "y"), 64, "--pool"),
                ((*self.alice, "--duration", "60"), 64, "900"), ((*self.alice, "--session-name", "a b"), 64, "--session-name")):
            with self.subTest(options):
                done = self.mintmark("exec", *options, "--", "touch", mark)
                self.failed(done, code, word)
                self.assertNotIn(b"secret", done.stderr)
        self.failed(self.mintmark("exec", *self.alice), 64, "command")
        self.failed(run("exec", "--store", self.path("none", "store.db"), *self.alice, "--", "touch", mark, home=self.folder), 2)
        self.assertFalse(os.path.exists(mark))

    def test_signals_are_passed_on(self):
        program = (
            "import os, signal, time\n"   # A handler must not use print: the signal can arrive within print.
            "for n in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH, signal.SIGHUP): signal.signal(n, lambda n, _: os.write(1, b'%d\\n' % n))\n"
            "print('ready', flush=True)\nwhile True: time.sleep(1)")
        process, lines = self.started("exec", *self.alice, "--", sys.executable, "-c", program)
        self.assertEqual(lines, ["ready"])
        for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGWINCH, signal.SIGHUP):
            process.send_signal(number)
            self.assertEqual(process.stdout.readline().strip(), str(int(number)))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=30), 128 + signal.SIGTERM)

    def test_refresh_serves_boto3(self):
        """boto3 finds the endpoint although a profile exists that would take precedence."""
        os.makedirs(self.path(".aws"))
        with open(self.path(".aws", "credentials"), "w", encoding="utf-8") as file:
            file.write("[default]\naws_access_key_id = AKIAOTHER\naws_secret_access_key = other\n")
        done = self.mintmark("exec", *self.alice, "--refresh", "--", sys.executable, "-c", BOTO)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual((found["method"], self.verified(found["token"])["principal"]["roleArn"]), ("container-role", self.role))
        variables = self.variables("--refresh")
        self.assertNotIn("AWS_SESSION_TOKEN", variables)
        self.assertFalse(os.path.exists(variables["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"]))
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("mintmark-credentials")], [])


class Process(ToolCredentials):
    def test_output_is_that_of_a_credential_process(self):
        found = self.printed(*self.alice, "--duration", "900", "--session-name", "laptop")
        self.assertEqual(set(found), {"Version", "AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration", "AccountId"})
        self.assertEqual((found["Version"], found["AccountId"]), (1, "000000000000"))
        self.assertRegex(found["Expiration"], r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z")
        self.assertEqual(self.verified(found["SessionToken"])["principal"]["sessionName"], "laptop")

    def test_credentials_of_a_pool(self):
        found = self.printed("--pool", self.pool, "--developer-user", "alice")
        identity = mint(self.sidecar, self.pool)["identityId"]
        self.assertEqual(self.verified(found["SessionToken"])["principal"]["identityId"], identity)
        by_id = self.printed("--pool", self.pool, "--identity", identity)
        self.assertEqual(self.verified(by_id["SessionToken"])["principal"]["identityId"], identity)
        self.failed(self.mintmark("aws-credentials", "--pool", self.pool, "--developer-user", "alice", "--duration", "900"), 64, "--role")

    def test_token_of_login_session(self):
        account = self.sign_in()
        found = self.printed("--role", "mine")
        self.assertEqual(self.verified(found["SessionToken"])["federated"]["subject"], account)
        self.assertEqual(self.printed("--role", "mine", "--tenant", "default"), found)
        self.failed(self.mintmark("aws-credentials", "--role", "mine", "--tenant", "staff"), 3, "staff")
        pool = make_pool(self.sidecar, name="staff", providers=[{"tenantId": "default"}])["poolId"]
        role = self.sidecar.call("role.put", {"name": "staff", "poolId": pool})["roleArn"]
        self.sidecar.call("pool.setRoles", {"poolId": pool, "roles": {"authenticated": role}})
        self.assertEqual(self.verified(self.printed("--pool", pool)["SessionToken"])["principal"]["roleArn"], role)
        self.mintmark("logout")
        self.failed(self.mintmark("aws-credentials", "--role", "mine"), 3, "mintmark login")

    @only("sqlite", "postgres")
    def test_parallel_calls_share_one_exchange(self):
        token = self.token_file(mint(self.sidecar, self.pool)["token"])
        command = f"echo used >> {self.path('uses')}; sleep 0.5; cat {token}"
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            found = list(threads.map(lambda _: self.printed("--role", "reader", "--token-command", command), range(8)))
        self.assertEqual(len({each["AccessKeyId"] for each in found}), 1)
        with open(self.path("uses"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "used\n")
        for each in found:
            self.assertEqual(each, found[0])
        stored = " ".join(value for name, value in self.rows("SELECT name, value FROM store_fact") if name.startswith("local.credentials/"))
        self.assertNotEqual(stored, "")
        for secret in ("SecretAccessKey", "SessionToken", "AccessKeyId"):
            self.assertNotIn(found[0][secret], stored)

    def test_next_process_takes_over_from_one_that_was_killed(self):
        """It does not wait for the end of the lease of the killed process."""
        token = self.token_file(mint(self.sidecar, self.pool)["token"])
        os.mkfifo(self.path("hold"))
        command = f"test -e {self.path('once')} || {{ touch {self.path('once')}; read -r _ <{self.path('hold')}; }}; cat {token}"
        process = subprocess.Popen(
            [binary(), "aws-credentials", "--store", self.location, "--role", "reader", "--token-command", command],
            env=clean_environment(self.folder, self.environment({})))
        deadline = time.monotonic() + 60
        while not os.path.exists(self.path("once")) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.kill()
        process.wait()
        entry, = (json.loads(value) for name, value in self.rows("SELECT name, value FROM store_fact") if name.startswith("local.credentials/"))
        hold = os.open(self.path("hold"), os.O_RDWR)
        self.addCleanup(os.close, hold)
        os.write(hold, b"\n")   # The command of the killed process ends.
        self.printed("--role", "reader", "--token-command", command)
        self.assertLess(time.time(), entry["lease"]["until"])

    def test_cache_distinguishes_users_and_forgets_revoked_credentials(self):
        first = self.printed(*self.alice)
        self.assertEqual(self.printed(*self.alice), first)
        other = self.printed("--role", "reader", "--developer-user", "bob", "--pool", self.pool)
        self.assertNotEqual(other["AccessKeyId"], first["AccessKeyId"])
        self.assertNotEqual(self.printed(*self.alice, "--session-name", "other")["AccessKeyId"], first["AccessKeyId"])
        self.sidecar.call("credentials.revoke", {"identityId": mint(self.sidecar, self.pool)["identityId"]})
        # Credentials of the second of the revocation are revoked, too.
        revoked = self.sidecar.call("system.ping")["now"]
        while self.sidecar.call("system.ping")["now"] == revoked:
            time.sleep(0.02)
        again = self.printed(*self.alice)
        self.assertNotEqual(again["AccessKeyId"], first["AccessKeyId"])
        self.verified(again["SessionToken"])

    def test_token_file_is_read_each_time(self):
        hub = github()
        hub.put(self.sidecar)
        self.sidecar.call("role.put", {"name": "deploy", "trustPolicy": hub.policy})
        path = self.token_file(hub.token() + "\n")
        found = self.printed("--role", "deploy", "--token-file", path)
        self.assertEqual(self.verified(found["SessionToken"])["federated"]["subject"], hub.claims["sub"])
        self.token_file(hub.token(sub="repo:octo-org/octo-repo:pull_request"))
        self.failed(self.mintmark("aws-credentials", "--role", "deploy", "--token-file", path), 1, "assumeRoleDenied")
        self.token_file("no token")
        self.failed(self.mintmark("aws-credentials", "--role", "deploy", "--token-file", path), 1, "no JSON Web Token")

    def test_profile_serves_boto3_and_aws_cli(self):
        aws = os.path.join(os.path.dirname(sys.executable), "aws")
        for _ in range(2):
            done = self.mintmark("configure", "aws", "--profile", "deploy", "--write", *self.alice)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
        config = self.path(".aws", "config")
        self.assertEqual(stat.S_IMODE(os.stat(config).st_mode), 0o600)
        with open(config, encoding="utf-8") as file:
            text = file.read()
        self.assertEqual(text, self.mintmark("configure", "aws", "--profile", "deploy", *self.alice).stdout.decode())
        self.failed(self.mintmark("configure", "aws", "--profile", "deploy", "--write", "--pool", self.pool), 64, "another profile")
        done = subprocess.run([sys.executable, "-c", BOTO], capture_output=True, timeout=120, env=clean_environment(
            self.folder, self.environment({"AWS_PROFILE": "deploy"})))
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual((found["method"], self.verified(found["token"])["principal"]["roleArn"]), ("custom-process", self.role))
        asked = []

        def answer(request):
            asked.append(request.headers["X-Amz-Security-Token"])
            return 200, {"Content-Type": "text/xml"}, (
                b'<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Arn>a</Arn><UserId>u</UserId>'
                b"<Account>1</Account></GetCallerIdentityResult></GetCallerIdentityResponse>")
        site = Website()
        self.addCleanup(site.close)
        site.pages["/"] = answer
        done = subprocess.run(
            [sys.executable, aws, "--profile", "deploy", "--region", "eu-west-1", "--endpoint-url", site.origin, "sts", "get-caller-identity"],
            capture_output=True, timeout=120, env=clean_environment(self.folder, self.environment({"NO_PROXY": "*"})))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(asked, [found["token"]])

    def test_profile_quotes_paths(self):
        os.makedirs(self.path("two words"))
        token = self.path("two words", "it's a token")
        os.replace(self.token_file(mint(self.sidecar, self.pool)["token"]), token)
        self.mintmark("configure", "aws", "--write", "--role", "reader", "--token-file", os.path.join("two words", "it's a token"))
        done = subprocess.run([sys.executable, "-c", BOTO], capture_output=True, timeout=120, env=clean_environment(
            self.folder, self.environment({"AWS_PROFILE": "mintmark"})))
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("a]b", "a b", "a\nb"):
            self.failed(self.mintmark("configure", "aws", "--profile", name, *self.alice), 64, "--profile")


class SecurityTokenService(ToolCredentials):
    """With --endpoint, another AWS STS issues the credentials."""

    def setUp(self):
        super().setUp()
        self.aws = self.spawn("--account", "123456789012", testing=True)
        self.endpoint = self.aws.call("test.http")["baseUrl"]
        self.hub = github()
        self.hub.put(self.aws)
        policy = json.loads(json.dumps(self.hub.policy).replace("000000000000", "123456789012"))
        self.arn = self.aws.call("role.put", {"name": "deploy", "trustPolicy": policy})["roleArn"]
        self.token = self.token_file(self.hub.token())

    def options(self, **more):
        given = {"role": self.arn, "endpoint": self.endpoint, "token-file": self.token, **more}
        return [word for name, value in given.items() for word in (f"--{name}", value)]

    def test_token_is_exchanged_by_endpoint(self):
        found = self.printed(*self.options(**{"session-name": "job", "duration": "900"}))
        verified = self.aws.call("credentials.verify", {"sessionToken": found["SessionToken"]})
        self.assertEqual((verified["principal"]["roleArn"], found["AccountId"]), (self.arn, "123456789012"))
        self.assertEqual(self.printed(*self.options(**{"session-name": "job", "duration": "900"})), found)

    def test_errors_of_sts_are_reported_without_the_token(self):
        secret = self.hub.token(sub="repo:octo-org/octo-repo:pull_request")
        done = self.mintmark("aws-credentials", *self.options(**{"token-file": self.token_file(secret)}))
        self.failed(done, 1, "AccessDenied")
        self.assertNotIn(secret.split(".")[2], done.stderr.decode())
        self.token_file(self.hub.token(exp=int(time.time()) - 400, iat=int(time.time()) - 900))
        self.failed(self.mintmark("aws-credentials", *self.options()), 1, "ExpiredTokenException")

    def test_endpoint_is_checked(self):
        for endpoint in ("http://sts.example.com", "sts.amazonaws.com", "https://user@sts.amazonaws.com", "https://sts.amazonaws.com/?a=b", "ftp://127.0.0.1"):
            self.failed(self.mintmark("aws-credentials", *self.options(endpoint=endpoint)), 64, "--endpoint")
        self.failed(self.mintmark("aws-credentials", *self.options(role="deploy")), 64, "ARN")
        self.failed(self.mintmark("aws-credentials", *self.options(endpoint=f"http://127.0.0.1:{closed_port()}")), 1, "stsUnavailable")

    def test_temporary_errors_are_tried_again(self):
        site, answers = Website(), []
        self.addCleanup(site.close)
        good = ("<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIA1</AccessKeyId>"
                "<SecretAccessKey>a&lt;b&amp;</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2099-01-02T03:04:05.678Z</Expiration>"
                "</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>")
        bad = "<ErrorResponse><Error><Code>IDPCommunicationError</Code><Message>The issuer\n is down</Message></Error></ErrorResponse>"

        def answer(request):
            body = request.rfile.read(int(request.headers["Content-Length"])).decode()
            answers.append(urllib.parse.parse_qs(body))
            return (200, {}, good.encode()) if len(answers) % 3 == 0 else (400, {}, bad.encode())
        site.pages["/"] = answer
        found = self.printed(*self.options(endpoint=site.origin))
        self.assertEqual((found["SecretAccessKey"], found["Expiration"]), ("a<b&", "2099-01-02T03:04:05Z"))
        self.assertEqual((len(answers), answers[0]["Action"], answers[0]["RoleArn"]), (3, ["AssumeRoleWithWebIdentity"], [self.arn]))
        self.assertNotIn("DurationSeconds", answers[0])
        site.pages["/"] = (400, {}, bad.encode())
        self.failed(self.mintmark("aws-credentials", *self.options(endpoint=site.origin, duration="900")), 1, "IDPCommunicationError", "The issuer is down")
        site.pages["/"] = page({"error": "x"}, 404)
        self.failed(self.mintmark("aws-credentials", *self.options(endpoint=site.origin, duration="901")), 1, "status 404")


class Container(ToolCredentials):
    def serve(self, *options):
        process, lines = self.started("container-credentials", *options, lines=2)
        variables = dict(line.split("=", 1) for line in lines)
        self.assertEqual(list(variables), ["AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"])
        return process, variables

    def ask(self, url, token=None, method="GET", path=None, **headers):
        where = urllib.parse.urlsplit(url)
        connection = http.client.HTTPConnection("127.0.0.1", where.port, timeout=60)
        self.addCleanup(connection.close)
        connection.request(method, path or where.path, headers={**({"Authorization": token} if token is not None else {}), **headers})
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers

    def test_only_requests_with_the_token_get_credentials(self):
        process, variables = self.serve(*self.alice)
        url, path = variables.values()
        self.assertEqual((stat.S_IMODE(os.stat(path).st_mode), stat.S_IMODE(os.stat(os.path.dirname(path)).st_mode)), (0o600, 0o700))
        with open(path, encoding="utf-8") as file:
            token = file.read()
        self.assertRegex(token, r"\A[\w-]{43}\Z")
        status, body, headers = self.ask(url, token)
        found = json.loads(body)
        self.assertEqual((status, set(found)), (200, {"AccessKeyId", "SecretAccessKey", "Token", "Expiration", "AccountId"}))
        self.assertEqual(self.verified(found["Token"])["principal"]["roleArn"], self.role)
        self.assertNotIn("access-control-allow-origin", headers)
        for wanted, arguments in (
                (403, {}), (403, {"token": token[:-1]}), (403, {"token": token + "x"}), (403, {"token": "Bearer " + token}), (403, {"token": ""}),
                (405, {"token": token, "method": "POST"}), (405, {"token": token, "method": "OPTIONS"}), (404, {"token": token, "path": "/"}),
                (404, {"token": token, "path": urllib.parse.urlsplit(url).path + "?a"}), (421, {"token": token, "Host": "evil.example"})):
            with self.subTest(arguments):
                status, body, headers = self.ask(url, **arguments)
                self.assertEqual(status, wanted)
                self.assertNotIn(found["SecretAccessKey"].encode(), body)
                self.assertNotIn("access-control-allow-origin", headers)
                if wanted != 421:
                    self.assertEqual(set(json.loads(body)), {"code", "message"})
        process.send_signal(signal.SIGTERM)
        self.assertEqual((process.wait(timeout=30), process.stderr.read()), (0, ""))
        self.assertFalse(os.path.exists(path))

    def test_boto3_uses_the_endpoint(self):
        _, variables = self.serve(*self.alice)
        done = subprocess.run([sys.executable, "-c", BOTO], capture_output=True, timeout=120, env=clean_environment(
            self.folder, self.environment({**variables, "NO_PROXY": "*"})))
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual((found["method"], self.verified(found["token"])["principal"]["roleArn"]), ("container-role", self.role))

    def test_errors_are_returned_and_the_server_continues(self):
        _, variables = self.serve("--role", "mine")
        with open(variables["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"], encoding="utf-8") as file:
            ask = variables["AWS_CONTAINER_CREDENTIALS_FULL_URI"], file.read()
        status, body, _ = self.ask(*ask)
        self.assertEqual((status, json.loads(body)["code"]), (401, "notSignedIn"))
        self.sign_in()
        self.assertEqual(self.ask(*ask)[0], 200)
        self.sidecar.call("role.delete", {"name": "mine"})
        _, others = self.serve("--role", "mine", "--session-name", "other")
        with open(others["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"], encoding="utf-8") as file:
            status, body, _ = self.ask(others["AWS_CONTAINER_CREDENTIALS_FULL_URI"], file.read())
        self.assertEqual((status, json.loads(body)["code"]), (400, "assumeRoleDenied"))

    def test_server_ends_with_its_parent(self):
        parent = subprocess.Popen(["sleep", "600"])
        self.addCleanup(parent.kill)
        process, _ = self.serve(*self.alice, "--parent", str(parent.pid))
        parent.kill()
        parent.wait()
        self.assertEqual(process.wait(timeout=30), 0)
        self.failed(self.mintmark("container-credentials", *self.alice, "--port", "70000"), 64, "--port")
