"""Stores that are locked, read-only, damaged, full, too new or encrypted with another key: typed errors, and the process continues."""

import json
import os
import resource
import shutil
import sqlite3
import stat
import subprocess
import threading
import time

import stores
from endtoend import EndToEnd, make_pool, mint, only
from sidecar import RpcError, binary, request_line

# A method that reads the store and one that writes to it.
READ = ("pool.list", {})
WRITE = ("pool.create", {"name": "shop", "developerProvider": "login.shop"})


class Stores(EndToEnd):
    stores = ("sqlite",)

    def setUp(self):
        super().setUp()
        os.mkdir(self.path("data"))
        self.store = self.path("data", "store.db")

    def created(self, users=0, **more):
        """Creates a store on disk with a pool and some users, and closes it. Returns the pool ID and the identity IDs by user."""
        sidecar = self.spawn(store=self.store, **more)
        pool = make_pool(sidecar)["poolId"]
        identities = {f"user-{i}": mint(sidecar, pool, f"user-{i}")["identityId"] for i in range(users)}
        self.assertEqual(sidecar.finish(), 0)
        return pool, identities

    def key_file(self):
        """Returns the path of the master key file in the directory of the store."""
        names = [name for name in os.listdir(self.path("data")) if name not in ("store.db", "store.db-wal", "store.db-shm")]
        self.assertEqual(len(names), 1, names)
        return self.path("data", names[0])

    def unusable(self, wanted, *options, requests=(READ, WRITE), **more):
        """Checks that calls that need the store fail with a typed error, that others succeed, and that the process exits with 2."""
        sidecar = self.spawn(*options, store=self.store, **more)
        for method, params in requests:
            error = sidecar.refusal(method, params)
            self.assertIn(error.type, {wanted} if isinstance(wanted, str) else wanted, str(error))
            self.assertIn("methods", sidecar.call("rpc.discover"))
            self.assertGreater(len(error.message), 20)
        health = sidecar.call("system.health")
        self.assertFalse(health["ready"], health)
        self.assertTrue(any(not check["ok"] and check.get("detail") for check in health["checks"]), health)
        self.assertEqual(sidecar.finish(), 2)
        return error

    # Files of a store.

    def test_store_files_are_readable_by_the_owner_only(self):
        old = os.umask(0)
        try:
            sidecar = self.spawn(store=self.store)
        finally:
            os.umask(old)
        mint(sidecar, make_pool(sidecar)["poolId"])
        names = os.listdir(self.path("data"))
        self.assertIn("store.db", names)
        for name in names:
            self.assertEqual(stat.S_IMODE(os.stat(self.path("data", name)).st_mode), 0o600, name)
        self.assertEqual(sidecar.finish(), 0)

    def test_app_option_selects_a_private_file_in_the_data_directory(self):
        """`--app` names a file under XDG_DATA_HOME. Its directories are accessible by the owner only."""
        done = subprocess.run([binary(), "call", "--app", "notes", *WRITE[:1], json.dumps(WRITE[1])], capture_output=True, text=True,
                              env={**os.environ, "XDG_DATA_HOME": self.path("xdg"), "HOME": self.folder})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("xdg", "mintmark", "notes.db")).st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("xdg", "mintmark")).st_mode) & 0o077, 0)

    def test_restart_keeps_the_data(self):
        pool, identities = self.created(users=5)
        sidecar = self.spawn(store=self.store)
        for user, identity in identities.items():
            again = mint(sidecar, pool, user)
            self.assertEqual((again["identityId"], again["isNewIdentity"]), (identity, False))

    def test_private_keys_are_encrypted(self):
        """The database contains no private key and no master key in plain text."""
        pool, _ = self.created(users=3)
        with open(self.key_file(), "rb") as file:
            key = file.read().strip()
        data = b"".join(open(self.path("data", name), "rb").read() for name in os.listdir(self.path("data")) if name != os.path.basename(self.key_file()))
        self.assertNotIn(key, data)
        for sign in (b"PRIVATE KEY", bytes.fromhex("06072a8648ce3d020106082a8648ce3d030107")):
            self.assertNotIn(sign, data)

    # Unusable stores.

    def test_locked_store_fails_with_store_busy_for_writes_only(self):
        """While another program holds a write lock, writes fail with a retry time and reads succeed. Afterwards, writes succeed."""
        pool, identities = self.created(users=1)
        sidecar = self.spawn(store=self.store)
        self.assertEqual(mint(sidecar, pool, "user-0")["identityId"], identities["user-0"])
        other = sqlite3.connect(self.store, isolation_level=None)
        self.addCleanup(other.close)
        other.execute("BEGIN IMMEDIATE")
        other.execute("CREATE TABLE held (x)")
        waiting = [sidecar.send("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": f"new-{i}"}}) for i in range(20)]
        for _ in range(20):
            self.works(sidecar)
            self.assertEqual(mint(sidecar, pool, "user-0")["identityId"], identities["user-0"])
        self.assertEqual(sidecar.arrived(), 0, "reads waited for the writes")
        for id in waiting:
            with self.assertRaises(RpcError) as caught:
                sidecar.answer(id, timeout=60)
            self.assertEqual(caught.exception.type, "storeBusy")
            self.assertGreaterEqual(caught.exception.data["retryAfterSeconds"], 1)
        other.execute("ROLLBACK")
        self.assertTrue(mint(sidecar, pool, "new-0")["isNewIdentity"])

    def test_short_lock_is_waited_for(self):
        """A write waits until another program releases the lock."""
        pool, _ = self.created()
        sidecar = self.spawn(store=self.store)
        other = sqlite3.connect(self.store, isolation_level=None)
        self.addCleanup(other.close)
        other.execute("BEGIN IMMEDIATE")
        waiting = sidecar.send("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": "alice"}})
        self.settled(sidecar)
        self.assertEqual(sidecar.arrived(), 0)
        other.execute("ROLLBACK")
        self.assertTrue(sidecar.answer(waiting)["isNewIdentity"])

    def test_store_that_is_locked_at_start_is_opened_later(self):
        """A process that starts while another program holds an exclusive lock opens the store after the lock is released."""
        pool, identities = self.created(users=1)
        other = sqlite3.connect(self.store, isolation_level=None)
        self.addCleanup(other.close)
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        other.execute("CREATE TABLE held (x)")
        sidecar, next = self.spawn(store=self.store), self.spawn("--sequential", store=self.store)
        self.works(next)
        waiting = [sidecar.send(*READ) for _ in range(20)]   # before the first attempt ends
        self.works(sidecar)
        self.assertEqual(sidecar.arrived(), 0, "a ping waited for the store")

        def busy(sidecar, id):
            with self.assertRaises(RpcError) as caught:
                sidecar.answer(id, timeout=60)
            self.assertEqual(caught.exception.type, "storeBusy")

        # Requests share an attempt. Some can miss the first one, but all end before another process makes three attempts, one after the other.
        busy(sidecar, waiting[0])
        for _ in range(3):
            next.send(*READ)
        for id in waiting[1:]:
            busy(sidecar, id)
        self.assertLess(next.arrived(), 3, "each request waited for an attempt of its own")
        other.execute("ROLLBACK")
        other.close()
        self.assertEqual(mint(sidecar, pool, "user-0")["identityId"], identities["user-0"])

    def test_read_only_store_rejects_writes(self):
        """File and directory cannot be written: writes fail with a typed error."""
        pool, _ = self.created(users=1)
        more = self.as_somebody_else()
        key = self.key_file()
        for name in os.listdir(self.path("data")):
            os.chmod(self.path("data", name), 0o444)
        os.chmod(key, 0o444)
        os.chmod(self.path("data"), 0o555)
        sidecar = self.spawn(store=self.store, **more)
        self.works(sidecar)
        self.refused({"storeReadOnly", "storeCannotOpen"}, sidecar, *WRITE)
        self.assertIn(sidecar.finish(), (0, 2), "2 where it could not even be opened")

    def test_directory_without_write_permission_fails(self):
        """The store cannot be created."""
        more = self.as_somebody_else()
        os.chmod(self.path("data"), 0o555)
        self.unusable({"storeReadOnly", "storeCannotOpen"}, **more)

    def test_missing_directory_is_created_or_fails_with_the_path(self):
        self.store = self.path("nowhere", "deep", "store.db")
        sidecar = self.spawn(store=self.store)
        self.works(sidecar)
        try:
            sidecar.call(*WRITE)  # the program may create the directories
        except RpcError as error:
            self.assertEqual(error.type, "storeCannotOpen")
            self.assertIn("store.db", error.data["path"])
        self.works(sidecar)

    def test_file_that_is_not_a_store_fails_and_is_not_changed(self):
        """Text, random bytes, a directory, and the database of another program are rejected and not changed."""
        contents = {"text": b"hello, world\n" * 1000, "noise": os.urandom(20_000), "short": b"x"}
        for name, content in contents.items():
            with self.subTest(name):
                with open(self.store, "wb") as file:
                    file.write(content)
                self.unusable({"notAStore", "storeCorrupt"})
                with open(self.store, "rb") as file:
                    self.assertEqual(file.read(), content)
        with self.subTest("another program's database"):
            os.remove(self.store)
            other = sqlite3.connect(self.store)
            other.execute("CREATE TABLE bookmarks (url TEXT)")
            other.commit()
            other.close()
            self.unusable("notAStore")
            other = sqlite3.connect(self.store)
            self.assertEqual(other.execute("SELECT name FROM sqlite_master").fetchall(), [("bookmarks",)])
            other.close()
        with self.subTest("a folder"):
            os.remove(self.store)
            os.mkdir(self.store)
            self.unusable({"notAStore", "storeCannotOpen"})

    def test_damaged_store_fails(self):
        """All pages but the first are overwritten. Requests fail with a typed error."""
        pool, identities = self.created(users=300)
        connection = sqlite3.connect(self.store)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size, = connection.execute("PRAGMA page_size").fetchone()
        connection.close()
        pages = os.path.getsize(self.store) // size
        with open(self.store, "r+b") as file:
            for page in range(1, pages):
                file.seek(page * size)
                file.write(os.urandom(size))
        self.unusable({"storeCorrupt", "notAStore"})

    def test_store_with_one_damaged_page_returns_no_wrong_results(self):
        """One page is damaged. Requests that do not read it can succeed, and none returns a wrong result."""
        pool, identities = self.created(users=300)
        connection = sqlite3.connect(self.store)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size, = connection.execute("PRAGMA page_size").fetchone()
        connection.close()
        pages = os.path.getsize(self.store) // size
        for page in (pages // 3, pages // 2, pages - 2):
            with self.subTest(page=page):
                shutil.copy(self.store, self.path("kept"))
                with open(self.store, "r+b") as file:
                    file.seek(page * size)
                    file.write(b"\xa5" * size)
                sidecar = self.spawn(store=self.store)
                for user, identity in identities.items():
                    try:
                        result = mint(sidecar, pool, user)
                        self.assertEqual(result["identityId"], identity)
                    except RpcError as error:
                        self.assertIn(error.type, ("storeCorrupt", "poolNotFound", "masterKeyMissing", "masterKeyWrong", "notAStore"), str(error))
                self.works(sidecar)
                sidecar.close()
                for name in ("store.db-wal", "store.db-shm"):
                    if os.path.exists(self.path("data", name)):
                        os.remove(self.path("data", name))
                shutil.copy(self.path("kept"), self.store)

    def small_disk(self):
        """Mounts a 3 MiB file system at the directory of the store. Returns whether the user has the permission."""
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m,mode=0755", "tmpfs", self.path("data")], capture_output=True)
        if mounted.returncode == 0:
            self.addCleanup(subprocess.run, ["umount", "-l", self.path("data")])
        return mounted.returncode == 0

    def test_full_disk_fails_writes_and_loses_no_confirmed_result(self):
        """On a full disk, writes fail and reads succeed. With free space, writes succeed again. Every confirmed result is kept."""
        mounted = self.small_disk()
        more = {}
        if not mounted:
            # Without the permission to mount, the file size is limited instead. SIGXFSZ stays ignored, as in Python.
            more = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.getrlimit(resource.RLIMIT_FSIZE)[1])), "restore_signals": False}
        sidecar = self.spawn(store=self.store, **more)
        pool = make_pool(sidecar)["poolId"]
        kept, full = {}, None
        for round in range(200):
            users = [f"user-{round}-{i}-" + "x" * 200 for i in range(100)]
            asked = {user: sidecar.send("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": user}}) for user in users}
            for user, id in asked.items():
                try:
                    kept[user] = sidecar.answer(id, timeout=60)["identityId"]
                except RpcError as error:
                    self.assertEqual(error.type, "storeFull", str(error))
                    full = error
            if full:
                break
        self.assertIsNotNone(full, "the disk never filled up")
        self.works(sidecar)
        for user in list(kept)[:50]:
            self.assertEqual(mint(sidecar, pool, user)["identityId"], kept[user])
        if mounted:
            subprocess.run(["mount", "-o", "remount,size=64m", self.path("data")], check=True)
            self.assertTrue(mint(sidecar, pool, "with room again")["isNewIdentity"])
        self.assertEqual(sidecar.finish(), 0)
        again = self.spawn(store=self.store)
        for user, identity in kept.items():
            found = mint(again, pool, user)
            self.assertEqual((found["identityId"], found["isNewIdentity"]), (identity, False))
        self.assertTrue(again.call("audit.verify")["intact"])

    def test_store_with_a_newer_schema_fails(self):
        self.created()
        connection = sqlite3.connect(self.store)
        version, = connection.execute("SELECT value FROM mintmark_meta WHERE name = 'schema_version'").fetchone()
        connection.execute("UPDATE mintmark_meta SET value = value + 100 WHERE name = 'schema_version'")
        connection.commit()
        connection.close()
        error = self.unusable("storeTooNew")
        self.assertEqual(error.data["found"], version + 100)
        self.assertLess(error.data["supported"], version + 100)

    # Master keys.

    def test_missing_master_key_fails_and_no_new_key_is_created(self):
        self.created(users=1)
        os.rename(self.key_file(), self.path("kept"))
        self.unusable("masterKeyMissing", requests=(WRITE, ("token.mintForDeveloper", {"poolId": "local-1:00", "logins": {"login.shop": "a"}})))
        self.assertEqual(sorted(n for n in os.listdir(self.path("data")) if not n.startswith("store.db-")), ["store.db"], "a new key was made")

    def test_wrong_master_key_fails(self):
        self.created(users=1)
        key = self.key_file()
        os.rename(key, self.path("kept"))
        os.mkdir(self.path("other"))
        other = self.spawn(store=self.path("other", "store.db"))
        make_pool(other)
        other.finish()
        theirs = next(self.path("other", name) for name in os.listdir(self.path("other")) if name == os.path.basename(key))
        self.unusable("masterKeyWrong", "--master-key-file", theirs, requests=(WRITE,))
        shutil.copy(theirs, key)
        self.unusable("masterKeyWrong", requests=(WRITE,))

    def test_invalid_master_key_file_fails(self):
        self.created(users=1)
        key = self.key_file()
        for content in (b"", b"short", os.urandom(31), b"x" * 1000, b"A" * 42):
            with self.subTest(content[:8]):
                with open(key, "wb") as file:
                    file.write(content)
                self.unusable({"masterKeyWrong", "storeCannotOpen"}, requests=(WRITE,))

    def test_master_key_file_option_is_used(self):
        pool, identities = self.created(users=1)
        os.rename(self.key_file(), self.path("kept"))
        sidecar = self.spawn("--master-key-file", self.path("kept"), store=self.store)
        self.assertEqual(mint(sidecar, pool, "user-0")["identityId"], identities["user-0"])

    # Testing stores.

    def test_testing_option_must_match_the_store(self):
        self.created()
        error = self.unusable("testingStoreMismatch", testing=True)
        self.assertFalse(error.data["testing"])
        self.store = self.path("data", "testing.db")
        sidecar = self.spawn(store=self.store, testing=True)
        make_pool(sidecar)
        sidecar.finish()
        self.assertTrue(self.unusable("testingStoreMismatch").data["testing"])


