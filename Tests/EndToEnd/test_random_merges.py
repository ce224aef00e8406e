"""Random pairs of accounts, merged with random policies: no data is lost or duplicated, and the dry run predicts the result."""

import collections
import os
import random
import threading
import time

import stores
from endtoend import make_pool
from federation import Federation
from merges import World
from test_logins import Provider


class RandomMerges(Federation):
    THREADS = 6

    def world(self):
        now = int(time.time()) // 30 * 30
        self.sidecar.call("test.clock", {"setAt": now, "freeze": True})
        self.sidecar.call("tenant.update", {"tenantId": "default", "anonymousAllowed": True,
                                            "attributes": [{"name": "size", "type": "integer"}, {"name": "floor", "type": "integer"}]})
        idps = [self.provider, *(self.idp(f"oidc.{name}") for name in "bcd")]
        other = Provider("https://pool.example.com")
        tenant, settings = {"tenantId": "default"}, {"allowClassicFlow": True}
        pools = [(make_pool(self.sidecar, **settings, providers=[tenant])["poolId"], None),
                 (make_pool(self.sidecar, **settings, providers=[tenant, other.settings()])["poolId"], other)]
        return World(self, self.sidecar, idps, pools, now)

    def test_merges_lose_no_data_and_weaken_no_account(self):
        """MINTMARK_TEST_MERGES sets the number of pairs. A failure names the number and the seed of its pair."""
        usual = {"sqlite": 120, "postgres": 60}[stores.current.kind]
        count, world = int(os.environ.get("MINTMARK_TEST_MERGES", usual)), self.world()
        seeds = iter([(number, random.randrange(1 << 32)) for number in range(count)])
        outcomes, failures, lock = collections.Counter(), [], threading.Lock()

        def work():
            while True:
                with lock:
                    number, seed = next(seeds, (None, None))
                    if number is None or failures:
                        return
                try:
                    outcome = self.pair(world, random.Random(seed), number)
                except Exception as error:
                    with lock:
                        failures.append((number, seed, error))
                    return
                with lock:
                    outcomes.update(outcome)
        threads = [threading.Thread(target=work) for _ in range(self.THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            number, seed, error = failures[0]
            raise AssertionError(f"pair {number} of seed {seed}") from error
        # Outcomes that never occurred were not tested.
        for outcome in ("plain", "conflicts"):
            self.assertGreater(outcomes[outcome], 0, outcome)
        self.assertGreaterEqual(sum(outcomes.values()), count)

    def pair(self, world, pick, number):
        """Merges two accounts. In some cases, the result is then merged into a third account."""
        numbers = [f"+49151{number:06}{digit}" for digit in range(5)]
        target, source = (world.furnish(pick, f"{side}{number}", numbers) for side in "ab")
        outcomes = [world.merge(pick, target, source)]
        if outcomes[0] != "tooManyFactors" and pick.random() < 0.2:
            outcomes.append(world.merge(pick, world.furnish(pick, f"c{number}", numbers), target))
        return outcomes
