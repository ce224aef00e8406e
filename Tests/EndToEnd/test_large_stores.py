"""The SQL of the guide about large stores: partitions and vacuum settings of a PostgreSQL store."""

import json
import os
import re
import unittest

import postgres
from endtoend import EndToEnd
from sidecar import ROOT, run

POOL = "local-1:00000000-1111-4222-8333-444444444444"
# The statements that name one identity.
STATEMENTS = {
    "identity": "SELECT id, pool_id, state, created_at, updated_at FROM identity WHERE id = $1",
    "change": "UPDATE identity SET state = 'authenticated', updated_at = 1 WHERE id = $1",
    "deletion": "DELETE FROM identity WHERE id = $1",
    "creation": "INSERT INTO identity (id, pool_id, state, created_at, updated_at) VALUES ($1, '" + POOL + "', 'guest', 1, 1)",
}


class Partitions(EndToEnd):
    stores = ("postgres",)

    def setUp(self):
        super().setUp()
        self.server = postgres.Server()
        self.addCleanup(self.server.close)
        self.database = self.server.database()
        self.environment = {"MINTMARK_MASTER_KEY": postgres.MASTER_KEY}
        self.mintmark("migrate", "--store", self.server.uri(self.database))
        indexes = "SELECT indexname FROM pg_indexes WHERE tablename IN ('identity', 'login') ORDER BY 1"
        before = self.sql(indexes)
        with open(os.path.join(ROOT, "schemas", "guides", "scaling.md"), encoding="utf-8") as file:
            parts, vacuum = re.findall(r"```sql shown\n(.*?)```", file.read(), re.S)
        self.sql(parts)
        self.sql(vacuum)
        self.assertEqual(self.sql(indexes), before)   # The next migrations name them.

    def sql(self, text):
        return self.server.sql(text, self.database)

    def mintmark(self, *arguments):
        done = run(*arguments, environment=self.environment, home=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def open(self):
        sidecar = self.server.sidecar(self.database)
        self.addCleanup(sidecar.close)
        return sidecar

    def pool(self, sidecar):
        sidecar.call("pool.create", {"name": "shop", "poolId": POOL, "developerProvider": "login.shop", "allowUnauthenticated": True})

    def mint(self, sidecar, user, **more):
        return sidecar.call("token.mintForDeveloper", {"poolId": POOL, "logins": {"login.shop": user}, **more})["identityId"]

    def test_store_with_partitions_of_the_guide_keeps_every_rule(self):
        one, other = self.open(), self.open()
        self.pool(one)
        identities = [self.mint(one, f"user-{number}") for number in range(60)]
        self.assertEqual([self.mint(other, f"user-{number}") for number in range(60)], identities)
        self.assertEqual([each["identityId"] for each in other.call("identity.list", {"poolId": POOL})["identities"]], sorted(identities))
        guest = one.call("identity.resolve", {"poolId": POOL})["identityId"]
        taken = one.refusal("token.mintForDeveloper", {"poolId": POOL, "identityId": guest, "logins": {"login.shop": "user-0"}})
        self.assertEqual(taken.type, "developerUserAlreadyRegistered")
        self.assertEqual(self.mint(one, "linked", identityId=guest), guest)
        one.call("identity.unlinkDeveloper", {
            "poolId": POOL, "identityId": identities[1], "developerProvider": "login.shop", "developerUserIdentifier": "user-1"})
        self.assertEqual(one.refusal("identity.lookupDeveloper", {"poolId": POOL, "developerUserIdentifier": "user-1"}).type, "developerUserNotFound")
        self.assertEqual(one.call("identity.delete", {"identityIds": identities[2:4]}), {"unprocessed": []})
        merged = one.call("identity.mergeDevelopers", {
            "poolId": POOL, "developerProvider": "login.shop", "sourceUserIdentifier": "user-4", "destinationUserIdentifier": "user-5"})["identityId"]
        self.assertEqual(merged, identities[5])
        self.assertEqual({self.mint(other, user) for user in ("user-4", "user-5")}, {merged})
        used = self.sql("SELECT count(DISTINCT tableoid) FROM identity")
        self.assertGreater(int(used[0]), 15)
        self.assertEqual(self.sql("SELECT count(*) FROM login l WHERE NOT EXISTS (SELECT 1 FROM identity i WHERE i.id = l.identity_id)"), ["0"])
        rows = one.call("store.stats")["rows"]
        self.assertEqual((rows["identity"], rows["login"]), (59, 58))
        self.assertNotIn("identity_0", rows)
        self.assertTrue(one.call("audit.verify")["intact"])
        one.call("pool.delete", {"poolId": POOL})
        self.assertEqual(self.sql("SELECT count(*) FROM login"), ["0"])

    def test_look_ups_and_changes_read_one_partition(self):
        self.pool(self.open())
        self.sql(f"INSERT INTO identity SELECT 'local-1:' || n, '{POOL}', 'authenticated', 1, 1 FROM generate_series(1, 20000) AS s (n)")
        self.sql(f"INSERT INTO login SELECT '{POOL}', 'login.shop', 'user-' || n, 'local-1:' || n, 1 FROM generate_series(1, 20000) AS s (n)")
        self.sql("ANALYZE identity, login")
        for name, statement in STATEMENTS.items():
            for mode in ("force_custom_plan", "force_generic_plan"):
                plan = self.sql(
                    f"SET plan_cache_mode = {mode}; BEGIN; PREPARE statement AS {statement}; "
                    f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) EXECUTE statement('local-1:{'fresh' if name == 'creation' else 777}'); ROLLBACK")
                read = [line for line in plan if re.search(r"Scan.* on \w+_\d+", line) and "never executed" not in line]
                self.assertEqual(len(read), 0 if name == "creation" else 1, plan)
                self.assertFalse([line for line in plan if "Seq Scan" in line], plan)

    def test_migrate_doctor_backup_and_copy_accept_partitions(self):
        sidecar = self.open()
        self.pool(sidecar)
        identities = [self.mint(sidecar, f"user-{number}") for number in range(100)]
        store = ("--store", self.server.uri(self.database))
        self.assertIn("already current", self.mintmark("migrate", *store))
        report = json.loads(self.mintmark("doctor", "--json", *store))
        self.assertTrue(report["ok"], report)
        backup = self.path("backup.db")
        self.mintmark("backup", *store, backup)
        restored = self.server.uri(self.server.database())
        self.mintmark("restore", "--store", restored, backup)
        for place in (restored, backup):
            copied = self.path("copied.db")
            self.mintmark("copy", "--from", place, "--to", copied)
            self.assertEqual(json.loads(self.mintmark("call", "identity.list", f"poolId={POOL}", "limit=60", "--store", copied))["identities"][0]["identityId"], min(identities))
            os.remove(copied)


if __name__ == "__main__":
    unittest.main()
