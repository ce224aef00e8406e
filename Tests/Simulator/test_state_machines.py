"""Hypothesis state machines over the pipe: accounts with their logins, factors, sessions and merges, and identity pools.

The models are written from the guides (schemas/guides) and the descriptions of the methods, and share no code with the program or with the
simulator. Hypothesis chooses the calls, and reduces a failure to the shortest sequence that shows it.

    MINTMARK_TEST_EXAMPLES (default 12) is the number of examples of each machine; Hypothesis keeps failed ones in .build/hypothesis.
"""

import base64
import hashlib
import hmac
import itertools
import json
import os
import struct
import sys
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "EndToEnd"))
sys.path.insert(0, HERE)

from hypothesis import HealthCheck, Verbosity, settings, strategies as st   # noqa: E402: found in the folders above
from hypothesis.configuration import set_hypothesis_home_dir   # noqa: E402
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test   # noqa: E402
from sidecar import RpcError, Sidecar   # noqa: E402
from test_logins import Provider   # noqa: E402

MOMENT = 1_700_000_010
PASSWORDS = ["correct horse 9 Battery", "another horse 10 Staple"]
EXAMPLES = int(os.environ.get("MINTMARK_TEST_EXAMPLES", "12"))
RECENT = 300
NUMBERS = itertools.count(1)
users, passwords, picks = st.integers(0, 2), st.sampled_from(PASSWORDS), st.integers(0, 1 << 16)
providers, subjects = st.sampled_from(["oidc.a", "oidc.b"]), st.sampled_from(["s0", "s1", "s2"])


class Process:
    """The process that all examples share. Each example has a tenant and a pool of its own."""

    def __init__(self):
        self.sidecar = Sidecar("--clock", str(MOMENT), testing=True)
        self.now = MOMENT
        self.keys = {name: Provider(f"https://{name}.example.com", kid=name) for name in ("oidc.a", "oidc.b")}

    def token(self, name, subject, **claims):
        return self.keys[name].token(subject, iat=self.now - 5, exp=self.now + 600, **claims)

    def wait(self, seconds):
        self.now = self.sidecar.call("test.clock", {"advanceSeconds": seconds})["now"]


shared = None


def process():
    global shared
    if not shared:
        shared = Process()
    return shared


def totp(secret, now):
    """RFC 6238 with SHA-1, 6 digits and 30 seconds."""
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    digest = hmac.new(key, struct.pack(">Q", now // 30), hashlib.sha1).digest()
    place = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[place:place + 4])[0] & 0x7FFFFFFF) % 1_000_000:06d}"


def session_of(result):
    part = result["idToken"].split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))["sid"]


class Account:
    def __init__(self, id, name=None, password=None):
        self.id, self.name, self.password = id, name, password
        self.logins, self.disabled, self.factor, self.factor_id, self.used_step = {}, False, None, None, 0


class Session:
    def __init__(self, account, result, at, strong):
        self.account, self.strong, self.at, self.state = account, strong, at, "active"
        self.used = []
        self.keep(result)

    def keep(self, result):
        self.id, self.id_token, self.refresh = session_of(result), result["idToken"], result["refreshToken"]


class Machine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.process = process()
        self.number = next(NUMBERS)

    def expect(self, wanted, method, params):
        """Calls a method that must succeed if `wanted` is None, and otherwise fail with one of these types. Returns the result or None."""
        try:
            result = self.process.sidecar.call(method, params)
        except RpcError as error:
            assert wanted and error.type in wanted, f"{method} failed with {error.type}, expected {wanted or 'a result'}: {error.message}"
            return None
        assert not wanted, f"{method} succeeded, expected {wanted}"
        return result


