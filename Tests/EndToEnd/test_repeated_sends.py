"""The same request again while the first one's mail is still on its way: one message, one answer."""

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
        """Sends a request four times, to two processes, while the first one's mail is on its way: the one answer, and the mail's code."""
        numbers = [(sidecar, sidecar.send(method, params)) for sidecar in (self.first, self.first, self.second, self.second)]
        answers = [sidecar.answer(number) for sidecar, number in numbers]
        self.assertEqual(answers[1:], answers[:1] * 3)
        self.assertGreater(answers[0]["expiresAt"], time.time())
        mail, = self.take(address)
        return answers[0], self.code(mail)

    def test_a_start_that_comes_again_while_its_mail_is_on_its_way_gets_the_same_answer_and_sends_nothing(self):
        self.first.call("account.create", {"username": "slow-code@example.com"})
        self.first.call("account.create", {"username": "slow-password@example.com", "password": NEW}, timeout=60)
        for flow, address in (("signUp", "slow@example.com"), ("signIn", "slow-code@example.com"),
                              ("passwordReset", "slow-password@example.com")):
            with self.subTest(flow):
                step, code = self.alike(f"{flow}.start", {"username": address}, address)
                done = self.second.call(f"{flow}.submitCode", {"continuationToken": step["continuationToken"], "code": code})
                self.assertIn(done["state"], ("completed", "passwordRequired"))

    def test_a_code_that_is_sent_anew_twice_at_once_is_one_code(self):
        for protected in (False, True):
            self.first.call("tenant.update", {"tenantId": "default", "enumerationProtection": protected})
            address = f"slow-{protected}@example.com".lower()
            step = self.first.call("signUp.start", {"username": address})
            old = self.code(self.take(address)[0])
            anew, code = self.alike("signUp.resendCode", {"continuationToken": step["continuationToken"]}, address)
            self.assertNotEqual((anew["continuationToken"], code), (step["continuationToken"], old))
            self.finish(self.second, anew["continuationToken"], code)

    def test_a_change_of_address_that_comes_twice_at_once_is_one(self):
        account = self.first.call("account.create", {"username": "alice@example.com", "emailVerified": True})["accountId"]
        address = "slow-new@example.com"
        step, _ = self.alike("account.changeEmail", {"accountId": account, "email": address}, address)
        anew, code = self.alike("account.changeEmail", {"continuationToken": step["continuationToken"]}, address)
        done = self.second.call("account.submitCode", {"continuationToken": anew["continuationToken"], "code": code})
        self.assertEqual(done["account"]["email"], address)

    def test_who_waits_for_a_mail_that_is_refused_sends_it_himself(self):
        params = {"username": "slow-once@example.com"}
        number = self.first.send("signUp.start", params)
        self.wait_until_underway("slow-once@example.com")
        step = self.second.call("signUp.start", params)
        self.assertEqual(self.first.receive(lambda each: each.get("id") == number)["error"]["data"]["type"], "messageNotSent")
        mail, = self.take("slow-once@example.com")
        self.finish(self.second, step["continuationToken"], self.code(mail))

    def test_when_the_process_that_sends_is_killed_the_old_code_is_good_and_another_process_takes_over(self):
        step = self.first.call("signUp.start", {"username": "slow-kill@example.com"})
        self.wait_until_underway("slow-kill@example.com")
        old = self.code(self.take("slow-kill@example.com")[0])
        params = {"continuationToken": step["continuationToken"]}
        self.first.send("signUp.resendCode", params)
        self.first.send("signUp.start", {"username": "slow-gone@example.com"})
        self.wait_until_underway("slow-kill@example.com")
        self.wait_until_underway("slow-gone@example.com")
        self.first.process.kill()
        self.first.wait()
        start = self.second.send("signUp.start", {"username": "slow-gone@example.com"})
        self.finish(self.second, step["continuationToken"], old)
        begun = self.second.answer(start, timeout=30)
        self.finish(self.second, begun["continuationToken"], self.code(self.take("slow-gone@example.com")[-1]))
