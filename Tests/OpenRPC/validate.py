#!/usr/bin/env python3
"""Checks that schemas/openrpc.json is a valid OpenRPC 1.4 document, its references resolve, and its examples match its schemas.

Requires the jsonschema package. Can be run from any directory. The argument can name another document, or - for standard input.
"""
import json
import pathlib
import sys

import jsonschema
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def read(path):
    return json.loads(path.read_text())


def references(value):
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for inner in value.values():
            yield from references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from references(inner)


def leads_somewhere(document, reference):
    if not reference.startswith("#/components/"):
        return False
    place = document
    for step in reference[2:].split("/"):
        if not isinstance(place, dict) or step not in place:
            return False
        place = place[step]
    return True


def problems(document):
    dependency = Resource.from_contents(read(HERE / "meta.json-schema.tools.json"), default_specification=DRAFT7)
    registry = Registry().with_resources([(url, dependency) for url in ("https://meta.json-schema.tools", "https://meta.json-schema.tools/")])
    for error in jsonschema.Draft7Validator(read(HERE / "meta-schema-1.4.json"), registry=registry).iter_errors(document):
        yield f"{'/'.join(map(str, error.absolute_path))}: {error.message[:120]}"
    for reference in sorted(set(references(document))):
        if not leads_somewhere(document, reference):
            yield f"{reference} leads nowhere"
    for method in document["methods"]:
        order = [param.get("required", False) for param in method["params"]]
        if order != sorted(order, reverse=True):
            yield f"{method['name']}: required parameters must come first"
        if not method.get("examples"):
            yield f"{method['name']}: has no example"
        yield from example_problems(document, method)


def example_problems(document, method):
    schemas = {param["name"]: param["schema"] for param in method["params"]}
    for example in method.get("examples", []):
        pairs = [(value["name"], schemas.get(value["name"]), value["value"]) for value in example["params"]]
        pairs.append(("result", method["result"]["schema"], example["result"]["value"]))
        for name, schema, value in pairs:
            if schema is None:
                yield f"{method['name']}, {example['name']}: {name} is no parameter"
                continue
            validator = jsonschema.Draft7Validator({"allOf": [schema], "components": document["components"]})
            for error in validator.iter_errors(value):
                yield f"{method['name']}, {example['name']}: {name}: {error.message[:120]}"


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else ROOT / "schemas" / "openrpc.json"
    document = json.load(sys.stdin) if path == "-" else read(pathlib.Path(path))
    found = list(problems(document))
    print("\n".join(found) or f"{len(document['methods'])} methods, a valid OpenRPC document")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