class Accounts(Machine):
    """Accounts, links, merges, sessions and second factors of one tenant."""

    def __init__(self):
        super().__init__()
        self.tenant = f"t{self.number}"
        self.expect(None, "tenant.create", {
            "tenantId": self.tenant, "mfa": "optional", "tokens": {"refreshReuseGraceSeconds": 0}, "lockout": {"threshold": 100}})
        for name, key in self.process.keys.items():
            self.expect(None, "idp.create", {"tenantId": self.tenant, "providerId": name, "clientId": "shop", "issuer": key.issuer, "keys": [key.jwk]})
        self.accounts, self.sessions, self.merged = [], [], {}

    # The model

    def named(self, user):
        return next((each for each in self.accounts if each.name == f"u{user}@{self.tenant}.example.com"), None)

    def owner(self, provider, subject):
        return next((each for each in self.accounts if each.logins.get(provider) == subject), None)

    def active(self):
        return [each for each in self.sessions if each.state == "active" and each.account in self.accounts]

    def end(self, account, but=None):
        for each in self.sessions:
            if each.account is account and each is not but:
                each.state = "ended"

    def recent(self, session):
        return self.process.now - session.at <= RECENT

    def needs_factor(self, account):
        return account.factor is not None

    def signed_in(self, account, result, strong=False):
        assert result["account"]["accountId"] == account.id, "another account was signed in to"
        self.sessions.append(Session(account, result, self.process.now, strong))

    def first_factor(self, account, result):
        """Completes a sign-in whose first factor was accepted."""
        if not self.needs_factor(account):
            assert result["state"] == "completed", result["state"]
            return self.signed_in(account, result)
        assert result["state"] == "secondFactorRequired" and "idToken" not in result, "the second factor was not required"
        self.expect({"factorCodeInvalid"}, "mfa.resolve", {
            "continuationToken": result["continuationToken"], "factorId": account.factor_id, "code": "000000" if totp(account.factor, self.process.now) != "000000" else "1" * 6})
        self.process.wait(30)
        done = self.expect(None, "mfa.resolve", {
            "continuationToken": result["continuationToken"], "factorId": account.factor_id, "code": totp(account.factor, self.process.now)})
        self.signed_in(account, done, strong=True)

    # Calls

    @rule(user=users, password=passwords)
    def create(self, user, password):
        there = self.named(user)
        name = f"u{user}@{self.tenant}.example.com"
        result = self.expect({"userAlreadyExists"} if there else None, "account.create", {
            "tenantId": self.tenant, "username": name, "password": password, "emailVerified": True})
        if result:
            self.accounts.append(Account(result["accountId"], name, password))

    @rule(user=users, password=st.sampled_from([*PASSWORDS, "a wrong password 1"]))
    def sign_in(self, user, password):
        account = self.named(user)
        if not account:
            wanted = {"userNotFound"}
        elif account.password is None:
            wanted = {"passwordNotSet", "accountDisabled"} if account.disabled else {"passwordNotSet"}
        elif account.disabled:
            wanted = {"accountDisabled", "invalidPassword"}
        else:
            wanted = {"invalidPassword"} if account.password != password else None
        result = self.expect(wanted, "signIn.withPassword", {
            "tenantId": self.tenant, "username": f"u{user}@{self.tenant}.example.com", "password": password})
        if result:
            self.first_factor(account, result)

    @rule(provider=providers, subject=subjects)
    def sign_in_with_provider(self, provider, subject):
        account = self.owner(provider, subject)
        result = self.expect({"accountDisabled"} if account and account.disabled else None, "signIn.withCredential", {
            "tenantId": self.tenant, "credential": {"providerId": provider, "idToken": self.process.token(provider, subject)}})
        if not result:
            return
        if account:
            return self.first_factor(account, result)
        assert result["isNewAccount"], "a login of no account signed in to one"
        account = Account(result["account"]["accountId"])
        account.logins[provider] = subject
        self.accounts.append(account)
        self.signed_in(account, result)

    @precondition(lambda self: self.sessions)
    @rule(pick=picks)
    def refresh(self, pick):
        session = self.sessions[pick % len(self.sessions)]
        if session.state == "unknown":
            return
        gone = {"refreshTokenInvalid", "refreshTokenReused", "accountMerged"}
        result = self.expect(None if session.state == "active" else gone, "session.refresh", {"refreshToken": session.refresh})
        if result:
            session.used.append(session.refresh)
            session.keep(result)

    @precondition(lambda self: any(each.used for each in self.active()))
    @rule(pick=picks)
    def refresh_again(self, pick):
        """A used refresh token ends its session."""
        used = [each for each in self.active() if each.used]
        session = used[pick % len(used)]
        self.expect({"refreshTokenReused", "refreshTokenInvalid"}, "session.refresh", {"refreshToken": session.used[-1]})
        session.state = "ended"

    @precondition(lambda self: self.sessions)
    @rule(pick=picks)
    def verify(self, pick):
        session = self.sessions[pick % len(self.sessions)]
        if session.state != "unknown" and self.process.now - session.at < 3000:
            self.expect(None if session.state == "active" else {"tokenRevoked", "accountMerged"}, "token.verify", {
                "token": session.id_token, "tenantId": self.tenant, "checkRevoked": True})

    @precondition(lambda self: self.active())
    @rule(pick=picks)
    def sign_out(self, pick):
        session = self.active()[pick % len(self.active())]
        self.expect(None, "session.signOut", {"idToken": session.id_token})
        session.state = "ended"

    @precondition(lambda self: self.accounts)
    @rule(pick=picks, disabled=st.booleans())
    def disable(self, pick, disabled):
        account = self.accounts[pick % len(self.accounts)]
        self.expect(None, "account.update", {"accountId": account.id, "disabled": disabled})
        account.disabled = disabled
        if disabled:
            self.end(account)

    @precondition(lambda self: self.accounts)
    @rule(pick=picks)
    def delete(self, pick):
        account = self.accounts.pop(pick % len(self.accounts))
        self.expect(None, "account.delete", {"accountId": account.id})
        self.expect({"accountNotFound"}, "account.get", {"accountId": account.id})
        self.end(account)

    @precondition(lambda self: self.active())
    @rule(pick=picks, provider=providers, subject=subjects)
    def link(self, pick, provider, subject):
        session = self.active()[pick % len(self.active())]
        account, owner = session.account, self.owner(provider, subject)
        if self.needs_factor(account) and not session.strong:
            return
        wanted = set()
        if owner:
            wanted.add("credentialAlreadyInUse")
        if provider in account.logins:
            wanted.add("providerAlreadyLinked")
        if not self.recent(session):
            wanted.add("recentSignInRequired")
        result = self.expect(wanted or None, "account.link", {
            "idToken": session.id_token, "credential": {"providerId": provider, "idToken": self.process.token(provider, subject)}})
        if result:
            account.logins[provider] = subject
            session.state = "unknown"
            self.signed_in(account, result, session.strong)

    @precondition(lambda self: any(each.account.logins for each in self.active()))
    @rule(pick=picks, provider=providers)
    def unlink(self, pick, provider):
        session = self.active()[pick % len(self.active())]
        account = session.account
        if self.needs_factor(account) and not session.strong:
            return
        wanted = None
        if provider not in account.logins:
            wanted = {"providerNotLinked"}
        elif len(account.logins) == 1 and account.password is None:
            wanted = {"lastProvider"}
        result = self.expect(wanted, "account.unlink", {"idToken": session.id_token, "providerId": provider})
        if result:
            del account.logins[provider]
            # The guides do not say which sessions of the unlinked provider end.
            for each in self.sessions:
                if each.account is account:
                    each.state = "unknown"

    @precondition(lambda self: any(not each.account.factor and each.account.password for each in self.active()))
    @rule(pick=picks)
    def enroll(self, pick):
        able = [each for each in self.active() if not each.account.factor and each.account.password and self.recent(each)]
        if not able:
            return
        session = able[pick % len(able)]
        account = session.account
        step = self.expect(None, "mfa.enroll", {"idToken": session.id_token, "kind": "totp"})
        result = self.expect(None, "mfa.confirm", {"continuationToken": step["continuationToken"], "code": totp(step["secret"], self.process.now)})
        account.factor, account.factor_id = step["secret"], result["account"]["factors"][0]["factorId"]
        self.end(account)
        self.signed_in(account, result, strong=True)
        self.process.wait(30)

    @precondition(lambda self: len({each.account.id for each in self.active()}) > 1)
    @rule(pick=picks, other=picks)
    def merge(self, pick, other):
        able = [each for each in self.active() if self.recent(each)]
        if not able:
            return
        target, source = able[pick % len(able)], able[other % len(able)]
        kept, gone = target.account, source.account
        if kept is gone or kept.factor and gone.factor:
            return
        weak = any(each.account.factor and not each.strong for each in (target, source))
        result = self.expect({"secondFactorNeeded"} if weak else None, "account.merge", {
            "idToken": target.id_token, "sourceIdToken": source.id_token, "policy": "keepTarget"})
        if not result:
            return
        assert result["account"]["accountId"] == kept.id and result["absorbedAccountId"] == gone.id
        self.accounts.remove(gone)
        self.merged[gone.id] = kept.id
        self.end(gone)
        for name, subject in gone.logins.items():
            kept.logins.setdefault(name, subject)
        # A sign-in method that was moved can change which sessions remain.
        for each in self.sessions:
            if each.account is kept:
                each.state = "unknown"
        if kept.name is None:
            kept.name, kept.password = gone.name, gone.password
        if not kept.factor:
            kept.factor, kept.factor_id = gone.factor, gone.factor_id

    @rule()
    def look(self):
        """The accounts of the tenant are exactly those of the model, and each login belongs to one of them."""
        found = self.expect(None, "account.list", {"tenantId": self.tenant})["accounts"]
        assert {each["accountId"] for each in found} == {each.id for each in self.accounts}
        for each in found:
            account = next(known for known in self.accounts if known.id == each["accountId"])
            linked = {entry["providerId"]: entry["subject"] for entry in each["providers"] if entry["providerId"] in self.process.keys}
            assert linked == account.logins, f"{linked} are linked, expected {account.logins}"
            assert each["disabled"] == account.disabled
        for gone, survivor in self.merged.items():
            if any(each.id == survivor for each in self.accounts):
                self.expect({"accountMerged"}, "account.get", {"accountId": gone})

    def teardown(self):
        self.look()
        assert self.process.sidecar.call("audit.verify")["intact"]


