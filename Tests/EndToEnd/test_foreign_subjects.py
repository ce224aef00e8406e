"""Tokens of trusted issuers as subjects of token exchange, and agents: accounts of programs that another account owns."""

import concurrent.futures
import time

from endtoend import EndToEnd
from federation import PASSWORD
from sidecar import RpcError
from test_delegation import BILLS, ORDERS, TYPE, Delegation, claims
from websites import OpenIDWebsite
from workloads import FAMILIES, github


class ForeignSubjects(Delegation):
    def setUp(self):
        super().setUp()
        self.hub = github()
        self.subject = self.hub.claims["sub"]
        self.trust()
        self.link(self.account(self.agent))

    def trust(self, hub=None, entry=None, **more):
        hub = hub or self.hub
        hub.put(self.sidecar, **{"uses": ["exchange"], **more})
        entry = {"issuer": hub.issuer, "audiences": [ORDERS, "shop"], "scopes": ["read"], **(entry or {})}
        self.call("tenant.update", tenantId="shop", subjectIssuers=[entry])

    def link(self, account, hub=None):
        hub = hub or self.hub
        self.call("account.update", accountId=account, link=[{"providerId": hub.issuer, "subject": hub.claims["sub"]}])

    def foreign(self, token=None, **more):
        return self.exchange(token or self.hub.token(), "jwt", **{"tenantId": "shop", "audience": [ORDERS], **more})

    def foreign_denied(self, wanted, oauth, token=None, **more):
        return self.denied(wanted, oauth, token or self.hub.token(), "jwt", **{"tenantId": "shop", "audience": [ORDERS], **more})


