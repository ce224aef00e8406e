"""Hooks over signed webhooks."""

import threading
import time

from endtoend import EndToEnd
from hooks import PASSWORD, SECRET, Webhook
from test_hooks import claims

REQUEST = {"username": "alice@example.com", "password": PASSWORD}


class HookWebhooks(EndToEnd):
    def begin(self, decide, *hooks, secret=SECRET):
        self.store = self.path("hooks.db")
        sidecar = self.spawn("--testing", store=self.store)
        webhook = Webhook(self, decide)
        sidecar.call("hooks.set", {name: webhook.hook(secret) for name in hooks or ("beforeSignIn",)})
        sidecar.call("account.create", {**REQUEST, "emailVerified": True})
        return sidecar, webhook

    def failed(self, sidecar, check):
        error = self.refused("hookFailed", sidecar, "signIn.withPassword", REQUEST)
        self.assertEqual((error.data["hook"], error.data["check"]), ("beforeSignIn", check))
        self.assertNotIn(SECRET, str(error.data))
        return error

    def test_signed_request_gets_decision(self):
        sidecar, webhook = self.begin(lambda hook, params: {"sessionClaims": {"desk": 7}, "displayName": "Alice"})
        signed_in = sidecar.call("signIn.withPassword", REQUEST)
        self.assertEqual(claims(signed_in["idToken"])["desk"], 7)
        self.assertEqual(signed_in["account"]["attributes"], {"displayName": "Alice"})
        question, = webhook.asked
        self.assertEqual((question["type"], question["tenantId"], question["provider"]), ("hook/beforeSignIn", "default", "password"))
        self.assertEqual(webhook.problems, [])

    def test_all_three_hooks_with_an_empty_body(self):
        sidecar, webhook = self.begin(lambda hook, params: b"", "beforeCreate", "beforeSignIn", "beforeSendMessage")
        started = sidecar.call("signUp.start", {"username": "bob@example.com", "password": PASSWORD})
        code = sidecar.call("test.outbox")["messages"][0]["code"]
        completed = sidecar.call("signUp.submitCode", {"continuationToken": started["continuationToken"], "code": code})
        sidecar.call("signIn.withContinuation", {"continuationToken": completed["continuationToken"]})
        self.assertEqual([each["type"] for each in webhook.asked], ["hook/beforeSendMessage", "hook/beforeCreate", "hook/beforeSignIn"])

    def test_refusal(self):
        sidecar, _ = self.begin(lambda hook, params: {"refuse": "not in the directory"})
        error = self.refused("refusedByHook", sidecar, "signIn.withPassword", REQUEST)
        self.assertEqual(error.data["reason"], "not in the directory")

    def test_receiver_that_rejects_the_signature_fails_closed(self):
        sidecar, webhook = self.begin(lambda hook, params: {}, secret="another secret of a webhook")
        self.failed(sidecar, "error")
        self.assertEqual((webhook.asked, webhook.problems), ([], ["the signature is wrong"]))

    def test_status_and_body_that_are_not_valid_fail_closed_without_a_retry(self):
        answers = iter([500, 404, 301, b"<html>", b"[1]", {"allow": True}, b"x" * (2 << 20)])
        sidecar, webhook = self.begin(lambda hook, params: next(answers))
        for check in ("error", "error", "error", "invalidAnswer", "invalidAnswer", "invalidAnswer"):
            self.failed(sidecar, check)
        self.refused("hookFailed", sidecar, "signIn.withPassword", REQUEST)
        self.assertEqual(len(webhook.asked), 7)

    def test_receiver_that_does_not_exist_fails_closed(self):
        sidecar, webhook = self.begin(lambda hook, params: {})
        webhook.url = "http://127.0.0.1:9/"
        sidecar.call("hooks.set", {"beforeSignIn": webhook.hook()})
        self.failed(sidecar, "unreachable")

    def test_slow_receiver_does_not_delay_other_calls(self):
        gate = threading.Event()
        self.addCleanup(gate.set)
        sidecar, webhook = self.begin(lambda hook, params: gate.wait() and {})
        ids = [sidecar.send("signIn.withPassword", REQUEST) for _ in range(40)]
        while not webhook.asked:
            time.sleep(0.01)
        sidecar.call("account.find", {"username": "alice@example.com"})
        self.assertEqual(sidecar.arrived(), 0)
        gate.set()
        for id in ids:
            self.assertEqual(sidecar.answer(id)["state"], "completed")

    def test_secret_is_encrypted_kept_for_the_same_url_and_never_returned(self):
        sidecar, webhook = self.begin(lambda hook, params: {})
        self.assertNotIn("secret", sidecar.call("hooks.get")["beforeSignIn"]["webhook"])
        self.assertNotIn(SECRET, str(self.rows("SELECT hooks FROM tenant_hooks")))
        hook = webhook.hook()
        del hook["webhook"]["secret"]
        sidecar.call("hooks.set", {"beforeSignIn": hook})
        self.assertEqual(sidecar.call("signIn.withPassword", REQUEST)["state"], "completed")
        hook["webhook"]["url"] += "elsewhere"
        error = self.refused("invalidTenantSettings", sidecar, "hooks.set", {"beforeSignIn": hook})
        self.assertEqual(error.data["pointer"], "/beforeSignIn/webhook/secret")

    def test_settings_that_are_not_valid_are_refused(self):
        sidecar, _ = self.begin(lambda hook, params: {})
        url = {"url": "https://hooks.example.com/", "secret": SECRET}
        for hook, pointer in (
                ({"transport": "webhook"}, "webhook"), ({"transport": "pipe", "webhook": url}, "webhook"),
                ({"transport": "webhook", "webhook": {**url, "url": "http://hooks.example.com/"}}, "webhook/url"),
                ({"transport": "webhook", "webhook": {**url, "secret": "\u00fc" * 400}}, "webhook/secret")):
            error = self.refused("invalidTenantSettings", sidecar, "hooks.set", {"beforeCreate": hook})
            self.assertEqual(error.data["pointer"], f"/beforeCreate/{pointer}")
