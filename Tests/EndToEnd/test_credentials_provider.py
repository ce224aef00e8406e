"""Credentials providers over the pipe: shared refreshes, changes of the identity ID, and processes that share a key."""

import sqlite3
import threading

from endtoend import EndToEnd, PRINCIPAL, make_pool, mint, only
from sidecar import RpcError
from websites import DISCOVERY, KEYS, OpenIDWebsite, page

NOTIFICATION = "credentialsProvider/identityChanged"


class Providers(EndToEnd):
    def setUp(self):
        super().setUp()
        self.store = self.path("store.db")
        self.sidecar = self.spawn(store=self.store)
        self.pool = make_pool(self.sidecar, allowUnauthenticated=True)["poolId"]
        put = lambda name, **more: self.sidecar.call("role.put", {"name": name, **more})["roleArn"]
        guests = {"StringEquals": {f"{PRINCIPAL}:aud": self.pool}}
        self.roles = {
            "authenticated": put("shopper", poolId=self.pool),
            "unauthenticated": put("visitor", trustPolicy={"Version": "2012-10-17", "Statement": [{
                "Effect": "Allow", "Principal": {"Federated": PRINCIPAL}, "Action": "sts:AssumeRoleWithWebIdentity",
                "Condition": guests}]}),
        }
        self.sidecar.call("pool.setRoles", {"poolId": self.pool, "roles": self.roles})

    def open(self, sidecar=None, **more):
        return (sidecar or self.sidecar).call("credentialsProvider.open", {"poolId": self.pool, **more})["provider"]

    def get(self, provider, sidecar=None, **more):
        return (sidecar or self.sidecar).call("credentialsProvider.get", {"provider": provider, **more})

    def messages_until(self, id, sidecar=None):
        """Returns all messages up to and including the response to one request."""
        messages = []
        while True:
            messages.append((sidecar or self.sidecar).receive())
            if messages[-1].get("id") == id:
                return messages


