"""What errors and the log say, and to whom: what to do next, and nothing that is not so."""

import json
import os

from endtoend import EndToEnd, make_pool, mint, only


class Words(EndToEnd):
    def test_only_the_wrong_provider_is_named(self):
        sidecar = self.spawn()
        pool = make_pool(sidecar)["poolId"]
        error = self.refused("unsupportedDeveloperProvider", sidecar, "token.mintForDeveloper",
                             {"poolId": pool, "logins": {"login.shop": "alice", "login.b": "x"}})
        self.assertEqual(error.data["given"], ["login.b"])
        self.assertNotIn("login.shop", error.message)

    def test_an_identity_that_is_not_there(self):
        error = self.spawn().refusal("identity.get", {"identityId": "local-1:11111111-2222-3333-4444-555555555555"})
        self.assertIn("identity.list", error.message)

    def test_how_long_an_RSA_key_takes_is_described(self):
        documents = {m["name"]: m for m in self.spawn().call("rpc.discover")["methods"]}
        self.assertIn("about a second", json.dumps(documents["pool.create"]))

    def test_discover_describes_the_wire(self):
        documents = {m["name"]: m for m in self.spawn().call("rpc.discover")["methods"]}
        for word in ("any order", "--sequential", "trace", "$/cancelRequest", "progressToken", "$/progress"):
            self.assertIn(word, documents["rpc.discover"]["description"])

    @only("sqlite")
    def test_a_store_of_the_other_kind_says_which_it_is(self):
        for testing in (False, True):
            store = self.path(f"{testing}.db")
            self.spawn(store=store, testing=testing).call("pool.list")
            error = self.spawn(store=store, testing=not testing).refusal("pool.list")
            self.assertIn(f"whether this is a testing store: {str(testing).lower()}", error.message)

    @only("sqlite")
    def test_files_that_others_may_read_are_warned_of(self):
        store = self.path("store.db")
        sidecar = self.spawn(store=store)
        make_pool(sidecar)
        sidecar.finish()
        self.assertNotIn("others on this machine", sidecar.stderr_text())
        for name in (store, store + ".key"):
            os.chmod(name, 0o644)
        sidecar = self.spawn(store=store)
        sidecar.call("pool.list")
        sidecar.finish()
        self.assertEqual(sidecar.stderr_text().count("others on this machine may read"), 2)


class Calls(EndToEnd):
    stores = ("sqlite",)

    def logged(self, level):
        sidecar = self.spawn("--log-level", level)
        pool = make_pool(sidecar)["poolId"]
        token = mint(sidecar, pool)["token"]
        sidecar.refusal("pool.get", {"poolId": "local-1:00"}, trace="order-17")
        sidecar.finish()
        text = sidecar.stderr_text()
        self.assertNotIn(token, text)
        return [(line["level"], line["message"], line["method"], line.get("type"), line.get("trace"))
                for line in map(json.loads, text.splitlines()) if "microseconds" in line]

    def test_calls_are_logged_where_that_is_asked_for(self):
        refused = ("debug", "refused", "pool.get", "poolNotFound", "order-17")
        answered = [("trace", "answered", name, None, None) for name in ("pool.create", "token.mintForDeveloper")]
        self.assertEqual(self.logged("info"), [])
        self.assertEqual(self.logged("debug"), [refused])
        self.assertEqual(self.logged("trace"), [*answered, refused])


class EmptiedLog(EndToEnd):
    stores = ("sqlite",)

    def test_a_log_without_any_record_is_not_intact(self):
        """Nobody makes a pool without a record of it; a store where nothing was made has none."""
        self.store = self.path("store.db")
        sidecar = self.spawn(store=self.store)
        self.assertEqual(sidecar.call("audit.verify"), {"intact": True, "chains": []})
        make_pool(sidecar)
        self.assertTrue(sidecar.call("audit.verify")["intact"])
        self.rows("DELETE FROM audit")
        found = sidecar.call("audit.verify")
        self.assertFalse(found["intact"])
        self.assertIn("was emptied", found["chains"][0]["problem"])
