"""Tests of the installed package: pip installs it into a new environment, and a type checker checks its types."""

import os
import shutil
import subprocess
import sys
import textwrap

from support import ROOT, SOURCES, ClientTest


class Installed(ClientTest):
    def test_pip_installs_the_package_into_a_new_environment(self):
        source, venv = self.path("source"), self.path("venv")
        shutil.copytree(os.path.join(ROOT, "clients", "python"), source, ignore=shutil.ignore_patterns("__pycache__"))
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        python = os.path.join(venv, "bin", "python")
        install = [python, "-m", "pip", "install", "--quiet", "--no-cache-dir", "--disable-pip-version-check", source]
        # pip has its own CA certificates; the certificate of a proxy is only in the system's directory.
        for environment in (os.environ, {**os.environ, "PIP_CERT": "/etc/ssl/certs"}):
            done = subprocess.run(install, env=environment, text=True, capture_output=True)
            if done.returncode == 0:
                break
        self.assertEqual(done.returncode, 0, done.stderr)
        program = ("import mintmark\nfrom mintmark.testing import TestingMintmark\n"
                   "with TestingMintmark() as m: print(bool(m.system.ping().now), mintmark.__file__)")
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        out = subprocess.check_output([python, "-c", program], text=True, env=clean, cwd=self.folder).split()
        self.assertEqual(out[0], "True")
        self.assertTrue(out[1].startswith(venv), out[1])
        self.assertTrue(os.path.exists(os.path.join(os.path.dirname(out[1]), "py.typed")))


class Typed(ClientTest):
    def check(self, text):
        with open(self.path("program.py"), "w") as file:
            file.write(textwrap.dedent(text))
        return subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", "--cache-dir", self.path("cache"), self.path("program.py")],
            env={**os.environ, "MYPYPATH": SOURCES}, text=True, capture_output=True)

    def test_valid_program_passes_mypy_strict(self):
        done = self.check("""
            import datetime
            from typing import Sequence

            from mintmark import APIError, AsyncMintmark, BinaryTooOldError, Mintmark, PoolNotFoundError, types

            from mintmark.testing import AsyncTestingMintmark, TestingMintmark

            def tell(progress: types.ImportProgress) -> None:
                print(progress.next_line + 1)

            def lists(m: Mintmark) -> Sequence[types.PoolSummary]:
                m.account.import_(file="a", progress=tell)
                print([pool.name.upper() for pool in m.pool.list_all(limit=3)], [page.next_cursor for page in m.pool.list_pages()])
                created: datetime.datetime = m.pool.get(pool_id="a").created_at
                types.AuditHead(chain="a", records=1, head=str(created))
                Mintmark(app="shop", drain_seconds=3, clock=created, master_key_file=None).close()
                with TestingMintmark() as other:
                    other.test.clock(advance_seconds=1)
                try:
                    m.pool.set_roles(pool_id="a", roles={"authenticated": "b"}, timeout=1, trace="t")
                except PoolNotFoundError as error:
                    print(error.pool_id.upper(), error.retry_after_seconds)
                return m.pool.list(limit=3).pools

            def sign_up(m: Mintmark) -> str:
                step = m.sign_up.start(username="alice@example.com")
                if step.state == "codeRequired":
                    step = m.sign_up.submit_code(continuation_token=step.continuation_token, code="1" * step.code_length)
                if isinstance(step, types.SignUpStepAttributesRequired):
                    print([attribute.name for attribute in step.attributes])
                elif step.state == "completed":
                    return step.account_id
                elif step.state == "other":
                    return step.value
                return step.state

            async def mints(m: AsyncMintmark) -> str:
                async with m:
                    minted = await m.token.mint_for_developer(pool_id="a", logins={"login.shop": "alice"})
                    print([pool.name async for pool in m.pool.list_all()])
                    return minted.token
        """)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_mypy_reports_mistakes(self):
        done = self.check("""
            from mintmark import Mintmark, types

            def wrong(m: Mintmark) -> None:
                m.pool.create(nam="shop")
                m.pool.create(name=3)
                m.pool.create(name="shop", signing_algorithm="HS256")
                m.pool.get(pool_id="a").colour
                Mintmark(store=":memory:", colour="green")
                m.pool.get(pool_id="a").name = "b"
                types.AuditHead(chain="a", record=1, head="b")
                types.AuditHead(chain="a")
                m.pool.list(progress=print)
                m.test.clock()
                step = m.sign_up.start(username="a")
                step.continuation_token
                assert step.state == "compelted"
        """)
        lines = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error:" in line}
        self.assertEqual(lines, {*range(5, 15), 16, 17}, done.stdout)