class Joining(Providers):
    @only("sqlite")
    def test_more_calls_than_can_wait_without_thread_share_refresh(self):
        provider = self.open()
        other = sqlite3.connect(self.store, isolation_level=None)
        self.addCleanup(other.close)
        other.execute("BEGIN IMMEDIATE")
        ids = [self.sidecar.send("credentialsProvider.get", {"provider": provider}) for _ in range(1000)]
        self.works(self.sidecar)
        other.execute("ROLLBACK")
        answers = [self.sidecar.answer(id) for id in ids]
        self.assertEqual(len({answer["credentials"]["accessKeyId"] for answer in answers}), 1)

    @only("sqlite")
    def test_200_calls_share_one_refresh_and_occupy_no_thread(self):
        """A lock of another program delays the refresh. Calls that join it must not occupy the threads that wait for the store."""
        provider = self.open()
        other = sqlite3.connect(self.store, isolation_level=None)
        self.addCleanup(other.close)
        other.execute("BEGIN IMMEDIATE")
        ids = [self.sidecar.send("credentialsProvider.get", {"provider": provider}) for _ in range(100)]
        ids += [self.sidecar.send("credentialsProvider.get", {"provider": provider, "refresh": True}) for _ in range(100)]
        self.sidecar.call("system.health")
        self.works(self.sidecar)
        self.assertEqual(self.sidecar.arrived(), 0)
        other.execute("ROLLBACK")
        answers = [self.sidecar.answer(id) for id in ids]
        self.assertEqual({answer["state"] for answer in answers}, {"ready"})
        self.assertEqual(len({answer["credentials"]["accessKeyId"] for answer in answers}), 1)
        listed = self.sidecar.call("identity.list", {"poolId": self.pool})["identities"]
        self.assertEqual([each["identityId"] for each in listed], [answers[0]["identityId"]])

    def test_calls_share_failed_refresh(self):
        provider = self.open(logins={"login.shop": "alice"})
        self.sidecar.call("pool.setRoles", {"poolId": self.pool, "roles": {}})
        ids = [self.sidecar.send("credentialsProvider.get", {"provider": provider}) for _ in range(50)]
        for id in ids:
            with self.assertRaises(RpcError) as caught:
                self.sidecar.answer(id)
            self.assertEqual(caught.exception.type, "roleNotConfigured")

    @only("sqlite")
    def test_joined_call_can_be_canceled(self):
        provider = self.open()
        other = sqlite3.connect(self.store, isolation_level=None)
        self.addCleanup(other.close)
        other.execute("BEGIN IMMEDIATE")
        first = self.sidecar.send("credentialsProvider.get", {"provider": provider})
        self.works(self.sidecar)
        joined = self.sidecar.send("credentialsProvider.get", {"provider": provider})
        self.works(self.sidecar)
        self.sidecar.write(b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}\n' % joined)
        with self.assertRaises(RpcError) as caught:
            self.sidecar.answer(joined)
        self.assertEqual(caught.exception.code, -32800)
        self.assertEqual(self.sidecar.arrived(), 0)
        other.execute("ROLLBACK")
        self.assertEqual(self.sidecar.answer(first)["state"], "ready")

    def test_calls_share_token_request_and_one_token_completes_all(self):
        provider = self.open(tokenSource="caller", logins={"login.shop": "alice"})
        ids = [self.sidecar.send("credentialsProvider.get", {"provider": provider}) for _ in range(40)]
        questions = [self.sidecar.answer(id) for id in ids]
        self.assertEqual({(each["state"], each["reason"]) for each in questions}, {("tokenRequired", "noCredentials")})
        tokens = {each["continuationToken"] for each in questions}
        self.assertEqual(len(tokens), 1)
        minted = mint(self.sidecar, self.pool)
        submit = {"continuationToken": tokens.pop(), "identityId": minted["identityId"], "token": minted["token"]}
        ids = [self.sidecar.send("credentialsProvider.submitToken", submit) for _ in range(20)]
        others = [self.sidecar.send("credentialsProvider.get", {"provider": provider}) for _ in range(20)]
        answers = [self.sidecar.answer(id) for id in ids]
        others = [self.sidecar.answer(id) for id in others]
        self.assertEqual({each["state"] for each in answers}, {"ready"})
        # A call that was processed before the token was verified gets the token request.
        self.assertEqual({each["continuationToken"] for each in others if each["state"] != "ready"} - {submit["continuationToken"]}, set())
        answers += [each for each in others if each["state"] == "ready"]
        answers.append(self.get(provider))
        self.assertEqual(len({each["credentials"]["accessKeyId"] for each in answers}), 1)


