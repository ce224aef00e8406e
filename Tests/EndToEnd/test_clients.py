"""Limits per client address: requests, failures and codes are counted in the store, and so across all processes."""

from endtoend import EndToEnd

START = 1_700_000_000
HERE, THERE = {"client": {"address": "192.0.2.7"}}, {"client": {"address": "2001:db8::1"}}
PASSWORD = "correct Horse 9"


class Clients(EndToEnd):
    def setUp(self):
        super().setUp()
        self.store = self.path("people.db")
        self.first, self.second = (self.spawn("--clock", str(START), testing=True, store=self.store) for _ in range(2))

    def later(self, seconds):
        self.first.call("test.clock", {"advanceSeconds": seconds})

    def too_many(self, counted, sidecar, method, params, seconds=None):
        error = self.refused("tooManyFromClient", sidecar, method, params)
        self.assertEqual((error.code, error.data["counted"]), (4060, counted))
        if seconds:
            self.assertEqual(error.data["retryAfterSeconds"], seconds)

    def test_client_has_20_requests_per_second_across_processes_and_methods(self):
        self.first.call("account.create", {"username": "alice@example.com", "password": PASSWORD})
        token = self.first.call("signIn.start", {"username": "alice@example.com", **HERE})["continuationToken"]
        for number in range(19):
            sidecar = (self.first, self.second)[number % 2]
            self.refused("stepNotPossible", sidecar, "signIn.submitCode", {"continuationToken": token, "code": "1", **HERE})
        steps = {
            "signUp.start": {"username": "bob@example.com"}, "signIn.start": {"username": "alice@example.com"},
            "passwordReset.start": {"username": "alice@example.com"}, "signIn.withPassword": {"username": "alice@example.com", "password": PASSWORD}}
        own = {"signIn.submitCode": {"code": "1"}, "signIn.submitPassword": {"password": PASSWORD}, "signIn.resendCode": {}}
        for sidecar in (self.first, self.second):
            for method, params in steps.items():
                self.too_many("requests", sidecar, method, {**params, **HERE}, 1)
            for method, params in own.items():
                self.too_many("requests", sidecar, method, {"continuationToken": token, **params, **HERE}, 1)
        # Requests from another address, without an address, in another tenant, or one second later succeed.
        self.first.call("signIn.start", {"username": "alice@example.com", **THERE})
        self.first.call("signIn.start", {"username": "alice@example.com"})
        self.first.call("tenant.create", {"tenantId": "shop"})
        self.first.call("signUp.start", {"tenantId": "shop", "username": "alice@example.com", **HERE})
        self.later(1)
        self.assertEqual(self.second.call("signIn.submitPassword", {"continuationToken": token, "password": PASSWORD, **HERE})["state"], "completed")

    def test_every_step_counts_client(self):
        sidecar = self.first
        sidecar.call("account.create", {"username": "alice@example.com", "password": PASSWORD})
        self.seen = 0

        def call(method, **params):
            answer = sidecar.call(method, {**params, **HERE})
            self.seen += 1
            self.assertEqual(self.rows("SELECT count FROM client_count WHERE kind = 'requests'"), [(self.seen,)], method)
            return answer.get("continuationToken")

        def code(name):
            return sidecar.call("test.outbox", {"to": name})["messages"][-1]["code"]
        sidecar.call("tenant.update", {"tenantId": "default", "localAccountMethod": "emailPassword",
                                       "attributes": [{"name": "size", "type": "integer", "required": True}]})
        token = call("signUp.resendCode", continuationToken=call("signUp.start", username="bob@example.com"))
        token = call("signUp.submitPassword", continuationToken=call("signUp.submitCode", continuationToken=token, code=code("bob@example.com")), password=PASSWORD)
        call("signIn.withContinuation", continuationToken=call("signUp.submitAttributes", continuationToken=token, attributes={"size": 1}))
        call("signIn.submitPassword", continuationToken=call("signIn.start", username="bob@example.com"), password=PASSWORD)
        call("signIn.withPassword", username="bob@example.com", password=PASSWORD)
        token = call("passwordReset.resendCode", continuationToken=call("passwordReset.start", username="alice@example.com"))
        token = call("passwordReset.submitCode", continuationToken=token, code=code("alice@example.com"))
        call("passwordReset.submitPassword", continuationToken=token, password="another Horse 10")
        self.assertEqual(self.seen, 13)
        self.assertEqual(self.rows("SELECT count FROM client_count WHERE kind = 'codes'"), [(4,)])

    def test_100_failures_across_accounts_and_processes_block_client_for_15_minutes(self):
        self.first.call("account.create", {"username": "alice@example.com", "password": PASSWORD})
        self.first.call("account.create", {"username": "abe@example.com"})
        token = self.first.call("signIn.start", {"username": "abe@example.com", **HERE})["continuationToken"]
        guesses = [("invalidCode", "signIn.submitCode", {"continuationToken": token, "code": "x"})] * 4
        guesses += [("invalidPassword", "signIn.withPassword", {"username": "alice@example.com", "password": f"wrong {number}"}) for number in range(6)]
        guesses += [("userNotFound", "signIn.withPassword", {"username": f"nobody{number}@example.com", "password": "x"}) for number in range(50)]
        guesses += [("userNotFound", "signIn.start", {"username": f"nobody{number}@example.com"}) for number in range(20)]
        guesses += [("userNotFound", "passwordReset.start", {"username": f"nobody{number}@example.com"}) for number in range(19)]
        guesses += [("userAlreadyExists", "signUp.start", {"username": "alice@example.com"})]
        self.assertEqual(len(guesses), 100)
        for number, (wanted, method, params) in enumerate(guesses):
            if number % 15 == 0:
                self.later(1)
            self.refused(wanted, (self.first, self.second)[number % 2], method, {**params, **HERE})
        self.later(1)
        right = {"username": "alice@example.com", "password": PASSWORD}
        for sidecar in (self.first, self.second):
            self.too_many("failures", sidecar, "signIn.withPassword", {**right, **HERE})
        self.assertEqual(self.first.call("signIn.withPassword", {**right, **THERE})["state"], "completed")
        self.later(900)
        self.assertEqual(self.first.call("signIn.withPassword", {**right, **HERE})["state"], "completed")

    def test_client_has_50_codes_per_15_minutes_and_rejected_request_sends_none(self):
        for number in range(50):
            if number % 15 == 0:
                self.later(1)
            (self.first, self.second)[number % 2].call("signUp.start", {"username": f"a{number}@example.com", **HERE})
        self.later(1)
        before = self.rows("SELECT COUNT(*) FROM outbox")
        self.too_many("codes", self.second, "signUp.start", {"username": "another@example.com", **HERE})
        self.assertEqual(self.rows("SELECT COUNT(*) FROM outbox"), before)
        self.first.call("signUp.start", {"username": "another@example.com", **THERE})

    def test_invalid_client_address_is_a_violation_with_pointer(self):
        for address in ("localhost", "1.2.3", "::1%lo"):
            found = self.violations(self.first, "signUp.start", {"username": "alice@example.com", "client": {"address": address}})
            self.assertEqual(found, {("/client/address", "format")})
        self.assertEqual(self.violations(self.first, "signUp.start", {"username": "alice@example.com", "client": {}}), {("/client/address", "required")})
