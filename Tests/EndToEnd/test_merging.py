"""Merging two accounts: data of one account is kept, the caller decides conflicts, and nothing else changes."""

import time

from endtoend import make_pool
from federation import PASSWORD, Federation
from sidecar import RpcError
from test_logins import Provider, claims_of

NOBODY = "00000000-0000-0000-0000-000000000000"
TENANT = "testing.mintmark.localhost/tenants/default"


class Accounts(Federation):
    """Shared helpers of the merge tests."""

    def setUp(self):
        super().setUp()
        self.now = int(time.time()) // 30 * 30
        self.sidecar.call("test.clock", {"setAt": self.now, "freeze": True})

    def later(self, seconds):
        self.now += seconds
        self.sidecar.call("test.clock", {"advanceSeconds": seconds})

    def merge(self, target, source, **more):
        return self.sidecar.call("account.merge", {"idToken": target, "sourceIdToken": source, **more})

    def not_merged(self, wanted, target, source, **more):
        return self.refused(wanted, self.sidecar, "account.merge", {"idToken": target, "sourceIdToken": source, **more})

    def get(self, account):
        return self.sidecar.call("account.get", {"accountId": account})

    def enroll(self, token, number):
        step = self.sidecar.call("mfa.enroll", {"idToken": token, "kind": "sms", "phoneNumber": number})
        code = self.sidecar.call("test.outbox", {"to": number})["messages"][-1]["code"]
        return self.sidecar.call("mfa.confirm", {"continuationToken": step["continuationToken"], "code": code})["idToken"]


