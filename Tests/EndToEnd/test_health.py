"""system.health for a store that cannot be written to, or whose file was removed or replaced."""

import json
import os
import resource
import shutil
import sqlite3
import time

from endtoend import EndToEnd, make_pool
from sidecar import request_line, run


class Health(EndToEnd):
    stores = ("sqlite",)

    def setUp(self):
        super().setUp()
        self.store = self.path("store.db")

    def becomes(self, sidecar, ready, detail=""):
        """Waits for the readiness, since results are cached, and for a text in the check of the store."""
        deadline = time.monotonic() + 60
        while True:
            health = sidecar.call("system.health")
            check = next(check for check in health["checks"] if check["name"] == "store")
            if health["ready"] is ready and detail in check.get("detail", ""):
                return
            self.assertLess(time.monotonic(), deadline, health)
            time.sleep(0.1)

    def test_health_succeeds_after_reads_in_same_batch(self):
        """Cached reads and reads in the same batch do not delay the test write."""
        for store in (":memory:", self.store):
            sidecar = self.spawn("--sequential", store=store)
            sidecar.write(b"".join(request_line(method, id=number) for number, method in enumerate(("pool.list", "system.health", "system.health"))))
            for line in sidecar.lines(3)[1:]:
                self.assertTrue(json.loads(line)["result"]["ready"], line)

    def grown(self):
        """Returns spawn options under which a new process has no space left. A reader keeps the write-ahead log long, and the file size is limited,
        as an unprivileged user can do. The shared memory of the log just fits."""
        other = self.spawn(store=self.store)
        make_pool(other)
        reader = sqlite3.connect(self.store, isolation_level=None)
        self.addCleanup(reader.close)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM pool").fetchall()
        for _ in range(9):
            make_pool(other)
        self.assertGreater(os.path.getsize(self.store + "-wal"), 40_000)
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (33_000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
        return {"preexec_fn": limit, "restore_signals": False}

    def test_full_disk_is_reported(self):
        sidecar = self.spawn(store=self.store, **self.grown())
        self.assertEqual(len(sidecar.call("pool.list")["pools"]), 10)
        self.becomes(sidecar, False, "is full")
        self.refused("storeFull", sidecar, "pool.create", {"name": "shop"})

    def test_removed_or_replaced_file_is_reported(self):
        for replaced in (False, True):
            with self.subTest(replaced=replaced):
                sidecar = self.spawn(store=self.store)
                make_pool(sidecar)
                self.becomes(sidecar, True)
                if replaced:
                    shutil.copy(self.store, self.path("other.db"))
                    os.replace(self.path("other.db"), self.store)
                else:
                    os.remove(self.store)
                self.becomes(sidecar, False, "removed or replaced")
                sidecar.close()
                for name in os.listdir(self.folder):
                    os.remove(self.path(name))

    def test_locked_store_is_reported(self):
        """While another program holds a lock, health returns before a write does that waits for it. It recovers when the lock is released."""
        sidecar = self.spawn(store=self.store)
        make_pool(sidecar)
        other = sqlite3.connect(self.store, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        self.becomes(sidecar, False, "waited")   # After its five seconds, the write of the check would have failed with another text.
        other.execute("ROLLBACK")
        other.close()
        self.becomes(sidecar, True)

    def test_health_writes_at_most_once_per_second(self):
        sidecar = self.spawn(store=self.store)
        make_pool(sidecar)
        self.becomes(sidecar, True)
        before = os.path.getsize(self.store + "-wal")
        began = time.monotonic()
        for _ in range(200):
            sidecar.call("system.health")
        self.assertLessEqual(os.path.getsize(self.store + "-wal") - before, (2 + time.monotonic() - began) * 3 * 4200)

    def test_doctor_tests_writing(self):
        done = run("doctor", "--store", self.store, home=self.folder, **self.grown())
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn(b"is full", done.stdout)
        done = run("doctor", "--store", self.store, home=self.folder)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(b"the store is writable", done.stdout)
