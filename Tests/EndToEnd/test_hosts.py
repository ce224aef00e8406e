"""Misbehaving hosts, and the shutdown of a process."""

import fcntl
import json
import os
import select
import signal
import subprocess
import threading
import time

import stores
from endtoend import EndToEnd, make_pool, mint, only
from sidecar import activity, binary, clean_environment, request_line, unread

PING = b'{"jsonrpc":"2.0","id":%d,"method":"system.ping"}\n'
MEMORY_LIMIT = 60 * 1024  # in kilobytes; a misbehaving host must not make the process exceed it
# The same with responses of 900 kB: 26 MB before the first request, 16 MiB of unread responses, and buffers of up to 2 MiB in each thread that
# writes one. 50 to 67 MB were measured; without a limit it would be gigabytes.
LARGE_RESPONSES_LIMIT = 80 * 1024


class Hosts(EndToEnd):
    @only("sqlite")
    def test_host_that_never_reads_stderr(self):
        """Log lines are dropped and counted, and requests are not delayed."""
        read, write = os.pipe()
        self.addCleanup(os.close, read)
        sidecar = self.spawn("--log-level", "trace", stderr=write)
        os.close(write)
        sidecar.write(b"".join((PING % i) + b"{broken\n" for i in range(50_000)))
        self.assertEqual(len(sidecar.lines(100_000)), 100_000)
        self.works(sidecar)
        self.assertLess(sidecar.memory_kilobytes(), MEMORY_LIMIT)
        self.assertEqual(sidecar.finish(), 0)

    @only("sqlite")
    def test_host_that_closes_stderr(self):
        read, write = os.pipe()
        sidecar = self.spawn("--log-level", "trace", stderr=write)
        os.close(write)
        os.close(read)
        for _ in range(100):
            self.assertEqual(sidecar.raw(b"{broken")["error"]["code"], -32700)
        self.works(sidecar)
        self.assertEqual(sidecar.finish(), 0)

    def test_host_that_closes_input_during_waiting_call(self):
        """A host that only closes the input gets every response. If the output is closed too, the process exits."""
        patient, other = (self.spawn(testing=True, store=self.path("store.db")) for _ in range(2))
        asked = patient.send("test.outbox", {"waitSeconds": 60})
        patient.end_input()
        other.call("signUp.start", {"username": "alice@example.com"})
        self.assertEqual(len(patient.answer(asked)["messages"]), 1)
        self.assertEqual(patient.wait(60), 0)
        gone = self.spawn(testing=True, reading=False)
        gone.send("test.outbox", {"waitSeconds": 60})
        gone.end_input()
        gone.process.stdout.close()
        self.assertEqual(gone.wait(40), 0)   # Requests in flight have five seconds to complete.

    def has_stopped_reading(self, sidecar):
        """Returns whether the process rests although there is something to read."""
        before = activity(sidecar.process.pid)
        time.sleep(0.01)
        return before is not None and unread(sidecar.process.stdin) > 0 and before == activity(sidecar.process.pid)

    def stops_reading(self, sidecar):
        deadline = time.monotonic() + 120
        while not self.has_stopped_reading(sidecar):
            self.assertLess(time.monotonic(), deadline, "it reads on without end")

    def fill(self, sidecar, request):
        """Writes requests until the process no longer reads, sets `is_full`, and writes the rest of the last request. Returns the numbers of
        requests and bytes."""
        descriptor = sidecar.process.stdin.fileno()
        flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_NONBLOCK)
        number, written, rest = 0, 0, b""
        while written < 1 << 30:
            if not select.select([], [descriptor], [], 0.05)[1]:
                if self.has_stopped_reading(sidecar):
                    break
                continue
            if not rest:
                rest = request(number)
                number += 1
            count = os.write(descriptor, rest)
            rest, written = rest[count:], written + count
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags)
        self.is_full.set()
        sidecar.write(rest)
        return number, written

    @only("sqlite")
    def test_host_that_never_reads_stdout(self):
        """The process stops reading at a limit and its memory stays small. Once the host reads, every response arrives."""
        sidecar = self.spawn(reading=False)
        block = 200
        filler = threading.Thread(target=lambda: setattr(self, "filled", self.fill(sidecar, lambda n: b"".join(PING % (n * block + i) for i in range(block)))))
        self.is_full = threading.Event()
        filler.start()
        self.assertTrue(self.is_full.wait(120), "it reads on without end")
        self.assertLess(sidecar.memory_kilobytes(), MEMORY_LIMIT)
        sidecar.start_reading()
        filler.join(60)
        number, written = self.filled
        self.assertLess(written, 64 << 20, "it read on without end")
        lines = sidecar.lines(number * block)
        self.assertEqual({json.loads(line)["id"] for line in lines}, set(range(number * block)))
        self.works(sidecar)
        self.assertEqual(sidecar.finish(), 0)

    @only("sqlite")
    def test_large_unread_responses_are_limited(self):
        """At most 16 MiB of responses are buffered, independent of their size."""
        sidecar = self.spawn(testing=True, reading=False)
        line = b'{"jsonrpc":"2.0","id":%d,"method":"rpc.discover"' + b" " * 100_000 + b"}\n"   # Longer lines fill the process with fewer responses.
        filler = threading.Thread(target=lambda: setattr(self, "filled", self.fill(sidecar, lambda n: line % n)))
        self.is_full = threading.Event()
        filler.start()
        self.assertTrue(self.is_full.wait(120), "it reads on without end")
        self.assertLess(sidecar.memory_kilobytes(), LARGE_RESPONSES_LIMIT)
        sidecar.start_reading()
        filler.join(60)
        number, _ = self.filled
        self.assertEqual(len(sidecar.lines(number)), number)
        self.works(sidecar)

    @only("sqlite")
    def test_host_that_writes_100000_requests_before_reading(self):
        """Above the limit, the host must read concurrently. The memory does not grow and no response is lost."""
        sidecar = self.spawn(store=self.path("store.db"), reading=False)
        pool_line = request_line("pool.create", {"name": "shop", "developerProvider": "login.shop", "poolId": "local-1:01"}, id="pool")
        burst = pool_line + b"".join(
            request_line("token.mintForDeveloper", {"poolId": "local-1:01", "logins": {"login.shop": f"user-{i % 100}"}}, id=i) for i in range(100_000))
        writer = threading.Thread(target=sidecar.write, args=(burst,))
        writer.start()
        self.stops_reading(sidecar)
        self.assertTrue(writer.is_alive(), "it took 100,000 requests without a limit")
        self.assertLess(sidecar.memory_kilobytes(), MEMORY_LIMIT)
        sidecar.start_reading()
        lines = sidecar.lines(100_001, timeout=120)
        writer.join(60)
        self.assertEqual({json.loads(line)["id"] for line in lines}, {"pool", *range(100_000)})
        self.assertLess(sidecar.memory_kilobytes(), MEMORY_LIMIT)
        self.works(sidecar)

    def test_20000_new_users_use_bounded_memory(self):
        """The state that each change leaves in the process is removed by later changes. On PostgreSQL 5,000 users."""
        sidecar = self.spawn()
        count = 20_000 if stores.current.kind == "sqlite" else 5_000
        pool = make_pool(sidecar)["poolId"]
        sidecar.write(b"".join(
            request_line("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": f"user-{i}"}}, id=i) for i in range(count)))
        answers = sidecar.lines(count, timeout=120)
        self.assertEqual(len({json.loads(line)["result"]["identityId"] for line in answers}), count)
        self.works(sidecar)
        self.assertLess(sidecar.memory_kilobytes(), MEMORY_LIMIT)
        self.assertEqual(sidecar.finish(), 0)

    @only("sqlite")
    def test_host_that_writes_byte_by_byte(self):
        sidecar = self.spawn()
        for byte in PING % 1:
            sidecar.write(bytes([byte]))
        self.assertEqual(sidecar.receive()["id"], 1)

    @only("sqlite")
    def test_host_that_closes_stdout(self):
        """A closed standard output causes a shutdown, not a crash."""
        sidecar = self.spawn(reading=False)
        sidecar.process.stdout.close()
        for i in range(100):
            try:
                sidecar.write(PING % i)
            except BrokenPipeError:
                break
            time.sleep(0.01)
        self.assertGreaterEqual(sidecar.wait(), 0, "killed by a signal")

    def test_end_of_input_completes_pending_requests(self):
        sidecar = self.spawn(store=self.path("store.db"))
        pool = make_pool(sidecar)["poolId"]
        sidecar.write(b"".join(request_line("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": f"user-{i}"}}, id=i) for i in range(2000)))
        sidecar.end_input()
        lines = sidecar.lines(1 << 60)
        self.assertEqual({json.loads(line)["id"] for line in lines if b'"result"' in line}, set(range(2000)))
        self.assertEqual(sidecar.wait(), 0)

    @only("sqlite")
    def test_immediate_end_of_input_exits_with_0(self):
        sidecar = self.spawn()
        self.assertEqual(sidecar.finish(), 0)

    def test_termination_signals_complete_or_reject_pending_requests(self):
        """Pending requests complete or fail with `shuttingDown`, and the process exits by itself."""
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number.name):
                sidecar = self.spawn(store=self.path(f"{number}.db"))
                pool = make_pool(sidecar)["poolId"]
                sidecar.write(b"".join(request_line("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": f"user-{i}"}}, id=i) for i in range(2000)))
                first = sidecar.lines(100)
                sidecar.signal(number)
                status = sidecar.wait(60)
                answers = [json.loads(line) for line in first + sidecar.lines(1 << 60)]
                self.assertGreaterEqual(status, 0, "killed by the signal")
                self.assertEqual(len({a["id"] for a in answers}), len(answers))
                kept = [a for a in answers if "result" in a]
                self.assertGreaterEqual(len(kept), 100)
                for answer in answers:
                    self.assertTrue("result" in answer or answer["error"]["data"]["type"] == "shuttingDown", answer)
                again = self.spawn(store=self.path(f"{number}.db"))
                for answer in kept[::50]:
                    self.assertFalse(mint(again, pool, f"user-{answer['id']}")["isNewIdentity"])

    @only("sqlite")
    def test_sigterm_ends_idle_process(self):
        """It does not wait for the time that requests in flight would have."""
        sidecar = self.spawn("--drain", "600")
        self.works(sidecar)
        sidecar.signal()
        self.assertEqual(sidecar.wait(60), 0)

    @only("sqlite")
    def test_parent_exit_ends_process(self):
        """`--parent` ends the process when the parent exits, even if its input stays open."""
        parent = subprocess.Popen(["sleep", "1000"])
        sidecar = self.spawn("--parent", str(parent.pid))
        self.works(sidecar)
        parent.kill()
        parent.wait()
        self.assertGreaterEqual(sidecar.wait(), 0)

    @only("sqlite")
    def test_parent_that_has_already_exited_ends_process(self):
        parent = subprocess.Popen(["true"])
        parent.wait()
        sidecar = self.spawn("--parent", str(parent.pid))
        self.assertGreaterEqual(sidecar.wait(), 0)

    def closed(self, redirect, input):
        """Runs the binary from a shell that closes descriptors."""
        return subprocess.run(["bash", "-c", f'exec "$0" serve --store "$1" {redirect}', binary(), self.path("store.db")],
                              input=input, capture_output=True, timeout=30, env=clean_environment(self.folder))

    @only("sqlite")
    def test_missing_standard_descriptors_are_not_used_for_database(self):
        """If any of the descriptors 0, 1 and 2 is closed, the database must not be opened with its number."""
        input = request_line("pool.create", {"name": "shop", "poolId": "local-1:01"}, id=1) + b"{broken\n" + PING % 2
        for redirect in ("2>&-", "<&-", ">&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-"):
            with self.subTest(redirect):
                done = self.closed(redirect, input)
                self.assertGreaterEqual(done.returncode, 0, done.stderr)
                if redirect == "2>&-":
                    self.assertEqual({json.loads(line)["id"] for line in done.stdout.splitlines()}, {1, None, 2})
        with open(self.path("store.db"), "rb") as file:
            self.assertEqual(file.read(16), b"SQLite format 3\0")
        again = self.spawn(store=self.path("store.db"))
        self.assertEqual([p["poolId"] for p in again.call("pool.list")["pools"]], ["local-1:01"])

    @only("sqlite")
    def test_stdout_contains_only_protocol_messages(self):
        """This also applies to the log level trace. Within the process, descriptor 1 refers to standard error."""
        sidecar = self.spawn("--log-level", "trace", store=self.path("store.db"))
        mint(sidecar, make_pool(sidecar)["poolId"])
        sidecar.raw(b"{broken")
        self.works(sidecar)
        descriptors = f"/proc/{sidecar.process.pid}/fd"
        self.assertEqual(os.readlink(f"{descriptors}/1"), os.readlink(f"{descriptors}/2"))
        self.assertEqual(sidecar.finish(), 0)
        self.assertEqual(sidecar.remaining(), [])

    @only("sqlite")
    def test_memory_does_not_grow_with_invalid_input(self):
        sidecar = self.spawn()
        for _ in range(20):
            for line in (b"x" * (2 << 20), b"[" * 100_000, b'{"a":"' + b"y" * (1 << 19), b"\xff" * (1 << 19)):
                sidecar.raw(line)
        self.assertLess(sidecar.memory_kilobytes(), MEMORY_LIMIT)
        self.works(sidecar)
