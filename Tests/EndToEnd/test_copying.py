"""`mintmark copy`: a whole store from SQLite to PostgreSQL and back, while it is in use, interrupted, and with every kind of bad input."""

import contextlib
import json
import os
import random
import re
import signal
import sqlite3
import stat
import subprocess
import threading
import time

import postgres
from endtoend import EndToEnd, make_pool, mint
from sidecar import Sidecar, binary, clean_environment, run
from test_snapshots import furnish, go_on

KEY = {"MINTMARK_MASTER_KEY": postgres.MASTER_KEY}


def reads(sidecar):
    """Returns the results of every method that reads, by its call, as JSON."""
    found = {}

    def ask(method, params=None):
        result = sidecar.call(method, params)
        found[f"{method} {json.dumps(params)}"] = json.dumps(result)
        return result

    for method in ("system.ping", "token.jwks", "key.list", "test.clock", "test.outbox", "audit.list", "system.export", "issuer.list"):
        ask(method, {"tenantId": "shop"} if method == "key.list" else None)
    for pool in ask("pool.list")["pools"]:
        place = {"poolId": pool["poolId"]}
        for method in ("pool.get", "pool.getRoles", "key.list"):
            ask(method, place)
        for identity in ask("identity.list", place)["identities"]:
            ask("identity.get", {"identityId": identity["identityId"]})
    for role in ask("role.list")["roles"]:
        ask("role.get", {"name": role["name"]})
    for tenant in ask("tenant.list")["tenants"]:
        place = {"tenantId": tenant["tenantId"]}
        ask("tenant.get", place)
        ask("idp.list", place)
        ask("account.export", place)
        for account in ask("account.list", place)["accounts"]:
            one = {"accountId": account["accountId"]}
            for method in ("account.get", "account.graph", "mfa.list", "session.list"):
                ask(method, one)
    return found


def fill(store, pool, count):
    """Inserts identities with one login each into a pool, with SQL."""
    with contextlib.closing(sqlite3.connect(store)) as connection, connection:
        connection.executemany(
            "INSERT INTO identity (id, pool_id, state, created_at, updated_at) VALUES (?, ?, 'enabled', 1, 1)",
            ((f"local-1:{number:08d}-0000-4000-8000-{number:012d}", pool) for number in range(count)))
        connection.executemany(
            "INSERT INTO login (pool_id, provider, subject, identity_id, linked_at) VALUES (?, 'login.shop', ?, ?, 1)",
            ((pool, f"user-{number}", f"local-1:{number:08d}-0000-4000-8000-{number:012d}") for number in range(count)))