class Together(EndToEnd):
    """Several processes on one store, and processes that are killed."""

    def setUp(self):
        super().setUp()
        self.store = self.path("store.db")

    def test_two_concurrent_first_starts_agree(self):
        """Both processes use the same master key, data key and identities."""
        for round in range(10):
            store = self.path(f"{round}.db")
            both = [self.spawn(store=store) for _ in range(2)]
            for sidecar in both:
                sidecar.send("pool.create", {"name": "shop", "developerProvider": "login.shop", "poolId": f"local-1:0{round}"})
            answers = [sidecar.receive(timeout=60) for sidecar in both]
            self.assertEqual(sorted("result" in a for a in answers), [False, True], answers)
            self.assertEqual({a["error"]["data"]["type"] for a in answers if "error" in a}, {"poolExists"})
            minted = [mint(sidecar, f"local-1:0{round}") for sidecar in both]
            self.assertEqual(minted[0]["identityId"], minted[1]["identityId"])
            for i in (0, 1):
                both[i].call("token.verify", {"token": minted[1 - i]["token"], "audience": f"local-1:0{round}"})
            for sidecar in both:
                self.assertEqual(sidecar.finish(), 0)

    def test_eight_processes_create_one_identity_per_user(self):
        """Each user has one identity, even if several processes receive the first request at the same time."""
        first = self.spawn(store=self.store)
        pool = make_pool(first)["poolId"]
        all = [first] + [self.spawn(store=self.store) for _ in range(7)]
        for sidecar in all:
            self.works(sidecar)
        burst = b"".join(request_line("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": f"user-{i}"}}, id=f"u{i}") for i in range(50))
        threads = [threading.Thread(target=sidecar.write, args=(burst,)) for sidecar in all]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        answers = [json.loads(line) for sidecar in all for line in sidecar.lines(50)]
        for answer in answers:
            self.assertIn("result", answer)
        for i in range(50):
            mine = [a["result"] for a in answers if a["id"] == f"u{i}"]
            self.assertEqual(len(mine), 8)
            self.assertEqual(len({r["identityId"] for r in mine}), 1)
            self.assertEqual(sum(r["isNewIdentity"] for r in mine), 1)
        listed = first.call("identity.list", {"poolId": pool})["identities"]
        self.assertEqual(len(listed), 50)
        self.assertTrue(first.call("audit.verify")["intact"])

    def test_concurrent_requests_for_one_user_create_one_identity(self):
        sidecar = self.spawn(store=self.store)
        pool = make_pool(sidecar)["poolId"]
        sidecar.write(b"".join(request_line("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": "alice"}}, id=i) for i in range(500)))
        results = [json.loads(line)["result"] for line in sidecar.lines(500)]
        self.assertEqual(len({r["identityId"] for r in results}), 1)
        self.assertEqual(sum(r["isNewIdentity"] for r in results), 1)

    def test_process_killed_during_writes_loses_no_confirmed_result(self):
        """Every confirmed result is kept, and the next start succeeds."""
        first = self.spawn(store=self.store)
        pool = make_pool(first)["poolId"]
        self.assertEqual(first.finish(), 0)
        kept = {}
        for round, wanted in enumerate((1, 50, 400, 900)):
            sidecar = self.spawn(store=self.store)
            self.works(sidecar)
            sidecar.write(b"".join(
                request_line("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": f"user-{round}-{i}"}}, id=f"user-{round}-{i}")
                for i in range(1000)))
            lines = sidecar.lines(wanted)
            sidecar.process.kill()
            sidecar.process.wait()
            lines += sidecar.lines(1 << 60)
            for line in lines:
                if line.endswith(b"}"):
                    answer = json.loads(line)
                    kept[answer["id"]] = answer["result"]["identityId"]
        self.assertGreater(len(kept), 1300)
        again = self.spawn(store=self.store)
        self.assertTrue(again.call("audit.verify", timeout=60)["intact"])
        again.write(b"".join(request_line("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": user}}, id=user) for user in kept))
        for line in again.lines(len(kept)):
            answer = json.loads(line)
            self.assertEqual((answer["result"]["identityId"], answer["result"]["isNewIdentity"]), (kept[answer["id"]], False))
        self.assertEqual(again.finish(), 0)
        if stores.current.kind == "sqlite":
            self.assertEqual(self.rows("PRAGMA integrity_check"), [("ok",)])

    def test_process_killed_at_first_start_leaves_a_usable_store(self):
        """The first start is interrupted at different times. The next start succeeds."""
        for delay in (0, 0.001, 0.002, 0.003, 0.005, 0.008, 0.012, 0.02):
            store = self.path(f"{delay}.db")
            sidecar = self.spawn(store=store)
            sidecar.send(*WRITE)
            time.sleep(delay)
            sidecar.process.kill()
            sidecar.process.wait()
            again = self.spawn(store=store)
            mint(again, make_pool(again)["poolId"])
            self.assertEqual(again.finish(), 0)

    def test_changed_or_deleted_audit_records_are_detected(self):
        """Records that are changed, deleted or truncated directly in the database are detected."""
        sidecar = self.spawn(store=self.store)
        pool = make_pool(sidecar)["poolId"]
        for i in range(10):
            mint(sidecar, pool, f"user-{i}")
        verified = sidecar.call("audit.verify")
        self.assertTrue(verified["intact"])
        heads = [{k: c[k] for k in ("chain", "records", "head")} for c in verified["chains"]]
        self.assertTrue(sidecar.call("audit.verify", {"heads": heads})["intact"])
        self.assertEqual(sidecar.finish(), 0)
        self.rows("CREATE TABLE kept AS SELECT * FROM audit")

        def after(statement, **params):
            self.rows(statement)
            verifier = self.spawn(store=self.store)
            result = verifier.call("audit.verify", params)
            verifier.finish()
            self.rows("DELETE FROM audit")
            self.rows("INSERT INTO audit SELECT * FROM kept")
            return result["intact"]

        (last,), = self.rows("SELECT max(number) FROM audit")
        self.assertTrue(after("UPDATE audit SET number = number"))
        self.assertFalse(after("DELETE FROM audit WHERE number = 3"))
        self.assertFalse(after(f"DELETE FROM audit WHERE number = {last}", heads=heads))
        self.assertFalse(after("UPDATE audit SET method = 'pool.get' WHERE number = 2"))

    @only("sqlite")
    def test_store_can_be_copied_to_another_machine(self):
        """A copy of the database and the key file, made while no process runs, is a complete store."""
        sidecar = self.spawn(store=self.store)
        pool = make_pool(sidecar)["poolId"]
        token = mint(sidecar, pool)
        self.assertEqual(sidecar.finish(), 0)
        os.mkdir(self.path("there"))
        for name in os.listdir(self.folder):
            if os.path.isfile(self.path(name)):
                shutil.copy2(self.path(name), self.path("there", name))
        there = self.spawn(store=self.path("there", "store.db"))
        there.call("token.verify", {"token": token["token"], "audience": pool})
        self.assertEqual(mint(there, pool)["identityId"], token["identityId"])


