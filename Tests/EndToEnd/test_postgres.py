"""Tests of shared stores: several processes at once, and a database server that becomes unavailable."""

import concurrent.futures
import os
import signal
import socket
import threading
import unittest

import postgres
from endtoend import EndToEnd, make_pool, mint, pool_with_role
from sidecar import RpcError, Sidecar, run


class OnPostgres(EndToEnd):
    """Uses one server for all tests of a class and a new database for each test."""

    stores = ("postgres",)

    @classmethod
    def setUpClass(cls):
        cls.server = postgres.Server()
        cls.addClassCleanup(cls.server.close)

    def setUp(self):
        super().setUp()
        self.database = self.server.database()

    def open(self, *options, **more):
        sidecar = self.server.sidecar(self.database, *options, **more)
        self.addCleanup(sidecar.close)
        return sidecar

    def open_with(self, uri, **environment):
        sidecar = Sidecar(store=uri, environment={"MINTMARK_MASTER_KEY": postgres.MASTER_KEY, **environment})
        self.addCleanup(sidecar.close)
        return sidecar

    def intact(self, sidecar):
        self.assertTrue(sidecar.call("audit.verify")["intact"])

    def identities(self, sidecar, pool):
        return [each["identityId"] for each in sidecar.call("identity.list", {"poolId": pool})["identities"]]


class SeveralProcesses(OnPostgres):
    def test_concurrent_first_starts_agree_on_one_store(self):
        sidecars = [self.open() for _ in range(6)]
        with concurrent.futures.ThreadPoolExecutor(6) as threads:
            self.assertTrue(all(threads.map(lambda each: each.call("system.health")["ready"], sidecars)))
        for table in ["data_key", "session_key", "store_fact WHERE name = 'id'"]:
            self.assertEqual(self.server.sql(f"SELECT COUNT(*) FROM {table}", self.database), ["1"])
        pool, _ = pool_with_role(sidecars[0])
        minted = mint(sidecars[1], pool)
        self.assertEqual(sidecars[2].call("token.verify", {"token": minted["token"], "audience": pool})["claims"]["aud"], pool)
        credentials = sidecars[3].call("credentials.get", {"token": minted["token"]})["credentials"]
        principal = sidecars[4].call("credentials.verify", {"sessionToken": credentials["sessionToken"]})["principal"]
        self.assertEqual(principal["identityId"], minted["identityId"])

    def test_concurrent_mints_of_new_users_in_several_processes_create_one_identity_each(self):
        sidecars = [self.open() for _ in range(3)]
        pool = make_pool(sidecars[0])["poolId"]
        users = [f"user {number}" for number in range(40)]
        for sidecar in sidecars:
            for user in users:
                sidecar.send("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": user}}, id=user)
        answers = [{user: sidecar.answer(user, 60) for user in users} for sidecar in sidecars]
        for user in users:
            self.assertEqual(len({each[user]["identityId"] for each in answers}), 1, user)
            self.assertEqual([each[user]["isNewIdentity"] for each in answers].count(True), 1, user)
        self.assertEqual(len(self.identities(sidecars[0], pool)), len(users))
        self.intact(sidecars[0])

    def test_guest_is_upgraded_by_one_user_only(self):
        sidecars = [self.open() for _ in range(2)]
        pool = make_pool(sidecars[0])["poolId"]
        known = mint(sidecars[0], pool, "first")["identityId"]
        self.server.sql(
            f"UPDATE identity SET state = 'guest' WHERE id = '{known}'; DELETE FROM login WHERE identity_id = '{known}'", self.database)
        for number in range(8):
            sidecars[number % 2].send(
                "token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": f"user {number}"}, "identityId": known}, id=number)
        outcomes = []
        for number in range(8):
            try:
                outcomes.append(sidecars[number % 2].answer(number)["identityId"])
            except RpcError as error:
                outcomes.append(error.type)
        self.assertEqual(sorted(outcomes), sorted([known] + ["loginsDoNotMatch"] * 7))

    def test_revocation_and_pool_deletion_take_effect_in_all_processes_within_a_second(self):
        one, other = self.open(), self.open()
        pool, _ = pool_with_role(one)
        minted = mint(other, pool)
        credentials = other.call("credentials.get", {"token": minted["token"]})["credentials"]
        one.call("credentials.revoke", {"identityId": minted["identityId"]})
        self.assertEqual(one.refusal("credentials.verify", {"sessionToken": credentials["sessionToken"]}).type, "credentialsRevoked")
        self.soon_refused("credentialsRevoked", other, "credentials.verify", {"sessionToken": credentials["sessionToken"]})
        one.call("pool.delete", {"poolId": pool})
        # Creating a user requires the row of the pool, even if the pool is still cached.
        self.refused("poolNotFound", other, "token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": "bob"}})


