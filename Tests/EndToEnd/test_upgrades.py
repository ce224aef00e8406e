"""Stores of other schema versions: migration, and concurrent use by the previous and the next version of the program."""

import concurrent.futures
import json
import os
import random
import re
import sqlite3
import threading
import time
import unittest

import postgres
from endtoend import EndToEnd, make_pool, mint, pool_with_role
from sidecar import ROOT, run

PASSWORD = "correct Horse 9"
STORES = os.path.join(ROOT, "Tests", "EndToEnd", "Stores")


def stored(name):
    with open(os.path.join(STORES, name), encoding="utf-8") as file:
        return file.read()


# The tables that the second version of the schema did not have.
LATER_TABLES = {"notice", "vendor_record", "passkey", "passkey_user", "passkey_ceremony", "application", "tenant_hooks", "action_code",
                "trusted_issuer", "used_workload_token", "role_policy", "security_event", "event_stream", "event_stream_ack", "application_secret", "agent"}


class Upgrades:
    """Tests with a testing store of schema version 1 that contains data. `place` creates the store from its SQL statements."""

    facts = json.loads(stored("version-1.json"))

    def setUp(self):
        super().setUp()
        self.store = self.place(stored("version-1.sql"))

    def open(self, *options, **more):
        return self.spawn(*options, store=self.store, testing=True, environment={"MINTMARK_MASTER_KEY": self.facts["masterKey"]}, **more)

    def migrate(self, *options):
        return run("migrate", "--store", self.store, *options)

    def is_whole(self, sidecar):
        """Checks that the data of version 1 is complete and works with later features."""
        facts = self.facts
        again = mint(sidecar, facts["pool"])
        self.assertEqual((again["identityId"], again["isNewIdentity"]), (facts["alice"], False))
        sidecar.call("token.verify", {"token": facts["token"], "audience": facts["pool"]})
        principal = sidecar.call("credentials.verify", {"sessionToken": facts["sessionToken"]})["principal"]
        self.assertEqual(principal["identityId"], facts["alice"])
        self.assertEqual(sidecar.call("pool.get", {"poolId": facts["pool"]})["tags"], {"team": "web"})
        self.assertEqual(sidecar.call("pool.getRoles", {"poolId": facts["pool"]})["roles"], {"authenticated": facts["role"]})
        self.assertEqual(sidecar.call("pool.get", {"poolId": facts["pool"]})["providers"], [])
        self.assertTrue(sidecar.call("audit.verify")["intact"])

    def test_migrate_prints_the_old_and_the_new_version(self):
        never = self.open("--migrate", "never").refusal("pool.list")
        self.assertEqual((never.type, never.data["found"]), ("storeTooOld", 1))
        done = self.migrate()
        self.assertEqual(done.returncode, 0, done.stderr)
        found = re.fullmatch(r"schema version 1 → (\d+)\n", done.stdout.decode())
        self.assertTrue(found, done.stdout)
        again = self.migrate("--migrate", "never")
        self.assertEqual((again.returncode, again.stdout.decode()), (0, f"schema version {found[1]}: already current\n"))
        sidecar = self.open("--migrate", "never")
        self.assertEqual(sidecar.call("system.info")["schemaVersion"], int(found[1]))
        self.is_whole(sidecar)

    def test_concurrent_starts_migrate_once(self):
        sidecars = [self.open() for _ in range(4)]
        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            list(threads.map(self.is_whole, sidecars))

    def test_this_version_continues_while_the_next_version_migrates(self):
        """Runs under load. After the migration, another process of this version can still start. After a second migration, none can."""
        sidecar = self.open()
        self.is_whole(sidecar)
        version = sidecar.call("system.info")["schemaVersion"]
        pool, count = self.facts["pool"], 1_500
        for number in range(count):
            sidecar.send("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": f"user {number % 500}"}}, id=f"m{number}")
            if number == count // 2:
                self.next_version(version + 1)
        identities = [sidecar.answer(f"m{number}", 60)["identityId"] for number in range(count)]
        self.assertEqual(len(set(identities)), 500)
        second = self.open()
        for each in (sidecar, second):
            self.is_whole(each)
            created = make_pool(each)["poolId"]
            each.call("pool.update", {"poolId": created, "name": "renamed"})
            each.call("pool.delete", {"poolId": created})
        self.next_version(version + 2)
        error = self.open().refusal("pool.list")
        self.assertEqual((error.type, error.data["found"]), ("storeTooNew", version + 2))
        self.assertEqual(self.migrate().returncode, 2)


