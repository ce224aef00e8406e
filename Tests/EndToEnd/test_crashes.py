"""Crashes of processes, and of a PostgreSQL server, during links and merges."""

import os
import random

import crashes
import stores
from endtoend import EndToEnd, only


class Crashes(EndToEnd):
    def survive(self, count, **more):
        seed = random.randrange(1 << 32)
        with self.subTest(seed=seed):
            cuts, _ = crashes.run(count, seed, **more)
            self.assertGreater(cuts, 0, "nobody was killed amid requests")

    def test_crash_of_process_loses_no_acknowledged_change_and_leaves_none_incomplete(self):
        """MINTMARK_TEST_CRASHES is the number of processes to kill."""
        self.survive(int(os.environ.get("MINTMARK_TEST_CRASHES", 15)))

    @only("postgres")
    def test_crash_of_server_loses_no_acknowledged_change(self):
        """A successful change is kept. A failed one has no effect and can be retried, or the error states that the outcome is unknown."""
        where = stores.Postgres()
        self.addCleanup(where.close)
        self.survive(8, where=where, server=True)
