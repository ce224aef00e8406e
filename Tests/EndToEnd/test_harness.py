"""The checks of the harness itself: a message that the schemas do not allow fails the test."""

import concurrent.futures
import copy
import os
import random
import time
import unittest

import stores
from checker import Checker, ContractViolation, compiled, errors, general_errors, load, method
from endtoend import EndToEnd, make_pool
from examples import Contract
from sidecar import Sidecar

POOL = "local-1:00000000-1111-4222-8333-444444444444"
# A program that answers the n-th line of its input with the n-th argument after the options.
FAKE = """#!/bin/bash
while [ $# -gt 0 ] && [ "$1" != --answers ]; do shift; done
shift
while [ $# -gt 0 ] && read -r; do printf '%s\\n' "$1"; shift; done
"""


def response(result=None, id=1, **more):
    return {"jsonrpc": "2.0", "id": id, **({} if result is None else {"result": result}), **more}


def failure(kind, id=1, **data):
    return response(id=id, error={"code": errors()[kind][0], "message": "It failed.", "data": {"type": kind, **data}})


class Checking(unittest.TestCase):
    def setUp(self):
        self.checker = Checker()

    def violation(self, message, *words):
        """Checks that a message is refused with a text that contains all words."""
        with self.assertRaises(ContractViolation) as caught:
            self.checker.check(message)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_result_that_does_not_match_is_refused_with_its_pointer(self):
        valid = {"now": 1}
        for result, words in (
                ({"now": "1"}, "/now must be an integer"), ({"now": True}, "/now must be an integer"),
                ({"now": 1.5}, "/now must be an integer"),
                ({}, "/now is missing"), ({**valid, "then/~": 2}, "/then~1~0 is not in the schema"), ([], "it must be an object")):
            with self.subTest(result):
                self.checker.sends(1, "system.ping")
                self.violation(response(result), "system.ping", "schemas/methods/system.ping.json", words)
        self.checker.sends(1, "system.ping")
        self.checker.check(response(valid))

    def test_violation_deep_in_a_result_is_found(self):
        check = compiled({"type": "array", "items": {"$ref": "types/HealthCheck.json"}})
        self.assertIn(("/0/name", "must be a string, found 1"), check([{"name": 1}]))

    def test_result_must_have_exactly_the_members_of_its_state(self):
        token = {"continuationToken": "t", "expiresAt": 1}
        code = {**token, "sentTo": "a", "channel": "email", "codeLength": 8, "resendAt": 1}
        account = "00000000-0000-4000-8000-000000000000"
        valid = (
            {"state": "codeRequired", **code}, {"state": "passwordRequired", **token}, {"state": "completed", **token, "accountId": account})
        for result in valid:
            with self.subTest(result):
                self.checker.sends(1, "signUp.submitCode")
                self.checker.check(response(result))
        for result, words in (
                ({"state": "passwordRequired", **code}, "/sentTo is not in the schema"),
                ({"state": "codeRequired", **token}, "/codeLength is missing (for state codeRequired)"),
                ({"state": "completed", **token}, "/accountId is missing"), ({"state": "compelted", **token}, "/state must be one of codeRequired"),
                ({**token}, "/state must be one of"), ({"state": ["completed"], **token}, "/state must be one of"), ([], "must be an object")):
            with self.subTest(result):
                self.checker.sends(1, "signUp.submitCode")
                self.violation(response(result), "signUp.submitCode", words)
        check = compiled({"$ref": "types/GraphNode.json"})
        self.assertIsNone(check({"kind": "session", "sessionId": "s"}))
        self.assertIn("/poolId", dict(check({"kind": "session", "sessionId": "s", "poolId": "p"})))

    def test_error_that_the_method_does_not_declare_is_refused(self):
        self.checker.sends(1, "pool.get")
        self.violation(failure("userNotFound"), "pool.get", "userNotFound", "schemas/methods/pool.get.json", "poolNotFound", "storeBusy")
        self.checker.sends(1, "pool.get")
        self.checker.check(failure("poolNotFound", poolId=POOL))

    def test_general_errors_are_allowed_for_every_method(self):
        self.assertLessEqual({"invalidParams", "internalError", "requestCancelled", "shuttingDown", "storeBusy"}, general_errors())
        self.assertTrue(general_errors().isdisjoint({"invalidCursor", "messageNotSent", "backupFileExists", "poolNotFound"}))
        self.checker.sends(1, "pool.get")
        self.checker.check(failure("shuttingDown", retryAfterSeconds=1))
        self.checker.sends(1, "pool.get")
        self.violation(failure("invalidCursor"), "pool.get", "invalidCursor")

    def test_error_with_wrong_code_data_or_members_is_refused(self):
        for error, words in (
                ({"code": 2002}, "the code 2001"), ({"message": " "}, "a message"),
                ({"data": {"type": "poolNotFound"}}, "/poolId is missing"),
                ({"data": {"type": "poolNotFound", "poolId": POOL, "x": 1}}, "/x is not in the schema"), ({"data": {}}, "type None"),
                ({"data": {"type": "noSuchError"}}, "noSuchError, which is not in"), ({"data": []}, "code, message and data"),
                ({"more": 1}, "exactly code, message and data")):
            with self.subTest(error):
                self.checker.sends(1, "pool.get")
                message = failure("poolNotFound", poolId=POOL)
                self.violation({**message, "error": {**message["error"], **error}}, "pool.get", words)

    def test_injected_error_is_allowed_for_its_method(self):
        self.checker.sends(1, "test.fault", {"method": "pool.get", "error": "userNotFound"})
        self.checker.sends(2, "pool.get")
        self.checker.check(failure("userNotFound", id=2))
        self.checker.sends(2, "pool.list")
        self.violation(failure("userNotFound", id=2), "pool.list", "userNotFound")

    def test_notifications_are_checked(self):
        self.checker.sends(1, "account.import", {}, "p")
        self.checker.sends(2, "system.ping", {}, "q")
        progress = {"jsonrpc": "2.0", "method": "$/progress"}
        change = {"jsonrpc": "2.0", "method": "credentialsProvider/identityChanged"}
        self.violation({**progress, "params": {"token": "p", "value": {}}}, "account.import", "is missing")
        self.violation({**progress, "params": {"token": "q", "value": {}}}, "system.ping", "no `progress`")
        self.violation({**progress, "params": {"token": "p"}}, "token and value")
        self.violation({**change, "params": {"provider": "p"}}, "credentialsProvider/identityChanged", "/oldIdentityId is missing")
        self.violation({"jsonrpc": "2.0", "method": "pool/created", "params": {}}, "pool/created", "schemas/notifications")

    def test_message_that_is_not_a_response_is_refused(self):
        for message in (1, {"id": 1, "result": {}}, {"jsonrpc": "1.0", "id": 1, "result": {}}):
            with self.subTest(message):
                self.violation(message, "not JSON-RPC 2.0")
        for message in ({"jsonrpc": "2.0", "result": {}}, response(), response({}, error={}), response({}, extra=1)):
            with self.subTest(message):
                self.violation(message, "must have exactly")

    def test_requests_in_raw_bytes_are_recognized(self):
        self.checker.writes(b'{broken\n[1,{"jsonrpc":"2.0","id":"a","method":"system.ping"},{"jsonrpc":"2.0","id":"b","meth')
        self.checker.writes(b'od":"pool.get"}]\n' + b"[" * 100_000 + b'\n\xff\n{"id":{},"method":"pool.get"}\n')
        self.violation([response({"now": 1}, "a"), failure("userNotFound", id="b")], "pool.get", "userNotFound")
        self.checker.writes(b'{"jsonrpc":"2.0","id":7,"method":"system.ping"}')   # without a newline, before the end of input
        self.violation(response({}, 7), "system.ping", "/now is missing")

    def test_responses_without_a_known_request_are_checked_as_far_as_possible(self):
        self.checker.check(failure("parseError", id=None, reason="It is cut off.", offset=1))
        self.violation(failure("poolNotFound", id=None, poolId=POOL), "poolNotFound")
        self.checker.check(response({"any": 1}, "written by another program"))
        self.violation(failure("poolNotFound", id="written by another program"), "/poolId is missing")
        self.checker.sends(1, "no.such")
        self.checker.check(failure("methodNotFound", method="no.such", nearest=[]))
        self.checker.sends(1, "no.such")
        self.violation(response({}), "no.such", "there is no schemas/methods/no.such.json")

    def test_requests_with_the_same_id_can_be_answered_in_any_order(self):
        for name in ("pool.get", "system.ping", "pool.get"):
            self.checker.sends(1, name)
        self.checker.check(response({"now": 1}))
        for _ in range(2):
            self.violation(response({"now": 1}), "pool.get")

    def test_long_array_is_checked_in_part(self):
        check = compiled({"type": "array", "items": {"type": "integer"}})
        self.assertEqual(len(check(["x"] * 1000)), 1000)
        self.assertLessEqual(len(check(["x"] * 1_000_000)), 1000)
        self.assertIsNone(check([1] * 1_000_000))

    def test_check_of_a_small_result_takes_less_than_30_microseconds(self):
        message, seconds = response({"now": 1}), []
        for _ in range(5):
            began = time.thread_time()
            for _ in range(2000):
                self.checker.sends(1, "system.ping")
                self.checker.check(message)
            seconds.append((time.thread_time() - began) / 2000)
        self.assertLess(min(seconds), 30e-6)


