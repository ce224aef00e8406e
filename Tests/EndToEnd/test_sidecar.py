"""The tests' own pipe: what is said of the program by many threads at once must be the program's doing."""

import concurrent.futures
import threading
import unittest

from endtoend import EndToEnd
from sidecar import Ended, Sidecar


class Shared(EndToEnd):
    stores = ("sqlite",)

    def test_each_of_many_threads_gets_its_own_answers(self):
        sidecar = self.spawn()
        big = "x" * 20_000   # more than a pipe takes at once

        def ask(thread):
            for number in range(100):
                error = sidecar.refusal("pool.create", {"name": f"{big}{thread} {number}"}, trace=f"{thread}/{number}")
                self.assertEqual((error.type, error.data["violations"][0]["rule"]), ("invalidParams", "maxLength"))
                self.assertIn("now", sidecar.call("system.ping"))
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            for done in [threads.submit(ask, thread) for thread in range(8)]:
                done.result()
        self.assertEqual(sidecar.finish(), 0)
        self.assertEqual(sidecar.remaining(), [])


class Receiving(unittest.TestCase):
    """Without a process: messages that come while another thread takes some."""

    def pipe(self):
        pipe = Sidecar.__new__(Sidecar)
        pipe._inbox, pipe._taken, pipe._ended, pipe._changed, pipe.home = [], 0, False, threading.Condition(), "/nowhere"
        return pipe

    def test_a_message_is_seen_though_another_thread_took_one_before_it(self):
        pipe, looked = self.pipe(), threading.Event()
        pipe._inbox = [{"id": 1}, {"id": 2}]

        def third(message):
            if message["id"] == 2:
                looked.set()
            return message["id"] == 3
        with concurrent.futures.ThreadPoolExecutor(1) as threads:
            waiting = threads.submit(pipe.receive, third, 5)
            looked.wait(5)
            # One goes, one comes: there are as many as before.
            self.assertEqual(pipe.receive(lambda message: message["id"] == 1), {"id": 1})
            with pipe._changed:
                pipe._inbox.append({"id": 3})
                pipe._changed.notify_all()
            self.assertEqual(waiting.result(5), {"id": 3})

    def test_who_waits_too_long_and_who_is_left_alone_is_told(self):
        pipe = self.pipe()
        self.assertRaises(TimeoutError, pipe.receive, timeout=0.05)
        pipe._ended = True
        self.assertRaises(Ended, pipe.receive)
