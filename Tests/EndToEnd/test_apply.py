"""system.apply and serve --apply: a document declares the configuration of the store."""

import json
import unittest

import postgres
from endtoend import EndToEnd, make_pool, mint, trust
from sidecar import run

READER = "arn:aws:iam::000000000000:role/reader"
GUEST = "arn:aws:iam::000000000000:role/guest"
GOOGLE = "accounts.google.com"


def document():
    return {
        "pools": [{
            "name": "shop", "developerProvider": "login.shop", "allowUnauthenticated": True, "tags": {"team": "web"},
            "providers": [{"provider": GOOGLE, "clientIds": ["app"]}],
            "roles": {"authenticated": READER, "unauthenticated": GUEST},
            "mappings": {GOOGLE: {"source": "rules", "ambiguousRoleResolution": "deny", "rules": [
                {"claim": "email", "matchType": "equals", "value": "a@example.com", "roleArn": READER}]}},
            "principalTags": {GOOGLE: {"principalTags": {"mail": "email"}}},
        }, {"poolId": "local-1:00000000-0000-0000-0000-00000000000a", "name": "other", "signingAlgorithm": "EdDSA"}],
        "roles": [
            {"name": "reader", "poolName": "shop", "maxSessionSeconds": 7200},
            {"name": "guest", "trustPolicy": trust(pool="local-1:00000000-0000-0000-0000-00000000000a")},
        ],
    }


