"""Credentials of tools are renewed ahead of their expiry, from many processes at once with one request, and outlive failures of AWS STS."""

import concurrent.futures
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

from test_tool_credentials import ToolCredentials
from websites import Website
from workloads import github

ROLE = "arn:aws:iam::123456789012:role/deploy"
# A program that runs for longer than its credentials are fresh.
PROGRAM = """
import boto3, sys, time
held = boto3.Session().get_credentials()
for line in sys.stdin:
    print(held.get_frozen_credentials().access_key, flush=True)
"""


class Service(Website):
    """AWS STS. It counts its answers and numbers the keys, which are valid for `seconds`."""

    def __init__(self, seconds):
        super().__init__()
        self.seconds, self.exchanges, self.error, self.delay = seconds, 0, None, 0.3
        self.pages["/"] = self.answer

    def answer(self, request):
        request.rfile.read(int(request.headers["Content-Length"]))
        time.sleep(self.delay)   # so that other processes meet the lease
        with self.changed:
            self.exchanges += 1
            if self.error:
                status, code = self.error
                return status, {}, f"<ErrorResponse><Error><Code>{code}</Code><Message>Not now</Message></Error></ErrorResponse>".encode()
            until = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + self.seconds))
            return 200, {"Content-Type": "text/xml"}, (
                f"<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIA{self.exchanges}</AccessKeyId>"
                f"<SecretAccessKey>s</SecretAccessKey><SessionToken>t{self.exchanges}</SessionToken><Expiration>{until}</Expiration>"
                "</Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>").encode()


class Renewal(ToolCredentials):
    def setUp(self):
        super().setUp()
        self.hub = github()
        self.token = self.token_file(self.hub.token())

    def service(self, seconds=3600):
        site = Service(seconds)
        self.addCleanup(site.close)
        return site, ("--role", ROLE, "--endpoint", site.origin, "--token-file", self.token)

    def at_once(self, options, count=8):
        with concurrent.futures.ThreadPoolExecutor(count) as threads:
            return {each["AccessKeyId"] for each in threads.map(lambda _: self.printed(*options), range(count))}

    def change(self, **members):
        """Changes the cached credentials, as if time had passed."""
        for name, value in self.rows("SELECT name, value FROM store_fact"):
            if name.startswith("local.credentials/"):
                with contextlib.closing(sqlite3.connect(self.store, timeout=60)) as database, database:
                    database.execute("UPDATE store_fact SET value = ? WHERE name = ?", (json.dumps({**json.loads(value), **members}), name))

    def expire(self, seconds=200):
        self.change(expiresAt=int(time.time()) + seconds, pausedUntil=0)

    def test_many_processes_renew_with_one_request_to_the_endpoint(self):
        site, options = self.service()
        self.assertEqual(self.at_once(options), {"ASIA1"})
        self.expire()
        # While one process renews, the others use the old credentials.
        self.assertLessEqual(self.at_once(options), {"ASIA1", "ASIA2"})
        self.assertEqual(self.at_once(options), {"ASIA2"})
        self.assertEqual(site.exchanges, 2)

    def test_process_that_does_not_renew_is_not_delayed(self):
        site, options = self.service()
        self.printed(*options)
        self.expire()
        site.pages["/"] = held = site.held(site.answer)
        with concurrent.futures.ThreadPoolExecutor(1) as threads:
            renewing = threads.submit(self.printed, *options)
            try:
                site.wait_until_asked("/", 2)
                self.assertEqual(self.printed(*options)["AccessKeyId"], "ASIA1")
                self.assertFalse(renewing.done())
            finally:
                held.release()
            self.assertEqual(renewing.result()["AccessKeyId"], "ASIA2")

    def test_credentials_with_a_short_lifetime_are_shared_too(self):
        site, options = self.service(120)
        self.assertEqual(self.at_once(options), {"ASIA1"})
        self.assertEqual(site.exchanges, 1)
        self.expire(60)
        self.assertEqual(self.printed(*options)["AccessKeyId"], "ASIA2")
        self.change(expiresAt=int(time.time()) + 14)   # too short, also during the pause
        self.assertEqual(self.printed(*options)["AccessKeyId"], "ASIA3")

    def test_old_credentials_are_used_while_the_endpoint_is_down(self):
        site, options = self.service()
        site.delay = 0
        self.printed(*options)
        for error in ((503, "ServiceUnavailable"), (400, "IDPCommunicationError")):
            self.expire()
            site.error, before = error, site.exchanges
            self.assertEqual(self.printed(*options)["AccessKeyId"], "ASIA1")
            self.assertEqual(site.exchanges, before + 3)   # three attempts, and then a pause
            self.assertEqual(self.at_once(options, 4), {"ASIA1"})
            self.assertEqual(site.exchanges, before + 3)
        self.expire(14)
        self.failed(self.mintmark("aws-credentials", *options), 1, "IDPCommunicationError")
        site.error = None
        self.assertEqual(self.printed(*options)["AccessKeyId"], f"ASIA{site.exchanges}")

    def test_refusal_ends_the_old_credentials(self):
        site, options = self.service()
        self.printed(*options)
        self.expire()
        site.error = (403, "AccessDenied")
        for _ in range(2):
            self.failed(self.mintmark("aws-credentials", *options), 1, "AccessDenied")

    def test_long_commands_share_their_renewals(self):
        """Four commands run for longer than their credentials are fresh. boto3 asks the endpoint of each one again."""
        site, options = self.service(590)
        running = [self.started("exec", *options, "--refresh", "--", sys.executable, "-c", PROGRAM, lines=0, stdin=subprocess.PIPE)[0] for _ in range(4)]
        self.assertEqual(self.told(running), {"ASIA1"})
        self.expire()
        self.assertLessEqual(self.told(running), {"ASIA1", "ASIA2"})
        self.assertEqual(self.told(running), {"ASIA2"})
        self.assertEqual(site.exchanges, 2)
        for each in running:
            each.stdin.close()
            self.assertEqual((each.wait(timeout=30), each.stderr.read()), (0, ""))

    def told(self, running):
        for each in running:
            each.stdin.write("go\n")
            each.stdin.flush()
        return {each.stdout.readline().strip() for each in running}


class Watching(ToolCredentials):
    """`azure-token-file --watch`, from many processes with the session of one user."""

    def read(self, path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    def test_many_watchers_of_one_session_keep_it_alive(self):
        self.sidecar.call("tenant.update", {"tenantId": "default", "tokens": {"idTokenSeconds": 60}})
        account = self.sign_in()
        paths = [self.path(f"azure{number}") for number in range(6)]
        watchers = [self.started("azure-token-file", path, "--watch", lines=0)[0] for path in paths]
        until = time.monotonic() + 120
        while not all(os.path.exists(path) for path in paths) and time.monotonic() < until:
            time.sleep(0.1)
        first = {path: self.read(path) for path in paths}
        while any(self.read(path) == first[path] for path in paths) and time.monotonic() < until:
            time.sleep(0.1)
        for path in paths:
            self.assertNotEqual(self.read(path), first[path])
            self.sidecar.call("token.verify", {"token": self.read(path), "tenantId": "default", "checkRevoked": True})
        for each in watchers:
            each.send_signal(signal.SIGTERM)
            self.assertEqual((each.wait(timeout=30), each.stderr.read()), (0, ""))
        self.assertEqual(len(self.sidecar.call("session.list", {"accountId": account})["sessions"]), 1)
