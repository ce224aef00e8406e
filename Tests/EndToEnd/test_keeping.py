"""Keeping a store: backups, figures, another master key."""

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
from sidecar import RpcError, binary, clean_environment, run


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
    def test_a_copy_is_a_whole_store_of_one_moment_while_others_write(self):
        """On another machine, with the master key, it verifies, mints for the same users, and its audit log is whole."""
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

    def test_nothing_that_is_there_is_written_over(self):
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

    def test_a_store_in_memory_under_a_key_of_ones_own(self):
        sidecar = self.spawn()
        pool = make_pool(sidecar)["poolId"]
        identity = mint(sidecar, pool)["identityId"]
        self.refused("backupNotHere", sidecar, "store.backup", {"path": self.path("copy.db")})
        key = base64.urlsafe_b64encode(bytes(range(32))).rstrip(b"=").decode()
        sidecar.call("store.rekey", {"newMasterKey": key})
        sidecar.call("store.backup", {"path": self.path("copy.db")})
        there = self.spawn(store=self.path("copy.db"), environment={"MINTMARK_MASTER_KEY": key})
        self.assertEqual(mint(there, pool)["identityId"], identity)

    def test_from_the_command_line(self):
        sidecar = self.open()
        make_pool(sidecar)
        done = run("backup", "--store", self.store, self.path("copy.db"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(sidecar.call("store.stats")["masterFingerprint"], done.stdout.decode())
        again = run("backup", "--store", self.store, self.path("copy.db"))
        self.assertEqual((again.returncode, again.stdout), (1, b""))
        self.assertIn(b"backupFileExists", again.stderr)


class Figures(Kept):
    def test_rows_size_and_versions(self):
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
        """The files beside the store that hold keys."""
        return sorted(name for name in os.listdir(self.folder) if name.startswith("store.db.key"))

    def test_the_file_beside_the_store_is_replaced_and_processes_go_on(self):
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

    def test_backups_from_before_each_change_open_with_the_keys_that_are_kept(self):
        """The error names the fingerprint that is needed and the file that has it; that file opens the backup."""
        sidecar = self.open()
        pool = make_pool(sidecar)["poolId"]
        identity = mint(sidecar, pool)["identityId"]
        backups = []
        for number in range(3):
            copy = self.path(f"backup{number}.db")
            backups.append((copy, sidecar.call("store.backup", {"path": copy})["masterFingerprint"]))
            sidecar.call("store.rekey")
        # Keys that are older than any attempt takes are no rubbish.
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
        # One that is put in the store's own place finds its key by itself, and the key of the store that was there stays.
        new = self.key()
        os.replace(backups[0][0], self.store)
        for end in ("-wal", "-shm"):
            if os.path.exists(self.store + end):
                os.remove(self.store + end)
        self.goes_on(pool, identity).finish()
        self.assertNotEqual(self.key(), new)
        self.assertIn(new, [open(self.path(name), encoding="ascii").read().strip() for name in self.beside()])

    def test_a_key_that_the_process_was_given(self):
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
        # The key is a secret: neither logs nor the store say it.
        for name in os.listdir(self.folder):
            with open(self.path(name), "rb") as file:
                self.assertNotIn(second.encode(), file.read())
        self.assertNotIn(second, sidecar.stderr_text())

    def test_killed_before_the_store_is_under_the_new_key(self):
        sidecar = self.open()
        pool = make_pool(sidecar)["poolId"]
        identity = mint(sidecar, pool)["identityId"]
        self.assertEqual(sidecar.finish(), 0)
        # A key that waits and opens nothing.
        left = [self.store + ".key.0123456789ab.new", f"{self.store}.key.{uuid.uuid4()}"]
        for file in left:
            shutil.copy(self.store + ".key", file)
        self.goes_on(pool, identity).call("store.rekey")
        # They may be somebody's who is at work just now; and there is the former key.
        self.assertEqual(len(self.beside()), 4)
        for file in left:
            os.utime(file, (time.time() - 120, time.time() - 120))
        self.assertIn(left[0].encode(), run("doctor", "--store", self.store).stdout)
        self.goes_on(pool, identity).call("store.rekey")
        self.assertEqual(len(self.beside()), 3)
        self.assertFalse(set(map(os.path.basename, left)) & set(self.beside()))
        self.goes_on(pool, identity)

    def test_killed_before_the_file_is_replaced(self):
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

    def test_killed_at_any_instant_while_two_processes_do_it(self):
        """Whoever is killed when: the store opens, with the files that are there."""
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

    def test_starts_while_the_key_changes(self):
        """A process that starts in the middle of it finds a key that opens the store."""
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

    def test_figures(self):
        sidecar = self.open()
        pool = make_pool(sidecar)["poolId"]
        mint(sidecar, pool)
        stats = sidecar.call("store.stats")
        self.assertEqual((stats["storeKind"], stats["rows"]["identity"], stats["rows"]["pool"]), ("postgres", 1, 1))
        self.assertIn(self.database, stats["location"])

    def test_backups_are_for_pg_dump(self):
        sidecar = self.open()
        self.assertIn("pg_dump", self.refused("backupNotHere", sidecar, "store.backup", {"path": self.path("copy.db")}).message)
        self.assertFalse(os.path.exists(self.path("copy.db")))

    def test_another_master_key(self):
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
