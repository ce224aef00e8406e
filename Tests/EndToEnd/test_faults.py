"""Fault injection. Each fault occurs at the same point as the real error, so its consequences are real."""

import time
import unittest

from endtoend import EndToEnd, make_pool, mint, only
from websites import DISCOVERY, OpenIDWebsite

ALICE = {"username": "alice@example.com"}


class Faults(EndToEnd):
    def testing(self, **more):
        return self.spawn("--testing", "--clock", "1700000000", **more)

    def arm(self, sidecar, **fault):
        return sidecar.call("test.fault", fault)["armed"]


class Methods(Faults):
    def test_method_fault_occurs_after_and_for_given_number_of_calls(self):
        sidecar = self.testing()
        pool = make_pool(sidecar)["poolId"]
        fault = {"kind": "method", "method": "token.mintForDeveloper", "error": "storeBusy"}
        self.assertEqual(
            self.arm(sidecar, method="token.mintForDeveloper", error="storeBusy", afterCalls=3, times=2), [{**fault, "afterCalls": 3, "times": 2}])
        first = mint(sidecar, pool)["identityId"]
        # A call that continues on another thread for writing counts once.
        mint(sidecar, pool, "bob")
        self.assertEqual(self.arm(sidecar), [{**fault, "afterCalls": 1, "times": 2}])
        mint(sidecar, pool, "carol")
        for left in ([{**fault, "times": 1}], []):
            error = sidecar.refusal("token.mintForDeveloper", {"poolId": pool, "logins": {"login.shop": "dave"}})
            self.assertEqual((error.code, error.data), (8001, {"type": "storeBusy", "retryAfterSeconds": 1}))
            self.assertEqual(error.message, "The store is busy. Try again in 1 s. If this persists, check whether another program has locked the store.")
            self.assertEqual(self.arm(sidecar), left)
        self.assertEqual(len(sidecar.call("identity.list", {"poolId": pool})["identities"]), 3, "the call itself did not happen")
        self.assertEqual(mint(sidecar, pool)["identityId"], first)

    def test_error_data_is_given_or_generated(self):
        sidecar = self.testing()
        for error, data, code, wanted, message in (
                ("invalidCode", {"attemptsLeft": 2}, 4009, {"attemptsLeft": 2}, "The code is wrong. Attempts left for this code: 2. The continuation"),
                ("poolNotFound", {}, 2001, {"poolId": "local-1:00000000-0000-4000-8000-000000000000"}, "local-1:0000"),
                ("tokenExpired", {"now": 1800000000}, 3005, {"expiredAt": 1700000000, "now": 1800000000}, "1800000000"),
                ("requestCancelled", {}, -32800, {}, "")):
            self.arm(sidecar, method="system.ping", error=error, data=data)
            refusal = sidecar.refusal("system.ping")
            self.assertEqual((refusal.code, refusal.data), (code, {"type": error, **wanted}))
            self.assertIn(message, refusal.message)

    def test_generated_error_data_is_consistent_and_refers_to_no_log_entry(self):
        sidecar = self.testing()
        now = 1_900_000_000
        sidecar.call("test.clock", {"setAt": now})
        for error, data, wanted in (
                ("accountLocked", {}, {"lockedUntil": now + 60, "retryAfterSeconds": 60}),
                ("accountLocked", {"retryAfterSeconds": 5}, {"lockedUntil": now + 5, "retryAfterSeconds": 5}),
                ("accountLocked", {"lockedUntil": now + 7}, {"lockedUntil": now + 7, "retryAfterSeconds": 7}),
                ("accountLocked", {"retryAfterSeconds": 2**63 - 1}, {"lockedUntil": now + 2**32, "retryAfterSeconds": 2**63 - 1}),
                ("tokenExpired", {"expiredAt": now - 1}, {"expiredAt": now - 1, "now": now}), ("storeBusy", {}, {"retryAfterSeconds": 1})):
            self.arm(sidecar, method="system.ping", error=error, data=data)
            self.assertEqual(sidecar.refusal("system.ping").data, {"type": error, **wanted})
        self.arm(sidecar, method="system.ping", error="internalError")
        refusal = sidecar.refusal("system.ping")
        self.assertEqual((refusal.code, refusal.data["incident"]), (-32603, "test.fault"))
        self.assertIn("no log entry", refusal.message)
        self.arm(sidecar, method="system.ping", error="internalError", data={"incident": "i-1"})
        self.assertIn("incident i-1", sidecar.refusal("system.ping").message)

    def test_every_error_of_contract_can_be_injected_with_complete_data(self):
        sidecar = self.testing()
        errors = sidecar.call("rpc.discover")["components"]["errors"]
        for type, entry in errors.items():
            self.arm(sidecar, method="system.ping", error=type)
            refusal = sidecar.refusal("system.ping")
            self.assertEqual((refusal.code, refusal.type), (entry["code"], type))
            self.assertEqual(set(refusal.data), set(entry["data"]["required"]), type)
            self.assertNotRegex(refusal.message, r"[{}\[\]]", type)

    def test_invalid_faults_are_rejected_with_allowed_values(self):
        sidecar = self.testing()
        for fault, pointer, says in (
                ({"method": "token.mintForDevelopers", "error": "storeBusy"}, "/method", "token.mintForDeveloper"),
                ({"method": "system.ping", "error": "storeBusi"}, "/error", "storeBusy"),
                ({"method": "system.ping"}, "/error", "missing"), ({"error": "storeBusy"}, "/error", "allowed only with method"),
                ({"method": "system.ping", "error": "invalidCode", "data": {"attemptsLeft": "two"}}, "/data/attemptsLeft", "integer"),
                ({"method": "system.ping", "error": "invalidCode", "data": {"attempts": 2}}, "/data/attempts", "attemptsLeft"),
                ({"provider": "https://login.example.com"}, "/failure", "down"),
                ({"provider": "https://", "failure": "down"}, "/provider", "host"),
                ({"provider": "login.example.com", "failure": "slow"}, "/delayMilliseconds", "missing"),
                ({"store": "busy", "forMilliseconds": 5, "times": 2}, "/times", "not both"),
                ({"delivery": "refused", "forMilliseconds": 5}, "/forMilliseconds", "allowed only with store"),
                ({"provider": "not a url at all ", "failure": "down"}, "/provider", "URL"), ({"provider": "login.example.com:x", "failure": "down"}, "/provider", "URL"),
                ({"provider": "login.example.com", "failure": "down", "delayMilliseconds": 5}, "/delayMilliseconds", "only with the failure slow"),
                ({"clockJumpSeconds": 100, "afterCalls": 2}, "/afterCalls", "allowed only with method, delivery, provider or store"),
                ({"clockJumpSeconds": 100, "times": 2}, "/times", "allowed only with method, delivery, provider or store"),
                ({"afterCalls": 3}, "/afterCalls", "allowed only with"), ({"clear": True, "times": 3}, "/times", "allowed only with"),
                ({"method": "test.fault", "error": "storeBusy"}, "/method", "cannot be made to fail"),
                ({"method": "test.reset", "error": "storeBusy"}, "/method", "cannot be made to fail"),
                ({"store": "busy", "to": "alice"}, "/to", "allowed only with delivery"), ({"delivery": "lost"}, "/delivery", "")):
            with self.subTest(fault):
                error = self.refused("invalidParams", sidecar, "test.fault", fault)
                self.assertEqual([each["pointer"] for each in error.data["violations"]], [pointer])
                self.assertIn(says, error.message)
        self.assertEqual(self.arm(sidecar), [])

    def test_faults_are_per_process_ordered_and_clearable(self):
        first, second = (self.testing(store=self.path("a.db")) for _ in range(2))
        self.arm(first, method="system.ping", error="storeBusy")
        self.arm(first, method="system.ping", error="storeFull", times=5)
        self.assertEqual(self.arm(second), [])
        second.call("system.ping")
        self.assertEqual([first.refusal("system.ping").type for _ in range(2)], ["storeBusy", "storeFull"])
        self.assertEqual(self.arm(first, clear=True, delivery="refused"), [{"kind": "delivery", "delivery": "refused", "times": 1}])
        first.call("system.ping")
        self.assertEqual(self.arm(first, clear=True), [])

    def test_reset_clears_every_kind_of_fault(self):
        first, second = (self.testing(store=self.path("a.db")) for _ in range(2))
        for fault in ({"method": "system.ping", "error": "storeBusy", "times": 1_000_000}, {"store": "busy", "forMilliseconds": 600_000},
                      {"store": "full", "times": 1000}, {"delivery": "refused", "times": 9}, {"provider": "login.example.com", "failure": "down"},
                      {"clockJumpSeconds": 3600}):
            self.arm(first, **fault)
        self.arm(second, delivery="refused")
        self.assertEqual(first.call("test.reset")["now"], 1700000000)
        self.assertEqual(self.arm(first), [])
        self.assertEqual(first.call("system.ping"), {"now": 1700000000})
        make_pool(first)
        self.assertEqual(len(self.arm(second)), 1, "they are another process's own")

    @only("sqlite")
    def test_store_without_testing_has_no_faults(self):
        self.refused("methodNotFound", self.spawn(store=self.path("real.db")), "test.fault")


