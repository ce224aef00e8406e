"""Manual pages, the help topic on environment variables, the pager, and JSON for programs."""

import json
import os
import re
import shutil
import subprocess

from endtoend import EndToEnd
from sidecar import ROOT, run
from test_shell import Terminal


class LongOutput(EndToEnd):
    stores = ("sqlite",)

    def call(self, *arguments, **more):
        return run(*arguments, home=self.folder, **more)

    # Manual pages

    def test_man_prints_a_page_for_the_program_and_for_each_command(self):
        done = self.call("man")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertEqual(done.stdout, self.call("docs", "--man").stdout)
        page = self.call("man", "call").stdout.decode().replace("\\-", "-")
        self.assertIn("\n.TH MINTMARK-CALL 1 ", page)
        for part in (".SH NAME\nmintmark-call - Call one method", "\\fB--field\\fR", "\\fB--store\\fR", ".BR mintmark (1)", "\n.TP\n\\fB64\\fR\n"):
            self.assertIn(part, page)

    def test_man_writes_all_pages_next_to_other_files(self):
        folder = self.path("man1")
        os.mkdir(folder)
        with open(os.path.join(folder, "other.1"), "w", encoding="utf-8") as file:
            file.write("other")
        for _ in range(2):
            self.assertEqual(self.call("man", "--out", folder).returncode, 0)
        pages = set(os.listdir(folder))
        commands = re.findall(r"(?m)^  ([a-z-]+)(?: \(default\))?  +\S", self.call("--help").stdout.decode().partition("SUBCOMMANDS:")[2])
        self.assertEqual(pages, {"other.1", "mintmark.1", "mintmark-help.1"} | {f"mintmark-{command}.1" for command in commands})
        if shutil.which("groff"):
            for page in sorted(pages - {"other.1"}):
                done = subprocess.run(["groff", "-man", "-ww", "-Tascii", "-z", os.path.join(folder, page)], capture_output=True)
                self.assertEqual((done.returncode, done.stderr), (0, b""), page)
        with open(os.path.join(folder, "mintmark-call.1"), "w", encoding="utf-8") as file:
            file.write("mine")
        done = self.call("man", "--out", folder)
        self.assertEqual(done.returncode, 64)
        self.assertIn(b"mintmark-call.1 exists", done.stderr)

    def test_man_of_an_unknown_command_names_the_nearest(self):
        for arguments, text in ((("cal",), "Did you mean call?"), (("--out", "x", "call"), "Leave out the command"), (("--out", ""), "must name")):
            done = self.call("man", *arguments)
            self.assertEqual((done.returncode, done.stdout), (64, b""))
            self.assertIn(text, done.stderr.decode())

    # Environment variables

    def test_help_environment_names_every_variable(self):
        text = self.call("help", "environment").stdout.decode()
        with open(os.path.join(ROOT, "schemas", "options.json"), encoding="utf-8") as file:
            variables = ["MINTMARK_" + each["flag"][2:].upper().replace("-", "_") for each in json.load(file)["options"]]
        for name in variables + ["NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "MINTMARK_PAGER", "TERM", "XDG_DATA_HOME", "OIDC_ISSUER", "JWKS_URL"]:
            self.assertRegex(text, rf"\b{name}\b")
        self.assertIn("environment", self.call("help").stdout.decode().partition("TOPICS:")[2])

    def test_provider_timeout_is_only_for_testing_stores(self):
        for value, arguments, text in (("1", (), "MINTMARK_PROVIDER_TIMEOUT requires --testing."), ("0", ("--testing",), "between 1 and 10"),
                                       ("x", ("--testing",), "must be a number")):
            done = self.call("call", "--store", ":memory:", *arguments, "system.ping", environment={"MINTMARK_PROVIDER_TIMEOUT": value})
            self.assertEqual((done.returncode, done.stdout), (64, b""))
            self.assertIn(text, done.stderr.decode())

    # Pager

    def test_long_text_on_a_terminal_goes_through_the_pager(self):
        note = self.path("pager")
        terminal = Terminal(self.folder, "help", "troubleshooting", MINTMARK_PAGER=f"cat > {note}; echo PAGED", PAGER="false")
        terminal.expect("PAGED")
        self.assertEqual(terminal.process.wait(30), 0)
        with open(note, encoding="utf-8") as file:
            self.assertEqual(file.read().split(), self.call("help", "troubleshooting").stdout.decode().split())

    def test_pager_can_be_switched_off_and_its_failure_loses_nothing(self):
        for arguments, environment in (
            (("methods", "--no-pager"), {"PAGER": "echo PAGED"}), (("methods",), {"PAGER": ""}), (("methods",), {"PAGER": "cat"}),
            (("methods",), {"MINTMARK_PAGER": "no-such-program-here 2>/dev/null"}), (("help", "--no-pager"), {"PAGER": "echo PAGED"}),
        ):
            terminal = Terminal(self.folder, *arguments, **environment)
            shown = terminal.expect("account.list" if arguments[0] == "methods" else "troubleshooting")
            self.assertNotIn("PAGED", shown)
            terminal.end()

    def test_short_text_and_pipes_have_no_pager(self):
        done = self.call("methods", environment={"PAGER": "echo PAGED"})
        self.assertNotIn(b"PAGED", done.stdout)
        terminal = Terminal(self.folder, "methods", "pool.create", PAGER="echo PAGED")
        self.assertNotIn("PAGED", terminal.expect("Create an identity pool"))
        terminal.end()

    # JSON

    def test_doctor_prints_json(self):
        done = self.call("doctor", "--json", "--store", self.path("none.db"))
        self.assertEqual((done.returncode, done.stderr), (2, b""))
        result = json.loads(done.stdout)
        self.assertFalse(result["ok"])
        problem, = [each for each in result["findings"] if each["status"] == "problem"]
        self.assertEqual((problem["check"], problem["type"]), ("store", "storeCannotOpen"))
        text = self.call("doctor", "--store", self.path("none.db")).stdout.decode()
        self.assertIn(f"\n!!  storeCannotOpen: {problem['message']}\n", text)
        self.assertEqual([each for each in result["findings"] if each["status"] != "problem" and "type" in each], [])
        store = self.path("shop.db")
        self.call("call", "--store", store, "tenant.create", "tenantId=shop")
        done = self.call("doctor", "--json", "--store", store)
        self.assertEqual(done.returncode, 0)
        result = json.loads(done.stdout)
        self.assertTrue(result["ok"])
        checks = {each["check"]: each for each in result["findings"]}
        self.assertLessEqual({"program", "store", "writable", "masterKey", "auditLog", "tenantNames", "emails"}, set(checks))
        self.assertEqual(checks["tenantNames"]["status"], "note")
        lines = self.call("doctor", "--store", store).stdout.decode().splitlines()
        self.assertEqual([line[4:] for line in lines], [each["message"] for each in result["findings"]])

    def test_methods_and_version_print_json(self):
        methods = json.loads(self.call("methods", "--json", "forgot").stdout)
        self.assertEqual({each["name"].partition(".")[0] for each in methods}, {"passwordReset"})
        self.assertEqual(set(methods[0]), {"name", "summary", "caller", "readOnly", "testing"})
        for words in (("version", "--json"), ("--version", "--json"), ("-V", "--json")):
            version = json.loads(self.call(*words).stdout)
            self.assertEqual(version["version"], self.call("--version").stdout.decode().strip())
            self.assertGreater(version["schemaVersion"], 0)
        self.assertEqual(self.call("version", "--jsn").returncode, 64)

    # Wrong usage

    def test_methods_without_match_is_wrong_usage(self):
        done = self.call("methods", "xyzzy")
        self.assertEqual((done.returncode, done.stdout), (64, b""))
        self.assertIn(b"No method contains xyzzy.", done.stderr)

    def test_graph_refuses_a_format_before_it_asks_for_a_session(self):
        done = self.call("graph", "--format", "bogus")
        self.assertEqual((done.returncode, done.stdout), (64, b""))
        self.assertIn(b"--format must be one of tree, mermaid, dot, svg, not 'bogus'.", done.stderr)
