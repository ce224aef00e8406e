"""The rows about many processes on one store: what 1, 2, 4 and 8 of them reach together, compared with the database or OpenSSL alone."""

import os
import re
import subprocess
import sys
import time

from host import POOL, Server, fill, known, median, mints, openssl_speed, request_line, serve, spawn

PROCESSES = (1, 2, 4, 8)
USERS = 1000


def together(store, requests, count, home, work):
    """Requests per second of `len(requests)` processes on one store, without their start. Every request must succeed."""
    processes, files = [], []
    for number, lines in enumerate(requests):
        path = os.path.join(work, f"scaling-{number}")
        with open(path, "wb") as file:
            file.writelines(lines)
        files.append(path)
        process = spawn(serve(store), home)
        process.stdin.write(request_line("pool.get", {"poolId": POOL}, id=0))
        process.stdout.readline()
        processes.append(process)
    # A feeder and a counter for each process, so that this program does not become the limit.
    began = time.perf_counter()
    feeders = [subprocess.Popen(["cat", path], stdout=process.stdin) for path, process in zip(files, processes)]
    counters = [subprocess.Popen(["grep", "-c", '"result":'], stdin=process.stdout, stdout=subprocess.PIPE) for process in processes]
    for process in processes:
        process.stdin.close()
        process.stdout.close()
    good = [int(counter.communicate()[0]) for counter in counters]
    taken = time.perf_counter() - began
    for waited in (*feeders, *processes):
        waited.wait()
    for path in files:
        os.remove(path)
    if sum(good) != count * len(requests):
        sys.exit(f"{sum(good)} results for {count * len(requests)} requests")
    return sum(good) / taken


def creations(count):
    return [request_line("identity.resolve", {"poolId": POOL}, id=number) for number in range(count)]


def inserts(program, path, processes, seconds):
    """One-row transactions per second of that many programs with the sqlite3 C API on one file."""
    running = [subprocess.Popen([program, path, str(seconds)], stdout=subprocess.PIPE, text=True) for _ in range(processes)]
    return sum(float(each.communicate()[0]) for each in running)


def pgbench(server, database, script, clients, seconds):
    """Transactions per second of pgbench with that many connections."""
    output = subprocess.run(
        [pgbench_program(), "-n", "-M", "prepared", "-h", server.folder, "-U", "mintmark", "-f", script, "-c", str(clients), "-j", str(min(clients, 2)), "-T", str(seconds), database],
        capture_output=True, text=True, check=True).stdout
    return float(re.search(r"tps = ([\d.]+)", output)[1])


def pgbench_program():
    folders = sorted(os.listdir("/usr/lib/postgresql"), key=int)
    return f"/usr/lib/postgresql/{folders[-1]}/bin/pgbench"


def rows(benchmarks, Row):
    """Minting reads only and is limited by signatures; creating an identity writes one row and is limited by the transactions of the database."""
    quick, home, work = benchmarks.quick, benchmarks.home, benchmarks.work
    turns, seconds = (1, 1) if quick else (3, 2)
    server = Server()
    script = os.path.join(work, "insert.sql")
    with open(script, "w") as file:
        file.write("INSERT INTO limit_of_rows VALUES (gen_random_uuid(), 1, 1, 'x');\n")
    try:
        for name in ("SQLite", "PostgreSQL"):
            yield from scaling(name, benchmarks, server, script, turns, seconds, Row)
    finally:
        server.close()


def scaling(name, benchmarks, server, script, turns, seconds, Row):
    home, work, database = benchmarks.home, benchmarks.work, None
    if name == "PostgreSQL":
        store = server.uri(server.database())
        # A database with a table of another program is not taken for a store.
        database = server.database()
        server.sql("CREATE TABLE limit_of_rows (id uuid PRIMARY KEY, a bigint, b bigint, c text)", database)
    else:
        store = benchmarks.path("scaling.db")
    fill(store, USERS, work, home)
    mint_count, create_count = (5_000, 1_000) if benchmarks.quick else (40_000, 10_000)
    first = {}
    for processes in PROCESSES:
        mint, create, sign, insert = [], [], [], []
        for turn in range(turns):
            each = mint_count // processes
            sign.append(openssl_speed(seconds)[0])
            mint.append(together(store, [list(mints(known(each, USERS, turn * 8 + number))) for number in range(processes)], each, home, work))
            each = create_count // processes
            insert.append(
                pgbench(server, database, script, processes, seconds) if database else inserts(benchmarks.inserts, benchmarks.path("scaling-inserts.db"), processes, seconds))
            create.append(together(store, [creations(each)] * processes, each, home, work))
        for what, ours, limit, beside in (("mint", mint, sign, "openssl speed -multi signs"), ("create identities", create, insert, "one-row transactions of as many programs")):
            a, b = median(ours), median(limit)
            base = first.setdefault(what, a)
            yield Row(f"{what}, {name}, {processes} processes", f"{a:,.0f}/s", f"{beside} {b:,.0f}/s", f"{a / b:.0%} of it; {a / base:.2f}x one process", True)
