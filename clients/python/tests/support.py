"""Helpers for the tests: clients that are closed after their test, and a simulated program."""

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

import mintmark
from mintmark import Mintmark
from mintmark.testing import TestingMintmark

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))
SOURCES = os.path.join(ROOT, "clients", "python", "src")
# The folder of the compiled client. Without it, each program of a test compiles the client, which takes longer than the rest.
COMPILED = os.path.join(ROOT, ".build", "python-cache")
NOWHERE = "local-1:00000000-0000-0000-0000-000000000000"

# A simulated program that answers its first request when its input has ended.
ANSWERS_AT_THE_END = "sys.stdin.read(); answer(result={'now': 7})"


class ClientTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="mintmark-")
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def memory(self, **options):
        """Returns a client of an empty testing store in memory, or of another store with `testing=False`."""
        is_testing = options.get("testing", True)
        client = TestingMintmark(**options) if is_testing else Mintmark(**{"store": ":memory:", "timeout": 60, **options})
        self.addCleanup(client.close)
        return client

    def file(self, **options):
        """Returns a client of a store in the test's folder."""
        client = Mintmark(**{"store": self.path("shop.db"), "timeout": 60, "stderr": None, **options})
        self.addCleanup(client.close)
        return client

    def stand_in(self, body, **options):
        """Returns a client of a simulated program.

        `body` runs for each request, with the message `m` and the function `answer(**members)`.
        """
        return self.memory(binary=self.program(body), stderr=None, **options)

    def program(self, body):
        path = self.path("stand-in")
        with open(path, "w", encoding="utf-8") as file:
            file.write(
                f"#!{sys.executable}\nimport json, os, sys, time\n"
                "def send(message): print(json.dumps(message), flush=True)\n"
                "def answer(**members): send({'jsonrpc': '2.0', 'id': m.get('id'), **members})\n"
                f"seen = open({self.path('seen')!r}, 'a', buffering=1)\n"
                "for line in sys.stdin:\n    m = json.loads(line)\n"
                # Does not respond to the client's system.info request, which the client accepts.
                "    if m.get('id') == 0: continue\n    seen.write(line)\n" + textwrap.indent(textwrap.dedent(body), "    "))
        os.chmod(path, 0o755)
        return path

    def seen(self):
        """Returns the lines that the simulated program has received."""
        try:
            with open(self.path("seen"), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def eventually(self, holds, what, seconds=60):
        deadline = time.monotonic() + seconds
        while not holds():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.01)

    def run_script(self, text, *arguments, timeout=60, **environment):
        """Runs a Python program that imports the client, and returns its output."""
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(text), *arguments], timeout=timeout, text=True, capture_output=True,
            env={**os.environ, "PYTHONPATH": SOURCES, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": COMPILED, **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout + done.stderr


def pid(client):
    """Returns the ID of a client's process."""
    return client._process._process.pid


def shop(client, **options):
    return client.pool.create(name="shop", developer_provider="login.shop", **options)


def mint(client, pool, user="alice", **options):
    return client.token.mint_for_developer(pool_id=pool.pool_id, logins={"login.shop": user}, **options)


__all__ = ["ClientTest", "NOWHERE", "ROOT", "SOURCES", "mint", "mintmark", "pid", "shop"]
