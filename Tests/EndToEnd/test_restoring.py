"""`mintmark restore`, `rekey`, `keygen` and `migrate --dry-run`, with real kills and every kind of bad input."""

import json
import os
import random
import shutil
import sqlite3
import stat
import subprocess
import time

import postgres
from endtoend import EndToEnd, make_pool, mint
from sidecar import Sidecar, binary, clean_environment, run

KEY = {"MINTMARK_MASTER_KEY": postgres.MASTER_KEY}


class WithBackup(EndToEnd):
    stores = ("sqlite",)

    def setUp(self):
        super().setUp()
        self.store, self.backup = self.path("shop.db"), self.path("backup.db")

    def open(self, store=None, **more):
        sidecar = Sidecar(store=store or self.store, **more)
        self.addCleanup(sidecar.close)
        return sidecar

    def mintmark(self, *arguments, **environment):
        return run(*arguments, home=self.folder, environment=environment, timeout=60)

    def restore(self, *options, store=None, **environment):
        return self.mintmark("restore", "--store", store or self.store, *options, self.backup, **environment)

    def answer(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def refused_with(self, status, text, done):
        self.assertEqual((done.returncode, done.stdout), (status, b""), done.stderr)
        self.assertRegex(done.stderr.decode(), text)

    def text(self, path):
        with open(path, encoding="ascii") as file:
            return file.read()

    def backed_up(self):
        """Returns a pool of a store that has a backup, and a token that was minted before."""
        sidecar = self.open()
        pool = make_pool(sidecar)["poolId"]
        token = mint(sidecar, pool)["token"]
        sidecar.close()
        done = self.mintmark("backup", "--store", self.store, self.backup)
        self.assertEqual(done.returncode, 0, done.stderr)
        return pool, token

    def verifies(self, pool, token, **more):
        sidecar = self.open(**more)
        sidecar.call("token.verify", {"token": token, "audience": pool})
        self.assertTrue(sidecar.call("audit.verify")["intact"])
        sidecar.close()


class Restoring(WithBackup):
    def test_restore_of_missing_store(self):
        pool, token = self.backed_up()
        os.unlink(self.store)
        answer = self.answer(self.restore())
        self.assertEqual((answer["store"], answer["keyFile"]), (self.store, self.store + ".key"))
        self.assertEqual(stat.S_IMODE(os.stat(self.store).st_mode), 0o600)
        self.verifies(pool, token)

    def test_restore_replaces_store_and_keeps_it(self):
        pool, token = self.backed_up()
        sidecar = self.open()
        later = make_pool(sidecar)["poolId"]
        sidecar.close()
        self.refused_with(1, "storeNotEmpty.*--replace", self.restore())
        answer = self.answer(self.restore("--replace"))
        kept, key = answer["replaced"]
        self.assertRegex(kept, r"shop\.db\.replaced-\d{8}T\d{6}Z$")
        self.assertEqual(key, kept + ".key")
        self.verifies(pool, token)
        sidecar = self.open()
        self.refused("poolNotFound", sidecar, "pool.get", {"poolId": later})
        sidecar.close()
        self.assertEqual(self.open(kept).call("pool.get", {"poolId": later})["poolId"], later)

    def test_restore_after_rekey_uses_kept_key(self):
        """The backup needs the former key, which is next to the store. Afterwards both stores open with the key at their place."""
        pool, token = self.backed_up()
        former = self.text(self.store + ".key")
        rekeyed = self.answer(self.mintmark("rekey", "--store", self.store))
        self.assertNotEqual(self.text(self.store + ".key"), former)
        answer = self.answer(self.restore("--replace"))
        self.assertEqual((answer["masterFingerprint"], self.text(self.store + ".key")), (rekeyed["previousFingerprint"], former))
        self.verifies(pool, token)
        self.verifies(pool, token, store=answer["replaced"][0])
        self.assertTrue(os.path.exists(f"{self.store}.key.{rekeyed['masterFingerprint']}"))

    def test_restore_with_given_key_writes_no_key(self):
        pool, token = self.backed_up()
        os.rename(self.store + ".key", self.path("elsewhere.txt"))
        target = self.path("there.db")
        done = self.restore("--master-key-file", self.path("elsewhere.txt"), store=target)
        answer = self.answer(done)
        self.assertNotIn("keyFile", answer)
        self.assertIn(b"was not copied", done.stderr)
        self.assertFalse(os.path.exists(target + ".key"))
        self.verifies(pool, token, store=target, environment={"MINTMARK_MASTER_KEY_FILE": self.path("elsewhere.txt")})

    def test_restore_into_postgresql_and_backup_of_it(self):
        server = postgres.Server()
        self.addCleanup(server.close)
        pool, token = self.backed_up()
        target = server.uri(server.database())
        key = {"MINTMARK_MASTER_KEY_FILE": self.store + ".key"}
        self.answer(self.restore(store=target, **key))
        self.verifies(pool, token, store=target, environment=key)
        self.refused_with(1, "storeNotEmpty", self.restore(store=target, **key))
        self.refused_with(64, "--replace is for files", self.restore("--replace", store=target, **key))
        done = self.mintmark("backup", "--store", target, self.path("from-postgres.db"), **key)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("from-postgres.db")).st_mode), 0o600)
        self.verifies(pool, token, store=self.path("from-postgres.db"), environment=key)
        self.refused_with(1, "backupFileExists", self.mintmark("backup", "--store", target, self.path("from-postgres.db"), **key))
        self.assertEqual([name for name in os.listdir(self.folder) if "part" in name], [])

    def test_restores_within_one_second_keep_every_store(self):
        self.backed_up()
        kept = [name for _ in range(5) for name in self.answer(self.restore("--replace"))["replaced"]]
        self.assertEqual(len(set(kept)), len(kept))
        self.assertTrue(len(kept) >= 5 and all(map(os.path.exists, kept)), kept)

    def test_killed_restore_leaves_one_of_both_stores(self):
        """At any time the store is the old one or the restored one, opens with the keys next to it, and the command can be repeated."""
        pool, token = self.backed_up()
        self.answer(self.mintmark("rekey", "--store", self.store))
        sidecar = self.open()
        later = make_pool(sidecar)["poolId"]
        sidecar.close()
        random.seed(3)
        killed = 0
        started = time.monotonic()
        self.answer(self.restore("--replace"))
        duration = time.monotonic() - started
        for number in range(75):
            if number >= 25 and killed > 5:
                break
            process = subprocess.Popen(
                [binary(), "restore", "--store", self.store, "--replace", self.backup], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                env=clean_environment(self.folder))
            time.sleep(random.uniform(0.1, 0.6) * duration)
            process.kill()
            code = process.wait()
            self.assertIn(code, (0, -9), "a restore after a killed one fails")
            killed += code != 0
            if code == 0:
                duration *= 0.9   # The machine was busier when the duration was measured.
            self.verifies(pool, token)
        self.assertGreater(killed, 5)
        self.answer(self.restore("--replace"))
        self.verifies(pool, token)
        sidecar = self.open()
        self.refused("poolNotFound", sidecar, "pool.get", {"poolId": later})
        sidecar.close()
        self.assertEqual([name for name in os.listdir(self.folder) if "restoring" in name or "part" in name], [])

    def test_damaged_store_is_replaced_with_its_log(self):
        pool, token = self.backed_up()
        with open(self.store, "r+b") as file:
            file.write(b"x" * 4096)
        answer = self.answer(self.restore("--replace"))
        self.verifies(pool, token)
        with open(answer["replaced"][0], "rb") as file:
            self.assertEqual(file.read(8), b"x" * 8)

    def test_log_of_a_lost_store_is_not_applied_to_another_one(self):
        """After a kill, the file of the store is lost, and its log remains."""
        pool, token = self.backed_up()
        sidecar = self.open()
        later = make_pool(sidecar, name="later")["poolId"]
        sidecar.process.kill()
        sidecar.process.wait()
        os.remove(self.store)
        log = f"{self.store}-wal"
        self.assertGreater(os.path.getsize(log), 0)
        done = run("call", "--store", self.store, "pool.list", home=self.folder)
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"its log {log} exists. Restore a backup with mintmark restore --replace", done.stderr.decode())
        done = self.restore()
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"its log {log} exists", done.stderr.decode())
        self.assertFalse(os.path.exists(self.store))
        answer = self.answer(self.restore("--replace"))
        self.assertEqual([each[-4:] for each in answer["replaced"]], ["-wal"])
        self.assertGreater(os.path.getsize(answer["replaced"][0]), 0)
        self.verifies(pool, token)
        sidecar = self.open()
        self.refused("poolNotFound", sidecar, "pool.get", {"poolId": later})
        sidecar.close()

    def test_backup_on_read_only_medium_can_be_checked_restored_and_copied(self):
        """Neither the file nor its folder can be written, so SQLite cannot create the files of a log next to the backup."""
        pool, token = self.backed_up()
        other = self.as_somebody_else()
        medium = self.path("medium ?#%é")
        os.mkdir(medium)
        self.backup = os.path.join(medium, os.path.basename(self.backup))
        os.rename(self.path("backup.db"), self.backup)
        os.rename(self.store + ".key", self.backup + ".key")
        os.unlink(self.store)
        if other:
            for each in (self.backup, self.backup + ".key", self.folder):
                os.chown(each, other["user"], other["group"])
        os.chmod(self.backup, 0o400)
        os.chmod(medium, 0o555)
        self.addCleanup(os.chmod, medium, 0o755)
        files = sorted(os.listdir(medium))

        def mintmark(*arguments):
            return run(*arguments, home=self.folder, timeout=60, **other)

        done = mintmark("doctor", "--store", self.backup)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("!!  the store can be read, but not used by a service: the file cannot be written (Permission denied)", done.stdout.decode())
        done = mintmark("doctor", "--backup", "--store", self.backup)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("--  the store can be read, but not used by a service: the file cannot be written (Permission denied)", done.stdout.decode())
        self.assertIn(b"every page of the database is intact", done.stdout)
        os.chmod(self.backup, 0o600)   # Only the folder is read-only.
        done = mintmark("doctor", "--backup", "--store", self.backup)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn(f"the folder {medium}/ cannot be written", done.stdout.decode())
        os.chmod(self.backup, 0o400)
        self.answer(mintmark("restore", "--store", self.store, self.backup))
        self.answer(mintmark("copy", "--from", self.backup, "--to", self.path("copy.db")))
        self.assertEqual(sorted(os.listdir(medium)), files)
        for each in (self.store, self.path("copy.db")):
            self.verifies(pool, token, store=each)

    def test_log_on_read_only_medium_is_not_ignored(self):
        """A store was copied with its log to a read-only folder. Without the log, its last changes would be missing."""
        sidecar = self.open()
        make_pool(sidecar)
        medium = self.path("medium")
        os.mkdir(medium)
        for end in ("", "-wal", ".key"):
            shutil.copy(self.store + end, os.path.join(medium, "shop.db" + end))
        self.assertGreater(os.path.getsize(os.path.join(medium, "shop.db-wal")), 0)
        other = self.as_somebody_else()
        if other:
            for each in os.listdir(medium):
                os.chown(os.path.join(medium, each), other["user"], other["group"])
        os.chmod(medium, 0o555)
        self.addCleanup(os.chmod, medium, 0o755)
        done = run("doctor", "--store", os.path.join(medium, "shop.db"), home=self.folder, timeout=60, **other)
        self.assertEqual(done.returncode, 2, done.stdout)
        self.assertIn("SQLite requires two additional files next to", done.stdout.decode())

    # MARK: Bad input

    def test_store_in_use_is_not_replaced(self):
        self.backed_up()
        sidecar = self.open()
        sidecar.call("pool.list")
        self.refused_with(1, "storeNotEmpty.*another process uses it", self.restore("--replace"))
        make_pool(sidecar)
        self.assertEqual(len(sidecar.call("pool.list")["pools"]), 2)
        sidecar.close()
        self.answer(self.restore("--replace"))

    def test_nothing_is_written_without_backup_or_key(self):
        self.backed_up()
        os.rename(self.store + ".key", self.path("elsewhere.txt"))
        os.unlink(self.store)
        target = self.path("there.db")
        self.refused_with(2, "masterKeyMissing", self.restore(store=target))
        self.refused_with(2, "masterKeyWrong", self.restore(store=target, **KEY))
        with open(target + ".key", "w", encoding="ascii") as file:
            file.write(postgres.MASTER_KEY)
        self.refused_with(2, "masterKeyWrong", self.restore(store=target))
        self.assertEqual(self.text(target + ".key"), postgres.MASTER_KEY)
        self.assertFalse(os.path.exists(target))
        nothing = self.mintmark("restore", "--store", target, self.path("nothing.db"))
        self.refused_with(2, "storeCannotOpen", nothing)
        with open(self.path("text.db"), "w", encoding="ascii") as file:
            file.write("no store " * 200)
        self.refused_with(2, "notAStore", self.mintmark("restore", "--store", target, self.path("text.db")))
        self.assertFalse(os.path.exists(target))

    def test_errors_of_restore_advise_on_backup(self):
        """Each message is about the backup or the target, and advises on what the command needs."""
        self.backed_up()
        missing, target = self.path("nothing.db"), self.path("there.db")
        done = self.mintmark("restore", "--store", target, missing)
        self.refused_with(2, rf"\Aerror storeCannotOpen: {missing} cannot be opened: the backup does not exist. Check the path.\n\Z", done)
        with open(missing, "wb"):
            pass
        self.refused_with(2, "the file is empty and contains no backup. Use another backup", self.mintmark("restore", "--store", target, missing))
        with open(missing, "wb") as file:
            file.write(b"no store" * 200)
        self.refused_with(2, "is not a Mintmark store. Use another file or database. ", self.mintmark("restore", "--store", target, missing))
        nowhere = self.path("nowhere", "shop.db")
        self.refused_with(2, rf"{nowhere} cannot be opened: the directory {self.path('nowhere')}/ does not exist. Create it, or check --store",
                          self.restore(store=nowhere))
        self.assertFalse(os.path.exists(target) or os.path.exists(target + ".key"))
        done = self.mintmark("backup", "--store", self.store, nowhere)
        self.refused_with(1, rf"backupFailed: {nowhere} was not written: No such file or directory", done)

    def test_damaged_backup_is_refused(self):
        self.backed_up()
        with open(self.backup, "r+b") as file:
            file.seek(os.stat(self.backup).st_size // 2 & ~4095)
            file.write(b"\xff" * 65_536)
        done = self.restore("--replace")
        self.refused_with(2, rf"storeCorrupt: The store {self.backup} is damaged: .*\. Stop using it, .* restore an intact", done)
        self.assertEqual(done.stderr.count(b"\n"), 1)
        self.assertEqual([name for name in os.listdir(self.folder) if "replaced" in name], [])

    def test_backup_that_is_the_store(self):
        self.backed_up()
        done = self.mintmark("restore", "--store", self.store, self.store)
        self.refused_with(64, "same file", done)
        self.refused_with(64, ":memory:", self.restore(store=":memory:"))
        self.refused_with(64, "mintmark restore --help", self.mintmark("restore", "--store", self.store))


class Keys(WithBackup):
    def test_damaged_key_file_error_names_formats_and_copy(self):
        self.backed_up()
        key = self.store + ".key"
        formats = r"A master key is 32 bytes in base64url \(43 characters\) or hexadecimal \(64 characters\)\. "
        call = ("call", "--store", self.store, "pool.list")
        for content, problem in ("garbage", "it does not contain a master key"), ("", "it is empty"):
            with open(key, "w", encoding="ascii") as file:
                file.write(content)
            advice = "Restore the file from a copy of it, or pass the key with --master-key-file"
            self.refused_with(2, rf"{key} cannot be opened: {problem}\. {formats}{advice}\.\n", self.mintmark(*call))
            self.assertIn(f"!!  storeCannotOpen: {key} cannot be opened: {problem}.", self.mintmark("doctor", "--store", self.store).stdout.decode())
            self.refused_with(2, rf"{problem} \(the file of the master key, from MINTMARK_MASTER_KEY_FILE\)\. {formats}Use another file, or restore",
                              self.mintmark(*call, MINTMARK_MASTER_KEY_FILE=key))

    def test_missing_key_error_suggests_new_key_for_new_stores_only(self):
        """No key but the missing one opens a store that exists. A database can be new."""
        self.backed_up()
        os.remove(self.store + ".key")
        done = self.mintmark("call", "--store", self.store, "pool.list")
        self.refused_with(2, "No other key opens the store. Pass it with --master-key-file or MINTMARK_MASTER_KEY.\n", done)
        self.assertNotIn(b"keygen", done.stderr)
        done = self.mintmark("call", "--store", "postgres://127.0.0.1:1/shop", "pool.list")
        self.refused_with(2, "masterKeyMissing: .* For a new store, generate a key with mintmark keygen --output FILE.\n", done)

    def test_keygen_writes_key(self):
        done = self.mintmark("keygen")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout.decode(), r"\A[A-Za-z0-9_-]{43}\n\Z")
        self.assertRegex(done.stderr.decode(), r"\Afingerprint [0-9a-f]{12}\n\Z")
        self.assertNotEqual(self.mintmark("keygen").stdout, done.stdout)
        path = self.path("shop.key")
        made = self.mintmark("keygen", "--output", path)
        self.assertEqual((made.returncode, made.stdout), (0, b""))
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        before = self.text(path)
        self.refused_with(1, "exists", self.mintmark("keygen", "--output", path))
        self.assertEqual(self.text(path), before)
        self.refused_with(74, "No such file", self.mintmark("keygen", "--output", self.path("nowhere", "a.key")))
        stats = self.mintmark("call", "--store", self.store, "--master-key-file", path, "store.stats")
        self.assertEqual(json.loads(stats.stdout)["masterFingerprint"], made.stderr.decode().split()[1])

    def test_rekey_keeps_former_key(self):
        pool, token = self.backed_up()
        former = self.text(self.store + ".key")
        answer = self.answer(self.mintmark("rekey", "--store", self.store))
        self.assertEqual(answer["previousKeyFile"], f"{self.store}.key.{answer['previousFingerprint']}")
        self.assertEqual((self.text(answer["previousKeyFile"]), stat.S_IMODE(os.stat(answer["previousKeyFile"]).st_mode)), (former, 0o600))
        self.verifies(pool, token)
        doctor = self.mintmark("doctor", "--store", self.store).stdout.decode()
        self.assertRegex(doctor, rf"former master key.*{answer['previousFingerprint']}")
        self.assertRegex(doctor, rf"backup\.db is a backup that needs the master key {answer['previousFingerprint']}")

    def test_rekey_with_given_key_writes_no_key(self):
        old, new = self.path("old.txt"), self.path("new.txt")
        for each in (old, new):
            self.mintmark("keygen", "--output", each)
        sidecar = self.open(environment={"MINTMARK_MASTER_KEY_FILE": old})
        pool = make_pool(sidecar)["poolId"]
        token = mint(sidecar, pool)["token"]
        sidecar.close()
        self.refused_with(1, "newMasterKeyNeeded", self.mintmark("rekey", "--store", self.store, "--master-key-file", old))
        done = self.mintmark("rekey", "--store", self.store, "--master-key-file", old, "--new-master-key-file", new)
        answer = self.answer(done)
        self.assertIn(f"Keep the old key, {answer['previousFingerprint']}", done.stderr.decode())
        self.assertFalse(os.path.exists(self.store + ".key"))
        self.verifies(pool, token, environment={"MINTMARK_MASTER_KEY_FILE": new})
        self.refused_with(2, "storeCannotOpen", self.mintmark(
            "rekey", "--store", self.store, "--master-key-file", new, "--new-master-key-file", self.path("nowhere")))
        self.refused_with(2, "storeCannotOpen", self.mintmark("rekey", "--store", self.path("nowhere.db")))

    def test_killed_rekey_leaves_store_that_opens(self):
        pool, token = self.backed_up()
        random.seed(5)
        for _ in range(20):
            process = subprocess.Popen(
                [binary(), "rekey", "--store", self.store], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=clean_environment(self.folder))
            time.sleep(random.uniform(0.005, 0.08))
            process.kill()
            process.wait()
            self.verifies(pool, token)
        fingerprint = json.loads(self.mintmark("call", "--store", self.store, "store.stats").stdout)["masterFingerprint"]
        self.assertEqual(self.mintmark("doctor", "--store", self.store).returncode, 0)
        self.assertRegex(fingerprint, "^[0-9a-f]{12}$")

    def test_migrate_dry_run_prints_versions_only(self):
        self.refused_with(2, "storeCannotOpen", self.mintmark("migrate", "--dry-run", "--store", self.store))
        with open(os.path.join(os.path.dirname(__file__), "Stores", "version-1.sql"), encoding="utf-8") as file:
            connection = sqlite3.connect(self.store)
            connection.executescript("PRAGMA journal_mode = WAL; PRAGMA application_id = 1296912971;" + file.read())
            connection.close()
        done = self.mintmark("migrate", "--dry-run", "--store", self.store)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.decode(), r"schema version 1; mintmark migrate would change it to \d")
        self.assertRegex(self.mintmark("migrate", "--store", self.store).stdout.decode(), r"schema version 1 → \d")
        self.assertIn("already current", self.mintmark("migrate", "--dry-run", "--store", self.store).stdout.decode())


