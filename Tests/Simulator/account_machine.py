"""A state machine of accounts: their logins, second factors, sessions and merges, in one tenant for each example."""

import base64
import hashlib
import hmac
import json
import struct

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from machines import Machine, picks, providers, subjects, users

PASSWORDS = ["correct horse 9 Battery", "another horse 10 Staple"]
RECENT = 300
passwords = st.sampled_from(PASSWORDS)


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
            # The guides do not specify which sessions of the unlinked provider end.
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
