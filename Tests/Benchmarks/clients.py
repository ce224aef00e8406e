"""Calls per second through each client, compared to the limit of the pipe.

The limit is measured with a caller in C (pipe.c) that writes prepared requests and only counts line ends. Each client is measured inside
its driver for the conformance tests, by the step `bench`.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

from host import POOL, clean_environment, median, request_line, serve

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "clients", "conformance"))
from driver import Driver, Problem, drivers  # noqa: E402

SHOP = {"name": "shop", "poolId": POOL, "developerProvider": "login.shop"}
ALICE = {"poolId": POOL, "logins": {"login.shop": "alice"}}
COLUMNS = [
    ("ping, one by one", "system.ping", {}, 1), ("ping, 64 at a time", "system.ping", {}, 64),
    ("mint, one by one", "token.mintForDeveloper", ALICE, 1), ("mint, 64 at a time", "token.mintForDeveloper", ALICE, 64),
]
LIMIT = "the pipe's own limit"


class Limit:
    """The caller in C, which measures the limit of the pipe."""

    def __init__(self, program, home):
        self.program, self.home = program, home

    def seconds(self, method, params, calls, at_once):
        setup = request_line("pool.create", SHOP, id=0).decode().strip()
        command = [self.program, str(calls), str(at_once), method, json.dumps(params, separators=(",", ":")), setup, *serve(":memory:")]
        done = subprocess.run(command, env=clean_environment(self.home), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"{LIMIT} could not be measured: {done.stderr[-400:]}")
        return float(done.stdout)

    def close(self):
        pass


class Client:
    """A client in its driver, with its own process and pool."""

    def __init__(self, name, home):
        self.driver = Driver(name, home)
        try:
            self.client = self.driver.open(store=":memory:")
            self.driver.result("call", client=self.client, method="pool.create", params=SHOP)
        except BaseException:
            self.driver.close()
            raise

    def seconds(self, method, params, calls, at_once):
        took = self.driver.result("bench", client=self.client, method=method, params=params, calls=calls, atOnce=at_once)
        if took is None:
            raise Problem("its driver does not count calls")
        return took

    def close(self):
        try:
            self.driver.finish()
        except Problem as problem:
            print(problem, file=sys.stderr)
        finally:
            self.driver.close()


def rate(caller, column, seconds, known):
    """Calls per second, measured with as many calls as take about `seconds` at the rate `known`."""
    _, method, params, at_once = column
    calls = max(int(known * seconds), 2 * at_once)
    return calls / caller.seconds(method, params, calls, at_once)


def measure(callers, seconds, turns):
    """The median of each caller and column. The callers are measured alternately, under the same machine load."""
    found = {}
    for column in COLUMNS:
        # The first measurements determine the number of calls, and warm up just-in-time compilers.
        known = {name: rate(caller, column, seconds, rate(caller, column, 0, 0)) for name, caller in callers.items()}
        for _ in range(turns):
            for name, caller in callers.items():
                found.setdefault((name, column[0]), []).append(rate(caller, column, seconds, known[name]))
    return {key: median(rates) for key, rates in found.items()}


def main():
    options = argparse.ArgumentParser(prog="Tests/Benchmarks/clients", description="Calls a second through each client, beside the pipe's own limit.")
    options.add_argument("--pipe", required=True, help=argparse.SUPPRESS)
    options.add_argument("--quick", action="store_true", help="shorter turns, rougher figures")
    options.add_argument("clients", nargs="*", help=f"of {', '.join(drivers())}; without any, all")
    options = options.parse_args()
    names = options.clients or list(drivers())
    if unknown := set(names) - set(drivers()):
        sys.exit(f"There is no driver for {', '.join(unknown)}. There is one for: {', '.join(drivers())}.")
    home = tempfile.mkdtemp(prefix="mintmark-")
    callers = {LIMIT: Limit(options.pipe, home)}
    try:
        for name in names:
            folder = os.path.join(home, name)
            os.mkdir(folder)
            try:
                callers[name] = Client(name, folder)
                callers[name].seconds("system.ping", {}, 1, 1)
            except Problem as problem:
                print(f"{name} is left out: {problem}", file=sys.stderr)
                if client := callers.pop(name, None):
                    client.close()
        found = measure(callers, *((0.2, 1) if options.quick else (1, 5)))
    finally:
        for caller in callers.values():
            caller.close()
        shutil.rmtree(home, ignore_errors=True)
    print("calls a second".ljust(22) + "".join(title.rjust(24) for title, *_ in COLUMNS))
    for name in callers:
        cells = []
        for title, *_ in COLUMNS:
            part = "" if name == LIMIT else f"{found[name, title] / found[LIMIT, title]:.0%}"
            cells.append(f"{found[name, title]:,.0f}".rjust(18) + part.rjust(6))
        print(name.ljust(22) + "".join(cells))
    # A client that was named and could not be measured is a failure.
    return 0 if all(name in callers for name in options.clients) else 1


if __name__ == "__main__":
    sys.exit(main())