class Applying:
    """Tests that run on the store that `open` opens."""

    def outcome(self, sidecar, document, **more):
        answer = sidecar.call("system.apply", {**document, **more})
        return [(each["change"], each["changed"]) for each in answer["changes"]]

    def written(self, sidecar):
        """Returns the row counts and the epoch, both of which every write changes."""
        stats = sidecar.call("store.stats")
        return stats["rows"], stats["epoch"]

    def test_apply_creates_everything_and_repeated_apply_changes_nothing(self):
        sidecar = self.open()
        answer = sidecar.call("system.apply", document())
        self.assertEqual([(c["pointer"], c["kind"], c["name"], c["change"]) for c in answer["changes"]], [
            ("/pools/0", "pool", "shop", "created"), ("/pools/1", "pool", "other", "created"),
            ("/roles/0", "role", "reader", "created"), ("/roles/1", "role", "guest", "created")])
        shop = answer["changes"][0]["poolId"]
        self.assertEqual(answer["changes"][2]["roleArn"], READER)
        wanted = document()["pools"][0]
        pool = sidecar.call("pool.get", {"poolId": shop})
        self.assertEqual({name: pool[name] for name in ("name", "developerProvider", "allowUnauthenticated", "tags", "allowClassicFlow")},
                         {**{name: wanted[name] for name in ("name", "developerProvider", "allowUnauthenticated", "tags")}, "allowClassicFlow": False})
        self.assertEqual([provider["name"] for provider in pool["providers"]], [GOOGLE])
        roles = sidecar.call("pool.getRoles", {"poolId": shop})
        self.assertEqual((roles["roles"], roles["mappings"]), (wanted["roles"], wanted["mappings"]))
        self.assertEqual(sidecar.call("pool.getPrincipalTags", {"poolId": shop, "provider": GOOGLE})["principalTags"], {"mail": "email"})
        self.assertEqual(sidecar.call("pool.get", {"poolId": answer["changes"][1]["poolId"]})["signingAlgorithm"], "EdDSA")
        # The role trusts the pool that the same document created.
        token = mint(sidecar, shop)["token"]
        self.assertEqual(sidecar.call("credentials.get", {"token": token})["roleArn"], READER)
        before = self.written(sidecar)
        again = sidecar.call("system.apply", document())
        self.assertEqual([(c["change"], c["changed"]) for c in again["changes"]], [("unchanged", [])] * 4)
        self.assertEqual(again["changes"][0]["poolId"], shop)
        self.assertEqual(self.written(sidecar), before)
        self.assertEqual(sidecar.call("pool.get", {"poolId": shop}), pool)

    def test_apply_updates_and_reports_only_differences(self):
        sidecar = self.open()
        self.outcome(sidecar, document())
        shop = document()["pools"][0]
        changed = {**document(), "pools": [{**shop, "allowClassicFlow": True, "tags": {}, "roles": {"authenticated": READER}, "mappings": {},
                                            "principalTags": {GOOGLE: {"useDefaults": True}}}], "roles": [{"name": "reader", "poolName": "shop"}]}
        wanted = [("updated", ["allowClassicFlow", "tags", "roles", "mappings", "principalTags"]), ("updated", ["maxSessionSeconds"])]
        before = self.written(sidecar)
        self.assertEqual(self.outcome(sidecar, changed, dryRun=True), wanted)
        self.assertEqual(self.written(sidecar), before)
        self.assertEqual(self.outcome(sidecar, changed), wanted)
        self.assertEqual(self.outcome(sidecar, changed), [("unchanged", [])] * 2)
        records = sidecar.call("audit.list", {"method": "system.apply"})["records"]
        self.assertEqual(len(records), 4 + 2)
        # Roles and tag maps that the document omits stay unchanged.
        bare = {"pools": [{name: value for name, value in {**shop, "allowClassicFlow": True, "tags": {}}.items()
                           if name not in ("roles", "mappings", "principalTags")}]}
        self.assertEqual(self.outcome(sidecar, bare), [("unchanged", [])])
        self.assertEqual(self.outcome(sidecar, {"pools": [{**bare["pools"][0], "roles": {}}]}), [("updated", ["roles"])])

    def test_dry_run_creates_nothing(self):
        sidecar = self.open()
        answer = sidecar.call("system.apply", {**document(), "dryRun": True})
        self.assertTrue(answer["dryRun"])
        self.assertEqual([c["change"] for c in answer["changes"]], ["created"] * 4)
        self.assertNotIn("poolId", answer["changes"][0])
        self.assertEqual(answer["changes"][1]["poolId"], document()["pools"][1]["poolId"])
        self.assertEqual((sidecar.call("pool.list")["pools"], sidecar.call("role.list")["roles"]), ([], []))

    def test_apply_with_violations_names_all_and_changes_nothing(self):
        sidecar = self.open()
        fixed = make_pool(sidecar, name="fixed")["poolId"]
        for _ in range(2):
            make_pool(sidecar, name="twin")
        before = self.written(sidecar)
        found = self.violations(sidecar, "system.apply", {
            "pools": [
                {"name": "good"},
                {"poolId": fixed, "name": "fixed", "developerProvider": "login.other", "signingAlgorithm": "RS256"},
                {"name": "roles", "roles": {"authenticated": READER, "unauthenticated": "arn:aws:iam::000000000000:role/nobody"}},
                {"name": "mapped", "mappings": {"a/b": {"source": "token", "ambiguousRoleResolution": "deny"}}},
                {"name": "insecure", "providers": [{"issuer": "http://id.example.com", "clientIds": ["a"]}]},
                {"name": "tags", "providers": [{"provider": GOOGLE, "clientIds": ["a"]}], "principalTags": {GOOGLE: {"principalTags": {"aws:x": "sub"}}}},
                {"name": "twin"},
                {"name": "double"}, {"name": "double"},
                {"poolId": fixed, "name": "again"},
            ],
            "roles": [
                {"name": "reader", "poolName": "nowhere"},
                {"name": "open", "trustPolicy": {"Version": "2012-10-17", "Statement": []}},
                {"name": "lost", "poolId": "local-1:00000000-0000-0000-0000-0000000000ff"},
                {"name": "open", "poolName": "good"},
            ],
        })
        self.assertEqual(found, {
            ("/pools/1/developerProvider", "developerProviderFixed"), ("/pools/1/signingAlgorithm", "signingAlgorithmFixed"),
            ("/pools/2/roles/unauthenticated", "roleNotFound"), ("/pools/3/mappings/a~1b", "invalidRoleMapping"),
            ("/pools/4/providers", "invalidPoolProvider"), (f"/pools/5/principalTags/{GOOGLE}", "invalidPrincipalTags"),
            ("/pools/6/name", "ambiguousName"), ("/pools/7/name", "duplicate"), ("/pools/8/name", "duplicate"), ("/pools/9/poolId", "duplicate"),
            ("/roles/0/poolName", "poolNotFound"), ("/roles/1/trustPolicy", "malformedPolicy"), ("/roles/2/poolId", "poolNotFound"),
            ("/roles/3/name", "duplicate"),
        })
        self.assertEqual(self.written(sidecar), before)
        error = sidecar.refusal("system.apply", {"pool": [], "pools": [{"nam": "x"}]})
        said = {each["pointer"]: each["message"] for each in error.data["violations"]}
        self.assertIn("pools", said["/pool"])
        self.assertIn("name", said["/pools/0/nam"])

    def test_concurrent_applies_create_each_object_once(self):
        sidecars = [self.open() for _ in range(3)]
        for round in range(4):
            wanted = {"pools": [{"name": f"pool {round}", "roles": {"authenticated": f"arn:aws:iam::000000000000:role/role-{round}"}}],
                      "roles": [{"name": f"role-{round}", "poolName": f"pool {round}"}]}
            ids = [sidecar.send("system.apply", wanted) for sidecar in sidecars]
            answers = [sidecar.answer(id)["changes"] for sidecar, id in zip(sidecars, ids)]
            self.assertEqual(len({answer[0]["poolId"] for answer in answers}), 1)
            self.assertEqual(sorted(answer[0]["change"] for answer in answers), ["created", "unchanged", "unchanged"])
        self.assertEqual(len(sidecars[0].call("pool.list")["pools"]), 4)
        self.assertTrue(sidecars[0].call("audit.verify")["intact"])


