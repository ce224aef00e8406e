"""Kills a process that makes changes and sends events at random moments. Every acknowledged change must have its event, and the host, which stores
the cursor of each event that it has processed, gets at most one event twice for each kill."""

import json
import random
import threading
import time

from sidecar import request_line

REQUESTS = 60


class Host:
    """A host whose stored state survives the kills: the cursor, and the keys in the events that it processed."""

    def __init__(self):
        self.cursor, self.seen = "0", []

    def process(self, sidecar, acknowledged, cut):
        """Reads messages until the process ends. At a `cut`, an event is processed but its cursor is not stored, as if the host were killed too."""
        while True:
            line = sidecar.process.stdout.readline()
            if not line.endswith(b"\n"):
                return
            message = json.loads(line)
            if message.get("method") == "events/occurred":
                self.seen.append((message["params"]["eventId"], message["params"]["kid"]))
                if cut.is_set():
                    return
                self.cursor = message["params"]["cursor"]
            elif isinstance(message.get("id"), int) and "result" in message:
                acknowledged.add(message["result"]["kid"])


def run(count, seed, test):
    """Kills `count` processes on the store of a test."""
    chance, host, acknowledged = random.Random(seed), Host(), set()
    for number in range(count + 1):
        sidecar = test.spawn("--testing", store=test.store, reading=False, checked=False)
        cut = threading.Event()
        reader = threading.Thread(target=host.process, args=(sidecar, acknowledged, cut))
        reader.start()
        subscription = request_line("events.subscribe", {"types": ["keysRotated"], "after": host.cursor}, id="s")
        changes = [request_line("key.rotate", {"tenantId": "default"}, id=each) for each in range(REQUESTS if number < count else 1)]
        sidecar._write(subscription + b"".join(changes))
        if number == count:   # The last process is not killed: its host waits for the event of its change.
            deadline = time.monotonic() + 60
            while not acknowledged <= {kid for _, kid in list(host.seen)} and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(0.5)
        else:
            time.sleep(chance.uniform(0.1, 1.2))
            cut.set()
        sidecar.process.kill()
        sidecar.process.wait()
        reader.join()
    kids = [kid for _, kid in host.seen]
    test.assertGreater(len(acknowledged), count // 2, "hardly a change was made before the kills")
    test.assertEqual(acknowledged - set(kids), set(), "acknowledged changes without an event")
    test.assertLessEqual(len(host.seen) - len(set(host.seen)), count, "an event was sent again without a kill")
    test.assertEqual(len({event for event, _ in host.seen}), len(set(kids)), "two events of one change")
    return len(acknowledged), len(host.seen)
