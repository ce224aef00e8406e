"""Secrets are erased from the memory of the process after the response, and core files never contain them."""

import os
import re
import resource
import signal
import time
import unittest

from endtoend import EndToEnd, only
from sidecar import run

# Short passwords are stored inline in stack frames, longer ones on the heap.
PASSWORDS = ["Zx9!kwQ7p", "fifteen Chars-5", "sixteen Chars--6", "a much longer Passphrase than 5 others", "Ünï9 cöded Pässwörd"]


def image(pid):
    """Returns all writable memory of a process."""
    parts = []
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps, open(f"/proc/{pid}/mem", "rb") as memory:
        for line in maps:
            span, rights, *_ = line.split()
            if not rights.startswith("rw"):
                continue
            start, end = (int(each, 16) for each in span.split("-"))
            memory.seek(start)
            try:
                parts.append(memory.read(end - start))
            except OSError:
                pass   # a mapping of the kernel
    return b"\n".join(parts)


class ProcessMemory(EndToEnd):
    def nothing_left(self, sidecar, *secrets):
        """Fails if the memory still contains a secret after ten seconds, in which every thread has run on a busy machine. The failure message shows the memory around it."""
        deadline = time.monotonic() + 60
        while True:
            found = image(sidecar.process.pid)
            left = [each for each in secrets if each.encode() in found]
            if not left:
                return
            if time.monotonic() > deadline:
                places = [found[max(0, at.start() - 60):at.start() + 60] for at in re.finditer(re.escape(left[0].encode()), found)]
                self.fail(f"{left}: {places}")
            time.sleep(0.05)

    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn("--allow-core-dumps", testing=True)
        self.sidecar.call("tenant.update", {"tenantId": "default", "passwordPolicy": {"minimumClasses": 1, "maximumLength": 64}})

    def test_created_accounts_leave_no_password_in_memory(self):
        passwords = [each for each in PASSWORDS if each.isascii()]
        for number, password in enumerate(passwords):
            self.sidecar.call("account.create", {"username": f"u{number}@example.com", "password": password, "emailVerified": True})
        self.nothing_left(self.sidecar, *passwords)

    def test_concurrent_and_rejected_requests_leave_no_secret_in_memory(self):
        passwords = [each for each in PASSWORDS if each.isascii()]
        ids = [self.sidecar.send("account.create", {"username": f"u{number}@example.com", "password": password})
               for number, password in enumerate(passwords)]
        for id in ids:
            self.sidecar.answer(id)
        ids = [self.sidecar.send("signIn.withPassword", {"username": f"u{number}@example.com", "password": password[::-1]})
               for number, password in enumerate(passwords)]
        for id in ids:
            self.assertIn("error", self.sidecar.receive(lambda each: each.get("id") == id))
        ids = [self.sidecar.send("signIn.withPassword", {"username": f"u{number}@example.com", "password": password})
               for number, password in enumerate(passwords)]
        tokens = [self.sidecar.answer(id) for id in ids]
        self.refused("invalidParams", self.sidecar, "account.create", {"username": "x@example.com", "password": "Refused-Word 1", "x": 1})
        self.sidecar.raw(b'{"jsonrpc":"2.0","id":1,"method":"account.create","params":{"password":"Broken-Line 22",}}')
        self.nothing_left(
            self.sidecar, *passwords, *(each[::-1] for each in passwords), "Refused-Word 1", "Broken-Line 22",
            *(each["refreshToken"] for each in tokens), *(each["idToken"] for each in tokens))

    @only("sqlite")
    def test_content_length_frames_leave_no_password_in_memory(self):
        sidecar = self.spawn("--allow-core-dumps", "--framing", "content-length", testing=True, reading=False)
        body = b'{"jsonrpc":"2.0","id":1,"method":"account.create","params":{"username":"a@example.com","password":"Framed-Word 123"}}'
        sidecar.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.assertIn(b'"result"', os.read(sidecar.process.stdout.fileno(), 1 << 16))
        self.nothing_left(sidecar, "Framed-Word 123")


@only("sqlite")
class CoreFiles(EndToEnd):
    def unlimited(self, *options):
        """Starts a process with an unlimited core file size. Returns the process and the limit that it has set."""
        sidecar = self.spawn(
            "--testing", *options, cwd=self.folder,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2))
        sidecar.call("account.create", {"username": "a@example.com", "password": "correct Horse 9"})
        with open(f"/proc/{sidecar.process.pid}/limits", encoding="ascii") as limits:
            return sidecar, next(line.split()[4] for line in limits if line.startswith("Max core file size"))

    def test_no_core_file_is_written(self):
        sidecar, limit = self.unlimited()
        self.assertEqual(limit, "0")
        # A program in core_pattern receives a core file despite the limit, unless the process is not dumpable. Root then owns this file.
        self.assertEqual(os.stat(f"/proc/{sidecar.process.pid}/mem").st_uid, 0)
        os.kill(sidecar.process.pid, signal.SIGABRT)
        _, status = os.waitpid(sidecar.process.pid, 0)
        sidecar.process.returncode = -signal.SIGABRT
        self.assertEqual((os.WTERMSIG(status), os.WCOREDUMP(status)), (signal.SIGABRT, False))
        self.assertEqual(os.listdir(self.folder), [])

    def test_testing_store_can_allow_core_dumps(self):
        if resource.getrlimit(resource.RLIMIT_CORE)[1] == 0:
            self.skipTest("core files are not allowed here at all")
        self.assertNotEqual(self.unlimited("--allow-core-dumps")[1], "0")

    def test_core_dumps_require_a_testing_store(self):
        for options, environment, source in (
                (["--allow-core-dumps"], {}, b"--allow-core-dumps"), ([], {"MINTMARK_ALLOW_CORE_DUMPS": "true"}, b"MINTMARK_ALLOW_CORE_DUMPS")):
            done = run("serve", "--store", ":memory:", *options, environment=environment)
            self.assertEqual(done.returncode, 64)
            self.assertIn(source + b" requires --testing", done.stderr)

    def test_other_processes_of_the_same_user_cannot_read_the_memory(self):
        sidecar = self.spawn("--testing")
        sidecar.call("system.ping")
        # The /proc files of a process that is not dumpable belong to root.
        self.assertEqual(os.stat(f"/proc/{sidecar.process.pid}/mem").st_uid, 0)
        if os.geteuid() != 0:
            with self.assertRaises(PermissionError):
                open(f"/proc/{sidecar.process.pid}/mem", "rb")


if __name__ == "__main__":
    unittest.main()
