"""Hypothesis state machines over the pipe: accounts with their logins, factors, sessions and merges, and identity pools.

The models are written from the guides (schemas/guides) and the descriptions of the methods, and share no code with the program or with the
simulator. Hypothesis chooses the calls, and reduces a failure to the shortest sequence that shows it.

    MINTMARK_TEST_EXAMPLES (default 12) is the number of examples of each machine; Hypothesis keeps failed ones in .build/hypothesis.
"""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)

import machines   # noqa: E402: found in the folder above
from account_machine import Accounts   # noqa: E402
from hypothesis import HealthCheck, Verbosity, settings   # noqa: E402
from hypothesis.configuration import set_hypothesis_home_dir   # noqa: E402
from hypothesis.stateful import run_state_machine_as_test   # noqa: E402
from pool_machine import Pools   # noqa: E402

EXAMPLES = int(os.environ.get("MINTMARK_TEST_EXAMPLES", "12"))


class StateMachines(unittest.TestCase):
    """Both machines, with as many examples as MINTMARK_TEST_EXAMPLES says."""

    @classmethod
    def setUpClass(cls):
        set_hypothesis_home_dir(os.path.join(os.path.dirname(os.path.dirname(HERE)), ".build", "hypothesis"))

    @classmethod
    def tearDownClass(cls):
        machines.close()

    def run_machine(self, machine):
        run_state_machine_as_test(machine, settings=settings(
            max_examples=EXAMPLES, stateful_step_count=30, deadline=None, verbosity=Verbosity.quiet, print_blob=True, derandomize=EXAMPLES <= 12,
            suppress_health_check=list(HealthCheck)))

    def test_accounts_links_merges_sessions_and_factors_follow_the_guides(self):
        self.run_machine(Accounts)

    def test_pools_and_identities_follow_the_guides(self):
        self.run_machine(Pools)


if __name__ == "__main__":
    unittest.main()
