"""Tests of stores behind PgBouncer in transaction mode: every transaction may use another connection to the server."""

import concurrent.futures
import os
import time
import unittest

import postgres
from endtoend import make_pool, mint
from pgbouncer import PgBouncer
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

    def test_many_processes_share_a_few_server_connections(self):
        sidecars = [self.open() for _ in range(PROCESSES)]
        pool = make_pool(sidecars[0])["poolId"]
        for number, sidecar in enumerate(sidecars):
            for call in range(10):
                sidecar.send("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": f"user {number} {call}"}}, id=call)
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            answers = list(threads.map(lambda each: [each.answer(call, 120) for call in range(10)], sidecars))
        self.assertTrue(all(answer["isNewIdentity"] for each in answers for answer in each))
        used = self.server.sql(
            f"SELECT COUNT(*) FROM pg_stat_activity WHERE datname = '{self.database}' AND backend_type = 'client backend' AND pid <> pg_backend_pid()")
        self.assertLessEqual(int(used[0]), self.server_connections)
        self.assertEqual(self.server.sql("SELECT COUNT(*) FROM login", self.database), [str(10 * PROCESSES)])
        self.intact(sidecars[-1])

    def test_requests_continue_after_a_restart_of_the_pooler_and_of_the_server(self):
        sidecar = self.open()
        pool = make_pool(sidecar)["poolId"]
        known = mint(sidecar, pool)["identityId"]
        self.pooler.stop()
        call = sidecar.send("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": "alice"}})
        time.sleep(0.5)
        self.pooler.start()
        self.assertEqual(sidecar.answer(call)["identityId"], known)
        for order in ["stop", "crash"]:
            self.server.order(order)
            call = sidecar.send("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": order}})
            time.sleep(0.3)
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
        deadline = time.monotonic() + 30
        while not sidecar.call("system.health")["ready"]:
            self.assertLess(time.monotonic(), deadline)


if __name__ == "__main__":
    unittest.main()
