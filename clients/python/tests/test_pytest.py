"""Tests of the pytest plugin, run by pytest."""

import os
import re
import subprocess
import sys
import textwrap

from support import COMPILED, ROOT, SOURCES, ClientTest


class Plugin(ClientTest):
    def run_tests(self, text, settings="", status=0):
        with open(self.path("test_it.py"), "w") as file:
            file.write(textwrap.dedent(text))
        with open(self.path("pytest.ini"), "w") as file:
            file.write("[pytest]\n" + settings)
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "mintmark.pytest_plugin", "-p", "no:cacheprovider", self.folder], cwd=self.folder, text=True,
            capture_output=True, env={**os.environ, "PYTHONPATH": SOURCES, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": COMPILED})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    TWO = """
        seen = []

        def test_first(mintmark, mintmark_clock):
            mintmark.pool.create(name="shop")
            mintmark_clock.freeze(1_700_000_000)
            assert mintmark_clock.advance(hours=2, minutes=1).timestamp() == 1_700_007_260
            seen.append(mintmark._process._process.pid)

        def test_second(mintmark, mintmark_clock):
            assert mintmark.pool.list().pools == []
            assert mintmark_clock.now().timestamp() > 1_750_000_000
            seen.append(mintmark._process._process.pid)

        def test_processes():
            assert len(set(seen)) == {count}
    """

    def test_each_test_has_its_own_process(self):
        self.assertIn("3 passed", self.run_tests(self.TWO.replace("{count}", "2")))

    def test_tests_that_share_a_process_start_with_an_empty_store(self):
        self.assertIn("3 passed", self.run_tests(self.TWO.replace("{count}", "1"), "mintmark_scope = session\n"))

    def test_faults_providers_and_snapshots_do_not_affect_the_next_test(self):
        self.assertIn("2 passed", self.run_tests("""
            import urllib.request
            import mintmark as package, pytest

            def test_first(mintmark):
                mintmark.test.idp(issuers=[{"name": "default", "clients": [{"clientId": "only"}]}])
                mintmark.test.enqueue(claims={"role": "admin"})
                mintmark.test.snapshot(name="mine")
                mintmark.test.fault(method="system.ping", error="storeBusy", times=1000000)
                mintmark.test.fault(store="busy", times=1000000)
                mintmark.test.fault(clock_jump_seconds=3600)

            def test_second(mintmark):
                assert mintmark.test.fault().armed == []
                assert abs((mintmark.system.ping().now - mintmark.test.clock().now).total_seconds()) < 600
                mintmark.pool.create(name="shop")
                assert mintmark.test.enqueue().waiting == []
                asked = "/authorize?client_id=shop&response_type=code&redirect_uri=http://localhost/b&scope=openid"
                direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
                assert direct.open(mintmark.test.idp().issuer + asked).status == 200
                with pytest.raises(package.errors.SnapshotNotFoundError):
                    mintmark.test.restore(name="mine")
        """, "mintmark_scope = session\n"))

    def test_outbox_contains_the_code(self):
        self.assertIn("1 passed", self.run_tests("""
            import datetime, pytest

            def test_sign_up(mintmark, mintmark_clock, mintmark_outbox):
                with pytest.raises(pytest.fail.Exception, match="no code was sent to alice@example.com; no messages were sent"):
                    mintmark_outbox.code("alice@example.com")
                step = mintmark.sign_up.start(username="alice@example.com")
                done = mintmark.sign_up.submit_code(
                    continuation_token=step.continuation_token, code=mintmark_outbox.code("alice@example.com"))
                assert done.state == "completed"
                for ask in (mintmark_outbox.code, mintmark_outbox.last):
                    with pytest.raises(pytest.fail.Exception, match="was sent to bob@example.com; messages were sent to alice@example.com"):
                        ask("bob@example.com")
                assert mintmark_outbox.last().to == "alice@example.com" and len(mintmark_outbox.messages("bob@example.com")) == 0
                assert mintmark_clock.set(datetime.datetime(2030, 1, 1, tzinfo=datetime.timezone.utc)).year == 2030
                with pytest.raises(ValueError, match="without a time zone"):
                    mintmark_clock.set(datetime.datetime(2030, 1, 1))
        """))

    def test_failed_test_shows_the_log_and_an_invalid_setting_is_reported(self):
        talks = self.program("print('a word', file=sys.stderr, flush=True); answer(result={'now': 1})")
        said = self.run_tests("def test_it(mintmark): assert mintmark.system.ping() is None", f"mintmark_binary = {talks}\n", status=1)
        self.assertIn("1 failed", said)
        self.assertIn("a word", said)
        self.assertIn("mintmark_scope is one of", self.run_tests("def test_it(mintmark): pass", "mintmark_scope = moon\n", status=4))

    def test_killed_process_is_replaced_for_the_next_test(self):
        self.assertIn("1 failed, 1 passed", self.run_tests("""
            import os, signal

            def test_first(mintmark):
                os.kill(mintmark._process._process.pid, signal.SIGKILL)
                mintmark.system.ping()

            def test_second(mintmark, mintmark_clock):
                import datetime
                before = mintmark_clock.freeze()
                assert mintmark_clock.advance(datetime.timedelta(hours=1)) == before + datetime.timedelta(seconds=3600)
                assert mintmark_clock.advance(30.0, minutes=1) == before + datetime.timedelta(seconds=3690)
        """, "mintmark_scope = session\n", status=1))

    def test_closed_client_is_replaced_for_the_next_test(self):
        self.assertIn("2 passed", self.run_tests("""
            def test_first(mintmark):
                mintmark.close()

            def test_second(mintmark):
                assert mintmark.pool.list().pools == []
        """, "mintmark_scope = session\n"))

    def test_traceback_of_a_failed_call_ends_in_the_test(self):
        said = self.run_tests("def test_it(mintmark):\n    mintmark.pool.get(pool_id='wrong')", status=1)
        self.assertRegex(said, r"test_it\.py:2: InvalidParamsError")
        self.assertNotIn("_client.py", said)

    def test_waiting_call_does_not_delay_the_next_test(self):
        self.assertIn("2 passed", self.run_tests("""
            import threading

            import mintmark as package

            outcomes, threads = [], []

            def wait(client):
                try:
                    client.test.outbox(wait_seconds=60)
                    outcomes.append("answered")
                except package.MintmarkError:
                    outcomes.append("ended")

            def test_first(mintmark):
                threads.append(threading.Thread(target=wait, args=(mintmark,)))
                threads[0].start()

            def test_second():
                threads[0].join()
                assert outcomes == ["ended"]
        """))

    def test_package_registers_the_plugin(self):
        with open(os.path.join(ROOT, "clients", "python", "pyproject.toml")) as file:
            name = re.search(r"\[project\.entry-points\.pytest11\]\nmintmark = \"([\w.]+)\"", file.read())[1]
        self.run_script(f"import {name} as plugin; print(plugin.Clock, plugin.mintmark_outbox)")
