"""Kills a process that makes changes and sends events at random moments. Every acknowledged change must have its event, and the host, which stores
the cursor of each event that it has processed, gets at most one event twice for each kill."""

import json
import os
import random
import threading
import time

from sidecar import request_line

REQUESTS = 60


class Host:
    """A host whose stored state survives the kills: the cursor, and the keys in the events that it processed."""

    def __init__(self):
        self.cursor, self.seen = "0", []
        self.messages, self.news = 0, threading.Condition()

    def process(self, sidecar, acknowledged, cut):
        """Reads messages until the process ends. At a `cut`, an event is processed but its cursor is not stored, as if the host were killed too."""
        while True:
            line = sidecar.process.stdout.readline()
            if not line.endswith(b"\n"):
                return
            message = json.loads(line)
            with self.news:
                self.messages += 1
                self.news.notify_all()
            if message.get("method") == "events/occurred":
                self.seen.append((message["params"]["eventId"], message["params"]["kid"]))
                if cut.is_set():
                    return
                self.cursor = message["params"]["cursor"]
            elif isinstance(message.get("id"), int) and "result" in message:
                acknowledged.add(message["result"]["kid"])

    def wait_for_messages(self, count, timeout):
        """Waits until the present process has sent a number of messages."""
        with self.news:
            self.news.wait_for(lambda: self.messages >= count, timeout)


def run(count, seed, test):
    """Kills `count` processes on the store of a test."""
    began = time.monotonic()
    chance, host, acknowledged = random.Random(seed), Host(), set()
    for number in range(count + 1):
        sidecar = test.spawn("--testing", store=test.store, reading=False, checked=False)
        cut, host.messages, before = threading.Event(), 0, len(acknowledged)
        reader = threading.Thread(target=host.process, args=(sidecar, acknowledged, cut))
        reader.start()
        subscription = request_line("events.subscribe", {"types": ["keysRotated"], "after": host.cursor}, id="s")
        changes = [request_line("key.rotate", {"tenantId": "default"}, id=each) for each in range(REQUESTS if number < count else 1)]
        sidecar._write(subscription + b"".join(changes))
        if number == count:   # The last process is not killed: its host waits for the event of its change.
            deadline = time.monotonic() + 60
            def is_done():
                return len(acknowledged) > before and set(acknowledged) <= {kid for _, kid in list(host.seen)}

            while not is_done() and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(0.5)
        else:
            # A few processes are killed while they start, the others after a number of messages, and at any moment of the next change.
            if chance.random() < 0.05:
                time.sleep(chance.uniform(0, 0.1))
            else:
                host.wait_for_messages(chance.randint(1, REQUESTS), 30)
                time.sleep(chance.uniform(0, 0.01))
            cut.set()
        if number and number % 100 == 0 and os.environ.get("MINTMARK_TEST_TIMES"):
            print(f"{number} kills, {len(acknowledged)} changes, {len(host.seen)} events, {time.monotonic() - began:.0f} s", flush=True)
        sidecar.process.kill()
        sidecar.process.wait()
        reader.join()
        sidecar.close()
    kids = [kid for _, kid in host.seen]
    test.assertGreater(len(acknowledged), count // 2, "hardly a change was made before the kills")
    test.assertEqual(acknowledged - set(kids), set(), "acknowledged changes without an event")
    test.assertLessEqual(len(host.seen) - len(set(host.seen)), count, "an event was sent again without a kill")
    test.assertEqual(len({event for event, _ in host.seen}), len(set(kids)), "two events of one change")
    return len(acknowledged), len(host.seen)
