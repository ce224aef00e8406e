"""Administration of a store: backups, statistics and changes of the master key."""

import base64
import json
import os
import random
import shutil
import stat
import subprocess
import threading
import time
import unittest
import uuid

import postgres
from endtoend import EndToEnd, make_pool, mint
from sidecar import RpcError, Sidecar, binary, clean_environment, run


class Kept(EndToEnd):
    stores = ("sqlite",)

    def setUp(self):
        super().setUp()
        self.store = self.path("store.db")

    def open(self, **more):
        return self.spawn(store=self.store, **more)

    def key(self, path=None):
        with open((path or self.store) + ".key", encoding="ascii") as file:
            return file.read().strip()


class Backups(Kept):
    def test_backup_is_consistent_during_writes(self):
        """With the master key, a backup on another machine verifies tokens, resolves the same users, and has an intact audit log."""
        sidecar, other = self.open(), self.open()
        pool = make_pool(sidecar)["poolId"]
        known = {f"user-{number}": mint(sidecar, pool, f"user-{number}") for number in range(50)}
        for number in range(2_000):
            (sidecar, other)[number % 2].send(
                "token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": f"more-{number}"}}, id=f"m{number}")
        answer = sidecar.call("store.backup", {"path": self.path("copy.db")})
        for number in range(2_000):
            (sidecar, other)[number % 2].answer(f"m{number}", 60)
        copy = self.path("there", "copy.db")
        os.mkdir(self.path("there"))
        os.rename(self.path("copy.db"), copy)
        self.assertEqual((answer["path"], answer["bytes"]), (self.path("copy.db"), os.stat(copy).st_size))
        self.assertEqual(answer["masterFingerprint"], sidecar.call("store.stats")["masterFingerprint"])
        self.assertEqual(stat.S_IMODE(os.stat(copy).st_mode), 0o600)
        self.assertEqual([name for name in os.listdir(self.folder) if "part" in name or "copy" in name], [])
        there = self.spawn(store=copy, environment={"MINTMARK_MASTER_KEY": self.key()})
        for user, minted in known.items():
            self.assertEqual(mint(there, pool, user)["identityId"], minted["identityId"])
        there.call("token.verify", {"token": known["user-0"]["token"], "audience": pool})
        self.assertTrue(there.call("audit.verify")["intact"])
        rows = there.call("store.stats")["rows"]
        self.assertEqual(rows["identity"], rows["login"])
        self.assertEqual(there.finish(), 0)
        self.assertEqual(run("doctor", "--store", copy, environment={"MINTMARK_MASTER_KEY": self.key()}).returncode, 0)

    def test_backup_does_not_overwrite_files(self):
        sidecar = self.open()
        for name, content in [("file", b"precious"), ("store.db", None)]:
            if content:
                with open(self.path(name), "wb") as file:
                    file.write(content)
            before = os.stat(self.path(name))
            self.assertEqual(self.refused("backupFileExists", sidecar, "store.backup", {"path": self.path(name)}).data["path"], self.path(name))
            self.assertEqual(os.stat(self.path(name)).st_size, before.st_size)
        os.symlink(self.path("nowhere"), self.path("link"))
        self.refused("backupFileExists", sidecar, "store.backup", {"path": self.path("link")})
        self.refused("backupFailed", sidecar, "store.backup", {"path": self.path("missing", "copy.db")})
        answers = [sidecar.send("store.backup", {"path": self.path("race.db")}) for _ in range(8)]
        outcomes = []
        for id in answers:
            try:
                outcomes.append(sidecar.answer(id)["path"])
            except RpcError as error:
                outcomes.append(error.type)
        self.assertEqual(sorted(outcomes), sorted([self.path("race.db")] + ["backupFileExists"] * 7))
        self.assertEqual([name for name in os.listdir(self.folder) if name.endswith(".part")], [])

    def test_store_in_memory_requires_own_key_for_backup(self):
        sidecar = self.spawn()
        pool = make_pool(sidecar)["poolId"]
        identity = mint(sidecar, pool)["identityId"]
        self.refused("backupNotHere", sidecar, "store.backup", {"path": self.path("copy.db")})
        key = base64.urlsafe_b64encode(bytes(range(32))).rstrip(b"=").decode()
        sidecar.call("store.rekey", {"newMasterKey": key})
        sidecar.call("store.backup", {"path": self.path("copy.db")})
        there = self.spawn(store=self.path("copy.db"), environment={"MINTMARK_MASTER_KEY": key})
        self.assertEqual(mint(there, pool)["identityId"], identity)

    def test_backup_command_writes_backup(self):
        sidecar = self.open()
        make_pool(sidecar)
        done = run("backup", "--store", self.store, self.path("copy.db"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(sidecar.call("store.stats")["masterFingerprint"], done.stdout.decode())
        again = run("backup", "--store", self.store, self.path("copy.db"))
        self.assertEqual((again.returncode, again.stdout), (1, b""))
        self.assertIn(b"backupFileExists", again.stderr)


class Figures(Kept):
    def test_stats_contain_rows_and_versions(self):
        sidecar = self.open()
        before = sidecar.call("store.stats")
        pool = make_pool(sidecar)["poolId"]
        for number in range(3):
            mint(sidecar, pool, f"user-{number}")
        after = sidecar.call("store.stats")
        rows = after["rows"]
        self.assertEqual({name: rows[name] for name in ("pool", "identity", "login", "signing_key", "data_key")},
                         {"pool": 1, "identity": 3, "login": 3, "signing_key": 1, "data_key": 1})
        self.assertEqual(before["rows"]["pool"], 0)
        self.assertEqual(rows["audit"] - before["rows"]["audit"], 4)
        self.assertEqual((after["storeKind"], after["location"]), ("sqlite", self.store))
        self.assertEqual(after["schemaVersion"], sidecar.call("system.info")["schemaVersion"])
        self.assertRegex(after["masterFingerprint"], "^[0-9a-f]{12}$")
        sidecar.call("role.put", {"name": "reader", "poolId": pool})
        self.assertGreater(sidecar.call("store.stats")["epoch"], after["epoch"])


class AnotherMasterKey(Kept):
    def goes_on(self, pool, identity, **more):
        sidecar = self.open(**more)
        self.assertEqual(mint(sidecar, pool)["identityId"], identity)
        self.assertTrue(sidecar.call("audit.verify")["intact"])
        return sidecar

    def beside(self):
        """Returns the names of the key files next to the store."""
        return sorted(name for name in os.listdir(self.folder) if name.startswith("store.db.key"))

    def test_rekey_replaces_key_file_and_processes_continue(self):
        sidecar, other = self.open(), self.open()
        pool = make_pool(sidecar)["poolId"]
        minted = mint(other, pool)
        old = self.key()
        answer = sidecar.call("store.rekey")
        self.assertEqual(answer["keyFile"], self.store + ".key")
        self.assertNotEqual(self.key(), old)
        self.assertNotEqual(answer["masterFingerprint"], answer["previousFingerprint"])
        self.assertEqual(stat.S_IMODE(os.stat(self.store + ".key").st_mode), 0o600)
        former = f"{self.store}.key.{answer['previousFingerprint']}"
        self.assertEqual(answer["previousKeyFile"], former)
        self.assertEqual(stat.S_IMODE(os.stat(former).st_mode), 0o600)
        with open(former, encoding="ascii") as file:
            self.assertEqual(file.read().strip(), old)
        self.assertEqual(self.beside(), ["store.db.key", os.path.basename(former)])
        for each in (sidecar, other):
            self.assertEqual(mint(each, pool)["identityId"], minted["identityId"])
            make_pool(each)
        self.assertEqual((sidecar.finish(), other.finish()), (0, 0))
        self.goes_on(pool, minted["identityId"])
        error = self.spawn(store=self.store, environment={"MINTMARK_MASTER_KEY": old}).refusal("pool.list")
        self.assertEqual((error.type, error.data["fingerprint"], error.data["given"], error.data["keyFile"]),
                         ("masterKeyWrong", answer["masterFingerprint"], answer["previousFingerprint"], self.store + ".key"))
        done = run("doctor", "--store", self.store)
        self.assertEqual(done.returncode, 0)
        self.assertIn(answer["masterFingerprint"], done.stdout.decode())
        self.assertIn(f"{former} is a former master key", done.stdout.decode())
        self.assertIn(f"{former} is for this user alone", done.stdout.decode())
        os.chmod(former, 0o644)
        self.assertEqual(run("doctor", "--store", self.store).returncode, 2)

    def test_backups_open_with_key_files_of_former_master_keys(self):
        """The error names the required fingerprint and the file with the key. That file opens the backup."""
        sidecar = self.open()
        pool = make_pool(sidecar)["poolId"]
        identity = mint(sidecar, pool)["identityId"]
        backups = []
        for number in range(3):
            copy = self.path(f"backup{number}.db")
            backups.append((copy, sidecar.call("store.backup", {"path": copy})["masterFingerprint"]))
            sidecar.call("store.rekey")
        # Old key files must not be deleted as leftovers of an interrupted change.
        for name in self.beside():
            os.utime(self.path(name), (time.time() - 3600, time.time() - 3600))
        sidecar.call("store.rekey", {"newMasterKey": "33" * 32})
        self.assertEqual(sidecar.finish(), 0)
        self.goes_on(pool, identity).finish()
        self.assertEqual(len(self.beside()), 5)
        for copy, fingerprint in backups:
            kept = f"{self.store}.key.{fingerprint}"
            for options, environment in (([], {}), (["--master-key-file", self.store + ".key"], {}), ([], {"MINTMARK_MASTER_KEY": "44" * 32})):
                error = self.spawn(*options, store=copy, environment=environment).refusal("pool.list")
                self.assertEqual(error.type, "masterKeyWrong" if options or environment else "masterKeyMissing")
                self.assertEqual((error.data["fingerprint"], error.data["keyFile"]), (fingerprint, kept))
                self.assertIn(fingerprint, error.message)
                self.assertIn(kept, error.message)
                self.assertNotIn("keyFile", self.spawn(*options, "--caller", "public", store=copy, environment=environment).refusal("token.jwks").data)
            self.assertIn(kept.encode(), run("doctor", "--store", copy).stdout)
            self.assertEqual(mint(self.spawn("--master-key-file", kept, store=copy), pool)["identityId"], identity)
        # A backup that replaces the store finds its key. The key file of the replaced store is kept.
        new = self.key()
        os.replace(backups[0][0], self.store)
        for end in ("-wal", "-shm"):
            if os.path.exists(self.store + end):
                os.remove(self.store + end)
        self.goes_on(pool, identity).finish()
        self.assertNotEqual(self.key(), new)
        self.assertIn(new, [open(self.path(name), encoding="ascii").read().strip() for name in self.beside()])

    def test_rekey_with_key_from_environment_requires_new_key(self):
        first, second = "11" * 32, base64.urlsafe_b64encode(b"\2" * 32).rstrip(b"=").decode()
        sidecar = self.open(environment={"MINTMARK_MASTER_KEY": first})
        pool = make_pool(sidecar)["poolId"]
        identity = mint(sidecar, pool)["identityId"]
        self.refused("newMasterKeyNeeded", sidecar, "store.rekey")
        self.refused("invalidMasterKey", sidecar, "store.rekey", {"newMasterKey": "z" * 64})
        self.assertEqual(self.violations(sidecar, "store.rekey", {"newMasterKey": "short"}), {("/newMasterKey", "minLength")})
        answer = sidecar.call("store.rekey", {"newMasterKey": second})
        self.assertNotIn("keyFile", answer)
        self.assertNotIn("previousKeyFile", answer)
        self.assertEqual(self.beside(), [])
        self.goes_on(pool, identity, environment={"MINTMARK_MASTER_KEY": second})
        self.assertEqual(self.open(environment={"MINTMARK_MASTER_KEY": first}).refusal("pool.list").type, "masterKeyWrong")
        # The key is a secret: neither the log nor the store contains it.
        for name in os.listdir(self.folder):
            with open(self.path(name), "rb") as file:
                self.assertNotIn(second.encode(), file.read())
        self.assertNotIn(second, sidecar.stderr_text())

    def test_leftover_key_files_of_interrupted_rekey_are_deleted_later(self):
        sidecar = self.open()
        pool = make_pool(sidecar)["poolId"]
        identity = mint(sidecar, pool)["identityId"]
        self.assertEqual(sidecar.finish(), 0)
        # These key files open nothing.
        left = [self.store + ".key.0123456789ab.new", f"{self.store}.key.{uuid.uuid4()}"]
        for file in left:
            shutil.copy(self.store + ".key", file)
        self.goes_on(pool, identity).call("store.rekey")
        # Another process could be using recent files, so they stay, in addition to the former key.
        self.assertEqual(len(self.beside()), 4)
        for file in left:
            os.utime(file, (time.time() - 120, time.time() - 120))
        self.assertIn(left[0].encode(), run("doctor", "--store", self.store).stdout)
        self.goes_on(pool, identity).call("store.rekey")
        self.assertEqual(len(self.beside()), 3)
        self.assertFalse(set(map(os.path.basename, left)) & set(self.beside()))
        self.goes_on(pool, identity)

    def test_rekey_interrupted_before_file_replacement_is_completed(self):
        sidecar = self.open()
        pool = make_pool(sidecar)["poolId"]
        identity = mint(sidecar, pool)["identityId"]
        old = self.key()
        answer = sidecar.call("store.rekey")
        self.assertEqual(sidecar.finish(), 0)
        for is_old_there in (True, False):
            os.rename(self.store + ".key", f"{self.store}.key.{answer['masterFingerprint']}.new")
            if is_old_there:
                with open(self.store + ".key", "w", encoding="ascii") as file:
                    file.write(old + "\n")
                os.chmod(self.store + ".key", 0o600)
            self.goes_on(pool, identity).finish()
            self.assertEqual(self.beside(), ["store.db.key", f"store.db.key.{answer['previousFingerprint']}"])
            self.assertNotEqual(self.key(), old)
            with open(self.path(self.beside()[1]), encoding="ascii") as file:
                self.assertEqual(file.read().strip(), old)

    def test_store_opens_after_crash_at_any_point_of_concurrent_rekeys(self):
        """The store opens with the existing files, regardless of the time at which the processes are killed."""
        sidecar = self.open()
        pool = make_pool(sidecar)["poolId"]
        identity = mint(sidecar, pool)["identityId"]
        self.assertEqual(sidecar.finish(), 0)
        seed = random.randrange(1 << 32)
        chance = random.Random(seed)
        for round in range(12):
            processes = [
                subprocess.Popen([binary(), "serve", "--store", self.store], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, env=clean_environment(self.folder)) for _ in range(2)]
            requests = b"".join(
                json.dumps({"jsonrpc": "2.0", "id": number, "method": "store.rekey"}).encode() + b"\n" for number in range(200))
            for process in processes:
                threading.Thread(target=self.feed, args=(process, requests), daemon=True).start()
            time.sleep(0.1 + chance.random() * 0.4)
            for process in chance.sample(processes, 2):
                process.kill()
                time.sleep(chance.random() * 0.05)
            for process in processes:
                process.wait()
                process.stdin.close()
            with self.subTest(round=round, seed=seed):
                self.goes_on(pool, identity).finish()
        self.assertGreater(self.open().call("store.stats")["rows"]["audit"], 12)

    @staticmethod
    def feed(process, data):
        try:
            process.stdin.write(data)
            process.stdin.flush()
        except (OSError, ValueError):
            pass

    def test_process_that_starts_during_rekey_opens_store(self):
        sidecar = self.open()
        pool = make_pool(sidecar)["poolId"]
        identity = mint(sidecar, pool)["identityId"]
        stop = threading.Event()

        def change():
            while not stop.is_set():
                sidecar.call("store.rekey")

        changing = threading.Thread(target=change)
        changing.start()
        try:
            for _ in range(15):
                other = self.open()
                self.assertEqual(mint(other, pool)["identityId"], identity)
                other.close()
        finally:
            stop.set()
            changing.join()


class OnPostgreSQL(EndToEnd):
    stores = ("postgres",)

    @classmethod
    def setUpClass(cls):
        cls.server = postgres.Server()
        cls.addClassCleanup(cls.server.close)

    def setUp(self):
        super().setUp()
        self.database = self.server.database()

    def open(self, **more):
        sidecar = self.server.sidecar(self.database, **more)
        self.addCleanup(sidecar.close)
        return sidecar

    def test_stats_of_postgresql_store(self):
        sidecar = self.open()
        pool = make_pool(sidecar)["poolId"]
        mint(sidecar, pool)
        stats = sidecar.call("store.stats")
        self.assertEqual((stats["storeKind"], stats["rows"]["identity"], stats["rows"]["pool"]), ("postgres", 1, 1))
        self.assertIn(self.database, stats["location"])

    def test_backup_of_postgresql_store_is_sqlite_store(self):
        sidecar = self.open()
        pool = make_pool(sidecar)["poolId"]
        token = mint(sidecar, pool)["token"]
        answer = sidecar.call("store.backup", {"path": self.path("copy.db")})
        self.assertEqual((answer["path"], answer["bytes"]), (self.path("copy.db"), os.stat(self.path("copy.db")).st_size))
        self.refused("backupFileExists", sidecar, "store.backup", {"path": self.path("copy.db")})
        self.refused("backupFailed", sidecar, "store.backup", {"path": self.path("nowhere", "copy.db")})
        self.assertEqual(os.listdir(self.folder), ["copy.db"])
        copy = Sidecar(store=self.path("copy.db"), environment={"MINTMARK_MASTER_KEY": postgres.MASTER_KEY})
        self.addCleanup(copy.close)
        copy.call("token.verify", {"token": token, "audience": pool})
        self.assertTrue(copy.call("audit.verify")["intact"])

    def test_rekey_of_postgresql_store_requires_new_key(self):
        one, other = self.open(), self.open()
        pool = make_pool(one)["poolId"]
        identity = mint(other, pool)["identityId"]
        self.refused("newMasterKeyNeeded", one, "store.rekey")
        key = "ab" * 32
        one.call("store.rekey", {"newMasterKey": key})
        for each in (one, other, self.open(environment={"MINTMARK_MASTER_KEY": key})):
            self.assertEqual(mint(each, pool)["identityId"], identity)
        self.assertEqual(self.open().refusal("pool.list").type, "masterKeyWrong")


if __name__ == "__main__":
    unittest.main()
