"""Tests of failovers from a PostgreSQL primary to its synchronous standby server, under load."""

import os
import threading
import time
import unittest

import pgcluster
from endtoend import EndToEnd, make_pool, mint
from postgres import MASTER_KEY
from sidecar import RpcError, Sidecar, rested

# The number of failovers of the load test. The full measurement uses 100.
FAILOVERS = int(os.environ.get("MINTMARK_FAILOVERS", "3"))
# Between the batches of one load, so that the checks at the end do not take longer than the failovers.
PAUSE_SECONDS = 0.02
# A process waits five seconds for the outcome of a commit that the server did not confirm.
PATIENCE_SECONDS = 4.5
RETRYABLE = {"storeCannotOpen", "storeBusy"}


class Load:
    """Sends requests that create identities and pools, and records the result of each."""

    def __init__(self, sidecar, pool, name):
        self.sidecar, self.pool, self.name = sidecar, pool, name
        self.minted, self.pools, self.refused, self.unknown, self.others = {}, {}, set(), set(), []
        self.successes = []  # the times of successful responses
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        number = 0
        while not self._ends.is_set():
            calls = []
            for _ in range(8):
                number += 1
                user, pool = f"{self.name} user {number}", f"{self.name} pool {number}"
                calls.append((user, self.sidecar.send("token.mintForDeveloper", {"poolId": self.pool, "logins": {"login.shop": user}})))
                calls.append((pool, self.sidecar.send("pool.create", {"name": pool})))
            for name, call in calls:
                self._collect(name, call)
            time.sleep(PAUSE_SECONDS)

    def _collect(self, name, call):
        try:
            result = self.sidecar.answer(call, 90)
        except RpcError as error:
            if error.type == "outcomeUnknown":
                self.unknown.add(name)
            elif error.type in RETRYABLE:
                self.refused.add(name)
            else:
                self.others.append((name, error.type, error.message))
            return
        self.successes.append(time.monotonic())
        if "identityId" in result:
            self.minted[name] = result["identityId"]
            if not result["isNewIdentity"]:
                self.others.append((name, "twice", result))
        else:
            self.pools[name] = result["poolId"]

    def end(self):
        self._ends.set()
        self._thread.join(120)


class Failover(EndToEnd):
    stores = ("postgres",)

    def setUp(self):
        super().setUp()
        self.cluster = pgcluster.Cluster()
        self.addCleanup(self.cluster.close)
        self.cluster.sql("CREATE DATABASE shop")

    def open(self):
        sidecar = Sidecar(store=self.cluster.uri("shop"), environment={"MINTMARK_MASTER_KEY": MASTER_KEY})
        self.addCleanup(sidecar.close)
        return sidecar

    def all_pools(self, sidecar):
        pools, cursor = [], None
        while True:
            page = sidecar.call("pool.list", {"limit": 60, **({"cursor": cursor} if cursor else {})})
            pools += page["pools"]
            cursor = page.get("nextCursor")
            if not cursor:
                return pools

    def test_failovers_under_load_lose_no_confirmed_change_and_repeat_none(self):
        sidecars = [self.open() for _ in range(2)]
        pool = make_pool(sidecars[0])["poolId"]
        loads = [Load(sidecar, pool, f"load {index}") for index, sidecar in enumerate(sidecars)]
        slowest = longest = 0
        try:
            for number in range(FAILOVERS):
                time.sleep(0.3)
                began = time.monotonic()
                promoted = self.cluster.fail_over("fast" if number % 3 == 2 else "immediate")
                deadline = time.monotonic() + 60
                for load in loads:
                    while not any(at > promoted for at in load.successes[-50:]) and time.monotonic() < deadline:
                        time.sleep(0.01)
                    after = [at for at in load.successes if at > promoted]
                    self.assertTrue(after, "no request succeeded after the failover")
                    slowest, longest = max(slowest, after[0] - promoted), max(longest, after[0] - began)
                self.cluster.attach_standby()
        finally:
            for load in loads:
                load.end()
        sidecar = self.open()
        names = [each["name"] for each in self.all_pools(sidecar)]
        users = set(self.cluster.sql("SELECT subject FROM login", "shop"))
        for load in loads:
            self.assertEqual(load.others, [])
            if longest < PATIENCE_SECONDS:
                self.assertEqual(load.unknown, set(), "every failover was over before the time limit, so no outcome remained unknown")
            for name, identity in load.minted.items():
                self.assertIn(name, users)
            for name in load.pools:
                self.assertEqual(names.count(name), 1, name)
            self.assertFalse(load.refused & (users | set(names)), "a change took effect although its request was refused")
        for name, identity in list(loads[0].minted.items())[::20]:
            self.assertEqual(mint(sidecar, pool, name)["identityId"], identity)
        self.assertEqual(len(names), len(set(names)))
        self.assertTrue(sidecar.call("audit.verify")["intact"])
        print(f"{FAILOVERS} failovers: {sum(len(load.minted) + len(load.pools) for load in loads)} confirmed changes, "
              f"{sum(len(load.refused) for load in loads)} refused, service resumed at the latest {slowest:.2f} s after the promotion")

    def test_commit_that_did_not_wait_for_the_standby_server_is_not_confirmed_before_the_standby_has_it(self):
        sidecar = self.open()
        pool = make_pool(sidecar)["poolId"]
        standby = int((self.cluster.folder / f"data-{self.cluster.standby}" / "postmaster.pid").read_text().splitlines()[0])
        children = [int(each) for each in open(f"/proc/{standby}/task/{standby}/children", encoding="ascii").read().split()]
        for process in [standby, *children]:
            os.kill(process, 19)  # SIGSTOP
        try:
            call = sidecar.send("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": "alice"}})
            deadline = time.monotonic() + 60
            while not (waiting := self.cluster.sql("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'")):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            # The server then reports success with a warning, although only the primary has the change.
            self.cluster.sql(f"SELECT pg_cancel_backend({waiting[0]})")
            while len(self.cluster.sql("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'")) != 1 and time.monotonic() < deadline:
                time.sleep(0.02)
            rested(sidecar.process.pid)
            self.assertEqual(sidecar.arrived(), 0, "the response must wait for the standby server")
        finally:
            for process in [standby, *children]:
                os.kill(process, 18)  # SIGCONT
        identity = sidecar.answer(call)["identityId"]
        self.cluster.fail_over()
        self.assertEqual(mint(self.open(), pool)["identityId"], identity)


if __name__ == "__main__":
    unittest.main()
