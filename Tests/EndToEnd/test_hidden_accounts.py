"""With `enumerationProtection`, responses, steps and timing reveal neither the existence nor the kind of an account."""

import socketserver
import threading

from endtoend import EndToEnd
from sidecar import RpcError
from test_people import MailServer

START = 1_700_000_000
PASSWORD = "correct Horse 9"
PEOPLE = {"password": "ann@example.com", "code": "abe@example.com", "disabled": "amy@example.com", "must change": "ava@example.com", "nobody": "ada@example.com"}


class Hidden(EndToEnd):
    def people(self, sidecar, method):
        """Creates a tenant with accounts of every kind. Returns its parameters."""
        tenant = {"tenantId": method.lower()}
        sidecar.call("tenant.create", {**tenant, "localAccountMethod": method, "enumerationProtection": True})
        for kind, name in PEOPLE.items():
            if kind == "nobody":
                continue
            account = sidecar.call("account.create", {**tenant, "username": name, **({} if kind == "code" else {"password": PASSWORD})})
            sidecar.call("account.update", {"accountId": account["accountId"], "disabled": kind == "disabled", "mustChangePassword": kind == "must change"})
        return tenant

    def compare(self, sidecar, conversation):
        """Runs a conversation for each kind of account. The responses must be equal member by member."""
        told = {kind: list(conversation(Seen(sidecar, name))) for kind, name in PEOPLE.items()}
        for kind, answers in told.items():
            self.assertEqual(len(answers), len(told["nobody"]))
            for number, (answer, other) in enumerate(zip(answers, told["nobody"])):
                self.assertEqual(answer, other, f"{kind}, answer {number}")
        return told["nobody"]

    def each_method(self, conversation):
        for method in ("either", "emailCode", "emailPassword"):
            with self.subTest(method=method):
                sidecar = self.spawn("--clock", str(START), testing=True)
                tenant = self.people(sidecar, method)
                yield method, self.compare(sidecar, lambda seen: conversation(seen, tenant))

    def test_sign_in_by_steps_returns_same_responses_for_every_account(self):
        def conversation(seen, tenant):
            yield seen("signIn.start", **tenant)
            yield seen("signIn.submitCode", code="x")
            for number in range(4):
                yield seen("signIn.submitPassword", password=f"wrong {number}")
            yield seen("signIn.submitPassword", password="wrong 3")
            yield seen("signIn.resendCode")
            for number in range(3):
                yield seen("signIn.submitCode", code=str(number))
            yield seen("signIn.withPassword", **tenant, password="wrong 4")
            for number in range(3):
                yield seen("signIn.submitCode", code=str(number))
            yield seen("signIn.submitPassword", password="wrong 5")
        seen = dict(self.each_method(conversation))
        self.assertEqual({method: answers[0]["state"] for method, answers in seen.items()},
                         {"either": "codeRequired", "emailCode": "codeRequired", "emailPassword": "passwordRequired"})
        self.assertTrue(all("accountLocked" in [answer.get("type") for answer in answers] for answers in seen.values()))

    def test_sign_in_with_password_returns_same_responses_for_every_account(self):
        def conversation(seen, tenant):
            # Failures in a sign-up do not count, for any kind of account.
            yield seen("signUp.start", **tenant)
            yield seen("signUp.submitCode", code="x")
            for number in range(12):
                yield seen("signIn.withPassword", **tenant, password=f"wrong {number // 2}")
            for number in range(6):
                yield seen("signIn.withPassword", **tenant, password=f"wronger {number}")
        list(self.each_method(conversation))

    def test_password_reset_returns_same_responses_for_every_account(self):
        def conversation(seen, tenant):
            yield seen("passwordReset.start", **tenant)
            yield seen("passwordReset.submitPassword", password="another Horse 10")
            for number in range(3):
                yield seen("passwordReset.submitCode", code=str(number))
            for number in range(5):
                yield seen("passwordReset.resendCode")
            for number in range(7):
                yield seen("passwordReset.submitCode", code=str(number))
        list(self.each_method(conversation))

    def test_sign_up_returns_same_responses_for_every_account(self):
        def conversation(seen, tenant):
            yield seen("signUp.start", **tenant, attributes={"city": "Bonn"})
            yield seen("signUp.submitCode", code="x")
            yield seen("signUp.submitAttributes", attributes={"city": 7})
            yield seen("signUp.submitAttributes", attributes={"surname": "A"})
            yield seen("signUp.submitPassword", password="short")
            yield seen("signUp.submitPassword", password=PASSWORD)
            yield seen("signUp.resendCode")
            yield seen("signUp.submitCode", code="x")
            for _ in range(5):
                yield seen("signUp.resendCode")
            yield seen("signUp.start", **tenant)
        list(self.each_method(conversation))

    def test_account_signs_in_with_its_own_method(self):
        for method in ("either", "emailCode", "emailPassword"):
            sidecar = self.spawn("--clock", str(START), testing=True)
            tenant = self.people(sidecar, method)
            for kind in ("password", "code"):
                seen = Seen(sidecar, PEOPLE[kind])
                seen("signIn.start", **tenant)
                if kind == "password":
                    self.assertEqual(seen("signIn.submitPassword", password=PASSWORD)["state"], "completed")
                    seen("signIn.start", **tenant)
                if seen.last["state"] == "passwordRequired":
                    seen("signIn.resendCode")
                code = sidecar.call("test.outbox", {"to": PEOPLE[kind]})["messages"][-1]["code"]
                self.assertEqual(seen("signIn.submitCode", code=code)["account"]["method"], kind)
            seen = Seen(sidecar, PEOPLE["must change"])
            if seen("signIn.start", **tenant)["state"] == "passwordRequired":
                seen("signIn.resendCode")
            code = sidecar.call("test.outbox", {"to": PEOPLE["must change"]})["messages"][-1]["code"]
            self.assertEqual(seen("signIn.submitCode", code=code)["type"], "passwordChangeRequired")
            notices = [each["purpose"] for each in sidecar.call("test.outbox", {"to": PEOPLE["nobody"]})["messages"]]
            self.assertNotIn("signIn", notices)

    def test_without_protection_sign_in_methods_are_not_interchangeable(self):
        sidecar = self.spawn("--clock", str(START), testing=True)
        sidecar.call("account.create", {"username": "ann@example.com", "password": PASSWORD})
        sidecar.call("account.create", {"username": "abe@example.com"})
        with_password, with_code = Seen(sidecar, "ann@example.com"), Seen(sidecar, "abe@example.com")
        with_password("signIn.start")
        self.assertEqual(with_password("signIn.resendCode")["type"], "stepNotPossible")
        with_code("signIn.start")
        self.assertEqual(with_code("signIn.submitPassword", password="x")["type"], "stepNotPossible")

    def test_responses_take_same_time_for_every_account(self):
        server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), MailServer)
        mails = HeldMails()
        server.daemon_threads, server.mails, server.refusing = True, mails, False
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        sidecar = self.spawn(environment={
            "MINTMARK_SMTP": f"smtp://127.0.0.1:{server.server_address[1]}", "MINTMARK_SMTP_UNENCRYPTED": "true",
            "MINTMARK_MAIL_FROM": "accounts@shop.example"})
        tenant = self.people(sidecar, "either")
        for method in ("signIn.start", "passwordReset.start", "signUp.start"):
            for kind, name in PEOPLE.items():
                waiting = sidecar.send(method, {**tenant, "username": name})
                self.assertTrue(mails.arrived.acquire(timeout=60), f"no email: {method}, {kind}")
                self.settled(sidecar)
                self.assertEqual(sidecar.arrived(), 0, f"the response does not wait for the email: {method}, {kind}")
                mails.accepted.release()
                sidecar.answer(waiting)
        # A password attempt always costs one hash. The test measures processor time, which other processes hardly affect. One attempt of each kind
        # is enough; a second one corrects a measurement.
        took = dict.fromkeys(PEOPLE, 0)
        for number in range(4):
            for kind, name in PEOPLE.items():
                began = sidecar.processor_seconds()
                self.assertEqual(sidecar.refusal("signIn.withPassword", {**tenant, "username": name, "password": f"wrong {number}"}).type, "invalidPassword")
                took[kind] += sidecar.processor_seconds() - began
            if min(took.values()) > 0.4 * max(took.values()):
                break
        self.assertGreater(min(took.values()), 0.4 * max(took.values()), took)


class HeldMails(list):
    """Emails that are accepted when the test says so."""

    def __init__(self):
        super().__init__()
        self.arrived, self.accepted = threading.Semaphore(0), threading.Semaphore(0)

    def append(self, mail):
        super().append(mail)
        self.arrived.release()
        self.accepted.acquire()


class Seen:
    """The responses to the requests of one user, without the values that always differ."""

    def __init__(self, sidecar, name):
        self.sidecar, self.name, self.token, self.last = sidecar, name, None, None

    def __call__(self, method, **params):
        if "." in method and not method.endswith((".start", ".withPassword")):
            params["continuationToken"] = self.token
        else:
            params["username"] = self.name
        try:
            answer = dict(self.sidecar.call(method, params))
        except RpcError as error:
            answer = {"message": error.message, **error.data}
        if "continuationToken" in answer:
            self.token = answer["continuationToken"]
            answer["continuationToken"] = len(self.token)
        self.last = answer
        return answer
