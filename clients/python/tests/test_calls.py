"""Tests of calls from threads: errors, concurrency, time limits, cancellation and notifications."""

import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import jwt

from support import NOWHERE, ClientTest, mint, mintmark, pid, shop
from mintmark import types


class Answers(ClientTest):
    def test_user_keeps_the_identity_and_another_library_verifies_the_token(self):
        m = self.memory()
        pool = shop(m)
        minted, again = mint(m, pool), mint(m, pool)
        self.assertTrue(minted.is_new_identity)
        self.assertEqual((again.identity_id, again.is_new_identity), (minted.identity_id, False))
        key = jwt.PyJWKSet.from_dict(m.token.jwks().to_dict())[jwt.get_unverified_header(minted.token)["kid"]]
        claims = jwt.decode(minted.token, key, algorithms=["ES256"], audience=pool.pool_id, issuer=pool.issuer)
        self.assertEqual(claims["sub"], minted.identity_id)

    def test_error_is_an_exception_of_its_class_with_details(self):
        m = self.memory()
        with self.assertRaises(mintmark.PoolNotFoundError) as caught:
            m.pool.get(pool_id=NOWHERE, trace="checkout-7")
        error = caught.exception
        self.assertEqual((error.pool_id, error.code, error.type), (NOWHERE, 2001, "poolNotFound"))
        self.assertEqual((error.trace, error.method), ("checkout-7", "pool.get"))
        self.assertIn("pool.list", str(error))
        self.assertIsNone(error.retry_after_seconds)

    def test_violations_are_records(self):
        m = self.memory()
        with self.assertRaises(mintmark.InvalidParamsError) as caught:
            m.pool.create(name="", developer_provider="a b")
        self.assertEqual({each.pointer for each in caught.exception.violations}, {"/name", "/developerProvider"})

    def test_argument_that_is_none_is_omitted(self):
        m = self.memory()
        self.assertNotIn("developerProvider", m.pool.create(name="shop", developer_provider=None))

    def test_object_parameter_accepts_a_record_and_a_mapping(self):
        m = self.memory()
        pool = shop(m)
        role = m.role.put(name="reader", pool_id=pool.pool_id).role_arn
        wanted = types.RolesByKind(authenticated=role)
        self.assertEqual(m.pool.set_roles(pool_id=pool.pool_id, roles=wanted).roles, wanted)
        self.assertEqual(m.pool.set_roles(pool_id=pool.pool_id, roles={"unauthenticated": role}).roles.unauthenticated, role)

    def test_clock_of_a_testing_store_can_be_set(self):
        m = self.memory(clock=1_700_000_000)
        self.assertEqual(m.test.clock(freeze=True, set_at=1_800_000_000)["now"].timestamp(), 1_800_000_000)
        self.assertEqual(m.system.ping().now.timestamp(), 1_800_000_000)

    def test_unknown_error_type_is_an_api_error(self):
        m = self.stand_in("answer(error={'code': 1999, 'message': 'Too late.', 'data': {'type': 'tooLate', 'retryAfterSeconds': 3}})")
        with self.assertRaises(mintmark.APIError) as caught:
            m.system.ping()
        error = caught.exception
        self.assertIs(type(error), mintmark.APIError)
        self.assertEqual((error.code, error.type, error.retry_after_seconds, str(error)), (1999, "tooLate", 3, "Too late."))

    def test_result_of_sixteen_million_bytes_is_received(self):
        m = self.stand_in("answer(result={'now': 1, 'much': 'x' * 16_000_000})")
        self.assertEqual(len(m.system.ping()["much"]), 16_000_000)

    def test_unparseable_request_is_rejected_before_it_is_sent(self):
        m = self.memory()
        deep = []
        for _ in range(70):
            deep = [deep]
        for value, wanted in [
            ("x" * 1_100_000, mintmark.InvalidRequestError), (deep, mintmark.InvalidRequestError), ("\ud800", ValueError),
            (float("nan"), ValueError), (object(), TypeError),
        ]:
            with self.assertRaises(wanted):
                m.call("pool.create", {"name": value})
        m.system.ping()

    def test_max_line_bytes_raises_the_limit_of_client_and_process(self):
        m = self.memory(max_line_bytes=3_000_000)
        with self.assertRaises(mintmark.InvalidParamsError):
            m.pool.create(name="x" * 2_000_000)

    def test_error_without_an_id_fails_the_waiting_call(self):
        m = self.stand_in("send({'jsonrpc': '2.0', 'id': None, 'error': {'code': -32700, 'message': 'What?', 'data': {'type': 'parseError'}}})")
        with self.assertRaises(mintmark.ParseError):
            m.system.ping()


