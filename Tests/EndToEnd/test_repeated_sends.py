"""A request that is repeated while the message of the first one is being sent: one message, identical responses."""

import time

from delivery import MailServer

NEW = "Correct-Horse-77"


class RepeatedSends(MailServer):
    def setUp(self):
        super().setUp()
        self.store = self.path("repeated.db")
        self.first, self.second = self.sidecar(), self.sidecar()

    def sidecar(self):
        return self.spawn(store=self.store, environment={
            "MINTMARK_SMTP_URL": f"smtp://localhost:{self.ports['plain']}", "MINTMARK_SMTP_UNENCRYPTED": "true",
            "MINTMARK_MAIL_FROM": "accounts@shop.example"})

    def alike(self, method, params, address):
        """Sends a request four times to two processes during the first delivery. Returns the common response and the emailed code."""
        numbers = [(sidecar, sidecar.send(method, params)) for sidecar in (self.first, self.first, self.second, self.second)]
        self.wait_until_underway(address)
        self.settled(self.first, self.second)
        self.ask(release=address)
        answers = [sidecar.answer(number) for sidecar, number in numbers]
        self.assertEqual(answers[1:], answers[:1] * 3)
        self.assertGreater(answers[0]["expiresAt"], time.time())
        mail, = self.take(address)
        return answers[0], self.code(mail)

    def delivered(self, method, params, address):
        """Makes a call of the first process and lets its delivery complete."""
        number = self.first.send(method, params)
        self.wait_until_underway(address)
        self.ask(release=address)
        return self.first.answer(number)

    def test_repeated_start_during_sending_returns_the_same_result_and_sends_nothing(self):
        self.first.call("account.create", {"username": "held-code@example.com"})
        self.first.call("account.create", {"username": "held-password@example.com", "password": NEW}, timeout=60)
        for flow, address in (("signUp", "held@example.com"), ("signIn", "held-code@example.com"),
                              ("passwordReset", "held-password@example.com")):
            with self.subTest(flow):
                step, code = self.alike(f"{flow}.start", {"username": address}, address)
                done = self.second.call(f"{flow}.submitCode", {"continuationToken": step["continuationToken"], "code": code})
                self.assertIn(done["state"], ("completed", "passwordRequired"))

    def test_concurrent_resends_send_one_code(self):
        for protected in (False, True):
            self.first.call("tenant.update", {"tenantId": "default", "enumerationProtection": protected})
            address = f"held-{protected}@example.com".lower()
            step = self.delivered("signUp.start", {"username": address}, address)
            old = self.code(self.take(address)[0])
            anew, code = self.alike("signUp.resendCode", {"continuationToken": step["continuationToken"]}, address)
            self.assertNotEqual((anew["continuationToken"], code), (step["continuationToken"], old))
            self.finish(self.second, anew["continuationToken"], code)

    def test_concurrent_address_changes_send_one_code(self):
        account = self.first.call("account.create", {"username": "alice@example.com", "emailVerified": True})["accountId"]
        address = "held-new@example.com"
        step, _ = self.alike("account.changeEmail", {"accountId": account, "email": address}, address)
        anew, code = self.alike("account.changeEmail", {"continuationToken": step["continuationToken"]}, address)
        done = self.second.call("account.submitCode", {"continuationToken": anew["continuationToken"], "code": code})
        self.assertEqual(done["account"]["email"], address)

    def test_request_that_waits_for_a_failed_message_sends_its_own(self):
        params = {"username": "slow-once@example.com"}
        number = self.first.send("signUp.start", params)
        self.wait_until_underway("slow-once@example.com")
        step = self.second.call("signUp.start", params)
        self.assertEqual(self.first.receive(lambda each: each.get("id") == number)["error"]["data"]["type"], "messageNotSent")
        mail, = self.take("slow-once@example.com")
        self.finish(self.second, step["continuationToken"], self.code(mail))

    def test_after_the_sending_process_is_killed_the_previous_code_is_valid_and_another_process_sends(self):
        step = self.delivered("signUp.start", {"username": "held-kill@example.com"}, "held-kill@example.com")
        old = self.code(self.take("held-kill@example.com")[0])
        params = {"continuationToken": step["continuationToken"]}
        self.first.send("signUp.resendCode", params)
        self.first.send("signUp.start", {"username": "held-gone@example.com"})
        self.wait_until_underway("held-kill@example.com")
        self.wait_until_underway("held-gone@example.com")
        self.first.process.kill()
        self.first.wait()
        # The claims of a process that has ended expire after 15 seconds. These expired long ago, so that the test does not wait.
        self.assertEqual(self.rows("SELECT COUNT(*) FROM send_claim"), [(2,)])
        self.rows("UPDATE send_claim SET expires_at = 1")
        start = self.second.send("signUp.start", {"username": "held-gone@example.com"})
        self.finish(self.second, step["continuationToken"], old)
        self.wait_until_underway("held-gone@example.com")
        self.ask(release="held-gone@example.com")
        begun = self.second.answer(start, timeout=30)
        self.finish(self.second, begun["continuationToken"], self.code(self.take("held-gone@example.com")[-1]))
