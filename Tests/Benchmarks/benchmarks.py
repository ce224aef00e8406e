"""The rows of the table. Each row measures Mintmark and its limit alternately and compares the medians."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

import credentials
import passkeys
import people
import events
import exchanges
import huge
import scaling
import sidecars
from host import (
    POOL, Server, Sidecar, binary, fill, first_answer, guests, known, links, lookups, median, mints, one_at_a_time, openssl_speed, pump, request_line, results,
    round_trips, serve, spawn)


class Row:
    """One line of the table: the measurement, its limit, and whether the limit is met."""

    def __init__(self, what, measured, limit, reach, holds):
        self.cells, self.holds = (what, measured, limit, reach, "holds" if holds else "FALLS SHORT"), holds


class Benchmarks:
    def __init__(self, work, quick):
        self.quick = quick
        self.work = tempfile.mkdtemp(dir=work)     # on the disk of the checkout, not in a memory file system
        self.home = os.path.join(self.work, "home")
        os.mkdir(self.home)
        self.loop, self.inserts, self.scrypt, self.allocations = (os.path.join(work, name) for name in ("loop", "inserts", "scrypt", "allocations.so"))

    def path(self, name):
        return os.path.join(self.work, name)

    def spawn_to_first_answer(self):
        ours, empty = [], []
        for _ in range(11 if self.quick else 41):
            ours.append(first_answer(serve(":memory:"), self.home))
            empty.append(first_answer([self.loop], self.home))
        a, b = median(ours[1:]), median(empty[1:])
        yield Row("spawn to first answer", f"{a:.1f} ms", f"empty Swift loop {b:.1f} ms", f"<= 8 ms, <= 2x: {a / b:.2f}x", a <= 8 and a <= 2 * b)

    def round_trip(self):
        cpus = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cpus[0]})
        try:
            for what, cpu, most in (("round trip, two cores", cpus[-1], 1.2), ("round trip, one core", cpus[0], 1.8)):
                ours, cat = spawn(serve(":memory:"), self.home, cpu), spawn(["cat"], self.home, cpu)
                a, b = [], []
                for turn in range(3 if self.quick else 11):
                    times = round_trips(ours, 1000), round_trips(cat, 1000)
                    if turn:
                        a, b = a + times[0], b + times[1]
                for process in (ours, cat):
                    process.stdin.close()
                    process.wait()
                a, b = median(a), median(b)
                yield Row(what, f"{a:.1f} us", f"cat {b:.1f} us", f"<= {most}x: {a / b:.2f}x", a <= most * b)
        finally:
            os.sched_setaffinity(0, cpus)

    def mint_and_verify(self):
        users, count, turns = 1000, 20_000 if self.quick else 100_000, 1 if self.quick else 5
        store = self.path("mint.db")
        fill(store, users, self.work, self.home)
        minted = results(pump(store, mints(known(count, users)), count, self.work, self.home)[1], "token")
        mint, verify, again, sign, check = [], [], [], [], []
        # Each token once, and each of a thousand tokens many times.
        verifications = [request_line("token.verify", {"token": token, "audience": POOL}, id=i) for i, token in enumerate(minted)]
        repetitions = [verifications[user] for user in known(count, users)]
        for turn in range(turns):
            speeds = openssl_speed(1 if self.quick else 2)
            sign.append(speeds[0])
            check.append(speeds[1])
            mint.append(pump(store, mints(known(count, users, turn)), count, self.work, self.home)[0])
            verify.append(pump(store, verifications, count, self.work, self.home)[0])
            again.append(pump(store, repetitions, count, self.work, self.home)[0])
        for what, ours, limit, name, least in (
                ("mint, known user, pipelined", mint, sign, "signs", .6), ("verify, pipelined, each token once", verify, check, "verifies", .7),
                ("verify, pipelined, tokens seen before", again, check, "verifies", 1.5)):
            a, b = median(ours), median(limit)
            yield Row(what, f"{a:,.0f}/s", f"openssl speed -multi {name} {b:,.0f}/s", f">= {least:.0%}: {a / b:.0%}", a >= least * b)

    def exchange(self):
        store, count = self.path("exchange.db"), 10_000 if self.quick else 50_000
        request = exchanges.prepare(store, self.work)
        ours, check = [], []
        for _ in range(1 if self.quick else 5):
            seconds = 1 if self.quick else 2
            check.append(1 / (1 / openssl_speed(seconds)[1] + 1 / exchanges.sealings(seconds)))
            ours.append(exchanges.exchanges(store, request, count, self.work, self.home))
        a, b = median(ours), median(check)
        yield Row("exchange of a foreign token, pipelined", f"{a:,.0f}/s", f"openssl speed -multi verifies and seals {b:,.0f}/s", f">= 60%: {a / b:.0%}", a >= .6 * b)
        c = one_at_a_time(store, request, self.home)
        yield Row("exchange of a foreign token, alone", f"{c:.2f} ms", "", "<= 5 ms", c <= 5)

    def credentials(self):
        cpus = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, {cpus[0]})
        try:
            store, turns = self.path("credentials.db"), 3 if self.quick else 7
            request = credentials.prepare(store)
            a, b = credentials.one_call(store, request, self.home, turns, cpus[0])
            yield Row("credentials.get, one core", f"{a:.0f} us", f"system.ping {b:.1f} us", "<= 60 us", a <= 60)
            # Each way wakes an idle processor, which takes longer than the call.
            a, b = credentials.one_call(store, request, self.home, turns, cpus[-1])
            yield Row("credentials.get, two cores", f"{a:.0f} us", f"system.ping {b:.1f} us", f"<= 100 us more: {a - b:.0f} us", a - b <= 100)
        finally:
            os.sched_setaffinity(0, cpus)
        crypto, sqlite, own = credentials.new_user(self.path("users.db"), self.allocations, self.work, self.home)
        yield Row("memory requested for a new user", f"{own[0] / 1e3:.1f} kB", f"{own[1]:.0f} blocks", "<= 10 kB", own[0] <= 10_000)
        # Debian's SQLite is built without lookaside memory: each cursor is a block.
        size, blocks = crypto[0] + sqlite[0], crypto[1] + sqlite[1]
        yield Row("... by OpenSSL and SQLite", f"{size / 1e3:.1f} kB", f"{blocks:.0f} blocks", "<= 30 kB", size <= 30_000)

    def events(self):
        count = 30 if self.quick else 200
        server = Server()
        try:
            for kind, store, most in (("SQLite", self.path("events.db"), 50), ("PostgreSQL", server.uri(server.database()), 1_000)):
                for elsewhere in (False, True):
                    times = sorted(events.latencies(store, self.home, count, elsewhere))
                    a, worst = median(times), times[int(len(times) * .99)]
                    place = "another process" if elsewhere else "the same process"
                    yield Row(f"revocation to subscriber, {place}, {kind}", f"{a:.1f} ms", f"99 of 100: {worst:.1f} ms", f"<= {most} ms", worst <= most)
        finally:
            server.close()

    def one_row_transactions(self, name):
        """Transactions per second of the sqlite3 C API on this disk."""
        output = subprocess.run([self.inserts, self.path(f"{name}.db"), "1" if self.quick else "3"], capture_output=True, text=True, check=True)
        return float(output.stdout)

    def people(self):
        yield from people.rows(self, Row)

    def passkeys(self):
        yield from passkeys.rows(self, Row)

    def scaling(self):
        yield from scaling.rows(self, Row)

    def sidecars(self):
        yield from sidecars.rows(self, Row)

    def huge(self):
        yield from huge.rows(self, Row)

    def creating(self):
        turns, count = (1, 5_000) if self.quick else (5, 20_000)
        ours, limit = [], []
        for turn in range(turns):
            limit.append(self.one_row_transactions(f"inserts-{turn}"))
            store = self.path(f"create-{turn}.db")
            pump(store, [request_line("pool.create", {"name": "shop", "poolId": POOL, "allowUnauthenticated": True}, id=1)], 1, self.work, self.home)
            ours.append(pump(store, (request_line("identity.resolve", {"poolId": POOL}, id=i) for i in range(count)), count, self.work, self.home)[0])
        a, b = median(ours), median(limit)
        yield Row("identity.resolve creating, on disk", f"{a:,.0f}/s", f"sqlite3 one-row transactions {b:,.0f}/s", f">= 2x: {a / b:.1f}x", a >= 2 * b)

    def many_identities(self):
        yield from self.few_and_many("", self.path("small.db"), self.path("large.db"))

    def many_identities_on_postgres(self):
        # The durability of writes is not part of the measurement.
        server = Server("fsync=off", "full_page_writes=off", "shared_buffers=512MB")
        try:
            yield from self.few_and_many(", PostgreSQL", *(server.uri(server.database()) for _ in range(2)))
        finally:
            server.close()

    def few_and_many(self, where, small, large):
        """The time of minting, looking up and linking with many identities, compared to the time with a thousand."""
        many, count, turns = (50_000, 5_000, 1) if self.quick else (1_000_000, 50_000, 5)
        fill(small, 1000, self.work, self.home)
        fill(large, many, self.work, self.home)
        times = {}
        for turn in range(turns):
            for store, users in ((small, 1000), (large, many)):
                drawn = known(count, users, turn)
                mint, _ = self.pumped(store, mints(drawn), count)
                lookup, _ = self.pumped(store, lookups(drawn), count)
                made = results(self.pumped(store, guests(1000), 1000)[1], "identityId")
                link, _ = self.pumped(store, links(made), len(made))
                for what, time in (("mint", mint), ("look up", lookup), ("link", link)):
                    times.setdefault(what, ([], []))[store == large].append(time)
        for what, (few, lots) in times.items():
            a, b = median(lots), median(few)
            # A lookup descends two trees, and each page of a store of 600 MB is a cache miss: SQLite alone also takes 2.2 times as
            # long, even with all pages in its cache. Minting descends one tree.
            most = {"look up": 3, "mint": 1.6}.get(what, 1.3)
            yield Row(f"{what}, {many:,} identities{where}", f"{a:.1f} us", f"1,000 identities {b:.1f} us", f"<= {most}x: {a / b:.2f}x", a <= most * b)

    def pumped(self, store, lines, count):
        """The time of one request in microseconds, and the output."""
        rate, output = pump(store, lines, count, self.work, self.home)
        return 1e6 / rate, output

    def memory(self):
        each, blocks = (10_000, 10) if self.quick else (50_000, 20)
        with Sidecar(store=self.path("memory.db"), checked=False) as sidecar:
            sidecar.call("system.ping")
            idle = sidecar.memory_kilobytes() / 1000
            sidecar.call("pool.create", {"name": "shop", "poolId": POOL, "developerProvider": "login.shop"})
            token = sidecar.call("token.mintForDeveloper", {"poolId": POOL, "logins": {"login.shop": "user-0"}})["token"]
            verify = request_line("token.verify", {"token": token, "audience": POOL}, id=1)
            sizes = []
            for block in range(blocks):
                third = list(mints(known(each // 2, 1000, block))) + [verify] * (each // 4) + [request_line("system.ping", id=2)] * (each // 4)
                sidecar.write(b"".join(third))
                sidecar.lines(len(third), timeout=300)
                sizes.append(sidecar.memory_kilobytes() / 1000)
        yield Row("memory, idle", f"{idle:.1f} MB", "", "<= 13.5 MB", idle <= 13.5)
        # In the first half, the arenas of the threads fill, one after the other. The allocator grows in steps of up to 0.5 MB.
        tenth, half, end = (sizes[max(blocks * part // 10 - 1, 0)] for part in (1, 5, 10))
        yield Row(
            f"memory after {each * blocks:,} requests", f"{end:.1f} MB", f"after a tenth {tenth:.1f}, a half {half:.1f} MB", "no growth",
            end <= half + .5 and end <= tenth + 1.5)

    def size(self):
        stripped = self.path("stripped")
        subprocess.run(["strip", "-o", stripped, binary()], check=True)
        megabytes = os.path.getsize(stripped) / 1e6
        yield Row("binary, stripped", f"{megabytes:.1f} MB", "", "<= 16.2 MB", megabytes <= 16.2)


ROWS = {
    "spawn": Benchmarks.spawn_to_first_answer, "roundtrip": Benchmarks.round_trip, "mint": Benchmarks.mint_and_verify, "exchange": Benchmarks.exchange, "credentials": Benchmarks.credentials, "events": Benchmarks.events, "create": Benchmarks.creating, "people": Benchmarks.people,
    "passkeys": Benchmarks.passkeys,
    "many": Benchmarks.many_identities,
    "postgres": Benchmarks.many_identities_on_postgres, "scaling": Benchmarks.scaling, "sidecars": Benchmarks.sidecars, "memory": Benchmarks.memory, "size": Benchmarks.size,
}

# Rows that run only if they are named: they take half an hour and 20 GB.
NAMED = {"huge": Benchmarks.huge}


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--work", required=True, help=argparse.SUPPRESS)
    options.add_argument("--quick", action="store_true", help="smaller numbers, rougher figures")
    options.add_argument("rows", nargs="*", choices=[[], *ROWS, *NAMED], help="only these rows")
    options = options.parse_args()
    benchmarks, holds = Benchmarks(options.work, options.quick), True
    form = "{:<44} {:>12}   {:<46} {:<26} {}"
    print(form.format("what", "measured", "limit", "reach", ""), flush=True)
    try:
        for name in options.rows or ROWS:
            for row in {**ROWS, **NAMED}[name](benchmarks):
                print(form.format(*row.cells), flush=True)
                holds = holds and row.holds
    finally:
        shutil.rmtree(benchmarks.work, ignore_errors=True)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
