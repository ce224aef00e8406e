"""Runs the unittest files of a folder: `suite.py [--postgres] [--jobs N] FOLDER [IMPORT-FOLDER…] [-k NAME]`. Ends with "N passed, N failed".

Test classes run in N processes (default: twice the number of cores). The classes that took longest in the last run, according to
`.build/tests/durations.json`, start first. With --postgres the stores are in PostgreSQL and only tests of such stores run. Otherwise only tests
of SQLite and tests without a store run. Every process has its own PostgreSQL server. The classes of `only_on_sqlite.txt` do not run with
--postgres, unless --statements is given: it writes the SQL statements of each class to a file.
"""

import argparse
import collections
import contextlib
import json
import os
import random
import resource
import sys
import threading
import time
import traceback
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
DURATIONS = os.path.join(ROOT, ".build", "tests", "durations.json")
ONLY_ON_SQLITE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "only_on_sqlite.txt")
# The classes with long tests and their seconds, for a machine that has no durations yet.
LONG = {
    "test_sequences.Sequences": 47, "test_event_push.Push": 40, "test_guards.Doors": 39, "test_hosts.Hosts": 37,
    "test_tool_renewal.Watching": 31, "test_copying.Copying": 31, "test_postgres.ServerGoesAway": 25, "test_contract.TheContract": 23,
    "test_passkeys_in_browser.PasskeysInTheBrowser": 21, "test_tokens_elsewhere.TokensElsewhere": 21, "test_hidden_accounts.Hidden": 20,
    "test_pytest.Plugin": 20, "test_pgbouncer.Pooled": 19, "test_postgres.ConnectionsOfOneProcess": 19,
    "test_published_keys.PublishedKeys": 18, "test_pgbouncer.ManyProcesses": 16, "test_compat.Loopback": 16, "test_store.Stores": 16,
    "test_events.Events": 15, "test_repeated_sends.RepeatedSends": 15, "test_failover.Failover": 15,
    "test_console_in_browser.ConsoleInTheBrowser": 14, "test_login.InTheBrowser": 12, "test_device_flow.DeviceFlow": 12,
    "test_addresses.Addresses": 12, "test_tool_renewal.Renewal": 11, "test_crashes.Crashes": 11, "test_whole_flow.WholeFlow": 10,
    "test_outbound_federation.MintForSession": 10,
}


