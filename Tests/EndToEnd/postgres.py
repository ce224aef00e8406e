"""A PostgreSQL server of the tests' own, each test with a database of its own in it."""

import itertools
import os
import subprocess

from sidecar import ROOT, Sidecar

# Any 32 bytes: a store in PostgreSQL needs a master key given.
MASTER_KEY = "A" * 43


class Server:
    """`Tests/postgres`: a server that ends with this process at the latest. `settings` are NAME=VALUE."""

    def __init__(self, *settings):
        self.process = subprocess.Popen(
            [os.path.join(ROOT, "Tests", "postgres"), *settings], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.folder = self._line()
        self._numbers = itertools.count(1)

    def _line(self):
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError("the PostgreSQL server for the tests does not work (Debian package postgresql)")
        return line.rstrip("\n")

    def order(self, order):
        """Stops, crashes or starts the server, and returns when that is done."""
        self.process.stdin.write(order + "\n")
        self.process.stdin.flush()
        assert self._line() == order

    def uri(self, database, user="mintmark", host=None):
        return f"postgres://{user}@/{database}?host={host or self.folder}"

    def sql(self, text, database="postgres"):
        """Runs SQL with psql: the lines it prints."""
        done = subprocess.run(
            ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-U", "mintmark", "-d", database, "-c", text],
            capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def database(self):
        """A new, empty database: its name."""
        name = f"test{next(self._numbers)}"
        self.sql(f"CREATE DATABASE {name}")
        return name

    def sidecar(self, database, *options, environment=None, host=None, **more):
        """A process whose store is there."""
        return Sidecar(
            *options, store=self.uri(database, host=host), environment={"MINTMARK_MASTER_KEY": MASTER_KEY, **(environment or {})}, **more)

    def close(self):
        self.process.stdin.close()
        self.process.wait(120)  # thousands of tables go with it
        self.process.stdout.close()
