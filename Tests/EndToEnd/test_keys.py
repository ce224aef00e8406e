"""Signing keys in the states next, active, retired and revoked, and the published key set in each state."""

import jwt

from endtoend import EndToEnd, make_pool, mint

DAY = 86_400


class Keys(EndToEnd):
    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn(testing=True)
        self.sidecar.call("test.clock", {"freeze": True, "setAt": 1_700_000_000})
        self.pool = make_pool(self.sidecar)
        self.first = self.key_of(self.mint())

    def mint(self, **more):
        return mint(self.sidecar, self.pool["poolId"], **more)["token"]

    def key_of(self, token):
        return jwt.get_unverified_header(token)["kid"]

    def published(self):
        return {key["kid"] for key in self.sidecar.call("token.jwks", {"issuer": self.pool["issuer"]})["keys"]}

    def later(self, seconds):
        self.sidecar.call("test.clock", {"advanceSeconds": seconds})

    def states(self):
        return {key["kid"]: key["state"] for key in self.sidecar.call("key.list", {"poolId": self.pool["poolId"]})["keys"]}

    def test_rotation_publishes_keys_before_and_after_use(self):
        """A new key is published one day before it signs. The old key stays published until its last token has expired."""
        rotated = self.sidecar.call("key.rotate", {"poolId": self.pool["poolId"]})
        new = rotated["kid"]
        self.assertEqual((rotated["state"], rotated["activeAt"]), ("next", 1_700_000_000 + DAY))
        self.assertEqual(self.published(), {self.first, new})
        self.assertEqual(self.key_of(self.mint()), self.first)
        self.later(DAY - 1)
        last = self.mint(durationSeconds=DAY)
        self.assertEqual(self.key_of(last), self.first)
        self.later(1)
        self.assertEqual(self.key_of(self.mint()), new)
        self.assertEqual(self.states(), {self.first: "retired", new: "active"})
        self.assertEqual(self.published(), {self.first, new})
        self.later(DAY - 2)
        self.sidecar.call("token.verify", {"token": last, "audience": self.pool["poolId"]})
        self.assertIn(self.first, self.published())
        self.later(2 * DAY)
        self.assertEqual(self.published(), {new})

    def test_immediate_rotation_to_other_algorithm(self):
        old = self.mint()
        self.sidecar.call("key.rotate", {"poolId": self.pool["poolId"], "activateAfterSeconds": 0, "algorithm": "EdDSA"})
        new = self.mint()
        self.assertEqual(jwt.get_unverified_header(new)["alg"], "EdDSA")
        for token in (old, new):
            self.sidecar.call("token.verify", {"token": token, "audience": self.pool["poolId"]})

    def test_rotation_replaces_pending_next_key(self):
        one = self.sidecar.call("key.rotate", {"poolId": self.pool["poolId"]})["kid"]
        two = self.sidecar.call("key.rotate", {"poolId": self.pool["poolId"]})["kid"]
        self.assertNotIn(one, self.published())
        self.assertIn(two, self.published())

    def test_only_key_that_signs_before_its_time_survives_the_next_rotation(self):
        """A tenant without keys gets its first one by a rotation. It signs immediately, because there is no other."""
        first = self.sidecar.call("key.rotate", {"tenantId": "default"})
        self.sidecar.call("account.create", {"username": "alice@example.com", "password": "correct horse 9 Battery", "emailVerified": True})
        token = self.sidecar.call("signIn.withPassword", {"username": "alice@example.com", "password": "correct horse 9 Battery"})["idToken"]
        self.assertEqual(self.key_of(token), first["kid"])
        second = self.sidecar.call("key.rotate", {"tenantId": "default"})
        self.assertEqual((self.sidecar.call("token.verify", {"token": token, "tenantId": "default"})["claims"]["iss"], second["state"]), (first["issuer"], "next"))

    def test_revoked_key_rejects_its_tokens_and_is_replaced(self):
        token = self.mint()
        answer = self.sidecar.call("key.revoke", {"kid": self.first})
        self.assertEqual((answer["key"]["state"], answer["replacement"]["state"]), ("revoked", "active"))
        error = self.refused("tokenRevoked", self.sidecar, "token.verify", {"token": token, "audience": self.pool["poolId"]})
        self.assertIn("the key that signed it was revoked", error.message)
        self.assertEqual(self.published(), {answer["replacement"]["kid"]})
        self.sidecar.call("token.verify", {"token": self.mint(), "audience": self.pool["poolId"]})

    def test_revocation_applies_in_every_process(self):
        store = self.path("store.db")
        one, two = self.spawn(store=store), self.spawn(store=store)
        pool = make_pool(one)["poolId"]
        token = mint(two, pool)["token"]
        two.call("token.verify", {"token": token, "audience": pool})
        one.call("key.revoke", {"kid": self.key_of(token)})
        self.soon_refused("tokenRevoked", two, "token.verify", {"token": token, "audience": pool})
        self.assertNotEqual(self.key_of(mint(two, pool)["token"]), self.key_of(token))

    def test_pools_have_separate_keys(self):
        other = make_pool(self.sidecar)
        mint(self.sidecar, other["poolId"])
        theirs = {key["kid"] for key in self.sidecar.call("token.jwks", {"issuer": other["issuer"]})["keys"]}
        self.assertFalse(theirs & self.published())
        self.assertEqual({key["kid"] for key in self.sidecar.call("token.jwks")["keys"]}, theirs | self.published())
