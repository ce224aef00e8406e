"""Tests of records and exceptions as values: repr, unknown members, equality and pickling."""

import copy
import datetime
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
        self.assertIn("token=[secret]", repr(minted))
        self.assertIn(bought.credentials.access_key_id, repr(bought))

    def test_repr_hides_secret_map_values_and_unknown_members(self):
        request = types.SignedRequest(method="GET", url="https://a.example/?X-Amz-Signature=hush", headers={"Authorization": "hush"})
        self.assertNotIn("hush", repr(request))
        self.assertEqual(repr(types.AuditHead.from_dict({"chain": "a", "more": "hush"})), "AuditHead(chain='a', more=[unknown])")
        self.assertEqual(repr(types.Record.from_dict({"a": [{"token": "hush"}]})), "Record(a=[Record(token=[secret])])")

    def test_results_of_calls_by_name_hide_secrets_as_those_of_typed_methods(self):
        m = self.memory()
        pool = shop(m)
        params = {"poolId": pool.pool_id, "logins": {"login.shop": "alice"}}
        minted = m.call("token.mintForDeveloper", params)
        self.assertIsInstance(minted, types.TokenMintForDeveloperResult)
        self.assertNotIn(minted["token"], repr(minted))
        self.assertNotIn(minted["token"], repr([copy.copy(minted), copy.deepcopy(minted), pickle.loads(pickle.dumps(minted))]))
        self.assertEqual(m.call("pool.get", {"poolId": pool.pool_id}), m.pool.get(pool_id=pool.pool_id))

    def test_unknown_members_and_values_are_kept(self):
        m = self.stand_in("answer(result={'poolId': 'p', 'state': 'dormant', 'logins': [], 'colour': 'green'})")
        found = m.identity.get(identity_id="p")
        self.assertEqual((found.state, found["colour"]), ("dormant", "green"))

    def test_state_determines_class_of_step(self):
        m = self.memory()
        step = m.sign_up.start(username="alice@example.com")
        self.assertIsInstance(step, types.SignUpStepCodeRequired)
        self.assertEqual((step.state, step.code_length, step.sent_to), ("codeRequired", 8, "a***@e***.com"))
        with self.assertRaises(AttributeError):
            step.account_id
        self.assertEqual(types.read_sign_up_step(step.to_dict()), step)
        self.assertEqual(pickle.loads(pickle.dumps(step)), step)
        self.assertIsInstance(m.call("signUp.start", {"username": "alice@example.com"}), types.SignUpStepCodeRequired)
        account = m.account.create(username="bob@example.com")
        nodes = m.account.graph(account_id=account.account_id).nodes
        self.assertEqual([type(node) for node in nodes], [types.GraphNodeAccount, types.GraphNodeProvider])

    def test_unknown_state_is_other_with_its_members(self):
        m = self.stand_in("answer(result={'state': 'approvalRequired', 'approver': 'bob', 'expiresAt': 5})")
        step = m.sign_up.start(username="alice@example.com")
        self.assertIsInstance(step, types.SignUpStepOther)
        self.assertEqual((step.state, step.value, step["state"], step["approver"]), ("other", "approvalRequired", "approvalRequired", "bob"))
        self.assertEqual(step.to_dict(), {"state": "approvalRequired", "approver": "bob", "expiresAt": 5})
        for odd in ({}, {"state": None}, {"state": ["completed"]}):
            self.assertIsInstance(types.read_sign_up_step(odd), types.SignUpStepOther)

    def test_missing_member_raises_attribute_error(self):
        with self.assertRaisesRegex(AttributeError, "no expiresAt.*different versions"):
            types.TokenMintForDeveloperResult.from_dict({}).expires_at

    def test_records_compare_by_value_and_can_be_pickled(self):
        key = types.AuditHead(chain="a", records=1, head="b")
        self.assertEqual(key, types.AuditHead.from_dict({"chain": "a", "records": 1, "head": "b"}))
        self.assertNotEqual(key, types.AuditHead(chain="a", records=2, head="b"))
        for other in (pickle.loads(pickle.dumps(key)), copy.copy(key), copy.deepcopy(key)):
            self.assertEqual((other, hash(other)), (key, hash(key)))
        self.assertEqual({key: "a"}[types.AuditHead(chain="a", records=1, head="b")], "a")

    def test_records_are_immutable(self):
        m = self.memory()
        pool = shop(m, tags={"a": "b"})
        with self.assertRaises(AttributeError):
            pool.name = "other"
        pool.tags["a"] = "c"
        pool.to_dict()["tags"]["a"] = "c"
        m.call("pool.get", {"poolId": pool.pool_id}).to_dict()["name"] = "other"
        self.assertEqual((pool.tags, pool["tags"], pool.to_dict()["tags"], "tags" in pool), ({"a": "b"},) * 3 + (True,))
        self.assertEqual(len({pool, m.pool.get(pool_id=pool.pool_id)}), 1)

    def test_constructor_names_wrong_and_missing_members(self):
        with self.assertRaisesRegex(TypeError, "unexpected keyword argument 'colour'"):
            types.AuditHead(chain="a", records=1, head="b", colour="green")
        with self.assertRaisesRegex(TypeError, "requires the keyword arguments records, head"):
            types.AuditHead(chain="a")

    def test_times_are_datetimes_in_utc(self):
        m = self.memory(clock=datetime.datetime(2030, 1, 1, tzinfo=datetime.timezone.utc))
        m.test.clock(freeze=True, set_at=1_900_000_000)
        self.assertEqual(m.system.ping().now, datetime.datetime.fromtimestamp(1_900_000_000, datetime.timezone.utc))
        later = datetime.datetime(2035, 1, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1)))
        self.assertEqual(m.test.clock(set_at=later).now, datetime.datetime(2035, 1, 1, tzinfo=datetime.timezone.utc))
        with self.assertRaisesRegex(ValueError, "without a time zone"):
            m.test.clock(set_at=datetime.datetime(2036, 1, 1))

    def test_exceptions_can_be_pickled(self):
        error = pickle.loads(pickle.dumps(mintmark.PoolNotFoundError("Gone.", {"poolId": "p"}, "t", method="pool.get")))
        self.assertEqual((str(error), error.pool_id, error.trace, error.code, error.method), ("Gone.", "p", "t", 2001, "pool.get"))
        lost = pickle.loads(pickle.dumps(mintmark.ProcessEndedError("Gone.", -9, "bye")))
        self.assertEqual(str(lost), "Gone.")