class Deliveries(Faults):
    def codes(self, sidecar, name="alice@example.com"):
        return [each["code"] for each in sidecar.call("test.outbox", {"to": name})["messages"]]

    def test_rejected_message_changes_nothing_and_does_not_count(self):
        sidecar = self.testing()
        sidecar.call("tenant.update", {"tenantId": "default", "codes": {"sendsPerAddress": 2, "resendAfterSeconds": 0}})
        started = sidecar.call("signUp.start", ALICE)
        self.arm(sidecar, delivery="refused", times=3)
        for _ in range(3):
            error = self.refused("messageNotSent", sidecar, "signUp.resendCode", {"continuationToken": started["continuationToken"]})
            self.assertEqual((error.data["channel"], error.data.get("mayHaveArrived")), ("email", None))
        self.assertEqual(len(self.codes(sidecar)), 1)
        # The previous code stays valid, and one of the two messages per address is left.
        resent = sidecar.call("signUp.resendCode", {"continuationToken": started["continuationToken"]})
        _, new = self.codes(sidecar)
        done = sidecar.call("signUp.submitCode", {"continuationToken": resent["continuationToken"], "code": new})
        self.assertEqual(done["state"], "completed")

    def test_message_with_unknown_outcome_is_recorded_and_counts_and_its_code_is_invalid(self):
        sidecar = self.testing()
        sidecar.call("tenant.update", {"tenantId": "default", "codes": {"sendsPerAddress": 2, "resendAfterSeconds": 0}})
        started = sidecar.call("signUp.start", ALICE)
        self.arm(sidecar, delivery="mayHaveArrived")
        error = self.refused("messageNotSent", sidecar, "signUp.resendCode", {"continuationToken": started["continuationToken"]})
        self.assertTrue(error.data["mayHaveArrived"])
        old, lost = self.codes(sidecar)
        self.refused("tooManyCodes", sidecar, "signUp.resendCode", {"continuationToken": started["continuationToken"]})
        self.refused("invalidCode", sidecar, "signUp.submitCode", {"continuationToken": started["continuationToken"], "code": lost})
        sidecar.call("signUp.submitCode", {"continuationToken": started["continuationToken"], "code": old})

    def test_delivery_fault_applies_to_address_and_position(self):
        sidecar = self.testing()
        self.arm(sidecar, delivery="refused", to="BOB@example.com", afterCalls=1)
        sidecar.call("signUp.start", {"username": "alice@example.com"})
        sidecar.call("signUp.start", {"username": "bob@example.com"})
        sidecar.call("signUp.start", {"username": "carol@example.com"})
        self.refused("messageNotSent", sidecar, "signUp.start", {"username": "bob@example.com", "password": "correct Horse 9"})
        sidecar.call("signUp.start", {"username": "bob@example.com", "password": "correct Horse 9"})
        self.assertEqual(len(self.codes(sidecar, "bob@example.com")), 2)
        self.assertEqual(len(sidecar.call("test.outbox")["messages"]), 4)


