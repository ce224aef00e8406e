"""Tests of error messages for common mistakes, and of progress."""

import asyncio
import datetime
import os

from support import ClientTest, mint, mintmark, shop
from mintmark import AsyncCredentialsProvider, AsyncMintmark, CredentialsProvider, Mintmark, types
from mintmark.testing import AsyncTestingMintmark

ACCOUNTS = [{"email": f"user{number}@example.com"} for number in range(450)]
SILENT = "#!/bin/sh\nexec sleep 600\n"


class Progress(ClientTest):
    def test_progress_arrives_before_the_result(self):
        heard, told = [], []
        m = self.memory(on_notification=lambda *notification: heard.append(notification))
        result = m.account.import_(accounts=ACCOUNTS, progress=lambda progress: told.append(progress.next_line))
        self.assertEqual((result.imported, heard), (450, []))
        self.assertGreaterEqual(len(told), 2)
        self.assertEqual(told, sorted(set(told)))

    def test_exception_of_the_progress_callback_ends_the_call(self):
        m = self.memory()

        def fail(value):
            raise LookupError(value)
        with self.assertRaises(LookupError):
            m.call("account.import", {"accounts": ACCOUNTS}, progress=fail)
        m.system.ping()

    def test_calls_by_name_convert_progress_too(self):
        told = []
        self.memory().call("account.import", {"accounts": ACCOUNTS}, progress=told.append)
        self.assertEqual({type(each) for each in told}, {types.ImportProgress})

    def test_only_methods_that_report_progress_accept_a_callback(self):
        with self.assertRaises(TypeError):
            self.memory().pool.list(progress=print)

    def test_progress_arrives_at_an_asyncio_call(self):
        async def run():
            told = []
            async with AsyncTestingMintmark(stderr=None) as m:
                result = await m.account.import_(accounts=ACCOUNTS, progress=told.append)
                return result.imported, [each.next_line for each in told]
        imported, lines = asyncio.run(run())
        self.assertEqual(imported, 450)
        self.assertGreaterEqual(len(lines), 2)


class Mistakes(ClientTest):
    def script(self, text):
        path = self.path("script")
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, 0o755)
        return path

    def test_program_that_exits_without_output_raises_with_advice(self):
        with self.assertRaisesRegex(mintmark.ProcessEndedError, "/true the right program.*MINTMARK_BINARY"):
            self.memory(binary="/bin/true", restart=True).system.ping()

        async def run():
            async with AsyncMintmark(store=":memory:", binary="/bin/true", stderr=None) as m:
                await m.system.ping()
        with self.assertRaisesRegex(mintmark.ProcessEndedError, "/true the right program.*MINTMARK_BINARY"):
            asyncio.run(run())

    def test_folder_and_plain_file_as_program_raise_binary_not_found(self):
        with self.assertRaisesRegex(mintmark.BinaryNotFoundError, "which binary= names, is a folder.*MINTMARK_BINARY"):
            Mintmark(store=":memory:", binary=self.folder)
        plain = self.script("text")
        os.chmod(plain, 0o600)
        with self.assertRaisesRegex(mintmark.BinaryNotFoundError, "is not executable"):
            Mintmark(store=":memory:", binary=plain)

    def test_close_does_not_wait_for_a_program_that_never_responded(self):
        for close_with in ("threads", "asyncio"):
            options = {"store": ":memory:", "binary": self.script(SILENT), "stderr": None, "timeout": 0.05}

            async def run():
                m = AsyncMintmark(**options)
                with self.assertRaises(mintmark.CallTimeoutError):
                    await m.system.ping()
                await m.close(grace=3600)
                return m._process._process.returncode
            if close_with == "asyncio":
                self.assertEqual(asyncio.run(run()), -15)
                continue
            m = Mintmark(**options)
            with self.assertRaises(mintmark.CallTimeoutError):
                m.system.ping()
            m.close(grace=3600)
            self.assertEqual(m._process._process.returncode, -15)

    def test_error_for_a_value_without_json_names_the_method(self):
        m = self.memory()
        for value, kind in ((datetime.date.today(), TypeError), (b"x", TypeError), (float("nan"), ValueError), ("\ud800", ValueError)):
            with self.assertRaisesRegex(kind, "the parameters of pool.create have no JSON"):
                m.pool.create(name=value)
        with self.assertRaisesRegex(TypeError, "given by name, as a dict; not as a list"):
            m.call("pool.create", [1])
        with self.assertRaisesRegex(TypeError, "positive number of seconds.*'1'"):
            m.system.ping(timeout="1")

    def test_repr_of_a_client_contains_no_secrets(self):
        m = self.memory(environment={"MINTMARK_MASTER_KEY": "5ec1" * 16})
        self.assertEqual(repr(m), f"<TestingMintmark of {m.binary}>")


class Given(ClientTest):
    """Tests of the return value of the backend of a CredentialsProvider."""

    WRONG = (None, "token", ("id", "token"), {"token": "t"})

    def setUp(self):
        super().setUp()
        self.m = self.memory()
        self.pool = shop(self.m)
        role = self.m.role.put(name="shopper", pool_id=self.pool.pool_id).role_arn
        self.m.pool.set_roles(pool_id=self.pool.pool_id, roles={"authenticated": role})

    def provider(self, backend, key):
        return CredentialsProvider(self.m, self.pool.pool_id, backend, key=key, logins={"login.shop": key})

    def test_backend_can_return_a_result_or_its_json(self):
        def minted(logins):
            return mint(self.m, self.pool, logins["login.shop"])
        for key, backend in (("a", lambda logins, _: minted(logins)), ("b", lambda logins, _: minted(logins).to_dict()),
                             ("c", lambda logins, _: {"identity_id": minted(logins).identity_id, "token": minted(logins).token})):
            self.assertEqual(self.provider(backend, key).get().state, "ready")

    def test_invalid_return_value_raises_type_error(self):
        for wrong in self.WRONG:
            with self.assertRaisesRegex(TypeError, f"gives identity_id and token.*it gave a {type(wrong).__name__}$"):
                self.provider(lambda logins, _: wrong, "d").get()
        with self.assertRaisesRegex(TypeError, "on_token_required is a function"):
            self.provider(5, "e")

    def test_asyncio_accepts_functions_and_coroutine_functions(self):
        async def run():
            async with AsyncTestingMintmark(stderr=None) as m:
                pool = (await m.pool.create(name="shop", developer_provider="login.shop")).pool_id
                role = (await m.role.put(name="shopper", pool_id=pool)).role_arn
                await m.pool.set_roles(pool_id=pool, roles={"authenticated": role})
                given = (await m.token.mint_for_developer(pool_id=pool, logins={"login.shop": "alice"})).to_dict()
                first = AsyncCredentialsProvider(m, pool, lambda logins, identity_id: given, logins={"login.shop": "alice"})
                self.assertEqual((await first.get()).state, "ready")
                second = AsyncCredentialsProvider(m, pool, lambda logins, identity_id: None, key="other", logins={"login.shop": "alice"})
                with self.assertRaisesRegex(TypeError, "gives identity_id and token"):
                    await second.get()
        asyncio.run(run())
