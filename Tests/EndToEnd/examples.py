"""Runs every example of schemas/methods over the pipe, each in a new store, and validates every response against the method's schema.

`given` names the fixtures of schemas/examples.json that are created before the example. `"$name"` captures a value at its first occurrence and
compares it later, as in transcripts.
"""

import os
import sys
import tempfile

from jsonschema import Draft7Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7

from checker import SCHEMAS, general_errors, load
from sidecar import RpcError, Sidecar
from transcripts import Name, differences, fill, show


def names(value):
    """Returns the value of an example with its `"$name"` strings replaced by names."""
    if isinstance(value, str) and value.startswith("$") and value[1:].isidentifier():
        return Name(value[1:])
    if isinstance(value, list):
        return [names(each) for each in value]
    if isinstance(value, dict):
        return {key: names(each) for key, each in value.items()}
    return value


def methods():
    """Returns the schemas of all methods, ordered by file name."""
    return [load(f"methods/{name}") for name in sorted(os.listdir(os.path.join(SCHEMAS, "methods")))]


class Contract:
    """Validators whose references resolve to schemas/types."""

    def __init__(self):
        def closed(path):
            return Resource.from_contents(load(path), default_specification=DRAFT7)
        folder = os.path.join(SCHEMAS, "types")
        self.registry = Registry().with_resources([(f"https://mintmark.invalid/types/{name}", closed(f"types/{name}")) for name in os.listdir(folder)])
        self.fixtures = load("examples.json")["fixtures"]
        self.errors = {error["type"]: error for error in load("errors.json")["errors"]}

    def breaches(self, schema, value, base="https://mintmark.invalid/methods/it.json"):
        """Returns the violations of a schema by a value, including members that the schema does not contain."""
        registry = self.registry.with_resource(base, Resource.from_contents(schema, default_specification=DRAFT7))
        validator = Draft7Validator({"$ref": base}, registry=registry)
        found = [f"/{'/'.join(map(str, e.absolute_path))}: {e.message[:300]}" for e in validator.iter_errors(value)]
        return found + self._unknown(schema, value, base, "")

    def _unknown(self, schema, value, base, path):
        if "$ref" in schema:
            base = "https://mintmark.invalid/types/" + os.path.basename(schema["$ref"])
            schema = self.registry.contents(base)
        if "oneOf" in schema and isinstance(value, dict):
            name = schema["discriminator"]["propertyName"]
            schema = next((each for each in schema["oneOf"] if each["properties"][name]["const"] == value.get(name)), {})
        if isinstance(value, list):
            return [each for i, v in enumerate(value) for each in self._unknown(schema.get("items", {}), v, base, f"{path}/{i}")]
        if not isinstance(value, dict) or "properties" not in schema:
            return []
        known = schema["properties"]
        found = [f"{path}/{key}: is not in the schema" for key in value if key not in known]
        return found + [each for k, v in value.items() if k in known for each in self._unknown(known[k], v, base, f"{path}/{k}")]


def prepare(sidecar, fixtures, given, captured, done):
    """Creates the fixtures of an example, each once and after the fixtures that it depends on."""
    for name in given:
        if name not in done:
            done.add(name)
            prepare(sidecar, fixtures, fixtures[name]["given"], captured, done)
            for step in fixtures[name]["steps"]:
                wrong = differences(names(step["result"]), sidecar.call(step["method"], fill(names(step["params"]), captured)), captured)
                assert not wrong, f"given {name}: {wrong}"


def execute(contract, method, example):
    """Returns the failures of one example, as sentences."""
    captured = {}
    with tempfile.TemporaryDirectory(prefix="mintmark-") as folder, Sidecar(testing=True, cwd=folder) as sidecar:
        prepare(sidecar, contract.fixtures, example.get("given", []), captured, set())
        try:
            answer = sidecar.call(method["name"], fill(names(example["params"]), captured))
        except RpcError as error:
            answer = error
        if "error" in example:
            if not isinstance(answer, RpcError):
                return [f"expected {example['error']}, found the result {show(answer)}"]
            if answer.type != example["error"]:
                return [f"expected {example['error']}, found {answer}"]
            entry = contract.errors[answer.type]
            found = [] if answer.code == entry["code"] else [f"code: expected {entry['code']}, found {answer.code}"]
            if answer.type not in general_errors() and answer.type not in method["errors"]:
                found.append(f"{answer.type} is not among the method's errors")
            data = {key: value for key, value in answer.data.items() if key not in ("type", "retryAfterSeconds")}
            return found + contract.breaches(entry["data"], data, "https://mintmark.invalid/errors.json")
        if isinstance(answer, RpcError):
            return [f"expected a result, found {answer}"]
        return differences(names(example["result"]), answer, captured) + contract.breaches(method["result"], answer)


def main():
    contract, passed, failed = Contract(), 0, 0
    for method in methods():
        for example in method["examples"]:
            if example.get("elsewhere"):   # The example is only shown here. A separate test runs it against a real service.
                continue
            try:
                wrong = execute(contract, method, example)
            except Exception as error:  # A failing fixture must not hide the other examples.
                wrong = [f"{type(error).__name__}: {error}"]
            passed, failed = passed + (not wrong), failed + bool(wrong)
            if wrong:
                print(f"FAILED  schemas/methods/{method['name']}.json, example '{example['name']}':\n    " + "\n    ".join(wrong))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
