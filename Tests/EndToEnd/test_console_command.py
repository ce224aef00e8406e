"""The command `mintmark console` and its options in `serve`."""

import os
import select
import signal
import socket
import subprocess

from endtoend import EndToEnd, only
from sidecar import Sidecar, binary, clean_environment, run
from test_console import until
from webconsole import Console


@only("sqlite")
class TheCommand(EndToEnd):
    def start(self, *options, store="shop.db"):
        process = subprocess.Popen(
            [binary(), "console", "--store", self.path(store), *options], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=clean_environment(self.folder, {"DISPLAY": None, "BROWSER": "false"}))
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        return process

    def url(self, process):
        self.assertTrue(select.select([process.stdout], [], [], 20)[0])
        return process.stdout.readline().decode().strip()

    def test_console_prints_one_url_and_ends_with_a_signal(self):
        with Sidecar(store=self.path("shop.db")) as sidecar:
            sidecar.call("tenant.create", {"tenantId": "shop", "name": "Shop"})
        process = self.start()
        console = Console(self.url(process))
        console.enter()
        self.assertIn("read-only", console.get("/tenants/shop").words)
        self.assertIn("keeps no messages", console.get("/outbox").words)
        self.assertIn("--trace-file", console.get("/requests").words)
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=30)
        self.assertEqual((process.returncode, out), (0, b""))

    def test_console_follows_the_trace_file_of_another_process(self):
        trace = self.path("trace.jsonl")
        sidecar = Sidecar("--trace-file", trace, store=self.path("shop.db"))
        self.addCleanup(sidecar.close)
        sidecar.call("tenant.list", {}, trace="first")  # creates the store
        console = Console(self.url(self.start("--trace-file", trace)))
        console.enter()
        until(lambda: "first" in console.get("/requests").words)
        sidecar.call("system.ping", {}, trace="second")
        until(lambda: "second" in console.get("/requests").words)

    def test_readable_store_is_a_warning(self):
        run("call", "--store", self.path("shop.db"), "tenant.list")
        os.chmod(self.path("shop.db"), 0o644)
        console = Console(self.url(self.start()))
        console.enter()
        until(lambda: "can be read by others" in console.get("/").words)

    def test_wrong_use_is_refused(self):
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        port = str(taken.getsockname()[1])
        run("call", "--store", self.path("shop.db"), "tenant.list")
        for code, words, *arguments in (
                (74, port, "console", "--store", self.path("shop.db"), "--port", port),
                (64, "between 0 and 65535", "console", "--store", self.path("shop.db"), "--port", "65536"),
                (64, "serve --console", "console", "--store", ":memory:"),
                (2, "", "console", "--store", self.path("missing.db")),
                (64, "add --console", "serve", "--store", ":memory:", "--write"),
                (64, "exclude each other", "serve", "--store", ":memory:", "--console", "--caller", "public"),
                (74, port, "serve", "--store", ":memory:", "--console", port)):
            ended = run(*arguments)
            self.assertEqual(ended.returncode, code, (arguments, ended.stderr))
            self.assertIn(words, ended.stderr.decode())
        self.assertFalse(os.path.exists(self.path("missing.db")))

    def test_enter_in_the_terminal_prints_another_url(self):
        run("call", "--store", self.path("shop.db"), "tenant.list")
        leader, follower = os.openpty()
        self.addCleanup(os.close, leader)
        process = subprocess.Popen(
            [binary(), "console", "--no-browser", "--store", self.path("shop.db")], stdin=follower, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=clean_environment(self.folder))
        os.close(follower)
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        first = self.url(process)
        os.write(leader, b"\n")
        second = self.url(process)
        self.assertNotEqual(first, second)
        for url in (first, second):
            self.assertEqual(Console(url).enter().status, 303)