class OnSQLite(Applying, EndToEnd):
    stores = ("sqlite",)

    def open(self):
        return self.spawn(store=self.path("store.db"))


class OnPostgreSQL(Applying, EndToEnd):
    stores = ("postgres",)

    @classmethod
    def setUpClass(cls):
        cls.server = postgres.Server()
        cls.addClassCleanup(cls.server.close)

    def setUp(self):
        super().setUp()
        self.database = self.server.database()

    def open(self):
        sidecar = self.server.sidecar(self.database)
        self.addCleanup(sidecar.close)
        return sidecar


class AtTheStart(EndToEnd):
    stores = ("sqlite",)

    def file(self, content):
        with open(self.path("document.json"), "w", encoding="utf-8") as file:
            file.write(content if isinstance(content, str) else json.dumps(content))
        return self.path("document.json")

    def serve(self, *options, **more):
        return run("serve", *options, input=b'{"jsonrpc":"2.0","id":1,"method":"pool.list"}\n', home=self.folder, **more)

    def test_serve_applies_document_before_first_response(self):
        file = self.file(document())
        done = self.serve("--store", ":memory:", "--apply", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(pool["name"] for pool in json.loads(done.stdout)["result"]["pools"]), ["other", "shop"])
        self.assertIn(b'"created":4,', done.stderr)
        # The document is also applied for a public caller, who cannot call system.apply, from the environment, and with an option in the
        # `--name=value` form, which the fast command-line parser does not handle.
        for options, environment in [(("--caller", "public", "--apply", file), {}), ((), {"MINTMARK_APPLY": file}), (("--apply=" + file,), {})]:
            done = self.serve("--store", self.path("store.db"), *options, environment=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b'"unchanged":4,', done.stderr)

    def test_apply_creates_tenants_before_pools_that_refer_to_them(self):
        shop = {"tenants": [{"tenantId": "shop", "name": "The shop", "localAccountMethod": "emailPassword"}],
                "pools": [{"name": "shop", "providers": [{"tenantId": "shop"}]}]}
        file, store = self.file(shop), self.path("store.db")
        done = self.serve("--store", store, "--apply", file)
        self.assertEqual((done.returncode, b'"created":2,' in done.stderr), (0, True), done.stderr)
        sidecar = self.spawn("--apply", file, store=store)
        tenant = sidecar.call("tenant.get", {"tenantId": "shop"})
        self.assertEqual((tenant["name"], tenant["localAccountMethod"]), ("The shop", "emailPassword"))
        [pool] = sidecar.call("pool.list")["pools"]
        [provider] = sidecar.call("pool.get", {"poolId": pool["poolId"]})["providers"]
        self.assertEqual((provider["tenantId"], "https://" + provider["name"]), ("shop", tenant["issuer"]))
        self.assertEqual(sidecar.finish(), 0)
        self.assertIn('"unchanged":2,', sidecar.stderr_text())
        # A changed name in the file is applied at the next start. A tenant that the file does not declare is not created.
        shop["tenants"][0]["name"] = "The bazaar"
        done = self.serve("--store", store, "--apply", self.file(shop))
        self.assertIn(b'"updated":1', done.stderr)
        self.assertEqual(self.spawn(store=store).call("tenant.get", {"tenantId": "shop"})["name"], "The bazaar")
        done = self.serve("--store", self.path("other.db"), "--apply", self.file({"pools": shop["pools"]}))
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn("/pools/0/providers/0/tenantId", done.stderr.decode())

    def test_serve_with_invalid_document_exits_with_error(self):
        for content, code, words in [
            ("{", 64, ["not JSON"]), ("[]", 64, ["no JSON object", "mintmark describe system.apply"]), (None, 64, ["No such file"]),
            ({"pools": [{"name": 7}], "rolls": []}, 1, ["/pools/0/name: name must be ", "\n  rolls is unknown.", "roles"]),
            ({"roles": [{"name": "a", "poolName": "b"}]}, 1, ["/roles/0/poolName"]),
        ]:
            file = self.path("nowhere.json") if content is None else self.file(content)
            done = self.serve("--store", self.path("store.db"), "--apply", file)
            self.assertEqual((done.returncode, done.stdout), (code, b""), done.stderr)
            for word in [*words, file]:
                self.assertIn(word, done.stderr.decode())
        done = self.serve("--store", self.path("missing", "store.db"), "--apply", self.file({}))
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertIn(b"storeCannotOpen", done.stderr)


if __name__ == "__main__":
    unittest.main()
