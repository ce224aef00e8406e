"""Tests of the asyncio client that differ from those of the client for threads."""

import asyncio
import os
import signal
import unittest
import unittest.mock

from support import ANSWERS_AT_THE_END, NOWHERE, ClientTest, mint, mintmark, pid
from mintmark.testing import AsyncTestingMintmark


class AsyncTest(ClientTest, unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        asyncio.get_running_loop().set_debug(False)  # debug mode is slow with a thousand tasks

    async def client(self, **options):
        m = AsyncTestingMintmark(**{"stderr": None, **options})
        self.addAsyncCleanup(m.close)
        return m

    async def shop(self, m):
        return await m.pool.create(name="shop", developer_provider="login.shop")


class Calls(AsyncTest):
    async def test_thousand_concurrent_tasks_receive_their_own_results(self):
        async with AsyncTestingMintmark() as m:
            pool = await self.shop(m)
            minted = await asyncio.gather(*[mint(m, pool, f"user {number % 50}") for number in range(1000)])
        identities = {}
        for number, each in enumerate(minted):
            self.assertEqual(identities.setdefault(number % 50, each.identity_id), each.identity_id)
        self.assertEqual(len(set(identities.values())), 50)

    async def test_requests_above_the_concurrency_limit_all_receive_a_response(self):
        m = await self.client()
        self.assertEqual(len(await asyncio.gather(*[m.system.ping(trace="x" * 128) for _ in range(5000)])), 5000)

    async def test_concurrent_first_calls_start_one_process(self):
        m = await self.client()
        starts = {each.started_at for each in await asyncio.gather(*[m.system.info() for _ in range(10)])}
        self.assertEqual(len(starts), 1)
        # The client's own system.info request counts if it was handled by now.
        self.assertIn((await m.system.metrics()).calls, (10, 11))

    async def test_errors_are_typed(self):
        m = await self.client()
        with self.assertRaises(mintmark.PoolNotFoundError) as caught:
            await m.pool.get(pool_id=NOWHERE, trace="t")
        self.assertEqual((caught.exception.pool_id, caught.exception.trace), (NOWHERE, "t"))

    async def test_result_of_sixteen_million_bytes_is_received(self):
        m = await self.client(binary=self.program("answer(result={'now': 1, 'much': 'x' * 16_000_000})"))
        self.assertEqual(len((await m.system.ping())["much"]), 16_000_000)

    async def test_notification_callback_can_be_a_coroutine_that_makes_calls(self):
        heard = asyncio.Queue()

        async def hear(method, params):
            await heard.put((method, params.to_dict(), (await m.system.ping()).to_dict()["now"]))

        m = await self.client(on_notification=hear, binary=self.program("""
            if m["method"] == "system.info":
                send({"jsonrpc": "2.0", "method": "$/progress", "params": {"token": 1}})
            answer(result={"now": 5})
        """))
        await m.system.info()
        self.assertEqual(await asyncio.wait_for(heard.get(), 10), ("$/progress", {"token": 1}, 5))


class Ending(AsyncTest):
    async def stopped(self, **options):
        m = await self.client(**options)
        await m.system.ping()
        os.kill(pid(m), signal.SIGSTOP)
        return m

    async def test_call_that_exceeds_its_time_limit_raises_and_the_next_call_succeeds(self):
        m = await self.stopped()
        with self.assertRaises(TimeoutError):
            await m.system.ping(timeout=0.1)
        os.kill(pid(m), signal.SIGCONT)
        self.assertTrue((await m.system.ping()).now)

    async def test_cancelling_a_task_cancels_its_call(self):
        m = await self.client(binary=self.program("if m['method'] == 'system.info': answer(result={'now': 1})"))
        # A call on a running process is sent as soon as its task starts.
        await m.system.info()
        call = asyncio.ensure_future(m.system.ping())
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(m.system.ping(), 0.1)
        call.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await call
        await m.system.info()
        self.assertIn('"$/cancelRequest","params":{"id":2}', self.seen())
        self.assertIn('"$/cancelRequest","params":{"id":3}', self.seen())

    async def test_calls_of_a_killed_process_fail_and_the_next_call_starts_a_new_process(self):
        m = await self.stopped(store=self.path("shop.db"))
        calls = [asyncio.ensure_future(m.system.ping()) for _ in range(5)]
        await asyncio.sleep(0.1)
        os.kill(pid(m), signal.SIGKILL)
        for each in await asyncio.gather(*calls, return_exceptions=True):
            self.assertIsInstance(each, mintmark.ProcessEndedError)
            self.assertEqual(each.exit_status, -9)
        self.assertTrue((await m.system.ping()).now)
        for _ in range(3):
            os.kill(pid(m), signal.SIGKILL)
            while not m._process._is_ending:  # the output is closed, but the exit status is not known yet
                await asyncio.sleep(0)
            self.assertEqual(len({each.started_at for each in await asyncio.gather(*[m.system.info() for _ in range(5)])}), 1)

    async def test_store_in_memory_is_not_replaced_after_its_process_ends(self):
        m = await self.client()
        await m.system.ping()
        os.kill(pid(m), signal.SIGKILL)
        with self.assertRaises(mintmark.ProcessEndedError):
            for _ in range(1000):
                await m.system.ping()
        with self.assertRaisesRegex(mintmark.ProcessEndedError, "in memory is lost. Create a new AsyncTestingMintmark"):
            await m.system.ping()

    async def test_close_finishes_calls_in_flight_and_rejects_later_calls(self):
        m = await self.client(binary=self.program(ANSWERS_AT_THE_END))
        call = asyncio.ensure_future(m.system.ping())
        while not self.seen():
            await asyncio.sleep(0.01)
        await m.close()
        self.assertEqual((await call).to_dict(), {"now": 7})
        with self.assertRaises(mintmark.ClientClosedError):
            await m.system.ping()

    async def test_close_kills_a_process_that_does_not_exit(self):
        m = await self.stopped()
        with unittest.mock.patch("mintmark._async_process.GRACE", 0.2):
            await m.close(grace=0.2)
        self.assertFalse(os.path.exists(f"/proc/{pid(m)}"))

    async def test_wrapper_with_invalid_output_is_killed_with_its_program(self):
        with open(self.path("wrapper"), "w") as file:
            file.write(f"#!/bin/sh\nsleep 600 & echo $! >'{self.path('child')}'\necho Welcome\nwait\n")
        os.chmod(self.path("wrapper"), 0o755)
        m = await self.client(binary=self.path("wrapper"))
        with self.assertRaisesRegex(mintmark.MintmarkError, "Welcome"):
            await m.system.ping()
        with open(self.path("child")) as file:
            child = int(file.read())

        def has_ended():
            try:
                with open(f"/proc/{child}/stat") as file:
                    return file.read().rpartition(")")[2].split()[0] in "ZX"
            except FileNotFoundError:
                return True
        self.eventually(has_ended, "its program is left")

    async def test_missing_old_and_failing_programs_raise_specific_errors(self):
        with self.assertRaises(mintmark.BinaryNotFoundError):
            AsyncTestingMintmark(binary="/nowhere/mintmark")
        old = await self.client(binary=self.program("answer(error={'code': -32601, 'message': 'No.', 'data': {'type': 'methodNotFound'}})"))
        with self.assertRaises(mintmark.BinaryTooOldError):
            await old.system.ping()
        with self.assertRaisesRegex(mintmark.ProcessEndedError, "status 64"):
            await (await self.client(arguments=["--no-such-option"])).system.ping()


class Loops(ClientTest):
    def test_process_ends_with_a_program_that_does_not_close_its_client(self):
        number = int(self.run_script("""
            import asyncio
            from mintmark.testing import AsyncTestingMintmark
            async def main():
                m = AsyncTestingMintmark()
                await m.system.ping()
                print(m._process._process.pid)
                asyncio.ensure_future(m.system.ping())
            asyncio.run(main())
        """).split()[0])
        self.eventually(lambda: not os.path.exists(f"/proc/{number}"), "the process is left")

    def test_canceling_a_call_during_the_start_does_not_affect_other_calls(self):
        async def main():
            async with AsyncTestingMintmark() as warm:
                await warm.system.ping()
            m = AsyncTestingMintmark()
            first, second = asyncio.ensure_future(m.system.ping()), asyncio.ensure_future(m.system.ping())
            await asyncio.sleep(0)
            first.cancel()
            self.assertTrue((await second).now)
            await m.close()
            self.assertTrue(first.cancelled())

        asyncio.run(main())
