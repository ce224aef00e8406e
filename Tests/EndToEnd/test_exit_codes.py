"""The output and the exit status of commands."""

import json
import os
import subprocess
import tempfile

from endtoend import EndToEnd
from sidecar import binary, clean_environment, run

PING = b'{"jsonrpc":"2.0","id":1,"method":"system.ping"}\n'


class ExitCodes(EndToEnd):
    stores = ("sqlite",)

    def call(self, *arguments, **more):
        return run(*arguments, home=self.folder, **more)

    def shell(self, script, *arguments, input=b""):
        """Runs a bash script in which "$0" is the binary."""
        return subprocess.run(
            ["bash", "-c", script, binary(), *arguments], input=input, capture_output=True, timeout=60, cwd=self.folder,
            env=clean_environment(self.folder))

    def test_output_error_exits_with_74(self):
        """If the output cannot be written, the command exits with 74 and an error message."""
        self.call("call", "--store", self.path("m.db"), "pool.list")
        for command in ("call system.ping --store :memory:", "call rpc.discover --store :memory:", "methods", "describe pool.create",
                        "doctor --store :memory:", "demo", "completions bash", "migrate --store m.db", "jwks --store :memory:", "--help", "--version"):
            with self.subTest(command):
                done = self.shell(f'"$0" {command} > /dev/full')
                self.assertEqual(done.returncode, 74, done.stderr)
                self.assertIn(b"No space left on device", done.stderr)

    def test_serve_exits_with_74_if_responses_cannot_be_written(self):
        done = self.shell('"$0" serve --store :memory: > /dev/full', input=PING)
        self.assertEqual(done.returncode, 74, done.stderr)
        self.assertIn(b"the responses cannot be written", done.stderr)

    def test_closed_output_ends_commands_quietly(self):
        """A closed pipe ends every command without an error and without leftover files."""
        self.call("call", "--store", self.path("store.db"), "pool.list")
        for command in ("methods", "demo", "doctor --store store.db", "describe pool.create"):
            with self.subTest(command):
                done = self.shell(f'set -o pipefail; "$0" {command} | head -n 1; exit "${{PIPESTATUS[0]}}"')
                self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(sorted(os.listdir(self.folder)), ["store.db", "store.db.key"])

    def test_demo_with_closed_output_leaves_no_files(self):
        folders = lambda: {name for name in os.listdir("/tmp") if name.startswith("mintmark-demo-")}
        before = folders()
        for _ in range(3):
            self.shell('"$0" demo | head -n 1')
        self.assertEqual(folders() - before, set())

    def test_serve_with_unusable_store_fails_requests_and_exits_with_2(self):
        """Every request fails with the reason, and the exit status is 2."""
        for input, count in ((b'{"jsonrpc":"2.0","id":1,"method":"pool.list"}\n', 1), (b"", 0)):
            done = self.call("serve", "--store", self.folder, input=input)
            self.assertEqual((done.returncode, done.stdout.count(b"storeCannotOpen")), (2, count), done.stderr)

    def test_only_store_errors_exit_with_2(self):
        """The exit status distinguishes errors of the store from errors of a method on a healthy store."""
        store = ("--store", self.path("store.db"))
        self.assertEqual(self.call("call", *store, "account.create", '{"username": "alice@example.com"}').returncode, 0)
        for method, params, wanted in (
                ("store.backup", {"path": self.path("store.db")}, "backupFileExists"),
                ("store.backup", {"path": self.path("no folder", "copy.db")}, "backupFailed"),
                ("signIn.start", {"username": "alice@example.com"}, "messageNotSent")):
            done = self.call("call", *store, method, json.dumps(params))
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(wanted.encode(), done.stderr)
        for arguments, wanted in (
                (("--store", self.folder), "storeCannotOpen"), (("--testing", *store), "testingStoreMismatch"),
                (("--master-key-file", self.path("nope"), *store), "storeCannotOpen")):
            done = self.call("call", *arguments, "pool.list")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(wanted.encode(), done.stderr)

    def test_unreadable_input_exits_with_74(self):
        done = self.shell('"$0" serve --store :memory: < .')
        self.assertEqual(done.returncode, 74)
        self.assertIn(b"the requests cannot be read", done.stderr)

    def test_missing_key_file_exits_with_2(self):
        for command in (("call", "pool.list"), ("serve",), ("doctor",), ("backup", self.path("copy.db"))):
            with self.subTest(command):
                done = self.call(*command, "--store", self.path("store.db"), "--master-key-file", self.path("nope"))
                self.assertEqual(done.returncode, 2, done.stderr)
                said = (done.stdout + done.stderr).decode()
                self.assertIn(f"{self.path('nope')} cannot be opened: the file does not exist (the file of the master key, from --master-key-file", said)
                self.assertNotIn("StoreCannotOpen(", said)
        done = self.call("call", "pool.list", environment={"MINTMARK_MASTER_KEY_FILE": self.path("nope")})
        self.assertIn(b"(the file of the master key, from MINTMARK_MASTER_KEY_FILE", done.stderr)
        self.assertEqual(os.listdir(self.folder), [])

    def test_doctor_creates_no_files(self):
        """If the path does not exist or the file is empty, doctor does not create a store."""
        open(self.path("empty.db"), "w").close()
        for arguments, word in ((("--store", self.path("typo", "x.db")), b"the file does not exist"), (("--store", self.path("typo.db")), b"the file does not exist"),
                                (("--app", "typo"), b"the file does not exist"), (("--store", self.path("empty.db")), b"the file is empty")):
            with self.subTest(arguments):
                done = self.call("doctor", *arguments)
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertIn(word, done.stdout)
        self.assertEqual(os.listdir(self.folder), ["empty.db"])
        self.assertEqual(os.path.getsize(self.path("empty.db")), 0)

    def test_store_error_is_printed_once(self):
        done = self.call("call", "pool.list", "--store", self.folder)
        self.assertEqual((done.returncode, done.stderr.count(b"it is a directory")), (2, 1), done.stderr)


