"""Sign-up, sign-in and password reset with concurrent requests, killed processes and misplaced tokens."""

import email
import email.policy
import re
import signal
import socketserver
import threading

from endtoend import EndToEnd
from sidecar import RpcError

PASSWORD = "correct Horse 9"


class People(EndToEnd):
    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn(testing=True, store=self.path("people.db"))

    def call(self, method, **params):
        return self.sidecar.call(method, params)

    def code(self, address, after=0):
        """Returns the code of the last message to an address."""
        messages = self.call("test.outbox", to=address, after=after, waitSeconds=60)["messages"]
        return [each["code"] for each in messages if "code" in each][-1]

    def completed(self, address, **more):
        """Returns the continuation token of a completed sign-up."""
        step = self.call("signUp.start", username=address, **more)
        return self.call("signUp.submitCode", continuationToken=step["continuationToken"], code=self.code(address))["continuationToken"]

    def outcome(self, method, params):
        try:
            return self.sidecar.call(method, params)["state"]
        except RpcError as error:
            return error.type

    def together(self, method, many):
        """Sends the requests at once. Returns the state or the error type of each, and the results."""
        answers = []
        for number in [self.sidecar.send(method, params) for params in many]:
            try:
                answers.append(self.sidecar.answer(number))
            except RpcError as error:
                answers.append({"state": error.type})
        return [answer.get("state") for answer in answers], answers

    def test_concurrent_sign_ups_with_one_address_create_one_account(self):
        self.call("tenant.update", tenantId="default", codes={"sendsPerAddress": 100})
        flows = []
        for number in range(8):
            step = self.call("signUp.start", username="alice@example.com", attributes={"city": str(number)})
            flows.append((step["continuationToken"], self.code("alice@example.com")))
        states, _ = self.together("signUp.submitCode", [{"continuationToken": token, "code": code} for token, code in flows])
        self.assertEqual(sorted(states), ["completed"] + ["userAlreadyExists"] * 7)
        self.assertEqual(len(self.call("account.list")["accounts"]), 1)

    def test_concurrent_identical_starts_send_one_message(self):
        _, answers = self.together("signUp.start", [{"username": "alice@example.com"}] * 8)
        self.assertEqual({str(answer) for answer in answers}, {str(answers[0])})
        self.assertEqual(len(self.call("test.outbox")["messages"]), 1)

    def test_concurrent_identical_completions_sign_in_once(self):
        token = self.completed("alice@example.com")
        states, _ = self.together("signIn.withContinuation", [{"continuationToken": token}] * 8)
        self.assertEqual(sorted(states), ["completed"] + ["flowFinished"] * 7)

    def test_killed_process_loses_no_confirmed_step(self):
        step = self.call("signUp.start", username="alice@example.com", password=PASSWORD)
        code = self.code("alice@example.com")
        self.sidecar.process.send_signal(signal.SIGKILL)
        self.sidecar.process.wait()
        self.sidecar = self.spawn(testing=True, store=self.path("people.db"))
        done = self.call("signUp.submitCode", continuationToken=step["continuationToken"], code=code)
        self.sidecar.process.send_signal(signal.SIGKILL)
        self.sidecar.process.wait()
        self.sidecar = self.spawn(testing=True, store=self.path("people.db"))
        self.assertEqual(self.call("signIn.withContinuation", continuationToken=done["continuationToken"])["account"]["method"], "password")
        self.assertEqual(self.call("signIn.withPassword", username="alice@example.com", password=PASSWORD)["state"], "completed")

    def test_another_process_reads_the_message_and_continues_the_flow(self):
        other = self.spawn(testing=True, store=self.path("people.db"))
        other.call("system.ping")
        asked = other.send("test.outbox", {"waitSeconds": 20})
        self.settled(other)
        step = self.call("signUp.start", username="alice@example.com")
        found = other.answer(asked, 30)["messages"]
        self.assertEqual(len(found), 1)
        done = other.call("signUp.submitCode", {"continuationToken": step["continuationToken"], "code": found[0]["code"]})
        self.assertEqual(done["state"], "completed")

    def test_continuation_token_is_accepted_only_for_the_current_step_of_its_flow(self):
        self.call("account.create", username="bob@example.com", password=PASSWORD)
        carol = self.call("account.create", username="carol@example.com")["accountId"]
        tokens = {
            "signUp": self.call("signUp.start", username="alice@example.com")["continuationToken"],
            "signIn with a code": self.call("signIn.start", username="carol@example.com")["continuationToken"],
            "signIn with a password": self.call("signIn.start", username="bob@example.com")["continuationToken"],
            "passwordReset": self.call("passwordReset.start", username="bob@example.com")["continuationToken"],
            "account, another address": self.call("account.changeEmail", accountId=carol, email="c@example.com")["continuationToken"],
            "account, the same": self.call("account.changeEmail", accountId=carol, email="carol@example.com")["continuationToken"],
        }
        self.call("tenant.update", tenantId="default", signUpAllowed=True)
        steps = {
            "signUp.submitCode": {"code": "x"}, "signUp.submitPassword": {"password": PASSWORD}, "signUp.submitAttributes": {"attributes": {}},
            "signIn.submitCode": {"code": "x"}, "signIn.submitPassword": {"password": "x"}, "signIn.withContinuation": {},
            "passwordReset.submitCode": {"code": "x"}, "passwordReset.submitPassword": {"password": PASSWORD},
            "signIn.resendCode": {}, "passwordReset.resendCode": {}, "account.submitCode": {"code": "x"}, "account.changeEmail": {},
        }
        fitting = {
            ("signUp", "signUp.submitCode"): "invalidCode", ("signUp", "signIn.withContinuation"): "stepNotPossible",
            ("signIn with a code", "signIn.submitCode"): "invalidCode", ("signIn with a code", "signIn.submitPassword"): "stepNotPossible",
            ("signIn with a password", "signIn.submitPassword"): "invalidPassword",
            ("signIn with a password", "signIn.submitCode"): "stepNotPossible",
            ("signIn with a password", "signIn.resendCode"): "stepNotPossible",
            ("passwordReset", "passwordReset.submitCode"): "invalidCode",
            ("passwordReset", "passwordReset.submitPassword"): "stepNotPossible", ("passwordReset", "signIn.withContinuation"): "stepNotPossible",
            ("account, another address", "account.submitCode"): "invalidCode", ("account, the same", "account.submitCode"): "invalidCode",
            ("account, another address", "signIn.withContinuation"): "stepNotPossible",
        }
        # These steps succeed and return a new token for the next step. The transcripts cover them.
        moving = {("signUp", "signUp.submitPassword"), ("signUp", "signUp.submitAttributes"), ("signIn with a code", "signIn.resendCode"),
                  ("passwordReset", "passwordReset.resendCode"), ("account, another address", "account.changeEmail"),
                  ("account, the same", "account.changeEmail")}
        for flow, token in tokens.items():
            for method, params in steps.items():
                if (flow, method) in moving:
                    continue
                with self.subTest(flow=flow, method=method):
                    wanted = fitting.get((flow, method), "continuationTokenInvalid")
                    self.assertEqual(self.outcome(method, {"continuationToken": token, **params}), wanted)
        self.call("test.clock", advanceSeconds=1200)
        for flow, token in tokens.items():
            for method, params in steps.items():
                with self.subTest(flow=flow, method=method, expired=True):
                    kind, own = re.match("[A-Za-z]+", flow)[0], method.split(".")[0]
                    completes = kind != "signIn" and flow != "account, the same"
                    goes_on = method == "signIn.withContinuation" and completes or kind == own and method != "signIn.withContinuation"
                    wanted = "continuationTokenExpired" if goes_on else "continuationTokenInvalid"
                    self.assertEqual(self.outcome(method, {"continuationToken": token, **params}), wanted)

    def test_altered_or_foreign_continuation_tokens_fail(self):
        token = self.call("signUp.start", username="alice@example.com")["continuationToken"]
        other = self.spawn(testing=True, environment={"MINTMARK_MASTER_KEY": "B" * 42 + "A"})
        self.refused("continuationTokenInvalid", other, "signUp.submitCode", {"continuationToken": token, "code": "1"})
        for place in range(0, len(token), 7):
            altered = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1:]
            self.refused("continuationTokenInvalid", self.sidecar, "signUp.submitCode", {"continuationToken": altered, "code": "1"})
        for junk in ["x", "=" * 60, "A" * 60, "é" * 20, token + "A"]:
            self.refused("continuationTokenInvalid", self.sidecar, "signUp.submitCode", {"continuationToken": junk, "code": "1"})

    def test_concurrent_refreshes_do_not_end_the_session(self):
        refresh = self.call("signIn.withContinuation", continuationToken=self.completed("alice@example.com"))["refreshToken"]
        _, answers = self.together("session.refresh", [{"refreshToken": refresh}] * 4)
        fresh = [answer["refreshToken"] for answer in answers]
        self.assertEqual(len(set(fresh)), 4)
        self.assertIn("idToken", self.call("session.refresh", refreshToken=fresh[3]))

    def test_logs_and_store_contain_no_secrets(self):
        step = self.call("signUp.start", username="alice@example.com", password=PASSWORD)
        code = self.code("alice@example.com")
        done = self.call("signUp.submitCode", continuationToken=step["continuationToken"], code=code)
        signed_in = self.call("signIn.withContinuation", continuationToken=done["continuationToken"])
        self.call("test.outbox", clear=True)
        self.store = self.path("people.db")
        rows = " ".join(str(self.rows(f"SELECT * FROM {table}")) for table in ("account", "account_name", "flow", "session", "refresh_token", "failure_count", "audit"))
        for secret in (PASSWORD, code, step["continuationToken"], signed_in["refreshToken"], signed_in["idToken"]):
            self.assertNotIn(secret, rows)
            self.assertNotIn(secret, self.sidecar.stderr_text())


