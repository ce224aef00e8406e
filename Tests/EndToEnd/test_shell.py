"""`mintmark shell`, on a terminal and in pipes."""

import json
import os
import pty
import re
import select
import signal
import stat
import subprocess
import time
import unittest

from endtoend import EndToEnd
from sidecar import binary, clean_environment, rested, run


class Terminal:
    """A process with a pseudo-terminal."""

    def __init__(self, folder, *arguments, **environment):
        self.main, other = pty.openpty()
        self.process = subprocess.Popen(
            [binary(), *arguments], stdin=other, stdout=other, stderr=other, start_new_session=True,
            env={**clean_environment(folder), "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "100", "XDG_STATE_HOME": os.path.join(folder, "state"), **environment})
        os.close(other)
        self.text = ""

    def expect(self, pattern, seconds=30):
        """Waits for a pattern in the output, and returns the output up to its end."""
        end = time.monotonic() + seconds
        while not (found := re.search(pattern, self.text, re.S)):
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.main], [], [], left)[0]:
                raise AssertionError(f"{pattern!r} is not in {self.text!r}")
            try:
                part = os.read(self.main, 1 << 16)
            except OSError:
                part = b""
            if not part:
                raise AssertionError(f"the process ended without {pattern!r}: {self.text!r}")
            self.text += part.decode(errors="replace")
        before, self.text = self.text[: found.end()], self.text[found.end():]
        return before

    def send(self, text):
        os.write(self.main, text.encode())

    def line(self, text):
        """Sends a line, and returns the output until the next prompt."""
        self.send(text + "\r")
        self.expect(r"\x1b\[\?2004l")
        return self.expect(r"\x1b\[\?2004h\r(mintmark|shop)> ")

    def end(self):
        self.send("\x04")
        try:
            while part := os.read(self.main, 1 << 16):
                self.text += part.decode(errors="replace")
        except OSError:
            pass
        os.close(self.main)
        return self.process.wait(30)


class OnTerminal(EndToEnd):
    stores = ("sqlite",)

    def open(self, *arguments, **environment):
        terminal = Terminal(self.folder, "shell", *arguments, **environment)
        self.addCleanup(lambda: terminal.process.poll() is None and terminal.process.kill())
        return terminal

    def started(self, *arguments, **environment):
        terminal = self.open("--store", self.path("shop.db"), *arguments, **environment)
        terminal.expect(r"Mintmark \d.*store .*\.help.*mintmark> ")
        return terminal

    def test_methods_variables_and_modes(self):
        terminal = self.started()
        self.assertIn('"poolId"', terminal.line("pool.create name=shop developerProvider=login.shop"))
        self.assertIn('"shop"', terminal.line("pool.get poolId=$_.poolId"))
        terminal.line(".set pool $_.poolId")
        self.assertIn("login.shop", terminal.line('pool.get {"poolId": $pool}'))
        self.assertRegex(terminal.line("pool.list"), r"poolId +name")
        terminal.line(".mode json")
        self.assertIn('"pools"', terminal.line("pool.list"))
        self.assertIn("Unknown variable $nothing", terminal.line("pool.get poolId=$nothing"))
        self.assertIn("Did you mean .mode?", terminal.line(".moed json"))
        self.assertIn("signUp.start", terminal.line(".methods sign-up"))
        self.assertIn(".describe", terminal.line(".help"))
        self.assertIn('"now"', terminal.line('{"jsonrpc": "2.0", "id": "x", "method": "system.ping"}'))
        self.assertEqual(terminal.end(), 0)

    def test_braces_span_lines(self):
        terminal = self.started()
        terminal.send('pool.create {\r')
        terminal.expect(r"\.\.\.> ")
        self.assertIn('"poolId"', terminal.line('"name": "shop"}'))
        self.assertEqual(terminal.end(), 0)

    def test_tab_completes_and_question_mark_explains(self):
        terminal = self.started()
        terminal.send("pool.cr\t")
        terminal.expect(r"pool\.create ")
        terminal.send("na\t")
        terminal.expect(r"name=")
        terminal.send("shop ?")
        terminal.expect(r"\(optional\): .*Further parameters:")
        self.assertIn('"poolId"', terminal.line(""))
        terminal.send("pool.get poolId=$\t")
        terminal.expect(r"poolId=\$_")
        self.assertIn('"shop"', terminal.line(".poolId"))
        terminal.send("role.\t\t")
        terminal.expect(r"role\.delete +role\.get")
        terminal.send("\x15.mo\t")
        terminal.expect(r"\.mode ")
        terminal.send("\x03")
        self.assertEqual(terminal.end(), 0)

    def test_keys_edit_the_line(self):
        terminal = self.started()
        for keys in ("system.pinx\x7fg", "ping\x01system.", "system.pingXY\x1b[D\x1b[D\x0b", "x system.ping\x01\x1b[3~\x1b[3~",
                     "junk\x15system.ping", "\x1b[200~system.ping\x1b[201~", "system.ping äö\x17"):
            self.assertIn('"now"', terminal.line(keys), keys)
        self.assertIn('"now"', terminal.line("\x1b[A"))
        self.assertIn('"now"', terminal.line("\x12sys"))
        terminal.send("nonsense\x03")
        terminal.expect(r"\^C.*mintmark> ")
        self.assertIn('"now"', terminal.line("system.ping"))
        self.assertEqual(terminal.end(), 0)

    def test_history_is_private_and_has_no_secrets(self):
        terminal = self.started()
        terminal.line("account.create username=a@example.com password=hunter2hunter2")
        terminal.line('account.create {"username": "b@example.com", "password": "hunter2hunter2"}')
        terminal.line("system.ping")
        terminal.line("system.ping")
        self.assertEqual(terminal.end(), 0)
        path = self.path("state/mintmark/history")
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), "system.ping\n")
        again = self.started()
        self.assertIn('"now"', again.line("\x10"))
        self.assertEqual(again.end(), 0)

    def test_secret_prompt_has_no_echo(self):
        terminal = self.started()
        terminal.send("account.create username=a@example.com password=?\r")
        terminal.expect("password: ")
        terminal.send("correct horse 9 Battery\r")
        answer = terminal.expect("mintmark> ")
        self.assertIn("accountId", answer)
        self.assertNotIn("horse", answer)
        self.assertEqual(terminal.end(), 0)

    def test_interrupt_cancels_the_request(self):
        terminal = self.open("--store", ":memory:", "--testing")
        terminal.expect("mintmark> ")
        terminal.send("test.outbox to=a@example.com waitSeconds=30\r")
        terminal.expect(r"2004l\r\n")
        rested(terminal.process.pid)   # The shell waits for the answer.
        os.kill(terminal.process.pid, signal.SIGINT)
        terminal.expect(r"error .*mintmark> ")
        self.assertIn('"now"', terminal.line("system.ping"))
        self.assertEqual(terminal.end(), 0)

    def test_error_names_next_method(self):
        terminal = self.started()
        self.assertRegex(terminal.line("signIn.start username=nobody@example.com"), r"(?s)error \w+: .*Next: signUp\.start …")
        self.assertEqual(terminal.end(), 0)

    def test_prompt_is_name_of_app(self):
        terminal = self.open("--app", "shop")
        terminal.expect("shop> ")
        self.assertEqual(terminal.end(), 0)