class SameVerdict(EndToEnd):
    """The compiled schemas and the package jsonschema agree."""

    stores = ("sqlite",)

    def results(self):
        sidecar = self.spawn(testing=True)
        password = "a-long-enough-passphrase-77"
        for name, params in (
                ("pool.create", {"name": "shop", "developerProvider": "login.shop", "tags": {"a": "b"}}), ("pool.list", {}),
                ("account.create", {"username": "alice@example.com", "password": password}),
                ("signIn.withPassword", {"username": "alice@example.com", "password": password}), ("tenant.get", {"tenantId": "default"}),
                ("audit.list", {})):
            yield name, sidecar.call(name, params)

    def places(self, value):
        """Yields each container in a value, with each of its keys."""
        for key, each in list(value.items() if isinstance(value, dict) else enumerate(value)):
            yield value, key
            if isinstance(each, (dict, list)):
                yield from self.places(each)

    def test_changed_results_are_refused_by_both_or_by_neither(self):
        contract, noise, verdicts = Contract(), random.Random(5), []
        for name, result in self.results():
            self.assertIsNone(method(name).result(result))
            for _ in range(60):
                changed = copy.deepcopy(result)
                container, key = noise.choice(list(self.places(changed)))
                change = noise.randrange(10)
                if change == 0:
                    del container[key]
                elif change == 1 and isinstance(container, dict):
                    container["noSuchMember"] = 1
                else:
                    container[key] = noise.choice((None, True, -1, 1, 1.0, 1.5, 1 << 40, "", "x" * 300, "é/ü", [], {}, [1], {"a": "b"}))
                with self.subTest(name, result=changed):
                    verdicts.append(bool(method(name).result(changed)))
                    self.assertEqual(verdicts[-1], bool(contract.breaches(load(f"methods/{name}.json")["result"], changed)))
        self.assertEqual(set(verdicts), {True, False})