class Exchange(ForeignSubjects):
    def test_token_of_a_workload_becomes_one_of_the_linked_account(self):
        good = self.hub.token()
        token = self.foreign(good)
        told = claims(token)
        self.assertEqual((told["sub"], told["iss"], told["aud"], told["scope"]), (self.account(self.agent), self.issuer, ORDERS, "read"))
        self.assertEqual((told["amr"], told["client_id"]), (["fed"], "shop"))
        self.assertLessEqual(told["exp"], claims(good)["exp"])
        self.assertNotIn("act", told)
        self.assertEqual(self.verify(token, audience=ORDERS, scope="read")["use"], "access")
        record = self.sidecar.call("audit.list", {"method": "token.exchange"})["records"][0]
        self.assertEqual((record["subject"], record["details"]["issuerSubject"], record["details"]["issuer"]), (
            self.account(self.agent), self.subject, self.hub.issuer))
        sessions = self.call("session.list", accountId=self.account(self.agent))["sessions"]
        self.assertIn((told["sid"], self.hub.issuer), [(each["sessionId"], each["signInProvider"]) for each in sessions])

    def test_every_family_can_be_exchanged_and_no_bad_token(self):
        for name, family in FAMILIES.items():
            with self.subTest(name):
                hub = family()
                self.trust(hub)
                self.link(self.account(self.agent), hub)
                self.assertEqual(claims(self.foreign(hub.token()))["sub"], self.account(self.agent))
                for flaw, bad, wanted in hub.bad():
                    # Google's tokens have any azp.
                    if (name, flaw) == ("google", "azp of another app"):
                        continue
                    with self.subTest(flaw):
                        self.foreign_denied(wanted, "invalid_request", bad)

    # The negative list of the specification, section 6.3, for subjects of trusted issuers.

    def delegated(self, actor=None, **more):
        return self.hub.token(may_act={"sub": self.account(actor or self.alice), "iss": self.issuer}, **more)

    def test_01_rogue_actor(self):
        self.foreign_denied("actorNotAllowed", "unauthorized_client", self.delegated(), actor=self.sign_in("rogue")["accessToken"])

    def test_02_missing_actor_with_may_act(self):
        self.foreign_denied("actorTokenRequired", "invalid_request", self.delegated())

    def test_03_actor_without_may_act(self):
        self.foreign_denied("actorNotAllowed", "unauthorized_client", actor=self.alice["accessToken"])
        # The tenant names its own account; an issuer that signs the same subject does not become that account.
        self.call("tenant.update", tenantId="shop", delegations=[{"actor": {"sub": "robot"}, "audiences": [ORDERS], "scopes": ["read"]}])
        self.foreign_denied("actorNotAllowed", "unauthorized_client", actor=self.hub.token(sub="robot"), actor_kind="jwt")

    def test_04_expired_actor(self):
        now = self.call("system.ping")["now"]
        self.foreign_denied("tokenExpired", "invalid_request", self.delegated(), actor=self.signed(exp=now - 1))
        token = claims(self.foreign(self.delegated(), actor=self.alice["accessToken"]))
        self.assertEqual((token["sub"], token["act"]), (self.account(self.agent), {
            "sub": self.account(self.alice), "iss": self.issuer, "client_id": "shop"}))

    def test_05_to_08_invalid_actor_tokens(self):
        for wanted, bad in (("tokenSignatureInvalid", self.signed(key="wrong")), ("tokenIssuerMismatch", FAMILIES["gitlab"]().token()),
                            ("tokenAudienceMismatch", self.signed(audience=ORDERS)), ("tokenAudienceMismatch", self.hub.token(aud="x"))):
            self.foreign_denied(wanted, "invalid_request", self.delegated(), actor=bad, actor_kind="jwt")
        for half in ({"actorToken": self.alice["accessToken"]}, {"actorTokenType": TYPE + "jwt"}):
            self.foreign_denied("actorTokenRequired", "invalid_request", self.delegated(), **half)

    def test_09_and_10_audience_and_scope(self):
        self.foreign_denied("audienceNotOffered", "invalid_target", audience=[BILLS])
        self.foreign_denied("audienceNotOffered", "invalid_target", audience=["https://unknown.example.com"])
        self.foreign_denied("scopeNotGranted", "invalid_scope", scope="write")
        self.foreign_denied("scopeNotGranted", "invalid_scope", self.hub.token(scope="openid"), scope="read")
        self.assertEqual(claims(self.foreign(self.hub.token(scope="read write")))["scope"], "read")
        self.assertEqual(claims(self.foreign(self.hub.token(scope="")))["scope"], "")

    def test_11_expired_subject_and_leeway(self):
        now = int(time.time())
        self.foreign_denied("tokenExpired", "invalid_request", self.hub.token(iat=now - 900, exp=now - 400))
        # Within the leeway of IAM, the token is still accepted for roles, and no access token can be as old.
        self.foreign_denied("tokenExpired", "invalid_request", self.hub.token(iat=now - 900, exp=now - 5))

    def test_12_and_13_session_and_account_of_the_subject(self):
        token = self.foreign()
        session = claims(token)["sid"]
        self.call("session.signOut", sessionId=session)
        self.refused("tokenRevoked", self.sidecar, "token.verify", {"token": token, "tenantId": "shop"})
        token = self.foreign()
        self.call("account.update", accountId=self.account(self.agent), disabled=True)
        self.refused("tokenRevoked", self.sidecar, "token.verify", {"token": token, "tenantId": "shop"})
        self.foreign_denied("accountDisabled", "invalid_request")
        self.call("account.delete", accountId=self.account(self.agent))
        self.foreign_denied("userNotFound", "invalid_request")

    def test_14_end_of_the_actor_ends_the_chain(self):
        token = self.foreign(self.delegated(), actor=self.alice["accessToken"])
        self.verify(token)
        self.call("session.signOut", idToken=self.alice["idToken"])
        self.refused("tokenRevoked", self.sidecar, "token.verify", {"token": token, "tenantId": "shop"})

    def test_15_actor_is_the_subject(self):
        own = self.hub.token(may_act={"sub": self.account(self.agent), "iss": self.issuer})
        self.foreign_denied("actorNotAllowed", "unauthorized_client", own, actor=self.agent["accessToken"])
        self.foreign_denied("actorNotAllowed", "unauthorized_client", self.hub.token(may_act={"sub": self.subject}), actor=self.hub.token(), actor_kind="jwt")

    def test_16_exchange_by_a_third(self):
        acting = self.foreign(self.delegated(), actor=self.alice["accessToken"])
        self.denied("actorTokenRequired", "invalid_request", acting, expiresInSeconds=5)
        self.denied("actorNotAllowed", "unauthorized_client", acting, actor=self.sign_in("third")["accessToken"], expiresInSeconds=5)
        self.exchange(acting, actor=self.alice["accessToken"], expiresInSeconds=5)

    def test_17_refresh_token_and_18_declared_types(self):
        self.foreign_denied("tokenTypeNotSupported", "invalid_request", requestedTokenType=TYPE + "refresh_token")
        for kind in ("access_token", "id_token"):
            self.refused({"tokenKeyUnknown", "tokenUseMismatch"}, self.sidecar, "token.exchange", self.params(self.hub.token(), kind, tenantId="shop"))

    def test_19_and_20_tokens_for_other_purposes(self):
        for kind in ("pool+jwt", "at+jwt", "logout+jwt", "oauth-id-jag+jwt", "secevent+jwt"):
            self.foreign_denied("tokenUseMismatch", "invalid_request", self.hub.token({"typ": kind}))
        other = self.call("tenant.create", tenantId="other")
        self.call("issuer.put", tenantId="other", audiences=["other"], uses=["exchange"])
        self.call("tenant.update", tenantId="shop", subjectIssuers=[{"issuer": other["issuer"], "audiences": [ORDERS], "scopes": []}])
        carol = self.call("account.create", tenantId="other", username="carol@example.com", password=PASSWORD)["accountId"]
        tokens = self.call("signIn.withPassword", tenantId="other", username="carol@example.com", password=PASSWORD)
        self.foreign_denied("userNotFound", "invalid_request", tokens["idToken"])
        self.call("account.update", accountId=self.account(self.alice), link=[{"providerId": other["issuer"], "subject": carol}])
        self.assertEqual(claims(self.foreign(tokens["idToken"]))["sub"], self.account(self.alice))
        self.foreign_denied("tokenUseMismatch", "invalid_request", tokens["accessToken"])

    def test_21_removed_audience(self):
        token = self.foreign()
        self.refused("invalidTenantSettings", self.sidecar, "tenant.update", {"tenantId": "shop", "audiences": [BILLS]})
        self.trust(entry={"audiences": ["shop"]})
        self.call("tenant.update", tenantId="shop", audiences=[BILLS])
        self.foreign_denied("audienceNotOffered", "invalid_target")
        self.denied("audienceNotOffered", "invalid_target", token, scope="read")

    def test_22_and_23_invalid_may_act_and_act(self):
        for wrong in ("x", [], {}, {"iss": self.issuer}, {"sub": 7}):
            self.foreign_denied("subjectTokenInvalid", "invalid_request", self.hub.token(may_act=wrong))
            self.foreign_denied("subjectTokenInvalid", "invalid_request", self.hub.token(act=wrong), actor=self.alice["accessToken"])

    def test_24_reserved_claims(self):
        for name in ("act", "may_act", "cnf"):
            self.refused("claimNameReserved", self.sidecar, "account.setClaims", {"accountId": self.account(self.agent), "claims": {name: {"sub": "x"}}})

    def test_25_and_26_nesting_and_delegated_actor(self):
        chain = None
        for number in range(4):
            chain = {"sub": f"robot{number}", "iss": self.hub.issuer, **({"act": chain} if chain else {})}
        deep = self.delegated(act=chain)
        self.foreign_denied("delegationTooDeep", "invalid_request", deep, actor=self.alice["accessToken"])
        nested = self.foreign(self.delegated(act={"sub": "robot", "iss": self.hub.issuer}), actor=self.alice["accessToken"])
        self.assertEqual((claims(nested)["act"]["sub"], claims(nested)["act"]["act"]["sub"]), (self.account(self.alice), "robot"))
        self.foreign_denied("actorNotAllowed", "unauthorized_client", self.delegated(), actor=self.delegated(), actor_kind="jwt")
        # Sessions that another issuer names are not believed.
        forged = self.hub.token(act={"sub": self.account(self.alice), "iss": self.issuer}, mintmark={"actor_sessions": ["test.token"]})
        token = self.foreign(forged, actor=self.alice["accessToken"])
        self.assertEqual(claims(token)["mintmark"]["actor_sessions"], [""])

    def test_27_two_audiences_all_or_nothing_and_28_unsigned(self):
        self.foreign_denied("audienceNotOffered", "invalid_target", audience=[ORDERS, BILLS])
        head, body, _ = self.hub.token().split(".")
        for bad in dict((flaw, token) for flaw, token, _ in self.hub.bad() if flaw in ("unsigned", "symmetric")).values():
            self.foreign_denied("tokenAlgorithmNotAllowed", "invalid_request", bad)
            self.foreign_denied("tokenAlgorithmNotAllowed", "invalid_request", self.delegated(), actor=bad, actor_kind="jwt")

    # Beyond the list.

    def test_issuer_must_be_trusted_by_the_tenant_too(self):
        self.call("tenant.create", tenantId="other", audiences=[ORDERS])
        self.foreign_denied("tokenIssuerMismatch", "invalid_request", tenantId="other")
        self.foreign_denied("tenantNotFound", "invalid_request", tenantId="nowhere")
        self.trust(uses=["roles", "idJag"])
        self.foreign_denied("tokenIssuerMismatch", "invalid_request")
        self.trust()
        self.call("tenant.update", tenantId="shop", disabled=True)
        self.foreign_denied("tenantDisabled", "invalid_request")

    def test_unknown_subject_gets_an_account_only_if_permitted(self):
        other = self.hub.token(sub="repo:octo-org/other:ref:refs/heads/main")
        self.assertIn("createAccounts", self.foreign_denied("userNotFound", "invalid_request", other).data["hint"])
        self.trust(entry={"createAccounts": True})
        first, second = claims(self.foreign(other)), claims(self.foreign(other))
        self.assertEqual(first["sub"], second["sub"])
        made = self.call("account.get", accountId=first["sub"])
        self.assertEqual([(each["providerId"], each["subject"]) for each in made["providers"]], [(self.hub.issuer, "repo:octo-org/other:ref:refs/heads/main")])
        self.call("tenant.update", tenantId="shop", signUpAllowed=False)
        self.foreign_denied("signUpNotAllowed", "invalid_request", self.hub.token(sub="third"))

    def test_account_of_an_identity_provider_with_the_same_issuer(self):
        self.call("idp.create", tenantId="shop", providerId="oidc.hub", clientId="sts.amazonaws.com", issuer=self.hub.issuer, keys=[self.hub.jwk])
        self.call("account.update", accountId=self.account(self.alice), link=[{"providerId": "oidc.hub", "subject": "octocat"}])
        self.assertEqual(claims(self.foreign(self.hub.token(sub="octocat")))["sub"], self.account(self.alice))
        self.call("idp.update", tenantId="shop", providerId="oidc.hub", enabled=False)
        self.foreign_denied("userNotFound", "invalid_request", self.hub.token(sub="octocat"))

    def test_second_factor_is_not_bypassed(self):
        self.call("tenant.update", tenantId="shop", mfa="required")
        self.foreign_denied("secondFactorRequired", "invalid_request")

    def test_foreign_client_ids_are_not_those_of_the_tenant(self):
        self.call("application.put", tenantId="shop", clientId="backend")
        token = claims(self.foreign(self.hub.token(client_id="backend")))
        self.assertEqual(token["client_id"], "shop")
        self.assertEqual(claims(self.foreign(clientId="backend"))["client_id"], "backend")
        self.foreign_denied("clientUnknown", "invalid_client", clientId="nowhere")

    def test_single_use_token_is_accepted_once(self):
        self.trust(singleUse=True)
        once = self.hub.token(jti="once")
        self.foreign(once)
        self.foreign_denied("tokenReplayed", "invalid_request", once)

    def test_lockout_of_every_door(self):
        self.call("tenant.update", tenantId="shop", lockCovers="everyDoor", lockout={"threshold": 1, "durationSeconds": 3600})
        self.refused("invalidPassword", self.sidecar, "signIn.withPassword", {"tenantId": "shop", "username": "agent@example.com", "password": "wrong Horse 77 x"})
        self.foreign_denied("accountLocked", "invalid_request")


