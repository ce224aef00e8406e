"""The SQL of the guide about large stores: partitions and vacuum settings of a PostgreSQL store."""

import os
import re
import unittest

import postgres
from endtoend import EndToEnd
from sidecar import ROOT

POOL = "local-1:00000000-1111-4222-8333-444444444444"


class Partitions(EndToEnd):
    stores = ("postgres",)

    def test_store_with_partitions_of_the_guide_keeps_every_rule(self):
        server = postgres.Server()
        self.addCleanup(server.close)
        database = server.database()
        server.sidecar(database).close()
        with open(os.path.join(ROOT, "schemas", "guides", "scaling.md"), encoding="utf-8") as file:
            parts, vacuum = re.findall(r"```sql shown\n(.*?)```", file.read(), re.S)
        server.sql(parts, database)
        server.sql(vacuum, database)
        with server.sidecar(database) as one, server.sidecar(database) as other:
            one.call("pool.create", {"name": "shop", "poolId": POOL, "developerProvider": "login.shop", "allowUnauthenticated": True})
            logins = [{"poolId": POOL, "logins": {"login.shop": f"user-{number}"}} for number in range(60)]
            identities = [one.call("token.mintForDeveloper", each)["identityId"] for each in logins]
            self.assertEqual([other.call("token.mintForDeveloper", each)["identityId"] for each in logins], identities)
            self.assertEqual(len(other.call("identity.list", {"poolId": POOL})["identities"]), 60)
            guest = one.call("identity.resolve", {"poolId": POOL})["identityId"]
            taken = one.refusal("token.mintForDeveloper", {"identityId": guest, **logins[0]})
            self.assertEqual(taken.type, "developerUserAlreadyRegistered")
            one.call("identity.unlinkDeveloper", {
                "poolId": POOL, "identityId": identities[1], "developerProvider": "login.shop", "developerUserIdentifier": "user-1"})
            self.assertEqual(one.refusal("identity.lookupDeveloper", {"poolId": POOL, "developerUserIdentifier": "user-1"}).type, "developerUserNotFound")
            self.assertEqual(one.call("identity.delete", {"identityIds": identities[2:4]}), {"unprocessed": []})
            used = server.sql("SELECT count(DISTINCT tableoid) FROM identity", database)
            self.assertGreater(int(used[0]), 15)
            one.call("pool.delete", {"poolId": POOL})
            self.assertEqual(server.sql("SELECT count(*) FROM login", database), ["0"])


if __name__ == "__main__":
    unittest.main()