class Receiving(EndToEnd):
    """A process that sends what the schemas do not allow."""

    stores = ("sqlite",)
    WRONG = '{"jsonrpc":"2.0","id":1,"result":{"now":"soon"}}'
    RIGHT = '{"jsonrpc":"2.0","id":1,"result":{"now":1}}'

    def fake(self, *answers, checked=True):
        program = self.path("fake")
        with open(program, "w", encoding="ascii") as file:
            file.write(FAKE)
        os.chmod(program, 0o755)
        sidecar = Sidecar("--answers", *answers, program=program, checked=checked)
        self.addCleanup(sidecar.close)
        return sidecar

    def test_wrong_result_fails_the_call(self):
        for call in (lambda each: each.call("system.ping"), lambda each: each.raw(b'{"jsonrpc":"2.0","id":1,"method":"system.ping"}')):
            self.assertRaisesRegex(ContractViolation, "system.ping.*/now must be an integer", call, self.fake(self.WRONG))
        self.assertEqual(self.fake(self.RIGHT).call("system.ping"), {"now": 1})
        self.assertEqual(self.fake(self.WRONG, checked=False).call("system.ping"), {"now": "soon"})

    def test_undeclared_error_fails_the_call_that_expects_it(self):
        answer = '{"jsonrpc":"2.0","id":1,"error":{"code":4017,"message":"It failed.","data":{"type":"userNotFound"}}}'
        self.assertRaisesRegex(ContractViolation, "system.ping returned the error userNotFound", self.fake(answer).refusal, "system.ping")

    def test_wrong_result_in_lines_fails(self):
        for take in (lambda each: each.lines(1), lambda each: each.remaining()):
            sidecar = self.fake(self.WRONG)
            sidecar.write(b'{"jsonrpc":"2.0","id":1,"method":"system.ping"}\n')
            self.assertRaisesRegex(ContractViolation, "system.ping", take, sidecar)

    def test_wrong_unreceived_message_fails_at_the_end(self):
        sidecar = self.fake(self.RIGHT, '{"jsonrpc":"2.0","method":"no/such","params":{}}')
        sidecar.call("system.ping")
        sidecar.send("system.ping")
        self.assertRaisesRegex(ContractViolation, "no/such", sidecar.close)
        sidecar.close()

    def test_violation_that_a_thread_swallows_fails_at_the_end(self):
        sidecar = self.fake(self.WRONG)

        def swallow():
            try:
                sidecar.call("system.ping")
            except Exception:
                pass
        with concurrent.futures.ThreadPoolExecutor(1) as threads:
            threads.submit(swallow).result()
        self.assertRaisesRegex(ContractViolation, "system.ping", sidecar.close)


class UsedSchemas(EndToEnd):
    """A schema of PostgreSQL is used again by the next test."""

    stores = ("postgres",)

    def used(self):
        """Makes a pool in a new store and ends the process. Returns the schema of the store."""
        stores.current.recycle()
        sidecar = self.spawn(store="first")
        make_pool(sidecar)
        self.assertEqual(sidecar.finish(), 0)
        return stores.current.schema("first")

    def test_schema_is_empty_for_the_next_test(self):
        schema = self.used()
        stores.current.recycle()
        sidecar = self.spawn(store="second")
        self.assertEqual(stores.current.schema("second"), schema)
        self.assertEqual(sidecar.call("pool.list")["pools"], [])

    def test_schema_with_a_changed_table_is_not_used_again(self):
        schema = self.used()
        self.rows("ALTER TABLE pool ADD COLUMN more TEXT", store="first")
        stores.current.recycle()
        self.spawn(store="second").call("pool.list")
        self.assertNotEqual(stores.current.schema("second"), schema)

    def test_schema_of_a_running_process_is_not_used_again(self):
        sidecar = self.spawn(store="first")
        make_pool(sidecar)
        schema = stores.current.schema("first")
        stores.current.recycle()
        self.spawn(store="second").call("pool.list")
        self.assertNotEqual(stores.current.schema("second"), schema)
        self.works(sidecar)
