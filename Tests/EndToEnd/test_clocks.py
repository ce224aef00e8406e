"""The virtual clock of testing stores, its jumps, and everything that depends on the time."""

import jwt

from endtoend import EndToEnd, make_pool, mint, pool_with_role

MOMENT = 1_700_000_000


class Clocks(EndToEnd):
    def test_frozen_clock_applies_to_all_times(self):
        sidecar = self.spawn(testing=True)
        self.assertEqual(sidecar.call("test.clock", {"freeze": True, "setAt": MOMENT}), {"now": MOMENT, "frozen": True})
        self.assertEqual(sidecar.call("system.ping")["now"], MOMENT)
        pool = make_pool(sidecar)
        self.assertEqual((pool["createdAt"], pool["updatedAt"]), (MOMENT, MOMENT))
        minted = mint(sidecar, pool["poolId"])
        self.assertEqual(minted["expiresAt"], MOMENT + 900)
        self.assertEqual(jwt.decode(minted["token"], options={"verify_signature": False})["iat"], MOMENT)

    def test_clock_option_sets_initial_time(self):
        sidecar = self.spawn("--clock", str(MOMENT), testing=True)
        self.assertAlmostEqual(sidecar.call("system.ping")["now"], MOMENT, delta=5)

    def test_tokens_expire_at_exact_second(self):
        """A token is valid until the second before `exp`. Mintmark's own tokens have no leeway."""
        sidecar = self.spawn(testing=True)
        sidecar.call("test.clock", {"freeze": True, "setAt": MOMENT})
        pool = make_pool(sidecar)["poolId"]
        token = mint(sidecar, pool, durationSeconds=60)["token"]
        verify = {"token": token, "audience": pool}
        sidecar.call("test.clock", {"advanceSeconds": 59})
        sidecar.call("token.verify", verify)
        sidecar.call("test.clock", {"advanceSeconds": 1})
        error = self.refused("tokenExpired", sidecar, "token.verify", verify)
        self.assertEqual((error.data["expiredAt"], error.data["now"]), (MOMENT + 60, MOMENT + 60))

    def test_token_is_not_yet_valid_after_clock_jumps_back(self):
        """A token from the future is not yet valid. All other functions work."""
        sidecar = self.spawn(testing=True)
        sidecar.call("test.clock", {"freeze": True, "setAt": MOMENT})
        pool, _ = pool_with_role(sidecar)
        token = mint(sidecar, pool)["token"]
        sidecar.call("test.clock", {"advanceSeconds": -100_000})
        error = self.refused("tokenNotYetValid", sidecar, "token.verify", {"token": token, "audience": pool})
        self.assertEqual((error.data["validFrom"], error.data["now"]), (MOMENT, MOMENT - 100_000))
        self.assertFalse(mint(sidecar, pool)["isNewIdentity"])
        self.assertTrue(mint(sidecar, pool, "bob")["isNewIdentity"])
        self.assertTrue(sidecar.call("audit.verify")["intact"])
        sidecar.call("test.clock", {"reset": True})
        self.assertGreater(sidecar.call("system.ping")["now"], MOMENT)

    def test_clock_accepts_distant_times(self):
        sidecar = self.spawn(testing=True)
        pool, _ = pool_with_role(sidecar)
        for at in (0, 253402300799, 4_102_444_800, MOMENT):
            sidecar.call("test.clock", {"freeze": True, "setAt": at})
            self.assertEqual(sidecar.call("system.ping")["now"], at)
            if at < 253402300799:
                minted = mint(sidecar, pool)
                self.assertEqual(minted["expiresAt"], at + 900)
                sidecar.call("token.verify", {"token": minted["token"], "audience": pool})
        self.refused("clockOutOfRange", sidecar, "test.clock", {"setAt": 0, "advanceSeconds": -1})
        self.assertEqual(sidecar.call("system.ping")["now"], MOMENT)

    def test_clock_is_stored_in_store(self):
        """Several processes on one testing store share the clock, and it survives a restart."""
        store = self.path("store.db")
        one, two = self.spawn(store=store, testing=True), self.spawn(store=store, testing=True)
        one.call("test.clock", {"freeze": True, "setAt": MOMENT})
        self.assertEqual(two.call("system.ping")["now"], MOMENT)
        two.call("test.clock", {"advanceSeconds": 7})
        self.assertEqual(one.call("system.ping")["now"], MOMENT + 7)
        one.finish(), two.finish()
        self.assertEqual(self.spawn(store=store, testing=True).call("system.ping")["now"], MOMENT + 7)

    def test_clock_method_requires_testing(self):
        sidecar = self.spawn()
        error = self.refused("methodNotFound", sidecar, "test.clock", {"freeze": True})
        self.assertEqual(error.code, -32601)

    def test_issuers_of_testing_stores_have_testing_host(self):
        self.assertTrue(make_pool(self.spawn(testing=True))["issuer"].startswith("https://testing.mintmark.localhost/pools/"))
        self.assertTrue(make_pool(self.spawn())["issuer"].startswith("https://mintmark.localhost/pools/"))
