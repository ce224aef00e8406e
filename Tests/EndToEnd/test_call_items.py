"""The notation of parameters and the output of `mintmark call`."""

import json
import os
import unittest

from endtoend import EndToEnd
from sidecar import ROOT, run


class Items(EndToEnd):
    stores = ("sqlite",)

    def request(self, method, *items, **more):
        done = run("call", "--print-request", method, *items, home=self.folder, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["params"]

    def refused(self, *arguments, **more):
        done = run("call", "--store", ":memory:", *arguments, home=self.folder, **more)
        self.assertEqual((done.returncode, done.stdout), (64, b""), done)
        return done.stderr.decode()

    def test_items_become_parameters(self):
        with open(self.path("text"), "w", encoding="utf-8") as file:
            file.write("hello\nworld\n")
        with open(self.path("json"), "w", encoding="utf-8") as file:
            file.write('{"a": 1}')
        text, document = self.path("text"), self.path("json")
        for method, items, expected in [
            ("pool.create", ["name=shop", "developerProvider=login.shop"], {"name": "shop", "developerProvider": "login.shop"}),
            ("account.list", ["limit=5"], {"limit": 5}),
            ("account.list", ["limit=many"], {"limit": "many"}),
            ("tenant.create", ["name=5"], {"name": "5"}),
            ("tenant.create", ["name=true", "allowSignUp=false"], {"name": "true", "allowSignUp": "false"}),
            ("account.disable", ["accountId=null"], {"accountId": "null"}),
            ("account.create", ["emailVerified=true"], {"emailVerified": True}),
            ("account.list", ["limit:=5", "cursor:=null"], {"limit": 5, "cursor": None}),
            ("token.mint", ["logins[login.shop]=alice"], {"logins": {"login.shop": "alice"}}),
            ("token.mint", ["logins[a=b:c]=x=y"], {"logins": {"a=b:c": "x=y"}}),
            ("token.mint", ["logins[0]=alice"], {"logins": {"0": "alice"}}),
            ("x", ["a[b][c]:=1", "a[b][d][]=x", "a[b][d][]=y"], {"a": {"b": {"c": 1, "d": ["x", "y"]}}}),
            ("x", ["a[1]=y", "a[0]=x"], {"a": ["x", "y"]}),
            ("x", [f"a=@{text}", f"b@={text}"], {"a": "hello\nworld", "b": "hello\nworld"}),
            ("x", [f"a:=@{document}", f"b:@={document}"], {"a": {"a": 1}, "b": {"a": 1}}),
            ("x", ["a=@@home"], {"a": "@home"}),
            ("x", [r"a\[b\]\=c=d"], {"a[b]=c": "d"}),
            ("x", ['{"a": [1, {"b": null}]}'], {"a": [1, {"b": None}]}),
            ("x", [], {}),
        ]:
            with self.subTest(items=items):
                self.assertEqual(self.request(method, *items), expected)

    def test_standard_input_is_value(self):
        self.assertEqual(self.request("x", "a=@-", input=b"secret\n"), {"a": "secret"})
        self.assertEqual(self.request("x", "-", input=b'{"a": 1}'), {"a": 1})

    def test_bad_items_are_usage_errors(self):
        with open(self.path("bytes"), "wb") as file:
            file.write(b"S3CRET\xff")
        for items, *texts in [
            (["shop"], "'shop' is not a parameter. Write name=value, name:=JSON, or one JSON object."),
            (["name=a", "name=b"], "name is given twice."),
            (["a=1", "a[b]=2"], "a and a[b] exclude each other"),
            (["a[b]=2", "a[]=1"], "a[b] and a[] exclude each other"),
            (["a[1]=2"], "element 0 of this list is missing"),
            (["a:={b"], "a: the value is not valid JSON:", "at byte 1"),
            (["{b"], "The parameters are not valid JSON", "at byte 1"),
            (["a=@missing"], "the file 'missing' cannot be read"),
            (["a=@" + self.path("bytes")], "is not UTF-8"),
            (["a=@-", "b=@-"], "standard input is read by another parameter already"),
            (["{}", "a=1"], "A JSON object must be the only argument."),
            (["-", "a=1"], "A JSON object must be the only argument."),
        ]:
            with self.subTest(items=items):
                error = self.refused("pool.list", *items, input=b"x")
                for text in texts:
                    self.assertIn(text, error)
                self.assertIn("See 'mintmark call --help'", error)
                self.assertNotIn("S3CRET", error)
                self.assertLessEqual(len(error.splitlines()), 2)

    def test_options_with_bad_values_are_usage_errors(self):
        for options, text in [
            (["--output", "yaml"], "--output must be one of json, jsonl, table, not 'yaml'."),
            (["--progress", "much"], "--progress must be auto, plain or none, not 'much'."),
            (["--limit-total", "0"], "--limit-total must be at least 1."),
            (["--all", "--field", "x"], "excludes --all"),
        ]:
            self.assertIn(text, self.refused(*options, "account.list"))
        self.assertIn("system.info has no pages", self.refused("--all", "system.info"))


class Output(EndToEnd):
    stores = ("sqlite",)

    def setUp(self):
        super().setUp()
        self.store = ("--store", self.path("shop.db"))
        for number in range(5):
            self.call("pool.create", f"poolId=local-1:00000000-0000-0000-0000-00000000000{number}", "name=p" + "x" * number)

    def call(self, *arguments, status=0, **more):
        done = run("call", *self.store, *arguments, home=self.folder, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.decode()

    def test_formats(self):
        self.assertEqual(self.call("pool.list", "limit=2").count("\n"), 1)
        self.assertEqual(len(json.loads(self.call("pool.list", "--all", "limit=2", "-o", "json"))["pools"]), 5)
        self.assertNotIn("nextCursor", self.call("pool.list", "--all", "limit=2", "-o", "json"))
        lines = self.call("pool.list", "--all", "limit=2", "--output", "jsonl").splitlines()
        self.assertEqual([json.loads(line)["name"] for line in lines], ["p" + "x" * number for number in range(5)])
        self.assertEqual(len(self.call("pool.list", "--limit-total", "3", "limit=2", "-o", "jsonl").splitlines()), 3)
        self.assertEqual(len(json.loads(self.call("pool.list", "--limit-total", "3", "limit=2"))["pools"]), 3)

    def test_table_aligns_columns_and_cuts_cells(self):
        table = self.call("pool.list", "-o", "table").splitlines()
        self.assertEqual(table[0].split()[:2], ["poolId", "name"])
        self.assertEqual(len(table), 6)
        self.assertEqual({line[table[0].index("name")] for line in table[1:]}, {"p"})
        cut = self.call("pool.list", "-o", "table", environment={"COLUMNS": "40"}).splitlines()
        self.assertTrue(any("…" in line for line in cut))
        self.assertTrue(all(len(line) <= 40 for line in cut), cut)
        self.assertNotIn("…", self.call("pool.list", "-o", "table", "--wide", environment={"COLUMNS": "40"}))

    def test_wide_characters_take_two_columns(self):
        for number in range(2):
            self.call("tenant.create", f"tenantId=t{number}", "name=" + "店" * (number + 1))
        rows = self.call("tenant.get", "tenantId=t1", "-o", "table", environment={"COLUMNS": "24"}).splitlines()
        for row in rows:
            self.assertLessEqual(sum(2 if each == "店" else 1 for each in row), 24, row)

    def test_table_has_the_columns_of_the_schema(self):
        self.call("tenant.create", "tenantId=shop", "name=Shop")
        for method in ("tenant.list", "account.list"):
            with open(os.path.join(ROOT, "schemas", "methods", method + ".json"), encoding="utf-8") as file:
                columns = json.load(file)["columns"]
            if method == "account.list":
                self.call("account.create", "username=a@example.com")
            self.assertEqual(self.call(method, "-o", "table").splitlines()[0].split(), columns)
            wide = self.call(method, "-o", "table", "--wide").splitlines()[0].split()
            self.assertEqual(wide[:len(columns)], columns)
            self.assertGreater(len(wide), len(columns))

    def test_table_escapes_control_characters_and_masks_secrets(self):
        self.call("tenant.create", "tenantId=t", "name=a\u2066b")
        text = self.call("tenant.get", "tenantId=t", "-o", "table")
        self.assertIn("a\\u2066b", text)
        self.call("account.create", "username=a@example.com", "password=correct horse 9 Battery")
        started = self.call("signIn.start", "username=a@example.com", "-o", "table")
        self.assertRegex(started, r"continuationToken +\*\*\*")
        self.assertNotIn("***", self.call("signIn.start", "username=a@example.com"))
        self.assertRegex(self.call("account.list", "-o", "table"), r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")

    def test_empty_list_prints_nothing(self):
        done = run("call", *self.store, "account.list", "-o", "table", home=self.folder)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b"No accounts.\n"))

    def test_field(self):
        self.assertEqual(self.call("pool.list", "--field", "pools[1].name"), "px\n")
        self.assertEqual(self.call("pool.list", "--field", "/pools/1/name"), "px\n")
        done = run("call", *self.store, "pool.list", "--field", "nope", home=self.folder)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"The result has no member nope. It has pools", done.stderr)


if __name__ == "__main__":
    unittest.main()
