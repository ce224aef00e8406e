"""Tests of the process of a client: finding the program, its end, restarts and its log."""

import io
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

from support import ANSWERS_AT_THE_END, ClientTest, mintmark, pid, shop
from mintmark import Mintmark, Options, _settings
from mintmark.generated.options import OPTIONS
from mintmark.testing import TestingMintmark


class Starting(ClientTest):
    def test_exactly_one_of_store_and_app_is_required(self):
        for options in ({}, {"store": ":memory:", "app": "shop"}):
            with self.assertRaisesRegex(ValueError, r'Mintmark\(store=":memory:"\)'):
                Mintmark(**options)

    def test_missing_program_raises_with_advice(self):
        advice = "/nowhere/mintmark, which binary= names.*clients/shell/mintmark.*MINTMARK_BINARY.*PATH"
        with self.assertRaisesRegex(mintmark.BinaryNotFoundError, advice):
            Mintmark(store=":memory:", binary="/nowhere/mintmark")
        with mock.patch.dict(os.environ, MINTMARK_BINARY="/nowhere/else"):
            with self.assertRaisesRegex(FileNotFoundError, "/nowhere/else, which MINTMARK_BINARY names"):
                Mintmark(store=":memory:")
        with mock.patch.dict(os.environ, MINTMARK_BINARY="", PATH="/nowhere"):
            with self.assertRaisesRegex(mintmark.BinaryNotFoundError, "mintmark on the PATH"):
                Mintmark(store=":memory:")

    def test_program_is_found_on_the_path(self):
        os.symlink(os.environ["MINTMARK_BINARY"], self.path("mintmark"))
        with mock.patch.dict(os.environ, MINTMARK_BINARY="", PATH=self.folder):
            self.memory().system.ping()

    def test_program_in_the_wheel_precedes_the_path_and_follows_the_variable(self):
        bundled, variable = self.path("bundled"), os.environ["MINTMARK_BINARY"]
        os.symlink(variable, bundled)
        with mock.patch.object(_settings, "BUNDLED", bundled):
            self.assertEqual(_settings.find_binary(None), os.path.abspath(variable))
            with mock.patch.dict(os.environ, MINTMARK_BINARY="", PATH="/nowhere"):
                self.assertEqual(_settings.find_binary(None), bundled)
                self.assertEqual(_settings.find_binary("/bin/true"), "/bin/true")
                os.remove(bundled)
                with self.assertRaisesRegex(mintmark.BinaryNotFoundError, "mintmark on the PATH"):
                    _settings.find_binary(None)

    def test_error_for_a_program_that_cannot_run_names_it(self):
        with open(self.path("broken"), "w") as file:
            file.write("#!/nowhere/at/all\n")
        os.chmod(self.path("broken"), 0o755)
        with self.assertRaisesRegex(mintmark.BinaryNotFoundError, "broken cannot be run"):
            Mintmark(store=":memory:", binary=self.path("broken"))

    def test_program_without_a_method_of_this_client_is_too_old(self):
        m = self.stand_in("answer(error={'code': -32601, 'message': 'No.', 'data': {'type': 'methodNotFound', 'method': m['method']}})")
        with self.assertRaisesRegex(mintmark.BinaryTooOldError, "does not have the method system.ping. It is older than this client") as caught:
            m.system.ping()
        self.assertNotIsInstance(caught.exception, mintmark.APIError)
        with self.assertRaises(mintmark.MethodNotFoundError) as caught:
            m.call("no.such")
        self.assertNotIsInstance(caught.exception, mintmark.BinaryTooOldError)

    def test_testing_method_without_a_testing_store_raises_with_advice(self):
        with self.assertRaisesRegex(mintmark.MethodNotFoundError, "testing=True") as caught:
            self.memory(testing=False).call("test.clock")
        self.assertNotIsInstance(caught.exception, mintmark.BinaryTooOldError)

    def test_rejected_arguments_raise_with_status_64(self):
        m = self.memory(arguments=["--no-such-option"], stderr=None)
        with self.assertRaisesRegex(mintmark.ProcessEndedError, "status 64.*arguments are not valid.*--no-such-option") as caught:
            m.system.ping()
        self.assertEqual(caught.exception.exit_status, 64)

    def test_options_reach_the_process(self):
        m = self.memory(
            region="moon-1", account="123456789012", issuer="https://id.example", caller="developer", clock=1_700_000_000, migrate="auto",
            log_level="warning", sequential=True, drain_seconds=1, max_line_bytes=2_000_000, parent=os.getpid(), audit_issuance=True,
            arguments=["--log-level", "error"], environment={"MINTMARK_MASTER_KEY": "00" * 32})
        info = m.system.info()
        self.assertEqual((info.region, info.account, info.issuer, info.testing), ("moon-1", "123456789012", "https://id.example", True))

    def test_every_option_of_serve_is_an_argument(self):
        help = "".join(
            subprocess.run([os.environ["MINTMARK_BINARY"], *words], capture_output=True, text=True, check=True).stdout
            for words in (("serve", "--help"), ("help", "store"), ("help", "mail")))
        flags = set(re.findall(r"^  (?:-\w, )?--([a-z-]+)", help, re.M)) - {"help", "version"}
        self.assertGreater(len(flags), 15)
        names = {flag.lstrip("-") for flag, _ in OPTIONS.values()}
        self.assertEqual({name for name in OPTIONS if name not in Options.__annotations__}, {"store", "app"})
        # The client supports only line framing; core dumps are for debugging the program itself, and the console is for people.
        self.assertEqual(flags - names, {"framing", "allow-core-dumps", "quiet", "console", "write", "show-secrets"})

    def test_unknown_option_raises(self):
        with self.assertRaisesRegex(TypeError, "unknown option 'drain'. Did you mean drain_seconds"):
            Mintmark(store=":memory:", drain=1)
        with self.assertRaisesRegex(TypeError, "unknown option 'stroe'. Did you mean store"):
            Mintmark(stroe="shop.db")

    def test_value_of_switch_that_is_no_boolean_raises(self):
        with self.assertRaisesRegex(TypeError, "testing must be True or False, not 'no'"):
            Mintmark(store=":memory:", testing="no")

    def test_variables_that_name_a_store_do_not_reach_the_process(self):
        with mock.patch.dict(os.environ, MINTMARK_APP="other", MINTMARK_STORE=self.path("other.db")):
            self.memory().system.ping()
        self.assertFalse(os.path.exists(self.path("other.db")))

    def test_import_does_not_load_asyncio_and_production_clients_have_no_testing_methods(self):
        self.assertEqual(self.run_script("""
            import sys, mintmark
            print("asyncio" in sys.modules, "mintmark.testing" in sys.modules, mintmark.AsyncMintmark.__name__, "asyncio" in sys.modules)
        """).split(), ["False", "False", "AsyncMintmark", "True"])
        self.assertFalse(hasattr(self.file(), "test"))

    def test_configuration_document_is_applied(self):
        with open(self.path("shop.json"), "w") as file:
            file.write('{"pools": [{"name": "shop"}]}')
        m = self.memory(apply=self.path("shop.json"), audit_retention_days=7, db_connections=2, ca_file=self.path("shop.json"), proxy="http://proxy.example:1")
        self.assertEqual([pool.name for pool in m.pool.list().pools], ["shop"])

    def test_time_limit_must_be_positive(self):
        for timeout in (-1, 0, float("nan")):
            with self.assertRaisesRegex(ValueError, "positive number of seconds"):
                Mintmark(store=":memory:", timeout=timeout)
            with self.assertRaisesRegex(ValueError, "positive number of seconds"):
                self.memory().system.ping(timeout=timeout)

    def test_app_has_its_own_store(self):
        environment = {"XDG_DATA_HOME": self.folder, "HOME": self.folder}
        with Mintmark(app="shop", environment=environment, stderr=None) as m:
            pool = shop(m)
        with Mintmark(app="shop", environment=environment, stderr=None) as m:
            self.assertEqual(m.pool.get(pool_id=pool.pool_id), pool)


