"""The progress of commands on whole stores: a bar on a terminal, which disappears, and nothing elsewhere."""

import contextlib
import os
import signal
import sqlite3
import subprocess
import time

from endtoend import EndToEnd, make_pool
from sidecar import Sidecar, binary, clean_environment, run
from test_copying import fill
from test_shell import Terminal


class ProgressBars(EndToEnd):
    stores = ("sqlite",)

    def filled(self, identities):
        store = self.path("shop.db")
        with Sidecar(store=store) as sidecar:
            pool = make_pool(sidecar)["poolId"]
        fill(store, pool, identities)
        return store

    def bytes_of(self, target):
        """Returns the size of the files whose names begin with a text. Temporary files can disappear meanwhile."""
        size = 0
        for entry in os.scandir(self.folder):
            if entry.name.startswith(target):
                with contextlib.suppress(FileNotFoundError):
                    size += entry.stat().st_size
        return size

    def delayed(self, process, target):
        """Stops a process that copies to `target` until more than the half second without a bar has passed."""
        deadline = time.monotonic() + 60
        while self.bytes_of(target) < 1 << 20:
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), deadline)
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.6)
        process.send_signal(signal.SIGCONT)

    def test_copy_shows_a_bar_on_a_terminal_only(self):
        store = self.filled(60_000)
        terminal = Terminal(self.folder, "copy", "--from", store, "--to", self.path("one.db"))
        self.delayed(terminal.process, "one.db")
        shown = terminal.expect(r"Copying: \[[#-]{20}\] +\d+%  \d+ of \d+ rows, \d+/s, \d+ s left")
        self.assertNotIn("masterFingerprint", shown)
        rest = terminal.expect(r'"auditIntact":true')
        self.assertRegex(rest, r'(?s)\r\x1b\[K\{"from"[^\r]*$')       # the bar is erased before the result
        terminal.expect("Use only one of the two stores")
        self.assertEqual(terminal.process.wait(60), 0)
        process = subprocess.Popen(
            [binary(), "copy", "--from", store, "--to", self.path("two.db")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            env=clean_environment(self.folder))
        self.delayed(process, "two.db")
        self.assertNotIn(b"Copying", process.communicate(timeout=120)[1])
        self.assertEqual(process.returncode, 0)
        terminal = Terminal(self.folder, "copy", "--from", store, "--to", self.path("three.db"), "--progress", "none")
        self.delayed(terminal.process, "three.db")
        self.assertNotIn("Copying", terminal.expect("Use only one of the two stores"))
        self.assertEqual(terminal.process.wait(60), 0)

    def test_rekey_and_migrate_show_a_bar_while_they_wait_for_the_store(self):
        """The bar appears although nothing has been done yet, and disappears before the result."""
        store = self.filled(1)
        old = self.path("old.db")
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "Stores", "version-1.sql"), encoding="utf-8") as file:
            with contextlib.closing(sqlite3.connect(old)) as database:
                database.executescript("PRAGMA journal_mode = WAL; PRAGMA application_id = 1296912971;" + file.read())
        for command, path, shown, result in (
            ("rekey", store, r"Writing the new key: \d+ s", '"masterFingerprint"'),
            ("migrate", old, r"Migrating: (0 steps|\[[#-]{20}\])", "schema version"),
        ):
            with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as holder:
                holder.execute("BEGIN IMMEDIATE")
                terminal = Terminal(self.folder, command, "--store", path)
                terminal.expect(shown)
                plain = Terminal(self.folder, command, "--store", path, "--progress", "none") if command == "migrate" else None
                holder.execute("COMMIT")
            self.assertIn("\r\x1b[K", terminal.expect(result))
            self.assertEqual(terminal.process.wait(60), 0)
            if plain:
                self.assertNotIn("Migrating", plain.expect("schema version"))
                self.assertEqual(plain.process.wait(60), 0)

    def test_an_unknown_style_is_a_usage_error_and_writes_nothing(self):
        store = self.filled(1)
        for arguments in (
            ("copy", "--from", store, "--to", self.path("new.db")), ("backup", "--store", store, self.path("new.db")),
            ("restore", "--store", self.path("new.db"), store), ("rekey", "--store", store), ("migrate", "--store", store),
        ):
            done = run(*arguments, "--progress", "loud", home=self.folder)
            self.assertEqual(done.returncode, 64, arguments)
            self.assertIn(b"--progress must be auto, plain or none, not 'loud'.", done.stderr)
        self.assertFalse(os.path.exists(self.path("new.db")))
