"""Shared by the end-to-end tests of messages: mail servers and webhook receivers that end with the test."""

import json
import os
import re
import subprocess
import sys
import time

from endtoend import EndToEnd
from sidecar import ROOT

ALICE = "alice@example.com"
USER, PASSWORD = "sender", "p\u00e4ss word"
SECRET = "first secret of a webhook"


class Delivery(EndToEnd):
    def started(self, program):
        """Starts a server from Tests/Interop that ends with the test. Returns the process and the first line that it prints."""
        server = subprocess.Popen(
            [sys.executable, os.path.join(ROOT, "Tests", "Interop", program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)

        def end():
            server.stdin.close()
            server.wait(10)
            server.stdout.close()
        self.addCleanup(end)
        return server, json.loads(server.stdout.readline())

    def start(self, sidecar, tenant="default", username=ALICE):
        return sidecar.call("signUp.start", {"tenantId": tenant, "username": username})["continuationToken"]

    def finish(self, sidecar, token, code):
        self.assertEqual(sidecar.call("signUp.submitCode", {"continuationToken": token, "code": code})["state"], "completed")


class MailServer(Delivery):
    def setUp(self):
        super().setUp()
        self.server, told = self.started("mailserver.py")
        self.ports, self.authority, self.underway = told["ports"], told["caFile"], {}

    def ask(self, **question):
        self.server.stdin.write(json.dumps(question) + "\n")
        self.server.stdin.flush()
        return json.loads(self.server.stdout.readline())

    def take(self, address=ALICE):
        """Returns the messages for an address, parsed by Python's email package with its strict policy."""
        return self.ask(take=address)

    def arrived(self, address=ALICE):
        """Waits up to 20 seconds for messages that are sent after the response, and returns them."""
        deadline = time.monotonic() + 60
        while not (found := self.take(address)):
            self.assertLess(time.monotonic(), deadline, f"no message came for {address}")
            time.sleep(0.02)
        return found

    def wait_until_underway(self, address):
        """Waits until the server has begun to receive one more message for a slow address than at the last call."""
        known = self.underway.get(address, 0)
        self.underway[address] = self.ask(underway=address, known=known)
        self.assertGreater(self.underway[address], known, f"no message came for {address}")

    def smtp(self, name="login", **more):
        return {"host": "localhost", "port": self.ports[name], "user": USER, "password": PASSWORD, "from": "accounts@shop.example"} | more

    def process(self, port, password=PASSWORD, **more):
        return self.spawn(**more, environment={
            "MINTMARK_SMTP_URL": f"smtp://localhost:{port}", "MINTMARK_SMTP_USER": USER, "MINTMARK_SMTP_PASSWORD": password,
            "MINTMARK_MAIL_FROM": "accounts@shop.example", "MINTMARK_CA_FILE": self.authority})

    def code(self, mail):
        return re.search(r"^\d{8}$", mail["text"], re.M)[0]