class MailServer(socketserver.StreamRequestHandler):
    """A minimal SMTP server (RFC 5321). `server.mails` holds the received messages. `server.refusing` makes it reject all messages."""

    def handle(self):
        def say(text):
            self.wfile.write(text.encode() + b"\r\n")
        say("220 mail.example ESMTP")
        while line := self.rfile.readline():
            verb = line.split()[0].upper() if line.split() else b""
            if verb == b"DATA":
                if self.server.refusing:
                    say("451 4.3.0 try again later")
                    continue
                say("354 go ahead")
                lines = []
                while (line := self.rfile.readline()) != b".\r\n":
                    lines.append(line[1:] if line.startswith(b".") else line)
                self.server.mails.append(b"".join(lines))
                say("250 2.0.0 taken")
            elif verb == b"QUIT":
                say("221 bye")
                return
            else:
                say("250 mail.example" if verb in (b"EHLO", b"HELO") else "250 2.0.0 ok")


class Mail(EndToEnd):
    def setUp(self):
        super().setUp()
        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), MailServer)
        self.server.daemon_threads = True
        self.server.mails, self.server.refusing = [], False
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.sidecar = self.spawn(environment={
            "MINTMARK_SMTP": f"smtp://127.0.0.1:{self.server.server_address[1]}", "MINTMARK_SMTP_UNENCRYPTED": "true",
            "MINTMARK_MAIL_FROM": "accounts@shop.example"})

    def call(self, method, **params):
        return self.sidecar.call(method, params)

    def code(self):
        message = email.message_from_bytes(self.server.mails[-1], policy=email.policy.default)
        self.assertEqual(message["From"].addresses[0].addr_spec, "accounts@shop.example")
        self.assertEqual(message["To"].addresses[0].addr_spec, "alice@example.com")
        return re.search(r"\b\d{8}\b", message.get_body(("plain",)).get_content())[0]

    def test_code_received_by_smtp_completes_the_sign_up(self):
        step = self.call("signUp.start", username="alice@example.com", password=PASSWORD)
        done = self.call("signUp.submitCode", continuationToken=step["continuationToken"], code=self.code())
        self.assertEqual(done["state"], "completed")
        # A store that is not for testing uses the full cost of scrypt.
        self.assertEqual(self.call("signIn.withPassword", username="alice@example.com", password=PASSWORD)["state"], "completed")

    def test_rejected_message_fails_and_the_previous_code_stays_valid(self):
        step = self.call("signUp.start", username="alice@example.com")
        code = self.code()
        self.server.refusing = True
        error = self.refused("messageNotSent", self.sidecar, "signUp.resendCode", {"continuationToken": step["continuationToken"]})
        self.assertEqual((error.data["channel"], error.data["retryAfterSeconds"]), ("email", 30))
        self.assertIn("451", error.data["reason"])
        self.assertEqual(self.call("signUp.submitCode", continuationToken=step["continuationToken"], code=code)["state"], "completed")

    def test_sign_up_without_an_smtp_server_fails_with_a_reason(self):
        sidecar = self.spawn()
        error = self.refused("messageNotSent", sidecar, "signUp.start", {"username": "alice@example.com"})
        self.assertIn("no mail server", error.data["reason"])
