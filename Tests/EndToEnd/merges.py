"""Random accounts, merged through the public methods, and the invariants of every merge."""

import secrets

import pyotp
from federation import PASSWORD
from sidecar import RpcError
from test_logins import claims_of

TENANT = "testing.mintmark.localhost/tenants/default"
CHOICES = ["keepTarget", "keepSource"]
FACTORS_AT_MOST = 5
TOKENS = ("idToken", "accessToken", "refreshToken", "expiresAt")


class Person:
    """A user with an account: the sign-in methods and the tokens of one session."""

    def __init__(self, name):
        self.name, self.account, self.tokens, self.merged = name, None, None, set()

    @property
    def token(self):
        return self.tokens["idToken"]


class World:
    """A sidecar with identity providers and pools. `pick` is the random generator of one pair of accounts."""

    def __init__(self, test, sidecar, idps, pools, now):
        self.test, self.sidecar, self.call, self.idps, self.pools, self.now = test, sidecar, sidecar.call, idps, pools, now

    # Creating accounts

    def furnish(self, pick, name, numbers):
        """Creates an account with random sign-in methods, factors, sessions, claims, attributes and identities in pools."""
        person = Person(name)
        begun = pick.choice(["guest", "guest", "password", "password", "provider"])
        if begun == "guest":
            person.tokens = self.call("signIn.anonymously", {})
        elif begun == "password":
            self.call("account.create", {"username": f"{name}@example.com", "password": PASSWORD, "emailVerified": pick.random() < 0.7,
                                         "attributes": {key: pick.randrange(2) for key in ("size", "floor") if pick.random() < 0.5}})
            person.tokens = self.call("signIn.withPassword", {"username": f"{name}@example.com", "password": PASSWORD})
        else:
            idp = pick.choice(self.idps)
            person.tokens = self.call("signIn.withCredential", {
                "credential": self.shown(idp, name, **({"email": f"{name}@{idp.name}.example.com"} if pick.random() < 0.5 else {}))})
        person.account = person.tokens["account"]["accountId"]
        for idp in pick.sample(self.idps, pick.randrange(4)):
            if idp.name not in [each["providerId"] for each in self.call("account.get", {"accountId": person.account})["providers"]]:
                person.tokens = self.call("account.link", {"idToken": person.token, "credential": self.shown(idp, name)})
        for _ in range(pick.randrange(3)):   # Each sign-in is from another device.
            ways = [way for way in self.ways(self.get(person)) if way[0] in self.by_name()]
            if ways:
                provider, subject = pick.choice(ways)
                self.call("signIn.withCredential", {"credential": self.shown(self.by_name()[provider], subject)})
        self.enrol(pick, person, numbers)
        self.call("account.setClaims", {"accountId": person.account, "claims": {key: pick.randrange(2) for key in "abc" if pick.random() < 0.5}})
        for pool, provider in self.pools:
            logins = {TENANT: person.token}
            if provider and pick.random() < 0.4:
                logins[provider.issuer.removeprefix("https://")] = provider.token(name)
            chance = pick.random()
            if chance < 0.4:
                self.call("identity.resolve", {"poolId": pool, "logins": logins})
            elif chance < 0.6:
                self.call("token.mintForDeveloper", {"poolId": pool, "logins": {**logins, "login.shop": name}})
        return person

    def enrol(self, pick, person, numbers):
        account = self.get(person)
        if account["method"] == "anonymous" or ("email" in account and not account["emailVerified"]):
            return   # These accounts cannot enroll a factor.
        for number in pick.sample(numbers, pick.choice([0, 0, 0, 1, 2, 3])):
            step = self.call("mfa.enroll", {"idToken": person.token, "kind": "sms", "phoneNumber": number})
            code = self.call("test.outbox", {"to": number})["messages"][-1]["code"]
            person.tokens = {**person.tokens, **self.call("mfa.confirm", {"continuationToken": step["continuationToken"], "code": code})}
        if pick.random() < 0.3:
            step = self.call("mfa.enroll", {"idToken": person.token, "kind": "totp"})
            person.tokens = {**person.tokens, **self.call("mfa.confirm", {
                "continuationToken": step["continuationToken"], "code": pyotp.TOTP(step["secret"]).at(self.now)})}

    def shown(self, idp, subject, **claims):
        # The `jti` distinguishes tokens that are issued within the same second.
        return {"providerId": idp.name, "idToken": idp.token(subject, jti=secrets.token_hex(8), **claims)}

    def by_name(self):
        return {idp.name: idp for idp in self.idps}

    # Reading accounts

    def get(self, person):
        return self.call("account.get", {"accountId": person.account})

    @staticmethod
    def ways(account):
        return {(each["providerId"], each["subject"]) for each in account["providers"]}

    def sessions(self, person):
        return {each["sessionId"] for each in self.call("session.list", {"accountId": person.account})["sessions"]}

    def graph(self, person):
        """Returns the nodes of the account graph by kind, each as a tuple of its identifying members."""
        graph = self.call("account.graph", {"accountId": person.account})
        found = {kind: [] for kind in ("account", "provider", "factor", "session", "mergedAccount", "identity", "login")}
        for node in graph["nodes"]:
            kind = node["kind"]
            found[kind].append(tuple(node[name] for name in {
                "account": ["accountId"], "provider": ["providerId", "subject"], "factor": ["factorId"], "session": ["sessionId"],
                "mergedAccount": ["accountId"], "identity": ["poolId", "identityId"], "login": ["loginProvider"]}[kind]))
        for kind, nodes in found.items():
            self.test.assertTrue(kind == "login" or len(set(nodes)) == len(nodes), (kind, nodes))
        return {kind: sorted(nodes) for kind, nodes in found.items()}

    def snapshot(self, person):
        """Returns the complete state of an account."""
        graph = self.graph(person)
        identities = {pool: self.call("identity.get", {"identityId": identity}) for pool, identity in graph["identity"]}
        return {"account": self.get(person), "graph": graph, "sessions": self.sessions(person), "identities": identities,
                "developers": {pool: self.developers(pool, each["identityId"]) for pool, each in identities.items()}}

    def developers(self, pool, identity):
        try:
            return sorted(self.call("identity.lookupDeveloper", {"poolId": pool, "identityId": identity})["developerUserIdentifiers"])
        except RpcError as error:
            self.test.assertIn(error.type, ("developerUserNotFound", "identityDisabled"))
            return []

    # Merging

    def choices(self, pick):
        return {"policy": pick.choice(CHOICES),
                "fields": {name: pick.choice(CHOICES) for name in ("email", "size", "floor", "claims") if pick.random() < 0.4},
                "providers": {idp.name: pick.choice(CHOICES) for idp in self.idps if pick.random() < 0.5},
                **({"identities": pick.choice(CHOICES)} if pick.random() < 0.5 else {})}

    def merge(self, pick, target, source):
        """Merges two accounts and checks every invariant. Returns the kind of outcome."""
        same, before = self.test.assertEqual, (self.snapshot(target), self.snapshot(source))
        shown = {"idToken": target.token, "sourceIdToken": source.token}
        chosen = {**shown, **self.choices(pick)}
        numbers = [factor for side in before for factor in side["account"].get("factors", [])]
        kinds = {factor.get("phoneNumber") or factor["factorId"] for factor in numbers}
        if len(kinds) > FACTORS_AT_MOST:
            self.refused("tooManyFactors", chosen)
            same((self.snapshot(target), self.snapshot(source)), before)
            return "tooManyFactors"
        dry = self.call("account.merge", {**chosen, "dryRun": True})
        undecided = [each["name"] for each in dry["conflicts"]]
        if undecided:
            error = self.refused("mergeUndecided", shown)
            same([{**each, "policy": None} for each in error.data["conflicts"]], [{**each, "policy": None} for each in dry["conflicts"]])
        same((self.snapshot(target), self.snapshot(source)), before)
        done = self.call("account.merge", chosen)
        tokens = {name: done.pop(name) for name in TOKENS}
        same({name: value for name, value in {**dry, "dryRun": False}.items() if name != "undecided"}, done)
        self.judge(target, source, before, chosen, done, tokens)
        target.tokens = {**target.tokens, **tokens}
        target.merged |= source.merged | {source.account}
        self.ask_again(pick, target, before, done)
        return "conflicts" if undecided else "plain"

    def refused(self, wanted, params, method="account.merge"):
        error = self.sidecar.refusal(method, params)
        self.test.assertEqual(error.type, wanted, str(error))
        return error

    def judge(self, target, source, before, chosen, done, tokens):
        same, (mine, theirs) = self.test.assertEqual, before
        after = self.snapshot(target)
        account, graph = after["account"], after["graph"]
        same(account, done["account"])
        same((account["accountId"], done["absorbedAccountId"]), (target.account, source.account))
        # Sign-in methods: each is either on the account or reported as dropped, never both, and none is new.
        dropped = {(each["providerId"], each["subject"]) for each in done["droppedProviders"]}
        had = [self.ways(side["account"]) for side in before]
        same((self.ways(account) | dropped, self.ways(account) & dropped), (had[0] | had[1], set()))
        same(len(account["providers"]), len({each["providerId"] for each in account["providers"]}))
        same(sorted(done["movedProviders"]), sorted(provider for provider, _ in had[1] - dropped))
        same(graph["provider"], sorted(self.ways(account)))
        # A method is dropped only if it lost a conflict that the caller decided.
        contested = {each["name"] for each in done["conflicts"]}
        same({provider for provider, _ in dropped} - contested, {"password"} & {provider for provider, _ in dropped} if "email" in contested else set())
        # Factors: those of both accounts, with each phone number once.
        factors = [{factor["factorId"]: factor.get("phoneNumber") for factor in side["account"].get("factors", [])} for side in (mine, theirs, after)]
        moved = {id for id, number in factors[1].items() if number is None or number not in factors[0].values()}
        same((set(factors[2]), set(done["movedFactors"])), (set(factors[0]) | moved, moved))
        same(graph["factor"], sorted((id,) for id in factors[2]))
        # Claims and attributes: every name of both accounts, with the chosen value.
        for kind, names in (("claims", "claims/{}"), ("attributes", "{}")):
            sides = mine["account"][kind], theirs["account"][kind]
            for name in {**sides[0], **sides[1]}:
                policy = chosen["fields"].get("claims" if kind == "claims" else name, chosen["policy"])
                order = sides if policy == "keepTarget" else sides[::-1]
                same(account[kind][name], next(side[name] for side in order if name in side), name)
                differs = len({side[name] for side in sides if name in side}) == 2
                same(names.format(name) in contested, differs, name)
            same(set(account[kind]), {*sides[0], *sides[1]})
        # Sessions: those of the source end. Those of the target also end if a factor was added or its sign-in method was dropped. One is new.
        lost = {provider for provider, _ in had[0] - self.ways(account)} & {"password", "code"}
        ends = theirs["sessions"] | (mine["sessions"] if moved or lost else set())
        same(done["endedSessions"], len(ends))
        same(after["sessions"], (mine["sessions"] - ends) | {claims_of(tokens["idToken"])["sid"]})
        same(self.refused("accountMerged", {"token": source.token, "tenantId": "default"}, "token.verify").data["survivorId"], target.account)
        if "refreshToken" in source.tokens:
            same(self.refused("accountMerged", {"refreshToken": source.tokens["refreshToken"]}, "session.refresh").data["survivorId"], target.account)
        for gone in {source.account} | source.merged | target.merged:
            same(self.refused("accountMerged", {"accountId": gone}, "account.get").data["survivorId"], target.account)
        same(graph["mergedAccount"], sorted((id,) for id in target.merged | source.merged | {source.account}))
        self.judge_identities(target, before, after, done, tokens)

    def judge_identities(self, target, before, after, done, tokens):
        """Checks that each pool with an identity has exactly one afterwards, with every login of the identities that were merged into it."""
        same, changes = self.test.assertEqual, {each["poolId"]: each for each in done["identities"]}
        same(set(changes), set(before[1]["identities"]))
        same(set(after["identities"]), set(before[0]["identities"]) | set(before[1]["identities"]))
        self.test.assertNotIn((TENANT,), after["graph"]["login"], "a login of the account that is gone")
        for pool, kept in after["identities"].items():
            sides = [side["identities"].get(pool) for side in before]
            ids, id = [side["identityId"] for side in sides if side], kept["identityId"]
            self.test.assertIn(id, ids)
            same(self.call("identity.resolve", {"poolId": pool, "logins": {TENANT: tokens["idToken"]}})["identityId"], id)
            if pool not in changes:
                same(kept, sides[0])
                continue
            change = changes[pool]
            same(change["identityId"], id)
            others = [each for each in ids if each != id]
            same([change[name] for name in ("absorbedIdentityId", "unlinkedIdentityId") if name in change], others)
            logins = [set(side["logins"]) for side in sides if side]
            people = [side["developers"].get(pool, []) for side in before]
            if "absorbedIdentityId" in change:
                same(set(kept["logins"]), set.union(*logins))
                same(after["developers"][pool], sorted(people[0] + people[1]))
                same(self.call("identity.get", {"identityId": others[0]})["state"], "disabled")
            elif "unlinkedIdentityId" in change:
                left = self.call("identity.get", {"identityId": others[0]})
                same(set(kept["logins"]) | set(left["logins"]), set.union(*logins))
                same(sorted(after["developers"][pool] + self.developers(pool, others[0])), sorted(people[0] + people[1]))
                same(set(left["logins"]) & {TENANT}, set())
            else:
                same(set(kept["logins"]), set.union(*logins))

    def ask_again(self, pick, target, before, done):
        """Checks that the next sign-in with a random remaining method requires any factor of either account, and that a dropped method no longer
        leads to this account."""
        same, idps = self.test.assertEqual, self.by_name()
        ways = [way for way in self.ways(done["account"]) if way[0] in idps or way[0] == "password"]
        if ways:
            provider, subject = pick.choice(sorted(ways))
            if provider == "password":
                answer = self.call("signIn.withPassword", {"username": subject, "password": PASSWORD})
            else:
                answer = self.call("signIn.withCredential", {"credential": self.shown(idps[provider], subject)})
            factors = {factor["factorId"] for factor in done["account"].get("factors", [])}
            if factors:
                same((answer["state"], {hint["factorId"] for hint in answer["hints"]}), ("secondFactorRequired", factors))
                self.test.assertNotIn("idToken", answer)
            else:
                same((answer["state"], answer["account"]["accountId"]), ("completed", target.account))
        for each in done["droppedProviders"]:
            if each["providerId"] == "password":
                self.refused("userNotFound", {"username": each["subject"], "password": PASSWORD}, "signIn.withPassword")
            else:
                error = self.refused("userMismatch", {"idToken": target.token, "credential": self.shown(idps[each["providerId"]], each["subject"])}, "account.reauthenticate")
                self.test.assertNotIn("@", error.message)
