"""A system that refuses threads: requests wait for the existing threads or fail with `tooManyRequests`, and the process continues to work."""

import json
import os
import resource
import shutil
import signal
import tempfile
import unittest

from endtoend import EndToEnd
from sidecar import Sidecar, binary

# A user ID without other processes, since the limit applies to all threads of a user.
NOBODY_ELSE = 64_321
LIMITS = range(1, 21)


@unittest.skipUnless(os.geteuid() == 0, "needs root, to become a user whose threads are counted")
class FewThreads(EndToEnd):
    stores = ("sqlite",)

    @classmethod
    def setUpClass(cls):
        """Copies the program to where every user can execute it: a checkout can be in a folder that only its owner can enter."""
        super().setUpClass()
        folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, folder)
        os.chmod(folder, 0o755)
        cls.program = shutil.copy(binary(), os.path.join(folder, "mintmark"))
        os.chmod(cls.program, 0o755)

    def limited(self, threads, *options, store=":memory:", **more):
        """Starts a process that can have at most the given number of threads, including its main thread."""
        def limit():
            resource.setrlimit(resource.RLIMIT_NPROC, (threads, threads))
        sidecar = Sidecar.__new__(Sidecar)
        # The process cannot use its home folder if root owns it.
        make = tempfile.mkdtemp

        def owned(*arguments, **named):
            folder = make(*arguments, **named)
            os.chown(folder, NOBODY_ELSE, NOBODY_ELSE)
            return folder
        tempfile.mkdtemp = owned
        try:
            sidecar.__init__(
                *options, store=store, program=self.program, checked=True, user=NOBODY_ELSE, group=NOBODY_ELSE, extra_groups=[], preexec_fn=limit, **more)
        finally:
            tempfile.mkdtemp = make
        self.addCleanup(sidecar.close)
        # Before the store is open, every request waits for a thread that opens it.
        while not self.outcomes(sidecar, [sidecar.send("system.ping")]).popitem()[1]:
            pass
        return sidecar

    def outcomes(self, sidecar, ids):
        """Returns for each request whether it succeeded. A failed request must be retryable."""
        found = {}
        for id in ids:
            message = sidecar.receive(lambda each: each.get("id") == id, 60)
            found[id] = "result" in message
            if "error" in message:
                data = message["error"]["data"]
                self.assertEqual((message["error"]["code"], data["type"], data["retryAfterSeconds"]), (1003, "tooManyRequests", 1))
        return found

    def store(self):
        os.chmod(self.folder, 0o755)
        folder = tempfile.mkdtemp(dir=self.folder)
        os.chown(folder, NOBODY_ELSE, NOBODY_ELSE)
        return os.path.join(folder, "store.db")

    def test_every_request_gets_response_with_any_number_of_threads(self):
        """Sends reads, writes and expensive computations, one by one and in a burst."""
        complete = []
        for threads in LIMITS:
            with self.subTest(threads=threads):
                sidecar = self.limited(threads, "--testing", store=self.store() if threads % 2 else ":memory:")
                requests = (
                    [("system.ping", {})] * 20 + [("pool.create", {"name": "shop"})] * 10
                    + [("account.create", {"username": f"{n}@example.com", "password": "correct Horse 9"}) for n in range(5)]
                    + [("signIn.withPassword", {"username": "0@example.com", "password": "wrong Horse 9"})] + [("pool.list", {})] * 5)
                lines = b"".join(
                    json.dumps({"jsonrpc": "2.0", "id": f"b{n}", "method": method, "params": params}).encode() + b"\n"
                    for n, (method, params) in enumerate(requests) if not method.startswith("signIn"))
                sidecar.write(lines)
                found = self.outcomes(sidecar, [f"b{n}" for n, (method, _) in enumerate(requests) if not method.startswith("signIn")])
                one_by_one = self.outcomes(sidecar, [sidecar.send(method, params) for method, params in requests[:1] + requests[20:22]])
                self.assertTrue(all(found[f"b{n}"] for n in range(20)), "what computes needs no thread of its own")
                self.works(sidecar)
                kept = sum(found.values()) + sum(one_by_one.values())
                if kept == len(found) + len(one_by_one):
                    complete.append(threads)
                    pools = sidecar.call("pool.list")["pools"]
                    self.assertEqual(len(pools), 12)
                self.assertEqual(sidecar.finish(), 0, sidecar.stderr_text())
                if threads < 4:
                    self.assertIn("refuses another thread", sidecar.stderr_text())
        self.assertTrue(set(LIMITS[7:]) <= set(complete), complete)

    def test_acknowledged_changes_are_stored(self):
        for threads in (2, 3, 4, 5):
            store = self.store()
            sidecar = self.limited(threads, "--testing", store=store)
            ids = [sidecar.send("pool.create", {"name": "shop"}) for _ in range(30)]
            kept = sum(self.outcomes(sidecar, ids).values())
            sidecar.process.kill()
            sidecar.wait()
            other = self.limited(30, "--testing", store=store)
            self.assertEqual(len(other.call("pool.list")["pools"]), kept, threads)

    def test_sequential_mode_needs_one_thread(self):
        sidecar = self.limited(1, "--testing", "--sequential")
        ids = [sidecar.send("pool.create", {"name": "shop"}) for _ in range(30)]
        self.assertEqual(set(self.outcomes(sidecar, ids).values()), {True})
        self.assertEqual(sidecar.finish(), 0)

    def test_host_that_reads_late_gets_every_response(self):
        """Without a thread for pending output, the thread that creates a response waits until the host reads."""
        for threads in (1, 2, 3):
            sidecar = self.limited(threads, "--testing")
            ids = [sidecar.send("rpc.discover") for _ in range(12)]
            # The responses exceed the size of the pipe. The sidecar reads them on its own thread.
            self.assertEqual(set(self.outcomes(sidecar, ids).values()), {True})
            self.assertEqual(sidecar.finish(), 0)

    def test_signals_end_process(self):
        for threads in (1, 2, 4):
            sidecar = self.limited(threads, "--testing")
            sidecar.call("system.ping")
            sidecar.signal(signal.SIGTERM)
            self.assertIn(sidecar.wait(), (0, -signal.SIGTERM) if threads == 1 else (0,))


if __name__ == "__main__":
    unittest.main()