class JoiningOverTheNetwork(Providers):
    """Refreshes that request the keys of a login provider that answers when the test opens its gate."""

    def setUp(self):
        super().setUp()
        self.site = OpenIDWebsite()
        self.addCleanup(self.site.close)
        self.sidecar = self.spawn(testing=True)
        self.pool = make_pool(self.sidecar, providers=[self.site.settings()])["poolId"]
        role = self.sidecar.call("role.put", {"name": "shopper", "poolId": self.pool})["roleArn"]
        self.sidecar.call("pool.setRoles", {"poolId": self.pool, "roles": {"authenticated": role}})
        answer, gate = page({"issuer": self.site.issuer, "jwks_uri": self.site.issuer + KEYS}), threading.Event()
        self.gate = gate
        self.addCleanup(gate.set)
        self.site.pages[DISCOVERY] = lambda _: gate.wait() and answer
        self.provider = self.open(logins={self.site.name: self.site.token()})

    def ask(self, count):
        return [self.sidecar.send("credentialsProvider.get", {"provider": self.provider}) for _ in range(count)]

    def test_calls_share_one_refresh(self):
        ids = self.ask(100)
        self.site.wait_until_asked(DISCOVERY)
        self.settled(self.sidecar)
        self.gate.set()
        answers = [self.sidecar.answer(id) for id in ids]
        self.assertEqual(len({answer["credentials"]["accessKeyId"] for answer in answers}), 1)
        self.assertEqual(self.site.asked, [DISCOVERY, KEYS])

    def test_canceling_refreshing_call_does_not_cancel_joined_calls(self):
        [first] = self.ask(1)
        self.site.wait_until_asked(DISCOVERY)
        others = self.ask(20)
        self.settled(self.sidecar)
        self.sidecar.write(b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}\n' % first)
        with self.assertRaises(RpcError) as caught:
            self.sidecar.answer(first)
        self.assertEqual(caught.exception.code, -32800)
        self.gate.set()
        answers = [self.sidecar.answer(id) for id in others]
        self.assertEqual(len({answer["credentials"]["accessKeyId"] for answer in answers}), 1)

    def overtaken(self, *ids):
        for id in ids:
            with self.assertRaises(RpcError) as caught:
                self.sidecar.answer(id)
            error = caught.exception
            self.assertEqual((error.type, error.data.get("provider")), ("providerOvertaken", self.provider), error)

    def ask_for(self, method, **more):
        return self.sidecar.call(f"credentialsProvider.{method}", {"provider": self.provider, **more})

    def pending(self, id):
        """Checks that a call still waits for the login provider, whose gate is closed."""
        self.assertRaises(TimeoutError, self.sidecar.answer, id, 0)

    def test_change_does_not_wait_for_refresh_and_discards_its_result(self):
        for method, more in [("clearKeychain", {}), ("clearCredentials", {}), ("setLogins", {"logins": {"login.shop": "bob"}})]:
            for attempt in range(3):
                self.setUp()
                [first] = self.ask(1)
                self.site.wait_until_asked(DISCOVERY)
                others = self.ask(4)
                self.settled(self.sidecar)   # The calls have joined.
                self.ask_for(method, **more)
                self.pending(first)
                try:
                    self.overtaken(*others)   # Joined calls fail immediately.
                    break
                except AssertionError:
                    # On a crowded machine, a call can join after the change; it then succeeds.
                    if attempt == 2:
                        raise
            self.gate.set()
            self.overtaken(first)     # The call that requests the keys fails when the login provider responds.
            self.assertEqual(self.sidecar.call("identity.list", {"poolId": self.pool})["identities"], [], method)

    def test_call_after_change_gets_new_identity(self):
        [before] = self.ask(1)
        self.site.wait_until_asked(DISCOVERY)
        self.ask_for("clearKeychain")
        self.ask_for("setLogins", logins={"login.shop": "bob"})
        bob = self.ask_for("get")["identityId"]
        self.pending(before)
        self.gate.set()
        self.overtaken(before)
        self.assertEqual(self.ask_for("identityId")["identityId"], bob)
        self.assertEqual(self.ask_for("get")["identityId"], bob)
        self.assertEqual([each["identityId"] for each in self.sidecar.call("identity.list", {"poolId": self.pool})["identities"]], [bob])

    def test_change_also_overtakes_identity_lookup(self):
        search = self.sidecar.send("credentialsProvider.identityId", {"provider": self.provider})
        self.site.wait_until_asked(DISCOVERY)
        self.ask_for("clearKeychain")
        self.pending(search)
        self.gate.set()
        self.overtaken(search)
        self.assertEqual(self.sidecar.call("identity.list", {"poolId": self.pool})["identities"], [])


