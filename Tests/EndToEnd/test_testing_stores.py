"""Testing stores: resets, reproducible results, and maintenance that completes before a change of the clock returns."""

import unittest

from endtoend import EndToEnd, make_pool, mint, only, pool_with_role

SHOP = {"login.shop": "alice"}


def sign_up(sidecar, name="alice@example.com", tenant="shop"):
    """Signs a user up with an emailed code and signs in. Returns all results and the messages."""
    started = sidecar.call("signUp.start", {"tenantId": tenant, "username": name, "password": "correct Horse 9"})
    sent = sidecar.call("test.outbox", {"to": name, "clear": True})["messages"]
    completed = sidecar.call("signUp.submitCode", {"continuationToken": started["continuationToken"], "code": sent[-1]["code"]})
    signed_in = sidecar.call("signIn.withContinuation", {"continuationToken": completed["continuationToken"]})
    return [started, sent, completed, signed_in]


def story(first, second, seed):
    """Makes a fixed sequence of calls, distributed over two processes on one store. Returns all results."""
    first.call("test.clock", {"setAt": 1700000000, "freeze": True})
    first.call("test.seed", {"seed": seed})
    answers = [
        first.call("tenant.create", {"tenantId": "shop", "signingAlgorithm": "EdDSA"}),
        second.call("pool.create", {"name": "shop", "developerProvider": "login.shop", "signingAlgorithm": "EdDSA"})]
    pool = answers[-1]["poolId"]
    role = second.call("role.put", {"name": "reader", "poolId": pool})
    second.call("pool.setRoles", {"poolId": pool, "roles": {"authenticated": role["roleArn"]}})
    answers += [role, *sign_up(first)]
    answers += [mint(first, pool), mint(second, pool, "bob"), mint(first, pool, "bob")]
    answers += [second.call("credentials.get", {"token": answers[-3]["token"]}), first.call("credentials.get", {"token": answers[-2]["token"]})]
    answers += [second.call("session.refresh", {"refreshToken": answers[6]["refreshToken"]})]
    answers += [first.call("key.rotate", {"poolId": pool, "algorithm": "ES256"}), first.call("token.jwks")]
    return answers


class Seeds(EndToEnd):
    def pair(self, name):
        return [self.spawn("--testing", store=self.path(name)) for _ in range(2)]

    def test_new_stores_with_the_same_seed_return_identical_results(self):
        (first, second), (third, fourth), (fifth, sixth) = self.pair("a.db"), self.pair("b.db"), self.pair("c.db")
        one, other, different = story(first, second, "seven"), story(third, fourth, "seven"), story(fifth, sixth, "eight")
        self.assertEqual(one, other)
        for left, right in list(zip(one, different))[1:]:
            self.assertNotEqual(left, right)

    def test_values_of_a_seed_are_unique_across_processes(self):
        first, second = self.pair("a.db")
        first.call("test.seed", {"seed": "seven"})
        pools = [make_pool(each)["poolId"] for _ in range(20) for each in (first, second)]
        self.assertEqual(len(set(pools)), 40)

    def test_seeding_invalidates_credentials_issued_before(self):
        sidecar, _ = self.pair("a.db")
        pool, _ = pool_with_role(sidecar)
        before = sidecar.call("credentials.get", {"token": mint(sidecar, pool)["token"]})["credentials"]
        sidecar.call("test.seed", {"seed": "seven"})
        after = sidecar.call("credentials.get", {"token": mint(sidecar, pool)["token"]})["credentials"]
        self.assertIn("principal", sidecar.call("credentials.verify", {"sessionToken": after["sessionToken"]}))
        self.refused("sessionTokenInvalid", sidecar, "credentials.verify", {"sessionToken": before["sessionToken"]})

    def test_reset_removes_the_seed_and_the_same_seed_repeats_the_results(self):
        first, second = self.pair("a.db")
        one = story(first, second, "seven")
        first.call("test.reset")
        unseeded = make_pool(first)["poolId"]
        first.call("test.reset")
        self.assertNotEqual(unseeded, make_pool(first)["poolId"])
        first.call("test.reset")
        first.call("test.clock", {"setAt": 1700000000, "freeze": True})
        self.soon_refused("poolNotFound", second, "pool.get", {"poolId": one[1]["poolId"]})
        self.assertEqual(story(first, second, "seven"), one)

    def test_seed_and_reset_require_a_testing_store(self):
        sidecar = self.spawn(store=self.path("real.db"))
        self.refused("methodNotFound", sidecar, "test.seed", {"seed": "seven"})
        self.refused("methodNotFound", sidecar, "test.reset")


