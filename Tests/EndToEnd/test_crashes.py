"""Processes that are killed while they link and merge."""

import os
import random

import crashes
from endtoend import EndToEnd


class Crashes(EndToEnd):
    def test_nothing_that_was_answered_is_lost_and_nothing_is_half_done(self):
        """MINTMARK_TEST_CRASHES says how many are killed."""
        count = int(os.environ.get("MINTMARK_TEST_CRASHES", 15))
        seed = random.randrange(1 << 32)
        with self.subTest(seed=seed):
            cuts, _ = crashes.run(count, seed)
            self.assertGreater(cuts, 0, "nobody was killed amid requests")
