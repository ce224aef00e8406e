"""SQLite's method: for every write, sync, read, lock, allocation and network read of a call, the n-th one fails, for every n.

After each failure the invariants of the simulator hold, and the process continues. The table shows for each method how many sites of each
kind were made to fail; a number is complete when the last attempt reached no further site.
"""

import contextlib
import os
import sqlite3
import sys

import calls
import pools
from calls import Violation
from facts import REFUSED
from process import Process, coverage
from simulation import EIO, ENOSPC, MOMENT, WEIGHTS, Simulation, Template

# The kind of a site, the error, and how many consecutive sites fail. A negative error comes after half of a write.
FAULTS = [("write", ENOSPC, 1), ("write", -ENOSPC, 1), ("write", EIO, 1000), ("sync", EIO, 1), ("sync", EIO, 1000), ("read", EIO, 1), ("read", EIO, 1000),
          ("lock", EIO, 1), ("truncate", EIO, 1), ("map", 12, 1), ("open", 24, 1), ("unlink", EIO, 1), ("allocate", 1, 1), ("allocate", 1, 1000)]
# The calls that make what a rarer call uses.
MAKERS = {calls.Unlink: [calls.Link, calls.SignIn], calls.MergeAccounts: [calls.Create, calls.SignIn, calls.SignIn]}
OPENING = [("open", 24), ("read", EIO), ("write", EIO), ("sync", EIO), ("lock", EIO), ("map", 12), ("truncate", EIO), ("link", EIO), ("unlink", EIO),
           ("allocate", 1), ("kill", 0)]
# Errors with which a process may answer while its store cannot be opened.
NOT_OPEN = calls.STORE | {"storeCannotOpen", "notAStore", "storeCorrupt", "storeReadOnly"}


class Sweep(Simulation):
    """One kind of failure, in every call of the simulation."""

    def __init__(self, fault, template, most):
        super().__init__(f"sweep {fault}", template)
        self.fault, self.most, self.places, self.complete = fault, most, {}, set()

    def run(self):
        """Returns the number of sites that failed, for each method, and the methods for which that is every site."""
        try:
            self.processes = [self.start(0)]
            self.must("test.seed", {"seed": "sweep"})
            rounds = 0
            while rounds < self.most and len(self.complete) < len(WEIGHTS):
                rounds += 1
                for kind in WEIGHTS:
                    # The others change the store for those that are left, which takes most of the time.
                    if kind in self.complete and rounds % 8:
                        continue
                    for maker in MAKERS.get(kind, ()) if kind not in self.complete else ():
                        self.attempt(maker, fails=False)
                    self.attempt(kind)
                # Without these, a kind of failure that no call survives would leave nothing that other calls could use.
                for kind in (calls.Create, calls.SignIn, calls.StartSignUp, calls.SubmitCode, pools.Mint):
                    self.attempt(kind, fails=False)
            self.look(True)
        finally:
            self.close()
        return {kind: place - 1 for kind, place in self.places.items()}, self.complete

    def make(self, kind):
        """Returns a call of this kind, if possible one that can succeed: a refused call ends before its last sites."""
        for _ in range(20):
            call = self.world.make(kind)
            if not call or not any(claim.holds for claim, _ in call.forbidden):
                return call
            # It is not sent.
            calls.Call.settle(call, REFUSED, None)
        return self.world.make(kind)

    def attempt(self, kind, fails=True):
        """Makes one call, in which the next site fails, unless every site has failed already or `fails` is false."""
        call = self.make(kind)
        if not call:
            return
        process, place = self.processes[0], self.places.setdefault(kind, 1)
        self.world.step += 1
        call.step, call.trace = self.world.step, f"step-{self.world.step}"
        process.begin(call.method, call.params, trace=call.trace)
        fails = fails and kind not in self.complete
        if fails:
            process.fail([self.fault[0]], place, self.fault[1], self.fault[2])
        self.running[process] = call
        self.tell(process, f"{call.method} {self.brief(call.params)} with {self.fault} at {place}")
        outcome, found = process.advance()
        while outcome == "sleep":
            outcome, found = process.advance()
        del self.running[process]
        if outcome == "ended":
            raise Violation(f"the process ended by itself with {found} during {call.method}: {process.words()}")
        failed = process.control.failed
        self.answer(process, call, found)
        self.look(True)
        if failed:
            self.places[kind] += 1
        # A refused call can end before this place; only a success shows that there is no further site.
        elif fails and "result" in found:
            self.complete.add(kind)


FIND = ("account.find", {"username": "nobody@example.com"})


def error_of(found):
    return (found.get("error") or {}).get("data", {}).get("type")


def works(simulation, process, after):
    """The store can be opened and written, and is not damaged."""
    found = process.call(*FIND)
    if error_of(found) != "accountNotFound":
        raise Violation(f"{after}, the store stays closed: {found}")
    found = process.call("account.create", {"username": "somebody@example.com"})
    if "result" not in found:
        raise Violation(f"{after}, the store cannot be written: {found}")
    damage = simulation.rows("PRAGMA quick_check")
    if damage != [("ok",)]:
        raise Violation(f"{after}, the store is damaged: {damage}")