class Providers(Faults):
    def setUp(self):
        super().setUp()
        self.site = OpenIDWebsite()
        self.addCleanup(self.site.close)
        self.sidecar = self.spawn("--testing")
        self.pool = self.sidecar.call("pool.create", {"name": "shop", "providers": [self.site.settings()]})["poolId"]

    def login(self):
        return {"poolId": self.pool, "logins": {self.site.name: self.site.token()}}

    def test_unavailable_provider_is_not_contacted_until_fault_is_cleared(self):
        self.arm(self.sidecar, provider=self.site.issuer + "/any/path", failure="down")
        error = self.refused("providerUnavailable", self.sidecar, "identity.resolve", self.login())
        self.assertEqual(error.data["provider"], self.site.name)
        self.assertEqual(self.site.count(DISCOVERY), 0)
        # A real failure would delay the next request to the provider by seconds. An injected one does not.
        self.arm(self.sidecar, clear=True)
        self.assertIn("identityId", self.sidecar.call("identity.resolve", self.login()))

    def test_other_providers_are_not_affected(self):
        port = self.site.name.split(":")[1]
        for other in ("login.example.com", self.site.name[:-1], f"https://localhost:{port}", "http://127.0.0.1"):
            self.arm(self.sidecar, provider=other, failure="down")
        self.assertIn("identityId", self.sidecar.call("identity.resolve", self.login()))

    def test_slow_provider_delays_response(self):
        self.arm(self.sidecar, provider="127.0.0.1", failure="slow", delayMilliseconds=300, times=1)
        began = time.monotonic()
        self.assertIn("identityId", self.sidecar.call("identity.resolve", self.login()))
        self.assertGreaterEqual(time.monotonic() - began, 0.3)
        self.assertEqual(self.arm(self.sidecar), [])


