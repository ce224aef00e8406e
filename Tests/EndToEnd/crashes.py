"""Kills a process at random moments during links, merges and unlinks, and checks after each restart that the store is complete and consistent.

    crashes.py [--postgres] [--server] [--count N] [--seed SEED]   --server: crash and restart the PostgreSQL server instead of the process
"""

import argparse
import json
import random
import sys
import tempfile
import time

import stores
from operations import DEVELOPER, PUBLIC, provider
from sidecar import Sidecar, request_line

REQUESTS = 150


class Crashes:
    """A store and the process, or the PostgreSQL server, that crashes repeatedly. Raises `AssertionError` if data is lost or a change is
    incomplete."""

    def __init__(self, seed, where, server=False):
        self.random, self.where, self.server = random.Random(seed), where, server
        self.folder = tempfile.TemporaryDirectory(prefix="mintmark-")
        self.name = f"{self.folder.name}/store.db"
        self.users, self.guests, self.spares, self.pairs, self.kept, self.answers, self.unknown = {}, [], {}, [], [], 0, 0
        self.sidecar = self.start()
        self.pool = self.sidecar.call("pool.create", {
            "name": "shop", "developerProvider": DEVELOPER, "allowUnauthenticated": True, "providers": [provider(name).settings() for name in PUBLIC]})["poolId"]
        self.reader = where.reader(self.name)
        self.seconds = 0.3

    def start(self):
        store, environment = self.where.place(self.name)
        return Sidecar(store=store, environment=environment)

    def close(self):
        self.reader.close()
        self.sidecar.close()
        self.folder.cleanup()

    # Load

    def request(self, round, number):
        """Returns a request and a function that records, from the result, the invariant that must hold once the request has succeeded."""
        name, user, kind = self.random.choice(PUBLIC), f"user {round}.{number}", self.random.random()
        known = list(self.users)[-60:]
        developer = {"poolId": self.pool, "developerProvider": DEVELOPER}
        token = {name: provider(name).token(user)}
        if kind < 0.3 or len(known) < 10:
            self.pairs.append(((DEVELOPER, user), (name, user)))
            return "token.mintForDeveloper", {"poolId": self.pool, "logins": {DEVELOPER: user, **token}}, lambda result: self.mine(user, result)
        if kind < 0.4:
            return "identity.resolve", {"poolId": self.pool}, lambda result: self.guests.append(result["identityId"])
        if kind < 0.5 and self.guests:
            self.pairs.append(((DEVELOPER, user), (name, user)))
            guest = self.guests.pop(0)
            return "token.mintForDeveloper", {"poolId": self.pool, "logins": {DEVELOPER: user, **token}, "identityId": guest}, lambda result: self.mine(user, result)
        if kind < 0.6:
            spare = f"spare {round}.{number}"
            return "token.mintForDeveloper", {"poolId": self.pool, "logins": {DEVELOPER: spare}}, lambda result: self.spares.update({spare: result["identityId"]})
        if kind < 0.65 and self.spares:
            spare, id = self.spares.popitem()
            return "identity.unlinkDeveloper", {**developer, "identityId": id, "developerUserIdentifier": spare}, lambda _: self.kept.append(("gone", spare))
        source, destination = self.random.sample(known, 2)
        if kind < 0.8:
            link = {name: provider(name).token(f"{source} too")}
            return "token.mintForDeveloper", {"poolId": self.pool, "logins": {DEVELOPER: source, **link}}, lambda _: self.kept.append(("same", (DEVELOPER, source), (name, f"{source} too")))
        return "identity.mergeDevelopers", {**developer, "sourceUserIdentifier": source, "destinationUserIdentifier": destination}, \
            lambda _: self.kept.append(("same", (DEVELOPER, source), (DEVELOPER, destination)))

    def mine(self, user, result):
        self.users[user] = result["identityId"]
        self.kept.append(("owner", user, result["identityId"]))

    def load(self, round):
        """Writes requests, kills the process at a random moment, and records the responses that arrived before."""
        requests = [self.request(round, number) for number in range(REQUESTS)]
        began = time.monotonic()
        try:
            self.sidecar.write(b"".join(request_line(method, params, id=number) for number, (method, params, _) in enumerate(requests)))
            lines = self.strike(began) if round else self.sidecar.lines(REQUESTS)
            if not round:
                self.seconds = time.monotonic() - began
        finally:
            if not self.server:
                self.sidecar.close()
        self.cut = self.cut or not lines or not lines[-1].endswith(b"}") or len(lines) < REQUESTS
        for line in lines:
            if line.endswith(b"}"):
                message = json.loads(line)
                self.answers += 1
                if "result" in message:
                    requests[message["id"]][2](message["result"])
                else:
                    self.refused(requests[message["id"]][1], message["error"]["data"])

    def strike(self, began):
        """Waits for a random moment and kills the process or the server. Returns the responses that arrived; a process that survives sends the
        rest."""
        time.sleep(max(0, began + self.random.uniform(0, self.seconds) - time.monotonic()))
        if self.server:
            self.cut = self.sidecar.arrived() < REQUESTS
            self.where.crash()
            return self.sidecar.lines(REQUESTS, timeout=120)
        self.sidecar.process.kill()
        self.sidecar.process.wait()
        return self.sidecar.lines(1 << 60)

    def refused(self, params, error):
        """Checks a request that failed. If the store caused the error, the request must have had no effect, unless the outcome is unknown."""
        if error["type"] in ("loginConflict", "identityDisabled", "loginsDoNotMatch"):
            return
        assert self.server, error
        self.cut = True
        if error["type"] == "outcomeUnknown":
            self.unknown += 1
            return
        assert error["type"] in ("storeBusy", "storeCannotOpen"), error
        assert error["retryAfterSeconds"] >= 1, error
        user = params.get("logins", {}).get(DEVELOPER, "")
        # A known user gets another login. A later request can give the user the same login again.
        if user and user not in self.users:
            self.kept.append(("gone", user))

    # Invariants

    def look(self, claims):
        """Checks the identities and logins in the store: all are consistent, and every change that was acknowledged is present."""
        states, logins, providers = {}, {}, {}
        for id, state, name, subject in self.reader(
                "SELECT i.id, i.state, l.provider, l.subject FROM identity i LEFT JOIN login l ON l.identity_id = i.id WHERE i.pool_id = ?", self.pool):
            states[id] = state
            if name is not None:
                assert logins.setdefault((name, subject), id) == id, f"{name} {subject} has two owners"
                providers.setdefault(id, []).append(name)
        for id, state in states.items():
            names = providers.get(id, [])
            public = [name for name in names if name != DEVELOPER]
            assert (state == "authenticated") == bool(names), f"{id} is {state} with {names}"
            assert len(public) == len(set(public)) and len(names) <= 20, f"{id} has {names}"
        for one, other in self.pairs:
            assert logins.get(one) == logins.get(other), f"{one} and {other} were linked together, and only one of them was kept"
        for kind, *claim in claims:
            if kind == "gone":
                assert (DEVELOPER, claim[0]) not in logins, f"{claim[0]} was unlinked, and is there"
            elif kind == "same":
                assert claim[0] in logins and logins[claim[0]] == logins.get(claim[1]), f"{claim} were answered to be one identity"
            else:
                user, id = claim
                owner = logins.get((DEVELOPER, user))
                assert owner == id or owner and states.get(id) == "disabled", f"{user} was answered {id}, which is {states.get(id)}, and is {owner}"

    def run(self, count):
        """Crashes the process or the server `count` times. Returns the number of crashes that left requests without a response."""
        cuts = 0
        for round in range(count + 1):
            seen = len(self.kept)
            self.cut = False
            self.load(round)
            cuts += self.cut if round else 0
            if not self.server:
                self.sidecar = self.start()
            assert self.sidecar.call("audit.verify", timeout=120)["intact"], f"round {round}: the audit log is not intact"
            self.look(self.kept[seen:])
        self.look(self.kept)
        merged = {id for details, in self.reader("SELECT details FROM audit") for id in json.loads(details).get("merged", [])}
        gone = {id for id, in self.reader("SELECT id FROM identity WHERE state = 'disabled'")}
        unlinked = {id for id, in self.reader("SELECT identity_id FROM audit WHERE method = 'identity.unlinkDeveloper'")}
        assert merged | unlinked == gone, "what the audit log says was merged or unlinked is not what is disabled"
        assert self.sidecar.finish() == 0
        return cuts


def run(count, seed, where=None, server=False):
    """Raises `AssertionError` on failure. Returns the number of crashes during requests, and the `Crashes` object."""
    crashes = Crashes(seed, where or stores.current, server)
    try:
        return crashes.run(count), crashes
    finally:
        crashes.close()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--postgres", action="store_true")
    options.add_argument("--server", action="store_true")
    options.add_argument("--count", type=int, default=200)
    options.add_argument("--seed", default=str(random.randrange(1 << 32)))
    options = options.parse_args()
    if options.postgres or options.server:
        stores.current = stores.Postgres()
    print(f"seed {options.seed}", flush=True)
    try:
        cuts, crashes = run(options.count, options.seed, server=options.server)
        print(f"{options.count} killed, {cuts} of them amid requests; {crashes.answers} answers, {len(crashes.kept)} of them looked for, "
              f"{crashes.unknown} of unknown outcome; nothing lost")
    finally:
        stores.current.close()


if __name__ == "__main__":
    sys.exit(main())
