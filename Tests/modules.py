"""Checks that every target imports only what it declares, and declares only what it imports: SwiftPM accepts other imports silently."""

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
        if target["type"] == "regular":
            problems += [f"{target['name']} declares {name} in Package.swift without importing it" for name in sorted(declared - used)]
    print("\n".join(problems) or "every target imports what it declares")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
