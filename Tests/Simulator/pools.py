"""The calls of the simulation on an identity pool, and the facts that their answers establish."""

from calls import Call, Violation, expires
from facts import Claim, Register

DEVELOPER = "login.shop"


def kept(world, pairs):
    """Returns, for each login, the claim that no call unlinks it until the answer."""
    return {login: Claim.unchanged(world.unlinks.setdefault(login, Register(0))) for login in pairs}


def keep(call, result):
    """Establishes that the logins have the identity in the result, except those that may have been unlinked since."""
    pairs = tuple(login for login, claim in call.kept.items() if claim.holds)
    call.world.linked.append((pairs, result["identityId"], call.world.step))


class Mint(Call):
    """Links logins to one identity."""

    def __init__(self, world):
        logins = {DEVELOPER: world.pick(world.users)}
        if world.random.random() < 0.6:
            name, subject = world.pick(list(world.template.tokens))
            logins[name] = subject
        self.pairs = tuple(logins.items())
        given = {name: world.template.tokens.get((name, subject), subject) for name, subject in self.pairs}
        super().__init__(world, "token.mintForDeveloper", {"poolId": world.template.pool, "logins": given})
        self.kept = kept(world, self.pairs)

    def done(self, result):
        keep(self, result)
        expires(self, result, 900)
        self.world.minted.append((result["token"], result["identityId"]))


class Merge(Call):
    def __init__(self, world):
        source, destination = world.pick(world.users), world.pick(world.users)
        super().__init__(world, "identity.mergeDevelopers", {
            "poolId": world.template.pool, "developerProvider": DEVELOPER, "sourceUserIdentifier": source, "destinationUserIdentifier": destination})
        self.pairs = ((DEVELOPER, source), (DEVELOPER, destination))
        self.kept = kept(world, self.pairs)

    def done(self, result):
        keep(self, result)


class UnlinkDeveloper(Call):
    def __init__(self, world, user, identity):
        super().__init__(world, "identity.unlinkDeveloper", {
            "poolId": world.template.pool, "identityId": identity, "developerProvider": DEVELOPER, "developerUserIdentifier": user})
        # After this, earlier responses about this login can be outdated.
        login = (DEVELOPER, user)
        world.linked = [(tuple(each for each in pairs if each != login), id, step) for pairs, id, step in world.linked]
        self.write(world.unlinks.setdefault(login, Register(0)), self)


class Guest(Call):
    def __init__(self, world):
        super().__init__(world, "identity.resolve", {"poolId": world.template.pool})
        self.forbid(Claim((world.guests, False)), "the pool refuses guests")
        self.promise({"unauthenticatedNotAllowed"}, Claim((world.guests, True)), "the pool accepts guests")

    def done(self, result):
        self.world.unique("identity", result["identityId"])
        self.world.kept_identities.append(result["identityId"])


class UpdatePool(Call):
    def __init__(self, world):
        guests = world.random.random() < 0.5
        super().__init__(world, "pool.update", {**world.template.settings, "poolId": world.template.pool, "allowUnauthenticated": guests})
        self.write(world.guests, guests)


class UseToken(Call):
    """A disabled identity stays disabled, so the rows of the store at the beginning of the call decide."""

    def __init__(self, world, token, identity):
        super().__init__(world, "token.verify", {"token": token, "audience": world.template.pool, "checkRevoked": True})
        self.identity = identity
        self.was_disabled = world.states().get(identity) == "disabled"

    def done(self, result):
        if self.was_disabled:
            raise Violation(f"the token of the disabled identity {self.identity} was accepted")

    def failed(self, kind, error):
        states = self.world.states()
        if kind == "tokenRevoked" and states and states.get(self.identity) != "disabled":
            raise Violation(f"the token of {self.identity} was refused, and the identity is not disabled")


def check(world, identities, logins):
    """Checks the rows of identities and logins against each other and against the answers."""
    owners, count = {}, {}
    for provider, subject, identity in logins:
        if owners.setdefault((provider, subject), identity) != identity:
            raise Violation(f"the login {provider} {subject} has two identities")
        count[identity] = count.get(identity, 0) + 1
    states = dict(identities)
    for identity, state in states.items():
        if (state == "authenticated") != (count.get(identity, 0) > 0):
            raise Violation(f"the identity {identity} is {state} with {count.get(identity, 0)} logins")
    for identity in count:
        if identity not in states:
            raise Violation(f"a login belongs to {identity}, which does not exist")
    for pairs, identity, step in world.linked:
        found = {owners.get(login) for login in pairs}
        if len(found) > 1:
            raise Violation(f"{pairs} were linked in step {step}, and have the owners {found}")
        if found and (None in found or found != {identity} and states.get(identity) != "disabled"):
            raise Violation(f"{pairs} were answered {identity} in step {step}, which is {states.get(identity)}, and belong to {found}")
    for identity in world.kept_identities:
        if identity not in states:
            raise Violation(f"the identity {identity} was answered and does not exist")