class Processes(EndToEnd):
    """Several processes on one store."""

    def test_one_of_many_processes_accepts_a_single_use_token(self):
        store = self.path("shop.db")
        sidecars = [self.spawn(store=store, testing=True) for _ in range(3)]
        hub = github()
        hub.put(sidecars[0], uses=["exchange"], singleUse=True)
        sidecars[0].call("tenant.create", {"tenantId": "shop", "subjectIssuers": [
            {"issuer": hub.issuer, "audiences": ["shop"], "scopes": [], "createAccounts": True}]})
        token = hub.token(jti="once")
        params = {"subjectToken": token, "subjectTokenType": TYPE + "jwt", "tenantId": "shop"}
        for sidecar in sidecars:
            sidecar.call("pool.list")   # opens the store

        def attempt(sidecar):
            try:
                return sidecar.call("token.exchange", params)["scope"]
            except RpcError as error:
                return error.type
        with concurrent.futures.ThreadPoolExecutor(3) as threads:
            results = sorted(threads.map(attempt, sidecars))
        self.assertEqual(results, ["", "tokenReplayed", "tokenReplayed"])

    def test_two_processes_create_one_account(self):
        store = self.path("shop.db")
        sidecars = [self.spawn(store=store, testing=True) for _ in range(3)]
        hub = github()
        hub.put(sidecars[0], uses=["exchange"])
        sidecars[0].call("tenant.create", {"tenantId": "shop", "subjectIssuers": [
            {"issuer": hub.issuer, "audiences": ["shop"], "scopes": [], "createAccounts": True}]})
        params = {"subjectToken": hub.token(), "subjectTokenType": TYPE + "jwt", "tenantId": "shop"}
        for sidecar in sidecars:
            sidecar.call("pool.list")   # opens the store
        with concurrent.futures.ThreadPoolExecutor(3) as threads:
            tokens = list(threads.map(lambda each: each.call("token.exchange", params)["token"], sidecars))
        self.assertEqual(len({claims(token)["sub"] for token in tokens}), 1)


