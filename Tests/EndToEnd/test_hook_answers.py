"""The changes that hooks can make, canceled operations, and hooks in documents for system.apply."""

import threading
import time

from endtoend import EndToEnd, only
from hooks import PASSWORD, Host, Webhook
from test_hooks import PIPE, claims

ALICE = "alice@example.com"


class Answers(EndToEnd):
    def begin(self, decide, *hooks):
        sidecar = self.spawn("--testing", store=self.path("hooks.db"))
        host = Host(sidecar, decide)
        sidecar.call("hooks.set", {name: PIPE for name in hooks})
        return sidecar, host

    def test_hook_sets_the_picture_and_verifies_the_address(self):
        sidecar, _ = self.begin(lambda hook, params: {"photoUrl": "https://example.com/a.png", "emailVerified": True}, "beforeSignIn")
        sidecar.call("account.create", {"username": ALICE, "password": PASSWORD})
        done = sidecar.call("signIn.withPassword", {"username": ALICE, "password": PASSWORD})
        self.assertEqual((done["account"]["attributes"]["picture"], done["account"]["emailVerified"]), ("https://example.com/a.png", True))
        self.assertEqual(claims(done["idToken"])["email_verified"], True)

    def test_invalid_answers_change_nothing(self):
        answers = iter([{"photoUrl": 7}, {"emailVerified": "yes"}, {"photoUrl": "x" * 5000}])
        sidecar, _ = self.begin(lambda hook, params: next(answers), "beforeSignIn")
        sidecar.call("account.create", {"username": ALICE, "password": PASSWORD})
        for _ in range(3):
            error = self.refused("hookFailed", sidecar, "signIn.withPassword", {"username": ALICE, "password": PASSWORD})
            self.assertEqual(error.data["check"], "invalidAnswer")
        self.assertFalse(sidecar.call("account.find", {"username": ALICE})["emailVerified"])

    def test_link_is_refused_by_the_hook_unless_it_is_returned(self):
        sidecar, host = self.begin(lambda hook, params: {"refuse": "no mail"}, "beforeSendMessage")
        link = {"purpose": "signIn", "email": ALICE, "continueUrl": "https://shop.example.com/"}
        self.refused("refusedByHook", sidecar, "oob.create", link)
        self.assertEqual(sidecar.call("test.outbox")["messages"], [])
        sidecar.call("oob.create", {**link, "returnLink": True})
        self.assertEqual([params["message"]["purpose"] for _, params in host.asked], ["signInLink"])

    def test_message_names_the_step_of_a_second_factor(self):
        sidecar, host = self.begin(lambda hook, params: None, "beforeSendMessage")
        sidecar.call("tenant.update", {"tenantId": "default", "mfa": "optional"})
        sidecar.call("account.create", {"username": ALICE, "password": PASSWORD, "emailVerified": True})
        token = sidecar.call("signIn.withPassword", {"username": ALICE, "password": PASSWORD})["idToken"]
        step = sidecar.call("mfa.enroll", {"idToken": token, "kind": "sms", "phoneNumber": "+15555550100"})
        code = sidecar.call("test.outbox", {"to": "+15555550100"})["messages"][-1]["code"]
        sidecar.call("mfa.confirm", {"continuationToken": step["continuationToken"], "code": code})
        pending = sidecar.call("signIn.withPassword", {"username": ALICE, "password": PASSWORD})
        sidecar.call("mfa.challenge", {"continuationToken": pending["continuationToken"], "factorId": pending["hints"][0]["factorId"]})
        sidecar.call("passwordReset.start", {"username": ALICE})
        self.assertEqual([(params["message"]["purpose"], params["message"].get("secondFactor")) for _, params in host.asked],
                         [("signIn", "enrollment"), ("signIn", "signIn"), ("passwordReset", None)])

    def canceled(self, sidecar, host, method, params):
        """Sends a call twice and cancels the second one while the hook is asked about both. It must end before the first one, whose hook ends
        after seven seconds."""
        ids = []
        for _ in range(2):
            before = len(host.asked)
            ids.append(sidecar.send(method, params))
            while len(host.asked) == before:
                time.sleep(0.01)
        for id in reversed(ids):
            sidecar.write(b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}\n' % id)
            answer = sidecar.receive(lambda m: m.get("id") in ids)
            self.assertEqual((answer["id"], answer["error"]["code"]), (id, -32800))

    @only("sqlite")
    def test_canceled_call_ends_while_its_hook_is_asked_and_stores_nothing(self):
        silent = [True]
        sidecar, host = self.begin(lambda hook, params: Host.SILENT if silent[0] else None, "beforeCreate", "beforeSignIn", "beforeSendMessage")
        account = sidecar.call("account.create", {"username": ALICE, "password": PASSWORD})["accountId"]
        sign_in = {"username": ALICE, "password": PASSWORD}
        self.canceled(sidecar, host, "signIn.withPassword", sign_in)
        self.assertEqual(sidecar.call("session.list", {"accountId": account})["sessions"], [])
        self.canceled(sidecar, host, "signUp.start", {"username": "bob@example.com", "password": PASSWORD})
        self.assertEqual(sidecar.call("test.outbox")["messages"], [])
        silent[0] = False
        late = host.asked[0]
        host.write({"jsonrpc": "2.0", "id": "h1", "result": {"refuse": "too late"}})   # A late answer is ignored.
        self.assertEqual(late[0], "beforeSignIn")
        self.assertEqual(sidecar.call("signIn.withPassword", sign_in)["state"], "completed")

    @only("sqlite")
    def test_canceled_call_ends_while_a_webhook_is_asked(self):
        held = threading.Event()
        self.addCleanup(held.set)
        webhook = Webhook(self, lambda hook, params: held.wait() and None)
        sidecar = self.spawn("--testing", store=self.path("hooks.db"))
        sidecar.call("hooks.set", {"beforeSignIn": webhook.hook()})
        sidecar.call("account.create", {"username": ALICE, "password": PASSWORD})
        self.canceled(sidecar, webhook, "signIn.withPassword", {"username": ALICE, "password": PASSWORD})