class Pools(Machine):
    """Identities of one pool, found by developer user identifiers and by logins with public providers."""

    def __init__(self):
        super().__init__()
        self.guests = True
        self.pool = self.expect(None, "pool.create", {"name": f"pool {self.number}", **self.settings()})["poolId"]
        self.owners, self.states, self.tokens = {}, {}, []

    def settings(self):
        names = self.process.keys.values()
        return {"developerProvider": "login.shop", "allowUnauthenticated": self.guests, "providers": [each.settings() for each in names]}

    def logins(self, id):
        return [login for login, owner in self.owners.items() if owner == id]

    def params(self, pairs):
        return {f"{name}.example.com" if name in self.process.keys else name: self.process.token(name, subject) if name in self.process.keys else subject
                for name, subject in pairs}

    def join(self, pairs, result, is_answered_new=True):
        """The identity in the result now has all of these logins and all logins of their former owners."""
        id, former = result["identityId"], {self.owners[login] for login in pairs if login in self.owners}
        if former:
            assert id in former, f"{pairs} belong to {former}, and {id} was answered"
        else:
            assert id not in self.states, f"{id} is the identity of other logins"
        for login in [login for other in former for login in self.logins(other)] + list(pairs):
            self.owners[login] = id
        for other in former - {id}:
            self.states[other] = "disabled"
        self.states[id] = "authenticated"

    def conflicts(self, pairs):
        """Whether an identity would have two subjects of one public provider, or too many logins."""
        former = {self.owners[login] for login in pairs if login in self.owners}
        every = {login for other in former for login in self.logins(other)} | set(pairs)
        names = [name for name, _ in every if name != "login.shop"]
        return len(names) != len(set(names)) or len(every) > 20

    @rule(user=users, chosen=st.dictionaries(providers, subjects, max_size=2))
    def mint(self, user, chosen):
        pairs = [("login.shop", f"d{user}"), *sorted(chosen.items())]
        result = self.expect({"loginConflict"} if self.conflicts(pairs) else None, "token.mintForDeveloper", {"poolId": self.pool, "logins": self.params(pairs)})
        if result:
            self.join(pairs, result)
            self.tokens.append((result["token"], result["identityId"], self.process.now))

    @rule(chosen=st.dictionaries(providers, subjects, min_size=1, max_size=2))
    def resolve(self, chosen):
        pairs = sorted(chosen.items())
        result = self.expect({"loginConflict"} if self.conflicts(pairs) else None, "identity.resolve", {"poolId": self.pool, "logins": self.params(pairs)})
        if result:
            self.join(pairs, result)

    @rule()
    def guest(self):
        result = self.expect(None if self.guests else {"unauthenticatedNotAllowed"}, "identity.resolve", {"poolId": self.pool})
        if result:
            assert result["identityId"] not in self.states
            self.states[result["identityId"]] = "guest"

    @rule(guests=st.booleans())
    def update(self, guests):
        self.guests = guests
        self.expect(None, "pool.update", {"poolId": self.pool, "name": f"pool {self.number}", **self.settings()})

    @rule(source=users, destination=users)
    def merge(self, source, destination):
        pairs = [("login.shop", f"d{source}"), ("login.shop", f"d{destination}")]
        wanted = None
        if any(login not in self.owners for login in pairs):
            wanted = {"developerUserNotFound"}
        elif self.conflicts(pairs):
            wanted = {"loginConflict"}
        result = self.expect(wanted, "identity.mergeDevelopers", {
            "poolId": self.pool, "developerProvider": "login.shop", "sourceUserIdentifier": f"d{source}", "destinationUserIdentifier": f"d{destination}"})
        if result:
            self.join(pairs, result)

    @precondition(lambda self: any(name == "login.shop" for name, _ in self.owners))
    @rule(pick=picks)
    def unlink(self, pick):
        known = sorted(login for login in self.owners if login[0] == "login.shop")
        login = known[pick % len(known)]
        id = self.owners[login]
        self.expect(None, "identity.unlinkDeveloper", {
            "poolId": self.pool, "identityId": id, "developerProvider": "login.shop", "developerUserIdentifier": login[1]})
        del self.owners[login]
        if not self.logins(id):
            self.states[id] = "disabled"

    @precondition(lambda self: self.states)
    @rule(pick=picks)
    def delete(self, pick):
        id = sorted(self.states)[pick % len(self.states)]
        self.expect(None, "identity.delete", {"identityIds": [id]})
        del self.states[id]
        for login in self.logins(id):
            del self.owners[login]

    @precondition(lambda self: self.tokens)
    @rule(pick=picks)
    def use_token(self, pick):
        token, id, at = self.tokens[pick % len(self.tokens)]
        if self.process.now - at < 800:
            wanted = None if self.states.get(id, "deleted") not in ("disabled", "deleted") else {"tokenRevoked"}
            self.expect(wanted, "token.verify", {"token": token, "audience": self.pool, "checkRevoked": True})

    @rule()
    def look(self):
        found = self.expect(None, "identity.list", {"poolId": self.pool})["identities"]
        assert {each["identityId"]: each["state"] for each in found} == self.states
        for each in found:
            names = sorted({name if name == "login.shop" else f"{name}.example.com" for name, _ in self.logins(each["identityId"])})
            assert each["logins"] == names, f"{each['logins']} are linked, expected {names}"

    def teardown(self):
        self.look()


class StateMachines(unittest.TestCase):
    """Both machines, with as many examples as MINTMARK_TEST_EXAMPLES says."""

    @classmethod
    def setUpClass(cls):
        set_hypothesis_home_dir(os.path.join(os.path.dirname(os.path.dirname(HERE)), ".build", "hypothesis"))

    @classmethod
    def tearDownClass(cls):
        global shared
        if shared:
            shared.sidecar.close()
            shared = None

    def run_machine(self, machine):
        run_state_machine_as_test(machine, settings=settings(
            max_examples=EXAMPLES, stateful_step_count=30, deadline=None, verbosity=Verbosity.quiet, print_blob=True, derandomize=EXAMPLES <= 12,
            suppress_health_check=list(HealthCheck)))

    def test_accounts_links_merges_sessions_and_factors_follow_the_guides(self):
        self.run_machine(Accounts)

    def test_pools_and_identities_follow_the_guides(self):
        self.run_machine(Pools)


if __name__ == "__main__":
    unittest.main()
