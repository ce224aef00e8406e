"""`mintmark signup`, `whoami`, `graph`, `inspect` and `mfa enroll`, as a user runs them."""

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios
import time

import numpy
import pyotp

from endtoend import EndToEnd, make_pool, mint
from sidecar import Sidecar, binary, clean_environment, run
from test_qr_codes import of_terminal, read

PASSWORD = "correct horse 9 Battery"


class People(EndToEnd):
    stores = ("sqlite",)

    def setUp(self):
        super().setUp()
        self.store = self.path("shop.db")
        self.sidecar = Sidecar(store=self.store, testing=True)
        self.addCleanup(self.sidecar.close)
        self.sidecar.call("tenant.create", {
            "tenantId": "shop", "localAccountMethod": "emailPassword", "mfa": "optional",
            "attributes": [{"name": "size", "type": "integer", "required": True}, {"name": "city", "type": "string"}]})
        self.environment = {"MINTMARK_STORE": self.store, "MINTMARK_TESTING": "true"}

    def mintmark(self, *arguments, input=""):
        return run(*arguments, home=self.folder, input=input.encode(), environment=self.environment)

    def prints(self, *arguments, **more):
        done = self.mintmark(*arguments, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def refused_with(self, status, text, done):
        self.assertEqual((done.returncode, done.stdout), (status, b""), done.stderr)
        self.assertRegex(done.stderr.decode(), text)

    def sign_up(self, *answers, email="alice@example.com", options=()):
        """Runs `mintmark signup`. Types the code that was sent, and then the answers."""
        process = subprocess.Popen(
            [binary(), "signup", "--tenant", "shop", "--email", email, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=clean_environment(self.folder, self.environment))
        deadline = time.monotonic() + 60
        while not (sent := self.sidecar.call("test.outbox", {"to": email})["messages"]):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        out, err = process.communicate("\n".join([sent[-1]["code"], *answers, ""]), timeout=60)
        return process.returncode, out, err

    def signed_up(self):
        status, out, err = self.sign_up(PASSWORD, PASSWORD, options=("--attribute", "size=42"))
        self.assertEqual(status, 0, err)

    # MARK: signup and whoami

    def test_signup_asks_for_what_the_tenant_demands(self):
        status, out, err = self.sign_up(PASSWORD, "another one", "short", "short", PASSWORD, PASSWORD, "large", "42")
        self.assertEqual(status, 0, err)
        self.assertIn("The two passwords differ.", err)
        self.assertIn("size:", err)
        self.assertIn("Signed up and signed in as alice@example.com.", out)
        shown = self.prints("whoami")
        self.assertRegex(shown, r"\Aalice@example\.com, account \S+ in tenant shop\nsigns in with password alice@example\.com\n")
        self.assertRegex(shown, r"session \S+\ntoken ends \d{4}-\d\d-\d\d \d\d:\d\d:\d\d, in \d+ minutes\n\Z")
        answer = json.loads(self.prints("whoami", "--json"))
        self.assertEqual((answer["account"]["attributes"], answer["signInMethods"][0]["providerId"]), ({"size": 42}, "password"))
        self.assertEqual(answer["sessionId"], self.sidecar.call("session.list", {"accountId": answer["account"]["accountId"]})["sessions"][0]["sessionId"])

    def test_commands_without_session_fail(self):
        self.refused_with(3, "No user is signed in", self.mintmark("whoami"))
        self.refused_with(3, "No user is signed in", self.mintmark("graph"))
        self.environment["MINTMARK_STORE"] = self.path("nowhere.db")
        self.refused_with(3, "does not exist", self.mintmark("whoami"))

    def test_signup_refuses_bad_attributes(self):
        for options in (("--attribute", "size"), ("--attribute", "=4"), ("--attribute", "a=1", "--attribute", "a=2")):
            self.refused_with(64, "--attribute", self.mintmark("signup", "--email", "a@example.com", *options))
        self.refused_with(1, "invalidUsername", self.mintmark("signup", "--email", "no address"))
        self.refused_with(64, "--email ADDRESS", self.mintmark("signup"))

    def test_login_of_unknown_address_names_signup(self):
        done = self.mintmark("login", "--tenant", "shop", "--email", "bob@example.com")
        self.refused_with(1, r"mintmark signup --email bob@example\.com", done)
        self.assertNotIn(b"signUp.start", done.stderr)

    def test_token_beyond_lifetime(self):
        self.signed_up()
        self.refused_with(1, "tokens of this tenant live 3600 s", self.mintmark("token", "--min-valid", "7200"))

    # MARK: graph

    def test_graph_of_account(self):
        self.signed_up()
        tree = self.prints("graph", "--format", "tree")
        self.assertRegex(tree, r"\Aaccount \S+\n├─ leadsTo ← password alice@example\.com\n└─ isSignedInTo ← session \S+")
        account = tree.split()[1]
        for named in (("alice@example.com", "--tenant", "shop"), (account,)):
            self.assertEqual(self.prints("graph", *named, "--format", "tree"), tree)
        self.assertEqual(json.loads(self.prints("graph"))["nodes"][0]["accountId"], account)
        self.assertTrue(self.prints("graph", "--format", "mermaid").startswith("flowchart LR\n"))
        self.assertTrue(self.prints("graph", "--format", "dot").startswith("digraph"))
        self.assertTrue(self.prints("graph", "--format", "svg").startswith("<svg"))
        self.refused_with(64, "--format must be one of tree, mermaid, dot, svg", self.mintmark("graph", "--format", "png"))
        self.refused_with(1, "accountNotFound|userNotFound", self.mintmark("graph", "nobody@example.com"))

    # MARK: inspect

    def test_inspect_valid_tokens(self):
        self.signed_up()
        token = self.prints("token")
        shown = self.prints("inspect", "-", input=token)
        self.assertRegex(shown, r"\Aid token\n")
        self.assertRegex(shown, r"exp +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d, in \d+ minutes\n")
        self.assertRegex(shown, r"key kid \S+, tenant shop\nvalid\n\Z")
        self.assertNotIn(token.strip(), shown)
        self.assertRegex(self.prints("inspect", self.prints("token", "--access").strip()), r"\Aaccess token\n")
        answer = json.loads(self.prints("inspect", "--json", "-", input=token))
        self.assertEqual((answer["verdict"], answer["claims"]["aud"], answer["header"]["alg"]), ("valid", "shop", "ES256"))
        pool = make_pool(self.sidecar)["poolId"]
        self.assertRegex(self.prints("inspect", mint(self.sidecar, pool)["token"]), rf"\Apool token\n(.*\n)*key kid \S+, pool {re.escape(pool)}\nvalid\n")

    def test_inspect_names_every_reason(self):
        self.signed_up()
        token = self.prints("token").strip()
        head, body, signature = token.split(".")
        altered = f"{head}.{body}.{'A' * len(signature)}"
        done = self.mintmark("inspect", altered)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout.decode(), "refused\n  tokenSignatureInvalid: ")
        self.sidecar.call("test.clock", {"advanceSeconds": 7200})
        done = self.mintmark("inspect", altered)
        self.assertEqual(re.findall(r"^  (token\w+):", done.stdout.decode(), re.M), ["tokenSignatureInvalid", "tokenExpired"])
        done = self.mintmark("inspect", token)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout.decode(), "tokenExpired: The token expired")

    def test_inspect_offline_states_missing_check_first(self):
        self.signed_up()
        token = self.prints("token").strip()
        self.assertTrue(self.prints("inspect", "--offline", token).startswith("The signature was not checked: no store was asked.\n"))
        self.environment["MINTMARK_STORE"] = self.path("nowhere.db")
        shown = self.prints("inspect", token)
        self.assertRegex(shown, r"\AThe signature was not checked: the store \S+ does not exist\.\n")
        self.assertTrue(shown.endswith("not checked\n"))

    def test_inspect_tokens_that_only_the_store_reads(self):
        started = self.sidecar.call("signUp.start", {"tenantId": "shop", "username": "bob@example.com"})
        self.assertRegex(self.prints("inspect", started["continuationToken"]), r"\Acontinuation token\nflow signUp\nexpires .*\nvalid\n")
        account = self.sidecar.call("account.create", {
            "tenantId": "shop", "username": "carol@example.com", "password": PASSWORD, "emailVerified": True, "attributes": {"size": 1}})
        signed_in = self.sidecar.call("signIn.withPassword", {"tenantId": "shop", "username": "carol@example.com", "password": PASSWORD})
        shown = self.prints("inspect", signed_in["refreshToken"])
        self.assertRegex(shown, rf"\Arefresh token\nsession \S+\naccount {account['accountId']}\nexpires .*\nvalid\n")
        self.sidecar.call("session.refresh", {"refreshToken": signed_in["refreshToken"]})
        done = self.mintmark("inspect", signed_in["refreshToken"])
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"refreshTokenReused", done.stdout)
        pool = make_pool(self.sidecar)["poolId"]
        self.sidecar.call("role.put", {"name": "reader", "poolId": pool})
        arn = self.sidecar.call("role.get", {"name": "reader"})["roleArn"]
        self.sidecar.call("pool.setRoles", {"poolId": pool, "roles": {"authenticated": arn}})
        credentials = self.sidecar.call("credentials.get", {"token": mint(self.sidecar, pool)["token"]})["credentials"]
        self.assertRegex(self.prints("inspect", credentials["sessionToken"]), r"\Asession token of credentials\n(.*\n)*valid\n")

    def test_inspect_refuses_text_without_token(self):
        for text, reason in (
                ("a.b", "two parts instead of three"), ("a.b.c.d.e.f.g", "7 parts"), ("!.b.c", "header part is not base64url"),
                ("e30.bm90IGpzb24.AA", "claims part is no JSON object"), ("secret-text", "no such token")):
            done = self.mintmark("inspect", text)
            self.refused_with(64, reason, done)
            self.assertNotIn(text, done.stderr.decode())
        self.refused_with(64, "only a store", self.mintmark("inspect", "--offline", "secret-text"))
        self.refused_with(64, "mintmark inspect --help", self.mintmark("inspect"))

    # MARK: Second factors

    def terminal(self, *arguments, columns):
        leader, follower = pty.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 60, columns, 0, 0))
        process = subprocess.Popen(
            [binary(), *arguments], stdin=follower, stdout=follower, stderr=follower,
            env={**clean_environment(self.folder, self.environment), "TERM": "xterm-256color"}, start_new_session=True)
        os.close(follower)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return leader, process

    def until(self, leader, mark):
        text = b""
        while mark not in text:
            text += os.read(leader, 65_536)
        return text.decode()

    def enroll(self, columns):
        leader, process = self.terminal("mfa", "enroll", columns=columns)
        text = self.until(leader, b"Code of your authenticator app: ").replace("\r\n", "\n")
        secret = re.search(r"^  ((?:[A-Z2-7]{4} )+[A-Z2-7]+)$", text, re.M)[1].replace(" ", "")
        os.write(leader, (pyotp.TOTP(secret).at(self.sidecar.call("system.ping")["now"]) + "\n").encode())
        self.until(leader, b"second factor of your account")
        self.assertEqual(process.wait(60), 0)
        os.close(leader)
        return text, secret

    def test_enrollment_shows_code_on_wide_terminal(self):
        self.signed_up()
        text, secret = self.enroll(120)
        lines = [line for line in text.split("\n") if line.startswith("\x1b[30;107m")]
        modules = of_terminal("\n".join(lines))[:len(lines[0]) - len("\x1b[30;107m\x1b[0m")]
        self.assertIn(f"secret={secret}", read(numpy.array(modules))[0])

    def test_enrollment_on_narrow_terminal_shows_secret_only(self):
        self.signed_up()
        text, _ = self.enroll(40)
        self.assertNotIn("█", text)

    def test_login_enrolls_where_the_tenant_requires_it(self):
        self.signed_up()
        self.mintmark("logout")
        self.sidecar.call("tenant.update", {"tenantId": "shop", "mfa": "required"})
        leader, process = self.terminal("login", "--tenant", "shop", "--email", "alice@example.com", columns=120)
        self.until(leader, b"Password of alice@example.com: ")
        os.write(leader, (PASSWORD + "\n").encode())
        text = self.until(leader, b"Code of your authenticator app: ").replace("\r\n", "\n")
        secret = re.search(r"^  ((?:[A-Z2-7]{4} )+[A-Z2-7]+)$", text, re.M)[1].replace(" ", "")
        os.write(leader, (pyotp.TOTP(secret).at(self.sidecar.call("system.ping")["now"]) + "\n").encode())
        self.until(leader, b"Signed in as alice@example.com")
        self.assertEqual(process.wait(60), 0)
        os.close(leader)
        self.assertIn("alice@example.com", self.prints("whoami"))