class Copying(EndToEnd):
    stores = ("sqlite",)

    @classmethod
    def setUpClass(cls):
        cls.server = postgres.Server()
        cls.addClassCleanup(cls.server.close)

    def copy(self, source, target, *options, **environment):
        return run("copy", "--from", source, "--to", target, *options, home=self.folder, environment={**environment}, timeout=120)

    def copied(self, *arguments, **environment):
        done = self.copy(*arguments, **environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"Use only one of the two stores", done.stderr)
        return json.loads(done.stdout)

    def database(self):
        return self.server.uri(self.server.database())

    def open(self, store, **more):
        sidecar = Sidecar(store=store, testing=True, **more)
        self.addCleanup(sidecar.close)
        return sidecar

    def key_file(self):
        path = self.path("given.key")
        if not os.path.exists(path):
            with open(path, "w", encoding="ascii") as file:
                file.write(postgres.MASTER_KEY + "\n")
        return path

    def furnished(self, store, **more):
        sidecar = self.open(store, **more)
        sidecar.call("test.clock", {"freeze": True})
        made = furnish(sidecar)
        sidecar.call("idp.create", {"tenantId": "shop", "providerId": "oidc.work", "clientId": "work", "clientSecret": "very secret", "issuer": "https://work.example"})
        sidecar.call("key.rotate", {"tenantId": "shop"})
        sidecar.call("tenant.update", {"tenantId": "shop", "name": "Shop", "mfa": "optional"})
        sidecar.call("audit.verify")
        return sidecar, made

    def move(self, source, target, source_environment, target_environment):
        """Copies a store with everything in it, and compares what both answer."""
        one, made = self.furnished(source, environment=source_environment)
        before = reads(one)
        rows = one.call("store.stats")["rows"]
        answer = self.copied(source, target, **source_environment)
        self.assertEqual(answer["auditIntact"], True)
        self.assertEqual(answer["rows"], {name: rows[name] for name in answer["rows"]})
        self.assertEqual({name for name in rows if not name.startswith("mintmark_")}, set(answer["rows"]))
        self.assertEqual(reads(one), before, "the source has changed")
        self.assertEqual({**one.call("store.stats")["rows"], "mintmark_commit": 0}, {**rows, "mintmark_commit": 0})
        one.close()
        other = self.open(target, environment=target_environment)
        after = reads(other)
        self.assertEqual({call: text for call, text in before.items() if after.get(call) != text}, {})
        self.assertEqual(set(after), set(before))
        go_on(self, other, made)
        self.assertEqual(other.call("idp.get", {"tenantId": "shop", "providerId": "oidc.work"})["hasClientSecret"], True)
        minted = mint(other, made["pool"])["token"]
        other.close()
        again = self.open(source, environment=source_environment)
        again.call("token.verify", {"token": minted, "audience": made["pool"]})
        return answer

    def test_sqlite_store_moves_to_postgresql(self):
        source = self.path("shop.db")
        target = self.database()
        answer = self.move(source, target, {}, {"MINTMARK_MASTER_KEY_FILE": source + ".key"})
        self.assertEqual((answer["from"], answer["to"]), (source, target))

    def test_postgresql_store_moves_to_sqlite(self):
        target = self.path("shop.db")
        self.move(self.database(), target, KEY, {})
        self.assertEqual(stat.S_IMODE(os.stat(target).st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(os.stat(target + ".key").st_mode), 0o600)
        with open(target + ".key", encoding="ascii") as file:
            self.assertEqual(file.read().strip(), postgres.MASTER_KEY)

    def test_sqlite_store_moves_to_sqlite(self):
        self.move(self.path("shop.db"), self.path("copy.db"), {}, {})

    def test_copy_under_another_key(self):
        source, target = self.path("shop.db"), self.path("copy.db")
        one, made = self.furnished(source)
        answer = self.copied(source, target, "--to-master-key-file", self.key_file())
        self.assertNotEqual(answer["masterFingerprint"], one.call("store.stats")["masterFingerprint"])
        self.assertFalse(os.path.exists(target + ".key"))
        other = self.open(target, environment=KEY)
        go_on(self, other, made)
        self.assertEqual(other.call("store.stats")["masterFingerprint"], answer["masterFingerprint"])

    def test_dry_run_counts_only(self):
        source = self.path("shop.db")
        one = self.open(source)
        make_pool(one)
        done = self.copy(source, self.path("copy.db"), "--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual((answer["dryRun"], answer["rows"]["pool"]), (True, 1))
        self.assertFalse(os.path.exists(self.path("copy.db")))

    # MARK: One view

    def test_copy_during_writes_is_consistent(self):
        """Identities and logins are created in one transaction each, so every view contains as many of both."""
        for target in (self.path("copy.db"), self.database()):
            with self.subTest(target):
                source = self.path(f"source{len(target)}.db")
                one = self.open(source)
                pool = make_pool(one)["poolId"]
                ended, begun = threading.Event(), threading.Event()

                def write():
                    number = 0
                    while not ended.is_set():
                        mint(one, pool, f"user-{number}")
                        number += 1
                        if number == 20:
                            begun.set()

                writer = threading.Thread(target=write)
                writer.start()
                try:
                    self.assertTrue(begun.wait(30))
                    answer = self.copied(source, target)
                finally:
                    ended.set()
                    writer.join()
                self.assertEqual(answer["rows"]["identity"], answer["rows"]["login"])
                self.assertGreater(answer["rows"]["identity"], 0)
                other = self.open(target, environment={"MINTMARK_MASTER_KEY_FILE": source + ".key"})
                self.assertTrue(other.call("audit.verify")["intact"])

    # MARK: Large stores

    def large(self, count):
        """Returns a store with many identities, and their pool."""
        source = self.path("large.db")
        one = self.open(source)
        pool = make_pool(one)["poolId"]
        one.close()
        fill(source, pool, count)
        return source, pool

    def process(self, source, target, *options, **environment):
        return subprocess.Popen(
            [binary(), "copy", "--from", source, "--to", target, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=clean_environment(self.folder, environment))

    def test_killed_copy_is_refused_and_runs_again(self):
        """Killed at any time, a copy leaves a target that cannot be opened, and an unchanged source; the same command then completes it."""
        source, pool = self.large(40_000)
        key = {"MINTMARK_MASTER_KEY_FILE": source + ".key"}
        began = time.monotonic()
        self.copied(source, self.path("first.db"))
        seconds = time.monotonic() - began
        for kind in ("sqlite", "postgres"):
            target = self.path("copy.db") if kind == "sqlite" else self.database()
            random.seed(7)
            interrupted, longest = 0, seconds
            for n in range(30):
                if n >= 6 and interrupted > 1:
                    break
                process = self.process(source, target)
                time.sleep(random.uniform(0.1, 0.6) * longest)
                process.kill()
                process.communicate(timeout=60)
                done = run("doctor", "--store", target, "--testing", home=self.folder, environment=key)
                if done.returncode == 0:  # It was killed after its commit: the copy is complete.
                    with self.open(target, environment=key) as other:
                        self.assertEqual(mint(other, pool, "user-39999")["isNewIdentity"], False)
                    target = self.path(f"copy-{n}.db") if kind == "sqlite" else self.database()
                    longest *= 0.7  # The machine was busier when the duration was measured.
                    continue
                interrupted += 1
                self.assertEqual(done.returncode, 2, f"{kind}: an interrupted copy can be opened: {done.stdout}")
                # The target does not exist yet, or is the rest of the copy.
                self.assertRegex(done.stdout.decode(), "run the same command again|does not exist|contains no store|not completely init")
            self.assertGreater(interrupted, 1)
            answer = self.copied(source, target)
            self.assertEqual(answer["rows"]["identity"], 40_000)
            other = self.open(target, environment=key)
            self.assertEqual(mint(other, pool, "user-39999")["isNewIdentity"], False)
            other.close()
        one = self.open(source)
        self.assertTrue(one.call("audit.verify")["intact"])

    def test_copy_takes_little_memory(self):
        """Copying a store of 30 MB takes at most 10 MB more than copying an empty one."""
        def peak(one, other, **environment):
            process = self.process(one, other, **environment)
            most = 0
            while process.poll() is None:
                with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
                    found = re.search(r"VmHWM:\s+(\d+) kB", file.read())
                most = max(most, int(found[1]) << 10 if found else 0)
                time.sleep(0.005)
            process.communicate()
            self.assertEqual(process.returncode, 0)
            return most

        peaks = []
        for count in (0, 60_000):
            source, database = self.path(f"source{count}.db"), self.database()
            with self.open(source) as one:
                pool = make_pool(one)["poolId"]
            fill(source, pool, count)
            key = {"MINTMARK_MASTER_KEY_FILE": source + ".key"}
            peaks.append([peak(source, self.path(f"copy{count}.db")), peak(source, database), peak(database, self.path(f"back{count}.db"), **key)])
        self.assertGreater(os.stat(source).st_size, 25 << 20)
        for empty, full in zip(*peaks):
            self.assertLess(full - empty, 10 << 20)

    def stopped_within(self, process, server, database):
        """Stops a process while it copies rows to a database."""
        deadline = time.monotonic() + 60
        while not server.sql("SELECT 1 FROM pg_locks l JOIN pg_class c ON c.oid = l.relation WHERE c.relname = 'login' AND l.mode LIKE '%ExclusiveLock'", database):
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), deadline)
        process.send_signal(signal.SIGSTOP)

    def test_lost_server_during_copy_leaves_usable_source(self):
        source, _ = self.large(60_000)
        server = postgres.Server()
        self.addCleanup(server.close)
        database = server.database()
        target = server.uri(database)
        process = self.process(source, target)
        self.stopped_within(process, server, database)
        server.order("crash")
        process.send_signal(signal.SIGCONT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 2, err)
        server.order("start")
        self.assertEqual(self.copied(source, target)["rows"]["identity"], 60_000)

    # MARK: Bad input

    def refused_with(self, status, text, done):
        self.assertEqual((done.returncode, done.stdout), (status, b""), done.stderr)
        self.assertRegex(done.stderr.decode(), text)

    def test_same_store_is_usage_error(self):
        source = self.path("shop.db")
        make_pool(self.open(source))
        os.symlink(source, self.path("link.db"))
        os.link(source, self.path("hard.db"))
        for target in (source, self.path("link.db"), self.path("hard.db"), self.path(".", "shop.db")):
            self.refused_with(64, "same store", self.copy(source, target))
        database = self.server.database()
        make_pool(self.open(self.server.uri(database), environment=KEY))
        other = self.server.uri(database) + "&application_name=other"
        self.refused_with(64, "same store", self.copy(self.server.uri(database), other, **KEY))

    def test_unusable_source_creates_no_target(self):
        target = self.path("copy.db")
        self.refused_with(2, "storeCannotOpen", self.copy(self.path("nowhere.db"), target))
        with open(self.path("text.db"), "w", encoding="ascii") as file:
            file.write("no store " * 200)
        self.refused_with(2, "notAStore", self.copy(self.path("text.db"), target))
        source = self.path("shop.db")
        make_pool(self.open(source))
        self.refused_with(2, "masterKeyWrong", self.copy(source, target, **KEY))
        self.refused_with(2, "masterKeyWrong", self.copy(source, target, "--master-key-file", self.key_file()))
        self.refused_with(2, "storeCannotOpen", self.copy(source, target, "--to-master-key-file", self.path("nowhere.key")))
        os.rename(source + ".key", self.path("elsewhere"))
        self.refused_with(2, "masterKeyMissing", self.copy(source, target))
        self.refused_with(2, "masterKeyMissing.*keygen", self.copy(self.database(), target))
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("copy.db")], [])

    def test_target_that_is_not_empty_is_unchanged(self):
        source, target = self.path("shop.db"), self.path("copy.db")
        make_pool(self.open(source))
        other = self.open(target)
        pool = make_pool(other)["poolId"]
        self.refused_with(1, "storeNotEmpty", self.copy(source, target))
        self.assertEqual([each["poolId"] for each in other.call("pool.list")["pools"]], [pool])
        database = self.database()
        make_pool(self.open(database, environment=KEY))
        self.refused_with(1, "storeNotEmpty", self.copy(source, database))
        with open(self.path("text.db"), "w", encoding="ascii") as file:
            file.write("no store " * 200)
        self.refused_with(2, "notAStore", self.copy(source, self.path("text.db")))

    def test_key_of_another_store_is_kept(self):
        source, target = self.path("shop.db"), self.path("copy.db")
        make_pool(self.open(source))
        with open(target + ".key", "w", encoding="ascii") as file:
            file.write(postgres.MASTER_KEY)
        self.refused_with(1, "storeNotEmpty.*another master key", self.copy(source, target))
        self.assertFalse(os.path.exists(target))
        with open(target + ".key", encoding="ascii") as file:
            self.assertEqual(file.read(), postgres.MASTER_KEY)

    def test_store_in_memory_is_usage_error(self):
        self.refused_with(64, "--from :memory:", self.copy(":memory:", self.path("copy.db")))
        self.refused_with(64, "--to :memory:", self.copy(self.path("shop.db"), ":memory:"))
        self.refused_with(64, "mintmark copy --help", run("copy", "--from", "a.db", home=self.folder))

    def test_copy_of_altered_log_is_marked_incomplete(self):
        source, target = self.path("shop.db"), self.path("copy.db")
        one = self.open(source)
        make_pool(one)
        one.close()
        with sqlite3.connect(source) as connection:
            connection.execute("UPDATE audit SET details = '{}'")
        connection.close()
        self.refused_with(1, "copyNotVerified.*altered", self.copy(source, target))
        done = run("call", "--store", target, "--testing", "pool.list", home=self.folder)
        self.refused_with(2, "storeCannotOpen.*interrupted", done)

    def test_older_source_must_be_migrated_first(self):
        source = self.path("old.db")
        with open(os.path.join(os.path.dirname(__file__), "Stores", "version-1.sql"), encoding="utf-8") as file:
            connection = sqlite3.connect(source)
            connection.executescript("PRAGMA journal_mode = WAL; PRAGMA application_id = 1296912971;" + file.read())
            connection.close()
        self.refused_with(2, "storeTooOld.*mintmark migrate", self.copy(source, self.path("copy.db"), **KEY))
        self.assertFalse(os.path.exists(self.path("copy.db")))
