"""The simulation of one seed: processes on one store, their calls in any order of their system calls, faults, kills and power failures."""

import hashlib
import json
import os
import random
import shutil
import sqlite3
import tempfile

import calls
import pools
from calls import STORE, Violation
from facts import UNKNOWN, Register
from process import MEMORY, Process, cut_power

MOMENT = 1_700_000_000
DISK = ["write", "sync", "truncate", "read", "lock", "allocate", "map", "open"]
EIO, EAGAIN, ENOSPC = 5, 11, 28


# The calls, and how often each of them is chosen.
WEIGHTS = {
    calls.Create: 5, calls.SignIn: 10, calls.StartSignUp: 3, calls.SubmitCode: 7, calls.Continue: 3, calls.Use: 8, calls.SignOut: 1.5, calls.Verify: 5,
    calls.Link: 4, calls.Unlink: 4, calls.MergeAccounts: 4, calls.Backup: 0.5, calls.Disable: 2.5, calls.SetPassword: 1.5, calls.RevokeAll: 1, calls.Delete: 1, calls.Clock: 0.7, calls.Rotate: 0.5, pools.Mint: 7, pools.Merge: 2,
    pools.UnlinkDeveloper: 1.5, pools.Guest: 2, pools.UpdatePool: 1.5, pools.UseToken: 3}


class Template:
    """A store that every seed begins with. Made once: its tables, keys and tenant."""

    def __init__(self):
        import providers
        self.folder = tempfile.mkdtemp(prefix="mintmark-", dir=MEMORY)
        self.store = os.path.join(self.folder, "template.db")
        self.tokens, settings = providers.logins(MOMENT)
        self.settings = {"name": "shop", "developerProvider": pools.DEVELOPER, "allowUnauthenticated": True, "providers": settings}
        process = Process(self.store, options=["--clock", str(MOMENT)], pauses=False, environment={"SIMULATOR_MUTANT": "none"})
        try:
            result = self._call(process, "test.seed", {"seed": "template"})
            self._call(process, "tenant.update", {
                "tenantId": "default", "tokens": {"refreshReuseGraceSeconds": 0},
                "codes": {"resendAfterSeconds": 0, "sendsPerAddress": 100}, "lockout": {"threshold": 2}})
            self._call(process, "idp.create", {"providerId": calls.PROVIDER, "clientId": "shop", **{name: settings[0][name] for name in ("issuer", "keys")}})
            self.pool = self._call(process, "pool.create", self.settings)["poolId"]
            self._call(process, "token.mintForDeveloper", {"poolId": self.pool, "logins": {pools.DEVELOPER: "first"}})
            # The keys of the tenant are made on first use.
            self._call(process, "account.create", {"username": "first@example.com", "password": calls.PASSWORDS[0]})
            result = self._call(process, "signIn.withPassword", {"username": "first@example.com", "password": calls.PASSWORDS[0]})
            self._call(process, "account.delete", {"accountId": result["account"]["accountId"]})
            process.process.stdin.close()
            process.process.wait(30)
        finally:
            process.close()

    @staticmethod
    def _call(process, method, params):
        message = process.call(method, params)
        if "error" in message:
            raise AssertionError(f"{method}: {message['error']['message']}")
        return message["result"]

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class World:
    """The facts that follow from the responses of all processes."""

    def __init__(self, simulation):
        self.simulation, self.random, self.template = simulation, simulation.random, simulation.template
        self.names = [f"u{number}@example.com" for number in range(3)]
        self.users = [f"d{number}" for number in range(4)]
        self.holders = {name: Register(None) for name in self.names}
        self.clock, self.guests = Register(MOMENT), Register(True)
        self.accounts, self.flows, self.linked, self.minted, self.kept_identities, self.seen = [], [], [], [], [], {}
        self.unlinks, self.guessed, self.strays = {}, set(), {}
        self.step = 0

    def pick(self, values):
        return self.random.choice(values)

    def unique(self, kind, value):
        if value in self.seen:
            raise Violation(f"the {kind} {value[:40]} was answered in step {self.seen[value]} and again")
        self.seen[value] = self.step

    def codes(self, name):
        """Returns the codes of the messages to an address, as far as the store can be read now."""
        return [code for code, in self.simulation.rows("SELECT code FROM outbox WHERE recipient = ? ORDER BY number", name)]

    def states(self):
        """Returns the states of the identities. Empty while the store cannot be read."""
        return dict(self.simulation.rows("SELECT id, state FROM identity"))

    def sessions(self):
        return [session for account in self.accounts for session in account.sessions]

    def next_call(self):
        """Returns a random call that is possible in this state. The first ones create accounts, because most calls need one."""
        if self.step <= 3:
            return calls.Create(self)
        while True:
            call = self.make(self.random.choices(list(WEIGHTS), WEIGHTS.values())[0])
            if call:
                return call

    def make(self, kind):
        """Returns a call of this kind with random parameters, or None if there is nothing that it could use."""
        accounts, sessions = self.accounts[-4:], self.sessions()
        # Most calls use what has not ended, because most of the others are refused.
        if self.random.random() < 0.75:
            accounts = [each for each in self.accounts if not each.exists.sure(False)][-4:] or accounts
            sessions = [each for each in sessions if not each.alive.sure(False)] or sessions
        sessions = sessions[-5:]
        if kind in (calls.Delete, calls.SetPassword, calls.RevokeAll, calls.Link):
            return kind(self, self.pick(accounts)) if accounts else None
        if kind is calls.Disable:
            return kind(self, self.pick(accounts), self.random.random() < 0.5) if accounts else None
        if kind is calls.Use:
            session = self.pick(sessions) if sessions else None
            return kind(self, session, session.tokens[-1] if self.random.random() < 0.8 else self.pick(session.tokens)) if session else None
        if kind is calls.MergeAccounts:
            pairs = [(source, target) for source in sessions for target in sessions if source.account is not target.account]
            return kind(self, *self.pick(pairs)) if pairs else None
        if kind in (calls.SignOut, calls.Verify, calls.Unlink):
            return kind(self, self.pick(sessions)) if sessions else None
        if kind is calls.SubmitCode:
            return kind(self, self.pick(self.flows[-3:])) if self.flows else None
        if kind is calls.Continue:
            finished = [flow for flow in self.flows if flow.next_token]
            return kind(self, self.pick(finished)) if finished else None
        if kind is pools.UnlinkDeveloper:
            owners = self.simulation.rows("SELECT subject, identity_id FROM login WHERE provider = ?", pools.DEVELOPER)
            return kind(self, *self.pick(sorted(owners))) if owners else None
        if kind is pools.UseToken:
            return kind(self, *self.pick(self.minted[-6:])) if self.minted else None
        return kind(self)