class Exporting(EndToEnd):
    def test_exported_configuration_changes_nothing_and_recreates_store(self):
        one = self.spawn(store=self.path("one.db"), testing=True)
        one.call("tenant.create", {
            "tenantId": "shop", "name": "Shop", "localAccountMethod": "either", "mfa": "optional", "audiences": ["api"], "scopes": ["read"],
            "passwordPolicy": {"minimumLength": 12}})
        one.call("tenant.update", {"tenantId": "default", "name": "Main"})
        one.call("idp.create", {"tenantId": "shop", "providerId": "google.com", "clientId": "1234.apps.googleusercontent.com"})
        one.call("idp.create", {"tenantId": "shop", "providerId": "oidc.work", "clientId": "work", "issuer": "https://work.example", "trustEmail": True, "scopes": ["groups"]})
        pool = make_pool(one, allowUnauthenticated=True, providers=[{"provider": "accounts.google.com", "clientIds": ["a"]}, {"tenantId": "shop"}], tags={"team": "a"})
        one.call("role.put", {"name": "reader", "poolId": pool["poolId"], "maxSessionSeconds": 7200, "tags": {"team": "b"}})
        arn = one.call("role.get", {"name": "reader"})["roleArn"]
        one.call("pool.setRoles", {"poolId": pool["poolId"], "roles": {"authenticated": arn}, "mappings": {
            "accounts.google.com": {"source": "rules", "rules": [{"claim": "hd", "matchType": "equals", "value": "example.com", "roleArn": arn}], "ambiguousRoleResolution": "deny"}}})
        one.call("pool.setPrincipalTags", {"poolId": pool["poolId"], "provider": "accounts.google.com", "principalTags": {"who": "email"}})
        document = one.call("system.export")
        self.assertEqual({each["change"] for each in one.call("system.apply", document)["changes"]}, {"unchanged"})
        self.assertEqual([each["tenantId"] for each in document["tenants"]], ["default", "shop"])
        other = self.spawn(store=self.path("other.db"), testing=True)
        self.assertEqual({each["change"] for each in other.call("system.apply", document)["changes"]}, {"created", "updated"})
        self.assertEqual(other.call("system.export"), document)
        self.assertEqual({each["change"] for each in other.call("system.apply", document)["changes"]}, {"unchanged"})

    def test_export_contains_no_secret(self):
        one = self.spawn(store=self.path("one.db"), testing=True)
        one.call("idp.create", {"providerId": "oidc.work", "clientId": "work", "clientSecret": "very secret", "issuer": "https://work.example"})
        document = one.call("system.export")
        self.assertNotIn("very secret", json.dumps(document))
        self.assertEqual(one.call("system.apply", document)["changes"][0]["change"], "unchanged")