class Rehearsals(ForeignSubjects):
    """The failure of each dependency: the issuer is down, its keys are rotated, its clock is wrong, its token is revoked."""

    def setUp(self):
        super().setUp()
        self.site = OpenIDWebsite()
        self.addCleanup(self.site.close)
        self.call("issuer.put", issuer=self.site.issuer, audiences=["shop"], allowInsecure=True, uses=["exchange"])
        self.call("tenant.update", tenantId="shop", subjectIssuers=[{"issuer": self.site.issuer, "audiences": [ORDERS], "scopes": []}])
        self.call("account.update", accountId=self.account(self.alice), link=[{"providerId": self.site.issuer, "subject": "carol"}])

    def test_issuer_is_down(self):
        token, pages = self.site.token(), dict(self.site.pages)
        for path in self.site.pages:
            self.site.pages[path] = (503, {}, b"")
        self.foreign_denied("providerUnavailable", "temporarily_unavailable", token)
        self.site.pages.update(pages)
        deadline = time.monotonic() + 60
        while (answer := self.attempt(token)) == "providerUnavailable":
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)
        self.assertEqual(answer, "accepted")

    def attempt(self, token):
        try:
            self.foreign(token)
            return "accepted"
        except RpcError as error:
            return error.type

    def test_keys_are_rotated(self):
        old = self.site.token()
        self.foreign(old)
        self.site.rotate("second")
        self.foreign(self.site.token())

    def test_clock_is_wrong(self):
        now = int(time.time())
        self.foreign(self.site.token(iat=now + 250, exp=now + 600))
        self.foreign_denied("tokenNotYetValid", "invalid_request", self.site.token(iat=now + 400, exp=now + 900))

    def test_subject_is_revoked(self):
        now = int(time.time())
        old = self.site.token(iat=now - 5)
        token = self.foreign(old)
        self.call("credentials.revoke", issuer=self.site.issuer, subject="carol")
        self.foreign_denied("tokenRevoked", "invalid_request", old)
        # The session of the account is the developer's to end.
        self.verify(token)
        self.call("session.revokeAll", accountId=self.account(self.alice))
        self.refused("tokenRevoked", self.sidecar, "token.verify", {"token": token, "tenantId": "shop"})


