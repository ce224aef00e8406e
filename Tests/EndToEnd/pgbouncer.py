"""A PgBouncer in front of the PostgreSQL server of the tests, which gives each transaction any of a few server connections."""

import os
import shutil
import subprocess
import tempfile
import time

PROGRAM = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"


class PgBouncer:
    """Runs PgBouncer in transaction mode, with at most `server_connections` connections to the server per database."""

    def __init__(self, server, server_connections=4, port=6432, **settings):
        if not os.path.exists(PROGRAM):
            raise AssertionError("PgBouncer is not installed (Debian package pgbouncer)")
        self.folder = tempfile.mkdtemp(prefix="mintmark-pgbouncer-")
        self.port = port
        self._as = []
        if os.geteuid() == 0:  # PgBouncer refuses to run as root.
            shutil.chown(self.folder, "postgres")
            self._as = ["runuser", "-u", "postgres", "--"]
        settings = {
            "listen_addr": "", "unix_socket_dir": self.folder, "listen_port": port, "auth_type": "any", "pool_mode": "transaction",
            "default_pool_size": server_connections, "max_client_conn": 2000, "server_login_retry": 1, "ignore_startup_parameters": "",
            "logfile": os.path.join(self.folder, "log"), "pidfile": os.path.join(self.folder, "pid"), "admin_users": "mintmark", **settings}
        lines = ["[databases]", f"* = host={server.folder} user=mintmark", "[pgbouncer]"]
        self._write("pgbouncer.ini", lines + [f"{name} = {value}" for name, value in settings.items()])
        self.process = None
        self.start()

    def _write(self, name, lines):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        os.chmod(path, 0o644)

    def start(self):
        self.process = subprocess.Popen(
            [*self._as, PROGRAM, "-q", os.path.join(self.folder, "pgbouncer.ini")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        socket = os.path.join(self.folder, f".s.PGSQL.{self.port}")
        deadline = time.monotonic() + 30
        while not os.path.exists(socket):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError("PgBouncer did not start: " + self.log())
            time.sleep(0.02)

    def log(self):
        try:
            with open(os.path.join(self.folder, "log"), encoding="utf-8") as file:
                return file.read()
        except FileNotFoundError:
            return "no log"

    def stop(self):
        """Ends PgBouncer and with it all connections."""
        if os.geteuid() == 0:  # runuser does not pass the signal on before it has started.
            subprocess.run(["pkill", "-INT", "-f", f"{PROGRAM} -q {self.folder}/"], check=False)
        self.process.terminate()
        self.process.wait(20)
        socket = os.path.join(self.folder, f".s.PGSQL.{self.port}")
        deadline = time.monotonic() + 30
        while os.path.exists(socket) and time.monotonic() < deadline:
            time.sleep(0.02)

    def uri(self, database):
        return f"postgres://mintmark@/{database}?host={self.folder}&port={self.port}"

    def sql(self, text, database):
        """Runs SQL through PgBouncer. Returns the lines of the output."""
        done = subprocess.run(
            ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.folder, "-p", str(self.port), "-U", "mintmark", "-d", database,
             "-c", text],
            capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    def close(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
