#!/usr/bin/env python3
"""Checks that the library in process behaves like the process: clients/swift/conformance/in_process.py

Runs the transcripts, and the checks of clients/conformance that do not concern a process, through the Swift client without a second
process. Prints "N passed, N failed" at the end.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
CONFORMANCE = os.path.join(HERE, "..", "..", "conformance")
sys.path.insert(0, CONFORMANCE)

import importlib.machinery  # noqa: E402
import importlib.util  # noqa: E402

import checks_calls  # noqa: E402
import checks_hooks  # noqa: E402
import checks_process  # noqa: E402
import checks_provider  # noqa: E402
import driver  # noqa: E402
import replay  # noqa: E402

loader = importlib.machinery.SourceFileLoader("run", os.path.join(CONFORMANCE, "run"))
run = importlib.util.module_from_spec(importlib.util.spec_from_loader("run", loader))
loader.exec_module(run)

# The checks that do not use a simulated program or a process that ends.
CHECKS = [
    checks_calls.testing_in_one_line, checks_calls.a_thousand_calls, checks_calls.typed_errors, checks_calls.values_without_json,
    checks_process.the_data_is_named, checks_process.an_app, checks_process.close_leaves_nothing,
    checks_provider.token_requested_when_needed, checks_provider.guests, checks_provider.joined, checks_provider.a_backend_that_fails,
    checks_provider.another_identity, *checks_hooks.CHECKS,
]


def own_package():
    """the package of the client has no dependencies and has all its modules"""
    folder = os.path.join(CONFORMANCE, "..", "swift")
    done = subprocess.run(["swift", "package", "--package-path", folder, "dump-package"], check=True, capture_output=True, text=True)
    package = json.loads(done.stdout)
    assert package["dependencies"] == [], package["dependencies"]
    assert [each["name"] for each in package["products"]] == ["MintmarkClient"], package["products"]
    for target in package["targets"]:
        assert os.listdir(os.path.join(folder, "Sources", target["name"])), target["name"]


def main():
    own_package()
    os.environ["SWIFT_IN_PROCESS"] = "1"
    driver.prepare("swift")
    rows = [(check.__doc__, check) for check in CHECKS]
    rows += [(replay.title(file), lambda driver, file=file: replay.Replay(driver, file).run()) for file in replay.files()]
    failed = 0
    with ThreadPoolExecutor(run.SIDE_BY_SIDE) as threads:
        for name, problem in threads.map(lambda row: (row[0], run.attempt("swift", row[1])), rows):
            failed += problem is not None
            print("ok  " if problem is None else "NO  ", name, flush=True)
            if problem is not None:
                print("    " + problem.rstrip().replace("\n", "\n    "))
    print(f"{len(rows) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