class Resets(EndToEnd):
    def test_reset_clears_the_store_for_every_process(self):
        first, second = self.spawn("--testing", store=self.path("a.db")), self.spawn("--testing", store=self.path("a.db"))
        first.call("test.clock", {"setAt": 1700000000, "freeze": True})
        pool, _ = pool_with_role(first)
        token = mint(second, pool)["token"]
        credentials = second.call("credentials.get", {"token": token})["credentials"]
        provider = second.call("credentialsProvider.open", {"poolId": pool, "logins": SHOP})["provider"]
        second.call("credentialsProvider.get", {"provider": provider})
        first.call("tenant.create", {"tenantId": "shop"})
        first.call("tenant.update", {"tenantId": "default", "signUpAllowed": False})
        *_, signed_in = sign_up(second)
        key = second.call("token.jwks", {"issuer": "https://testing.mintmark.localhost/tenants/shop"})["keys"]
        self.assertTrue(key)
        second.call("signUp.start", {"tenantId": "shop", "username": "bob@example.com"})

        answer = first.call("test.reset")
        self.assertFalse(answer["frozen"])
        self.assertGreater(answer["now"], 1700000000)
        for sidecar in (first, second):
            self.soon_refused("poolNotFound", sidecar, "pool.get", {"poolId": pool})
            self.assertEqual(sidecar.call("test.outbox")["messages"], [])
            self.assertEqual([each["tenantId"] for each in sidecar.call("tenant.list")["tenants"]], ["default"])
            self.assertEqual(sidecar.call("audit.list")["records"], [])
            self.refused("tokenKeyUnknown", sidecar, "token.verify", {"token": token, "audience": pool})
            self.refused("tokenKeyUnknown", sidecar, "token.verify", {"token": signed_in["idToken"], "tenantId": "shop"})
            self.refused("sessionTokenInvalid", sidecar, "credentials.verify", {"sessionToken": credentials["sessionToken"]})
            self.refused("refreshTokenInvalid", sidecar, "session.refresh", {"refreshToken": signed_in["refreshToken"]})
            self.refused("tenantNotFound", sidecar, "tenant.get", {"tenantId": "shop"})
        self.refused("providerNotOpen", second, "credentialsProvider.get", {"provider": provider})
        self.assertTrue(second.call("tenant.get", {"tenantId": "default"})["signUpAllowed"])
        # The store can be used again and starts from its initial state.
        self.assertEqual(sign_up(second, tenant="default")[1][0]["number"], 1)
        self.assertEqual(second.call("audit.verify")["intact"], True)

    def test_reset_returns_the_clock_to_the_clock_option(self):
        sidecar = self.spawn("--testing", "--clock", "1700000000", store=self.path("a.db"))
        sidecar.call("test.clock", {"advanceSeconds": 86400, "freeze": False})
        self.assertEqual(sidecar.call("test.reset"), {"now": 1700000000, "frozen": True})
        self.assertEqual(sidecar.call("system.ping"), {"now": 1700000000})

    @only("sqlite")
    def test_only_testing_stores_in_memory_share_a_master_key(self):
        keys = lambda *more: [self.spawn(*more).call("store.stats")["masterFingerprint"] for _ in range(2)]
        testing, real = keys("--testing"), keys()
        self.assertEqual(len(set(testing)), 1)
        self.assertEqual(len({*testing, *real}), 3)

    def test_reset_leaves_no_row_in_any_table(self):
        sidecar = self.spawn("--testing", store=self.path("a.db"))
        new = sidecar.call("store.stats")["rows"]
        pool_with_role(sidecar)
        sign_up(sidecar, tenant="default")
        sidecar.call("test.reset")
        rows = sidecar.call("store.stats")["rows"]
        # The table store_fact has rows only if the clock was changed, and mintmark_commit has a row for each connection that has written.
        kept = {"store_fact": 0, "mintmark_commit": 0}
        self.assertEqual({**rows, **kept}, {**new, **kept})


class Settling(EndToEnd):
    """When `test.clock` returns, all maintenance that is due at the new time is complete."""

    def counted(self, sidecar, *tables):
        rows = sidecar.call("store.stats")["rows"]
        return [rows[table] for table in tables]

    def test_expired_rows_are_removed_when_the_clock_advances(self):
        sidecar = self.spawn("--testing", "--clock", "1700000000")
        pool, _ = pool_with_role(sidecar)
        sign_up(sidecar, tenant="default")
        sidecar.call("signUp.start", {"username": "bob@example.com"})
        sidecar.refusal("signIn.withPassword", {"username": "alice@example.com", "password": "wrong Horse 9"})
        sidecar.call("credentials.revoke", {"poolId": pool})
        tables = ("flow", "session", "refresh_token", "failure_count", "send_count", "revocation")
        self.assertEqual(self.counted(sidecar, *tables), [2, 1, 1, 1, 2, 1])
        sidecar.call("test.clock", {"advanceSeconds": 3600 + 300})
        self.assertEqual(self.counted(sidecar, "flow", "session"), [2, 1], "not a second too early")
        sidecar.call("test.clock", {"advanceSeconds": 1})
        self.assertEqual(self.counted(sidecar, "flow", "session"), [0, 1])
        self.assertEqual(sidecar.call("system.metrics")["lastSweptAt"], 1700003901)
        sidecar.call("test.clock", {"advanceSeconds": 7776000 + 86400})
        self.assertEqual(self.counted(sidecar, *tables), [0] * 6)

    def test_expiry_removes_more_rows_than_fit_in_one_transaction(self):
        sidecar = self.spawn("--testing", "--clock", "1700000000")
        for number in range(450):
            sidecar.call("signUp.start", {"username": f"a{number}@example.com"})
        sidecar.call("test.clock", {"advanceSeconds": 4000})
        self.assertEqual(self.counted(sidecar, "flow"), [0])

    def test_keys_are_activated_retired_and_removed_when_the_clock_advances(self):
        sidecar = self.spawn("--testing", "--clock", "1700000000")
        pool = make_pool(sidecar)["poolId"]
        sidecar.call("key.rotate", {"poolId": pool, "activateAfterSeconds": 100})

        def states():
            return [key["state"] for key in sidecar.call("key.list", {"poolId": pool})["keys"]]
        self.assertCountEqual(states(), ["active", "next"])
        sidecar.call("test.clock", {"advanceSeconds": 100})
        self.assertCountEqual(states(), ["active", "retired"])
        sidecar.call("test.clock", {"advanceSeconds": 2 * 86400 + 3600})
        self.assertEqual(states(), ["active"])
        self.assertEqual(self.counted(sidecar, "signing_key"), [1])


if __name__ == "__main__":
    unittest.main()