class Merging(Accounts):
    def test_merge_moves_the_provider_of_a_former_anonymous_account(self):
        carol, token = self.password_account()
        guest = self.anonymous()
        linked = self.link(guest["idToken"], self.credential())
        answer = self.merge(token, linked["idToken"])
        self.assertEqual((answer["absorbedAccountId"], answer["movedProviders"], answer["conflicts"], answer["endedSessions"]),
                         (self.account(guest), ["oidc.work"], [], 2))
        self.assertEqual(answer["account"]["accountId"], carol)
        self.assertEqual(claims_of(answer["idToken"])["sub"], carol)
        self.assertEqual(self.providers(carol), ["password", "oidc.work"])
        self.assertEqual(self.account(self.sign_in()), carol)
        self.sidecar.call("token.verify", {"token": token, "tenantId": "default"})

    def test_id_of_a_merged_account_fails_with_the_surviving_id(self):
        carol, token = self.password_account()
        guest = self.anonymous()
        gone = self.account(guest)
        self.merge(token, guest["idToken"])
        for method, params in {
                "account.get": {}, "account.update": {"disabled": True}, "account.delete": {}, "account.setClaims": {"claims": {}},
                "account.changeEmail": {"email": "x@example.com"}, "session.list": {}, "session.revokeAll": {}, "mfa.list": {},
                "mfa.withdraw": {"factorId": "x" * 28}, "account.create": {"username": "new@example.com"}}.items():
            error = self.refused("accountMerged", self.sidecar, method, {"accountId": gone, **params})
            self.assertEqual((error.code, error.data["survivorId"], error.data["mergedAt"]), (5026, carol, self.now))
        for method, params in {
                "token.verify": {"token": guest["idToken"], "tenantId": "default"}, "account.graph": {"idToken": guest["idToken"]},
                "account.link": {"idToken": guest["idToken"], "credential": self.credential(subject="new")},
                "account.merge": {"idToken": token, "sourceIdToken": guest["idToken"]}, "mfa.list": {"idToken": guest["idToken"]},
                "account.unlink": {"idToken": guest["idToken"], "providerId": "oidc.work"},
                "session.refresh": {"refreshToken": guest["refreshToken"]}}.items():
            with self.subTest(method):
                self.assertEqual(self.refused("accountMerged", self.sidecar, method, params).data["survivorId"], carol)
        self.refused("accountNotFound", self.sidecar, "account.get", {"accountId": NOBODY})
        # After a second merge, the IDs of both merged accounts lead to the last survivor.
        dora, dora_token = self.password_account("dora@example.com")
        self.merge(dora_token, token, policy="keepTarget")
        self.assertEqual(self.refused("accountMerged", self.sidecar, "session.refresh", {"refreshToken": guest["refreshToken"]}).data["survivorId"], dora)
        for account in (gone, carol):
            self.assertEqual(self.refused("accountMerged", self.sidecar, "account.get", {"accountId": account}).data["survivorId"], dora)
        self.sidecar.call("account.delete", {"accountId": dora})
        self.refused("accountNotFound", self.sidecar, "account.get", {"accountId": gone})
        self.refused("refreshTokenInvalid", self.sidecar, "session.refresh", {"refreshToken": guest["refreshToken"]})

    def test_claims_are_decided_by_name_and_unknown_names_fail(self):
        carol, token = self.password_account()
        dora, source = self.password_account("dora@example.com")
        for account, role in ((carol, "admin"), (dora, "user")):
            self.sidecar.call("account.setClaims", {"accountId": account, "claims": {"role": role, "a/b~c": role, "rest": role}})
        error = self.refused("invalidParams", self.sidecar, "account.merge", {
            "idToken": token, "sourceIdToken": source, "policy": "keepTarget",
            "fields": {"emial": "keepSource", "claims/rolle": "keepSource", "claims/x/y": "fail"}, "providers": {"oidc.wrok": "keepTarget", "password": "keepSource"}})
        self.assertEqual([(each["pointer"], each["rule"]) for each in error.data["violations"]], [
            ("/fields/emial", "unknown"), ("/fields/claims~1rolle", "unknown"), ("/fields/claims~1x~1y", "unknown"), ("/providers/oidc.wrok", "unknown"), ("/providers/password", "unknown")])
        for words in ("Did you mean email?", "Did you mean claims/role or claims/rest?", "Did you mean oidc.work?", "use email in fields"):
            self.assertIn(words, str(error.data["violations"]))
        names = self.not_merged("mergeUndecided", token, source).data["names"]
        self.assertEqual(names, ["email", "claims/role", "claims/a/b~c", "claims/rest"])
        answer = self.merge(token, source, fields={"email": "keepTarget", "claims": "keepTarget", "claims/role": "keepSource", "claims/a/b~c": "keepSource"},
                            providers={"oidc.work": "keepTarget"})
        self.assertEqual(answer["account"]["claims"], {"role": "user", "a/b~c": "user", "rest": "admin"})

    def test_merge_that_replaces_the_password_ends_its_sessions(self):
        for policy, wanted in (("keepSource", "refreshTokenInvalid"), ("keepTarget", None)):
            with self.subTest(policy):
                self.sidecar.call("account.create", {"username": f"a{policy}@example.com".lower(), "password": PASSWORD, "emailVerified": True})
                self.sidecar.call("account.create", {"username": f"b{policy}@example.com".lower(), "password": PASSWORD, "emailVerified": True})
                older, fresh, other = (self.sidecar.call("signIn.withPassword", {"username": f"{name}{policy}@example.com".lower(), "password": PASSWORD}) for name in "aab")
                dry = self.merge(fresh["idToken"], other["idToken"], policy=policy, dryRun=True)
                done = self.merge(fresh["idToken"], other["idToken"], policy=policy)
                self.assertEqual((dry["endedSessions"], done["endedSessions"]), (3, 3) if wanted else (1, 1))
                for each in (older, fresh):
                    if wanted:
                        self.refused(wanted, self.sidecar, "session.refresh", {"refreshToken": each["refreshToken"]})
                    else:
                        self.sidecar.call("session.refresh", {"refreshToken": each["refreshToken"]})
                self.sidecar.call("session.refresh", {"refreshToken": done["refreshToken"]})

    def test_custom_token_for_a_merged_account_fails(self):
        backend = Provider("backend@shop.example")
        self.sidecar.call("tenant.update", {"tenantId": "default", "customTokenSigners": [{"issuer": backend.issuer, "keys": [backend.jwk]}]})
        audience = self.sidecar.call("tenant.get", {"tenantId": "default"})["issuer"]
        custom = {"token": backend.token(subject=backend.issuer, aud=audience, uid="dora", iat=self.now, exp=self.now + 3600)}
        dora = self.sidecar.call("signIn.withCustomToken", custom)
        _, token = self.password_account()
        self.merge(token, dora["idToken"])
        self.refused("accountMerged", self.sidecar, "signIn.withCustomToken", custom)

    def test_merge_with_undecided_conflicts_fails_and_changes_nothing(self):
        self.sidecar.call("tenant.update", {"tenantId": "default", "attributes": [{"name": "size", "type": "integer"}, {"name": "city", "type": "string"}]})
        other = self.idp("oidc.t")
        carol, token = self.password_account()
        dora, source = self.password_account("dora@example.com")
        for account, size, city, claims in ((carol, 1, "Ulm", {"plan": "gold", "a": 1}), (dora, 2, "Ulm", {"plan": "free", "b": 2})):
            self.sidecar.call("account.update", {"accountId": account, "attributes": {"size": size, "city": city}})
            self.sidecar.call("account.setClaims", {"accountId": account, "claims": claims})
        self.link(token, self.credential(subject="carol"))
        self.link(source, self.credential(subject="dora"))
        self.link(source, self.credential(other, "dora"))
        before = [self.get(account) for account in (carol, dora)]
        error = self.not_merged("mergeUndecided", token, source)
        self.assertEqual(error.data["names"], ["email", "size", "claims/plan", "oidc.work"])
        self.assertEqual([(each["kind"], each["target"], each["source"]) for each in error.data["conflicts"]], [
            ("field", "carol@example.com", "dora@example.com"), ("field", "1", "2"), ("field", "gold", "free"), ("provider", "carol", "dora")])
        choices = {"fields": {"email": "keepTarget", "claims": "keepSource"}}
        self.assertEqual(self.not_merged("mergeUndecided", token, source, **choices).data["names"], ["size", "oidc.work"])
        # A dry run returns the plan with its conflicts. Undecided members keep the value of the target.
        plan = self.merge(token, source, dryRun=True, **choices)
        self.assertEqual((plan["dryRun"], plan["undecided"], "idToken" in plan), (True, ["size", "oidc.work"], False))
        self.assertEqual([(each["name"], each["policy"]) for each in plan["conflicts"]],
                         [("email", "keepTarget"), ("size", "fail"), ("claims/plan", "keepSource"), ("oidc.work", "fail")])
        self.assertEqual((plan["account"]["attributes"], plan["account"]["claims"]), ({"size": 1, "city": "Ulm"}, {"plan": "free", "a": 1, "b": 2}))
        self.assertEqual(self.merge(token, source, dryRun=True)["undecided"], error.data["names"])
        self.assertEqual(self.merge(token, source, dryRun=True, policy="keepSource")["undecided"], [])
        self.assertEqual([self.get(account) for account in (carol, dora)], before)
        answer = self.merge(token, source, policy="keepTarget", fields={"claims": "keepSource"}, providers={"oidc.work": "keepSource"})
        account = answer["account"]
        self.assertEqual((account["attributes"], account["claims"]), ({"size": 1, "city": "Ulm"}, {"plan": "free", "a": 1, "b": 2}))
        self.assertEqual([(each["providerId"], each["subject"]) for each in account["providers"]],
                         [("password", "carol@example.com"), ("oidc.t", "dora"), ("oidc.work", "dora")])
        self.assertEqual(sorted((each["providerId"], each["subject"]) for each in answer["droppedProviders"]),
                         [("oidc.work", "carol"), ("password", "dora@example.com")])
        self.refused("userNotFound", self.sidecar, "signIn.withPassword", {"username": "dora@example.com", "password": PASSWORD})
        self.assertEqual(self.account(self.sign_in(subject="dora")), carol)
        self.assertNotEqual(self.account(self.sign_in(subject="carol")), carol)

    def test_merged_address_keeps_its_password(self):
        for policy in ("keepSource", None):
            with self.subTest(policy):
                name = f"dora{policy}@example.com".lower()
                dora = self.sidecar.call("account.create", {"username": name, "password": "another Horse 7", "emailVerified": True})["accountId"]
                source = self.sidecar.call("signIn.withPassword", {"username": name, "password": "another Horse 7"})["idToken"]
                if policy:
                    account, token = self.password_account()
                else:
                    guest = self.anonymous()
                    account, token = self.account(guest), guest["idToken"]
                answer = self.merge(token, source, **({"policy": policy} if policy else {}))
                self.assertEqual((answer["account"]["email"], answer["account"]["emailVerified"], answer["account"]["method"]), (name, True, "password"))
                self.assertEqual(answer["absorbedAccountId"], dora)
                signed_in = self.sidecar.call("signIn.withPassword", {"username": name, "password": "another Horse 7"})
                self.assertEqual(self.account(signed_in), account)
        # The address that was dropped can be registered again.
        self.password_account()

    def test_merge_requires_two_recent_sign_ins_in_one_tenant(self):
        _, token = self.password_account()
        dora, _ = self.password_account("dora@example.com")
        self.later(301)
        fresh = self.password_session("dora@example.com")
        self.not_merged("recentSignInRequired", token, fresh)
        self.not_merged("recentSignInRequired", fresh, token)
        self.not_merged("tokenMalformed", fresh, "a.b.c")
        self.assertEqual(self.violations(self.sidecar, "account.merge", {"idToken": fresh, "sourceIdToken": fresh}), {("/sourceIdToken", "distinct")})
        self.sidecar.call("tenant.create", {"tenantId": "shop", "anonymousAllowed": True})
        stranger = self.sidecar.call("signIn.anonymously", {"tenantId": "shop"})["idToken"]
        self.not_merged("tokenIssuerMismatch", fresh, stranger)
        guest = self.anonymous()["idToken"]
        self.later(301)
        # an anonymous account needs no recent sign-in, because it cannot be signed in to again
        self.merge(self.password_session("dora@example.com"), guest)
        self.assertEqual(self.get(dora)["email"], "dora@example.com")

    def test_merge_keeps_second_factors(self):
        carol, old = self.password_account()
        token = self.enroll(old, "+4915112345678")
        dora, source = self.password_account("dora@example.com")
        other = self.password_session("dora@example.com")
        # The user is challenged for the moved factor, whichever account survives.
        answer = self.merge(source, token, policy="keepTarget")
        self.assertEqual((len(answer["movedFactors"]), answer["endedSessions"]), (1, 3))
        self.assertEqual(claims_of(answer["idToken"])["mintmark"]["second_factor"]["kind"], "sms")
        self.refused("tokenRevoked", self.sidecar, "token.verify", {"token": other, "tenantId": "default"})
        waiting = self.sidecar.call("signIn.withPassword", {"username": "dora@example.com", "password": PASSWORD})
        self.assertEqual([hint["kind"] for hint in waiting["hints"]], ["sms"])
        challenged = self.sidecar.call("mfa.challenge", {"continuationToken": waiting["continuationToken"], "factorId": answer["movedFactors"][0]})
        self.later(1)
        code = self.sidecar.call("test.outbox", {"to": "+4915112345678"})["messages"][-1]["code"]
        done = self.sidecar.call("mfa.resolve", {"continuationToken": challenged["continuationToken"], "code": code})
        self.assertEqual(self.account(done), dora)

    def test_merge_of_an_account_with_a_factor_requires_a_session_with_that_factor(self):
        _, token = self.password_account()
        _, source = self.password_account("dora@example.com")
        self.enroll(token, "+4915112345678")
        self.sidecar.call("tenant.update", {"tenantId": "default", "mfa": "off"})
        weak = self.password_session()
        self.sidecar.call("tenant.update", {"tenantId": "default", "mfa": "optional"})
        self.not_merged("secondFactorNeeded", weak, source, policy="keepTarget")
        self.not_merged("secondFactorNeeded", source, weak, policy="keepTarget")

    def test_merge_removes_duplicate_factors_and_fails_above_the_maximum(self):
        _, token = self.password_account()
        _, source = self.password_account("dora@example.com")
        numbers = [f"+49151123456{n}0" for n in range(6)]
        for number in numbers[:3]:
            token = self.enroll(token, number)
        for number in [numbers[0], *numbers[3:5]]:
            source = self.enroll(source, number)
        once_more = self.merge(token, source, policy="keepTarget", dryRun=True)
        self.assertEqual([factor["phoneNumber"] for factor in once_more["account"]["factors"]], numbers[:5])
        source = self.enroll(source, numbers[5])
        self.not_merged("tooManyFactors", token, source, policy="keepTarget")

    def test_merge_moves_pool_identities(self):
        pools = [make_pool(self.sidecar, allowClassicFlow=True, providers=[{"tenantId": "default"}])["poolId"] for _ in range(3)]
        _, token = self.password_account()
        guest = self.anonymous()["idToken"]

        def identity(pool, id_token, **more):
            return self.sidecar.call("identity.resolve", {"poolId": pool, "logins": {TENANT: id_token}, **more})["identityId"]
        renamed = identity(pools[0], guest)
        older = identity(pools[1], guest)
        self.later(1)
        younger = identity(pools[1], token)
        kept = identity(pools[2], token)
        dry = self.merge(token, guest, dryRun=True)
        self.assertEqual(self.sidecar.call("identity.get", {"identityId": younger})["state"], "authenticated")
        answer = self.merge(token, guest)
        self.assertEqual(answer["identities"], dry["identities"])
        wanted = [{"poolId": pools[0], "identityId": renamed}, {"poolId": pools[1], "identityId": older, "absorbedIdentityId": younger}]
        self.assertEqual(answer["identities"], sorted(wanted, key=lambda each: each["poolId"]))
        self.assertEqual([identity(pool, answer["idToken"]) for pool in pools], [renamed, older, kept])
        self.assertEqual(self.sidecar.call("identity.get", {"identityId": younger})["state"], "disabled")
        minted = self.sidecar.call("token.mint", {"identityId": older, "logins": {TENANT: answer["idToken"]}})
        self.assertEqual(claims_of(minted["token"])["sub"], older)

    def test_identities_with_different_logins_of_one_provider_are_a_conflict(self):
        for policy in ("keepTarget", "keepSource"):
            with self.subTest(policy):
                issuer = self.provider.issuer.removeprefix("https://")
                pool = make_pool(self.sidecar, providers=[{"tenantId": "default"}, {"issuer": self.provider.issuer, "clientIds": ["shop"], "keys": [self.provider.jwk]}])["poolId"]
                accounts = [self.anonymous()["idToken"] for _ in range(2)]
                identities = [self.sidecar.call("identity.resolve", {"poolId": pool, "logins": {TENANT: token, issuer: self.provider.token(f"user {n}")}})["identityId"]
                              for n, token in enumerate(accounts)]
                error = self.not_merged("mergeUndecided", *accounts)
                self.assertEqual([(each["kind"], each["name"], each["target"], each["source"]) for each in error.data["conflicts"]], [("identity", pool, *identities)])
                self.assertEqual(self.merge(*accounts, dryRun=True)["undecided"], [pool])
                answer = self.merge(*accounts, identities=policy)
                self.assertNotIn("undecided", answer)
                kept, left = identities if policy == "keepTarget" else reversed(identities)
                self.assertEqual(answer["identities"], [{"poolId": pool, "identityId": kept, "unlinkedIdentityId": left}])
                logins = {TENANT: answer["idToken"]}
                self.assertEqual(self.sidecar.call("identity.resolve", {"poolId": pool, "logins": logins})["identityId"], kept)
                self.assertEqual(self.sidecar.call("identity.get", {"identityId": left})["logins"], [issuer])

    def test_concurrent_merges_in_both_directions_succeed_once(self):
        for _ in range(5):
            a, b = self.anonymous()["idToken"], self.anonymous()["idToken"]
            ids = [self.sidecar.send("account.merge", {"idToken": first, "sourceIdToken": second}) for first, second in ((a, b), (b, a)) * 3]
            outcomes = []
            for id in ids:
                try:
                    outcomes.append(self.sidecar.answer(id, timeout=60)["absorbedAccountId"])
                except RpcError as error:
                    outcomes.append(error.type)
            self.assertEqual(outcomes.count("accountMerged"), 5, outcomes)

    def test_audit_record_of_a_merge_contains_only_ids(self):
        carol, token = self.password_account()
        dora, source = self.password_account("dora@example.com")
        self.merge(token, source, policy="keepTarget")
        records = [each for each in self.sidecar.call("audit.list", {"limit": 60})["records"] if each["method"] == "account.merge"]
        self.assertIn({"absorbed": dora, "droppedProviders": ["password"], "tenantId": "default"}, [each["details"] for each in records])
        self.assertEqual({each["subject"] for each in records}, {carol})
        self.assertNotIn("example.com", str(records))