class OnSQLite(Upgrades, EndToEnd):
    stores = ("sqlite",)

    def place(self, text):
        store = self.path("store.db")
        connection = sqlite3.connect(store)
        connection.executescript("PRAGMA journal_mode = WAL; PRAGMA application_id = 1296912971;" + text)
        connection.close()
        os.chmod(store, 0o600)
        return store

    def next_version(self, version):
        """Migrates the store as a later version would: adds a column, a table and an index in one transaction."""
        connection = sqlite3.connect(self.store, isolation_level=None, timeout=30)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"ALTER TABLE pool ADD COLUMN later_{version} TEXT NOT NULL DEFAULT ''")
        connection.execute(f"CREATE TABLE later_{version} (id TEXT PRIMARY KEY)")
        connection.execute(f"CREATE INDEX later_index_{version} ON identity (created_at)")
        connection.execute("UPDATE mintmark_meta SET value = ? WHERE name = 'schema_version'", [version])
        connection.execute("COMMIT")
        connection.close()

    def test_version_1_continues_while_this_version_migrates_and_works(self):
        """During the migration and the work, a thread runs the SQL statements of version 1."""
        pool, stop, done, failures = self.facts["pool"], threading.Event(), [], []

        def version_1():
            try:
                connection = sqlite3.connect(self.store, isolation_level=None, timeout=30)
                connection.execute("PRAGMA foreign_keys = ON")
                while not stop.is_set():
                    number = len(done)
                    connection.execute("BEGIN IMMEDIATE")
                    known = connection.execute(
                        "SELECT id, name, allow_unauthenticated, allow_classic_flow, developer_provider, signing_algorithm, tags, "
                        "created_at, updated_at FROM pool WHERE id = $1", [pool]).fetchone()
                    assert known[:2] == (pool, "shop"), known
                    identity = f"local-1:00000000-0000-7000-8000-{number:012x}"
                    connection.execute(
                        "INSERT INTO identity (id, pool_id, state, created_at, updated_at) VALUES ($1, $2, 'authenticated', $3, $3)",
                        [identity, pool, 1_700_000_000])
                    connection.execute(
                        "INSERT INTO login (pool_id, provider, subject, identity_id, linked_at) VALUES ($1, $2, $3, $4, $5) "
                        "ON CONFLICT (pool_id, provider, subject) DO NOTHING", [pool, "login.shop", f"old {number}", identity, 1_700_000_000])
                    connection.execute(
                        "INSERT INTO pool (id, name, allow_unauthenticated, allow_classic_flow, developer_provider, signing_algorithm, tags, "
                        "created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (id) DO NOTHING",
                        [f"local-1:00000000-0000-0000-0001-{number:012x}", "old", 0, 0, None, "ES256", "{}", 1_700_000_000, 1_700_000_000])
                    connection.execute("COMMIT")
                    done.append(identity)
                    stop.wait(0.005)  # without a pause, SQLite does not let other connections in between two transactions
                connection.close()
            except Exception as error:  # reported to the test, which runs in another thread
                failures.append(error)

        old = threading.Thread(target=version_1)
        old.start()
        try:
            while len(done) < 20 and not failures:
                stop.wait(0.01)
            sidecar = self.open()
            self.is_whole(sidecar)
            before = len(done)
            for number in range(500):
                mint(sidecar, pool, f"new {number}")
            while len(done) < before + 20 and not failures:
                stop.wait(0.01)
        finally:
            stop.set()
            old.join()
        self.assertEqual(failures, [])
        for number, identity in enumerate(done):
            again = mint(sidecar, pool, f"old {number}")
            self.assertEqual((again["identityId"], again["isNewIdentity"]), (identity, False))
        self.assertEqual(sidecar.call("pool.get", {"poolId": "local-1:00000000-0000-0000-0001-000000000003"})["providers"], [])
        self.is_whole(sidecar)

    def test_session_of_the_previous_version_continues_with_the_tenant_as_audience(self):
        """A session of schema version 2 has no stored audience. A session that began after the migration keeps its audience."""
        sidecar = self.open()
        sidecar.call("tenant.update", {"tenantId": "default", "audiences": ["api://a"], "scopes": ["read"]})
        sidecar.call("account.create", {"username": "alice@example.com", "password": PASSWORD})
        given = {"username": "alice@example.com", "password": PASSWORD}
        old = sidecar.call("signIn.withPassword", {**given, "scope": "openid read"})
        sidecar.close()
        connection = sqlite3.connect(self.store, isolation_level=None)
        for table in [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]:
            if table in LATER_TABLES:
                connection.execute(f"DROP TABLE {table}")
        for index in ("session_of_application", "audit_order", "audit_of_identity", "audit_of_method", "audit_of_pool",
                      "account_by_email", "account_by_creation", "account_by_sign_in"):
            connection.execute(f"DROP INDEX {index}")
        connection.execute("CREATE INDEX audit_at ON audit (at, chain, number)")
        for table, column in (("flow", "application"), ("flow", "passkey"), ("session", "audience"), ("session", "passkey_id"), ("session", "acr"),
                              ("session", "client_id"), ("session", "application_id"), ("role", "description"), ("audit", "position"),
                              ("idp_flow", "client_id"), ("idp_flow", "application_id")):
            connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        connection.execute("UPDATE mintmark_meta SET value = 2 WHERE name = 'schema_version'")
        connection.close()
        sidecar = self.open()
        new = sidecar.call("signIn.withPassword", {**given, "audience": "api://a", "scope": "read"})
        for session, audience, scope in ((old, "default", "openid read"), (new, "api://a", "read")):
            fresh = sidecar.call("session.refresh", {"refreshToken": session["refreshToken"]})
            claims = sidecar.call("token.verify", {"token": fresh["accessToken"], "audience": audience, "use": "access"})["claims"]
            self.assertEqual((claims["aud"], claims["scope"]), (audience, scope))

    def test_missing_store_is_not_backed_up_migrated_or_created(self):
        """A mistyped path in a scheduled job must not result in a successful backup of nothing."""
        before = sorted(os.listdir(self.folder))
        for name in (self.path("typo.db"), self.path("missing", "typo.db")):
            for arguments in (("backup", "--store", name, self.path("copy.db")), ("migrate", "--store", name)):
                done = run(*arguments)
                self.assertEqual((done.returncode, done.stdout), (2, b""), done.stderr)
                self.assertIn(f"{name} cannot be opened: the file does not exist; check the path, or create a store with mintmark serve", done.stderr.decode())
        self.assertEqual(sorted(os.listdir(self.folder)), before)
        make_pool(self.spawn(store=self.path("typo.db")))
        self.assertEqual(run("migrate", "--store", self.path("typo.db")).returncode, 0)


