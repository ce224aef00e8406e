"""The calls of the simulation on accounts: what each one may answer, and what its answer changes."""

import base64
import contextlib
import json
import os
import sqlite3

from facts import DONE, REFUSED, UNCERTAIN, UNKNOWN, Account, Claim, Refresh, Register, Session, SignUp

PASSWORDS = ["correct horse 9 Battery", "another horse 10 Staple", "third horse 11 Clip"]
# Errors of the store: the change may or may not be kept.
STORE = {"storeBusy", "storeReadOnly", "storeFull", "storeCorrupt", "storeCannotOpen", "outcomeUnknown", "internalError"}
# Methods whose success adds exactly one record to the audit log, in the transaction of the change.
AUDITED = {
    "account.create", "account.update", "account.unlink", "account.delete", "signIn.withPassword", "signUp.submitCode", "key.rotate",
    "pool.update", "signIn.withContinuation", "identity.unlinkDeveloper"}
# An identity provider of the tenant, and users there. Its logins are linked by the administrator, so no request is sent to it.
PROVIDER, SUBJECTS = "oidc.work", ["s0", "s1"]
# The value of an account's password after the user has unlinked it.
UNLINKED = "unlinked"


class Violation(AssertionError):
    """An invariant does not hold."""


class Call:
    """A call in flight."""

    def __init__(self, world, method, params):
        self.world, self.method, self.params = world, method, params
        self.forbidden, self.promised, self.writes = [], [], []
        self.now = world.clock.known
        self.at = Claim((world.clock, self.now))
        # Whether a success must have added its record to the audit log.
        self.is_audited = method in AUDITED

    def forbid(self, claim, text):
        """A success is a violation if the claim holds."""
        self.forbidden.append((claim, text))

    def promise(self, errors, claim, text):
        """One of these errors is a violation if the claim holds. `errors` can be a function of the error."""
        self.promised.append((errors, claim, text))

    def write(self, register, value, late=None):
        """The call can write a value. `late` determines it from the result, once it is known."""
        register.begin(self, value)
        self.writes.append((register, late))
        for claim in [each[0] for each in self.forbidden] + [each[1] for each in self.promised]:
            claim.allow(register)

    def answered(self, result):
        for claim, text in self.forbidden:
            if claim.holds:
                raise Violation(f"{text}: {self.method} succeeded")
        self.settle(DONE, result)
        self.done(result)

    def refused(self, error):
        kind = error["data"].get("type") if error.get("data") else "internalError"
        for errors, claim, text in self.promised:
            if (errors(error) if callable(errors) else kind in errors) and claim.holds:
                raise Violation(f"{text}: {self.method} failed with {kind}: {error['message']}")
        self.settle(UNCERTAIN if kind in STORE else REFUSED, None)
        self.failed(kind, error)

    def lost(self):
        """The process was killed before it answered."""
        self.settle(UNCERTAIN, None)
        self.gone()

    def settle(self, outcome, result):
        for register, late in self.writes:
            register.end(self, outcome, late(result) if late and outcome == DONE else None)
        self.outcome = outcome

    def done(self, result):
        pass

    def failed(self, kind, error):
        pass

    def gone(self):
        pass


