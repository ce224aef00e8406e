"""The figures of `system.metrics`."""

import threading

import stores
from endtoend import EndToEnd, make_pool
from sidecar import request_line


class Metrics(EndToEnd):
    def test_answered_requests_are_not_in_flight(self):
        """After a response has been read, only the current request is in flight, whichever thread sent the response."""
        sidecar = self.spawn()
        make_pool(sidecar)
        for _ in range(300):
            for method in ("system.health", "pool.list", "system.ping"):
                sidecar.call(method)
                self.assertEqual(sidecar.call("system.metrics")["inFlight"], 1, method)

    def test_pipelined_and_batched_requests_are_not_in_flight_after_their_responses(self):
        sidecar = self.spawn()
        ids = [sidecar.send("pool.create", {"name": f"p{i}"}) for i in range(200)]
        for id in ids:
            sidecar.answer(id)
        self.assertEqual(sidecar.call("system.metrics")["inFlight"], 1)
        sidecar.write(b'[{"jsonrpc":"2.0","method":"system.ping"},{"jsonrpc":"2.0","id":"b","method":"system.health"}]\n')
        self.assertEqual(sidecar.receive()[0]["id"], "b")
        self.assertEqual(sidecar.call("system.metrics")["inFlight"], 1)

    def test_process_works_after_forty_thousand_requests(self):
        """20,000 requests that add records and 20,000 that do not must not leave state that grows with their number. On PostgreSQL 4,000 each."""
        sidecar = self.spawn()
        count = 20_000 if stores.current.kind == "sqlite" else 4_000
        pool = make_pool(sidecar, allowUnauthenticated=True)["poolId"]
        for method, params in (("identity.resolve", {"poolId": pool}), ("system.metrics", {})):
            threading.Thread(target=sidecar.write, args=(request_line(method, params, id=method) * count,), daemon=True).start()
            self.assertEqual({b"result" in line for line in sidecar.lines(count, timeout=120)}, {True})
        self.works(sidecar)
