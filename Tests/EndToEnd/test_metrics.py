"""What `system.metrics` counts."""

import threading

from endtoend import EndToEnd, make_pool
from sidecar import request_line


class Metrics(EndToEnd):
    def test_who_has_read_an_answer_is_not_in_flight(self):
        """Whichever thread answered: only the question itself is counted."""
        sidecar = self.spawn()
        make_pool(sidecar)
        for _ in range(300):
            for method in ("system.health", "pool.list", "system.ping"):
                sidecar.call(method)
                self.assertEqual(sidecar.call("system.metrics")["inFlight"], 1, method)

    def test_what_is_sent_together_is_counted_together_and_then_no_more(self):
        sidecar = self.spawn()
        ids = [sidecar.send("pool.create", {"name": f"p{i}"}) for i in range(200)]
        for id in ids:
            sidecar.answer(id)
        self.assertEqual(sidecar.call("system.metrics")["inFlight"], 1)
        sidecar.write(b'[{"jsonrpc":"2.0","method":"system.ping"},{"jsonrpc":"2.0","id":"b","method":"system.health"}]\n')
        self.assertEqual(sidecar.receive()[0]["id"], "b")
        self.assertEqual(sidecar.call("system.metrics")["inFlight"], 1)

    def test_a_process_that_is_asked_and_records_all_day(self):
        """Neither tens of thousands of questions nor as many records leave anything behind that grows with them."""
        sidecar = self.spawn()
        pool = make_pool(sidecar, allowUnauthenticated=True)["poolId"]
        for method, params in (("identity.resolve", {"poolId": pool}), ("system.metrics", {})):
            threading.Thread(target=sidecar.write, args=(request_line(method, params, id=method) * 20_000,), daemon=True).start()
            self.assertEqual({b"result" in line for line in sidecar.lines(20_000, timeout=120)}, {True})
        self.works(sidecar)
