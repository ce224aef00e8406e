"""Tests of the generated code against the contract."""

import asyncio
import inspect
import json
import keyword
import os
import re
import unittest

from support import ROOT, ClientTest, mintmark
from mintmark import APIError
from mintmark.testing import AsyncTestingMintmark, TestingMintmark
from mintmark.generated.contract import PROGRESS
from mintmark.types import Record


def load(name):
    with open(os.path.join(ROOT, "schemas", name), encoding="utf-8") as file:
        return json.load(file)


def snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def class_name(error):
    """Returns the name of the exception class of an error type."""
    name = error[0].upper() + error[1:]
    return name if name.endswith("Error") else name + "Error"


def to_json(value):
    return value.to_dict() if isinstance(value, Record) else value


def find(client, method):
    """Returns a client's typed method for a method of the contract."""
    namespace, verb = method.split(".")
    return getattr(getattr(client, snake(namespace)), {"import": "import_"}.get(verb, snake(verb)))


def fill(value, names):
    """Returns `value` with its `$names` replaced by their values."""
    if isinstance(value, str) and value.startswith("$"):
        return names[value]
    if isinstance(value, list):
        return [fill(each, names) for each in value]
    if isinstance(value, dict):
        return {key: fill(each, names) for key, each in value.items()}
    return value


def capture(wanted, found, names):
    """Records the values of the `$names` in a result."""
    if isinstance(wanted, str) and wanted.startswith("$"):
        names.setdefault(wanted, found)
    elif isinstance(wanted, dict):
        for key, each in wanted.items():
            capture(each, found[key], names)
    elif isinstance(wanted, list):
        for each, other in zip(wanted, found):
            capture(each, other, names)


def members(value):
    """Reads every attribute of every record in `value`, and returns their number."""
    if isinstance(value, list):
        return sum(map(members, value))
    if isinstance(value, dict):
        return sum(map(members, value.values()))
    if not isinstance(value, Record):
        return 0
    return sum(1 + members(getattr(value, attribute)) for attribute in type(value)._members)


class TheContract(ClientTest):
    def setUp(self):
        super().setUp()
        self.methods = load("openrpc.json")["methods"]

    def test_every_method_exists_in_both_clients_with_its_parameters_and_a_docstring(self):
        with TestingMintmark() as plain:
            both = [plain, AsyncTestingMintmark()]
            for client in both:
                for method in self.methods:
                    with self.subTest(method["name"], client=type(client).__name__):
                        found = find(client, method["name"])
                        parameters = inspect.signature(found).parameters
                        names = ((each, snake(each["name"])) for each in method["params"])
                        wanted = {name + "_" * (keyword.iskeyword(name) or name == "types"): each.get("required", False) for each, name in names}
                        own = {name: each for name, each in parameters.items() if name not in ("timeout", "trace", "progress")}
                        self.assertEqual({name: each.default is each.empty for name, each in own.items()}, wanted)
                        self.assertLessEqual({"timeout", "trace"}, set(parameters))
                        self.assertIn(method["summary"], " ".join(found.__doc__.split()))
                        self.assertEqual("progress" in parameters, method["name"] in PROGRESS)
                        for name in wanted:
                            if client is plain:
                                self.assertRegex(found.__doc__, rf"(?m)^ +{name}( \(.+?\))?:\s")
                        for error in load(f"methods/{method['name']}.json").get("errors", []):
                            self.assertIn(class_name(error), found.__doc__)
                        self.assertEqual(inspect.iscoroutinefunction(found), isinstance(client, AsyncTestingMintmark))

    def test_every_error_has_its_class_with_its_number_and_details(self):
        for entry in load("errors.json")["errors"]:
            with self.subTest(entry["type"]):
                kind = getattr(mintmark, class_name(entry["type"]))
                self.assertTrue(issubclass(kind, APIError))
                self.assertEqual((kind.code, kind.type), (entry["code"], entry["type"]))
                self.assertIn(entry["when"].split()[0], kind.__doc__)
                for name in entry["data"].get("properties", {}):
                    self.assertTrue(hasattr(kind, snake(name)) or name == "method", name)

    def test_generated_files_are_below_their_limit(self):
        lines = 0
        for folder, _, names in os.walk(os.path.join(os.path.dirname(mintmark.__file__), "generated")):
            for name in names:
                if name.endswith(".py"):
                    with open(os.path.join(folder, name), encoding="utf-8") as file:
                        lines += len(file.readlines())
        # The limit grows with the contract: about 90 lines for a method.
        self.assertLess(lines, 19_500)

    def examples(self):
        """Yields every example with the steps of its fixtures. All run in testing stores, which capture messages in the outbox."""
        file = load("examples.json")

        def steps(given):
            for name in given:
                fixture = file["fixtures"][name]
                yield from steps(fixture["given"])
                yield from ((name, index, step) for index, step in enumerate(fixture["steps"]))

        # One of the examples writes a file.
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        for number, example in enumerate(file["examples"]):
            os.makedirs(self.path(f"example-{number}"), exist_ok=True)
            os.chdir(self.path(f"example-{number}"))
            yield example, list({(name, index): step for name, index, step in steps(example["given"])}.values())

    def test_every_example_succeeds_with_the_client_for_threads(self):
        for example, steps in self.examples():
            with self.subTest(example["method"], example=example["name"]), self.memory(stderr=None) as m:
                names = {}
                for step in steps:
                    capture(step["result"], to_json(m.call(step["method"], fill(step["params"], names))), names)
                arguments = {snake(name) + "_" * (name == "types"): value for name, value in fill(example["params"], names).items()}
                if "error" in example:
                    with self.assertRaises(APIError) as caught:
                        find(m, example["method"])(**arguments)
                    self.assertEqual(caught.exception.type, example["error"])
                    self.assertIs(type(caught.exception), getattr(mintmark, class_name(example["error"])))
                else:
                    result = find(m, example["method"])(**arguments)
                    if isinstance(result, Record) and example["result"]:
                        self.assertGreater(members(result), 0)
                        self.assertTrue(repr(result))
                    else:
                        self.assertTrue(result)

    def test_every_example_succeeds_with_the_asyncio_client(self):
        async def run(example, steps):
            async with AsyncTestingMintmark(stderr=None) as m:
                names = {}
                for step in steps:
                    capture(step["result"], to_json(await m.call(step["method"], fill(step["params"], names))), names)
                arguments = {snake(name) + "_" * (name == "types"): value for name, value in fill(example["params"], names).items()}
                try:
                    members(await find(m, example["method"])(**arguments))
                except APIError as error:
                    self.assertEqual(error.type, example.get("error"))
                else:
                    self.assertNotIn("error", example)

        async def all_of_them():
            for example, steps in self.examples():
                with self.subTest(example["method"], example=example["name"]):
                    await run(example, steps)

        asyncio.run(all_of_them())


if __name__ == "__main__":
    unittest.main()
