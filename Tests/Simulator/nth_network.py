"""The n-th connection, send or receive of a call fails, for every n: the connections to PostgreSQL, and the requests to a login provider.

Run by `run --nth` after the sites of a disk. PostgreSQL is a server of its own (Tests/postgres).
"""

import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "EndToEnd"))

from calls import PASSWORDS, STORE, Violation   # noqa: E402: found in the folders above
from process import Process   # noqa: E402

RESET, CLOSED, BROKEN, REFUSED = 104, -1, 32, 111
FAULTS = [("receive", RESET), ("receive", CLOSED), ("send", BROKEN), ("connect", REFUSED)]
MOMENT = 1_700_000_000


class Database:
    """A process whose store is in PostgreSQL, and what its calls have established."""

    def __init__(self, server):
        import postgres
        self.process = Process(
            server.uri(server.database()), options=["--clock", str(MOMENT)], pauses=False, environment={"MINTMARK_MASTER_KEY": postgres.MASTER_KEY})
        self.number = 0
        self.pool = self.must("pool.create", {"name": "shop", "developerProvider": "login.shop"})["poolId"]

    def must(self, method, params):
        message = self.process.call(method, params)
        if "error" in message:
            raise Violation(f"{method} failed without a fault: {message['error']['message']}")
        return message["result"]

    def exists(self, name):
        return "result" in self.process.call("account.find", {"username": name})

    def disabled(self, id):
        return self.must("account.get", {"accountId": id})["disabled"]

    # Each case returns the method, its parameters, and a function that returns whether its change is in the store.

    def create(self):
        name = f"u{self.number}@example.com"
        return "account.create", {"username": name, "password": PASSWORDS[0]}, lambda: self.exists(name)

    def account(self):
        name = f"a{self.number}@example.com"
        return self.must("account.create", {"username": name, "password": PASSWORDS[0]})["accountId"], name

    def disable(self):
        id, _ = self.account()
        return "account.update", {"accountId": id, "disabled": True}, lambda: self.disabled(id)

    def delete(self):
        id, name = self.account()
        return "account.delete", {"accountId": id}, lambda: not self.exists(name)

    def sign_in(self):
        id, name = self.account()
        return "signIn.withPassword", {"username": name, "password": PASSWORDS[0]}, \
            lambda: len(self.must("session.list", {"accountId": id})["sessions"]) == 1

    def sign_out(self):
        id, name = self.account()
        self.must("signIn.withPassword", {"username": name, "password": PASSWORDS[0]})
        session = self.must("session.list", {"accountId": id})["sessions"][0]["sessionId"]
        return "session.signOut", {"sessionId": session}, lambda: not self.must("session.list", {"accountId": id})["sessions"]

    def mint(self):
        user = f"d{self.number}"
        params = {"poolId": self.pool, "developerUserIdentifier": user}
        return "token.mintForDeveloper", {"poolId": self.pool, "logins": {"login.shop": user}}, \
            lambda: "result" in self.process.call("identity.lookupDeveloper", params)

    def merge(self):
        users = [f"m{self.number}", f"n{self.number}"]
        for user in users:
            self.must("token.mintForDeveloper", {"poolId": self.pool, "logins": {"login.shop": user}})
        find = lambda user: self.must("identity.lookupDeveloper", {"poolId": self.pool, "developerUserIdentifier": user})["identityId"]
        return "identity.mergeDevelopers", {
            "poolId": self.pool, "developerProvider": "login.shop", "sourceUserIdentifier": users[0], "destinationUserIdentifier": users[1]}, \
            lambda: find(users[0]) == find(users[1])

    CASES = [create, disable, delete, sign_in, sign_out, mint, merge]

    def attempt(self, case, kind, code, place):
        """Makes one call with a fault. Returns whether the fault took place, and the error type or None."""
        self.number += 1
        method, params, applied = case(self)
        if applied():
            raise Violation(f"{method}: the change exists before the call")
        process = self.process
        process.begin(method, params)
        process.fail([kind], place, code)
        outcome, found = process.advance()
        if outcome != "answer":
            raise Violation(f"{method} with a failing {kind} {place}: the process ended with {found}: {process.words()}")
        failed = process.control.failed > 0
        error = (found.get("error") or {}).get("data", {}).get("type") if "error" in found else None
        if "error" in found and (not failed or error not in STORE or error == "internalError"):
            raise Violation(f"{method} with a failing {kind} {place}: {found['error']}")
        is_applied = applied()
        if error is None and not is_applied:
            raise Violation(f"{method} with a failing {kind} {place} was acknowledged, and the change is lost")
        if error and error != "outcomeUnknown" and is_applied:
            raise Violation(f"{method} with a failing {kind} {place} failed with {error}, and the change was made")
        if not self.must("audit.verify", {})["intact"]:
            raise Violation("the audit log is not intact")
        return failed, error


def databases(most):
    """Returns the number of violations."""
    import postgres
    server, violations, total = postgres.Server(), 0, 0
    try:
        for kind, code in FAULTS:
            database, cells = Database(server), []
            try:
                for case in Database.CASES:
                    place, errors = 1, 0
                    while place <= most:
                        failed, error = database.attempt(case, kind, code, place)
                        if not failed:
                            break
                        place, errors = place + 1, errors + (error is not None)
                    cells.append(f"{case.__name__} {place - 1} ({errors} errors)")
                    total += place - 1
            except Violation as violation:
                violations += 1
                print(f"VIOLATION on PostgreSQL: {violation}")
            finally:
                database.process.close()
            print(f"PostgreSQL, failing {kind} {code}: " + ", ".join(cells), flush=True)
    finally:
        server.close()
    print(f"{total} failures of connections to PostgreSQL, {violations} violations")
    return violations


def requests():
    """Fails each connection, send and receive of the requests for the keys of a login provider. Returns the number of violations."""
    from websites import OpenIDWebsite
    site, violations, total = OpenIDWebsite(), 0, 0
    try:
        for kind, code in FAULTS:
            place = 1
            while True:
                process = Process(":memory:", pauses=False)
                try:
                    pool = process.call("pool.create", {"name": "shop", "providers": [site.settings()]})["result"]["poolId"]
                    login = {"poolId": pool, "logins": {site.name: site.token()}}
                    process.begin("identity.resolve", login)
                    process.fail([kind], place, code)
                    outcome, found = process.advance()
                    failed = process.control.failed > 0
                    error = found.get("error", {}).get("data", {}).get("type") if outcome == "answer" else "ended"
                    if error not in (None, "providerUnavailable", "providerUnusable"):
                        raise Violation(f"identity.resolve with a failing {kind} {place}: {found}")
                    process.call("test.fault", {"clear": True})
                    if "result" not in process.call("identity.resolve", login):
                        raise Violation(f"after a failing {kind} {place}, the login is not accepted")
                except Violation as violation:
                    violations += 1
                    print(f"VIOLATION: {violation}", flush=True)
                finally:
                    process.close()
                if not failed:
                    break
                total, place = total + 1, place + 1
            print(f"login provider, failing {kind} {code}: {place - 1}", flush=True)
    finally:
        site.close()
    print(f"{total} failures of requests to a login provider, {violations} violations")
    return violations


def main(most=1000):
    return requests() + databases(most)


if __name__ == "__main__":
    sys.exit(main())
