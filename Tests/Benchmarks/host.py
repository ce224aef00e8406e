"""Functions that benchmark a process: spawning, single round trips and long pipelines."""

import json
import os
import random
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "EndToEnd"))
from postgres import MASTER_KEY, Server  # noqa: E402,F401
from sidecar import Sidecar, binary, clean_environment, request_line  # noqa: E402,F401

PING = b'{"jsonrpc":"2.0","id":12345,"method":"system.ping"}\n'
POOL = "local-1:00000000-1111-4222-8333-444444444444"


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def serve(store):
    return [binary(), "serve", "--store", store]


def spawn(command, home, cpu=None, environment=None, **streams):
    pin = {} if cpu is None else {"preexec_fn": lambda: os.sched_setaffinity(0, {cpu})}
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, **streams}
    environment = {**clean_environment(home), **(environment or {}), **({"MINTMARK_MASTER_KEY": MASTER_KEY} if any("postgres://" in word for word in command) else {})}
    return subprocess.Popen(command, stderr=subprocess.DEVNULL, bufsize=0, env=environment, **streams, **pin)


def first_answer(command, home):
    """The time from spawning a process to its first line, in milliseconds."""
    began = time.perf_counter()
    process = spawn(command, home)
    process.stdin.write(PING)
    line = process.stdout.readline()
    taken = time.perf_counter() - began
    process.stdin.close()
    process.wait()
    if not line:
        sys.exit(f"{command[0]} answered nothing")
    return taken * 1e3


def round_trips(process, count):
    """The times of sequential pings, in microseconds."""
    write, read, times = process.stdin.fileno(), process.stdout.fileno(), []
    for _ in range(count):
        began = time.perf_counter_ns()
        os.write(write, PING)
        answer = b""
        while not answer.endswith(b"\n"):
            answer += os.read(read, 65536)
        times.append((time.perf_counter_ns() - began) / 1e3)
    return times


def pump(store, lines, count, work, home, environment=None):
    """Responses per second of a process whose input is a file of requests, including its start, and the output. Every request must succeed."""
    path = os.path.join(work, "requests")
    with open(path, "wb") as file:
        file.writelines(lines)
    with open(path, "rb") as file:
        began = time.perf_counter()
        process = spawn(serve(store), home, stdin=file, environment=environment)
        output = process.stdout.read()
        process.wait()
        taken = time.perf_counter() - began
    os.remove(path)
    good = output.count(b'"result":')
    if good != count or output.count(b"\n") != count:
        sys.exit(f"{good} results for {count} requests: {output[:300]!r}")
    return count / taken, output


def one_at_a_time(store, request, home, count=200, cpu=None):
    """The median time of a call in milliseconds, each sent after the response to the one before, by a process on the processor `cpu`."""
    process = spawn(serve(store), home, cpu)
    write, read, times = process.stdin.fileno(), process.stdout.fileno(), []
    for _ in range(count):
        began = time.perf_counter()
        os.write(write, request)
        answer = b""
        while not answer.endswith(b"\n"):
            answer += os.read(read, 65536)
        times.append((time.perf_counter() - began) * 1e3)
    if b'"result":' not in answer:
        sys.exit(f"no result: {answer[:300]!r}")
    process.stdin.close()
    process.wait()
    return median(times)


def mints(users):
    """Requests that mint a token for each of the users."""
    return (b'{"jsonrpc":"2.0","id":%d,"method":"token.mintForDeveloper","params":{"poolId":"%s","logins":{"login.shop":"user-%d"}}}\n'
            % (i, POOL.encode(), user) for i, user in enumerate(users))


def fill(store, users, work, home, size=100_000):
    """Creates a store with a pool of `users` users."""
    create = request_line("pool.create", {"name": "shop", "poolId": POOL, "developerProvider": "login.shop", "allowUnauthenticated": True}, id=1)
    pump(store, [create], 1, work, home)
    for begin in range(0, users, size):
        block = range(begin, min(begin + size, users))
        pump(store, mints(block), len(block), work, home)


def lookups(users):
    """Requests that look up each of the users."""
    return (request_line("identity.lookupDeveloper", {"poolId": POOL, "developerUserIdentifier": f"user-{user}"}, id=i) for i, user in enumerate(users))


def guests(count):
    """Requests that create `count` guests."""
    return (request_line("identity.resolve", {"poolId": POOL}, id=i) for i in range(count))


def links(identities):
    """Requests that link a login to each of the guests."""
    return (
        request_line("token.mintForDeveloper", {"poolId": POOL, "identityId": identity, "logins": {"login.shop": f"was-{identity}"}}, id=i)
        for i, identity in enumerate(identities))


def known(count, users, seed=1):
    """`count` random numbers of existing users."""
    noise = random.Random(seed)
    return [noise.randrange(users) for _ in range(count)]


def openssl_speed(seconds):
    """The (signatures, verifications) of ECDSA P-256 per second on all processors."""
    output = subprocess.run(["openssl", "speed", "-seconds", str(seconds), "-multi", str(os.cpu_count()), "ecdsap256"], capture_output=True, text=True).stdout
    found = re.search(r"nistp256\)\s+\S+\s+\S+\s+([\d.]+)\s+([\d.]+)", output)
    return float(found[1]), float(found[2])


def results(output, member):
    """The member `member` of every result."""
    return [json.loads(line)["result"][member] for line in output.splitlines()]