class ConnectionsOfOneProcess(OnPostgres):
    def test_audit_retention_with_concurrent_appends_leaves_the_log_intact(self):
        """The expiry job uses one of four connections, runs concurrently with requests, and finds audit chains without records."""
        sidecar = self.open("--audit-retention-days", "30", testing=True)
        month = 31 * 86_400
        for round in range(240):
            sidecar.call("test.clock", {"advanceSeconds": month})
            sidecar.call("test.clock", {"advanceSeconds": month})
            sidecar.call("pool.create", {"name": "shop"})
            sidecar.call("test.clock", {"advanceSeconds": month, "settle": False})
            for id in [sidecar.send("pool.create", {"name": "shop"}) for _ in range(16)]:
                sidecar.answer(id)
            answer = sidecar.call("audit.verify")
            self.assertTrue(answer["intact"], (round, answer))

    def test_one_connection_serves_many_concurrent_requests(self):
        sidecar = self.open("--db-connections", "1")
        pool = make_pool(sidecar)["poolId"]
        for number in range(200):
            sidecar.send("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": f"user {number % 50}"}}, id=number)
        self.assertEqual(len({sidecar.answer(number, 60)["identityId"] for number in range(200)}), 50)
        self.assertEqual(
            self.server.sql(f"SELECT COUNT(*) FROM pg_stat_activity WHERE datname = '{self.database}' AND backend_type = 'client backend' AND pid <> pg_backend_pid()"), ["1"])


class RejectedDatabases(OnPostgres):
    def test_missing_master_key_fails_and_creates_nothing(self):
        sidecar = self.open(environment={"MINTMARK_MASTER_KEY": None})
        error = sidecar.refusal("pool.list")
        self.assertEqual(error.type, "masterKeyMissing")
        self.assertIn("MINTMARK_MASTER_KEY", error.message)
        self.assertEqual(self.server.sql("SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'public'", self.database), ["0"])

    def test_wrong_master_key_or_kind_of_store_fails(self):
        self.open().call("pool.list")
        self.assertEqual(self.open(environment={"MINTMARK_MASTER_KEY": "B" * 42 + "A"}).refusal("pool.list").type, "masterKeyWrong")
        self.assertEqual(self.open(testing=True).refusal("pool.list").type, "testingStoreMismatch")

    def test_database_of_another_application_is_not_changed(self):
        self.server.sql("CREATE TABLE theirs (x INT)", self.database)
        self.assertEqual(self.open().refusal("pool.list").type, "notAStore")
        self.server.sql("CREATE SCHEMA mintmark", self.database)
        own = self.open_with(self.server.uri(self.database) + "&options=-csearch_path%3Dmintmark")
        make_pool(own)
        self.assertEqual(self.server.sql("SELECT COUNT(*) FROM mintmark.pool", self.database), ["1"])

    def test_schema_that_is_one_version_newer_opens_and_two_versions_newer_fails(self):
        self.open().call("pool.list")
        self.server.sql("UPDATE mintmark_meta SET value = value + 1 WHERE name = 'schema_version'", self.database)
        self.open().call("pool.list")
        self.server.sql("UPDATE mintmark_meta SET value = value + 1 WHERE name = 'schema_version'", self.database)
        self.assertEqual(self.open().refusal("pool.list").type, "storeTooNew")

    def test_read_only_database_can_be_read(self):
        sidecar = self.open()
        pool = make_pool(sidecar)["poolId"]
        mint(sidecar, pool)
        self.server.sql(f"ALTER DATABASE {self.database} SET default_transaction_read_only = on")
        reader = self.open()
        self.assertFalse(mint(reader, pool)["isNewIdentity"])
        self.refused("storeReadOnly", reader, "token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": "bob"}})

    def test_connection_error_contains_the_reason_and_never_the_password(self):
        cases = {
            self.server.uri("nowhere"): "does not exist",
            self.server.uri(self.database, user="nobody:s3cret"): "does not exist",
            "postgres://me:s3cret@127.0.0.1:1/db": "refused",
            "postgres://me:s3cret/db": "cannot be opened",
            "postgres://me:s3c/ret@/db?host=/nowhere": "cannot be opened",
            "postgres://me@/db?host=/nowhere&password=s3cret": "No such file",
            "postgres://me:s3cret@h/db?nonsense=s3cret": "not a valid PostgreSQL URI",
            "postgresql://me:%zzs3cret@h/db": "not a valid PostgreSQL URI",
        }
        for uri, words in cases.items():
            with self.subTest(uri):
                sidecar = self.open_with(uri)
                error = sidecar.refusal("pool.list")
                self.assertEqual(error.type, "storeCannotOpen")
                self.assertIn(words, error.message)
                doctor = run("doctor", "--store", uri, environment={"MINTMARK_MASTER_KEY": postgres.MASTER_KEY})
                self.assertEqual(doctor.returncode, 2)
                said = str(error) + sidecar.stderr_text() + (doctor.stdout + doctor.stderr).decode()
                self.assertNotIn("s3c", said)
                self.assertNotIn("ret@", said)

    def test_doctor_checks_a_postgresql_store(self):
        self.open().call("pool.list")
        done = run("doctor", "--store", self.server.uri(self.database), environment={"MINTMARK_MASTER_KEY": postgres.MASTER_KEY})
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn(f"/{self.database}".encode(), done.stdout)