def payload(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def ends_sessions(call, account):
    call.write(account.endings, object())
    for session in account.sessions:
        call.write(session.alive, False)


def expires(call, result, seconds):
    """Checks the expiry time of a new token, if the time was known during the whole call."""
    if call.at.holds and result["expiresAt"] != call.now + seconds:
        raise Violation(f"{call.method} at {call.now} returned a token that expires at {result['expiresAt']}")


def signed_in(call, account, result, crossing):
    """Keeps the session of a sign-in. If a call that ends the sessions of the account ran at the same time, it is unknown whether it ended it."""
    expires(call, result, 3600)
    session = Session(account, result)
    session.id = payload(result["idToken"])["sid"]
    call.world.unique("session", session.id)
    call.world.unique("refresh token", result["refreshToken"])
    if not crossing or not crossing.holds:
        session.alive.values = {True, False}
    account.sessions.append(session)
    return session


class Create(Call):
    def __init__(self, world):
        name, password = world.pick(world.names), world.pick(PASSWORDS)
        super().__init__(world, "account.create", {"username": name, "password": password})
        holder = world.holders[name]
        self.forbid(Claim((holder, holder.known)) if holder.known is not None else Claim((holder, 0)), f"{name} has two accounts")
        self.promise({"userAlreadyExists"}, Claim((holder, None)), f"{name} is free")
        self.write(holder, UNKNOWN, lambda result: self.account)
        self.name, self.password, self.account = name, password, None

    def settle(self, outcome, result):
        if result:
            self.account = Account(result["accountId"], self.name, self.password)
            self.world.unique("account", self.account.id)
        super().settle(outcome, result)

    def done(self, result):
        self.world.accounts.append(self.account)


class Delete(Call):
    def __init__(self, world, account):
        super().__init__(world, "account.delete", {"accountId": account.id})
        self.forbid(Claim((account.exists, False)), f"{account.name} was deleted")
        self.promise({"accountNotFound"}, Claim((account.exists, True)), f"{account.name} exists")
        self.write(account.exists, False)
        holder = world.holders[account.name]
        if account in holder.possible or UNKNOWN in holder.possible:
            self.write(holder, None)
        ends_sessions(self, account)


class Disable(Call):
    def __init__(self, world, account, disabled):
        super().__init__(world, "account.update", {"accountId": account.id, "disabled": disabled})
        self.forbid(Claim((account.exists, False)), f"{account.name} was deleted")
        self.promise({"accountNotFound"}, Claim((account.exists, True)), f"{account.name} exists")
        self.write(account.disabled, disabled)
        if disabled:
            ends_sessions(self, account)


class SetPassword(Call):
    def __init__(self, world, account):
        password = world.pick(PASSWORDS)
        super().__init__(world, "account.update", {"accountId": account.id, "password": password})
        self.forbid(Claim((account.exists, False)), f"{account.name} was deleted")
        self.promise({"accountNotFound"}, Claim((account.exists, True)), f"{account.name} exists")
        self.account = account
        self.write(account.password, password)
        ends_sessions(self, account)
        # The old password, which was right when it was sent, can now be wrong.
        account.wrong += sum(isinstance(call, SignIn) and call.account is account for call in world.simulation.running.values())

    def settle(self, outcome, result):
        # A wrong password that was tried at the same time can have locked the account before this call unlocked it.
        self.account.locked = None
        super().settle(outcome, result)


class SignIn(Call):
    def __init__(self, world):
        taken = [name for name in world.names if not world.holders[name].sure(None)]
        name = world.pick(taken if taken and world.random.random() < 0.75 else world.names)
        holder = world.holders[name]
        account = holder.known if isinstance(holder.known, Account) else None
        wrong = world.random.random() < 0.25
        password = f"wrong {world.step}" if wrong else world.pick(PASSWORDS)
        if account and not wrong and account.password.known != UNKNOWN and world.random.random() < 0.8:
            password = account.password.known
        super().__init__(world, "signIn.withPassword", {"username": name, "password": password})
        self.account = account
        if holder.sure(None):
            self.forbid(Claim((holder, None)), f"{name} has no account")
        if not account:
            # An account that is created during the call counts this as a wrong password.
            world.strays.setdefault(name, set()).add(self)
            return
        here = (holder, account), (account.exists, True)
        self.crossing = Claim.unchanged(account.endings)
        self.forbid(Claim(*here, (account.disabled, True)), f"{name} is disabled")
        if password not in account.password.possible:
            self.forbid(Claim(*here, (account.password, account.password.known)), f"the password of {name} is another")
        if account.locked:
            self.forbid(Claim(*here, (world.clock, account.locked), (account.password, account.password.known)), f"{name} is locked")
        self.promise({"userNotFound"}, Claim(*here), f"{name} has an account")
        self.promise({"accountDisabled"}, Claim(*here, (account.disabled, False)), f"{name} is enabled")
        self.promise({"invalidPassword"}, Claim(*here, (account.password, password)), f"the password of {name} was set")
        if account.password.known != password:
            account.wrong += 1
        # Decided when the answer arrives: until then, other calls can try wrong passwords.
        self.promise(self.locks_without_reason, Claim(*here), f"nobody tried a wrong password of {name}")

    def locks_without_reason(self, error):
        name = self.params["username"]
        return (error.get("data") or {}).get("type") == "accountLocked" and not (
            self.account.wrong or name in self.world.guessed or self.world.strays.get(name))

    def done(self, result):
        account = next((each for each in self.world.accounts if each.id == result["account"]["accountId"]), None)
        if self.account and self.account.exists.sure(True) and account is not self.account:
            raise Violation(f"{self.params['username']} signed in to another account")
        if account:
            signed_in(self, account, result, self.crossing if self.account is account else None)

    def failed(self, kind, error):
        if kind == "userNotFound":
            self.world.strays.get(self.params["username"], set()).discard(self)
        # The wrong password that starts a lockout is refused with its duration.
        if self.account and kind in ("accountLocked", "invalidPassword") and error["data"].get("retryAfterSeconds") and self.at.holds:
            self.account.locked = self.now


class Use(Call):
    """Uses a refresh token. The tenant has no grace period: each token is accepted once."""

    def __init__(self, world, session, token):
        super().__init__(world, "session.refresh", {"refreshToken": token.text})
        account = session.account
        self.session, self.token = session, token
        self.crossing = Claim.unchanged(account.endings)
        self.forbid(Claim((token.used, True)), "a refresh token was used before")
        self.forbid(Claim((session.alive, False)), "the session has ended")
        self.forbid(Claim((account.disabled, True)), f"{account.name} is disabled")
        self.forbid(Claim((account.exists, False)), f"{account.name} was deleted")
        self.promise(
            {"refreshTokenInvalid", "refreshTokenReused", "accountDisabled"},
            Claim((session.alive, True), (token.used, False), (account.disabled, False), (account.exists, True)), "the refresh token is valid")
        self.write(token.used, True)
        # Reuse detection ends the session, if another call uses the token before this one.
        session.alive.begin(self, False)
        for each in self.forbidden:
            each[0].allow(session.alive)
        for each in self.promised:
            each[1].allow(session.alive)

    def settle(self, outcome, result):
        super().settle(outcome, result)
        self.session.alive.end(self, UNCERTAIN if outcome == UNCERTAIN else REFUSED)

    def done(self, result):
        self.token.answers += 1
        if self.token.answers > 1:
            raise Violation("a refresh token was answered twice")
        self.world.unique("refresh token", result["refreshToken"])
        self.session.id_token, self.session.expires = result["idToken"], result["expiresAt"]
        self.session.tokens.append(Refresh(result["refreshToken"]))
        if not self.crossing.holds:
            self.session.alive.values = self.session.alive.values | {False}

    def failed(self, kind, error):
        if kind == "refreshTokenReused":
            # The answer follows the commit that ends the session, and no session begins again.
            self.session.alive.values = {False}
        elif kind == "refreshTokenInvalid":
            self.session.alive.values = self.session.alive.values | {False}


class SignOut(Call):
    def __init__(self, world, session):
        super().__init__(world, "session.signOut", {"sessionId": session.id})
        self.write(session.alive, False)


class RevokeAll(Call):
    def __init__(self, world, account):
        super().__init__(world, "session.revokeAll", {"accountId": account.id})
        self.promise({"accountNotFound"}, Claim((account.exists, True)), f"{account.name} exists")
        ends_sessions(self, account)


def acts(call, session):
    """A call with the ID token of a session fails if the session or the account has ended."""
    account = session.account
    call.forbid(Claim((session.alive, False)), "the session has ended")
    call.forbid(Claim((account.disabled, True)), f"{account.name} is disabled")
    call.forbid(Claim((account.exists, False)), f"{account.name} was deleted")
    call.promise({"tokenKeyUnknown", "tokenSignatureInvalid", "tokenMalformed", "tokenIssuerMismatch", "tokenNotYetValid"}, Claim(), "the token was issued")


class Link(Call):
    """Links a login, and changes another member of the account in the same call: if the login belongs to another account, that change is made
    before the call is refused, and must not be kept."""

    def __init__(self, world, account):
        subject, disabled = world.pick(SUBJECTS), world.pick([None, True, False, False])
        super().__init__(world, "account.update", {
            "accountId": account.id, "link": [{"providerId": PROVIDER, "subject": subject}], **({} if disabled is None else {"disabled": disabled})})
        self.forbid(Claim((account.exists, False)), f"{account.name} was deleted")
        self.promise({"accountNotFound"}, Claim((account.exists, True)), f"{account.name} exists")
        self.promise({"providerSubjectInUse"}, Claim((account.exists, True), (account.login, subject)), f"{account.name} has this login")
        for other in world.accounts:
            if other is not account:
                self.forbid(Claim((other.exists, True), (other.login, subject)), f"the login {subject} belongs to {other.name}")
        self.write(account.login, subject)
        if disabled is not None:
            self.write(account.disabled, disabled)
        if disabled:
            ends_sessions(self, account)


class Unlink(Call):
    """Unlinks a sign-in method of the user's own account, but never the last one."""

    def __init__(self, world, session):
        provider = world.pick([PROVIDER, "password"])
        super().__init__(world, "account.unlink", {"idToken": session.id_token, "providerId": provider})
        account = session.account
        acts(self, session)
        self.forbid(Claim((account.login, None)), f"{account.name} has at most one sign-in method")
        self.forbid(Claim((account.password, UNLINKED)), f"{account.name} has at most one sign-in method")
        if provider == "password":
            self.write(account.password, UNLINKED)
        else:
            self.write(account.login, None)


class MergeAccounts(Call):
    """Merges an account into another one, which keeps its address and password."""

    def __init__(self, world, source, target):
        super().__init__(world, "account.merge", {"idToken": target.id_token, "sourceIdToken": source.id_token, "policy": "keepTarget"})
        self.source, self.target = source.account, target.account
        # The merge and the sign-in that follows it have a record each.
        self.is_audited = True
        acts(self, source)
        acts(self, target)
        self.crossing, self.same = Claim.unchanged(self.target.endings), Claim.unchanged(self.target.password)
        self.write(self.source.exists, False)
        self.write(self.target.login, UNKNOWN)
        self.holder = world.holders[self.source.name]
        if self.source in self.holder.possible or UNKNOWN in self.holder.possible:
            self.write(self.holder, None)
        ends_sessions(self, self.source)

    def settle(self, outcome, result):
        super().settle(outcome, result)
        if outcome != REFUSED and not (self.same.holds and PASSWORDS.count(self.target.password.known)):
            # A target without a password can take that of the source, and its address: then its sessions end.
            self.target.password.values = self.target.password.values | {UNKNOWN}
            self.holder.values = self.holder.values | {UNKNOWN}
            other = self.world.holders[self.target.name]
            other.values = other.values | {UNKNOWN}
            self.target.endings.version += 1
            for session in self.target.sessions:
                session.alive.values = session.alive.values | {False}

    def done(self, result):
        if result["account"]["accountId"] != self.target.id:
            raise Violation("the merge kept another account")
        signed_in(self, self.target, result, self.crossing)


class Backup(Call):
    """Writes a backup while other calls change the store."""

    def __init__(self, world):
        super().__init__(world, "store.backup", {"path": os.path.join(world.simulation.folder, f"backup-{world.step}.db")})
        self.acknowledged = list(world.simulation.acknowledged)

    def done(self, result):
        """The backup is whole and contains what was acknowledged before the call."""
        with contextlib.closing(sqlite3.connect(f"file:{self.params['path']}?mode=ro", uri=True)) as backup:
            damage = backup.execute("PRAGMA quick_check").fetchall()
            if damage != [("ok",)] or backup.execute("PRAGMA foreign_key_check").fetchall():
                raise Violation(f"the backup is damaged: {damage[:3]}")
            recorded = set(backup.execute("SELECT trace, method FROM audit"))
            missing = [key for key in self.acknowledged if key not in recorded]
            if missing:
                raise Violation(f"{missing[0][0]} {missing[0][1]} was acknowledged and is not in the backup")
            unnamed = backup.execute("SELECT id FROM account WHERE username NOT IN (SELECT name FROM account_name WHERE account_id = account.id)").fetchall()
            if unnamed:
                raise Violation(f"the account {unnamed[0][0]} has no name in the backup")
        os.unlink(self.params["path"])


class Verify(Call):
    def __init__(self, world, session):
        super().__init__(world, "token.verify", {"token": session.id_token, "tenantId": "default", "checkRevoked": True})
        account = session.account
        self.forbid(Claim((session.alive, False)), "the session has ended")
        self.forbid(Claim((account.disabled, True)), f"{account.name} is disabled")
        self.forbid(Claim((account.exists, False)), f"{account.name} was deleted")
        good = (session.alive, True), (account.disabled, False), (account.exists, True)
        self.promise({"tokenRevoked"}, Claim(*good), "the session is active")
        self.promise({"tokenKeyUnknown", "tokenSignatureInvalid", "tokenMalformed", "tokenIssuerMismatch", "tokenNotYetValid"}, Claim(), "the token was issued")
        if world.clock.known != UNKNOWN and world.clock.known < session.expires:
            self.promise({"tokenExpired"}, Claim((world.clock, world.clock.known)), "the token has not expired")


class StartSignUp(Call):
    def __init__(self, world):
        name, password = world.pick(world.names), world.pick(PASSWORDS)
        super().__init__(world, "signUp.start", {"username": name, "password": password})
        holder = world.holders[name]
        if isinstance(holder.known, Account):
            self.forbid(Claim((holder, holder.known)), f"{name} has an account")
        self.promise({"userAlreadyExists"}, Claim((holder, None)), f"{name} is free")
        self.name, self.password = name, password

    def done(self, result):
        # A repeated request continues the same sign-up.
        token = result["continuationToken"]
        if not any((flow.token, flow.name, flow.password) == (token, self.name, self.password) for flow in self.world.flows):
            self.world.unique("continuation token", token)
            self.world.flows.append(SignUp(self.name, self.password, token))


class SubmitCode(Call):
    def __init__(self, world, flow):
        codes = world.codes(flow.name)
        self.guess = world.random.random() < 0.35 or not codes
        code = f"{world.step:08d}" if self.guess else codes[-1]
        super().__init__(world, "signUp.submitCode", {"continuationToken": flow.token, "code": code})
        self.flow, self.holder = flow, world.holders[flow.name]
        world.guessed.add(flow.name)
        if self.guess and code not in codes:
            self.forbid(Claim((flow.completed, False)), "the code is wrong")
        if isinstance(self.holder.known, Account) and self.holder.known.id not in flow.accounts:
            self.forbid(Claim((self.holder, self.holder.known), (flow.completed, False)), f"{flow.name} has two accounts")
        self.is_first = Claim((flow.completed, False))
        self.write(flow.completed, True)
        self.is_first.allow(flow.completed)
        # A completed flow returns the same account again, and writes nothing.
        if flow.completed.values != {True}:
            self.write(self.holder, UNKNOWN, lambda result: self.account)

    def settle(self, outcome, result):
        self.is_audited = self.is_first.holds
        if result:
            id = result.get("accountId")
            known = next((each for each in self.world.accounts if each.id == id), None)
            self.account = known or Account(id, self.flow.name, self.flow.password)
            if not known:
                self.world.unique("account", id)
                self.world.accounts.append(self.account)
        super().settle(outcome, result)

    def done(self, result):
        self.flow.accounts.add(self.account.id)
        if len(self.flow.accounts) > 1:
            raise Violation("one sign-up made two accounts")
        self.flow.next_token = result["continuationToken"]

    def failed(self, kind, error):
        if kind != "invalidCode":
            return
        left = error["data"]["attemptsLeft"]
        if left in self.flow.attempts:
            raise Violation(f"an attempt at a code was not counted: {left} attempts left, twice")
        self.flow.attempts.append(left)


class Continue(Call):
    """Signs in with the continuation token of a completed sign-up. Tokens are returned once."""

    def __init__(self, world, flow):
        super().__init__(world, "signIn.withContinuation", {"continuationToken": flow.next_token})
        self.flow = flow
        self.account = next(each for each in world.accounts if each.id in flow.accounts)
        self.crossing = Claim.unchanged(self.account.endings)
        self.forbid(Claim((flow.spent, True)), "the continuation token was used before")
        self.forbid(Claim((self.account.disabled, True)), f"{flow.name} is disabled")
        self.forbid(Claim((self.account.exists, False)), f"{flow.name} was deleted")
        self.write(flow.spent, True)

    def done(self, result):
        self.flow.sign_ins += 1
        if self.flow.sign_ins > 1:
            raise Violation("a continuation token was answered twice")
        if "refreshToken" in result:
            signed_in(self, self.account, result, self.crossing)


class Clock(Call):
    def __init__(self, world):
        seconds = world.random.choice([1, 30, 61, 301, 700])
        super().__init__(world, "test.clock", {"advanceSeconds": seconds})
        self.write(world.clock, UNKNOWN, lambda result: result["now"])

    def settle(self, outcome, result):
        super().settle(outcome, result)
        for account in self.world.accounts:
            account.locked = None


class Rotate(Call):
    def __init__(self, world):
        super().__init__(world, "key.rotate", {"tenantId": "default", "activateAfterSeconds": 0})

    def done(self, result):
        self.world.unique("signing key", result["kid"])