class Identities(Providers):
    def test_identity_change_is_notified_before_response(self):
        alice = mint(self.sidecar, self.pool)["identityId"]
        provider = self.open(key="till")
        guest = self.get(provider)["identityId"]
        self.sidecar.call("credentialsProvider.setLogins", {"provider": provider, "logins": {"login.shop": "alice"}})
        *told, answer = self.messages_until(self.sidecar.send("credentialsProvider.get", {"provider": provider}))
        self.assertEqual(told, [{"jsonrpc": "2.0", "method": NOTIFICATION, "params": {
            "provider": provider, "oldIdentityId": guest, "newIdentityId": alice}}])
        self.assertEqual(answer["result"]["identityId"], alice)

    def test_unchanged_and_cleared_identity_are_not_notified(self):
        provider = self.open()
        for logins in ({}, {"login.shop": "new"}):
            self.sidecar.call("credentialsProvider.setLogins", {"provider": provider, "logins": logins})
            self.assertEqual(len(self.messages_until(self.sidecar.send("credentialsProvider.get", {"provider": provider}))), 1)
        self.sidecar.call("credentialsProvider.clearKeychain", {"provider": provider})
        self.assertEqual(len(self.messages_until(self.sidecar.send("credentialsProvider.get", {"provider": provider}))), 1)

    def test_token_of_backend_can_change_identity(self):
        provider = self.open(tokenSource="caller")
        guest = self.get(provider)["identityId"]
        self.sidecar.call("credentialsProvider.setLogins", {"provider": provider, "logins": {"login.shop": "alice"}})
        question = self.get(provider)
        self.assertEqual(question["identityId"], guest)
        alice = mint(self.sidecar, self.pool)
        *told, answer = self.messages_until(self.sidecar.send("credentialsProvider.submitToken", {
            "continuationToken": question["continuationToken"], "identityId": alice["identityId"], "token": alice["token"]}))
        self.assertEqual([(each["params"]["oldIdentityId"], each["params"]["newIdentityId"]) for each in told], [(guest, alice["identityId"])])

    def test_processes_share_state_of_key(self):
        second = self.spawn(store=self.store)
        provider, elsewhere = self.open(key="shared"), self.open(second, key="shared")
        guest = self.get(provider)["identityId"]
        self.assertEqual(self.get(elsewhere, second)["identityId"], guest)
        alice = mint(self.sidecar, self.pool)["identityId"]
        self.sidecar.call("credentialsProvider.setLogins", {"provider": provider, "logins": {"login.shop": "alice"}})
        self.get(provider)
        second.call("credentialsProvider.setLogins", {"provider": elsewhere, "logins": {"login.shop": "alice"}})
        *told, answer = self.messages_until(second.send("credentialsProvider.get", {"provider": elsewhere}), second)
        self.assertEqual(answer["result"]["identityId"], alice)
        self.assertEqual([(each["params"]["oldIdentityId"], each["params"]["newIdentityId"]) for each in told], [(guest, alice)])

    def test_returned_identity_survives_killed_process(self):
        guest = self.get(self.open(key="phone"))["identityId"]
        self.sidecar.process.kill()
        self.sidecar.process.wait()
        again = self.spawn(store=self.store)
        self.assertEqual(self.get(self.open(again, key="phone"), again)["identityId"], guest)


class FirstGets(Providers):
    """Concurrent first calls of two processes that opened a provider with the same key."""

    @only("sqlite")
    def test_concurrent_guests_of_one_key_are_one_identity(self):
        others = [self.sidecar, self.spawn(store=self.store)]
        for turn in range(4):
            providers = [self.open(each, key=f"phone-{turn}") for each in others for _ in range(2)]
            lock = sqlite3.connect(self.store, isolation_level=None)
            lock.execute("BEGIN IMMEDIATE")
            asked = [(others[n // 2], others[n // 2].send("credentialsProvider.get", {"provider": each})) for n, each in enumerate(providers)]
            for each in others:
                self.works(each)
            lock.execute("ROLLBACK")
            lock.close()
            self.assertEqual(len({each.answer(id)["identityId"] for each, id in asked}), 1)
        self.assertEqual(self.rows("SELECT count(*) FROM identity"), [(4,)])


class Limits(Providers):
    def test_at_most_1000_providers_are_open(self):
        ids = [self.sidecar.send("credentialsProvider.open", {"poolId": self.pool, "key": str(n)}) for n in range(1000)]
        opened = [self.sidecar.answer(id)["provider"] for id in ids]
        self.assertEqual(len(set(opened)), 1000)
        error = self.refused("tooManyProviders", self.sidecar, "credentialsProvider.open", {"poolId": self.pool})
        self.assertEqual((error.code, error.data["limit"]), (3032, 1000))
        self.sidecar.call("credentialsProvider.close", {"provider": opened[0]})
        self.open()

    def test_provider_names_and_tokens_are_not_interchangeable(self):
        provider = self.open()
        self.refused("providerNotOpen", self.sidecar, "credentialsProvider.get", {"provider": provider[:-1]})
        question = self.get(self.open(key="other", tokenSource="caller", logins={"login.shop": "alice"}))
        alice = mint(self.sidecar, self.pool)
        self.refused("tokenNotAwaited", self.sidecar, "credentialsProvider.submitToken", {
            "continuationToken": f"{provider}.{question['continuationToken'].partition('.')[2]}",
            "identityId": alice["identityId"], "token": alice["token"]})