class Ending(ClientTest):
    def test_close_ends_the_process_and_later_calls_are_rejected(self):
        m = self.memory()
        m.system.ping()
        number = pid(m)
        m.close()
        with self.assertRaises(ProcessLookupError):
            os.kill(number, 0)
        with self.assertRaises(mintmark.ClientClosedError):
            m.system.ping()
        m.close()

    def test_close_finishes_calls_in_flight(self):
        m = self.stand_in(ANSWERS_AT_THE_END)
        with ThreadPoolExecutor(1) as threads:
            call = threads.submit(m.system.ping)
            self.eventually(self.seen, "the request arrives")
            m.close()
            self.assertEqual(call.result().to_dict(), {"now": 7})

    def test_close_kills_a_process_that_does_not_exit(self):
        m = self.memory()
        m.system.ping()
        os.kill(pid(m), signal.SIGSTOP)
        with mock.patch("mintmark._process.GRACE", 0.2):
            m.close(grace=0.2)
        with self.assertRaises(ProcessLookupError):
            os.kill(pid(m), 0)

    def test_program_of_a_wrapper_ends_with_it(self):
        with open(self.path("wrapper"), "w") as file:
            file.write("#!/bin/sh\nsleep 600\nexit 0\n")
        os.chmod(self.path("wrapper"), 0o755)
        before, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
        m = self.memory(binary=self.path("wrapper"), stderr=None, timeout=None)
        with ThreadPoolExecutor(1) as pool:
            call = pool.submit(m.system.ping)
            m.close(grace=0.1)
            self.assertIsInstance(call.exception(10), mintmark.MintmarkError)
        self.eventually(lambda: threading.active_count() <= threads, "threads are left")
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def test_close_leaves_no_descriptors_and_threads_open(self):
        before, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
        for _ in range(5):
            with TestingMintmark() as m:
                m.system.ping()
        self.eventually(lambda: threading.active_count() <= threads, "threads are left")
        self.assertEqual(len(os.listdir("/proc/self/fd")), before)

    def test_process_of_a_garbage_collected_client_ends(self):
        number = int(self.run_script("""
            import gc, os, time, warnings
            from mintmark.testing import TestingMintmark
            warnings.simplefilter("error")
            m = TestingMintmark()
            m.system.ping()
            number = m._process._process.pid
            del m
            gc.collect()
            for _ in range(500):
                if not os.path.exists(f"/proc/{number}"): break
                time.sleep(0.01)
            else:
                raise SystemExit("it is still there")
            print(number)
        """))
        self.assertGreater(number, 0)

    def test_process_ends_with_a_program_that_does_not_close_its_client(self):
        # If the end of the program waited for the process, it would exceed the time limit of the script.
        number = int(self.run_script("""
            import mintmark._process
            from mintmark.testing import TestingMintmark
            mintmark._process.GRACE = 600
            m = TestingMintmark()
            m.system.ping()
            print(m._process._process.pid)
        """))
        self.eventually(lambda: not os.path.exists(f"/proc/{number}"), "the process is left")

    def test_program_can_end_while_its_process_is_stopped(self):
        out = self.run_script("""
            import os, signal, threading
            from mintmark.testing import TestingMintmark
            m = TestingMintmark()
            m.system.ping()
            os.kill(m._process._process.pid, signal.SIGSTOP)
            threading.Thread(target=m.system.ping, daemon=True).start()
            print(m._process._process.pid)
        """)
        os.kill(int(out), signal.SIGKILL)


