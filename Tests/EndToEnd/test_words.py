"""Texts of errors and log lines: they name the next step and contain no wrong statement."""

import json
import os

from endtoend import SIGNED, EndToEnd, make_pool, mint, only, pool_with_role


class Words(EndToEnd):
    def test_error_names_only_the_unknown_developer_provider(self):
        sidecar = self.spawn()
        pool = make_pool(sidecar)["poolId"]
        error = self.refused("unsupportedDeveloperProvider", sidecar, "token.mintForDeveloper",
                             {"poolId": pool, "logins": {"login.shop": "alice", "login.b": "x"}})
        self.assertEqual(error.data["given"], ["login.b"])
        self.assertNotIn("login.shop", error.message)

    def test_error_tells_a_missing_from_an_unknown_developer_provider(self):
        sidecar = self.spawn()
        pool, bare = make_pool(sidecar)["poolId"], sidecar.call("pool.create", {"name": "bare", "providers": [{"provider": "accounts.google.com", "clientIds": ["a"]}]})["poolId"]
        for method, params, given, says in [
                ("token.mintForDeveloper", {"poolId": bare, "logins": {"accounts.google.com": "x"}}, [], "no developer provider; pool.update can add one"),
                ("identity.lookupDeveloper", {"poolId": bare, "developerUserIdentifier": "alice"}, [], "no developer provider; pool.update can add one"),
                ("identity.mergeDevelopers", {"poolId": pool, "developerProvider": "login.b", "sourceUserIdentifier": "a", "destinationUserIdentifier": "b"}, ["login.b"], "no login provider login.b"),
                ("token.mintForDeveloper", {"poolId": pool, "logins": {"login.b": "x"}}, ["login.b"], "no login provider login.b")]:
            error = self.refused("unsupportedDeveloperProvider", sidecar, method, params)
            self.assertEqual(error.data["given"], given)
            self.assertIn(says, error.message)
            self.assertNotIn("none", error.message)

    def test_developer_login_conflict_names_the_identity(self):
        sidecar = self.spawn()
        pool = make_pool(sidecar)["poolId"]
        alice = mint(sidecar, pool)["identityId"]
        mint(sidecar, pool, "bob")
        for method, more in [("identity.lookupDeveloper", {}), ("identity.unlinkDeveloper", {"developerProvider": "login.shop"})]:
            error = self.refused("loginConflict", sidecar, method, {"poolId": pool, "identityId": alice, "developerUserIdentifier": "bob", **more})
            self.assertIn(f"belongs to another identity than {alice}", error.message)
            self.assertNotIn("linked", error.message)

    def test_invalid_role_mapping_names_the_problem_with_its_rules(self):
        sidecar = self.spawn()
        pool = make_pool(sidecar, providers=[{"provider": "accounts.google.com", "clientIds": ["a"]}])["poolId"]
        rule = {"claim": "a", "matchType": "equals", "value": "b", "roleArn": "arn:aws:iam::000000000000:role/r"}
        for mapping, says in [({"source": "rules"}, "requires rules"), ({"source": "token", "rules": [rule]}, "Omit them")]:
            error = self.refused("invalidRoleMapping", sidecar, "pool.setRoles", {
                "poolId": pool, "roles": {}, "mappings": {"accounts.google.com": {"ambiguousRoleResolution": "deny", **mapping}}})
            self.assertIn(says, error.message)

    def test_deleted_role_is_named(self):
        sidecar = self.spawn()
        pool, role = pool_with_role(sidecar)
        token = mint(sidecar, pool)["token"]
        sidecar.call("role.delete", {"name": "reader"})
        self.assertIn(f"role {role} does not exist", self.refused("roleNotConfigured", sidecar, "credentials.get", {"token": token}).message)

    def test_empty_provider_name_is_described(self):
        sidecar = self.spawn()
        error = sidecar.refusal("identity.resolve", {"poolId": make_pool(sidecar)["poolId"], "logins": {"": "x"}})
        self.assertIn(": The empty string is a name that must not be empty.", error.message)

    def test_apply_error_names_the_undeclared_provider(self):
        error = self.spawn().refusal("system.apply", {"pools": [{"name": "new", "principalTags": {"x.example": {"useDefaults": True}}}]})
        [violation] = error.data["violations"]
        self.assertEqual(violation, {
            "pointer": "/pools/0/principalTags/x.example", "rule": "unsupportedLoginProvider",
            "message": "x.example is not one of the providers that the pool declares."})

    def test_invalid_master_key_error_contains_the_reason(self):
        sidecar = self.spawn()
        for key, says in [("B" * 43, "encodes bits of a 33rd byte"), ("B" * 44, "it has 33 bytes"), ("g" * 64, "it is neither")]:
            self.assertIn(says, self.refused("invalidMasterKey", sidecar, "store.rekey", {"newMasterKey": key}).message)

    def test_cognito_errors_use_the_names_of_the_cognito_api(self):
        sidecar = self.spawn()
        pool, role = pool_with_role(sidecar, providers=[{"provider": "accounts.google.com", "clientIds": ["a"]}])
        rule = {"Claim": "a", "MatchType": "Equals", "Value": "b", "RoleARN": role}

        def mapping(**more):
            return {"IdentityPoolId": pool, "Roles": {}, "RoleMappings": {"accounts.google.com": {"AmbiguousRoleResolution": "Deny", **more}}}
        create = {"IdentityPoolName": "x", "AllowUnauthenticatedIdentities": False}
        for operation, body, says in [
                ("UpdateIdentityPool", {**create, "IdentityPoolId": pool, "DeveloperProviderName": "other"}, "The DeveloperProviderName of an identity pool cannot be changed."),
                ("CreateIdentityPool", {**create, "SupportedLoginProviders": {"x.example": "a"}}, "x.example is not a known SupportedLoginProviders key"),
                ("CreateIdentityPool", {**create, "SupportedLoginProviders": {"graph.facebook.com": ";"}}, "SupportedLoginProviders contains no app ID"),
                ("SetIdentityPoolRoles", mapping(Type="Rules", RulesConfiguration={"Rules": [rule] * 26}), "26 Rules; the maximum is 25"),
                ("SetIdentityPoolRoles", mapping(Type="Rules"), "RulesConfiguration is required"),
                ("SetIdentityPoolRoles", mapping(Type="Token", RulesConfiguration={"Rules": [rule]}), "RulesConfiguration is allowed only for Type Rules")]:
            answer = sidecar.call("compat.http", {
                "method": "POST", "url": "/", "headers": {"x-amz-target": f"AWSCognitoIdentityService.{operation}", **SIGNED}, "body": json.dumps(body)})
            error = json.loads(answer["body"])
            self.assertEqual(error["__type"], "InvalidParameterException")
            self.assertIn(says, error["message"])

    def test_identity_not_found_names_identity_list(self):
        error = self.spawn().refusal("identity.get", {"identityId": "local-1:11111111-2222-3333-4444-555555555555"})
        self.assertIn("identity.list", error.message)

    def test_description_states_how_long_an_RSA_key_takes(self):
        documents = {m["name"]: m for m in self.spawn().call("rpc.discover")["methods"]}
        self.assertIn("about a second", json.dumps(documents["pool.create"]))

    def test_discover_describes_the_protocol(self):
        documents = {m["name"]: m for m in self.spawn().call("rpc.discover")["methods"]}
        for word in ("any order", "--sequential", "trace", "$/cancelRequest", "progressToken", "$/progress"):
            self.assertIn(word, documents["rpc.discover"]["description"])

    @only("sqlite")
    def test_testing_store_mismatch_names_the_kind_of_the_store(self):
        for testing in (False, True):
            store = self.path(f"{testing}.db")
            self.spawn(store=store, testing=testing).call("pool.list")
            error = self.spawn(store=store, testing=not testing).refusal("pool.list")
            self.assertIn("it is a testing store; add --testing" if testing else "it is not a testing store; omit --testing", error.message)
            self.assertEqual((error.data["testing"], error.data["path"]), (testing, store))

    @only("sqlite")
    def test_files_readable_by_other_users_cause_a_warning(self):
        store = self.path("store.db")
        sidecar = self.spawn(store=store)
        make_pool(sidecar)
        sidecar.finish()
        self.assertNotIn("readable by other users of this machine", sidecar.stderr_text())
        for name in (store, store + ".key"):
            os.chmod(name, 0o644)
        sidecar = self.spawn(store=store)
        sidecar.call("pool.list")
        sidecar.finish()
        self.assertEqual(sidecar.stderr_text().count("is readable by other users of this machine"), 2)


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

    def test_calls_are_logged_at_debug_and_trace_level(self):
        refused = ("debug", "refused", "pool.get", "poolNotFound", "order-17")
        answered = [("trace", "answered", name, None, None) for name in ("pool.create", "token.mintForDeveloper")]
        self.assertEqual(self.logged("info"), [])
        self.assertEqual(self.logged("debug"), [refused])
        self.assertEqual(self.logged("trace"), [*answered, refused])


class EmptiedLog(EndToEnd):
    stores = ("sqlite",)

    def test_audit_log_without_records_is_not_intact(self):
        """Creating a pool always writes a record. A store in which nothing was created has none."""
        self.store = self.path("store.db")
        sidecar = self.spawn(store=self.store)
        self.assertEqual(sidecar.call("audit.verify"), {"intact": True, "chains": []})
        make_pool(sidecar)
        self.assertTrue(sidecar.call("audit.verify")["intact"])
        self.rows("DELETE FROM audit")
        found = sidecar.call("audit.verify")
        self.assertFalse(found["intact"])
        self.assertIn("was emptied", found["chains"][0]["problem"])
