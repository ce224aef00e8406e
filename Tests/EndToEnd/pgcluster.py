"""A PostgreSQL primary with a synchronous standby server for the tests, and failovers between the two."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time


def programs():
    """Returns the folder of the newest installed server."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda each: int(each.parent.name))
    if not found:
        raise AssertionError("no PostgreSQL server is installed (Debian package postgresql)")
    return found[-1]


class Cluster:
    """Two servers, `a` and `b`, of which one is the primary. A commit returns when both have it on disk."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="mintmark-cluster-"))
        self._as = []
        if os.geteuid() == 0:  # The server refuses to run as root.
            shutil.chown(self.folder, "postgres")
            self._as = ["runuser", "-u", "postgres", "--"]
        self._bin = programs()
        self.primary, self.standby = "a", "b"
        self._run("initdb", "-D", self._data("a"), "-A", "trust", "-U", "mintmark", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        for name in "ab":
            self._as_user("mkdir", self.folder / name)
        self._configure("a")
        self._control("a", "-l", self.folder / "a.log", "start")
        self.attach_standby()

    def _data(self, name):
        return self.folder / f"data-{name}"

    def _as_user(self, *command, check=True):
        done = subprocess.run([*self._as, *map(str, command)], cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if check and done.returncode:
            raise AssertionError(f"{command[0]} failed: {done.stdout}")
        return done.stdout

    def _run(self, program, *arguments):
        return self._as_user(self._bin / program, *arguments)

    def _control(self, name, *arguments):
        return self._run("pg_ctl", "-s", "-w", "-D", self._data(name), *arguments)

    def _configure(self, name):
        settings = {
            "listen_addresses": "''", "unix_socket_directories": f"'{self.folder / name}'", "fsync": "off", "max_connections": "100",
            "synchronous_standby_names": "''", "wal_receiver_status_interval": "1", "wal_retrieve_retry_interval": "'100ms'"}
        lines = "".join(f"{setting} = {value}\n" for setting, value in settings.items())
        self._as_user("sh", "-c", f"cat >> {self._data(name)}/postgresql.conf <<'END'\n{lines}END")

    def attach_standby(self):
        """Makes the standby server a new copy of the primary, and returns when commits wait for it."""
        name, primary = self.standby, self.primary
        self._as_user("rm", "-rf", self._data(name))
        self._run(
            "pg_basebackup", "-D", self._data(name), "-R", "-c", "fast", "-X", "stream", "-U", "mintmark", "-h", self.folder / primary, "--no-sync",
            "-d", "application_name=standby")
        self._configure(name)
        self._control(name, "-l", self.folder / f"{name}.log", "start")
        self.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.sql("SELECT pg_reload_conf()")
        deadline = time.monotonic() + 30
        while self.sql("SELECT sync_state FROM pg_stat_replication") != ["sync"]:
            if time.monotonic() > deadline:
                raise AssertionError("the standby server did not become synchronous")
            time.sleep(0.02)

    def sql(self, text, database="postgres", name=None):
        """Runs SQL on the primary or on the server `name`. Returns the lines of the output."""
        done = subprocess.run(
            ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.folder / (name or self.primary), "-U", "mintmark", "-d", database,
             "-c", text], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def uri(self, database):
        return f"postgres://mintmark@/{database}?host={self.folder / 'a'},{self.folder / 'b'}"

    def fail_over(self, how="immediate"):
        """Ends the primary (`immediate` is a crash, `fast` a clean shutdown) and promotes the standby server. Returns the time of the
        promotion, by the monotonic clock."""
        self._control(self.primary, "-m", how, "stop")
        self.primary, self.standby = self.standby, self.primary
        # Without this setting, commits would wait for a standby server that does not exist yet.
        self._as_user("sh", "-c", f"echo \"synchronous_standby_names = ''\" >> {self._data(self.primary)}/postgresql.auto.conf")
        self._control(self.primary, "promote")
        promoted = time.monotonic()
        self.sql("SELECT pg_reload_conf()")
        return promoted

    def close(self):
        for name in "ab":
            self._as_user(self._bin / "pg_ctl", "-s", "-m", "immediate", "-D", self._data(name), "stop", check=False)
        shutil.rmtree(self.folder, ignore_errors=True)
