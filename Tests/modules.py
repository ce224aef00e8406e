"""Checks that every target imports only what it declares, and declares only what it imports: SwiftPM accepts other imports silently.

Checks as well that no part of the program uses what would bring a large part of the standard library into it: regular expressions (1 MB) or
tasks (0.6 MB)."""

import json
import os
import re
import subprocess
import sys

# The standard library and what comes with the toolchain.
TOOLCHAIN = {
    "Darwin", "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "PackageDescription", "RegexBuilder", "Swift", "Synchronization", "Testing",
    "_StringProcessing",
}
IMPORT = re.compile(r"^ *(?:@\w+(?:\(\w+\))? +)*(?:(?:public|package|internal|private|fileprivate) +)?import +(?:(?:struct|class|enum|protocol|func|var|typealias) +)?(\w+)", re.M)


def imports(target):
    folder = target.get("path") or os.path.join("Tests" if target["type"] == "test" else "Sources", target["name"])
    found = set()
    for place, _, files in os.walk(folder):
        for name in files:
            if name.endswith(".swift"):
                with open(os.path.join(place, name), encoding="utf-8") as file:
                    found.update(IMPORT.findall(file.read()))
    return found - TOOLCHAIN - {target["name"]}


# What brings a large part of the standard library into the program, by the symbols in object files, and what to use instead.
LARGE = [
    (re.compile(rb"17_StringProcessing"), "searches in a text with the standard library; use includes(_:) of Platform"),
    (re.compile(rb"\0(swift_task_|\$sSc[A-Z])"), "uses tasks, actors or CancellationError; use threads, and Cancelled of Platform"),
]


def large_parts(target):
    """Returns the sources of a target whose object files of the debug build need one of these parts, and the advice."""
    folder = os.path.join(os.environ.get("MINTMARK_TEST_BUILD", ".build"), "debug", f"{target['name']}.build")
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        if name.endswith(".swift.o"):
            with open(os.path.join(folder, name), "rb") as file:
                content = file.read()
            for symbol, advice in LARGE:
                if symbol.search(content):
                    yield name.removesuffix(".o"), advice


def main():
    package = json.loads(subprocess.run(["swift", "package", "dump-package"], check=True, capture_output=True).stdout)
    problems = []
    for target in package["targets"]:
        if target["type"] not in ("regular", "executable", "test"):
            continue
        declared = {(each.get("byName") or each.get("product") or each.get("target"))[0] for each in target["dependencies"]}
        used = imports(target)
        if not used:
            continue   # a target in C
        problems += [f"{target['name']} imports {name} without declaring it in Package.swift" for name in sorted(used - declared)]
        if not target.get("path") and target["type"] != "test" and target["name"] != "ContractGenerator":
            problems += [f"{target['name']}/{name} {advice}" for name, advice in large_parts(target)]
        if target["type"] == "regular":
            problems += [f"{target['name']} declares {name} in Package.swift without importing it" for name in sorted(declared - used)]
    print("\n".join(problems) or "every target imports what it declares")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
