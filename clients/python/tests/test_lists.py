"""Tests of iteration over lists, by item and by page."""

import asyncio
import inspect
import json
import os

from support import ROOT, ClientTest, shop
from test_contract import find
from mintmark import InvalidParamsError
from mintmark.testing import AsyncTestingMintmark


class Lists(ClientTest):
    def test_every_list_can_be_iterated_in_both_clients(self):
        with open(os.path.join(ROOT, "schemas", "openrpc.json"), encoding="utf-8") as file:
            methods = json.load(file)["methods"]
        names = [each["name"] for each in methods if "cursor" in {param["name"] for param in each["params"]}]
        self.assertGreaterEqual(len(names), 10)
        for client in (self.memory(), AsyncTestingMintmark()):
            for name in names:
                arguments = {*inspect.signature(find(client, name)).parameters} - {"progress"}
                for suffix in ("All", "Pages"):
                    self.assertEqual({*inspect.signature(find(client, name + suffix)).parameters}, arguments, name)

    def test_items_of_all_pages_are_read_as_needed(self):
        m = self.memory()
        ids = [shop(m).pool_id for _ in range(5)]
        self.assertEqual([each.pool_id for each in m.pool.list_all(limit=2)], sorted(ids))
        self.assertEqual([len(page.pools) for page in m.pool.list_pages(limit=2)], [2, 2, 1])
        self.assertEqual(list(m.role.list_all()), [])
        pages = m.pool.list_pages(limit=2)
        rest = m.pool.list_all(limit=2, cursor=next(pages).next_cursor)
        self.assertEqual([each.pool_id for each in rest], sorted(ids)[2:])
        before = m.system.metrics().calls
        self.assertEqual(next(m.pool.list_all(limit=1)).pool_id, min(ids))
        self.assertEqual(m.system.metrics().calls, before + 2)

    def test_optional_list_can_be_iterated(self):
        m = self.memory()
        m.account.create(username="alice@example.com", password="a-long-enough-passphrase-77")
        self.assertEqual([each.email for each in m.account.export_all()], ["alice@example.com"])
        m.account.export(file=self.path("accounts.jsonl"))
        self.assertEqual(list(m.account.export_all(file=self.path("others.jsonl"))), [])

    def test_error_ends_the_iteration(self):
        with self.assertRaises(InvalidParamsError):
            next(self.memory().pool.list_all(limit=0))

    def test_asyncio_client_iterates_with_async_for(self):
        async def run():
            async with AsyncTestingMintmark(stderr=None) as m:
                ids = sorted([(await m.pool.create(name="shop")).pool_id for _ in range(5)])
                self.assertEqual([each.pool_id async for each in m.pool.list_all(limit=2)], ids)
                self.assertEqual([len(page.pools) async for page in m.pool.list_pages(limit=2)], [2, 2, 1])
                async for each in m.pool.list_all(limit=1):
                    self.assertEqual(each.pool_id, ids[0])
                    break
        asyncio.run(run())
