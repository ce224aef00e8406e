#!/usr/bin/env python3
"""Checks that the program can be built without the testing methods: MINTMARK_WITHOUT_TEST_SUPPORT=1 swift build --product mintmark.

The package must then declare no use of TestSupport by anything that the program contains, and the modules that use it otherwise must
compile without it. They are compiled against the modules of the debug build, because a second complete build takes minutes. `--build`
makes that complete build, too, and starts the program.
"""

import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAME = "MINTMARK_WITHOUT_TEST_SUPPORT"
# Options of the compiler that concern its output, with the number of their values.
OUTPUT = {"-emit-dependencies": 0, "-emit-module": 0, "-emit-module-path": 1, "-output-file-map": 1, "-incremental": 0, "-c": 0, "-o": 1,
          "-emit-objc-header": 0, "-emit-objc-header-path": 1, "-parseable-output": 0, "-parse-as-library": 0, "-enable-batch-mode": 0,
          "-index-store-path": 1, "-j2": 0, "-num-threads": 1}


def reachable(targets, name, seen):
    if name not in seen and name in targets:
        seen.add(name)
        for each in targets[name]["dependencies"]:
            reachable(targets, (each.get("byName") or each.get("target") or [""])[0], seen)
    return seen


def check_package():
    """Returns the targets of the program in a package without TestSupport."""
    done = subprocess.run(["swift", "package", "--ignore-lock", "dump-package"], cwd=ROOT, check=True, capture_output=True, env={**os.environ, NAME: "1"})
    targets = {each["name"]: each for each in json.loads(done.stdout)["targets"]}
    found = reachable(targets, "CLI", set())
    if "TestSupport" in found or "Mintmark" not in found:
        sys.exit(f"With {NAME}, the program still depends on TestSupport.")
    users = [name for name in found for setting in targets[name]["settings"] if NAME in json.dumps(setting)]
    if users != ["Mintmark"]:
        sys.exit(f"With {NAME}, only Mintmark should be compiled differently, not {users}.")


def check_sources():
    """Compiles the module Mintmark without TestSupport."""
    with open(os.path.join(os.environ.get("MINTMARK_TEST_BUILD", os.path.join(ROOT, ".build")), "debug.yaml"), encoding="utf-8") as file:
        manifest = file.read()
    start = manifest.index("Compiling Swift Module 'Mintmark'")
    line = next(each for each in manifest[start:].splitlines() if each.strip().startswith("args: "))
    given, arguments = json.loads(line.strip()[len("args: "):]), []
    while given:
        word = given.pop(0)
        if word in OUTPUT:
            del given[:OUTPUT[word]]
        elif not word.startswith("@") and not word.endswith(".swift"):
            arguments.append(word)
    sources = [os.path.join(place, name) for place, _, names in os.walk(os.path.join(ROOT, "Sources", "Mintmark")) for name in names if name.endswith(".swift")]
    done = subprocess.run([*arguments, "-typecheck", "-D", NAME, *sorted(sources)], cwd=ROOT)
    if done.returncode != 0:
        sys.exit("Mintmark does not compile without TestSupport.")


def check_program():
    """Builds the program and starts it: it serves ordinary stores, and refuses testing stores."""
    options = ["--product", "mintmark", "--scratch-path", os.path.join(ROOT, ".build", "without-test-support")]
    environment = {**os.environ, NAME: "1"}
    subprocess.run(["swift", "build", *options], cwd=ROOT, check=True, env=environment)
    folder = subprocess.run(["swift", "build", *options, "--show-bin-path"], cwd=ROOT, check=True, env=environment, capture_output=True, text=True).stdout.strip()
    program = os.path.join(folder, "mintmark")
    subprocess.run([program, "call", "system.ping", "--store", ":memory:"], check=True)
    done = subprocess.run([program, "call", "system.ping", "--store", ":memory:", "--testing"], capture_output=True, text=True)
    if done.returncode != 2 or "without the testing methods" not in done.stderr:
        sys.exit(f"The program does not refuse testing stores: {done}")


check_package()
check_sources()
if "--build" in sys.argv:
    check_program()
print("the program can be built without the testing methods")