class Graph(Accounts):
    def test_graph_shows_nodes_and_edges_of_an_account(self):
        pool = make_pool(self.sidecar, providers=[{"tenantId": "default"}, {"issuer": self.provider.issuer, "clientIds": ["shop"], "keys": [self.provider.jwk]}])["poolId"]
        carol, token = self.password_account()
        guest = self.anonymous()
        identity = self.sidecar.call("identity.resolve", {"poolId": pool, "logins": {
            TENANT: guest["idToken"], self.provider.issuer.removeprefix("https://"): self.provider.token("carol")}})["identityId"]
        token = self.link(self.merge(token, guest["idToken"])["idToken"], self.credential())["idToken"]
        token = self.enroll(token, "+4915112345678")
        graph = self.sidecar.call("account.graph", {"idToken": token})
        nodes, edges = graph["nodes"], graph["edges"]
        self.assertEqual(nodes[0], {"kind": "account", "accountId": carol})
        self.assertEqual([(each["providerId"], each["subject"]) for each in nodes if each["kind"] == "provider"],
                         [("password", "carol@example.com"), ("oidc.work", "carol")])
        self.assertEqual([each["accountId"] for each in nodes if each["kind"] == "mergedAccount"], [self.account(guest)])
        self.assertEqual([(each["poolId"], each["identityId"]) for each in nodes if each["kind"] == "identity"], [(pool, identity)])
        self.assertEqual([each["factorKind"] for each in nodes if each["kind"] == "factor"], ["sms"])
        kinds = sorted((nodes[each["from"]]["kind"], each["kind"], nodes[each["to"]]["kind"]) for each in edges)
        self.assertEqual(kinds, [
            ("account", "leadsTo", "identity"), ("factor", "secures", "account"), ("login", "leadsTo", "identity"), ("mergedAccount", "mergedInto", "account"),
            ("provider", "began", "session"), ("provider", "leadsTo", "account"), ("provider", "leadsTo", "account"), ("session", "isSignedInTo", "account")])
        self.assertEqual(self.sidecar.call("account.graph", {"accountId": carol}), graph)
        self.assertNotIn("+49", str(graph))
        self.refused("accountMerged", self.sidecar, "account.graph", {"accountId": self.account(guest)})
        self.refused("accountNotFound", self.sidecar, "account.graph", {"accountId": NOBODY})

    def test_public_caller_cannot_request_a_graph_by_account_id(self):
        store = self.path("public.db")
        first = self.spawn(store=store)
        carol = first.call("account.create", {"username": "carol@example.com", "password": PASSWORD})["accountId"]
        public = self.spawn("--caller", "public", store=store)
        self.refused("callerNotAllowed", public, "account.graph", {"accountId": carol})
        token = public.call("signIn.withPassword", {"username": "carol@example.com", "password": PASSWORD})["idToken"]
        self.assertEqual(public.call("account.graph", {"idToken": token})["nodes"][0]["accountId"], carol)
