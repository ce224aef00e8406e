"""Benchmark of events: the time from a revocation to its notification, in the same process and in another one."""

import json
import os
import time

from host import request_line, serve, spawn


def message(process, buffers, reached):
    """Returns the next message for which a condition holds."""
    buffer = buffers.setdefault(process.pid, [b""])
    while True:
        line, found, rest = buffer[0].partition(b"\n")
        if not found:
            buffer[0] += os.read(process.stdout.fileno(), 65536)
            continue
        buffer[0] = rest
        answer = json.loads(line)
        if reached(answer):
            return answer


def latencies(store, home, count, elsewhere):
    """Returns the milliseconds from the answer to a revocation to its notification."""
    listener, buffers, times = spawn(serve(store), home), {}, []
    os.write(listener.stdin.fileno(), request_line("pool.create", {"name": "shop", "developerProvider": "login.shop"}, id="p"))
    pool = message(listener, buffers, lambda m: m.get("id") == "p")["result"]["poolId"]
    writer = spawn(serve(store), home) if elsewhere else listener
    os.write(listener.stdin.fileno(), request_line("events.subscribe", {"types": ["credentialsRevoked"]}, id="s"))
    message(listener, buffers, lambda m: m.get("id") == "s")
    for number in range(count):
        os.write(writer.stdin.fileno(), request_line("credentials.revoke", {"poolId": pool, "issuedBefore": number + 1}, id=number))
        if elsewhere:
            message(writer, buffers, lambda m: m.get("id") == number)
            began = time.perf_counter()
            message(listener, buffers, lambda m: "method" in m)
            times.append((time.perf_counter() - began) * 1e3)
        else:   # The notification can arrive before the answer.
            first = message(listener, buffers, lambda m: "method" in m or m.get("id") == number)
            began = time.perf_counter()
            message(listener, buffers, lambda m: "method" in m or m.get("id") == number)
            times.append((time.perf_counter() - began) * 1e3 if "id" in first else 0.0)
    for process in {listener, writer}:
        process.stdin.close()
        process.wait()
    return times
