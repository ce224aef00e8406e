"""Tests of the asyncio client that correspond to clients/conformance: CredentialsProvider, and programs that are not Mintmark."""

import asyncio
import os
import signal
import unittest

from support import ClientTest, mintmark
from mintmark import AsyncCredentialsProvider, AsyncMintmark, CredentialsProvider

ALICE = {"login.shop": "alice"}


async def a_shop(m):
    pool = (await m.pool.create(name="shop", developer_provider="login.shop", allow_unauthenticated=True)).pool_id
    role = (await m.role.put(name="shopper", pool_id=pool)).role_arn
    await m.pool.set_roles(pool_id=pool, roles={"authenticated": role})
    return pool


class Provider(ClientTest, unittest.IsolatedAsyncioTestCase):
    async def client(self, **options):
        m = AsyncMintmark(**{"store": ":memory:", "stderr": None, "timeout": 60, **options})
        self.addAsyncCleanup(m.close)
        return m

    def backend(self, m, pool, asked):
        async def on_token_required(logins, identity_id):
            asked.append(logins)
            await asyncio.sleep(0.2)
            return await m.token.mint_for_developer(pool_id=pool, logins=logins, identity_id=identity_id)
        return on_token_required

    async def test_provider_closed_before_its_first_use_does_not_open(self):
        m, plain = await self.client(), self.memory()
        pool = await a_shop(m)
        provider = AsyncCredentialsProvider(m, pool, self.backend(m, pool, []))
        await provider.close()
        with self.assertRaisesRegex(mintmark.errors.ClientClosedError, "was closed"):
            await provider.identity_id()
        shop = plain.pool.create(name="shop", allow_unauthenticated=True).pool_id
        with CredentialsProvider(plain, shop, lambda logins, identity_id: None) as other:
            pass
        with self.assertRaisesRegex(mintmark.errors.ClientClosedError, "was closed"):
            other.identity_id()

    async def test_concurrent_calls_share_one_token_request(self):
        m, asked = await self.client(), []
        pool = await a_shop(m)
        async with AsyncCredentialsProvider(m, pool, self.backend(m, pool, asked), logins=ALICE) as provider:
            answers = await asyncio.gather(*[provider.get() for _ in range(10)])
            self.assertEqual(len({each.credentials.access_key_id for each in answers}), 1)
            self.assertEqual(asked, [ALICE])
            renewed = await provider.get(refresh=True)
            self.assertNotEqual(renewed.credentials, answers[0].credentials)
            self.assertEqual((await provider.identity_id(), len(asked)), (renewed.identity_id, 2))
            await provider.clear_credentials()
            self.assertEqual((await provider.get()).identity_id, renewed.identity_id)
            await provider.clear_keychain()
            await provider.set_logins({"login.shop": "bob"})
            self.assertNotEqual((await provider.get()).identity_id, renewed.identity_id)
            self.assertEqual(asked[-1], {"login.shop": "bob"})
        with self.assertRaises(mintmark.ProviderNotOpenError):
            await provider.get()

    async def test_exception_of_the_backend_is_raised(self):
        async def down(logins, identity_id):
            raise LookupError("the backend is down")
        m = await self.client()
        provider = AsyncCredentialsProvider(m, await a_shop(m), down, logins=ALICE)
        with self.assertRaisesRegex(LookupError, "the backend is down"):
            await provider.get()

    async def test_provider_keeps_its_identity_after_a_restart(self):
        m, asked = await self.client(store=self.path("shop.db")), []
        pool = await a_shop(m)
        provider = AsyncCredentialsProvider(m, pool, self.backend(m, pool, asked), logins=ALICE)
        first = await provider.get()
        os.kill(m._process._process.pid, signal.SIGKILL)
        while await m._process.ended() is None:
            await asyncio.sleep(0.01)
        self.assertEqual((await provider.get()).identity_id, first.identity_id)

    async def test_program_with_invalid_output_raises_protocol_error(self):
        m = await self.client(binary=self.program("print('Welcome!', flush=True)"))
        with self.assertRaisesRegex(mintmark.ProtocolError, "Welcome"):
            await m.system.ping()

    async def test_program_of_an_older_version_is_too_old(self):
        with open(self.path("old"), "w") as file:
            file.write('#!/bin/sh\nread line\necho \'{"jsonrpc":"2.0","id":0,"result":{"version":"0.0.1"}}\'\nexec sleep 60\n')
        os.chmod(self.path("old"), 0o755)
        m = await self.client(binary=self.path("old"))
        for _ in range(2):
            with self.assertRaisesRegex(mintmark.BinaryTooOldError, "is Mintmark 0.0.1, which is older than this client"):
                await m.system.ping()
