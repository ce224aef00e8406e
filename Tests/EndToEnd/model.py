"""A small reference model of identities and their logins, written from the rules for identity pools alone.

The model has no store, transactions or tokens. It contains only the owners of logins and the decision tables. The comments state
the rows of the tables in Sources/IdentityPools/README.md, "Identity resolution": 7.1 in `prove`, 7.3 in `prove_for_developer`. If
an operation must fail, the model raises `Refused`.
"""

import dataclasses

MOST_LOGINS = 20


class Refused(Exception):
    """An operation that must fail, with the type of the error."""

    @property
    def type(self):
        return self.args[0]


@dataclasses.dataclass
class Identity:
    id: str
    state: str
    created: int
    updated: int


@dataclasses.dataclass
class Plan:
    """The outcome of an operation: a new identity if `owner` is None, otherwise an identity that gets `links` and everything that `absorbed` had."""
    owner: str | None
    links: list = dataclasses.field(default_factory=list)
    absorbed: list = dataclasses.field(default_factory=list)


class Pool:
    """One pool. A login is a pair (provider, subject). `developer` names the provider of which an identity can have several users."""

    def __init__(self, developer, guests=True, classic=True):
        self.developer, self.guests, self.classic = developer, guests, classic
        self.identities, self.owners = {}, {}

    def logins(self, id):
        return [login for login, owner in self.owners.items() if owner == id]

    def find(self, id):
        if id not in self.identities:
            raise Refused("identityNotFound")
        return self.identities[id]

    # Proving and resolving public logins

    def prove(self, given, logins):
        owners = self._owners(logins)
        if given is None:
            if not logins:
                if not self.guests:
                    raise Refused("unauthenticatedNotAllowed")                      # row 1
                return Plan(None)
            if not owners:
                return Plan(None, logins)                                           # row 2
            return self._merge(owners, logins)                                      # rows 3, 4
        identity = self.find(given)                                                 # row 5
        if identity.state == "disabled":
            raise Refused("identityDisabled")                                       # row 6
        if not logins:
            if identity.state == "guest":
                if not self.guests:
                    raise Refused("unauthenticatedNotAllowed")
                return Plan(given)                                                  # row 7
            raise Refused("identityForbidden")                                      # row 8
        if identity.state == "guest":
            return self._merge([given] + owners, logins)                            # rows 9, 10, 11
        if given not in owners:
            raise Refused("loginsDoNotMatch")                                       # row 12
        return self._merge(owners, logins)                                          # rows 13, 14

    # Proving and resolving with a developer user identifier

    def prove_for_developer(self, given, user, logins):
        own = (self.developer, user)
        owner, others = self.owners.get(own), self._owners(logins)
        if given is None:
            if owner is None and not others:
                return Plan(None, [own] + logins)                                   # rows 1, 2
            if owner is None:
                return self._merge(others, [own] + logins)                          # row 3
            return self._merge([owner] + [each for each in others if each != owner], [own] + logins)  # rows 4 to 7
        identity = self.find(given)                                                 # row 15
        if identity.state == "disabled":
            raise Refused("identityDisabled")                                       # row 14
        if owner is not None and owner != given:
            raise Refused("developerUserAlreadyRegistered")                         # row 13
        if owner is None and identity.state == "authenticated" and given not in others:
            raise Refused("loginsDoNotMatch")                                       # row 10
        return self._merge([given] + [each for each in others if each != given], [own] + logins)  # rows 8, 9, 11, 12

    # Merging

    def _merge(self, ids, logins):
        """Links the logins that have no owner, and merges several identities into one."""
        links = [login for login in logins if login not in self.owners]
        if len(ids) == 1 and not links:
            return Plan(ids[0])
        parent = min((self.identities[id] for id in ids), key=lambda each: (each.state == "guest", each.created, each.id)).id
        self._refuse_conflicts([login for id in ids for login in self.logins(id)] + links)
        return Plan(parent, links, [id for id in ids if id != parent])

    def _refuse_conflicts(self, logins):
        users = {}
        for provider, subject in logins:
            if provider != self.developer and users.setdefault(provider, subject) != subject:
                raise Refused("loginConflict")
        if len(logins) > MOST_LOGINS:
            raise Refused("loginConflict")

    def _owners(self, logins):
        return list(dict.fromkeys(self.owners[login] for login in logins if login in self.owners))

    def carry_out(self, plan, id, now):
        """Applies a plan, once the ID of a new identity is known."""
        if plan.owner is None:
            self.identities[id] = Identity(id, "authenticated" if plan.links else "guest", now, now)
        elif plan.links or plan.absorbed:
            self.identities[id].state, self.identities[id].updated = "authenticated", now
        for child in plan.absorbed:
            self.identities[child].state, self.identities[child].updated = "disabled", now
            for login in self.logins(child):
                self.owners[login] = id
        for login in plan.links:
            self.owners[login] = id

    # Merging developer users

    def merge_developers(self, source, destination):
        owners = [self.owners.get((self.developer, user)) for user in (source, destination)]
        if None in owners:
            raise Refused("developerUserNotFound")
        if owners[0] == owners[1]:
            return Plan(owners[1])
        self._refuse_conflicts(self.logins(owners[0]) + self.logins(owners[1]))
        return Plan(owners[1], [], [owners[0]])

    # Unlinking

    def unlink_developer(self, id, user, now):
        self.find(id)
        owner = self.owners.get((self.developer, user))
        if owner is None:
            raise Refused("developerUserNotFound")
        if owner != id:
            raise Refused("loginConflict")
        self._remove(id, [(self.developer, user)], now)

    def unlink(self, id, proofs, providers, now):
        if self.find(id).state == "disabled":
            raise Refused("identityDisabled")
        if not proofs:
            raise Refused("identityForbidden")
        if id not in self._owners(proofs):
            raise Refused("loginsDoNotMatch")
        linked = dict(login for login in self.logins(id) if login[0] != self.developer)
        for each in providers:
            if each not in linked:
                raise Refused("publicProviderRequired" if each == self.developer else "loginNotLinked")
        self._remove(id, [(each, linked[each]) for each in providers], now)

    def _remove(self, id, logins, now):
        for login in logins:
            del self.owners[login]
        identity = self.identities[id]
        identity.state, identity.updated = "authenticated" if self.logins(id) else "disabled", now

    # Deleting and looking up

    def delete(self, ids):
        for id in ids:
            for login in self.logins(id):
                del self.owners[login]
            self.identities.pop(id, None)

    def lookup(self, id, user):
        """Returns the identity ID and the developer user identifiers of the response."""
        owner = self.owners.get((self.developer, user)) if user is not None else None
        if user is not None and owner is None:
            raise Refused("developerUserNotFound")
        if id is not None:
            self.find(id)
            if user is not None and owner != id:
                raise Refused("loginConflict")
            if user is not None:
                return id, [user]
        found = id or owner
        return found, sorted(subject for provider, subject in self.logins(found) if provider == self.developer)
