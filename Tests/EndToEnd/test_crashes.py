"""Processes, and a server, that are killed amid linking and merging."""

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

    def test_nothing_that_was_answered_is_lost_and_nothing_is_half_done(self):
        """MINTMARK_TEST_CRASHES says how many processes are killed."""
        self.survive(int(os.environ.get("MINTMARK_TEST_CRASHES", 15)))

    @only("postgres")
    def test_a_server_that_goes_away_amid_transactions_makes_nobody_lie(self):
        """An answer holds, a refusal is one to come back from and left nothing, or it is said that nobody knows."""
        where = stores.Postgres()
        self.addCleanup(where.close)
        self.survive(8, where=where, server=True)
