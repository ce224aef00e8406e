"""The plugin for pytest, run by pytest itself."""

import os
import re
import subprocess
import sys
import textwrap

from support import ROOT, SOURCES, ClientTest


class Plugin(ClientTest):
    def run_tests(self, text, settings="", status=0):
        with open(self.path("test_it.py"), "w") as file:
            file.write(textwrap.dedent(text))
        with open(self.path("pytest.ini"), "w") as file:
            file.write("[pytest]\n" + settings)
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "mintmark.pytest_plugin", "-p", "no:cacheprovider", self.folder], cwd=self.folder, text=True,
            capture_output=True, env={**os.environ, "PYTHONPATH": SOURCES, "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    TWO = """
        seen = []

        def test_first(mintmark, mintmark_clock):
            mintmark.pool.create(name="shop")
            mintmark_clock.freeze(1_700_000_000)
            assert mintmark_clock.advance(hours=2, minutes=1) == 1_700_007_260
            seen.append(mintmark._process._process.pid)

        def test_second(mintmark, mintmark_clock):
            assert mintmark.pool.list().pools == []
            assert mintmark_clock.now() > 1_750_000_000
            seen.append(mintmark._process._process.pid)

        def test_processes():
            assert len(set(seen)) == {count}
    """

    def test_each_test_has_a_process_of_its_own(self):
        self.assertIn("3 passed", self.run_tests(self.TWO.replace("{count}", "2")))

    def test_tests_that_share_a_process_each_find_it_new(self):
        self.assertIn("3 passed", self.run_tests(self.TWO.replace("{count}", "1"), "mintmark_scope = session\n"))

    def test_the_outbox_has_the_code(self):
        self.assertIn("1 passed", self.run_tests("""
            import datetime, pytest

            def test_sign_up(mintmark, mintmark_clock, mintmark_outbox):
                with pytest.raises(pytest.fail.Exception, match="no code was sent to alice@example.com"):
                    mintmark_outbox.code("alice@example.com")
                step = mintmark.sign_up.start(username="alice@example.com")
                done = mintmark.sign_up.submit_code(
                    continuation_token=step.continuation_token, code=mintmark_outbox.code("alice@example.com"))
                assert done.state == "completed"
                assert mintmark_outbox.last().to == "alice@example.com" and len(mintmark_outbox.messages("bob@example.com")) == 0
                assert mintmark_clock.set(datetime.datetime(2030, 1, 1, tzinfo=datetime.timezone.utc)) >= 1893456000
                with pytest.raises(ValueError, match="time zone"):
                    mintmark_clock.set(datetime.datetime(2030, 1, 1))
        """))

    def test_a_failing_test_shows_the_log_and_a_wrong_setting_is_told(self):
        self.assertIn("1 failed", self.run_tests("def test_it(mintmark): assert mintmark.system.ping().now == 0", status=1))
        self.assertIn("mintmark_scope is one of", self.run_tests("def test_it(mintmark): pass", "mintmark_scope = moon\n", status=4))

    def test_the_package_brings_it(self):
        with open(os.path.join(ROOT, "clients", "python", "pyproject.toml")) as file:
            name = re.search(r"\[project\.entry-points\.pytest11\]\nmintmark = \"([\w.]+)\"", file.read())[1]
        self.run_script(f"import {name} as plugin; print(plugin.Clock, plugin.mintmark_outbox)")