class ManyAtOnce(ClientTest):
    def test_thousand_calls_from_sixteen_threads_receive_their_own_results(self):
        m = self.memory()
        pool = shop(m)
        with ThreadPoolExecutor(16) as threads:
            minted = list(threads.map(lambda number: (number % 50, mint(m, pool, f"user {number % 50}")), range(1000)))
        identities = {}
        for user, each in minted:
            self.assertEqual(identities.setdefault(user, each.identity_id), each.identity_id)
        self.assertEqual(len(set(identities.values())), 50)

    def test_responses_in_another_order_reach_their_calls(self):
        m = self.stand_in("""
            waiting = globals().setdefault("waiting", [])
            waiting.append(m)
            if len(waiting) == 8:
                for m in reversed(waiting):
                    answer(result={"now": m["params"]["number"]})
        """)
        with ThreadPoolExecutor(8) as threads:
            results = threads.map(lambda number: m.call("system.ping", {"number": number}), range(8))
            self.assertEqual([each.to_dict()["now"] for each in results], list(range(8)))


class TimeLimits(ClientTest):
    def stopped(self, **options):
        """Returns a client whose process is stopped."""
        m = self.memory(**options)
        m.system.ping(timeout=60)
        os.kill(pid(m), signal.SIGSTOP)
        self.addCleanup(self.go_on, m)
        return m

    def go_on(self, m):
        try:
            os.kill(pid(m), signal.SIGCONT)
        except ProcessLookupError:
            pass

    def test_call_that_exceeds_its_time_limit_raises_and_the_next_call_succeeds(self):
        m = self.stopped()
        with self.assertRaises(TimeoutError) as caught:
            m.system.ping(timeout=0.2)
        self.assertIn("system.ping was not answered within 0.2 s", str(caught.exception))
        self.go_on(m)
        self.assertTrue(m.system.ping().now)

    def test_time_limit_of_the_client_applies_to_calls_without_one(self):
        m = self.stopped(timeout=0.2)
        with self.assertRaises(mintmark.CallTimeoutError):
            m.system.ping()
        self.go_on(m)
        m.system.ping(timeout=float("inf"))

    def test_full_pipe_does_not_delay_calls_beyond_their_time_limit(self):
        m = self.stopped()
        with ThreadPoolExecutor(4) as threads:
            calls = [threads.submit(m.pool.create, name="x" * 500_000, timeout=0.3) for _ in range(4)]
            for each in calls:
                self.assertIsInstance(each.exception(60), mintmark.CallTimeoutError)
        self.go_on(m)
        self.assertTrue(m.system.ping().now)

    def test_call_that_times_out_is_canceled_in_the_process(self):
        m = self.stand_in("if 'id' in m and m['method'] == 'system.info': answer(result={'now': 1})")
        with self.assertRaises(mintmark.CallTimeoutError):
            m.system.ping(timeout=0.1)
        m.system.info()
        self.assertIn('"method":"$/cancelRequest","params":{"id":1}', self.seen())

    def test_interrupted_call_is_canceled(self):
        out = self.run_script("""
            import os, signal, sys, threading, mintmark
            signal.signal(signal.SIGINT, signal.default_int_handler)   # background jobs of a shell ignore SIGINT
            m = mintmark.Mintmark(store=":memory:", binary=sys.argv[1])
            threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                m.system.ping()
            except KeyboardInterrupt:
                print("interrupted")
            m.close()
        """, self.program("pass"))
        self.assertEqual(out.strip(), "interrupted")
        self.assertIn("$/cancelRequest", self.seen())


class Notified(ClientTest):
    def test_notification_callback_can_make_calls(self):
        heard, done = [], threading.Event()

        def hear(method, params):
            heard.append((method, params.to_dict(), m.system.ping().to_dict()["now"]))
            done.set()

        m = self.stand_in("""
            if m["method"] == "system.info":
                send({"jsonrpc": "2.0", "method": "$/progress", "params": {"token": 1, "value": "half"}})
            answer(result={"now": 5})
        """, on_notification=hear)
        m.system.info()
        self.assertTrue(done.wait(10))
        self.assertEqual(heard, [("$/progress", {"token": 1, "value": "half"}, 5)])

    def test_credentials_provider_sends_identity_changed(self):
        heard, done = [], threading.Event()

        def hear(method, params):
            heard.append((method, params))
            done.set()

        m = self.memory(on_notification=hear)
        pool = shop(m, allow_unauthenticated=True)
        alice = mint(m, pool)
        provider = m.credentials_provider.open(pool_id=pool.pool_id, token_source="caller").provider
        guest = m.credentials_provider.identity_id(provider=provider).identity_id
        m.credentials_provider.set_logins(provider=provider, logins={"login.shop": "alice"})
        question = m.credentials_provider.get(provider=provider)
        self.assertEqual((question.state, question.reason), ("tokenRequired", "noCredentials"))
        self.assertNotIn(question.continuation_token, repr(question))
        with self.assertRaises(mintmark.RoleNotConfiguredError):
            m.credentials_provider.submit_token(
                continuation_token=question.continuation_token, identity_id=alice.identity_id, token=alice.token)
        self.assertTrue(done.wait(10))
        [(method, change)] = heard
        self.assertEqual(method, "credentialsProvider/identityChanged")
        self.assertIsInstance(change, types.IdentityChange)
        self.assertEqual((change.provider, change.old_identity_id, change.new_identity_id), (provider, guest, alice.identity_id))
