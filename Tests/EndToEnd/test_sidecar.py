"""The test client `Sidecar`: its use by several threads must not cause errors that seem to come from the program."""

import concurrent.futures
import threading
import unittest

from endtoend import EndToEnd
from sidecar import Ended, Sidecar


class Shared(EndToEnd):
    stores = ("sqlite",)

    def test_each_of_several_threads_receives_its_own_responses(self):
        sidecar = self.spawn()
        big = "x" * 20_000   # larger than the buffer of a pipe

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
    """Tests `receive` without a process, while several threads take messages."""

    def pipe(self):
        pipe = Sidecar.__new__(Sidecar)
        pipe._inbox, pipe._taken, pipe._ended, pipe._changed, pipe.home = [], 0, False, threading.Condition(), "/nowhere"
        pipe._checker = None
        return pipe

    def test_message_is_received_although_another_thread_took_an_earlier_one(self):
        pipe, looked = self.pipe(), threading.Event()
        pipe._inbox = [{"id": 1}, {"id": 2}]

        def third(message):
            if message["id"] == 2:
                looked.set()
            return message["id"] == 3
        with concurrent.futures.ThreadPoolExecutor(1) as threads:
            waiting = threads.submit(pipe.receive, third, 5)
            looked.wait(5)
            # One message is taken and one is added: the number of messages does not change.
            self.assertEqual(pipe.receive(lambda message: message["id"] == 1), {"id": 1})
            with pipe._changed:
                pipe._inbox.append({"id": 3})
                pipe._changed.notify_all()
            self.assertEqual(waiting.result(5), {"id": 3})

    def test_receive_fails_after_the_timeout_and_after_the_process_ended(self):
        pipe = self.pipe()
        self.assertRaises(TimeoutError, pipe.receive, timeout=0.05)
        pipe._ended = True
        self.assertRaises(Ended, pipe.receive)
