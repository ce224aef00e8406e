"""Tests of records and exceptions as values: repr, unknown members, equality and pickling."""

import pickle

from support import ClientTest, mint, mintmark, shop
from mintmark import types


class Records(ClientTest):
    def test_repr_hides_secrets(self):
        m = self.memory()
        pool = shop(m)
        role = m.role.put(name="reader", pool_id=pool.pool_id).role_arn
        m.pool.set_roles(pool_id=pool.pool_id, roles={"authenticated": role})
        minted = mint(m, pool)
        bought = m.credentials.get(token=minted.token)
        for value in (minted, bought, bought.credentials, str(bought), f"{[bought]}"):
            for secret in (minted.token, bought.credentials.secret_access_key, bought.credentials.session_token):
                self.assertNotIn(secret, repr(value))
        self.assertIn("token=<secret>", repr(minted))
        self.assertIn(bought.credentials.access_key_id, repr(bought))

    def test_repr_hides_secret_map_values_and_unknown_members(self):
        request = types.SignedRequest(method="GET", url="https://a.example/?X-Amz-Signature=hush", headers={"Authorization": "hush"})
        self.assertNotIn("hush", repr(request))
        self.assertEqual(repr(types.SystemPingResult.of({"now": 1, "more": "hush"})), "SystemPingResult(now=1, more=<unknown>)")

    def test_unknown_members_and_values_are_kept(self):
        m = self.stand_in("answer(result={'poolId': 'p', 'state': 'dormant', 'logins': [], 'colour': 'green'})")
        found = m.identity.get(identity_id="p")
        self.assertEqual((found.state, found.raw["colour"]), ("dormant", "green"))

    def test_missing_member_raises_attribute_error(self):
        with self.assertRaisesRegex(AttributeError, "no expiresAt.*different versions"):
            types.TokenMintForDeveloperResult.of({}).expires_at

    def test_records_compare_by_value_and_can_be_pickled(self):
        key = types.AuditHead(chain="a", records=1, head="b")
        self.assertEqual(key, types.AuditHead.of({"chain": "a", "records": 1, "head": "b"}))
        self.assertNotEqual(key, types.AuditHead(chain="a", records=2, head="b"))
        self.assertEqual(pickle.loads(pickle.dumps(key)), key)

    def test_exceptions_can_be_pickled(self):
        error = pickle.loads(pickle.dumps(mintmark.PoolNotFound("Gone.", {"poolId": "p"}, "t")))
        self.assertEqual((str(error), error.pool_id, error.trace, error.code), ("Gone.", "p", "t", 2001))
        lost = pickle.loads(pickle.dumps(mintmark.ConnectionLost("Gone.", -9, "bye")))
        self.assertEqual(str(lost), "Gone.")
