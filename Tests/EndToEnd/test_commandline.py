"""The command line, as developers and scripts use it."""

import json
import os
import pty
import re
import shutil
import subprocess

from endtoend import EndToEnd
from examples import methods
from sidecar import ROOT, binary, clean_environment, run


class CommandLine(EndToEnd):
    stores = ("sqlite",)

    def call(self, *arguments, **more):
        return run(*arguments, home=self.folder, **more)

    def test_serve_is_the_default(self):
        done = self.call("--store", ":memory:", input=b'{"jsonrpc":"2.0","id":1,"method":"system.ping"}\n')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("result", json.loads(done.stdout))
        done = self.call(input=b'{"jsonrpc":"2.0","id":1,"method":"system.ping"}\n')
        self.assertIn("result", json.loads(done.stdout))

    def test_call_prints_only_result(self):
        """Standard output contains the result and nothing more."""
        store = ("--store", self.path("store.db"))
        done = self.call("call", *store, "pool.create", '{"name": "shop", "developerProvider": "login.shop"}')
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        pool = json.loads(done.stdout)["poolId"]
        done = self.call("call", *store, "token.mintForDeveloper", json.dumps({"poolId": pool, "logins": {"login.shop": "alice"}}))
        self.assertEqual(json.loads(done.stdout)["isNewIdentity"], True)
        self.assertEqual(self.call("call", *store, "system.ping").returncode, 0)

    def test_failed_call_prints_error_and_exits_with_status(self):
        """Standard error contains a readable error, standard output is empty, and the exit status depends on the kind of error."""
        done = self.call("call", "--store", ":memory:", "pool.get", '{"poolId": "local-1:00"}')
        self.assertEqual((done.stdout, done.returncode > 0), (b"", True))
        self.assertIn(b"poolNotFound", done.stderr)
        self.assertIn(b"local-1:00", done.stderr)
        wrong = self.call("call", "--store", ":memory:", "pool.create", '{"name": 7, "x": 1, "tags": {"a": 1}}')
        self.assertGreater(wrong.returncode, 0)
        for text in (b"\n  name must be ", b"\n  x is unknown.", b"\n  /tags/a: a must be "):
            self.assertIn(text, wrong.stderr)
        broken = self.call("call", "--store", ":memory:", "pool.get", "{poolId")
        self.assertGreater(broken.returncode, 0)
        self.assertTrue(broken.stderr)

    def test_clients_have_options_of_serve(self):
        with open(os.path.join(ROOT, "schemas", "options.json"), encoding="utf-8") as file:
            options = json.load(file)["options"]
        text = b"".join(self.call(*words).stdout for words in (("serve", "--help"), ("help", "store"), ("help", "mail"))).decode()
        listed = re.findall(r"^  (?:-h, )?(--[a-z-]+)( <)?", text, re.M)
        # Clients use line framing and pipes only, core dumps serve to debug the program itself, and the console is for users in a browser.
        listed = {flag: "value" if value else "flag" for flag, value in listed if flag not in ("--framing", "--allow-core-dumps", "--quiet", "--version", "--help",
                                                                                                         "--console", "--write", "--show-secrets")}
        self.assertEqual({each["flag"]: "flag" if each["type"] == "boolean" else "value" for each in options}, listed)

    def test_misspelled_method_suggests_nearest(self):
        done = self.call("call", "--store", ":memory:", "token.mintForDevelper", "{}")
        self.assertGreater(done.returncode, 0)
        self.assertIn(b"token.mintForDeveloper", done.stderr)
        self.assertIn(b"pool.create", self.call("describe", "pool.crate").stderr)

    def test_misspelled_option_suggests_nearest_only(self):
        self.assertIn(b"Did you mean '--store'?", self.call("call", "--stoer", ":memory:", "system.ping").stderr)
        done = self.call("serve", "--nope")
        self.assertEqual(done.returncode, 64)
        self.assertIn(b"Unknown option '--nope'.", done.stderr)
        self.assertNotIn(b"Did you mean", done.stderr)

    def test_methods_lists_every_method(self):
        """Each line has a method and its summary."""
        done = self.call("methods")
        self.assertEqual(done.returncode, 0)
        for method in methods():
            if not method.get("testing"):
                self.assertRegex(done.stdout.decode(), rf"(?m)^\s*{re.escape(method['name'])}\s+\S")

    def test_describe_shows_parameters_errors_and_example(self):
        text = self.call("describe", "token.mintForDeveloper").stdout.decode()
        for word in ("poolId", "logins", "durationSeconds", "900", "86400", "unsupportedDeveloperProvider"):
            self.assertIn(word, text)

    def test_describe_explains_errors_by_type_and_number(self):
        for name in ("invalidCode", "4009"):
            text = self.call("describe", name).stdout
            self.assertIn(b"invalidCode  error 4009\n", text)
            self.assertIn(b"signUp.submitCode", text)
        answer = json.loads(self.call("describe", "--json", "4009").stdout)
        self.assertEqual((answer["type"], answer["code"]), ("invalidCode", 4009))
        self.assertIn("signUp.submitCode", answer["methods"])
        self.assertEqual(self.call("help", "4009").stdout, self.call("describe", "4009").stdout)
        self.assertIn(b"invalidCode", self.call("describe", "invalidCod").stderr)

    def test_describe_shows_variants_of_a_type(self):
        text = self.call("describe", "PasswordResetStep").stdout.decode()
        self.assertIn("PasswordResetStepCodeRequired | PasswordResetStepPasswordRequired | PasswordResetStepCompleted | PasswordResetStepRedirectRequired, by state", text)
        self.assertRegex(self.call("describe", "PasswordResetStepCodeRequired").stdout.decode(), "state  codeRequired, required")
        self.assertRegex(self.call("describe", "account.graph").stdout.decode(), "(?m)^GraphNodeSession  object$")

    def test_describe_shows_types_and_namespaces(self):
        """The types that a method refers to can be described, and are listed below the method."""
        for asked in ("SignedRequest", "credentials.verify"):
            text = self.call("describe", asked).stdout.decode()
            for word in ("bodySha256", "64 lowercase hexadecimal digits", "headers", "object of string, required"):
                self.assertIn(word, text)
        self.assertIn("RoleRule", self.call("describe", "pool.setRoles").stdout.decode())
        text = self.call("describe", "pool").stdout.decode()
        self.assertIn("pool.create", text)
        self.assertNotIn("token.mint", text)
        self.assertIn(b"SignedRequest", self.call("describe", "SignedReqest").stderr)

    def test_help_lists_commands_and_options(self):
        for arguments in (("--help",), ("serve", "--help"), ("call", "--help"), ("help",)):
            done = self.call(*arguments)
            self.assertEqual(done.returncode, 0, arguments)
            self.assertIn(b"USAGE", done.stdout.upper())
        text = self.call("--help").stdout
        for word in (b"serve", b"call", b"methods", b"describe", b"demo", b"doctor", b"backup", b"migrate", b"jwks", b"login", b"token", b"logout"):
            self.assertIn(word, text)
        text = self.call("serve", "--help").stdout + self.call("help", "store").stdout
        for flag in (b"--store", b"--apply", b"--testing", b"--master-key-file", b"--caller", b"--sequential", b"--drain", b"--max-line", b"--parent", b"--log-level"):
            self.assertIn(flag, text)

    def test_version_prints_number(self):
        for words in (["--version"], ["-v"], ["-V"], ["version"]):
            done = self.call(*words)
            self.assertEqual(done.returncode, 0)
            self.assertRegex(done.stdout, rb"^\d+\.\d+\.\d+\n$")

    def test_help_of_every_command_fits_on_screen(self):
        commands = re.findall(r"(?m)^  ([a-z-]+)", self.call("--help").stdout.decode().split("SUBCOMMANDS:")[1])
        for command in commands:
            text = self.call(command, "--help").stdout.decode()
            self.assertLessEqual(len(text.splitlines()), 46, command)
            self.assertLessEqual(max(map(len, text.splitlines())), 90, command)

    def test_unknown_options_and_commands_are_rejected(self):
        for arguments in (("--no-such-flag",), ("serve", "--stoer", "x"), ("frobnicate",), ("serve", "--drain", "soon"), ("serve", "--caller", "everyone"), ("call",)):
            with self.subTest(arguments):
                done = self.call(*arguments)
                self.assertEqual((done.returncode, done.stdout), (64, b""))
                self.assertTrue(done.stderr.strip())

    def test_options_take_precedence_over_environment(self):
        """Every option has an environment variable. The option takes precedence."""
        ping = b'{"jsonrpc":"2.0","id":1,"method":"system.info"}\n'
        done = self.call("serve", input=ping, environment={"MINTMARK_STORE": ":memory:", "MINTMARK_REGION": "moon-1", "MINTMARK_ACCOUNT": "123456789012"})
        info = json.loads(done.stdout)["result"]
        self.assertEqual((info["storeKind"], info["region"], info["account"]), ("memory", "moon-1", "123456789012"))
        done = self.call("serve", "--region", "mars-2", input=ping, environment={"MINTMARK_STORE": ":memory:", "MINTMARK_REGION": "moon-1"})
        self.assertEqual(json.loads(done.stdout)["result"]["region"], "mars-2")

    def test_app_takes_precedence_over_store_of_environment(self):
        """`--app` takes precedence over the store of the environment. Two locations at once and a missing folder are rejected."""
        environment = {"MINTMARK_STORE": self.path("elsewhere.db"), "MINTMARK_APP": "other"}
        self.assertEqual(self.call("call", "--app", "notes", "pool.list", environment=environment).returncode, 0)
        self.assertEqual(sorted(os.listdir(self.path("mintmark"))), ["notes.db", "notes.db.key"])
        self.assertFalse(os.path.exists(self.path("elsewhere.db")))
        self.assertEqual(self.call("call", "pool.list", environment=environment).returncode, 0)
        self.assertTrue(os.path.exists(self.path("elsewhere.db")))
        done = self.call("serve", "--app", "notes", "--store", self.path("third.db"))
        self.assertEqual((done.returncode, done.stdout), (64, b""))
        done = self.call("call", "--store", self.path("shpo", "shop.db"), "pool.list")
        self.assertEqual((done.returncode, os.path.exists(self.path("shpo"))), (2, False))
        self.assertIn(f"the directory {self.path('shpo')} does not exist", done.stderr.decode())

    def test_configured_names_appear_in_created_objects(self):
        done = self.call("call", "--store", ":memory:", "--region", "moon-1", "--account", "123456789012", "--issuer", "https://id.example",
                         "pool.create", '{"name": "shop"}')
        pool = json.loads(done.stdout)
        self.assertTrue(pool["poolId"].startswith("moon-1:"))
        self.assertTrue(pool["arn"].startswith("arn:aws:cognito-identity:moon-1:123456789012:identitypool/"))
        self.assertEqual(pool["issuer"], f"https://id.example/pools/{pool['poolId']}")

    def test_doctor_reports_healthy_and_damaged_store(self):
        store = ("--store", self.path("store.db"))
        self.call("call", *store, "pool.create", '{"name": "shop"}')
        done = self.call("doctor", *store)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, rb"fingerprint [0-9a-f]{12}")
        with open(self.path("store.db"), "r+b") as file:
            file.write(b"not a database at all, not any more")
        for name in ("store.db-wal", "store.db-shm"):
            if os.path.exists(self.path(name)):
                os.remove(self.path(name))
        done = self.call("doctor", *store)
        self.assertGreater(done.returncode, 0)

    def test_demo_runs_completely_and_leaves_no_files(self):
        """The demo shows real requests and responses."""
        done = self.call("demo", timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        text = done.stdout.decode()
        self.assertLess(text.index("signUp.start"), text.index("pool.create"))
        self.assertLess(text.index("pool.create"), text.index("credentials.get"))
        for word in ("signUp.start", "test.outbox", "invalidCode", "signIn.withContinuation", "pool.create", "role.put", "token.mintForDeveloper", "alice", "token.verify", "credentials.get", "credentials.verify"):
            self.assertIn(word, text)
        self.assertNotIn("\x1b", text, "colour without a terminal")
        self.assertEqual(os.listdir(self.folder), [])

    def test_completions_are_printed_for_every_shell(self):
        for shell in ("bash", "zsh", "fish"):
            done = self.call("completions", shell)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(b"serve", done.stdout)
        with open(self.path("completions.bash"), "wb") as file:
            file.write(self.call("completions", "bash").stdout)
        self.assertEqual(subprocess.run(["bash", "-n", self.path("completions.bash")]).returncode, 0)

    def test_completions_suggest_methods_and_choices(self):
        with open(self.path("completions.bash"), "wb") as file:
            file.write(self.call("completions", "BASH").stdout)
        for line, wanted in (("call token.mintForD", "token.mintForDeveloper"), ("describe pool.cr", "pool.create"), ("completions f", "fish"),
                             ("call --caller p", "public"), ("serve --migrate n", "never"), (f"serve --store {self.path('compl')}", self.path("completions.bash"))):
            words = ["mintmark", *line.split()]
            script = (f'source {self.path("completions.bash")}; COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}; COMP_LINE="{" ".join(words)}"; '
                      f'COMP_POINT=${{#COMP_LINE}}; _mintmark mintmark {words[-1]} {words[-2]} 2>/dev/null; echo "${{COMPREPLY[*]}}"')
            done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
            self.assertEqual(done.stdout.strip(), wanted, line)

    def at_a_terminal(self, *arguments, output=True, error=True, **environment):
        """Runs a command with a terminal as standard output, standard error, or both. Returns the output of each."""
        written = []
        ends = [pty.openpty() if terminal else os.pipe() for terminal in (output, error)]
        process = subprocess.Popen([binary(), *arguments], stdin=subprocess.DEVNULL, stdout=ends[0][1], stderr=ends[1][1],
                                   env={**clean_environment(self.folder), "TERM": "xterm", **environment})
        for reader, writer in ends:
            os.close(writer)
            text = b""
            try:
                while part := os.read(reader, 1 << 16):
                    text += part
            except OSError:  # The terminal has no more writers.
                pass
            os.close(reader)
            written.append(text)
        process.wait(60)
        return written

    def test_colors_are_decided_separately_for_each_stream(self):
        describe, fails = ("describe", "pool.get"), ("call", "--store", ":memory:", "pool.nope")
        def colored(*arguments, **more):
            return tuple(b"\x1b[" in text for text in self.at_a_terminal(*arguments, **more))
        self.assertEqual(colored(*describe), (True, False))
        self.assertEqual(colored(*describe, output=False), (False, False))
        self.assertEqual(colored(*fails, output=False), (False, True))
        self.assertEqual(colored(*fails, error=False), (False, False))
        # According to no-color.org, any value that is not empty disables colors.
        for value, wanted in (("1", False), ("0", False), ("", True)):
            self.assertEqual(colored(*describe, NO_COLOR=value)[0], wanted, value)
            self.assertEqual(colored(*fails, NO_COLOR=value)[1], wanted, value)
        self.assertEqual(colored(*describe, TERM="dumb"), (False, False))
        for name in ("FORCE_COLOR", "CLICOLOR_FORCE"):
            for value, wanted in (("1", True), ("0", False), ("", False)):
                self.assertEqual(colored(*describe, output=False, **{name: value})[0], wanted, (name, value))
            self.assertEqual(colored(*describe, NO_COLOR="1", **{name: "1"})[0], False)
        self.assertEqual(colored(*describe, "--color", "never"), (False, False))
        self.assertEqual(colored(*fails, "--color=never"), (False, False))
        self.assertEqual(colored("--color", "always", *describe, output=False, NO_COLOR="1", TERM="dumb"), (True, False))
        self.assertEqual(colored(*fails, "--color=always", error=False), (False, True))
        self.assertEqual(colored(*describe, output=False, MINTMARK_COLOR="always"), (True, False))
        self.assertEqual(colored(*describe, "--color", "auto", output=False, MINTMARK_COLOR="always"), (False, False))
        for arguments, environment in ((("--color", "sometimes"), {}), (("--color",), {}), ((), {"MINTMARK_COLOR": "red"})):
            done = self.call("methods", *arguments, environment=environment)
            self.assertEqual((done.returncode, done.stdout), (64, b""))
            self.assertIn(b"always", done.stderr)

    def test_violation_is_printed_once(self):
        done = self.call("call", "--store", ":memory:", "pool.create", '{"nam": 1}')
        self.assertEqual(done.returncode, 1)
        for words in (b"nam is unknown. Did you mean name?", b"name is missing"):
            self.assertEqual(done.stderr.count(words), 1, done.stderr)
        many = self.call("call", "--store", ":memory:", "pool.create", json.dumps({"name": "x", **{f"no{n}": 1 for n in range(9)}}))
        self.assertEqual([many.stderr.count(b"no%d is unknown" % n) for n in range(9)], [1] * 9, many.stderr)

    def test_describe_resolves_names_of_other_products(self):
        for asked, method in (("linkWithCredential", "account.link"), ("GetOpenIdTokenForDeveloperIdentity", "token.mintForDeveloper"),
                              ("firebase.auth().signInAnonymously()", "signIn.anonymously"), ("setcustomuserclaims", "account.setClaims")):
            text = self.call("describe", asked).stdout.decode()
            self.assertTrue(text.startswith(f"In Mintmark, {asked} is {method}."), text[:200])
            self.assertIn("Parameters", text)
        for asked, names in (("signInWithPopup", ("idp.authorize", "signIn.withCredential")),
                             ("submitCode", ("signIn.submitCode", "signUp.submitCode", "passwordReset.submitCode"))):
            text = self.call("describe", asked).stdout.decode()
            for method in names:
                self.assertRegex(text, rf"(?m)^{method} ")
        done = self.call("linkWithCredential")
        self.assertEqual(done.returncode, 64)
        self.assertIn(b"account.link", done.stderr)

    def test_demo_shows_complete_messages(self):
        text = self.call("demo", timeout=120).stdout.decode()
        self.assertIn("If you did not request this code, ignore this message.", text)
        self.assertIn("The continuation token stays valid.", text)

    def test_doctor_uses_singular_and_plural(self):
        store = ("--store", self.path("store.db"))
        self.call("call", *store, "pool.create", '{"name": "shop"}')
        self.assertIn(b"1 record in 1 chain\n", self.call("doctor", *store).stdout)
        self.call("call", *store, "pool.create", '{"name": "shop"}')
        self.assertIn(b"2 records in 2 chains\n", self.call("doctor", *store).stdout)

    def test_truncated_output_ends_quietly(self):
        """`mintmark methods | head -1` exits without an error."""
        done = subprocess.run(["bash", "-c", '"$0" methods | head -n 1', binary()], capture_output=True, env=clean_environment(self.folder))
        self.assertEqual((done.returncode, done.stderr), (0, b""))



class Launcher(EndToEnd):
    """The launcher clients/shell/mintmark with an existing binary."""

    stores = ("sqlite",)

    def test_launcher_works_from_any_folder(self):
        """The launcher is started through a link, from another folder, with spaces in the path and in the arguments."""
        os.mkdir(self.path("a folder"))
        link = self.path("a folder", "my mintmark")
        os.symlink(os.path.join(ROOT, "clients", "shell", "mintmark"), link)
        environment = clean_environment(self.folder, {"MINTMARK_BINARY": "/bin/echo"})
        done = subprocess.run([link, "call", "a b", '{"c": "d  e"}'], capture_output=True, text=True, cwd=self.folder, env=environment)
        self.assertEqual((done.stdout, done.stderr), ('call a b {"c": "d  e"}\n', ""))

    def test_launcher_named_as_binary_does_not_start_itself(self):
        """MINTMARK_BINARY can name the launcher itself, as clients accept. It must not start itself repeatedly."""
        os.makedirs(self.path("checkout", "clients", "shell"))
        os.makedirs(self.path("checkout", ".build"))
        os.makedirs(self.path("checkout", "Sources"))
        open(self.path("checkout", "Package.swift"), "w").close()
        launcher = shutil.copy(os.path.join(ROOT, "clients", "shell", "mintmark"), self.path("checkout", "clients", "shell", "mintmark"))
        os.symlink("/bin/echo", self.path("checkout", ".build", "mintmark"))
        os.utime(self.path("checkout", "Package.swift"), (0, 0))
        os.utime(self.path("checkout", "Sources"), (0, 0))
        os.symlink(launcher, self.path("link"))
        for named in (launcher, self.path("link")):
            environment = clean_environment(self.folder, {"MINTMARK_BINARY": named})
            done = subprocess.run([launcher, "methods"], capture_output=True, text=True, env=environment, timeout=60)
            self.assertEqual((done.stdout, done.stderr), ("methods\n", ""))
