"""Random sequences of operations on identities. Each step is compared with the reference model and with the rows of the store.

    sequences.py [--postgres] [--count N] [--seed SEED] [--only NUMBER]   --only: repeat one sequence of a seed
"""

import argparse
import collections
import os
import random
import sys
import tempfile

import stores
from endtoend import PRINCIPAL, mint, trust
from model import Pool, Refused
from operations import DEVELOPER, Operations
from sidecar import RpcError, Sidecar

MOMENT = 1_700_000_000
STEPS = 20
# In a file system in memory, a commit does not wait for a disk.
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class Divergence(AssertionError):
    """The store differs from the model or violates an invariant of identity pools. The text contains the whole sequence."""


class Store:
    """A testing store on disk, its process, and the objects that all its sequences share."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="mintmark-", dir=MEMORY)
        self.name = f"{self.folder.name}/store.db"
        store, environment = stores.current.place(self.name)
        self.sidecar = Sidecar(store=store, environment=environment, testing=True)
        self.now = self.sidecar.call("test.clock", {"freeze": True, "setAt": MOMENT})["now"]
        self.rows = stores.current.reader(self.name)
        self._foreign = None

    def foreign(self, settings):
        """Returns an identity of another pool."""
        if not self._foreign:
            self._foreign = mint(self.sidecar, self.sidecar.call("pool.create", settings())["poolId"])["identityId"]
        return self._foreign

    def close(self):
        self.rows.close()
        self.sidecar.close()
        self.folder.cleanup()


class Sequence(Operations):
    """A pool and a number of steps in it. The seed and the number determine all random values."""

    def __init__(self, store, seed, number):
        self.store, self.sidecar, self.seed, self.number = store, store.sidecar, seed, number
        self.random = random.Random(f"{seed} {number}")
        self.log, self.before = [], {}
        self.model = Pool(DEVELOPER, guests=self.random.random() < 0.8, classic=self.random.random() < 0.9)
        self.pool = self.sidecar.call("pool.create", self.settings())["poolId"]
        self.reader, self.visitor = (self.role(name, amr) for name, amr in [("reader", "authenticated"), ("visitor", "unauthenticated")])
        self.sidecar.call("pool.setRoles", {"poolId": self.pool, "roles": {"authenticated": self.reader, "unauthenticated": self.visitor}})
        self.prepare()

    def role(self, name, amr):
        policy = trust(**{"StringEquals": {f"{PRINCIPAL}:aud": self.pool}, "ForAnyValue:StringLike": {f"{PRINCIPAL}:amr": amr}})
        return self.sidecar.call("role.put", {"name": f"{name}-{self.pool.partition(':')[2]}", "trustPolicy": policy})["roleArn"]

    @property
    def now(self):
        return self.store.now

    def run(self, steps=STEPS):
        try:
            for _ in range(steps):
                self.turn_clock()
                self.step()
                self.look()
            self.last_look()
        except Exception as error:
            told = "\n".join(f"  {self.told(*entry)}" for entry in self.log)
            raise Divergence(
                f"{error}\nThe sequence so far:\n{told}\n"
                f"Again: sequences.py --seed {self.seed} --only {self.number}{' --postgres' if stores.current.kind == 'postgres' else ''}") from error

    def turn_clock(self):
        seconds = self.random.choices([0, 1, 2, 60, 299, 901, 4000], [60, 20, 10, 4, 2, 2, 2])[0]
        if seconds:
            self.store.now = self.sidecar.call("test.clock", {"advanceSeconds": seconds})["now"]
            self.log.append(("the clock", {"seconds": seconds}, {"now": self.now}))

    def told(self, method, params, found):
        return f"{method} {self.brief(params)} -> {found.type if isinstance(found, RpcError) else self.brief(found)}"

    def compare(self, method, params, judge, keep=lambda expected, found: None):
        """Performs one operation. It must fail exactly if the model refuses it, and with the same error. `keep` compares and records the result."""
        try:
            expected = judge()
        except Refused as refusal:
            expected = refusal
        try:
            found = self.sidecar.call(method, params)
        except RpcError as error:
            found = error
        self.log.append((method, params, found))
        if isinstance(expected, Refused):
            assert isinstance(found, RpcError) and found.type == expected.type, f"the model says {expected.type}"
        else:
            assert not isinstance(found, RpcError), f"the model says {expected}; found {found}"
            keep(expected, found)

    # Invariants after every step

    def look(self):
        rows = self.store.rows(
            "SELECT i.id, i.state, i.created_at, i.updated_at, l.provider, l.subject FROM identity i LEFT JOIN login l ON l.identity_id = i.id AND l.pool_id = i.pool_id "
            "WHERE i.pool_id = ?", self.pool)
        identities = {row[0]: row[1:4] for row in rows}
        logins = {row[4:]: row[0] for row in rows if row[4] is not None}
        assert len(logins) == sum(row[4] is not None for row in rows), f"a login has two owners: {rows}"
        self.invariants(identities, logins)
        wanted = {each.id: (each.state, each.created, each.updated) for each in self.model.identities.values()}
        assert identities == wanted, f"identities: the model says {wanted}, the store {identities}"
        assert logins == self.model.owners, f"logins: the model says {self.model.owners}, the store {logins}"
        if self.random.random() < 0.2:
            self.list()

    def last_look(self):
        """Checks, at the end of a sequence only, that no login belongs to an unknown identity or to an identity of another pool."""
        found = self.store.rows("SELECT count(*) FROM login WHERE pool_id = ?", self.pool)
        assert found == [(len(self.model.owners),)], f"logins: the model says {len(self.model.owners)}, the store {found}"

    def invariants(self, identities, logins):
        """Checks the invariants of identities and logins from the rows alone."""
        of = {id: [] for id in identities}
        for login, id in logins.items():
            of[id].append(login)
        for id, (state, created, updated) in identities.items():
            public = [provider for provider, _ in of[id] if provider != self.model.developer]
            assert len(public) == len(set(public)), f"{id} has two users of one provider: {of[id]}"
            assert len(of[id]) <= 20, f"{id} has {len(of[id])} logins"
            assert (state == "authenticated") == bool(of[id]), f"{id} is {state} with {len(of[id])} logins"
            assert created <= updated <= self.now, f"{id}: created {created}, updated {updated}, now {self.now}"
            was = self.before.get(id)
            if was:
                assert created == was[1], f"{id} was created at {was[1]}, and now at {created}"
                assert state in {"guest": {"guest", "authenticated", "disabled"}, "authenticated": {"authenticated", "disabled"}, "disabled": {"disabled"}}[was[0]], \
                    f"{id} was {was[0]} and is {state}"
        self.before = identities


def run_all(count, seed, only=None):
    """Runs the sequences of a seed in one store. Raises `Divergence`. Returns the number of outcomes of each operation: {(method, error type or ""):
    count}."""
    store, outcomes = Store(), collections.Counter()
    try:
        for number in range(count) if only is None else [only]:
            sequence = Sequence(store, seed, number)
            sequence.run()
            outcomes.update((method, found.type if isinstance(found, RpcError) else "") for method, _, found in sequence.log)
        assert store.sidecar.call("audit.verify", timeout=600)["intact"]
        assert store.sidecar.finish() == 0
    finally:
        store.close()
    return outcomes


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--postgres", action="store_true")
    options.add_argument("--count", type=int, default=10_000)
    options.add_argument("--seed", default=str(random.randrange(1 << 32)))
    options.add_argument("--only", type=int)
    options = options.parse_args()
    if options.postgres:
        stores.current = stores.Postgres()
    print(f"seed {options.seed}", flush=True)
    try:
        outcomes = run_all(options.count, options.seed, options.only)
        for (method, refusal), times in sorted(outcomes.items()):
            print(f"{times:8} {method} {refusal}")
        print(f"{1 if options.only is not None else options.count} sequences, {outcomes.total()} steps, no divergence")
    except Divergence as divergence:
        print(divergence)
        return 1
    finally:
        stores.current.close()


if __name__ == "__main__":
    sys.exit(main())