class ServerGoesAway(OnPostgres):
    def test_request_after_a_server_restart_succeeds(self):
        sidecar = self.open()
        pool = make_pool(sidecar)["poolId"]
        known = mint(sidecar, pool)["identityId"]
        for order in ["stop", "crash"]:
            self.server.order(order)
            self.server.order("start")
            self.assertEqual(mint(sidecar, pool)["identityId"], known)
            self.server.order(order)
            self.server.order("start")
            self.assertTrue(mint(sidecar, pool, order)["isNewIdentity"])
        self.intact(sidecar)

    def test_request_waits_for_a_restarting_server(self):
        sidecar = self.open()
        pool = make_pool(sidecar)["poolId"]
        known = mint(sidecar, pool)["identityId"]
        self.server.order("stop")
        number = sidecar.send("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": "alice"}})
        self.settled(sidecar)
        self.assertEqual(sidecar.arrived(), 0)
        self.server.order("start")
        self.assertEqual(sidecar.answer(number)["identityId"], known)

    def test_hanging_server_does_not_prevent_exit(self):
        told, left = self.open("--drain", "2"), self.open("--drain", "2")
        for sidecar in (told, left):
            make_pool(sidecar)  # so that the process has new heads of the audit log to report at exit
        with open(os.path.join(self.server.folder, ".s.PGSQL.5432.lock"), encoding="ascii") as file:
            postmaster = int(file.readline())
        with open(f"/proc/{postmaster}/task/{postmaster}/children", encoding="ascii") as file:
            processes = [postmaster, *map(int, file.read().split())]
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        try:
            told.signal()
            left.end_input()
            self.assertEqual([told.wait(60), left.wait(60)], [0, 0])
        finally:
            for process in processes:
                os.kill(process, signal.SIGCONT)
        self.intact(self.open())

    def test_requests_fail_while_the_server_is_stopped_and_succeed_after_its_start(self):
        sidecar = self.open()
        pool = make_pool(sidecar)["poolId"]
        self.server.order("stop")
        try:
            error = sidecar.refusal("pool.create", {"name": "x"})
            self.assertEqual((error.type, error.data["retryAfterSeconds"]), ("storeCannotOpen", 1))
            self.works(sidecar)
            self.assertFalse(sidecar.call("system.health")["ready"])
        finally:
            self.server.order("start")
        self.assertTrue(sidecar.call("system.health")["ready"])
        mint(sidecar, pool)

    def test_server_crash_during_writes_loses_no_confirmed_result(self):
        sidecar = self.open()
        pool = make_pool(sidecar)["poolId"]
        kept, refused = {}, []
        for number in range(600):
            sidecar.send("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": f"user {number}"}}, id=number)
        kept[0] = sidecar.answer(0)["identityId"]
        self.server.order("crash")
        self.server.order("start")
        for number in range(1, 600):
            try:
                kept[number] = sidecar.answer(number, 60)["identityId"]
            except RpcError as error:
                refused.append(error.type)
        self.assertLessEqual(set(refused), {"storeCannotOpen", "storeBusy", "outcomeUnknown"})
        for number, identity in kept.items():
            minted = mint(sidecar, pool, f"user {number}")
            self.assertEqual((minted["identityId"], minted["isNewIdentity"]), (identity, False))
        self.intact(sidecar)


