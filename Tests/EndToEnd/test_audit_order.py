"""The order of the audit log: records of one second that several connections write are listed in the order of the calls."""

import hashlib
import itertools
import threading
import unittest

import stores
from endtoend import EndToEnd, decode, encode, make_pool, mint

MOMENT = 1_700_000_000


class AuditOrder(EndToEnd):
    """The clock is frozen, so that all records are of one second."""

    def setUp(self):
        super().setUp()
        self.store = self.path("store.db")

    def start(self):
        return self.spawn("--clock", str(MOMENT), store=self.store, testing=True)

    def pages(self, sidecar, limit=7, **params):
        """Yields the pages of the audit log."""
        cursor = {}
        while True:
            page = sidecar.call("audit.list", {"limit": limit, **params, **cursor})
            yield page["records"]
            if "nextCursor" not in page:
                return
            cursor = {"cursor": page["nextCursor"]}

    def records(self, sidecar, **params):
        return [record for page in self.pages(sidecar, **params) for record in page]

    def places(self, records):
        return [(record["chain"], record["sequence"]) for record in records]

    def is_complete(self, sidecar, limit):
        """Checks that pages neither omit nor repeat a record."""
        listed = self.places(self.records(sidecar, limit=limit))
        self.assertEqual(sorted(listed), sorted(self.rows("SELECT chain, number FROM audit")))
        self.assertEqual(listed, self.places(self.records(sidecar, limit=60)))
        self.assertTrue(sidecar.call("audit.verify")["intact"])

    def beside(self, sidecar, pool, work):
        """Runs `work` while a second client of the process writes several records at a time."""
        stop = threading.Event()

        def write():
            numbers = itertools.count()
            while not stop.is_set():
                ids = [sidecar.send("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": f"user {next(numbers)}"}}) for _ in range(6)]
                for id in ids:
                    sidecar.answer(id, 60)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            return work()
        finally:
            stop.set()
            writer.join()

    def test_calls_of_one_client_are_listed_in_their_order(self):
        sidecar = self.start()
        pool = make_pool(sidecar)["poolId"]

        def calls():
            for number in range(60):
                sidecar.call("pool.update", {"poolId": pool, "name": f"shop {number}"}, trace=f"call {number}")
        self.beside(sidecar, pool, calls)
        own = self.records(sidecar, method="pool.update")
        self.assertEqual([each["trace"] for each in own], [f"call {number}" for number in reversed(range(60))])
        if stores.current.kind == "postgres":
            self.assertGreater(len({each["chain"] for each in own}), 1, "one connection wrote everything, so this test proves nothing")
        for limit in (1, 10, 59):
            self.is_complete(sidecar, limit)

    def test_calls_through_two_processes_are_listed_in_their_order(self):
        both = [self.start(), self.start()]
        pool = make_pool(both[0])["poolId"]
        for number in range(40):
            both[number * 2 // 3 % 2].call("pool.update", {"poolId": pool, "name": f"shop {number}"}, trace=f"call {number}")
        for each in both:
            self.assertEqual(
                [record["trace"] for record in self.records(each, method="pool.update")], [f"call {number}" for number in reversed(range(40))])
        self.is_complete(both[0], 3)

    def test_records_written_during_pagination_are_neither_omitted_nor_repeated(self):
        sidecar = self.start()
        pool = make_pool(sidecar)["poolId"]
        for number in range(30):
            mint(sidecar, pool, f"before {number}")
        before = self.places(self.records(sidecar))
        listed = self.beside(sidecar, pool, lambda: self.places(self.records(sidecar, limit=2)))
        self.assertEqual(len(listed), len(set(listed)))
        self.assertEqual([each for each in listed if each in before], before)

    def test_records_of_a_seeded_store_follow_the_others_of_their_second(self):
        sidecar = self.start()
        for number in range(10):
            if number == 4:
                sidecar.call("test.seed", {"seed": "seven"})
            sidecar.call("pool.create", {"name": f"pool {number}"}, trace=f"call {number}")
        self.assertEqual([each["trace"] for each in self.records(sidecar, limit=3)], [f"call {number}" for number in reversed(range(10))])
        self.is_complete(sidecar, 4)

    def test_records_of_an_earlier_version_are_the_oldest_of_their_second(self):
        """A process of the schema version before 15 writes records without a position."""
        sidecar = self.start()
        mint(sidecar, make_pool(sidecar)["poolId"])
        self.rows("UPDATE audit SET position = 0")
        before = self.places(self.records(sidecar))
        self.assertEqual(before, sorted(before, reverse=True))
        make_pool(sidecar)
        self.rows("INSERT INTO audit (chain, number, at, method, trace, pool_id, identity_id, subject, details, mac) "
                  "SELECT 'earlier', 1, at, method, trace, pool_id, identity_id, subject, details, mac FROM audit WHERE position = 0 AND number = 1 LIMIT 1")
        listed = self.places(self.records(sidecar, limit=1))
        self.assertEqual(len(listed), 4)
        self.assertEqual(set(listed[1:]), {*before, ("earlier", 1)})

    def test_cursor_of_an_earlier_version_is_refused(self):
        sidecar = self.start()
        for _ in range(3):
            make_pool(sidecar)
        cursor = decode(sidecar.call("audit.list", {"limit": 1})["nextCursor"])
        scope = b"AuditFilter(since: 0, until: 9223372036854775807, poolId: nil, identityId: nil, method: nil)"
        former = hashlib.sha256(b"audit.list\n" + scope).digest()[:8]
        at, position, number, chain = cursor[8:].split(b" ")
        self.refused("invalidCursor", sidecar, "audit.list", {"cursor": encode(former + b" ".join([at, number, chain]))})
        for place in (b"", b" ", b"1 2 3", b"x 2 3 chain", at + b" " + number + b" " + chain, b" ".join([at, b"", number, chain])):
            self.refused("invalidCursor", sidecar, "audit.list", {"cursor": encode(cursor[:8] + place)})
        for later in (b"9223372036854775807", str(MOMENT + 1).encode()):
            page = sidecar.call("audit.list", {"cursor": encode(cursor[:8] + b" ".join([later, position, number, chain]))})
            self.assertEqual(len(page["records"]), 3)


if __name__ == "__main__":
    unittest.main()
