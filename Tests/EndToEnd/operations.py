"""The operations of the random sequences: the request, the expectation of the model, and the comparison."""

import functools

from model import Plan, Refused
from test_logins import Provider

DEVELOPER, PUBLIC = "login.shop", ["a.example", "b.example", "c.example"]
POOL_TOKEN = "cognito-identity.amazonaws.com"
HOUR = 3600


@functools.cache
def provider(name):
    return Provider(f"https://{name}", kid=name)


@functools.cache
def stranger(name):
    """Returns a provider with the same name and a forged key."""
    return Provider(f"https://{name}", kid=name)


class Operations:
    """The operations that a sequence can perform. The sequence provides `model`, `pool`, `random`, `compare`, `sidecar` and `now`."""

    def settings(self):
        return {"name": "shop", "developerProvider": DEVELOPER, "providers": [provider(name).settings() for name in PUBLIC],
                "allowUnauthenticated": self.model.guests, "allowClassicFlow": self.model.classic}

    def prepare(self):
        self.ids, self.tokens, self.sessions = [], [], []
        self.foreign = self.store.foreign(self.settings)
        # Few users occur together often; many users fill an identity up to its limit.
        self.users = [f"user {number}" for number in range(self.random.choice([3, 5, 8]))]
        self.subjects = [f"subject {number}" for number in range(self.random.choice([2, 3]))]

    def step(self):
        choices = {
            self.resolve: 20, self.mint_for_developer: 30, self.mint: 12, self.buy: 10, self.merge: 8, self.unlink: 8, self.unlink_developer: 6,
            self.delete: 2, self.guest: 6, self.lookup: 4, self.use_token: 12, self.use_session: 4, self.update_pool: 2, self.crowd: 0.7}
        if len(self.ids) < 3:
            choices = {self.resolve: 2, self.mint_for_developer: 3, self.guest: 1}
        self.random.choices(list(choices), choices.values())[0]()

    def brief(self, value):
        """Returns parameters and results in a readable form."""
        if isinstance(value, dict):
            return "{" + ", ".join(f"{name}: {self.brief(each)}" for name, each in value.items() if name not in ("poolId", "credentials")) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(self.brief, value)) + "]"
        known = {token: said for token, said in self.said.items()} if isinstance(value, str) and value.startswith("ey") else {}
        return known.get(value, f"{str(value)[:12]}…" if len(str(value)) > 60 else str(value))

    @functools.cached_property
    def said(self):
        return {}

    # Random values

    def any_id(self):
        """Returns the ID of a present or past identity, sometimes of an identity in another pool or an unknown ID."""
        place = self.random.random()
        if not self.ids or place < 0.04:
            return "local-1:00000000-0000-0000-0000-000000000000"
        return self.foreign if place < 0.07 else self.random.choice(self.ids)

    def logins(self, most=3, of=None, misplaced=((DEVELOPER, "publicProviderRequired"),)):
        """Returns random public logins, often of the identity `of`: as parameters, as pairs, and the error that they cause on their own, if any."""
        params, pairs, wrong_name, wrong_token = {}, [], None, None
        chosen = {name: self.random.choice(self.subjects) for name in self.random.sample(PUBLIC, self.random.choice(range(most + 1)))}
        own = [login for login in self.model.logins(of) if login[0] != DEVELOPER] if self.random.random() < 0.7 else []
        if own:
            chosen.update([self.random.choice(own)])
        for name, subject in sorted(chosen.items()):
            age = self.random.random()
            issued, expires, by = self.now - 10, self.now + 600, provider(name)
            if age < 0.04:
                issued, expires = self.now - 900, self.now - 299
            elif age < 0.08:
                issued, expires, wrong_token = self.now - 900, self.now - 301, wrong_token or "loginTokenInvalid"
            elif age < 0.10:
                issued = self.now + 299
            elif age < 0.12:
                issued, wrong_token = self.now + 301, wrong_token or "loginTokenInvalid"
            elif age < 0.14:
                by, wrong_token = stranger(name), wrong_token or "loginTokenInvalid"
            token = by.token(subject, iat=issued, exp=expires)
            if age > 0.98 and self.tokens:
                token, wrong_token = self.random.choice(self.tokens)["token"], wrong_token or "poolTokenNotAccepted"
            self.said[token] = f"<{subject}, {issued - self.now:+}…{expires - self.now:+}{'' if by is provider(name) else ', forged'}>"
            params[name] = token
            pairs.append((name, subject))
        if self.random.random() < 0.03:
            name, wrong_name = self.random.choice(
                [*misplaced, (POOL_TOKEN, "poolTokenNotAccepted"), ("d.example", "unsupportedLoginProvider")])
            params[name] = "somebody"
        return params, pairs, wrong_name or wrong_token

    def after_proofs(self, wrong, judge):
        if wrong:
            raise Refused(wrong)
        return judge()

    def refuse_unless_there(self, id):
        """Performs the checks that precede the verification of any login."""
        if self.model.find(id).state == "disabled":
            raise Refused("identityDisabled")

    def keep(self, plan, found, is_new=True):
        id = found["identityId"]
        if plan.owner is None:
            assert id not in self.model.identities, f"{id} is no new identity"
            self.ids.append(id)
        else:
            assert id == plan.owner, f"the model says {plan.owner}, found {id}"
        if is_new:
            assert found["isNewIdentity"] == (plan.owner is None), found
        self.model.carry_out(plan, id, self.now)

    def keep_token(self, plan, found, seconds, guest):
        assert found["expiresAt"] == self.now + seconds, found
        self.said[found["token"]] = f"<token of {found['identityId']} from {self.now} to {found['expiresAt']}>"
        self.tokens.append({"token": found["token"], "id": found["identityId"], "expires": found["expiresAt"], "guest": guest})

    # Operations

    def resolve(self):
        params, pairs, wrong = self.logins()
        self.compare("identity.resolve", {"poolId": self.pool, "logins": params}, lambda: self.after_proofs(wrong, lambda: self.model.prove(None, pairs)), self.keep)

    def guest(self):
        self.compare("identity.resolve", {"poolId": self.pool}, lambda: self.model.prove(None, []), self.keep)

    def mint_for_developer(self):
        given = self.any_id() if self.random.random() < 0.4 else None
        params, pairs, wrong = self.logins(self.random.choice([0, 0, 1, 2, 3]), of=given, misplaced=())
        user = self.random.choice(self.users)
        seconds = self.random.choice([1, 300, 900, 86_400])
        if POOL_TOKEN in params or "d.example" in params:
            wrong = "unsupportedDeveloperProvider"
        request = {"poolId": self.pool, "logins": {**params, DEVELOPER: user}, "durationSeconds": seconds, **({"identityId": given} if given else {})}

        def judge():
            if given:
                self.refuse_unless_there(given)
            return self.after_proofs(wrong, lambda: self.model.prove_for_developer(given, user, pairs))

        def keep(plan, found):
            self.keep(plan, found)
            self.keep_token(plan, found, seconds, guest=False)
        self.compare("token.mintForDeveloper", request, judge, keep)

    def crowd(self):
        """Registers many developer user identifiers with one public login, until the identity has reached its maximum number of logins."""
        name, subject = self.random.choice(PUBLIC), self.subjects[0]
        token = provider(name).token(subject, iat=self.now, exp=self.now + 600)
        self.said[token] = f"<{subject}>"
        for number in range(self.random.choice([6, 12, 20])):
            user = f"one of many {number}"
            self.compare(
                "token.mintForDeveloper", {"poolId": self.pool, "logins": {DEVELOPER: user, name: token}},
                lambda: self.model.prove_for_developer(None, user, [(name, subject)]), self.keep)
        self.users += ["one of many 0", f"one of many {number}"]

    def prove(self, id, pairs, wrong, classic=False):
        self.refuse_unless_there(id)
        if classic and not self.model.classic:
            raise Refused("classicFlowDisabled")
        return self.after_proofs(wrong, lambda: self.model.prove(id, pairs))

    def own_id(self):
        """Like `any_id`, but without other pools: methods without a `poolId` would find them."""
        id = self.any_id()
        return "local-1:0" if id == self.foreign else id

    def mint(self):
        id = self.own_id()
        params, pairs, wrong = self.logins(of=id)

        def keep(plan, found):
            self.keep(plan, found, is_new=False)
            self.keep_token(plan, found, 600, guest=not pairs)
        self.compare("token.mint", {"identityId": id, "logins": params}, lambda: self.prove(id, pairs, wrong, classic=True), keep)

    def buy(self):
        id = self.own_id()
        params, pairs, wrong = self.logins(of=id)
        while POOL_TOKEN in params:   # The pool token is accepted here as the only login; test_exchange covers that case.
            params, pairs, wrong = self.logins(of=id)

        def keep(plan, found):
            self.keep(plan, found, is_new=False)
            self.keep_session(found, guest=not pairs)
        self.compare("credentials.get", {"identityId": id, "logins": params}, lambda: self.prove(id, pairs, wrong), keep)

    def keep_session(self, found, guest):
        assert found["roleArn"] == (self.visitor if guest else self.reader), found
        assert found["credentials"]["expiresAt"] == self.now + HOUR, found
        self.sessions.append({"token": found["credentials"]["sessionToken"], "id": found["identityId"], "expires": self.now + HOUR})

    def use_token(self):
        """Exchanges a token of any age for credentials, or verifies it."""
        if not self.tokens:
            return
        token, checks = self.random.choice(self.tokens), self.random.random() < 0.7

        def judge(checks=True):
            if token["expires"] <= self.now:
                raise Refused("tokenExpired")
            state = self.model.identities.get(token["id"])
            if checks and (not state or state.state == "disabled"):
                raise Refused("tokenRevoked")

        def same(_, found):
            assert found["claims"]["sub"] == token["id"], found

        def bought(_, found):
            assert found["identityId"] == token["id"], found
            self.keep_session(found, token["guest"])
        if self.random.random() < 0.5:
            self.compare("token.verify", {"token": token["token"], "audience": self.pool, "checkRevoked": checks}, lambda: judge(checks), same)
        else:
            self.compare("credentials.get", {"token": token["token"]}, judge, bought)

    def use_session(self):
        """Credentials stay valid until they expire, even if the identity is disabled or deleted."""
        if not self.sessions:
            return
        session = self.random.choice(self.sessions)

        def judge():
            if session["expires"] <= self.now:
                raise Refused("credentialsExpired")

        def same(_, found):
            assert found["principal"]["identityId"] == session["id"], found
        self.compare("credentials.verify", {"sessionToken": session["token"]}, judge, same)

    def merge(self):
        known = [user for user in self.users if (DEVELOPER, user) in self.model.owners]
        source, destination = (self.random.choice(known if known and self.random.random() < 0.9 else self.users) for _ in range(2))

        def keep(plan, found):
            self.keep(plan, found, is_new=False)
        self.compare(
            "identity.mergeDevelopers", {"poolId": self.pool, "developerProvider": DEVELOPER, "sourceUserIdentifier": source, "destinationUserIdentifier": destination},
            lambda: self.model.merge_developers(source, destination), keep)

    def described(self, id, found):
        wanted = self.model.identities[id]
        providers = sorted({name for name, _ in self.model.logins(id)})
        assert found == {"identityId": id, "poolId": self.pool, "state": wanted.state, "logins": providers, "createdAt": wanted.created, "updatedAt": wanted.updated}, \
            f"the model says {wanted} {providers}, found {found}"

    def unlink(self):
        id = self.own_id()
        params, pairs, wrong = self.logins(of=id)
        names = self.random.sample(PUBLIC + [DEVELOPER], self.random.choice([1, 1, 1, 2, 3]))

        def judge():
            self.refuse_unless_there(id)
            self.after_proofs(wrong, lambda: self.model.unlink(id, pairs, names, self.now))
        self.compare("identity.unlink", {"identityId": id, "logins": params, "loginsToRemove": names}, judge, lambda _, found: self.described(id, found))

    def unlink_developer(self):
        id, user = self.any_id(), self.random.choice(self.users)
        owner = self.model.owners.get((DEVELOPER, user))
        if owner and self.random.random() < 0.7:
            id = owner
        self.compare(
            "identity.unlinkDeveloper", {"poolId": self.pool, "identityId": id, "developerProvider": DEVELOPER, "developerUserIdentifier": user},
            lambda: self.model.unlink_developer(id, user, self.now), lambda _, found: self.described(id, found))

    def delete(self):
        ids = list({self.own_id() for _ in range(self.random.choice([1, 1, 2]))})
        self.compare("identity.delete", {"identityIds": ids}, lambda: self.model.delete(ids))

    def lookup(self):
        id = self.any_id() if self.random.random() < 0.6 else None
        user = self.random.choice(self.users) if id is None or self.random.random() < 0.5 else None
        params = {"poolId": self.pool, **({"identityId": id} if id else {}), **({"developerUserIdentifier": user} if user else {})}

        def same(expected, found):
            assert (found["identityId"], found["developerUserIdentifiers"]) == expected, f"the model says {expected}, found {found}"
        self.compare("identity.lookupDeveloper", params, lambda: self.model.lookup(id, user), same)

    def list(self):
        hides = self.random.random() < 0.3
        found = self.sidecar.call("identity.list", {"poolId": self.pool, "hideDisabled": hides})["identities"]
        assert [each["identityId"] for each in found] == sorted(id for id, each in self.model.identities.items() if not (hides and each.state == "disabled"))
        for each in found:
            self.described(each["identityId"], each)

    def update_pool(self):
        self.model.guests, self.model.classic = self.random.random() < 0.7, self.random.random() < 0.7
        self.compare("pool.update", {"poolId": self.pool, **self.settings()}, lambda: Plan(None))