def processor_seconds():
    """Returns the processor time of this process and of its processes that have ended."""
    used = [resource.getrusage(each) for each in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


class Result(unittest.TestResult):
    """Collects the report for the parent process, as JSON values."""

    def __init__(self):
        super().__init__()
        self.report = collections.defaultdict(list)

    def startTest(self, test):
        super().startTest(test)
        self.began, self.used = time.monotonic(), processor_seconds()

    def stopTest(self, test):
        super().stopTest(test)
        self.report["seconds"].append([round(time.monotonic() - self.began, 3), test.id(), round(processor_seconds() - self.used, 3)])

    def addSuccess(self, test):
        self.report["passed"].append(test.id())

    def addFailure(self, test, problem):
        self.report["failed"].append([test.id(), self._exc_info_to_string(problem, test)])

    addError = addFailure

    def addSubTest(self, test, subtest, problem):
        if problem:
            self.report["failed"].append([subtest.id(), self._exc_info_to_string(problem, test)])
            self.broken = test

    def addSkip(self, test, reason):
        self.report["skipped"].append([test.id(), reason])

    def addExpectedFailure(self, test, problem):
        self.report["passed"].append(test.id())

    def addUnexpectedSuccess(self, test):
        self.report["failed"].append([test.id(), "The test passed but is marked as an expected failure."])


def chosen(suite, kind):
    """Yields the tests for a kind of store. Tests that name no kind use no store and run only without --postgres."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from chosen(test, kind)
        else:
            method = getattr(test, getattr(test, "_testMethodName", ""), None)
            if kind in getattr(method, "stores", getattr(test, "stores", ("sqlite",))):
                yield test


def only_on_sqlite():
    """Returns the names of the classes that need not run on PostgreSQL."""
    with open(ONLY_ON_SQLITE, encoding="utf-8") as file:
        return {line.strip() for line in file if not line.startswith("#")}


def discover(options):
    """Returns the selected tests by class, in the order of discovery."""
    sys.path[:0] = [os.path.realpath(each) for each in [options.folder, *options.imports]]
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{name}*" for name in options.k] if options.k else None
    suite = loader.discover(options.folder, pattern="test_*.py", top_level_dir=options.folder)
    classes, omitted = {}, only_on_sqlite() if options.postgres and not (options.statements or options.k) else ()
    for test in chosen(suite, "postgres" if options.postgres else "sqlite"):
        name = f"{type(test).__module__}.{type(test).__qualname__}"
        if name not in omitted:
            classes.setdefault(name, []).append(test)
    return classes


def work(classes, names, output, options):
    """Runs the tests of each class whose name is read, one per line, and prints the report as one line of JSON."""
    random.seed()   # A copy would choose the same numbers as the other workers.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    current = None
    if options.postgres:
        import stores
        current = stores.current = stores.Postgres(counts_statements=options.statements is not None)
    try:
        for name in names:
            result = Result()
            unittest.TestSuite(classes[name.strip()]).run(result)
            if current and options.statements:
                result.report["statements"] = current.statements()
            print(json.dumps(result.report), file=output, flush=True)
    finally:
        if current:
            current.close()


class Worker(threading.Thread):
    """Passes classes to one worker process until all are done. The process is a copy of this one, which has loaded the tests."""

    opened = []   # The ends of the pipes that belong to this process.

    def __init__(self, classes, waiting, reports, options):
        super().__init__(daemon=True)
        self.waiting, self.reports, self.verbose = waiting, reports, options.v
        (names, self.names), (self.output, output) = (os.pipe(), os.pipe())
        Worker.opened += [self.names, self.output]
        sys.stdout.flush()
        self.process = os.fork()
        if self.process == 0:
            status = 1
            try:
                for each in Worker.opened:
                    os.close(each)
                work(classes, os.fdopen(names), os.fdopen(output, "w"), options)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(status)
        os.close(names)
        os.close(output)
        self.names, self.output = os.fdopen(self.names, "w"), os.fdopen(self.output)

    def run(self):
        while True:
            try:
                name = self.waiting.popleft()
            except IndexError:
                break
            try:
                print(name, file=self.names, flush=True)
                line = self.output.readline()
            except OSError:
                line = ""
            if not line:
                self.reports[name] = {"failed": [[name, "The test process ended before the tests of this class did."]]}
                break
            self.reports[name] = report = json.loads(line)
            self.show(name, report)
        with contextlib.suppress(BrokenPipeError):
            self.names.close()
        os.waitpid(self.process, 0)   # A PostgreSQL server stops now.

    def show(self, name, report):
        for test, trace in report.get("failed", []):
            print(f"FAILED  {test}\n{trace}", flush=True)
        if self.verbose:
            for seconds, test, used in report.get("seconds", []):
                print(f"{seconds:7.2f} s {used:7.2f} s  {test}", flush=True)


def known_durations():
    try:
        with open(DURATIONS, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--postgres", action="store_true", help="the stores are in PostgreSQL")
    options.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 2), help="the number of test processes")
    options.add_argument("--statements", metavar="FILE", help="write the SQL statements of each class and its duration to this file, as JSON")
    options.add_argument("folder")
    options.add_argument("imports", nargs="*")
    options.add_argument("-k", action="append", help="only tests whose name contains this")
    options.add_argument("-v", action="store_true", help="print the duration and the processor time of every test")
    options = options.parse_args()

    began, durations = time.monotonic(), known_durations()
    classes = discover(options)
    kind = "postgres" if options.postgres else "sqlite"

    def expected(name):
        known = [durations.get(f"{kind} {test.id()}") for test in classes[name]]
        return max(sum(.5 if each is None else each for each in known), LONG.get(name, 0) if None in known else 0)

    waiting, reports = collections.deque(sorted(classes, key=expected, reverse=True)), {}
    workers = [Worker(classes, waiting, reports, options) for _ in range(max(1, min(options.jobs, len(classes))))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for name in classes:
        if name not in reports:
            reports[name] = {"failed": [[name, "No test process was left to run this class."]]}
            print(f"FAILED  {name}: no test process was left to run it")

    def all_of(member):
        return [entry for report in reports.values() for entry in report.get(member, [])]

    seconds = sorted(all_of("seconds"), reverse=True)
    broken = {test.split(" ")[0] for test, _ in all_of("failed")}
    passed = [test for test in all_of("passed") if test not in broken]
    for each, test, _ in seconds[:20]:
        print(f"slow: {each:7.2f} s  {test}")
    for test, reason in all_of("skipped"):
        print(f"skipped: {test}: {reason}")
    # Another suite that runs at the same time may have added its durations.
    durations = {**known_durations(), **{f"{kind} {test}": each for each, test, _ in seconds}}
    os.makedirs(os.path.dirname(DURATIONS), exist_ok=True)
    with open(f"{DURATIONS}.{os.getpid()}", "w", encoding="utf-8") as file:
        json.dump(durations, file)
    os.replace(file.name, DURATIONS)
    if options.statements:
        with open(options.statements, "w", encoding="utf-8") as file:
            json.dump({name: [sum(each for each, *_ in report.get("seconds", [])), report.get("statements", [])] for name, report in reports.items()}, file)
    print(f"{len(seconds)} tests in {time.monotonic() - began:.0f} s, {sum(each for each, *_ in seconds):.0f} s in one process, "
          f"{sum(used for *_, used in seconds):.0f} s of processor time")
    print(f"{len(passed)} passed, {len(all_of('failed'))} failed")
    return 1 if broken or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