class Serve(EndToEnd):
    stores = ("sqlite",)

    def test_serve_explains_itself_on_terminal(self):
        for arguments, noted in [((), True), (("serve",), True), (("serve", "--quiet"), False)]:
            terminal = Terminal(self.folder, *arguments, MINTMARK_STORE=":memory:")
            terminal.send('{"jsonrpc":"2.0","id":1,"method":"system.ping"}\n')
            text = terminal.expect('"result"')
            self.assertEqual("Reading JSON-RPC requests from the terminal, one per line. For an interactive session: mintmark shell. End with Ctrl-D." in text, noted)
            self.assertEqual(terminal.end(), 0)
        self.assertNotIn(b"Reading", run("serve", "--store", ":memory:", home=self.folder).stderr)


class InPipes(EndToEnd):
    stores = ("sqlite",)

    def shell(self, text, *arguments):
        return run("shell", "--store", self.path("shop.db"), *arguments, input=text.encode(), home=self.folder)

    def test_one_result_per_line_until_first_error(self):
        done = self.shell("# comment\npool.create name=shop\npool.get poolId=$_.poolId\npool.get poolId=local-1:x\nsystem.ping\n")
        self.assertEqual(done.returncode, 1)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([line["name"] for line in lines], ["shop", "shop"])
        self.assertIn(b"error", done.stderr)
        done = self.shell("pool.get poolId=local-1:x\nsystem.ping\n", "--keep-going")
        self.assertEqual((done.returncode, done.stdout.count(b"now")), (1, 1))

    def test_values_with_spaces_and_json(self):
        done = self.shell(r'''tenant.create tenantId=t name="The shop" attributes:=[{"name": "a", "type": "string"}, {"name": "b", "type": "string"}]
tenant.create tenantId=u name='a "b"' attributes[0][name]=x attributes[0][type]=string
tenant.create tenantId=v name=\$5
''')
        self.assertEqual(done.returncode, 0, done.stderr)
        first, second, third = map(json.loads, done.stdout.splitlines())
        self.assertEqual((first["name"], second["name"], third["name"]), ("The shop", 'a "b"', "$5"))

    def test_read_reports_file_and_line(self):
        with open(self.path("script"), "w", encoding="utf-8") as file:
            file.write("system.ping\n\npool.get poolId=local-1:x\nsystem.ping\n")
        done = self.shell(f".read {self.path('script')}\n")
        self.assertEqual((done.returncode, done.stdout.count(b"now")), (1, 1))
        self.assertIn(f"at {self.path('script')}:3".encode(), done.stderr)

    def test_output_goes_to_file(self):
        done = self.shell(f".output {self.path('out')}\nsystem.ping\n.output\nsystem.ping\n")
        self.assertEqual((done.returncode, done.stdout.count(b"now")), (0, 1))
        with open(self.path("out"), encoding="utf-8") as file:
            self.assertIn("now", file.read())

    def test_unknown_commands_are_usage_errors(self):
        for line, text in [(".frob", b"Unknown command .frob."), (".read /nowhere", b"cannot be read"), (".open /no/where.db", b"storeCannotOpen"),
                           (".set", b".set needs a value"), ("pool.get shop", b"is not a parameter"), ("{x", b"not valid JSON")]:
            done = self.shell(line + "\n")
            self.assertEqual((done.returncode > 0, done.stdout), (True, b""), line)
            self.assertIn(text, done.stderr, line)


if __name__ == "__main__":
    unittest.main()
