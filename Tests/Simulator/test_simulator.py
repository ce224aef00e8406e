"""A short version of the simulator: some seeds, their repetition, a disk that lies, and the n-th failures of some sites.

MINTMARK_TEST_SEEDS (default 16) is the number of seeds. `Tests/Simulator/run` runs more.
"""

import contextlib
import io
import os
import sys
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, HERE)

import mutants   # noqa: E402: found in the folder above
import nth   # noqa: E402
import nth_network   # noqa: E402
import calls   # noqa: E402
from calls import Violation   # noqa: E402
from simulation import MOMENT, Simulation, Template   # noqa: E402

SEEDS = int(os.environ.get("MINTMARK_TEST_SEEDS", "16"))


class WithTemplate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.template = Template()
        cls.addClassCleanup(cls.template.close)

    def run_seed(self, seed, **options):
        simulation = Simulation(seed, self.template, **options)
        try:
            simulation.run()
        except Violation as violation:
            raise AssertionError(f"{violation}\nagain: Tests/Simulator/run --replay {seed}\n" + "\n".join(simulation.log[-12:])) from violation
        return simulation


class Seeds(WithTemplate):
    def test_invariants_hold_after_every_step_of_every_seed(self):
        for seed in range(1, SEEDS + 1):
            with self.subTest(seed=seed):
                self.run_seed(seed)

    def test_one_seed_always_has_the_same_transcript(self):
        for seed in (1, 2, 3):
            with self.subTest(seed=seed):
                self.assertEqual(self.run_seed(seed).log, self.run_seed(seed).log)

    def test_disk_that_claims_syncs_is_found(self):
        """The simulator must notice a lost acknowledged write, whatever loses it."""
        for seed in range(1, 200):
            try:
                Simulation(seed, self.template, environment={"SIMULATOR_LIAR": "1"}).run()
            except Violation as violation:
                return self.assertRegex(str(violation), "lost|not in the audit log|belong to|does not exist|start|damaged|cannot be read")
        self.fail("200 seeds lost nothing on a disk that syncs nothing")


class Failures(WithTemplate):
    def sweep(self, *fault, most):
        sweep = nth.Sweep(fault, self.template, most)
        try:
            found, _ = sweep.run()
        except Violation as violation:
            raise AssertionError(f"{violation}\n" + "\n".join(sweep.log[-8:])) from violation
        return sum(found.values())

    def test_every_failing_sync_of_every_call_keeps_the_invariants(self):
        self.assertGreater(self.sweep("sync", nth.EIO, 1, most=20), 20)

    def test_failing_allocations_of_every_call_keep_the_invariants(self):
        self.assertGreater(self.sweep("allocate", 1, 1, most=6), 60)

    def test_store_opens_after_failures_and_kills_while_it_was_opened(self):
        old, new, named = nth.STORES
        cases = [("open", 1, old), ("lock", 2, old), ("kill", 7, old), ("sync", 1, new), ("link", 1, new), ("kill", 3, new), ("kill", 3, named), ("unlink", 1, named)]
        for kind, step, store in cases:
            with self.subTest(kind=kind, store=store):
                self.assertGreater(nth.opening(kind, nth.EIO, self.template, step, store), 0)

    def answers(self, *, method, params, prepare=(), kind, most=400):
        """Returns the response without a fault, and the responses with the first, second, … site of a kind failing."""
        simulation = Simulation("answers", self.template)
        process = simulation.start(0)
        simulation.processes = [process]
        try:
            for each in prepare:
                process.call(*each)
            whole, answers = process.call(method, params), []
            for place in range(1, most):
                process.begin(method, params)
                process.fail([kind], place, nth.EIO)
                outcome, found = process.advance()
                self.assertEqual(outcome, "answer")
                if not process.control.failed:
                    return whole["result"], answers
                answers.append(found)
        finally:
            simulation.close()
        self.fail("the calls do not end")

    def test_read_without_memory_fails_and_returns_no_empty_values(self):
        simulation = Simulation("memory", self.template)
        process = simulation.start(0)
        simulation.processes = [process]
        failures = 0
        try:
            for place in range(1, 40):
                # SQLite needs new memory for a text that is longer than all texts before it.
                audiences = [f"api://{number:0200}" for number in range(place * 2)]
                process.call("tenant.update", {"tenantId": "default", "audiences": audiences})
                process.begin("tenant.get", {"tenantId": "default"})
                process.fail(["allocate"], 1 + place % 8, nth.EIO)
                _, found = process.advance()
                failures += process.control.failed
                if "result" in found:
                    self.assertEqual(found["result"]["audiences"], audiences)
                else:
                    self.assertIn(nth.error_of(found) or "internalError", calls.STORE, found)
                    self.assertIn("memory", process.words() + str(found))
        finally:
            simulation.close()
        self.assertGreater(failures, 5)

    def test_clock_of_testing_store_does_not_jump_if_disk_fails(self):
        for kind in ("allocate", "read", "lock"):
            whole, answers = self.answers(method="system.ping", params={}, kind=kind)
            self.assertEqual({answer["result"]["now"] for answer in answers} | {MOMENT}, {MOMENT})
            self.assertEqual(whole["now"], MOMENT)

    def test_failing_allocation_does_not_bring_back_the_time_before_another_process_moved_the_clock(self):
        simulation = Simulation("clocks", self.template)
        simulation.processes = [simulation.start(0), simulation.start(1)]
        mover, reader = simulation.processes
        failures = 0
        try:
            for place in range(1, 60):
                moved = mover.call("test.clock", {"advanceSeconds": 10})["result"]["now"]
                reader.begin("system.ping", {})
                reader.fail(["allocate"], place, nth.EIO)
                _, found = reader.advance()
                failures += reader.control.failed
                self.assertEqual(found["result"]["now"], moved)
                if not reader.control.failed:
                    break
        finally:
            simulation.close()
        self.assertGreater(failures, 0)

    def test_login_is_accepted_after_every_failing_request_to_its_provider(self):
        report = io.StringIO()
        with contextlib.redirect_stdout(report):
            violations = nth_network.requests()
        self.assertEqual(violations, 0, report.getvalue())


class Mistakes(unittest.TestCase):
    def test_edits_that_make_broken_programs_still_apply(self):
        self.assertGreater(mutants.checked(), 15)


if __name__ == "__main__":
    unittest.main()
