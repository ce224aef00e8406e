"""A state machine of the identities of a pool, found by developer user identifiers and by logins with public providers."""

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from machines import Machine, picks, providers, subjects, users


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