# The files that a process opens. Without unnamed files (O_TMPFILE), a new store has a temporary name first.
STORES = {"a store": {}, "a new store": {}, "a new store without unnamed files": {"SIMULATOR_NAMED": "1"}}


def whole(simulation, template, after):
    """The name of the store belongs to nothing or to a complete store."""
    if not os.path.exists(simulation.store):
        return
    version = "SELECT value FROM mintmark_meta WHERE name = 'schema_version'"
    try:
        found = simulation.rows(version), simulation.rows("PRAGMA quick_check")
    except sqlite3.Error as error:
        found = error
    simulation.forget_reader()
    with contextlib.closing(sqlite3.connect(template.store)) as complete:
        if found != (complete.execute(version).fetchall(), [("ok",)]):
            raise Violation(f"{after}, the new store is incomplete: {found}")


def opening(kind, code, template, step, what_store):
    """Fails the n-th site while a process opens a store, for each n, or for every `step`-th one; or kills the process there, if `kind` is "kill".
    Afterwards the next request, or the next process, must open the store.

    Returns the number of failures."""
    fresh, environment = what_store != "a store", STORES[what_store]
    failures, place = 0, 1
    while True:
        simulation = Simulation(f"opening {kind} {place}", template)
        what, kills = f"opening {what_store} with a failing {kind} {place}", kind == "kill"
        try:
            if fresh:
                for suffix in ("", ".key"):
                    os.unlink(simulation.store + suffix)
            process = Process(
                simulation.store, options=["--clock", str(MOMENT)], pauses=kills, pause_at=place if kills else 0, environment=environment,
                failing=None if kills else ([kind], place, code))
            simulation.processes = [process]
            process.begin(*FIND, keep=True)
            outcome, found = process.advance(keep=True)
            if kills and outcome == "paused":
                failed = 1
                process.kill()
                if fresh:
                    whole(simulation, template, f"after {what}")
                process = Process(simulation.store, options=["--clock", str(MOMENT)], pauses=False)
                simulation.processes.append(process)
            elif outcome != "answer":
                raise Violation(f"{what}: the process ended with {found}: {process.words()}")
            else:
                if error_of(found) != "accountNotFound" and error_of(found) not in NOT_OPEN:
                    raise Violation(f"{what}: {found}")
                failed = process.control.failed
            works(simulation, process, f"after {what}")
        finally:
            simulation.close()
        if not failed:
            return failures
        failures += 1
        place += step


def name(kind):
    return kind.__name__


def main(most=100_000, step=1, faults=FAULTS, openings=OPENING, every=1):
    """Prints the tables. Returns the number of violations.

    `step` fails only every so many sites while a store is opened, `every` only so many of the allocations there."""
    os.environ["SIMULATOR_COVERAGE"] = "1"
    template, violations, rows, total = Template(), 0, {}, 0
    try:
        for fault in faults:
            sweep = Sweep(fault, template, most)
            try:
                found, complete = sweep.run()
            except Violation as violation:
                violations += 1
                print("\n".join(sweep.log[-6:]))
                print(f"VIOLATION with {fault}: {violation}", flush=True)
                found, complete = {kind: place - 1 for kind, place in sweep.places.items()}, sweep.complete
            rows[fault] = found, complete
            total += sum(found.values())
            print(f"{fault}: {sum(found.values())} failures in {len(found)} calls, {len(complete)} of them complete", flush=True)
        for store in STORES:
            for kind, code in openings:
                try:
                    count = opening(kind, code, template, step * (every if kind == "allocate" else 1), store)
                    total += count
                    print(f"opening {store}, {kind}: {count} failures", flush=True)
                except Violation as violation:
                    violations += 1
                    print(f"VIOLATION: {violation}", flush=True)
    finally:
        template.close()
        del os.environ["SIMULATOR_COVERAGE"]
    print("\nplaces in the program (the site and the eight functions that led to it), failed of those reached: " + ", ".join(
        f"{kind} {failed} of {found}" for kind, (found, failed) in coverage(dict.fromkeys([fault[0] for fault in [*faults, *openings]])).items() if found))
    print()
    print(f"{'failed sites of':20}" + "".join(f"{f'{kind} {code}' + ('' if times == 1 else '+'):>14}" for kind, code, times in rows))
    for kind in WEIGHTS:
        cells = "".join(f"{found.get(kind, 0):>13}{' ' if kind in complete else '?'}" for found, complete in rows.values())
        print(f"{name(kind):20}{cells}")
    print(f"+ every site from the n-th on; ? the last site was not reached\n{total} failures, {violations} violations", flush=True)
    return violations


if __name__ == "__main__":
    sys.exit(main())
