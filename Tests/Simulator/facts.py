"""The possible values of an item that several processes change at the same time, as a client can derive them from the responses.

A register has a set of possible values. A write with a response leaves one value, if no other write ran at the same time. A write without
an answer, because its process was killed or the disk failed, leaves both. Therefore a check never depends on luck: it applies only if
every possible order of the calls leads to the same value.
"""

UNKNOWN = "unknown"
DONE, REFUSED, UNCERTAIN = "done", "refused", "uncertain"


class Register:
    def __init__(self, *values):
        self.values, self.pending, self.crossed, self.version = set(values), {}, set(), 0

    def begin(self, call, value):
        """A call that can write `value` was sent."""
        if self.pending:
            self.crossed.update(self.pending, (call,))
        self.pending[call] = value
        self.version += 1

    def end(self, call, outcome, value=None):
        """The call got its response, or will never get one. `value` replaces the value of `begin`, if the answer determines it."""
        written = self.pending.pop(call)
        written = written if value is None else value
        if outcome == DONE:
            self.values = self.values | {written} if call in self.crossed else {written}
        elif outcome == UNCERTAIN:
            self.values = self.values | {written}
        self.crossed.discard(call)
        self.version += 1

    @property
    def possible(self):
        return self.values | set(self.pending.values())

    def sure(self, value):
        return self.possible == {value}

    @property
    def known(self):
        """The only possible value, or `UNKNOWN`."""
        possible = self.possible
        return next(iter(possible)) if len(possible) == 1 else UNKNOWN


class Claim:
    """States that registers have certain values from now until the claim is looked at again."""

    def __init__(self, *pairs):
        self.versions = {register: register.version for register, _ in pairs}
        self.is_sure = all(register.sure(value) for register, value in pairs)

    @classmethod
    def unchanged(cls, register):
        """States only that no call writes to a register in the meantime."""
        claim = cls((register, None))
        claim.is_sure = not register.pending
        return claim

    def allow(self, register):
        """The call that makes the claim writes to the register itself."""
        if register in self.versions:
            self.versions[register] += 1

    @property
    def holds(self):
        return self.is_sure and all(register.version == version for register, version in self.versions.items())


class Session:
    def __init__(self, account, result):
        self.account, self.alive = account, Register(True)
        self.id = None
        self.tokens = []
        self.keep(result)

    def keep(self, result):
        self.id_token, self.expires = result["idToken"], result["expiresAt"]
        self.tokens.append(Refresh(result["refreshToken"]))


class Refresh:
    def __init__(self, text):
        self.text, self.used, self.answers = text, Register(False), 0


class Account:
    def __init__(self, id, name, password):
        self.id, self.name = id, name
        self.exists, self.disabled, self.password = Register(True), Register(False), Register(password)
        # The subject of the account's login at the provider of the simulation, or None.
        self.login = Register(None)
        self.sessions, self.wrong, self.locked = [], 0, None
        # Changed by each call that ends all sessions of the account.
        self.endings = Register(0)


class SignUp:
    def __init__(self, name, password, token):
        self.name, self.password, self.token = name, password, token
        self.attempts, self.completed, self.accounts = [], Register(False), set()
        self.next_token, self.spent, self.sign_ins = None, Register(False), 0
