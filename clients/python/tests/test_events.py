"""Tests of the iterators over events."""

import asyncio
import os
import signal
import threading
import unittest

from support import ClientTest, pid
from mintmark import AsyncMintmark, ProcessEndedError, types


class Following(ClientTest):
    def test_iterator_returns_typed_events_in_order_and_ends_its_subscription(self):
        m = self.file()
        events = m.follow(types=["keysRotated"], after="0")
        kids = [m.key.rotate(tenant_id="default").kid for _ in range(3)]
        found = [next(events) for _ in range(3)]
        self.assertEqual([(event.cursor, event.kid, event.type) for event in found], [
            (str(place), kid, "keysRotated") for place, kid in enumerate(kids, 1)])
        self.assertIsInstance(found[0], types.SecurityEvent)
        events.close()
        self.assertFalse(m.events.unsubscribe().ended)

    def test_iterator_continues_after_the_process_was_killed(self):
        m = self.file()
        events = m.follow(after="0")
        first = m.key.rotate(tenant_id="default").kid
        self.assertEqual(next(events).kid, first)
        second = m.key.rotate(tenant_id="default").kid
        os.kill(pid(m), signal.SIGKILL)
        self.assertEqual([(event.cursor, event.kid) for event in (next(events), )], [("2", second)])
        third = self.rotate(m)
        self.assertEqual(next(events).kid, third)
        events.close()

    def rotate(self, m):
        """Rotates the key. A call can still go to the killed process, whose end the client may not have noticed, and then fails."""
        try:
            return m.key.rotate(tenant_id="default").kid
        except ProcessEndedError:
            return m.key.rotate(tenant_id="default").kid

    def test_without_a_cursor_only_later_events_are_returned(self):
        m = self.file()
        m.key.rotate(tenant_id="default")
        events, found = m.follow(), []
        reader = threading.Thread(target=lambda: found.append(next(events)))
        reader.start()
        while not found:
            m.key.rotate(tenant_id="default")
            reader.join(0.2)
        self.assertGreater(int(found[0].cursor), 1)


class AsyncFollowing(ClientTest, unittest.IsolatedAsyncioTestCase):
    async def test_iterator_of_the_asyncio_client(self):
        async with AsyncMintmark(store=self.path("shop.db"), stderr=None) as m:
            events = m.follow(after="0")
            kid = (await m.key.rotate(tenant_id="default")).kid
            event = await asyncio.wait_for(events.__anext__(), 20)
            self.assertEqual((event.cursor, event.kid), ("1", kid))
            await events.aclose()
            self.assertFalse((await m.events.unsubscribe()).ended)
