"""Hooks over the pipe: the host decides about accounts, sessions and messages."""

import base64
import json
import threading

from endtoend import EndToEnd, only
from hooks import PASSWORD, Host
from sidecar import RpcError

PIPE = {"transport": "pipe"}


def claims(token):
    body = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))


class Hooks(EndToEnd):
    def begin(self, decide, **hooks):
        """Starts a process whose host uses `decide` for its responses, and sets hooks."""
        sidecar = self.spawn("--testing", store=self.path("hooks.db"))
        host = Host(sidecar, decide)
        sidecar.call("hooks.set", {name: PIPE for name in hooks.get("hooks", ("beforeCreate", "beforeSignIn"))})
        return sidecar, host

    def sign_up(self, sidecar, username="alice@example.com"):
        """Returns the last response of a sign-up."""
        started = sidecar.call("signUp.start", {"username": username, "password": PASSWORD})
        code = sidecar.call("test.outbox", {"to": username})["messages"][-1]["code"]
        return sidecar.call("signUp.submitCode", {"continuationToken": started["continuationToken"], "code": code})

    def count(self, sidecar):
        return len(sidecar.call("account.list", {"tenantId": "default"})["accounts"])

    def account(self, sidecar, username="alice@example.com", **more):
        return sidecar.call("account.create", {"username": username, "password": PASSWORD, "emailVerified": True, **more})

    def sign_in(self, sidecar, username="alice@example.com"):
        return sidecar.call("signIn.withPassword", {"username": username, "password": PASSWORD})

    def test_host_that_offered_nothing_is_not_asked(self):
        sidecar = self.spawn("--testing", store=self.path("hooks.db"))
        error = self.refused("hooksNotOffered", sidecar, "hooks.set", {"beforeCreate": PIPE})
        self.assertEqual(error.data["hook"], "beforeCreate")
        self.assertIn("hooks.offer", error.message)
        Host(sidecar, hooks=["beforeSignIn"])
        self.refused("hooksNotOffered", sidecar, "hooks.set", {"beforeCreate": PIPE})
        self.assertEqual(sidecar.call("hooks.get"), {"tenantId": "default", "deadlineSeconds": 7})

    def test_each_hook_is_asked_once_and_in_order(self):
        sidecar, host = self.begin(lambda method, params: None, hooks=("beforeCreate", "beforeSignIn", "beforeSendMessage"))
        completed = self.sign_up(sidecar)
        signed_in = sidecar.call("signIn.withContinuation", {"continuationToken": completed["continuationToken"]})
        self.assertEqual([name for name, _ in host.asked], ["beforeSendMessage", "beforeCreate", "beforeSignIn"])
        message, created, session = (params for _, params in host.asked)
        self.assertEqual(message["message"], {"channel": "email", "to": "alice@example.com", "purpose": "signUp"})
        self.assertEqual((created["account"]["email"], created["provider"], created["method"]), ("alice@example.com", "password", "signUp.submitCode"))
        self.assertEqual(session["account"]["accountId"], signed_in["account"]["accountId"])
        self.assertEqual((session["isNewAccount"], session["amr"]), (True, ["otp"]))
        sidecar.call("session.refresh", {"refreshToken": signed_in["refreshToken"]})
        self.account(sidecar, "bob@example.com")
        self.assertEqual(len(host.asked), 3, "neither a refresh nor the developer asks")

    def test_refusal_stores_nothing_and_the_code_stays_valid(self):
        refuses = [True]
        sidecar, host = self.begin(lambda method, params: {"refuse": "only employees"} if refuses[0] else None)
        started = sidecar.call("signUp.start", {"username": "alice@example.com", "password": PASSWORD})
        code = sidecar.call("test.outbox")["messages"][0]["code"]
        submit = {"continuationToken": started["continuationToken"], "code": code}
        error = self.refused("refusedByHook", sidecar, "signUp.submitCode", submit)
        self.assertEqual((error.data["hook"], error.data["reason"]), ("beforeCreate", "only employees"))
        self.assertEqual(self.count(sidecar), 0)
        refuses[0] = False
        self.assertEqual(sidecar.call("signUp.submitCode", submit)["state"], "completed")
        self.assertEqual(self.count(sidecar), 1)

    def test_refused_sign_in_has_no_session(self):
        sidecar, _ = self.begin(lambda method, params: {"refuse": "not today"})
        account = self.account(sidecar)
        error = self.refused(
            "refusedByHook", sidecar, "signIn.withPassword", {"username": "alice@example.com", "password": PASSWORD})
        self.assertEqual(error.data["reason"], "not today")
        self.assertEqual(sidecar.call("session.list", {"accountId": account["accountId"]})["sessions"], [])
        self.assertNotIn("lastSignInAt", sidecar.call("account.get", {"accountId": account["accountId"]}))

    def test_hook_changes_name_claims_and_session_claims(self):
        answers = {"beforeCreate": {"displayName": "Alice", "claims": {"role": "guest"}},
                   "beforeSignIn": {"claims": {"role": "admin"}, "sessionClaims": {"desk": 7}}}
        sidecar, host = self.begin(lambda method, params: answers[method])
        completed = self.sign_up(sidecar)
        result = sidecar.call("signIn.withContinuation", {"continuationToken": completed["continuationToken"]})
        self.assertEqual(result["account"]["attributes"]["displayName"], "Alice")
        self.assertEqual(result["account"]["claims"], {"role": "admin"})
        self.assertEqual(host.asked[1][1]["account"]["claims"], {"role": "guest"})
        told = claims(result["idToken"])
        self.assertEqual((told["role"], told["desk"]), ("admin", 7))
        refreshed = claims(sidecar.call("session.refresh", {"refreshToken": result["refreshToken"]})["idToken"])
        self.assertEqual((refreshed["role"], refreshed["desk"]), ("admin", 7))
        self.assertEqual(sidecar.call("account.get", {"accountId": result["account"]["accountId"]})["claims"], {"role": "admin"})

    def test_disabled_account_is_stored_and_the_operation_fails(self):
        sidecar, _ = self.begin(lambda method, params: {"disabled": True})
        with self.assertRaises(RpcError) as caught:
            self.sign_up(sidecar)
        self.assertEqual(caught.exception.type, "accountDisabled")
        account, = sidecar.call("account.list")["accounts"]
        self.assertTrue(account["disabled"])
        bob = self.account(sidecar, "bob@example.com")
        self.refused("accountDisabled", sidecar, "signIn.withPassword", {"username": "bob@example.com", "password": PASSWORD})
        bob = sidecar.call("account.get", {"accountId": bob["accountId"]})
        self.assertEqual((bob["disabled"], "lastSignInAt" in bob), (True, False))
        self.assertEqual(sidecar.call("session.list", {"accountId": bob["accountId"]})["sessions"], [])

    def test_anonymous_account_that_is_disabled_or_refused_has_no_session(self):
        answers = iter([{"refuse": "no guests"}, {"disabled": True}])
        sidecar, _ = self.begin(lambda method, params: next(answers))
        sidecar.call("tenant.update", {"tenantId": "default", "anonymousAllowed": True})
        self.refused("refusedByHook", sidecar, "signIn.anonymously", {})
        self.assertEqual(self.count(sidecar), 0)
        self.refused("accountDisabled", sidecar, "signIn.anonymously", {})
        self.assertEqual(self.count(sidecar), 1)

    def test_second_factor_comes_before_the_hook(self):
        sidecar, host = self.begin(lambda method, params: {"sessionClaims": {"desk": 7}})
        account = self.account(sidecar)
        first = self.sign_in(sidecar)
        enrolled = sidecar.call("mfa.enroll", {"idToken": first["idToken"], "kind": "email"})
        code = sidecar.call("test.outbox")["messages"][-1]["code"]
        sidecar.call("mfa.confirm", {"continuationToken": enrolled["continuationToken"], "code": code})
        host.asked.clear()
        step = self.sign_in(sidecar)
        self.assertEqual((step["state"], host.asked), ("secondFactorRequired", []))
        sent = sidecar.call("mfa.challenge", {"continuationToken": step["continuationToken"], "factorId": step["hints"][0]["factorId"]})
        code = sidecar.call("test.outbox")["messages"][-1]["code"]
        result = sidecar.call("mfa.resolve", {"continuationToken": sent["continuationToken"], "code": code})
        self.assertEqual(claims(result["idToken"])["desk"], 7)
        (name, params), = host.asked
        self.assertEqual((name, params["secondFactor"], params["account"]["accountId"]), ("beforeSignIn", "email", account["accountId"]))

    def test_message_is_not_sent_if_the_hook_refuses(self):
        sidecar, host = self.begin(lambda method, params: {"refuse": "no such domain"}, hooks=["beforeSendMessage"])
        self.refused("refusedByHook", sidecar, "signUp.start", {"username": "alice@example.com"})
        self.assertEqual(sidecar.call("test.outbox")["messages"], [])
        self.account(sidecar)
        self.refused("refusedByHook", sidecar, "passwordReset.start", {"username": "alice@example.com"})
        self.assertEqual([params["message"]["purpose"] for _, params in host.asked], ["signUp", "passwordReset"])

    def test_decoy_asks_the_hook_like_an_account(self):
        sidecar, host = self.begin(lambda method, params: {"refuse": "closed"}, hooks=["beforeSendMessage"])
        sidecar.call("tenant.update", {"tenantId": "default", "enumerationProtection": True})
        self.account(sidecar)
        for username in ("alice@example.com", "nobody@example.com"):
            self.refused("refusedByHook", sidecar, "passwordReset.start", {"username": username})
        self.assertEqual(len(host.asked), 2)

    def test_answers_that_are_not_valid_fail_closed(self):
        garbage = [7, "yes", [], True, {"allow": True}, {"refuse": ""}, {"refuse": 7}, {"displayName": 7}, {"claims": []},
                   {"claims": {"sub": "other"}}, {"claims": {"long": "x" * 2000}}, {"sessionClaims": "x"}, {"disabled": "no"},
                   {"displayName": "x" * 5000}]
        answers = iter(garbage)
        sidecar, _ = self.begin(lambda method, params: next(answers))
        account = self.account(sidecar)
        for each in garbage:
            error = self.refused(
                "hookFailed", sidecar, "signIn.withPassword", {"username": "alice@example.com", "password": PASSWORD})
            self.assertEqual(error.data["check"], "invalidAnswer", each)
        self.assertEqual(sidecar.call("session.list", {"accountId": account["accountId"]})["sessions"], [])

    def test_messages_other_than_responses_fail_closed(self):
        lines = [b'{"jsonrpc":"2.0","id":"%s","result":null,"error":{}}', b'{"jsonrpc":"2.0","id":"%s","error":"no"}', b'{"id":"%s","result":null}']
        sidecar = self.spawn("--testing", store=self.path("hooks.db"))
        host = Host(sidecar, lambda method, params: Host.SILENT, hooks=["beforeSignIn"])
        sidecar.call("hooks.set", {"beforeSignIn": PIPE})
        self.account(sidecar)
        for number, line in enumerate(lines, 1):
            id = sidecar.send("signIn.withPassword", {"username": "alice@example.com", "password": PASSWORD})
            while len(host.asked) < number:
                pass
            host.write(line % f"h{number}".encode())
            with self.assertRaises(RpcError) as caught:
                sidecar.answer(id)
            self.assertEqual((caught.exception.type, caught.exception.data["check"]), ("hookFailed", "invalidAnswer"))
        self.works(sidecar)

    def test_error_of_the_host_fails_closed(self):
        def decide(method, params):
            raise KeyError("the directory is down")
        sidecar, _ = self.begin(decide)
        self.account(sidecar)
        error = self.refused("hookFailed", sidecar, "signIn.withPassword", {"username": "alice@example.com", "password": PASSWORD})
        self.assertEqual(error.data["check"], "error")
        self.assertIn("the directory is down", error.message)

    def test_silent_host_times_out_and_late_answer_is_ignored(self):
        sidecar, host = self.begin(lambda method, params: Host.SILENT)
        self.account(sidecar)
        id = sidecar.send("signIn.withPassword", {"username": "alice@example.com", "password": PASSWORD})
        while not host.asked:
            pass
        sidecar.call("test.clock", {"advanceSeconds": 6})
        sidecar.call("test.clock", {"advanceSeconds": 7})
        with self.assertRaises(RpcError) as caught:
            sidecar.answer(id)
        self.assertEqual((caught.exception.type, caught.exception.data["check"]), ("hookFailed", "timeout"))
        host.write({"jsonrpc": "2.0", "id": "h1", "result": None})
        host.write({"jsonrpc": "2.0", "id": "h1", "error": {"code": 1, "message": "late"}})
        host.write({"jsonrpc": "2.0", "id": "h99", "result": None})
        self.works(sidecar)
        self.assertEqual(sidecar.arrived(), 0)
        host.decide = lambda method, params: None
        self.assertEqual(self.sign_in(sidecar)["state"], "completed")

    def test_host_that_closes_the_pipe_ends_the_wait(self):
        sidecar, host = self.begin(lambda method, params: Host.SILENT)
        self.account(sidecar)
        id = sidecar.send("signIn.withPassword", {"username": "alice@example.com", "password": PASSWORD})
        while not host.asked:
            pass
        sidecar.end_input()
        with self.assertRaises(RpcError) as caught:
            sidecar.answer(id)
        self.assertEqual((caught.exception.type, caught.exception.data["check"]), ("hookFailed", "ended"))
        self.assertEqual(sidecar.wait(), 0)

    def test_host_calls_methods_within_a_hook(self):
        def decide(method, params):
            if method == "beforeSignIn":
                account = sidecar.call("account.get", {"accountId": params["account"]["accountId"]})
                if not account["claims"]:  # A change in every second would cause a new request to the hook each time.
                    sidecar.call("account.setClaims", {"accountId": account["accountId"], "claims": {"seen": 1}})
            return None
        sidecar, host = self.begin(decide, hooks=["beforeSignIn"])
        self.account(sidecar)
        # The account changed after the request to the hook, so the hook gets a new request with the new facts.
        result = self.sign_in(sidecar)
        self.assertEqual(result["account"]["claims"], {"seen": 1})
        self.assertEqual(len(host.asked), 2)

    def test_many_hooks_wait_at_the_same_time_while_the_host_calls_methods(self):
        total, everybody = 80, threading.Barrier(81)

        def decide(method, params):
            everybody.wait(30)
            sidecar.call("account.find", {"username": "alice@example.com"})
            sidecar.call("account.setClaims", {"accountId": other["accountId"], "claims": {"seen": params["account"]["accountId"]}})
            return None
        sidecar, host = self.begin(decide, hooks=["beforeSignIn"])
        other = self.account(sidecar)
        requests = []
        for number in range(total):
            # With codes: the hashes of 80 passwords can take longer on a busy machine than the seven seconds in which a hook must answer.
            username = f"user{number}@example.com"
            sidecar.call("account.create", {"username": username, "emailVerified": True})
            token = sidecar.call("signIn.start", {"username": username})["continuationToken"]
            code = sidecar.call("test.outbox", {"to": username})["messages"][-1]["code"]
            requests.append({"continuationToken": token, "code": code})
        ids = [sidecar.send("signIn.submitCode", each) for each in requests]
        everybody.wait(30)
        for id in ids:
            self.assertEqual(self.outcome(sidecar, id), "completed")

    def outcome(self, sidecar, id):
        try:
            return sidecar.answer(id, 60)["state"]
        except RpcError as error:
            return f"{error.type} {error.data}"

    def test_two_processes_on_one_store(self):
        first, host = self.begin(lambda method, params: {"sessionClaims": {"by": "first"}}, hooks=["beforeSignIn"])
        self.account(first)
        second = self.spawn("--testing", store=self.path("hooks.db"))
        request = {"username": "alice@example.com", "password": PASSWORD}
        error = self.refused("hooksNotOffered", second, "signIn.withPassword", request)
        self.assertIn("hooks.offer", error.message)
        Host(second, lambda method, params: {"sessionClaims": {"by": "second"}})
        self.assertEqual(claims(second.call("signIn.withPassword", request)["idToken"])["by"], "second")
        self.assertEqual(claims(first.call("signIn.withPassword", request)["idToken"])["by"], "first")
        self.assertEqual(len(host.asked), 1)
        second.call("hooks.set", {})
        self.assertNotIn("by", claims(first.call("signIn.withPassword", request)["idToken"]))

    def test_restarted_process_fails_closed_until_its_host_offers(self):
        sidecar, _ = self.begin(lambda method, params: None, hooks=["beforeSignIn"])
        self.account(sidecar)
        self.assertEqual(sidecar.finish(), 0)
        again = self.spawn("--testing", store=self.path("hooks.db"))
        self.refused("hooksNotOffered", again, "signIn.withPassword", {"username": "alice@example.com", "password": PASSWORD})
        Host(again)
        self.assertEqual(self.sign_in(again)["state"], "completed")
        again.call("hooks.offer", {"hooks": []})
        self.refused("hooksNotOffered", again, "signIn.withPassword", {"username": "alice@example.com", "password": PASSWORD})

    def test_hooks_of_a_deleted_tenant_are_gone(self):
        sidecar, _ = self.begin(lambda method, params: None)
        sidecar.call("tenant.create", {"tenantId": "shop"})
        sidecar.call("hooks.set", {"tenantId": "shop", "beforeSignIn": PIPE})
        sidecar.call("tenant.delete", {"tenantId": "shop"})
        self.refused("tenantNotFound", sidecar, "hooks.get", {"tenantId": "shop"})
        sidecar.call("tenant.create", {"tenantId": "shop"})
        self.assertEqual(sidecar.call("hooks.get", {"tenantId": "shop"}), {"tenantId": "shop", "deadlineSeconds": 7})

    def test_sequential_process_asks_too(self):
        sidecar = self.spawn("--testing", "--sequential", store=self.path("hooks.db"))
        Host(sidecar, lambda method, params: {"sessionClaims": {"desk": 7}})
        sidecar.call("hooks.set", {"beforeSignIn": PIPE})
        self.account(sidecar)
        self.assertEqual(claims(self.sign_in(sidecar)["idToken"])["desk"], 7)

    def test_public_caller_cannot_offer(self):
        sidecar = self.spawn("--caller", "public", store=self.path("hooks.db"))
        self.refused("callerNotAllowed", sidecar, "hooks.offer", {"hooks": ["beforeSignIn"]})

    @only("sqlite")
    def test_response_before_any_offer_is_an_invalid_request(self):
        sidecar = self.spawn("--testing", checked=False)
        self.assertEqual(sidecar.raw(b'{"jsonrpc":"2.0","id":"h1","result":null}')["error"]["code"], -32600)