class Dying(ClientTest):
    def test_call_of_a_killed_process_reports_signal_and_last_line(self):
        m = self.stand_in("print('Error: the disk is gone', file=sys.stderr, flush=True); os.kill(os.getpid(), 9)")
        with self.assertRaisesRegex(mintmark.ProcessEndedError, "signal 9.*the disk is gone") as caught:
            m.system.ping()
        self.assertEqual((caught.exception.exit_status, caught.exception.last_line), (-9, "Error: the disk is gone"))
        self.assertIsInstance(caught.exception, ConnectionError)

    def test_all_calls_in_flight_fail_when_the_process_ends(self):
        m = self.memory()
        m.system.ping()
        os.kill(pid(m), signal.SIGSTOP)
        with ThreadPoolExecutor(8) as threads:
            calls = [threads.submit(m.system.ping) for _ in range(8)]
            time.sleep(0.2)
            os.kill(pid(m), signal.SIGKILL)
            for each in calls:
                self.assertIsInstance(each.exception(60), mintmark.ProcessEndedError)

    def test_next_call_on_a_store_file_starts_a_new_process(self):
        m = self.file()
        pool = shop(m)
        first = pid(m)
        for _ in range(3):
            os.kill(pid(m), signal.SIGKILL)
            m._process.wait_for_end()
            self.assertEqual(m.pool.get(pool_id=pool.pool_id), pool)
        self.assertNotEqual(pid(m), first)

    def test_store_in_memory_is_not_replaced_after_its_process_ends(self):
        m = self.memory()
        m.system.ping()
        os.kill(pid(m), signal.SIGKILL)
        m._process.wait_for_end()
        with self.assertRaisesRegex(mintmark.ProcessEndedError, "signal 9.*in memory is lost. Create a new TestingMintmark"):
            m.system.ping()

    def test_restart_can_be_enabled_and_disabled(self):
        asked, forbidden = self.memory(restart=True), self.file(restart=False)
        for m in (asked, forbidden):
            m.system.ping()
            os.kill(pid(m), signal.SIGKILL)
            m._process.wait_for_end()
        asked.system.ping()
        with self.assertRaisesRegex(mintmark.ProcessEndedError, "restart=False"):
            forbidden.system.ping()

    def test_relative_store_path_is_kept_after_a_restart_in_another_folder(self):
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(self.folder)
        m = self.file(store="shop.db")
        pool = shop(m)
        os.chdir("/")
        os.kill(pid(m), signal.SIGKILL)
        m._process.wait_for_end()
        self.assertEqual(m.pool.get(pool_id=pool.pool_id), pool)

    def test_process_has_its_own_process_group(self):
        m = self.memory()
        m.system.ping()
        self.assertNotEqual(os.getpgid(pid(m)), os.getpgid(0))


