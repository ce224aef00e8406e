"""Benchmarks of sign-up and sign-in by password and code, and of their effect on concurrent requests."""

import os
import subprocess
import time

from host import Sidecar, median, request_line, round_trips, serve, spawn

PASSWORD = "correct Horse 9"


def sign_in(number, address="alice@example.com"):
    return request_line("signIn.withPassword", {"username": address, "password": PASSWORD}, id=number)


def pings_meanwhile(store, home, flight=32):
    """The times of pings in milliseconds: of an idle process, and while `flight` password sign-ins are in progress."""
    process = spawn(serve(store), home)
    idle = [each / 1e3 for each in round_trips(process, 1000)]
    os.write(process.stdin.fileno(), b"".join(sign_in(f"s{number}", f"nobody{number}@example.com") for number in range(flight)))
    read, rest, done, busy = process.stdout.fileno(), b"", 0, []
    while done < flight:
        began = time.perf_counter()
        os.write(process.stdin.fileno(), request_line("system.ping", id="p"))
        while True:
            *lines, rest = (rest + os.read(read, 65536)).split(b"\n")
            done += sum(b'"id":"s' in line for line in lines)
            if any(b'"id":"p"' in line for line in lines):
                break
        busy.append((time.perf_counter() - began) * 1e3)
        time.sleep(.002)
    process.stdin.close()
    process.wait()
    return idle, busy


def sign_ins(store, home, cpu, count):
    """Password sign-ins per second of a process on one core."""
    process = spawn(serve(store), home, cpu)
    read = process.stdout.fileno()

    def ask(lines):
        process.stdin.write(b"".join(lines))
        output = b""
        while output.count(b"\n") < len(lines):
            output += os.read(read, 65536)
        return output

    ask([request_line("account.create", {"username": "alice@example.com", "password": PASSWORD}, id=0)])
    ask([sign_in(0)])
    began = time.perf_counter()
    output = ask([sign_in(number) for number in range(count)])
    taken = time.perf_counter() - began
    process.stdin.close()
    process.wait()
    if output.count(b'"state":"completed"') != count:
        raise SystemExit(f"a sign-in failed: {output[:300]!r}")
    return count / taken


def hashes(program, cpu, seconds):
    """scrypt hashes per second on one core, at the priority that Mintmark uses for hashing."""
    def pin():
        os.sched_setaffinity(0, {cpu})
        os.nice(10)
    return float(subprocess.run([program, str(seconds)], capture_output=True, text=True, check=True, preexec_fn=pin).stdout)


def sign_ups(store, count):
    """Sign-ups per second on a testing store: the start with its message, and the code. The time to read the messages is excluded."""
    with Sidecar("--testing", store=store, checked=False) as sidecar:
        began = time.perf_counter()
        sidecar.write(b"".join(request_line("signUp.start", {"username": f"user{number}@example.com"}, id=number) for number in range(count)))
        started = [sidecar.receive(timeout=120) for _ in range(count)]
        taken = time.perf_counter() - began
        tokens = {each["id"]: each["result"]["continuationToken"] for each in started}
        codes = {}
        while messages := sidecar.call("test.outbox", {"clear": True}, timeout=60)["messages"]:
            codes.update((each["to"], each["code"]) for each in messages)
        lines = [
            request_line("signUp.submitCode", {"continuationToken": tokens[number], "code": codes[f"user{number}@example.com"]}, id=number)
            for number in range(count)]
        began = time.perf_counter()
        sidecar.write(b"".join(lines))
        done = [sidecar.receive(timeout=120) for _ in range(count)]
        taken += time.perf_counter() - began
        if any(each["result"]["state"] != "completed" for each in done):
            raise SystemExit("a sign-up failed")
        return count / taken


def percentile(values, share):
    return sorted(values)[int(len(values) * share)]


def rows(benchmarks, Row):
    """The rows of the table about sign-up and sign-in."""
    quick, home, path = benchmarks.quick, benchmarks.home, benchmarks.path
    idle, busy = pings_meanwhile(path("pings.db"), home)
    p99 = percentile(busy, .99)
    yield Row("ping p99, 32 password sign-ins in flight", f"{p99:.2f} ms", f"idle p99 {percentile(idle, .99):.2f} ms", "<= 5 ms", p99 <= 5)

    cpu = max(os.sched_getaffinity(0))
    ours, limit = [], []
    for turn in range(1 if quick else 5):
        limit.append(hashes(benchmarks.scrypt, cpu, 3 if quick else 10))
        ours.append(sign_ins(path(f"sign-ins-{turn}.db"), home, cpu, 8 if quick else 24))
    a, b = median(ours), median(limit)
    yield Row("password sign-ins, one core", f"{a:.2f}/s", f"OpenSSL's scrypt, one core {b:.2f}/s", f">= 90%: {a / b:.0%}", a >= .9 * b)

    ours, limit = [], []
    for turn in range(1 if quick else 3):
        limit.append(benchmarks.one_row_transactions(f"people-{turn}"))
        ours.append(sign_ups(path(f"sign-ups-{turn}.db"), 1000 if quick else 5000))
    a, b = median(ours), median(limit)
    yield Row("sign-ups with a code, on disk", f"{a:,.0f}/s", f"sqlite3 one-row transactions {b:,.0f}/s", f">= 1/2: {a / b:.2f}", a >= .5 * b)