@unittest.skipUnless(os.environ.get("MINTMARK_TEST_OLD_BINARY"), "no binary of the schema version before")
class WithOldBinary(EndToEnd):
    """Tests with a real binary of the previous version: `git worktree add ../old REVISION`, then a release build in it."""

    stores = ("sqlite",)

    def test_old_and_new_binary_serve_one_store_during_the_migration(self):
        store, program = self.path("store.db"), os.environ["MINTMARK_TEST_OLD_BINARY"]
        old = self.spawn(store=store, program=program)
        pool, _ = pool_with_role(old)
        known, counts, stop = {}, {}, threading.Event()

        def use(sidecar, side, number):
            chosen = random.Random(number)
            while not stop.is_set():
                user = f"user {chosen.randrange(300)}"
                minted = mint(sidecar, pool, user)
                self.assertEqual(known.setdefault(user, minted["identityId"]), minted["identityId"])
                sidecar.call("credentials.get", {"token": minted["token"]})
                sidecar.call("token.verify", {"token": minted["token"], "audience": pool})
                counts[side, number] = counts.get((side, number), 0) + 1

        def rounds(side):
            return sum(count for (each, _), count in list(counts.items()) if each == side)
        with concurrent.futures.ThreadPoolExecutor(6) as threads:
            users = [threads.submit(use, old, "old", number) for number in range(3)]
            try:
                self.until(lambda: rounds("old") >= 100, users)
                self.refused("storeTooOld", self.spawn("--migrate", "never", store=store), "pool.list")
                before, new = rounds("old"), self.spawn(store=store)
                users += [threads.submit(use, new, "new", number) for number in range(3)]
                self.until(lambda: rounds("new") >= 300 and rounds("old") >= before + 300, users)
            finally:
                stop.set()
            for user in users:
                user.result()
        self.assertLess(old.call("system.info")["schemaVersion"], new.call("system.info")["schemaVersion"])
        late = self.spawn(store=store, program=program)   # starts after the migration
        for sidecar in (old, new, late):
            for user, identity in list(known.items())[::10]:
                self.assertEqual(mint(sidecar, pool, user)["identityId"], identity)
            self.assertTrue(sidecar.call("audit.verify")["intact"])

    def until(self, done, users, seconds=60):
        deadline = time.monotonic() + seconds
        while not done():
            for user in users:
                if user.done():
                    user.result()
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)


class OnPostgreSQL(Upgrades, EndToEnd):
    stores = ("postgres",)

    @classmethod
    def setUpClass(cls):
        cls.server = postgres.Server()
        cls.addClassCleanup(cls.server.close)

    def place(self, text):
        self.database = self.server.database()
        marks = ("CREATE TABLE mintmark_commit (mark TEXT PRIMARY KEY, "
                 "at BIGINT NOT NULL DEFAULT CAST(EXTRACT(EPOCH FROM now()) AS BIGINT));")
        self.server.sql(marks + re.sub(r"X'([0-9a-f]*)'", r"'\\x\1'", text), self.database)
        return self.server.uri(self.database)

    def next_version(self, version):
        """Repeats the migration if PostgreSQL chose it as the victim of a deadlock, as a process of the next version would."""
        for _ in range(20):
            try:
                return self.server.sql(
                    f"BEGIN; ALTER TABLE pool ADD COLUMN later_{version} TEXT NOT NULL DEFAULT ''; CREATE TABLE later_{version} (id TEXT PRIMARY KEY); "
                    f"CREATE INDEX later_index_{version} ON identity (created_at); "
                    f"UPDATE mintmark_meta SET value = {version} WHERE name = 'schema_version'; COMMIT", self.database)
            except AssertionError as error:
                if "deadlock detected" not in str(error):
                    raise
        self.fail("the migration is the victim of every deadlock")


if __name__ == "__main__":
    unittest.main()
