"""The mixed load of the soak: tokens, credentials, people who come and go, wrong requests, slow readers, restarts and rotations."""

import json
import os
import random
import signal
import threading
import time

from host import MASTER_KEY, POOL, Sidecar, known, lookups, mints, request_line

ROLE = "arn:aws:iam::000000000000:role/shop"
USERS = 2000
OPTIONS = ("--testing", "--audit-retention-days", "7")
TRUST = {"Version": "2012-10-17", "Statement": [{
    "Effect": "Allow", "Principal": {"Federated": "cognito-identity.amazonaws.com"}, "Action": "sts:AssumeRoleWithWebIdentity",
    "Condition": {"StringEquals": {"cognito-identity.amazonaws.com:aud": POOL}}}]}
# Requests that fail, with the type of their error.
WRONG = (
    ("token.verify", {"token": "not.a.token", "audience": POOL}, "tokenMalformed"),
    ("pool.get", {"poolId": "local-1:00000000-1111-4222-8333-000000000000"}, "poolNotFound"),
    ("account.get", {"accountId": "unknown"}, "accountNotFound"),
    ("session.refresh", {"refreshToken": "unknown"}, None),
    ("signUp.submitCode", {"continuationToken": "unknown", "code": "123456"}, None),
    ("no.such", {}, None),
)