class Simulation:
    """One seed. `run` raises `Violation`."""

    def __init__(self, seed, template, count=40, environment=None):
        self.seed, self.template, self.count, self.environment = seed, template, count, environment
        self.random = random.Random(f"mintmark {seed}")
        self.folder = tempfile.mkdtemp(prefix="mintmark-", dir=MEMORY)
        self.store, self.journal = os.path.join(self.folder, "store.db"), os.path.join(self.folder, "journal")
        for suffix in ("", ".key"):
            shutil.copy(template.store + suffix, self.store + suffix)
        self.log, self.statistics = [], dict.fromkeys(["calls", "kills", "power cuts", "faults", "pauses", "restarts", "checks"], 0)
        self.verified = None
        self.reader, self.audited, self.acknowledged, self.finished = None, {}, [], set()
        self.processes, self.running = [], {}
        self.world = World(self)

    # The store as a reader sees it

    def rows(self, query, *parameters):
        """Reads the store. The result is empty while a process is paused with a lock that readers need."""
        if any(each.blocks_readers for each in self.running):
            return []
        if not self.reader:
            self.reader = sqlite3.connect(f"file:{self.store}?mode=ro", uri=True, timeout=0, isolation_level=None)
        return self.reader.execute(query, parameters).fetchall()

    def forget_reader(self):
        """Closes the reader, so that a process that starts alone recovers the file as after a crash."""
        if self.reader:
            self.reader.close()
            self.reader = None

    # The run

    def run(self):
        try:
            self.processes = [self.start(number) for number in range(self.random.choice([2, 2, 3]))]
            self.must("test.seed", {"seed": f"seed {self.seed}"})
            while self.world.step < self.count or self.running:
                self.turn()
            self.look(True)
        except sqlite3.DatabaseError as error:
            raise Violation(f"the store cannot be read: {error}") from error
        finally:
            self.close()
        return self.digest()

    def start(self, number):
        """Starts a process. Its threads open the store at the same time, in an order that no seed decides. So no other call is
        pending, and the process is not interrupted until all of them have finished."""
        process = Process(self.store, journal=self.journal, options=["--clock", str(MOMENT)], environment=self.environment)
        process.number, process.sleeping, process.fault = number, False, None
        for method, params in (("system.ping", {}), ("test.clock", {"settle": True})):
            found = process.call(method, params)
            if "result" not in found:
                raise Violation(f"a process did not start: {found}")
        self.tell(process, "starts")
        return process

    def must(self, method, params):
        found = self.processes[0].call(method, params)
        if "error" in found:
            raise Violation(f"{method} failed without a fault: {found['error']['message']}")
        return found["result"]

    def turn(self):
        """One decision: which process continues, for how long, and what happens to it."""
        chance = self.random.random()
        dead = [each for each in self.processes if each.state == "dead"]
        idle = [each for each in self.processes if each.state == "idle"]
        if dead and not self.running and (chance < 0.4 or not idle):
            return self.restart(self.random.choice(dead))
        if chance < 0.005:
            return self.fail_power()
        if chance < 0.02 and (idle or self.running):
            return self.kill(self.random.choice(self.processes))
        ready = [each for each in self.running if not each.sleeping] or list(self.running)
        if idle and self.world.step < self.count and (not ready or self.random.random() < 0.45):
            return self.begin(self.random.choice(idle))
        if ready:
            self.advance(self.random.choice(ready))

    def begin(self, process):
        self.world.step += 1
        self.statistics["calls"] += 1
        call = self.world.next_call()
        call.step, call.trace, process.fault = self.world.step, f"step-{self.world.step}", None
        process.begin(call.method, call.params, trace=call.trace)
        if self.random.random() < 0.06:
            kind, code = self.random.choice(DISK), self.random.choice([EIO, ENOSPC])
            code = -ENOSPC if kind == "write" and self.random.random() < 0.3 else EIO if kind in ("lock", "map", "open", "read") else code
            at, times = self.random.choice([1, 2, 3, 5, 8, 13, 21]), self.random.choice([1, 1, 1000])
            process.fail([kind], at, code, times)
            process.fault = kind
        self.running[process] = call
        self.tell(process, f"{call.method} {self.brief(call.params)}{f' with a failing {process.fault}' if process.fault else ''}")
        self.advance(process)

    def advance(self, process):
        sites = None if self.random.random() < 0.5 else self.random.choice([1, 2, 3, 5, 8, 13, 30])
        kind, found = process.advance(sites)
        process.sleeping = kind == "sleep"
        for each in self.running:
            if each is not process:
                each.sleeping = False
        if kind in ("paused", "sleep"):
            self.statistics["pauses"] += 1
            return self.tell(process, f"{kind} at {found} {process.control.sites}")
        call = self.running.pop(process)
        if kind == "ended":
            raise Violation(f"process {process.number} ended by itself with {found} during {call.method}: {process.words()}")
        self.answer(process, call, found)

    def answer(self, process, call, message):
        failed = process.control.failed
        if failed:
            self.statistics["faults"] += 1
        if "result" in message:
            self.tell(process, f"{call.method} answered {self.brief(message['result'])}")
            call.answered(message["result"])
            if call.is_audited:
                self.acknowledged.append((call.trace, call.method))
        else:
            error = message["error"]
            kind = (error.get("data") or {}).get("type", "internalError")
            self.tell(process, f"{call.method} failed with {kind}{f' after {failed} faults' if failed else ''}")
            if kind in STORE | {"backupFailed", "copyNotVerified"} and not failed and kind != "storeBusy":
                raise Violation(f"{call.method} failed without a fault: {error['message']}")
            call.refused(error)
            if call.outcome != calls.UNCERTAIN:
                self.finished.add(call.trace)
        self.look(False)

    def kill(self, process):
        if process.state == "dead":
            return
        self.statistics["kills"] += 1
        if sum(each.state != "dead" for each in self.processes) == 1:
            self.forget_reader()
        self.tell(process, "is killed")
        process.kill()
        if process in self.running:
            self.running.pop(process).lost()

    def fail_power(self):
        self.statistics["power cuts"] += 1
        self.forget_reader()
        for process in self.processes:
            if process.state != "dead":
                process.kill()
            if process in self.running:
                self.running.pop(process).lost()
        lost = cut_power(self.store, self.journal, self.random)
        self.audited = {}
        self.log.append(f"{self.world.step:3} the power fails; {lost} changes were not on the disk")

    def restart(self, process):
        self.statistics["restarts"] += 1
        process.close()
        place = self.processes.index(process)
        self.processes[place] = self.start(process.number)
        self.look(True)

    # Invariants

    def look(self, complete):
        """Checks the store. `complete` adds the checks that read all of it."""
        if all(each.state == "dead" for each in self.processes) or any(each.blocks_readers for each in self.running):
            return
        self.statistics["checks"] += 1
        try:
            self.rows("BEGIN")
            self.check_accounts()
            pools.check(self.world, self.rows("SELECT id, state FROM identity"), self.rows("SELECT provider, subject, identity_id FROM login"))
            self.check_audit(complete)
            self.check_records()
            if self.rows("PRAGMA foreign_key_check"):
                raise Violation("a row refers to a row that does not exist")
            if complete:
                damage = self.rows("PRAGMA quick_check")
                if damage != [("ok",)]:
                    raise Violation(f"the store is damaged: {damage[:3]}")
            self.rows("COMMIT")
        except sqlite3.OperationalError as error:
            self.forget_reader()
            if "locked" not in str(error):
                raise
        idle = [each for each in self.processes if each.state == "idle"]
        if idle and self.has_new_records(complete):
            found = idle[0].call("audit.verify")
            if not (found.get("result") or {}).get("intact"):
                raise Violation(f"the audit log is not intact: {found}")

    def has_new_records(self, complete):
        """Whether the audit log has changed since it was last verified, or `complete`."""
        try:
            found = self.rows("SELECT count(*), max(rowid) FROM audit")
        except sqlite3.OperationalError:
            self.forget_reader()
            return True
        changed = complete or found != self.verified
        self.verified = found
        return changed

    def check_accounts(self):
        accounts = {id: (name, disabled) for id, name, disabled in self.rows("SELECT id, username, disabled FROM account")}
        names = self.rows("SELECT name, account_id FROM account_name WHERE kind = 'email'")
        sessions = dict(self.rows("SELECT id, account_id FROM session"))
        logins = {id: subject for id, subject in self.rows("SELECT account_id, subject FROM account_login")}
        closed = self.rows("SELECT id FROM account WHERE method = 'federated' AND id NOT IN (SELECT account_id FROM account_login)")
        if closed:
            raise Violation(f"the account {closed[0][0]} has no sign-in method")
        if sorted(names) != sorted((name, id) for id, (name, _) in accounts.items()):
            raise Violation(f"the addresses {names} are not those of the accounts {accounts}")
        if len({name for name, _ in names}) != len(names):
            raise Violation(f"an address has two accounts: {names}")
        for id, owner in sessions.items():
            if accounts[owner][1]:
                raise Violation(f"the disabled account {owner} has the session {id}")
        for account in self.world.accounts:
            there = account.id in accounts
            if account.exists.sure(not there):
                raise Violation(f"the account {account.id} of {account.name} {'was deleted and exists' if there else 'is lost'}")
            if there and account.disabled.sure(not accounts[account.id][1]):
                raise Violation(f"{account.name}: the answered value of `disabled` is lost")
            if there and account.login.known != UNKNOWN and account.login.known != logins.get(account.id):
                raise Violation(f"{account.name} has the login {logins.get(account.id)}, and {account.login.known} was answered")
            for session in account.sessions:
                if session.alive.sure(session.id not in sessions):
                    raise Violation(f"the session {session.id} {'was ended and exists' if session.id in sessions else 'is lost'}")

    def check_records(self):
        """Everything that exists was recorded, in the transaction that made it."""
        for table, query in (
                ("account", "SELECT id FROM account WHERE NOT EXISTS (SELECT 1 FROM audit WHERE subject = account.id)"),
                ("identity", "SELECT id FROM identity WHERE NOT EXISTS (SELECT 1 FROM audit WHERE identity_id = identity.id)"),
                ("session", "SELECT id FROM session WHERE NOT EXISTS (SELECT 1 FROM audit WHERE instr(details, session.id))")):
            unrecorded = self.rows(query)
            if unrecorded:
                raise Violation(f"the {table} {unrecorded[0][0]} is not in the audit log")

    def check_audit(self, complete):
        """Every acknowledged change has one record, and a refused call has none."""
        if complete:
            self.audited = {}
        last = max(self.audited.values(), default=0)
        for row, trace, method in self.rows("SELECT rowid, trace, method FROM audit WHERE rowid > ? AND trace IS NOT NULL", last):
            if (trace, method) in self.audited and method in calls.AUDITED:
                raise Violation(f"{trace} {method} was applied twice")
            self.audited[trace, method] = row
            if trace in self.finished and method in calls.AUDITED:
                raise Violation(f"{trace} {method} was refused and recorded")
        for key in self.acknowledged:
            if key not in self.audited:
                raise Violation(f"{key[0]} {key[1]} was acknowledged and is not in the audit log")

    # The transcript

    def tell(self, process, text):
        self.log.append(f"{self.world.step:3} process {process.number}: {text}")

    def brief(self, value):
        text = json.dumps(value, sort_keys=True).replace(self.folder, "…")
        return text if len(text) < 160 else f"{text[:100]}… {hashlib.sha256(text.encode()).hexdigest()[:8]}"

    def digest(self):
        return hashlib.sha256("\n".join(self.log).encode()).hexdigest()[:16]

    def close(self):
        self.forget_reader()
        for process in self.processes:
            process.close()
        shutil.rmtree(self.folder, ignore_errors=True)
