"""The contract: the schemas are well formed, error codes are unique, and the process offers exactly the methods of the schemas."""

import os
import unittest

from jsonschema import Draft7Validator

from checker import SCHEMAS, general_errors, load
from endtoend import EndToEnd
from examples import methods
from sidecar import ROOT

# The JSON Schema subset that OpenRPC and MCP share, and this project's own keywords.
KEYWORDS = {
    "type", "properties", "required", "additionalProperties", "enum", "const", "oneOf", "$ref", "pattern", "format", "minimum", "maximum", "minLength",
    "maxLength", "items", "minItems", "maxItems", "minProperties", "maxProperties", "uniqueItems", "propertyNames", "default", "description", "secret", "choices",
    "patternDescription", "discriminator",
}


def schemas_in(schema, path):
    """Yields a schema and every schema inside it, each with its path."""
    yield path, schema
    for name, each in schema.get("properties", {}).items():
        yield from schemas_in(each, f"{path}/properties/{name}")
    for keyword in ("items", "additionalProperties", "propertyNames"):
        if isinstance(schema.get(keyword), dict):
            yield from schemas_in(schema[keyword], f"{path}/{keyword}")
    for i, each in enumerate(schema.get("oneOf", [])):
        yield from schemas_in(each, f"{path}/oneOf/{i}")


# The maximum number of generated lines of a client for each method of the contract, with its types and errors.
LINES_PER_METHOD = {"python": 108, "node": 82, "go": 81, "ruby": 66, "java": 149, "swift": 98}


class GeneratedClients(unittest.TestCase):
    def test_generated_code_of_client_stays_within_line_limit(self):
        count = len(list(methods()))
        for language, limit in LINES_PER_METHOD.items():
            lines = 0
            for folder, _, names in os.walk(os.path.join(ROOT, "clients", language)):
                for name in names:
                    if {"generated", "Generated"} & set(folder.split(os.sep)) and not name.endswith(".pyc") or name.startswith("generated_"):
                        with open(os.path.join(folder, name), encoding="utf-8") as file:
                            lines += len(file.readlines())
            with self.subTest(language):
                self.assertGreater(lines / count, limit / 2)
                self.assertLessEqual(lines / count, limit)


class Schemas(unittest.TestCase):
    def all(self):
        """Yields every schema with its path."""
        for name in os.listdir(os.path.join(SCHEMAS, "types")):
            yield from schemas_in(load(f"types/{name}"), f"types/{name}")
        for method in methods():
            params = {key: value for key, value in method["params"].items() if key != "choices"}
            yield from schemas_in(params, f"methods/{method['name']}.json/params")
            yield from schemas_in(method["result"], f"methods/{method['name']}.json/result")
        for error in load("errors.json")["errors"]:
            yield from schemas_in(error["data"], f"errors.json/{error['type']}")

    def test_schemas_are_draft_07_and_use_shared_subset(self):
        for path, schema in self.all():
            with self.subTest(path):
                Draft7Validator.check_schema(schema)
                self.assertEqual(set(schema) - KEYWORDS, set())

    def test_references_resolve(self):
        for path, schema in self.all():
            if "$ref" in schema:
                with self.subTest(path):
                    folder = os.path.dirname(path.split(".json")[0] + ".json")
                    self.assertTrue(os.path.exists(os.path.normpath(os.path.join(SCHEMAS, folder, schema["$ref"]))), schema["$ref"])

    def test_defaults_match_their_types(self):
        for path, schema in self.all():
            if "default" in schema and "$ref" not in schema:
                with self.subTest(path):
                    Draft7Validator(schema).validate(schema["default"])

    def test_every_method_has_all_members(self):
        errors = {error["type"] for error in load("errors.json")["errors"]}
        for method, file in zip(methods(), sorted(os.listdir(os.path.join(SCHEMAS, "methods")))):
            with self.subTest(file):
                self.assertEqual(file, method["name"] + ".json")
                self.assertIn(method["caller"], ("developer", "public"))
                self.assertIsInstance(method["readOnly"], bool)
                self.assertFalse(method["params"]["additionalProperties"])
                self.assertTrue(method["summary"].endswith(".") and method["description"] and method["examples"])
                self.assertTrue(any("result" in example for example in method["examples"]))
                self.assertEqual(set(method["errors"]) - errors, set())

    def test_error_codes_and_types_are_unique(self):
        errors = load("errors.json")["errors"]
        self.assertEqual(len({error["code"] for error in errors}), len(errors))
        self.assertEqual(len({error["type"] for error in errors}), len(errors))
        for error in errors:
            with self.subTest(error["type"]):
                self.assertTrue(-32800 <= error["code"] <= -32600 or 1000 <= error["code"] <= 9999)
                self.assertTrue(error["when"] and error["message"])
                self.assertLessEqual(set(error["equivalents"]), {"cognito", "firebase", "nativeAuth"})

    def test_every_error_is_used(self):
        # Commands that fill a store print it; no method returns it.
        used = {name for method in methods() for name in method["errors"]} | {"storeNotEmpty"}
        self.assertEqual({error["type"] for error in load("errors.json")["errors"]} - used - general_errors(), set())


class OpenRPC(EndToEnd):
    stores = ("sqlite",)

    def test_testing_process_offers_openrpc_document(self):
        self.assertEqual(self.spawn(testing=True).call("rpc.discover"), load("openrpc.json"))

    def test_process_without_testing_offers_all_other_methods(self):
        offered = [method["name"] for method in self.spawn().call("rpc.discover")["methods"]]
        self.assertEqual(sorted(offered), sorted(m["name"] for m in methods() if not m.get("testing")))

    def test_every_offered_method_exists(self):
        sidecar = self.spawn(testing=True)
        for method in sidecar.call("rpc.discover")["methods"]:
            with self.subTest(method["name"]):
                self.assertEqual(sidecar.refusal(method["name"], {"noSuchParameter": 1}).type, "invalidParams")