class Load:
    """Two processes on one store: `steady` runs the whole time, `restarted` is restarted again and again. `window` collects latencies."""

    def __init__(self, name, store, scratch):
        self.name, self.store, self.scratch = name, store, scratch
        self.random = random.Random(name)
        self.window, self.done, self.restarts, self.failures = [], 0, 0, []
        self.rounds = {"steady": threading.Lock(), "restarted": threading.Lock()}
        self.steady, self.restarted = self._start(), self._start()
        for method, params in (
                ("pool.create", {"name": "shop", "poolId": POOL, "developerProvider": "login.shop", "allowUnauthenticated": True}),
                ("role.put", {"name": "shop", "trustPolicy": TRUST}), ("pool.setRoles", {"poolId": POOL, "roles": {"authenticated": ROLE}})):
            self.steady.call(method, params)
        self.steady.write(b"".join(mints(range(USERS))))
        self.tokens = [json.loads(line)["result"]["token"] for line in self.steady.lines(USERS)]

    def _start(self):
        environment = {"MINTMARK_MASTER_KEY": MASTER_KEY} if self.store.startswith("postgres") else {}
        return Sidecar(*OPTIONS, store=self.store, environment=environment, checked=False)

    def timed(self, sidecar, method, params=None):
        began = time.perf_counter()
        result = sidecar.call(method, params, timeout=60)
        self.window.append((time.perf_counter() - began) * 1e3)
        self.done += 1
        return result

    def pipelined(self, sidecar, lines):
        """Sends the requests in one block. Every one must succeed."""
        sidecar.write(b"".join(lines))
        answers = sidecar.lines(len(lines), timeout=60)
        bad = [answer for answer in answers if b'"result":' not in answer]
        if bad:
            self.failures.append(bad[0][:300].decode())
        self.done += len(lines)
        return answers

    def tokens_and_credentials(self, sidecar):
        drawn = known(100, USERS, self.random.random())
        minted = [json.loads(line)["result"]["token"] for line in self.pipelined(sidecar, list(mints(drawn)))]
        self.pipelined(sidecar, [request_line("token.verify", {"token": token, "audience": POOL}, id=1) for token in minted[:40]])
        self.pipelined(sidecar, [request_line("credentials.get", {"token": token}, id=1) for token in minted[:20]])
        self.pipelined(sidecar, list(lookups(drawn[:20])))
        guests = [json.loads(line)["result"]["identityId"] for line in self.pipelined(
            sidecar, [request_line("identity.resolve", {"poolId": POOL}, id=1) for _ in range(10)])]
        self.pipelined(sidecar, [request_line("identity.delete", {"identityIds": guests}, id=1)])
        for _ in range(10):
            self.timed(sidecar, "system.ping")
            self.timed(sidecar, "token.mintForDeveloper", {"poolId": POOL, "logins": {"login.shop": f"user-{self.random.randrange(USERS)}"}})

    def person(self, sidecar):
        """A user signs up, uses the session and deletes the account."""
        address = f"user{self.random.getrandbits(60)}@example.com"
        step = sidecar.call("signUp.start", {"username": address, "password": "correct Horse 9"}, timeout=60)
        message = sidecar.call("test.outbox", {"to": address, "waitSeconds": 30, "clear": True}, timeout=60)["messages"][0]
        step = sidecar.call("signUp.submitCode", {"continuationToken": step["continuationToken"], "code": message["code"]}, timeout=60)
        step = sidecar.call("signIn.withContinuation", {"continuationToken": step["continuationToken"]})
        fresh = self.timed(sidecar, "session.refresh", {"refreshToken": step["refreshToken"]})
        self.timed(sidecar, "account.me", {"idToken": fresh["idToken"]})
        sidecar.call("session.signOut", {"refreshToken": fresh["refreshToken"]})
        sidecar.call("account.delete", {"accountId": step["account"]["accountId"]})
        sidecar.call("test.outbox", {"to": address, "clear": True})   # Other people of this store wait for their messages.
        self.done += 7

    def wrong_requests(self, sidecar):
        for method, params, kind in WRONG:
            error = sidecar.refusal(method, params)
            if kind and error.type != kind:
                self.failures.append(f"{method} failed with {error.type}")
        self.done += len(WRONG)

    def run(self, until, rate=1.0):
        """Runs the load until `until`, at most `rate` rounds a second for each of the two processes."""
        self.until = until
        jobs = [threading.Thread(target=self._rounds, args=(which, rate)) for which in ("steady", "restarted")]
        jobs += [threading.Thread(target=self._slow_reader), threading.Thread(target=self._clock)]
        for job in jobs:
            job.start()
        return jobs

    def _rounds(self, which, rate):
        born = rotated = time.monotonic()
        while time.monotonic() < self.until:
            began = time.monotonic()
            try:
                with self.rounds[which]:
                    sidecar = getattr(self, which)
                    for part in (self.tokens_and_credentials, self.person, self.wrong_requests):
                        part(sidecar)
                    if which == "steady" and began - rotated > 60:
                        rotated = began
                        sidecar.call("key.rotate", {"poolId": POOL})
                    if which == "restarted" and began - born > 45:
                        born = began
                        self._restart()
            except Exception as error:   # The load expects no failure.
                self.failures.append(f"{type(error).__name__}: {error}"[:300])
            time.sleep(max(.05, 1 / rate - (time.monotonic() - began)))

    def _restart(self):
        """Every second time, the process is killed."""
        self.restarts += 1
        old = self.restarted
        if self.restarts % 2:
            old.signal(signal.SIGKILL)
            old.process.wait(20)
            old.process.stdin.close()
        else:
            old.close()
        self.restarted = self._start()

    def _slow_reader(self):
        """A host that asks for a megabyte and reads it slowly; then its process ends and the next one starts."""
        while time.monotonic() < self.until:
            environment = {"MINTMARK_MASTER_KEY": MASTER_KEY} if self.store.startswith("postgres") else {}
            slow = Sidecar(*OPTIONS, store=self.store, environment=environment, checked=False, reading=False)
            slow.write(request_line("rpc.discover", {}, id=1) + b"".join(request_line("system.info", id=2) for _ in range(200)))
            for _ in range(60):
                if time.monotonic() > self.until:
                    break
                os.read(slow.process.stdout.fileno(), 1 << 14)
                time.sleep(.25)
            slow.process.kill()
            slow.process.wait()
            slow.process.stdin.close()
            slow.process.stdout.close()

    def _clock(self):
        """Every ten seconds, between two rounds, twelve hours pass: sessions, keys, records and counters expire as in months of service."""
        while time.monotonic() < self.until - 10:
            time.sleep(10)
            with self.rounds["steady"], self.rounds["restarted"]:
                try:
                    self.steady.call("test.clock", {"advanceSeconds": 43_200, "settle": False}, timeout=60)
                except Exception as error:
                    self.failures.append(f"{type(error).__name__}: {error}"[:300])

    def close(self):
        audit = self.steady.call("audit.verify", timeout=120)
        for sidecar in (self.steady, self.restarted):
            sidecar.close()
        return audit
