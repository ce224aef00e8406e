"""Parameters that violate a schema: the error lists all violations, each with its location, and the call changes nothing."""

from endtoend import EndToEnd, make_pool
from examples import Contract, methods

# A value of each JSON type. A parameter must reject the values of other types.
VALUES = {"null": None, "boolean": True, "number": 1.5, "string": "x", "array": [], "object": {}}


class Parameters(EndToEnd):
    stores = ("sqlite",)

    def test_all_violations_are_listed(self):
        sidecar = self.spawn()
        found = self.violations(sidecar, "token.mintForDeveloper", {
            "poolId": 7, "logins": {}, "identityId": "no colon", "durationSeconds": 86401, "principalTags": {"plan": ""}, "colour": "red"})
        self.assertEqual(found, {
            ("/poolId", "type"), ("/logins", "minProperties"), ("/identityId", "pattern"), ("/durationSeconds", "maximum"),
            ("/principalTags/plan", "minLength"), ("/colour", "unknownParameter")} | (found & {("/principalTags/plan", "pattern")}))

    def test_all_missing_parameters_are_listed(self):
        sidecar = self.spawn()
        for params in ({}, None):
            with self.subTest(params=params):
                self.assertEqual(self.violations(sidecar, "token.mintForDeveloper", params), {("/poolId", "required"), ("/logins", "required")})

    def test_duration_outside_the_limits_fails(self):
        sidecar = self.spawn()
        pool = make_pool(sidecar)["poolId"]
        base = {"poolId": pool, "logins": {"login.shop": "alice"}}
        for value, rule in ((0, "minimum"), (-1, "minimum"), (86401, "maximum"), (10**30, "maximum"), (1.5, "type"), ("900", "type"), (None, "type")):
            with self.subTest(value):
                found = self.violations(sidecar, "token.mintForDeveloper", {**base, "durationSeconds": value})
                self.assertEqual({pointer for pointer, _ in found}, {"/durationSeconds"})
                if value != 10**30:
                    self.assertEqual({r for _, r in found}, {rule})
        for value in (1, 86400, 900.0):
            with self.subTest(value):
                before = sidecar.call("system.ping")["now"]
                result = sidecar.call("token.mintForDeveloper", {**base, "durationSeconds": value})
                self.assertTrue(before + value <= result["expiresAt"] <= sidecar.call("system.ping")["now"] + value)

    def test_lengths_and_patterns_are_checked(self):
        sidecar = self.spawn()
        pool = make_pool(sidecar)["poolId"]
        for params, expected in (
            ({"name": ""}, {("/name", "minLength")}),
            ({"name": "n" * 129}, {("/name", "maxLength")}),
            ({"name": "shop!"}, {("/name", "pattern")}),
            ({"name": "shop", "developerProvider": "login shop"}, {("/developerProvider", "pattern")}),
            ({"name": "shop", "signingAlgorithm": "HS256"}, {("/signingAlgorithm", "enum")}),
            ({"name": "shop", "tags": {f"t{i}": "" for i in range(51)}}, {("/tags", "maxProperties")}),
            ({"name": "shop", "tags": {"k" * 129: "v"}}, {("/tags/" + "k" * 129, "propertyNames")}),
            ({"name": "shop", "tags": {"a/b~c": "v" * 257}}, {("/tags/a~1b~0c", "maxLength")}),
        ):
            with self.subTest(str(params)[:80]):
                found = self.violations(sidecar, "pool.create", params)
                self.assertTrue(expected <= found, f"{found} lacks {expected - found}")
                self.assertEqual({p for p, _ in found}, {p for p, _ in expected})
        # Lengths count characters, not bytes: a user identifier can have 1,024 characters of four bytes each.
        self.assertTrue(sidecar.call("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": "\U0001F600" * 1024}})["isNewIdentity"])
        self.refused("invalidLogin", sidecar, "token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": "u" * 1025}})

    def test_nul_character_fails_in_every_string(self):
        sidecar = self.spawn()
        pool = make_pool(sidecar)["poolId"]
        for method, params, pointer in (
            ("pool.create", {"name": "a\0b"}, "/name"),
            ("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": "ali\0ce"}}, "/logins/login.shop"),
            ("token.verify", {"token": "a\0b", "audience": pool}, "/token"),
            ("credentials.verify", {"request": {"method": "GET", "url": "https://a.example/\0", "headers": {}}}, "/request/url"),
        ):
            with self.subTest(method):
                self.assertIn((pointer, "noNulCharacter"), self.violations(sidecar, method, params))

    def test_combinations_of_parameters_are_checked(self):
        """The schemas require exactly one, at least one or at most one of several parameters."""
        sidecar = self.spawn()
        for method, params, rule in (
            ("token.verify", {"token": "a.b.c"}, "atLeastOne"),
            ("role.get", {}, "exactlyOne"),
            ("role.get", {"name": "reader", "roleArn": "arn:aws:iam::000000000000:role/reader"}, "exactlyOne"),
            ("role.put", {"name": "reader"}, "exactlyOne"),
            ("credentials.verify", {}, "exactlyOne"),
            ("credentials.revoke", {"identityId": "local-1:00", "poolId": "local-1:00"}, "exactlyOne"),
            ("key.list", {"poolId": "local-1:00", "issuer": "https://mintmark.localhost"}, "atMostOne"),
        ):
            with self.subTest(f"{method} {params}"):
                self.assertIn(rule, {r for _, r in self.violations(sidecar, method, params)})

    def test_every_parameter_of_every_method_rejects_values_of_other_types(self):
        sidecar = self.spawn(testing=True)
        contract = Contract()
        for method in methods():
            for name, schema in method["params"].get("properties", {}).items():
                reference = schema.get("$ref", "")
                resolved = contract.registry.contents("https://mintmark.invalid/types/" + reference.rpartition("/")[2]) if reference else schema
                for kind, value in VALUES.items():
                    if kind == resolved["type"] or (kind, resolved["type"]) == ("number", "integer"):
                        continue
                    with self.subTest(f"{method['name']} {name}: {kind}"):
                        error = sidecar.refusal(method["name"], {name: value})
                        self.assertEqual(error.type, "invalidParams", str(error))
                        self.assertIn((f"/{name}", "type"), {(v["pointer"], v["rule"]) for v in error.data["violations"]})
        self.works(sidecar)

    def test_every_method_rejects_an_unknown_parameter(self):
        sidecar = self.spawn(testing=True)
        for method in methods():
            with self.subTest(method["name"]):
                self.assertIn(("/noSuchParameter", "unknownParameter"), self.violations(sidecar, method["name"], {"noSuchParameter": 1}))

    def test_unknown_names_fail_with_the_nearest_names(self):
        sidecar = self.spawn()
        for typo, meant in (("token.mintForDevelper", "token.mintForDeveloper"), ("pool.crate", "pool.create"), ("Pool.Get", "pool.get"), ("sytem.ping", "system.ping")):
            with self.subTest(typo):
                error = self.refused("methodNotFound", sidecar, typo)
                self.assertEqual((error.code, error.data["method"], error.data["nearest"][0]), (-32601, typo, meant))
        error = self.refused("invalidParams", sidecar, "pool.get", {"poolID": "local-1:00"})
        unknown = next(v for v in error.data["violations"] if v["rule"] == "unknownParameter")
        self.assertIn("poolId", unknown["message"])

    def test_unknown_method_name_of_any_length_fails_with_a_short_message(self):
        sidecar = self.spawn()
        for name in ("", "x" * 100_000, "a.b", "é\U0001F600", "system.ping ", "$/unknown"):
            error = self.refused("methodNotFound", sidecar, name)
            self.assertLess(len(error.message), 2000)

    def test_secrets_are_masked_in_violations(self):
        sidecar = self.spawn()
        secret = "hunter2-" * 7000
        error = self.refused("invalidParams", sidecar, "token.mintForDeveloper", {"poolId": "bad", "logins": {"login.shop": secret}})
        self.assertNotIn("hunter2", str(error.data) + error.message)

    def test_invalid_parameters_change_nothing(self):
        sidecar = self.spawn()
        self.refused("invalidParams", sidecar, "pool.create", {"name": "shop", "nme": "shop"})
        self.assertEqual(sidecar.call("pool.list")["pools"], [])