class Forking(ClientTest):
    def test_forked_child_starts_its_own_process_and_releases_the_pipes_of_the_parent(self):
        out = self.run_script("""
            import os, sys, time, mintmark, warnings
            from mintmark.testing import TestingMintmark
            warnings.simplefilter("ignore")
            m = mintmark.Mintmark(store=sys.argv[1], timeout=20, stderr=None)
            memory = TestingMintmark()
            pool = m.pool.create(name="shop")
            ready, go = os.pipe(), os.pipe()
            child = os.fork()
            if child == 0:
                assert m.pool.get(pool_id=pool.pool_id) == pool
                try:
                    memory.system.ping()
                except mintmark.ProcessEndedError as error:
                    assert "forked" in str(error)
                else:
                    os._exit(3)
                os.write(ready[1], b"x")
                os.read(go[0], 1)
                m.close()
                os._exit(0)
            os.read(ready[0], 1)
            assert m.pool.get(pool_id=pool.pool_id) == pool
            memory.system.ping()
            # If the child held the pipe open, the script would exceed its time limit.
            m.close(grace=600)
            memory.close(grace=600)
            os.write(go[1], b"x")
            print(os.waitpid(child, 0)[1])
        """, self.path("shop.db"))
        self.assertEqual(out.strip(), "0")


class Answers(ClientTest):
    def test_responses_before_invalid_output_are_delivered(self):
        m = self.memory(stderr=None, binary=self.program("""
            if m["method"] == "system.ping":
                first = m["id"]
                continue
            lines = [json.dumps({"jsonrpc": "2.0", "id": first, "result": {"now": 7}}), "garbage", ""]
            os.write(1, "\\n".join(lines).encode())
        """))
        with ThreadPoolExecutor(1) as threads:
            call = threads.submit(m.system.ping)
            self.eventually(lambda: "system.ping" in self.seen(), "it was sent")
            with self.assertRaisesRegex(mintmark.MintmarkError, "garbage"):
                m.pool.list()
            self.assertEqual(call.result(10).to_dict(), {"now": 7})

    def test_progress_is_delivered_only_within_the_time_limit(self):
        m = self.memory(stderr=None, binary=self.program("""
            for number in range(100):
                send({"jsonrpc": "2.0", "method": "$/progress", "params": {"token": m["id"], "value": number}})
        """))
        told = []

        def slow(value):
            told.append(value)
            time.sleep(0.2)
        with self.assertRaises(mintmark.CallTimeoutError):
            m.call("pool.list", timeout=0.5, progress=slow)
        self.assertLess(len(told), 10)


class Log(ClientTest):
    TALKS = "print('a word', file=sys.stderr, flush=True); answer(result={'now': 1})"

    def test_log_goes_to_a_file(self):
        for kind in ("w", "wb"):
            with tempfile.NamedTemporaryFile(kind) as file:
                m = self.memory(binary=self.program(self.TALKS), stderr=file)
                m.system.ping()
                m.close()
                with open(file.name) as written:
                    self.assertEqual(written.read(), "a word\n")

    def test_log_goes_to_standard_error_or_is_discarded(self):
        for stderr, wanted in (("inherit", "a word\n"), (None, "")):
            with mock.patch("sys.stderr", io.StringIO()) as heard:
                m = self.memory(binary=self.program(self.TALKS), stderr=stderr)
                m.system.ping()
                m.close()
                self.assertEqual(heard.getvalue(), wanted)

    def test_unknown_log_destination_raises(self):
        with self.assertRaises(ValueError):
            Mintmark(store=":memory:", stderr="log.txt")