class Agents(ForeignSubjects):
    def create(self, name="Deploy bot", **more):
        return self.call("account.createAgent", **{"ownerId": self.account(self.alice), "displayName": name, **more})

    def workload(self):
        """Returns an agent that the workload signs in to."""
        self.call("account.update", accountId=self.account(self.agent), unlink=[self.hub.issuer])
        return self.create(login={"issuer": self.hub.issuer, "subject": self.subject})

    def test_agent_belongs_to_its_owner(self):
        bot = self.workload()
        self.assertEqual((bot["method"], bot["ownerId"], bot["attributes"]), ("agent", self.account(self.alice), {"displayName": "Deploy bot"}))
        own = self.call("account.createAgent", idToken=self.alice["idToken"], displayName="Helper")
        listed = self.call("account.listAgents", ownerId=self.account(self.alice))["agents"]
        self.assertEqual({each["accountId"] for each in listed}, {bot["accountId"], own["accountId"]})
        self.assertEqual(self.call("account.listAgents", idToken=self.alice["idToken"])["agents"], listed)
        self.assertEqual(self.call("account.listAgents", idToken=self.agent["idToken"])["agents"], [])
        self.assertEqual(self.call("account.get", accountId=bot["accountId"])["ownerId"], self.account(self.alice))
        graph = self.call("account.graph", accountId=self.account(self.alice), format="tree")
        self.assertIn({"kind": "agent", "accountId": bot["accountId"]}, graph["nodes"])
        self.assertIn(f"agent {bot['accountId']}", graph["text"])
        graph = self.call("account.graph", accountId=bot["accountId"], format="svg")
        self.assertIn({"kind": "owner", "accountId": self.account(self.alice)}, graph["nodes"])
        self.assertIn("owns", {edge["kind"] for edge in graph["edges"]})
        record = self.sidecar.call("audit.list", {"method": "account.createAgent"})["records"][-1]
        self.assertEqual((record["subject"], record["details"]["ownerId"]), (bot["accountId"], self.account(self.alice)))

    def test_agent_gets_tokens_and_acts_for_users(self):
        bot = self.workload()
        own = self.foreign(audience=["shop"])
        self.assertEqual(claims(own)["sub"], bot["accountId"])
        bob = self.sign_in("bob", scope="openid read")
        permission = self.call("token.delegate", idToken=bob["idToken"], actor={"sub": bot["accountId"]}, scope="read")["token"]
        acting = self.exchange(permission, actor=own, audience=[ORDERS])
        self.assertEqual((claims(acting)["sub"], claims(acting)["act"]["sub"]), (self.account(bob), bot["accountId"]))
        record = self.sidecar.call("audit.list", {"method": "token.exchange"})["records"][0]
        self.assertEqual((record["subject"], record["details"]["act"]["sub"]), (self.account(bob), bot["accountId"]))
        self.verify(acting)
        return bot, own, acting

    def test_disabled_owner_ends_the_tokens(self):
        bot, own, acting = self.test_agent_gets_tokens_and_acts_for_users()
        self.call("account.update", accountId=self.account(self.alice), disabled=True)
        for token in (own, acting):
            self.refused("tokenRevoked", self.sidecar, "token.verify", {"token": token, "tenantId": "shop"})
        self.foreign_denied("tokenRevoked", "invalid_request", audience=["shop"])
        self.call("account.update", accountId=self.account(self.alice), disabled=False)
        self.foreign(audience=["shop"])
        self.assertEqual(self.call("account.get", accountId=bot["accountId"])["disabled"], False)

    def test_deleted_owner_or_agent_ends_the_tokens(self):
        for end in (lambda bot: self.call("account.delete", accountId=bot["accountId"]),
                    lambda bot: self.call("account.deleteAgent", idToken=self.alice["idToken"], accountId=bot["accountId"]),
                    lambda bot: self.call("account.update", accountId=bot["accountId"], disabled=True) and None,
                    lambda bot: self.call("account.delete", accountId=self.account(self.alice))):
            bot, own, acting = self.workload(), self.foreign(audience=["shop"]), None
            end(bot)
            self.refused("tokenRevoked", self.sidecar, "token.verify", {"token": own, "tenantId": "shop"})
            self.foreign_denied({"userNotFound", "accountDisabled"}, "invalid_request", audience=["shop"])
            try:
                self.call("account.delete", accountId=bot["accountId"])
            except RpcError as error:
                self.assertEqual(error.type, "accountNotFound")
        deleted = [each for each in self.sidecar.call("audit.list", {"method": "account.delete"})["records"] if each["details"].get("ownerId")]
        self.assertEqual([each["details"]["ownerId"] for each in deleted], [self.account(self.alice)])

    def test_agents_stay_agents(self):
        bot = self.workload()["accountId"]
        for change in ({"username": "bot@example.com"}, {"password": PASSWORD}, {"phoneNumber": "+4915112345678"}):
            self.refused("accountIsAgent", self.sidecar, "account.update", {"accountId": bot, **change})
        self.refused("accountIsAgent", self.sidecar, "account.createAgent", {"ownerId": bot, "displayName": "x"})
        self.refused("accountNotFound", self.sidecar, "account.createAgent", {"ownerId": "nobody", "displayName": "x"})
        self.refused("accountNotFound", self.sidecar, "account.deleteAgent", {"idToken": self.agent["idToken"], "accountId": bot})
        self.refused("accountNotFound", self.sidecar, "account.deleteAgent", {"idToken": self.alice["idToken"], "accountId": self.account(self.agent)})
        self.refused("providerSubjectInUse", self.sidecar, "account.createAgent", {
            "ownerId": self.account(self.alice), "displayName": "x", "login": {"issuer": self.hub.issuer, "subject": self.subject}})
        for name, value in (("accountId", "bot"), ("login", {"issuer": "https://x.example", "subject": "x"}), ("claims", {})):
            self.assertEqual(self.violations(self.sidecar, "account.createAgent", {"idToken": self.alice["idToken"], "displayName": "x", name: value}), {
                (f"/{name}", "developer")})
        # A login of a user does not open it either.
        self.call("idp.create", tenantId="shop", providerId="oidc.hub", clientId="sts.amazonaws.com", issuer=self.hub.issuer, keys=[self.hub.jwk])
        self.call("account.update", accountId=bot, link=[{"providerId": "oidc.hub", "subject": "octocat"}])
        self.refused("accountDisabled", self.sidecar, "signIn.withCredential", {
            "tenantId": "shop", "credential": {"providerId": "oidc.hub", "idToken": self.hub.token(sub="octocat")}})

    def test_agents_are_not_asked_for_a_second_factor(self):
        self.workload()
        self.call("tenant.update", tenantId="shop", mfa="required")
        self.foreign(audience=["shop"])

    def test_at_most_100_agents(self):
        for number in range(100):
            self.create(f"bot {number}")
        self.refused("tooManyAgents", self.sidecar, "account.createAgent", {"ownerId": self.account(self.alice), "displayName": "one more"})

    def test_agents_follow_their_owner_into_a_merged_account(self):
        bot = self.workload()
        target = self.sign_in("target")
        self.call("account.merge", idToken=target["idToken"], sourceIdToken=self.alice["idToken"], policy="keepTarget")
        self.assertEqual(self.call("account.get", accountId=bot["accountId"])["ownerId"], self.account(target))
        self.foreign(audience=["shop"])

    def test_export_and_import_keep_the_owner(self):
        bot = self.workload()
        accounts = self.call("account.export", tenantId="shop")["accounts"]
        exported = [each for each in accounts if each["accountId"] == bot["accountId"]][0]
        self.assertEqual((exported["method"], exported["ownerId"]), ("agent", self.account(self.alice)))
        other = self.spawn(testing=True)
        other.call("tenant.create", {"tenantId": "shop"})
        done = other.call("account.import", {"tenantId": "shop", "accounts": sorted(accounts, key=lambda each: each.get("ownerId") is None)})
        self.assertEqual(done["failed"] if "failed" in done else 0, 0)
        self.assertEqual([each["accountId"] for each in other.call("account.listAgents", {"ownerId": self.account(self.alice)})["agents"]], [bot["accountId"]])
        for bad in ({"method": "agent", "accountId": "x"}, {"ownerId": "y", "accountId": "x"}, {"method": "agent", "ownerId": "y", "accountId": "x", "email": "a@example.com"}):
            answer = other.call("account.import", {"tenantId": "shop", "accounts": [bad]})
            self.assertEqual(answer["imported"] if "imported" in answer else 0, 0, answer)

    def test_public_callers(self):
        store = self.path("public.db")
        first = self.spawn(store=store)
        first.call("tenant.create", {"tenantId": "shop"})
        owner = first.call("account.create", {"tenantId": "shop", "username": "a@example.com"})["accountId"]
        public = self.spawn("--caller", "public", store=store)
        self.refused("callerNotAllowed", public, "account.createAgent", {"ownerId": owner, "displayName": "x"})
        self.refused("callerNotAllowed", public, "account.listAgents", {"ownerId": owner})


if __name__ == "__main__":
    import unittest
    unittest.main()