class Stores(Faults):
    def test_store_faults_fail_writes_and_not_reads(self):
        sidecar = self.testing()
        pool = make_pool(sidecar)["poolId"]
        mint(sidecar, pool)
        for how, error, code in (("busy", "storeBusy", 8001), ("full", "storeFull", 8003), ("readOnly", "storeReadOnly", 8002)):
            self.arm(sidecar, store=how, times=2)
            mint(sidecar, pool)
            for _ in range(2):
                self.assertEqual(self.refused(error, sidecar, "pool.create", {"name": "another"}).code, code)
            sidecar.call("pool.create", {"name": how})
        self.assertEqual(len(sidecar.call("pool.list")["pools"]), 4)

    def test_store_is_busy_for_given_time(self):
        sidecar = self.testing()
        armed, = self.arm(sidecar, store="busy", forMilliseconds=600_000)
        self.assertIn(armed["forMilliseconds"], range(1, 600_001))
        self.assertNotIn("times", armed)
        for _ in range(3):
            self.refused("storeBusy", sidecar, "pool.create", {"name": "shop"})
        # The testing methods still work.
        sidecar.call("test.clock", {"advanceSeconds": 10})
        sidecar.call("test.snapshot")
        self.arm(sidecar, clear=True)
        sidecar.call("pool.create", {"name": "shop"})
        self.arm(sidecar, store="busy", forMilliseconds=1)
        time.sleep(0.002)
        sidecar.call("pool.create", {"name": "shop"})
        self.assertEqual(self.arm(sidecar), [])

    def test_health_reports_store_fault(self):
        sidecar = self.testing()
        self.arm(sidecar, store="full", forMilliseconds=600_000)
        health = sidecar.call("system.health")
        self.assertFalse(health["ready"])
        self.assertIn("full", health["checks"][0]["detail"])

    def test_values_after_store_fault_come_from_seed(self):
        sidecar = self.testing()
        sidecar.call("test.seed", {"seed": "seven"})
        self.arm(sidecar, store="busy")
        self.refused("storeBusy", sidecar, "pool.create", {"name": "shop"})
        again = sidecar.call("pool.create", {"name": "shop"})
        other = self.testing()
        other.call("test.seed", {"seed": "seven"})
        pools = [other.call("pool.create", {"name": "shop"})["poolId"] for _ in range(2)]
        self.assertIn(again["poolId"], pools, "what was drawn came from the seed")


class Clocks(Faults):
    def test_clock_jump_affects_one_process_and_runs_no_maintenance(self):
        first, second = (self.testing(store=self.path("a.db")) for _ in range(2))
        step = first.call("signUp.start", ALICE)
        rows = first.call("store.stats")["rows"]["flow"]
        self.assertEqual(self.arm(first, clockJumpSeconds=86_400), [{"kind": "clock", "clockJumpSeconds": 86_400}])
        self.assertEqual([each.call("system.ping")["now"] for each in (first, second)], [1700086400, 1700000000])
        self.assertEqual([each.call("test.clock")["now"] for each in (first, second)], [1700000000] * 2)
        self.assertEqual(first.call("store.stats")["rows"]["flow"], rows)
        code = second.call("test.outbox")["messages"][0]["code"]
        submitted = {"continuationToken": step["continuationToken"], "code": code}
        self.refused(("continuationTokenExpired", "codeExpired"), first, "signUp.submitCode", submitted)
        self.assertEqual(second.call("signUp.submitCode", submitted)["state"], "completed")
        # Jumps are cumulative.
        self.assertEqual(self.arm(first, clockJumpSeconds=-90_000)[0]["clockJumpSeconds"], -3600)
        token = mint(second, pool := make_pool(second)["poolId"])["token"]
        self.soon_refused("tokenNotYetValid", first, "token.verify", {"token": token, "audience": pool})
        self.assertEqual(self.arm(first, clear=True), [])
        self.assertEqual(first.call("system.ping")["now"], 1700000000)

    def test_clock_jump_out_of_range_is_rejected(self):
        sidecar = self.testing()
        self.arm(sidecar, clockJumpSeconds=-1_600_000_000)
        self.refused("clockOutOfRange", sidecar, "test.fault", {"clockJumpSeconds": -200_000_000})
        self.assertEqual(self.arm(sidecar, clear=True, clockJumpSeconds=-1_600_000_000)[0]["clockJumpSeconds"], -1_600_000_000)


if __name__ == "__main__":
    unittest.main()
