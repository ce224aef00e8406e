"""New stores in files. They begin with the tables of an empty store; `Tests/Simulator` ends and fails every step of their creation."""

import concurrent.futures
import json
import os
import sqlite3
import stat
import unittest

from endtoend import EndToEnd, make_pool
from sidecar import run


class NewStores(EndToEnd):
    stores = ("sqlite",)

    def content(self, store):
        with sqlite3.connect(store) as connection:
            facts = [connection.execute(f"PRAGMA {name}").fetchall() for name in (
                "journal_mode", "page_size", "auto_vacuum", "encoding", "application_id", "user_version", "quick_check", "foreign_key_check")]
            tables = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name").fetchall()
            meta = connection.execute("SELECT name FROM mintmark_meta ORDER BY name").fetchall()
        connection.close()
        return facts, tables, meta

    def test_new_file_and_empty_file_become_the_same_store(self):
        """An empty file is filled by the migrations, a new file begins with their result."""
        before = os.umask(0)
        self.addCleanup(os.umask, before)
        new, empty, linked = self.path("new.db"), self.path("empty.db"), self.path("linked.db")
        with open(empty, "wb"):
            pass
        os.chmod(empty, 0o640)
        os.symlink(empty, linked)
        for store in (new, linked):
            sidecar = self.spawn(store=store)
            self.works(sidecar)
            make_pool(sidecar)
            self.assertEqual(sidecar.finish(), 0)
        self.assertEqual(self.content(new), self.content(empty))
        self.assertEqual(self.content(new)[0][0], [("wal",)])
        self.assertEqual([stat.S_IMODE(os.stat(each).st_mode) for each in (new, empty)], [0o600, 0o640])
        self.assertEqual(os.stat(new).st_nlink, 1)
        self.assertTrue(os.path.islink(linked))
        self.assertEqual({each for each in os.listdir(self.folder) if each.endswith((".part", "-wal", "-shm"))}, set())

    def test_new_store_is_logged(self):
        """A mistyped path creates a store, too. An empty file can be the rest of a store, so it causes a warning, in every command."""
        new, empty, other = self.path("new.db"), self.path("empty.db"), self.path("other.db")
        for each in (empty, other):
            with open(each, "wb"):
                pass
            os.chmod(each, 0o600)
        for store, level, message in (
                (new, "info", "a new store was created"), (empty, "warning", "the file of the store was empty; a new store was created in it")):
            sidecar = self.spawn(store=store)
            sidecar.call("pool.list")
            self.assertEqual(sidecar.finish(), 0)
            line, = map(json.loads, sidecar.stderr_text().splitlines())
            self.assertEqual((line["level"], line["message"], line["store"]), (level, message, store))
            sidecar = self.spawn(store=store)
            sidecar.call("pool.list")
            self.assertEqual(sidecar.finish(), 0)
            self.assertEqual(sidecar.stderr_text(), "", "the store is no longer new")
        for wanted in (1, 0):
            done = run("call", "--store", other, "pool.list", home=self.folder)
            self.assertEqual((done.returncode, done.stderr.count(b"restore a backup with mintmark restore --replace")), (0, wanted), done.stderr)

    def test_doctor_reports_empty_file_without_store(self):
        empty = self.path("empty.db")
        with open(empty, "wb"):
            pass
        done = run("doctor", "--store", empty, home=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(
            done.stdout.decode(),
            "storeCannotOpen: .*empty.db cannot be opened: the file is empty and contains no store. If it contained one before, restore a backup")
        self.assertEqual(os.path.getsize(empty), 0)

    def test_processes_that_create_one_store_at_the_same_time_share_it(self):
        for round in range(8):
            store = self.path(f"{round}.db")
            with concurrent.futures.ThreadPoolExecutor(4) as threads:
                sidecars = list(threads.map(lambda _: self.spawn(store=store), range(4)))
                pools = list(threads.map(lambda each: make_pool(each)["poolId"], sidecars))
            for sidecar in sidecars:
                self.assertEqual({each["poolId"] for each in sidecar.call("pool.list")["pools"]}, set(pools))
            for sidecar in sidecars:
                self.assertEqual(sidecar.finish(), 0)
            self.assertEqual([each for each in os.listdir(self.folder) if each.endswith(".part")], [])
            self.assertEqual(self.content(store)[0][-2:], [[("ok",)], []])

    def test_store_that_cannot_be_created_is_reported(self):
        os.symlink(self.path("nowhere", "store.db"), self.path("broken.db"))
        for name, reason in ("broken.db", "broken symbolic link"), (os.path.join("missing", "store.db"), "does not exist"):
            sidecar = self.spawn(store=self.path(name))
            error = sidecar.refusal("pool.list")
            self.assertEqual(error.type, "storeCannotOpen", str(error))
            self.assertIn(reason, str(error))
        self.assertEqual(os.listdir(self.folder), ["broken.db"])


if __name__ == "__main__":
    unittest.main()
