"""Tests of stores behind PgBouncer in transaction mode: every transaction may use another connection to the server."""

import os
import subprocess
import time
import unittest

import postgres
from endtoend import EndToEnd, make_pool, mint
from pgbouncer import PgBouncer
from pooledload import PooledLoad
from sidecar import Sidecar
from test_postgres import CommitsInDoubt, OnPostgres, SeveralProcesses, Wire

# The number of processes that share the server connections. The full measurement uses 200, through 20 connections.
PROCESSES = int(os.environ.get("MINTMARK_POOLED_PROCESSES", "24"))


class BehindPgBouncer(OnPostgres):
    # 20 with 200 processes, as in the full measurement.
    server_connections = max(2, PROCESSES // 10)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.pooler = PgBouncer(cls.server, cls.server_connections)
        cls.addClassCleanup(cls.pooler.close)

    def open(self, *options, environment=None, host=None, **more):
        uri = self.server.uri(self.database, host=host) if host else self.pooler.uri(self.database)
        sidecar = Sidecar(*options, store=uri, environment={"MINTMARK_MASTER_KEY": postgres.MASTER_KEY, **(environment or {})}, **more)
        self.addCleanup(sidecar.close)
        return sidecar


class SeveralProcessesBehindPgBouncer(BehindPgBouncer, SeveralProcesses):
    pass


class CommitsInDoubtBehindPgBouncer(BehindPgBouncer, CommitsInDoubt):
    def setUp(self):
        OnPostgres.setUp(self)
        self.wire = Wire(self.folder, f"{self.pooler.folder}/.s.PGSQL.{self.pooler.port}")
        self.addCleanup(self.wire.listener.close)
        self.sidecar = self.open(host=self.folder)
        self.pool = make_pool(self.sidecar)["poolId"]
        self.settled(self.sidecar, server=self.server)


class Pooled(BehindPgBouncer):
    def on_used_connection(self, text):
        """Runs SQL on a server connection that the processes have used."""
        return self.pooler.sql(text, self.database)

    def test_nothing_remains_on_a_server_connection(self):
        sidecars = [self.open() for _ in range(3)]
        pool = make_pool(sidecars[0])["poolId"]
        for number in range(30):
            mint(sidecars[number % 3], pool, f"user {number}")
        self.assertEqual(self.on_used_connection("SELECT COUNT(*) FROM pg_prepared_statements"), ["0"])
        self.assertEqual(self.on_used_connection("SELECT COUNT(*) FROM pg_listening_channels()"), ["0"])
        self.assertEqual(self.on_used_connection("SELECT current_setting('lock_timeout'), current_setting('statement_timeout')"), ["0|0"])
        self.assertEqual(self.on_used_connection("SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory'"), ["0"])

    def test_requests_continue_after_a_restart_of_the_pooler_and_of_the_server(self):
        sidecar = self.open()
        pool = make_pool(sidecar)["poolId"]
        known = mint(sidecar, pool)["identityId"]
        self.pooler.stop()
        call = sidecar.send("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": "alice"}})
        self.settled(sidecar)
        self.assertEqual(sidecar.arrived(), 0)
        self.pooler.start()
        self.assertEqual(sidecar.answer(call)["identityId"], known)
        for order in ["stop", "crash"]:
            self.server.order(order)
            call = sidecar.send("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": order}})
            self.settled(sidecar)
            self.assertEqual(sidecar.arrived(), 0)
            self.server.order("start")
            self.assertTrue(sidecar.answer(call)["isNewIdentity"])
        self.intact(sidecar)

    def test_pooler_that_cannot_reach_its_server_is_an_error_that_can_be_retried(self):
        sidecar = self.open()
        make_pool(sidecar)
        self.server.order("stop")
        try:
            error = sidecar.refusal("pool.create", {"name": "x"})
            self.assertEqual((error.type, error.data["retryAfterSeconds"]), ("storeCannotOpen", 1))
            self.assertEqual(self.open().refusal("pool.list").type, "storeCannotOpen")
        finally:
            self.server.order("start")
        deadline = time.monotonic() + 60
        while not sidecar.call("system.health")["ready"]:
            self.assertLess(time.monotonic(), deadline)


class ManyProcesses(EndToEnd):
    stores = ("postgres",)

    def test_many_processes_share_a_few_server_connections(self):
        """All processes begin at the same time and do mixed work. The benchmark `sidecars` measures 200 processes."""
        with PooledLoad(PROCESSES, max(2, PROCESSES // 10), checked=True) as load:
            load.start()
            load.run()
            self.assertEqual(load.losses(), [])
            self.assertLessEqual(load.most_connections, load.connections)
            load.seconds_until_revoked()   # Fails unless every process refuses the revoked credentials.

    def test_first_writes_of_connections_do_not_wait_for_each_other(self):
        """The first record of a chain of the audit log waits for a sweep, and for no other first record."""
        server = postgres.Server()
        self.addCleanup(server.close)
        database = server.database()
        with server.sidecar(database) as one:
            make_pool(one)
            with Holding(server, database, "SELECT value FROM store_fact WHERE name = 'swept.at' FOR SHARE"), server.sidecar(database) as other:
                self.assertIn("poolId", make_pool(other))
            with Holding(server, database, "UPDATE store_fact SET value = value WHERE name = 'swept.at'") as sweep, server.sidecar(database) as other:
                call = other.send("pool.create", {"name": "late"})
                self.settled(other, server=server)
                self.assertEqual(other.arrived(), 0)
                sweep.end()
                self.assertEqual(other.answer(call)["name"], "late")


class Holding:
    """A transaction of psql that holds the locks of a statement."""

    def __init__(self, server, database, statement):
        self.process = subprocess.Popen(
            ["psql", "-X", "-q", "-A", "-t", "-h", server.folder, "-U", "mintmark", "-d", database], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdin.write(f"BEGIN;\n{statement};\n\\echo begun\n")
        self.process.stdin.flush()
        while self.process.stdout.readline() != "begun\n":
            pass

    def end(self):
        if self.process.stdin.closed:
            return
        self.process.stdin.write("COMMIT;\n")
        self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


if __name__ == "__main__":
    unittest.main()
