"""`mintmark run`: a testing store and a provider for the duration of a command."""

import contextlib
import json
import os
import pty
import resource
import signal
import stat
import subprocess
import sys
import urllib.request

import jwt
import postgres
from endtoend import EndToEnd, make_pool
from sidecar import Sidecar, binary, clean_environment, run

SHOW = "import json, os; print(json.dumps({n: v for n, v in os.environ.items()}))"


class Running(EndToEnd):
    stores = ("sqlite",)

    def mintmark(self, *arguments, **environment):
        return run("run", *arguments, home=self.folder, environment=environment)

    def started(self, *arguments, **more):
        """Starts `mintmark run`, and returns it when the command has written its first line, with that line."""
        process = subprocess.Popen(
            [binary(), "run", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment(self.folder), text=True, **more)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, process.stdout.readline().strip()

    def variables(self, *options, **environment):
        done = self.mintmark(*options, "--", sys.executable, "-c", SHOW, **environment)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return json.loads(done.stdout)

    def nothing_is_left(self):
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("mintmark-run")], [])

    def test_command_finds_store(self):
        found = self.variables()
        self.assertTrue(found["MINTMARK_STORE"].startswith(self.folder))
        self.assertEqual((found["MINTMARK_TESTING"], found["MINTMARK_BINARY"]), ("true", os.path.realpath(binary())))
        self.assertEqual(found["MINTMARK_MASTER_KEY_FILE"], found["MINTMARK_STORE"] + ".key")
        for name in ("OIDC_ISSUER", "AWS_ENDPOINT_URL"):
            self.assertNotIn(name, found)
        self.nothing_is_left()

    def test_commands_inside_act_on_the_store(self):
        script = f"{binary()} call tenant.create '{{\"tenantId\": \"shop\"}}' && {binary()} call test.clock && {binary()} call tenant.list"
        done = self.mintmark("--", "sh", "-c", script, MINTMARK_MASTER_KEY=postgres.MASTER_KEY, MINTMARK_APP="other")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn("shop", done.stdout.decode().splitlines()[-1])

    def test_client_inside_uses_store_without_arguments(self):
        program = "import mintmark\nwith mintmark.Mintmark() as m: print(m.tenant.create(tenant_id='shop').tenant_id)"
        path = os.path.join(os.path.dirname(__file__), "..", "..", "clients", "python", "src")
        done = self.mintmark("--", sys.executable, "-c", program, PYTHONPATH=path)
        self.assertEqual(done.stdout, b"shop\n", done.stderr)

    def test_streams_and_exit_code_are_those_of_the_command(self):
        done = run("run", "--", "sh", "-c", "cat; echo told >&2; exit 7", input=b"given", home=self.folder)
        self.assertEqual((done.stdout, done.stderr, done.returncode), (b"given", b"told\n", 7))
        self.assertEqual(self.mintmark("--", "sh", "-c", "kill -9 $$").returncode, 128 + 9)
        self.assertEqual(self.mintmark("--", "echo", "--color", "--idp", "--", "-x").stdout, b"--color --idp -- -x\n")
        self.nothing_is_left()

    def test_command_that_cannot_be_started(self):
        done = self.mintmark("--", "no-such-command")
        self.assertEqual((done.returncode, done.stdout), (127, b""))
        self.assertIn(b"no-such-command cannot be started", done.stderr)
        with open(self.path("plain"), "w", encoding="ascii") as file:
            file.write("text")
        self.assertEqual(self.mintmark("--", self.path("plain")).returncode, 126)
        self.nothing_is_left()

    def test_signals_are_forwarded_and_folder_is_removed(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            process, store = self.started("--", sys.executable, "-uc", (
                "import os, signal, sys, time\n"
                f"signal.signal({int(number)}, lambda *_: sys.exit(40))\n"
                "print(os.environ['MINTMARK_STORE'])\n"
                "time.sleep(60)"))
            self.assertTrue(os.path.exists(store))
            process.send_signal(number)
            self.assertEqual(process.wait(60), 40)
            self.nothing_is_left()
            # Without a handler the signal ends the command.
            process, _ = self.started("--", "sh", "-c", "echo ready; exec sleep 60")
            process.send_signal(number)
            self.assertEqual(process.wait(60), 128 + number)
            self.nothing_is_left()

    def test_command_gets_interrupt_of_terminal_once(self):
        leader, follower = pty.openpty()
        process = subprocess.Popen(
            [binary(), "run", "--", sys.executable, "-uc", (
                "import signal, sys, time\n"
                "signal.signal(signal.SIGINT, lambda *_: print('interrupted'))\n"
                "signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n"
                "print('ready')\n"
                "while True: time.sleep(0.01)\n")],
            stdin=follower, stdout=follower, stderr=follower, env=clean_environment(self.folder), start_new_session=True,
            preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0))
        os.close(follower)
        text = b""
        while b"ready" not in text:
            text += os.read(leader, 1024)
        os.write(leader, b"\x03")
        while b"interrupted" not in text:
            text += os.read(leader, 1024)
        # Signals are forwarded in their order, so an interrupt that is forwarded, too, arrives before the end.
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        with contextlib.suppress(OSError):   # The terminal is closed.
            while True:
                text += os.read(leader, 1024)
        os.close(leader)
        self.assertEqual(text.count(b"interrupted"), 1, text)
        self.nothing_is_left()

    def test_provider_signs_tokens_that_verify(self):
        found = self.variables("--idp", "shop", "staff")
        issuers = found["MINTMARK_IDP_ISSUERS"].split(",")
        self.assertEqual([each.rsplit("/", 1)[1] for each in issuers], ["shop", "staff"])
        self.assertEqual(found["OIDC_ISSUER"], issuers[0])
        self.assertEqual(found["OIDC_DISCOVERY_URL"], issuers[0] + "/.well-known/openid-configuration")
        self.assertTrue(found["OIDC_CLIENT_ID"] and found["OIDC_CLIENT_SECRET"])
        program = (
            "import json, os, urllib.parse, urllib.request\n"
            "get = lambda url: json.load(urllib.request.urlopen(url))\n"
            "found = get(os.environ['OIDC_DISCOVERY_URL'])\n"
            "body = urllib.parse.urlencode({'grant_type': 'client_credentials', 'client_id': os.environ['OIDC_CLIENT_ID'],"
            " 'client_secret': os.environ['OIDC_CLIENT_SECRET']}).encode()\n"
            "token = json.load(urllib.request.urlopen(found['token_endpoint'], body))['access_token']\n"
            "print(json.dumps([found['issuer'], os.environ['OIDC_ISSUER'], token, get(os.environ['JWKS_URL'])]))")
        done = self.mintmark("--idp", "--", sys.executable, "-c", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        issuer, named, token, keys = json.loads(done.stdout)
        self.assertEqual((issuer, named.rsplit("/", 1)[1]), (named, "default"))
        key = jwt.PyJWKSet.from_dict(keys)[jwt.get_unverified_header(token)["kid"]]
        self.assertEqual(jwt.decode(token, key, algorithms=["ES256"], options={"verify_aud": False})["iss"], issuer)

    def test_endpoint_for_aws(self):
        program = (
            "import os, urllib.request\n"
            "request = urllib.request.Request(os.environ['AWS_ENDPOINT_URL'], b'{\"IdentityPoolName\": \"shop\", \"AllowUnauthenticatedIdentities\": true}', {\n"
            "    'X-Amz-Target': 'AWSCognitoIdentityService.CreateIdentityPool', 'Content-Type': 'application/x-amz-json-1.1',\n"
            "    'X-Amz-Date': '20261121T120000Z', 'Authorization': 'AWS4-HMAC-SHA256 Credential=any/20261121/eu-west-1/cognito-identity/aws4_request, SignedHeaders=host;x-amz-date, Signature=' + '0' * 64})\n"
            "print(urllib.request.urlopen(request).read().decode(), os.environ['AWS_ACCESS_KEY_ID'], os.environ['AWS_SECRET_ACCESS_KEY'], os.environ['AWS_REGION'])")
        done = self.mintmark("--aws", "--", sys.executable, "-c", program)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b'"IdentityPoolId"', done.stdout)

    def test_seed_repeats_ids_keys_and_codes(self):
        script = (
            f"{binary()} call pool.create '{{\"name\": \"shop\"}}' | sed 's/\"createdAt.*//'; {binary()} call signUp.start '{{\"username\": \"a@example.com\"}}' > /dev/null; "
            f"{binary()} call test.outbox | grep -o '\"code\":\"[0-9]*\"'; {binary()} call token.jwks")
        runs = [self.mintmark("--seed", *text, "--", "sh", "-c", script).stdout for text in ((), (), ("other",))]
        self.assertIn(b'"code"', runs[0])
        self.assertEqual(runs[0], runs[1])
        self.assertNotEqual(runs[0], runs[2])

    def test_apply_and_accounts_fill_the_store(self):
        with open(self.path("config.json"), "w", encoding="utf-8") as file:
            json.dump({"tenants": [{"tenantId": "shop"}], "pools": [{"name": "shop"}]}, file)
        with open(self.path("people.jsonl"), "w", encoding="utf-8") as file:
            file.write('{"email": "alice@example.com", "emailVerified": true}\n')
        script = f"{binary()} call tenant.list; {binary()} call account.list"
        done = subprocess.run(
            [binary(), "run", "--apply", "config.json", "--accounts", "people.jsonl", "--", "sh", "-c", script], capture_output=True,
            cwd=self.folder, env=clean_environment(self.folder), timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn(b"shop", done.stdout)
        self.assertIn(b"alice@example.com", done.stdout)

    def test_keep_prints_folder(self):
        done = self.mintmark("--keep", "--", "true")
        folder = done.stderr.decode().strip()
        self.assertTrue(os.path.exists(os.path.join(folder, "store.db")))
        self.assertEqual(stat.S_IMODE(os.stat(folder).st_mode), 0o700)

    def test_env_file_has_the_variables(self):
        spaced = self.path("a folder")
        os.mkdir(spaced)
        file = self.path("test.env")
        with open(file, "w", encoding="ascii") as old:
            old.write("old " * 1000)
        os.chmod(file, 0o644)
        done = self.mintmark("--idp", "--env-file", file, "--", "sh", "-c", f". {file}; echo \"$MINTMARK_STORE $OIDC_ISSUER\"; env | grep ^MINTMARK_STORE", TMPDIR=spaced)
        self.assertEqual(done.returncode, 0, done.stderr)
        first, second = done.stdout.decode().splitlines()
        self.assertEqual(first.rsplit(" ", 1)[0], second.split("=", 1)[1])
        self.assertEqual(stat.S_IMODE(os.stat(file).st_mode), 0o600)

    def test_given_store_is_kept(self):
        store = self.path("given.db")
        sidecar = Sidecar(store=store, testing=True)
        pool = make_pool(sidecar)["poolId"]
        sidecar.close()
        done = self.mintmark("--store", store, "--", binary(), "call", "pool.list")
        self.assertIn(pool, done.stdout.decode())
        self.assertTrue(os.path.exists(store))

    def test_start_takes_little_processor_time(self):
        """0.3 s with a release build; these tests also run with a debug build."""
        def used():
            children = resource.getrusage(resource.RUSAGE_CHILDREN)
            return children.ru_utime + children.ru_stime
        before = used()
        self.assertEqual(self.mintmark("--idp", "--", "true").returncode, 0)
        self.assertLess(used() - before, 3)

    # MARK: Bad input

    def refused_with(self, status, text, done):
        self.assertEqual((done.returncode, done.stdout), (status, b""), done.stderr)
        self.assertRegex(done.stderr.decode(), text)
        self.nothing_is_left()

    def test_missing_command_is_usage_error(self):
        self.refused_with(64, "(?s)No command is given.*mintmark run --help", self.mintmark())
        self.refused_with(64, "No command is given", self.mintmark("--idp", "--"))
        self.refused_with(64, "comes after --", self.mintmark("pytest", "--", "true"))
        self.refused_with(64, ":memory:", self.mintmark("--store", ":memory:", "--", "true"))

    def test_bad_files_do_not_start_the_command(self):
        with open(self.path("bad.json"), "w", encoding="utf-8") as file:
            json.dump({"pools": [{"name": ""}]}, file)
        with open(self.path("bad.jsonl"), "w", encoding="utf-8") as file:
            file.write('{"email": "alice@example.com"}\n{"email": "no address"}\n')
        self.refused_with(1, "/pools/0/name", self.mintmark("--apply", self.path("bad.json"), "--", "echo", "started"))
        self.refused_with(64, "cannot be read", self.mintmark("--apply", self.path("nothing.json"), "--", "echo", "started"))
        self.refused_with(1, r"bad\.jsonl:2", self.mintmark("--accounts", self.path("bad.jsonl"), "--", "echo", "started"))
        self.refused_with(1, "nothing.jsonl", self.mintmark("--accounts", self.path("nothing.jsonl"), "--", "echo", "started"))
        self.refused_with(1, "--idp", self.mintmark("--idp", "no/name", "--", "echo", "started"))
        self.refused_with(74, "--env-file", self.mintmark("--env-file", self.path("no", "file"), "--", "echo", "started"))

    def test_run_refuses_store_without_testing(self):
        store = self.path("real.db")
        sidecar = Sidecar(store=store)
        make_pool(sidecar)
        sidecar.close()
        self.refused_with(2, "testingStoreMismatch", self.mintmark("--store", store, "--", "echo", "started"))