class Refusals(EndToEnd):
    """Errors of the command line and the corrections that they suggest."""

    stores = ("sqlite",)

    def refused(self, *arguments, environment=None):
        done = run(*arguments, home=self.folder, environment=environment)
        self.assertEqual((done.returncode, done.stdout), (64, b""), done.stderr)
        self.assertEqual(os.listdir(self.folder), [])
        return done.stderr.decode()

    def test_unknown_commands_suggest_corrections(self):
        self.assertIn("Did you mean serve?", self.refused("sevre"))
        self.assertIn("Did you mean serve?", self.refused("help", "sevre"))
        self.assertIn("mintmark call system.ping", self.refused("system.ping"))
        self.assertIn("run mintmark methods", self.refused("describe", ""))

    def test_numbers_out_of_range_are_rejected(self):
        self.assertIn("--drain must be between", self.refused("serve", "--drain", "-1"))
        for clock in ("-5", "253402300800", "9999999999999999"):
            self.assertIn("--clock must be between", self.refused("serve", "--testing", "--clock", clock))
            self.assertIn("MINTMARK_CLOCK must be between", self.refused("serve", "--testing", environment={"MINTMARK_CLOCK": clock}))

    def test_error_names_environment_variable(self):
        self.assertIn("MINTMARK_CALLER must be one of", self.refused("call", "pool.list", environment={"MINTMARK_CALLER": "root"}))
        self.assertIn("Did you mean MINTMARK_STORE?", self.refused("serve", environment={"MINTMARK_STOER": self.path("x.db")}))

    def test_every_setting_error_names_its_source(self):
        """The value comes from the option or from the variable, and the message names the one that was used."""
        for option, value, text in (
                ("--log-level", "loud", "must be one of trace, debug"), ("--region", "Moon", "can have up to 18 lowercase letters"),
                ("--account", "1", "must have 12 digits"), ("--issuer", "http://id.example.com", "must be an https URL"), ("--app", ".x", "can have up to 64"),
                ("--store", "sqlite:x", "must be the path of a file"), ("--store", ":x:", "':x:' is not a store"), ("--clock", "5", "requires --testing"),
                ("--db-connections", "0", "must be between 1 and 100, not 0"), ("--audit-retention-days", "0", "must be between 1 and 36500, not 0"),
                ("--ca-file", self.path("nowhere"), "cannot be read"), ("--proxy", "x", "must be a URL such as"), ("--drain", "-1", "must be between"),
                ("--max-line", "1", "must be between"), ("--parent", "-1", "must be a process ID"), ("--apply", self.path("nowhere"), "cannot be read"),
                ("--console", "70000", "must be between 0 and 65535")):
            variable = "MINTMARK_" + option[2:].upper().replace("-", "_")
            for source, said in (option, self.refused("serve", option, value)), (variable, self.refused("serve", environment={variable: value})):
                self.assertRegex(said, rf"\AError: {source}\b.*{text}", (option, source))
                self.assertNotIn(variable if source == option else f"{option} ", said)
        said = self.refused("serve", environment={"MINTMARK_TESTING": "true", "MINTMARK_ISSUER": "https://id.example.com"})
        self.assertIn("Error: MINTMARK_ISSUER must have a loopback address as its host", said)
        self.assertIn("Error: --to must be the path of a file", self.refused("copy", "--from", self.path("x.db"), "--to", "sqlite:x"))

    def test_store_with_unknown_scheme_is_refused(self):
        """A mistyped URL does not become the name of a file."""
        for store, file in (("sqlite:foo", "./sqlite:foo"), ("file:foo", "./file:foo"), ("a.b+c:d", "./a.b+c:d"), ("postgres:/x", "./postgres:…"),
                            ("postgresql:user:secret@host", "./postgresql:…"), ("mysql://user:secret@host/x", "./mysql:…")):
            said = self.refused("call", "pool.list", "--store", store)
            self.assertIn("must be the path of a file, :memory: or a URL such as postgresql://user@host/database", said)
            self.assertIn(f"For a file with this name, use {file}.", said)
            self.assertNotIn("secret", said)

    def test_file_name_with_colon_is_used_after_a_folder(self):
        for store in ("./sqlite:foo", self.path("file:bar"), "1:2"):
            done = run("call", "pool.list", "--store", store, home=self.folder, cwd=self.folder)
            self.assertEqual((done.returncode, done.stdout), (0, b'{"pools":[]}\n'), done.stderr)
        self.assertLessEqual({"sqlite:foo", "file:bar", "1:2"}, set(os.listdir(self.folder)))

    def test_error_names_help_of_command(self):
        self.assertIn("mintmark call --help", self.refused("call", "pool.list", "--clock", "5"))

    def test_misspelled_memory_store_suggests_correction(self):
        self.assertIn("Did you mean :memory:?", self.refused("call", "pool.list", "--store", ":memoy:"))

    def test_parameter_error_is_printed_once(self):
        done = run("call", "--store", ":memory:", "pool.list", "[1]", home=self.folder)
        self.assertEqual(done.stderr.count(b"parameters are passed by name"), 1)

    def test_example_of_help_runs_as_printed(self):
        """The lines are not wrapped, so they can be copied and run."""
        lines = run("--help", home=self.folder).stdout.decode().split("\n")
        first = next(number for number, line in enumerate(lines) if line.startswith("  echo "))
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(binary(), os.path.join(folder, "mintmark"))
            environment = clean_environment(self.folder, {"PATH": f"{folder}:{os.environ['PATH']}"})
            done = subprocess.run(["bash", "-c", "\n".join(lines[first:first + 2])], capture_output=True, env=environment)
        self.assertIn(b'"result"', done.stdout)
        self.assertEqual(os.listdir(self.folder), [])