class Documents(EndToEnd):
    WEBHOOK = {"transport": "webhook", "webhook": {"url": "https://hooks.example.com/mintmark", "secret": "correct-horse-battery"}}

    def changes(self, sidecar, document, **more):
        return [(each["pointer"], each["kind"], each["name"], each["change"], each["changed"])
                for each in sidecar.call("system.apply", {**document, **more})["changes"] if each["kind"] == "hooks"]

    def test_hooks_are_applied_exported_and_kept(self):
        sidecar = self.spawn("--testing", store=self.path("apply.db"))
        document = {"tenants": [{"tenantId": "shop"}], "hooks": [{"tenantId": "shop", "beforeCreate": self.WEBHOOK}]}
        self.assertEqual(self.changes(sidecar, document, dryRun=True), [("/hooks/0", "hooks", "shop", "created", [])])
        self.assertEqual(self.changes(sidecar, document), [("/hooks/0", "hooks", "shop", "created", [])])
        self.assertEqual(self.changes(sidecar, document), [("/hooks/0", "hooks", "shop", "unchanged", [])])
        exported = sidecar.call("system.export")
        self.assertEqual(exported["hooks"], [{"tenantId": "shop", "beforeCreate": {"transport": "webhook", "webhook": {
            "url": "https://hooks.example.com/mintmark", "allowPrivateNetwork": False, "allowInsecure": False}}}])
        self.assertEqual([each["change"] for each in sidecar.call("system.apply", exported)["changes"]], ["unchanged", "unchanged"])
        other = {"hooks": [{"tenantId": "shop", "beforeSignIn": self.WEBHOOK}]}
        self.assertEqual(self.changes(sidecar, other), [("/hooks/0", "hooks", "shop", "updated", ["beforeCreate", "beforeSignIn"])])
        self.assertNotIn("beforeCreate", sidecar.call("hooks.get", {"tenantId": "shop"}))
        self.changes(sidecar, {"hooks": [{"tenantId": "shop"}]})
        self.assertNotIn("hooks", sidecar.call("system.export"))

    def test_every_violation_is_named(self):
        sidecar = self.spawn("--testing", store=self.path("apply.db"))
        document = {"hooks": [{"tenantId": "nowhere"}, {"beforeSignIn": PIPE}, {}, {"tenantId": "default"}]}
        error = self.refused("invalidParams", sidecar, "system.apply", document)
        self.assertEqual([(each["pointer"], each["rule"]) for each in error.data["violations"]], [
            ("/hooks/0/tenantId", "tenantNotFound"), ("/hooks/1/beforeSignIn", "hooksNotOffered"), ("/hooks/2/tenantId", "duplicate"),
            ("/hooks/3/tenantId", "duplicate")])
        error = self.refused("invalidParams", sidecar, "system.apply", {"hooks": [{"beforeSignIn": {"transport": "webhook"}}]})
        self.assertEqual([(each["pointer"], each["rule"]) for each in error.data["violations"]], [("/hooks/0/beforeSignIn/webhook", "invalidTenantSettings")])

    def test_document_with_a_hook_over_the_pipe_is_applied_again_without_an_offer(self):
        store = self.path("apply.db")
        sidecar = self.spawn("--testing", store=store)
        Host(sidecar)
        sidecar.call("hooks.set", {"beforeSignIn": PIPE})
        exported = sidecar.call("system.export")
        sidecar.close()
        again = self.spawn("--testing", store=store)
        self.assertEqual([each["change"] for each in again.call("system.apply", exported)["changes"]], ["unchanged"] * len(exported["tenants"] + exported["hooks"]))


if __name__ == "__main__":
    import unittest
    unittest.main()
