"""Mixed work of many processes on one store behind PgBouncer, and what must hold afterwards. Used by the suite and by the benchmarks."""

import collections
import concurrent.futures
import http.server
import json
import threading
import time

import postgres
from endtoend import pool_with_role
from pgbouncer import PgBouncer
from sidecar import RpcError, Sidecar

# What may have happened is unknown after this error only. After any other, nothing has.
UNKNOWN = "outcomeUnknown"


class Messages:
    """A webhook that keeps the code of each message."""

    def __init__(self):
        self.codes, self._arrived = {}, threading.Condition()
        messages = self

        class Receiver(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with messages._arrived:
                    messages.codes.setdefault(message["to"], []).append(message["code"])
                    messages._arrived.notify_all()
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 1024
        self._server = Server(("127.0.0.1", 0), Receiver)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.settings = {"webhook": {
            "url": f"http://127.0.0.1:{self._server.server_port}/", "secret": "first secret of a webhook", "allowInsecure": True}}

    def code(self, address, timeout=60):
        with self._arrived:
            assert self._arrived.wait_for(lambda: address in self.codes, timeout), f"no message came for {address}"
            return self.codes[address][-1]

    def close(self):
        self._server.shutdown()
        self._server.server_close()


class Report:
    """What the calls of all processes came to."""

    def __init__(self):
        self.lock = threading.Lock()
        self.seconds, self.retried, self.wrong = [], collections.Counter(), []
        self.identities, self.guests, self.accounts = {}, [], {}
        self.unknown = collections.Counter()   # Writes whose outcome is unknown, by kind.
        self.repeated = set()   # The addresses whose first request failed, possibly after its message was sent.

    def note(self, method, seconds, error=None):
        with self.lock:
            self.seconds.append((seconds, method))
            if error is None:
                return
            if "retryAfterSeconds" in error.data:
                self.retried[f"{method}: {error.type}"] += 1
            else:
                self.wrong.append(f"{method}: {error}")


class PooledLoad:
    """`processes` processes on one database, through `connections` connections to the server."""

    def __init__(self, processes, connections, *, checked=False):
        self.processes, self.connections = processes, connections
        self.server = postgres.Server(f"max_connections={connections + 10}")
        try:
            self.pooler = PgBouncer(self.server, connections)
        except BaseException:
            self.server.close()
            raise
        self.database, self.messages, self.checked = self.server.database(), Messages(), checked
        self.sidecars, self.report, self.most_connections = [], Report(), 0
        self._ended = threading.Event()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._ended.set()
        with concurrent.futures.ThreadPoolExecutor(16) as threads:
            list(threads.map(lambda each: each.close(), self.sidecars))
        self.messages.close()
        self.pooler.close()
        self.server.close()

    def sql(self, text):
        return self.server.sql(text, self.database)

    def _watch(self):
        """Counts the connections to the database during the load."""
        while not self._ended.wait(.25):
            found = self.server.sql(f"SELECT COUNT(*) FROM pg_stat_activity WHERE datname = '{self.database}' AND backend_type = 'client backend' AND application_name <> 'psql'")
            self.most_connections = max(self.most_connections, int(found[0]))

    def start(self):
        """Starts all processes at once on an empty database. Returns the seconds until all have answered a request."""
        threading.Thread(target=self._watch, daemon=True).start()
        began = time.monotonic()
        for _ in range(self.processes):
            self.sidecars.append(Sidecar(
                store=self.pooler.uri(self.database), environment={"MINTMARK_MASTER_KEY": postgres.MASTER_KEY}, checked=self.checked))
        calls = [sidecar.send("pool.list") for sidecar in self.sidecars]
        for sidecar, call in zip(self.sidecars, calls):
            self._finish(sidecar, call, began, "pool.list", None)
        taken = time.monotonic() - began
        self.pool, _ = pool_with_role(self.sidecars[0], allowUnauthenticated=True)
        self.sidecars[0].call("tenant.create", {"tenantId": "shop", "delivery": self.messages.settings}, timeout=60)
        return taken

    # One process

    def work(self, number):
        """The 52 calls of one process: new users and guests, all sent at once, and two people who sign up and sign out."""
        sidecar, calls = self.sidecars[number], []
        for user in range(16):
            calls.append(("token.mintForDeveloper", {"poolId": self.pool, "logins": {"login.shop": f"user {number} {user}"}}))
            calls.append(("identity.resolve", {"poolId": self.pool}))
        began = time.monotonic()
        sent = [(sidecar.send(method, params), method, params) for method, params in calls]
        people = [threading.Thread(target=self._person, args=(sidecar, f"user{number}.{person}@example.com")) for person in range(2)]
        for person in people:
            person.start()
        for call, method, params in sent:
            result = self._finish(sidecar, call, began, method, params)
            if result is None:
                continue
            with self.report.lock:
                if method == "identity.resolve":
                    self.report.guests.append(result["identityId"])
                else:
                    self.report.identities[params["logins"]["login.shop"]] = result["identityId"]
        for person in people:
            person.join()

    def _person(self, sidecar, address):
        """Signs up with a code, refreshes twice and signs out. The replaced and the revoked token are refused."""
        try:
            step = self._call(sidecar, "signUp.start", {"tenantId": "shop", "username": address})
            code = self.messages.code(address)
            step = self._call(sidecar, "signUp.submitCode", {"continuationToken": step["continuationToken"], "code": code})
            step = self._call(sidecar, "signIn.withContinuation", {"continuationToken": step["continuationToken"]})
            with self.report.lock:
                self.report.accounts[address] = step["account"]["accountId"]
            for _ in range(2):
                step = self._call(sidecar, "session.refresh", {"refreshToken": step["refreshToken"]})
            session = self._call(sidecar, "session.list", {"idToken": step["idToken"]})["sessions"][0]
            self._call(sidecar, "session.revoke", {"idToken": step["idToken"], "sessionId": session["sessionId"]})
            try:
                self._call(sidecar, "session.refresh", {"refreshToken": step["refreshToken"]}, expected="refreshTokenInvalid")
                self.report.wrong.append(f"{address}: the token of a revoked session was accepted")
            except RpcError as error:
                if error.type != "refreshTokenInvalid":
                    raise
        except Exception as error:
            with self.report.lock:
                self.report.wrong.append(f"{address}: {error!r}")

    def _call(self, sidecar, method, params, expected=None):
        return self._finish(sidecar, sidecar.send(method, params), time.monotonic(), method, params, expected)

    def _finish(self, sidecar, call, began, method, params, expected=None):
        """Returns the result of a call. After an error that allows it, the request is sent again."""
        for attempt in range(10):
            try:
                result = sidecar.answer(call, 180)
                self.report.note(method, time.monotonic() - began)
                return result
            except RpcError as error:
                if error.type == expected:
                    raise
                if error.type == UNKNOWN:
                    self.report.unknown[method] += 1
                    return None
                self.report.note(method, time.monotonic() - began, error)
                if "retryAfterSeconds" not in error.data or attempt == 9:
                    raise
                if method == "signUp.start":
                    self.report.repeated.add(params["username"])
                time.sleep(error.data["retryAfterSeconds"])
                began = time.monotonic()
                call = sidecar.send(method, params)

    # All processes

    def run(self):
        """Runs the work of all processes at the same time. Returns the seconds that it took."""
        began = time.monotonic()
        workers = [threading.Thread(target=self.work, args=(number,)) for number in range(self.processes)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return time.monotonic() - began

    def losses(self):
        """Compares the store with what was acknowledged. Returns a description of each difference."""
        found = list(self.report.wrong)
        logins = dict(line.split("|") for line in self.sql("SELECT subject, identity_id FROM login"))
        for user, identity in self.report.identities.items():
            if logins.get(user) != identity:
                found.append(f"{user} has the identity {logins.get(user)}, not {identity}")
        doubtful = sum(self.report.unknown.values())
        expected = {
            "login": len(self.report.identities), "identity": len(self.report.identities) + len(set(self.report.guests)),
            "account": len(self.report.accounts), "session": 0,
            "audit WHERE method IN ('token.mintForDeveloper', 'identity.resolve')": len(self.report.identities) + len(self.report.guests)}
        for table, number in expected.items():
            rows = int(self.sql(f"SELECT COUNT(*) FROM {table}")[0])
            if not number <= rows <= number + doubtful:
                found.append(f"{rows} rows of {table}, not {number}")
        guests = set(self.sql("SELECT id FROM identity WHERE state = 'guest'"))
        if lost := set(self.report.guests) - guests:
            found.append(f"{len(lost)} guests are lost")
        accounts = set(self.sql("SELECT id FROM account"))
        if lost := set(self.report.accounts.values()) - accounts:
            found.append(f"{len(lost)} accounts are lost")
        if doubled := [address for address, codes in self.messages.codes.items() if len(codes) > 1 and address not in self.report.repeated]:
            found.append(f"{len(doubled)} people got a second code")
        if not self.sidecars[-1].call("audit.verify", timeout=120)["intact"]:
            found.append("the audit log is not intact")
        return found

    def seconds_until_revoked(self):
        """Revokes credentials in one process. Returns the time of the last call, since the answer, that another process still accepted."""
        one = self.sidecars[0]
        minted = one.call("token.mintForDeveloper", {"poolId": self.pool, "logins": {"login.shop": "user 0 0"}}, timeout=60)
        session = {"sessionToken": one.call("credentials.get", {"token": minted["token"]}, timeout=60)["credentials"]["sessionToken"]}
        for call, sidecar in [(sidecar.send("credentials.verify", session), sidecar) for sidecar in self.sidecars]:
            sidecar.answer(call, 60)   # Caches that nothing is revoked.
        one.call("credentials.revoke", {"identityId": minted["identityId"]}, timeout=60)
        revoked, last, left = time.monotonic(), 0.0, list(self.sidecars)
        while left:
            began, still = time.monotonic() - revoked, []
            for call, sidecar in [(sidecar.send("credentials.verify", session), sidecar) for sidecar in left]:
                try:
                    sidecar.answer(call, 60)
                    still.append(sidecar)
                    last = began
                except RpcError as error:
                    assert error.type == "credentialsRevoked", error
            left = still
            assert began < 60, "the revocation does not take effect"
            time.sleep(.02)
        return last
