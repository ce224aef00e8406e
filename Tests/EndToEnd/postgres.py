"""A PostgreSQL server for the tests, which gives each test its own database. With MINTMARK_TEST_POOLER, all tests use it through PgBouncer."""

import itertools
import os
import subprocess

import pgbouncer
from sidecar import ROOT, Sidecar, activity

# The processes of the connections, and whether they work. One that waits for a lock does not.
CONNECTIONS = (
    "SELECT pid, COALESCE(state = 'active' AND wait_event_type IS DISTINCT FROM 'Lock', TRUE) FROM pg_stat_activity "
    "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() ORDER BY pid")
# Any 32 bytes. A store in PostgreSQL requires an explicit master key.
MASTER_KEY = "A" * 43


def activity_of(connections):
    """As `Server.activity`, from the lines of CONNECTIONS. The state of a connection changes only when the server reads the request, so its process
    must wait, too."""
    found = {}
    for line in connections:
        process, works = line.split("|")
        try:
            found[process] = activity(process) if works == "f" else None
        except OSError:
            return None   # The process has just ended.
    return None if None in found.values() else found


class Server:
    """Runs `Tests/postgres`: a server that ends at the latest with this process. `settings` are NAME=VALUE."""

    def __init__(self, *settings):
        self.process = subprocess.Popen(
            [os.path.join(ROOT, "Tests", "postgres"), *settings], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.folder = self._line()
        self._pooler = pgbouncer.PgBouncer(self) if os.environ.get("MINTMARK_TEST_POOLER") else None
        self._numbers = itertools.count(1)

    def _line(self):
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError("the PostgreSQL server for the tests does not work (Debian package postgresql)")
        return line.rstrip("\n")

    def order(self, order):
        """Stops, crashes or starts the server. Returns when that is complete."""
        self.process.stdin.write(order + "\n")
        self.process.stdin.flush()
        assert self._line() == order

    def uri(self, database, user="mintmark", host=None):
        if self._pooler and host is None:
            return self._pooler.uri(database)
        return f"postgres://{user}@/{database}?host={host or self.folder}"

    def sql(self, text, database="postgres"):
        """Runs SQL with psql. Returns the lines of the output."""
        done = subprocess.run(
            ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-U", "mintmark", "-d", database, "-c", text],
            capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def activity(self):
        """Returns a value that changes when the server works for a process, or `None` if it works now."""
        return activity_of(self.sql(CONNECTIONS))

    def database(self):
        """Creates an empty database. Returns its name."""
        name = f"test{next(self._numbers)}"
        self.sql(f"CREATE DATABASE {name}")
        return name

    def sidecar(self, database, *options, environment=None, host=None, **more):
        """Starts a process whose store is in a database of this server."""
        return Sidecar(
            *options, store=self.uri(database, host=host), environment={"MINTMARK_MASTER_KEY": MASTER_KEY, **(environment or {})}, **more)

    def close(self):
        if self._pooler:
            self._pooler.close()
        self.process.stdin.close()
        self.process.wait(120)  # Shutdown also removes thousands of tables.
        self.process.stdout.close()