class Wire:
    """A proxy between a process and the server that can cut the connection at a commit.

    With `cut` set to `before`, the commit does not reach the server. With `after`, the commit reaches the server, but the response is
    dropped. With `alone`, no further connection succeeds after a cut.
    """

    def __init__(self, folder, target):
        self.target = target
        self.cut, self.alone, self.cuts = None, False, 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(f"{folder}/.s.PGSQL.5432")
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if self.alone and self.cuts:
                client.close()
                continue
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.target)
            swallow = threading.Event()
            threading.Thread(target=self.requests, args=(client, server, swallow), daemon=True).start()
            threading.Thread(target=self.answers, args=(client, server, swallow), daemon=True).start()

    def requests(self, client, server, swallow):
        while data := self.receive(client):
            if self.cut and b"INSERT INTO mintmark_commit" in data:
                how, self.cut = self.cut, None
                self.cuts += 1
                if how == "before":
                    break
                swallow.set()
            server.sendall(data)
        self.hang_up(server, client)

    def answers(self, client, server, swallow):
        while data := self.receive(server):
            if swallow.is_set():
                break
            client.sendall(data)
        self.hang_up(client, server)

    @staticmethod
    def receive(connection):
        try:
            return connection.recv(65536)
        except OSError:
            return b""

    @staticmethod
    def hang_up(*connections):
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class CommitsInDoubt(OnPostgres):
    def setUp(self):
        super().setUp()
        self.wire = Wire(self.folder, f"{self.server.folder}/.s.PGSQL.5432")
        self.addCleanup(self.wire.listener.close)
        self.sidecar = self.open(host=self.folder)
        self.pool = make_pool(self.sidecar)["poolId"]
        # The next commit must be that of the test, not one of the background work after the creation.
        self.settled(self.sidecar, server=self.server)

    def stored(self):
        return self.server.sql("SELECT subject FROM login ORDER BY subject", self.database)

    def test_commit_whose_response_was_lost_is_detected(self):
        self.wire.cut = "after"
        self.assertTrue(mint(self.sidecar, self.pool)["isNewIdentity"])
        self.assertEqual(self.wire.cuts, 1)
        self.assertEqual(self.stored(), ["alice"])
        self.assertEqual(len(self.identities(self.sidecar, self.pool)), 1)
        self.intact(self.sidecar)

    def test_commit_that_did_not_reach_the_server_is_repeated(self):
        self.wire.cut = "before"
        self.assertTrue(mint(self.sidecar, self.pool)["isNewIdentity"])
        self.assertEqual(self.wire.cuts, 1)
        self.assertEqual(self.stored(), ["alice"])
        self.assertEqual(len(self.identities(self.sidecar, self.pool)), 1)
        self.intact(self.sidecar)

    def test_commit_of_unknown_outcome_fails_with_outcome_unknown(self):
        self.wire.cut, self.wire.alone = "after", True
        error = self.sidecar.refusal("token.mintForDeveloper", {"poolId": self.pool, "logins": {"login.shop": "alice"}})
        self.assertEqual(error.type, "outcomeUnknown")
        self.assertEqual(self.stored(), ["alice"])
        self.wire.alone = False
        self.assertFalse(mint(self.sidecar, self.pool)["isNewIdentity"])

    def test_commit_markers_are_removed(self):
        for number in range(20):
            mint(self.sidecar, self.pool, f"user {number}")
        self.assertLessEqual(int(self.server.sql("SELECT COUNT(*) FROM mintmark_commit", self.database)[0]), 4)


if __name__ == "__main__":
    unittest.main()
