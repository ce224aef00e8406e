"""Runs the unittest files of a folder: `suite.py [--postgres] FOLDER [IMPORT-FOLDER…] [-k NAME]`. Ends with "N passed, N failed".

With --postgres the stores are in PostgreSQL, and only those tests run that are about such stores; without, those about SQLite or no store.
"""

import argparse
import atexit
import os
import sys
import time
import unittest


class Result(unittest.TextTestResult):
    """Counts passes too, and says which tests took long."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.passes, self.slow, self.broken_by = 0, [], set()

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()

    def stopTest(self, test):
        super().stopTest(test)
        self.slow.append((time.monotonic() - self.began, str(test)))

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passes += 1


def chosen(suite, kind):
    """The tests of a suite that are about a kind of store. What says nothing of stores makes none, and runs without PostgreSQL."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from chosen(test, kind)
        else:
            method = getattr(test, getattr(test, "_testMethodName", ""), None)
            if kind in getattr(method, "stores", getattr(test, "stores", ("sqlite",))):
                yield test


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--postgres", action="store_true", help="the stores are in PostgreSQL")
    options.add_argument("folder")
    options.add_argument("imports", nargs="*")
    options.add_argument("-k", action="append", help="only tests whose name contains this")
    options.add_argument("-v", action="store_true", help="name every test, and the slowest")
    options = options.parse_args()
    sys.path[:0] = [os.path.realpath(each) for each in [options.folder, *options.imports]]
    loader = unittest.TestLoader()
    loader.testNamePatterns = [f"*{name}*" for name in options.k] if options.k else None
    suite = loader.discover(options.folder, pattern="test_*.py", top_level_dir=options.folder)
    if options.postgres:
        import stores
        stores.current = stores.Postgres()
        atexit.register(stores.current.close)
    suite = unittest.TestSuite(chosen(suite, "postgres" if options.postgres else "sqlite"))
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2 if options.v else 1, resultclass=Result).run(suite)
    if options.v:
        for seconds, name in sorted(result.slow, reverse=True)[:15]:
            print(f"{seconds:6.1f} s  {name}")
    for test, reason in result.skipped:
        print(f"skipped: {test}: {reason}")
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    print(f"{result.passes} passed, {failed} failed")
    return 1 if failed or not result.passes else 0


if __name__ == "__main__":
    sys.exit(main())
