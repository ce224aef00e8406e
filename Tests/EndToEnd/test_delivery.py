"""Messages that leave the process: emails through a real SMTP server with STARTTLS and AUTH, webhook requests, and templates of a tenant."""

import json
import re
import sqlite3
import urllib.request

from delivery import ALICE, PASSWORD, SECRET, USER, Delivery, MailServer
from endtoend import only
from sidecar import run
from test_logins import Provider


class Mail(MailServer):
    stores = ("sqlite",)

    def test_email_is_sent_with_starttls_and_password_and_its_code_completes_sign_up(self):
        sidecar = self.process(self.ports["login"])
        token = self.start(sidecar)
        mail, = self.take()
        self.assertEqual((mail["session"]["isEncrypted"], mail["session"]["user"]), (True, USER))
        self.assertEqual(mail["boxes"]["From"]["address"], "accounts@shop.example")
        self.assertIn(self.code(mail), mail["html"])
        self.finish(sidecar, token, self.code(mail))

    def test_smtp_server_and_templates_of_tenant_are_used_and_password_is_not_exposed(self):
        self.store = self.path("delivery.db")
        sidecar = self.spawn(store=self.store, environment={"MINTMARK_CA_FILE": self.authority})
        words = {"purpose": "signUp", "language": "de", "subject": "{{code}} f\u00fcr {{tenantName}}", "text": "Ihr Code:\n{{code}}\n",
                 "html": "<p>{{tenantName}}: {{code}}</p>"}
        delivery = {"smtp": self.smtp(replyTo="help@shop.example"), "templates": [words], "language": "de"}
        name = "Shop <b>\u00fc</b>"
        made = sidecar.call("tenant.create", {"tenantId": "shop", "name": name, "delivery": delivery})
        self.assertEqual(made["delivery"]["smtp"]["user"], USER)
        self.assertNotIn("password", made["delivery"]["smtp"])
        token = self.start(sidecar, "shop")
        mail, = self.take()
        code = self.code(mail)
        self.assertEqual((mail["subject"], mail["language"]), (f"{code} f\u00fcr {name}", "de"))
        self.assertEqual(mail["boxes"]["Reply-To"]["address"], "help@shop.example")
        self.assertIn("Shop &lt;b&gt;\u00fc&lt;/b&gt;: " + code, mail["html"])
        self.finish(sidecar, token, code)
        # If an update omits the password, the stored one is kept for the same server. For another server it is required again.
        same = {"smtp": {key: value for key, value in self.smtp().items() if key != "password"}}
        sidecar.call("tenant.update", {"tenantId": "shop", "delivery": same})
        self.start(sidecar, "shop", "bob@example.com")
        self.assertEqual(len(self.take("bob@example.com")), 1)
        same["smtp"]["port"] = self.ports["startTLS"]
        error = self.refused("invalidTenantSettings", sidecar, "tenant.update", {"tenantId": "shop", "delivery": same})
        self.assertEqual(error.data["pointer"], "/delivery/smtp/password")
        self.assertNotIn(PASSWORD, str(self.rows("SELECT settings FROM tenant")) + json.dumps(sidecar.call("tenant.list")))
        self.assertNotIn(PASSWORD, sidecar.stderr_text())

    def test_applied_document_configures_delivery_and_secrets_are_not_exposed(self):
        self.store = self.path("applied.db")
        sidecar = self.spawn(store=self.store, environment={"MINTMARK_CA_FILE": self.authority})
        document = {"tenants": [{"tenantId": "shop", "name": "Shop", "delivery": {
            "smtp": self.smtp(), "webhook": {"url": "https://hooks.example/", "secret": SECRET}}}]}
        answers = [sidecar.call("system.apply", {**document, "dryRun": True}), sidecar.call("system.apply", document)]
        self.assertEqual([each["changes"][0]["change"] for each in answers], ["created", "created"])
        kept = self.rows("SELECT settings FROM tenant")
        token = self.start(sidecar, "shop")
        mail, = self.take()
        self.assertEqual(mail["session"]["user"], USER)
        self.finish(sidecar, token, self.code(mail))
        # Applying the document again writes nothing. Another password is a change and is used for the next message.
        answers.append(sidecar.call("system.apply", document))
        self.assertEqual(self.rows("SELECT settings FROM tenant"), kept)
        document["tenants"][0]["delivery"]["smtp"]["password"] = "another"
        answers.append(sidecar.call("system.apply", document))
        self.assertEqual(answers[-1]["changes"][0]["changed"], ["delivery"])
        error = self.refused("messageNotSent", sidecar, "signUp.start", {"tenantId": "shop", "username": "bob@example.com"})
        self.assertIn("rejected the user name and password", error.data["reason"])
        answers += [sidecar.call("tenant.get", {"tenantId": "shop"}), sidecar.call("audit.list"), sidecar.stderr_text(), kept,
                    self.rows("SELECT details FROM audit"), self.rows("SELECT settings FROM tenant")]
        for secret in (PASSWORD, SECRET, "another"):
            self.assertNotIn(secret, json.dumps(answers, ensure_ascii=False))

    def test_failed_delivery_is_reported_and_previous_code_stays_valid(self):
        sidecar = self.spawn(environment={"MINTMARK_CA_FILE": self.authority})
        self.assertEqual(sidecar.call("tenant.update", {"tenantId": "default", "codes": {"sendsPerAddress": 50, "sendsPerFlow": 20},
                                                        "delivery": {"smtp": self.smtp()}})["delivery"]["language"], "en")
        token = self.start(sidecar)
        code = self.code(self.take()[0])
        for smtp, reason, retries in (
                (self.smtp(password="another"), "rejected the user name and password", False), (self.smtp(port=9), "does not accept", True),
                (self.smtp("unknown"), "certificate", False), (self.smtp("busy"), "421", True),
                (self.smtp(**{"from": "stranger@shop.example"}), "sender's address", False),
                (self.smtp("plain"), "does not support STARTTLS", False)):
            sidecar.call("tenant.update", {"tenantId": "default", "delivery": {"smtp": smtp}})
            error = self.refused("messageNotSent", sidecar, "signUp.resendCode", {"continuationToken": token})
            self.assertIn(reason, error.data["reason"])
            self.assertEqual("retryAfterSeconds" in error.data, retries, error.data)
            self.assertNotIn("..", error.message)
        self.assertEqual(self.take(), [])
        self.finish(sidecar, token, code)

    def test_rejected_emails_do_not_count_against_limit_of_address(self):
        sidecar = self.process(self.ports["login"])
        for _ in range(7):
            error = self.refused("messageNotSent", sidecar, "signUp.start", {"username": "nobody@example.com"})
            self.assertNotIn("mayHaveArrived", error.data)
        error = self.refused("messageNotSent", sidecar, "signUp.start", {"username": "later@example.com"})
        token = self.start(sidecar, username=ALICE)
        self.take()
        sidecar.call("tenant.update", {"tenantId": "default", "delivery": {"smtp": self.smtp(port=9)}})
        for _ in range(6):
            self.refused("messageNotSent", sidecar, "signUp.resendCode", {"continuationToken": token})
        sidecar.call("tenant.update", {"tenantId": "default", "delivery": {"smtp": self.smtp()}})
        token = sidecar.call("signUp.resendCode", {"continuationToken": token})["continuationToken"]
        self.finish(sidecar, token, self.code(self.take()[0]))
        for _ in range(10):
            error = sidecar.refusal("signUp.start", {"username": "nobody@example.com"})
        self.assertEqual(error.type, "tooManyFailedSends")
        self.assertTrue(0 < error.data["retryAfterSeconds"] <= 60)
        # A message with an unknown outcome counts.
        sidecar.call("tenant.update", {"tenantId": "default", "delivery": {
            "smtp": {"host": "localhost", "port": self.ports["cut_after"], "encryption": "noneToLoopback", "from": "accounts@shop.example"}}})
        for _ in range(5):
            self.assertTrue(self.refused("messageNotSent", sidecar, "signUp.start", {"username": "doubt@example.com"}).data["mayHaveArrived"])
        self.refused("tooManyCodes", sidecar, "signUp.start", {"username": "doubt@example.com"})

    def test_options_configure_smtp_server_and_password_file(self):
        with open(self.path("password"), "w", encoding="utf-8") as file:
            file.write(PASSWORD + "\n")
        sidecar = self.spawn(
            "--smtp-url", f"smtp://localhost:{self.ports['login']}", "--smtp-user", USER, "--smtp-password-file", self.path("password"),
            "--mail-from", "accounts@shop.example", "--ca-file", self.authority,
            # The command line takes precedence over the environment.
            environment={"MINTMARK_SMTP_URL": "smtp://elsewhere.example", "MINTMARK_MAIL_FROM": "nobody@elsewhere.example"})
        token = self.start(sidecar)
        mail, = self.take()
        self.assertEqual((mail["session"]["user"], mail["boxes"]["From"]["address"]), (USER, "accounts@shop.example"))
        self.finish(sidecar, token, self.code(mail))
        # The short name of the variable, and the variable of the password file.
        sidecar = self.spawn(environment={
            "MINTMARK_SMTP": f"smtp://localhost:{self.ports['login']}", "MINTMARK_SMTP_USER": USER, "MINTMARK_CA_FILE": self.authority,
            "MINTMARK_SMTP_PASSWORD_FILE": self.path("password"), "MINTMARK_MAIL_FROM": "accounts@shop.example"})
        self.start(sidecar, username="bob@example.com")
        self.assertEqual(len(self.take("bob@example.com")), 1)

    def test_address_change_notifies_by_email_and_succeeds_if_old_mailbox_does_not_exist(self):
        self.store = self.path("notices.db")
        sidecar = self.process(self.ports["login"], store=self.store)

        def change(old, new):
            account = sidecar.call("account.create", {"username": old, "emailVerified": True})["accountId"]
            token = sidecar.call("account.changeEmail", {"accountId": account, "email": new})["continuationToken"]
            mail, = self.take(new)
            done = sidecar.call("account.submitCode", {"continuationToken": token, "code": self.code(mail)})
            self.assertEqual((done["state"], done["account"]["email"]), ("completed", new))
            return account
        account = change(ALICE, "alice@example.org")
        for address in (ALICE, "alice@example.org"):
            notice, = self.arrived(address)
            self.assertIn("changed", notice["subject"])
            self.assertIn("If you did not make this change", notice["html"])
            self.assertIsNone(re.search(r"\d{8}", notice["text"]))
        gone = change("nobody@example.com", "somebody@example.org")
        self.assertEqual(len(self.arrived("somebody@example.org")), 1)
        records = sidecar.call("audit.list", {"method": "account.submitCode"})["records"]
        said = [(each["subject"], each["details"].get("outcome"), each["details"].get("notice")) for each in records]
        self.assertEqual(sorted(said), sorted([(account, "changed", None), (gone, "changed", None)]))
        # A notice that the old mailbox rejects stays in the store, and other processes can send it.
        sidecar.close()
        self.assertEqual(self.rows("SELECT attempts FROM notice"), [(1,)])
        self.assertEqual((self.take(), self.take("alice@example.org")), ([], []))

    @only("sqlite")
    def test_notice_is_sent_before_command_exits_and_unavailable_server_does_not_fail_request(self):
        store = self.path("notices.db")
        environment = {"MINTMARK_SMTP_URL": f"smtp://localhost:{self.ports['login']}", "MINTMARK_SMTP_USER": USER,
                       "MINTMARK_SMTP_PASSWORD": PASSWORD, "MINTMARK_MAIL_FROM": "accounts@shop.example", "MINTMARK_CA_FILE": self.authority}
        def called(method, params, **more):
            done = run("call", "--store", store, method, json.dumps(params), environment={**environment, **more})
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(done.stdout)
        called("account.create", {"username": ALICE, "emailVerified": True})

        def change(name, **more):
            """Signs in with a new provider with a trusted email address, which links the provider to the account."""
            provider = Provider(f"https://{name}.example.com")
            called("idp.create", {"providerId": name, "clientId": "shop", "issuer": provider.issuer, "keys": [provider.jwk], "trustEmail": True})
            credential = {"providerId": name, "idToken": provider.token("alice", email=ALICE, email_verified=True)}
            self.assertFalse(called("signIn.withCredential", {"credential": credential}, **more)["isNewAccount"])
        change("oidc.first")
        notice, = self.take()
        self.assertIn("oidc.first", notice["text"])
        change("oidc.second", MINTMARK_SMTP_URL="smtp://localhost:9")
        self.assertEqual(self.take(), [])
        connection = sqlite3.connect(store, isolation_level=None)
        self.assertEqual(connection.execute("SELECT attempts FROM notice").fetchall(), [(1,)])
        # When the notice is due, the next change also sends it.
        connection.execute("UPDATE notice SET due_at = 0")
        connection.close()
        change("oidc.third")
        self.assertEqual(len(self.take()), 2)

    def test_templates_cannot_inject_headers_and_invalid_settings_are_rejected(self):
        sidecar = self.spawn()

        def refused(**delivery):
            return self.refused("invalidTenantSettings", sidecar, "tenant.update", {"tenantId": "default", "delivery": delivery}).data
        words = {"purpose": "signUp", "language": "en", "subject": "{{code}}", "text": "{{code}}"}
        for line_end in ("\r\n", "\n", "\r", "\u2028", "\u0085"):
            data = refused(templates=[words | {"subject": f"Hello{line_end}Bcc: everybody@example.com"}])
            self.assertEqual(data["pointer"], "/delivery/templates/0/subject")
        self.assertIn("{{code}} is missing", refused(templates=[words | {"text": "Hello"}])["reason"])
        self.assertIn("did you mean {{code}}", refused(templates=[words | {"text": "{{cod}}"}])["reason"])
        self.assertIn("another template has the same", refused(templates=[words, words])["reason"])
        both = refused(templates=[words | {"subject": "{{x}}", "text": "Hello"}])
        self.assertEqual(both["pointer"], "/delivery/templates/0/subject")
        self.assertTrue(both["reason"].startswith("{{x}} is not a known placeholder"), both)
        self.assertIn("text: {{code}} is missing", both["reason"])
        self.assertIn("only to loopback addresses", refused(smtp=self.smtp(host="8.8.8.8", encryption="noneToLoopback"))["reason"])
        self.assertEqual(refused(smtp=self.smtp(**{"from": "a@b.example\r\nBcc: c@d.example"}))["pointer"], "/delivery/smtp/from")
        self.assertEqual(refused(smtp=self.smtp(host="mail.example/x"))["pointer"], "/delivery/smtp/host")
        self.assertEqual(refused(webhook={"url": "http://hooks.example/", "secret": SECRET})["pointer"], "/delivery/webhook/url")
        self.assertEqual(refused(smtp=self.smtp(replyTo="a@b.example\r\nBcc: c@d.example"))["pointer"], "/delivery/smtp/replyTo")
        for language in ("de\r\nBcc: everybody@example.com", "de; charset=x", "", "d", "x" * 65):
            found = self.violations(sidecar, "tenant.update", {"tenantId": "default", "delivery": {"language": language}})
            self.assertEqual({each[0] for each in found}, {"/delivery/language"})
            for method in ("signUp.start", "signIn.start", "passwordReset.start"):
                found = self.violations(sidecar, method, {"username": ALICE, "language": language})
                self.assertEqual({each[0] for each in found}, {"/language"})
        # Line breaks in the tenant name cannot end the subject line.
        sidecar = self.spawn(environment={"MINTMARK_CA_FILE": self.authority})
        sidecar.call("tenant.create", {"tenantId": "evil", "name": "Shop\r\nBcc: everybody@example.com", "delivery": {
            "smtp": self.smtp(), "templates": [words | {"subject": "{{code}} {{tenantName}}"}]}})
        self.start(sidecar, "evil")
        mail, = self.take()
        self.assertNotIn("Bcc", mail["headers"])
        self.assertEqual(mail["subject"], f"{self.code(mail)} Shop  Bcc: everybody@example.com")
        # The sender name cannot inject headers either. A tenant name of emoji is kept, and the address is escaped in HTML.
        name = "\U0001f469\u200d\U0001f4bb" * 42
        sidecar.call("tenant.create", {"tenantId": "odd", "name": name, "delivery": {
            "smtp": self.smtp(fromName="Shop\r\nBcc: everybody@example.com"),
            "templates": [words | {"subject": "{{code}} {{tenantName}}", "html": "<p>{{code}} {{address}}</p>"}]}})
        self.start(sidecar, "odd", "a'&b@example.com")
        mail, = self.take("a'&b@example.com")
        self.assertNotIn("Bcc", mail["headers"])
        self.assertEqual((mail["boxes"]["From"]["address"], mail["subject"]), ("accounts@shop.example", f"{self.code(mail)} {name}"))
        self.assertIn("a&#39;&amp;b@example.com", mail["html"])


class Webhooks(Delivery):
    stores = ("sqlite",)

    def received(self, port):
        """Returns the only request that the receiver got, with the result of its signature check."""
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/all") as answer:
            came = json.load(answer)
        self.assertEqual(len(came), 1)
        return came[0]

    def test_webhook_request_has_signature_that_receiver_verifies(self):
        _, port = self.started("webhookserver.py")
        sidecar = self.spawn(environment={"MINTMARK_WEBHOOK_URL": f"http://127.0.0.1:{port}/200", "MINTMARK_WEBHOOK_SECRET": SECRET})
        token = self.start(sidecar)
        post = self.received(port)
        self.assertEqual(post["secrets"], [SECRET])
        body = post["body"]
        self.assertEqual((body["channel"], body["to"], body["purpose"], body["tenantId"]), ("email", ALICE, "signUp", "default"))
        self.assertIn(body["code"], body["subject"])
        self.finish(sidecar, token, body["code"])

    def test_failed_webhook_is_reported_with_its_retry_time(self):
        _, port = self.started("webhookserver.py")
        sidecar = self.spawn()

        def hook(path, **more):
            return {"tenantId": "default", "delivery": {"webhook": {
                "url": f"http://127.0.0.1:{port}/{path}", "secret": SECRET, "allowInsecure": True, **more}}}
        answered = sidecar.call("tenant.update", hook("503"))
        self.assertEqual(answered["delivery"]["webhook"], {
            "url": f"http://127.0.0.1:{port}/503", "allowPrivateNetwork": False, "allowInsecure": True})
        error = self.refused("messageNotSent", sidecar, "signUp.start", {"username": ALICE})
        self.assertEqual(error.data["retryAfterSeconds"], 30)
        self.assertIn("503", error.data["reason"])
        self.refused("invalidTenantSettings", sidecar, "tenant.update", hook("200", allowInsecure=False))
        # A long response body does not change the success.
        sidecar.call("tenant.update", hook("200-at-length"))
        self.assertIsNotNone(self.start(sidecar))
        url = {"url": f"https://127.0.0.1:{port}/200", "allowInsecure": False}
        sidecar.call("tenant.update", hook("200", **url))
        error = self.refused("messageNotSent", sidecar, "signUp.start", {"username": "bob@example.com"})
        self.assertIn("allowPrivateNetwork", error.data["reason"])

    def test_missing_delivery_configuration_error_names_options(self):
        error = self.refused("messageNotSent", self.spawn(), "signUp.start", {"username": ALICE})
        for name in ("tenant.update", "--smtp-url", "MINTMARK_SMTP_URL", "MINTMARK_MAIL_FROM", "MINTMARK_WEBHOOK_URL"):
            self.assertIn(name, error.message)

    def test_options_configure_webhook_and_secret_file(self):
        _, port = self.started("webhookserver.py")
        with open(self.path("secret"), "w", encoding="utf-8") as file:
            file.write(SECRET + "\n")
        sidecar = self.spawn("--webhook-url", f"http://127.0.0.1:{port}/200", "--webhook-secret-file", self.path("secret"))
        token = self.start(sidecar)
        post = self.received(port)
        self.assertEqual(post["secrets"], [SECRET])
        self.finish(sidecar, token, post["body"]["code"])


class CommandLine(Delivery):
    stores = ("sqlite",)

    def started_with(self, *options, **environment):
        return run("serve", "--store", ":memory:", *options, home=self.folder, input=b"",
                   environment={f"MINTMARK_{name}": value for name, value in environment.items()})

    def test_invalid_options_are_rejected_at_start_with_correction(self):
        with open(self.path("empty"), "w", encoding="utf-8"):
            pass
        sender, server = ("--mail-from", "a@shop.example"), ("--smtp-url", "smtp://mail.example.com")
        hook = ("--webhook-url", "https://hooks.example.com/x")
        for options, environment, *said in [
            (("--smtp-url", "mail.example.com:587", *sender), {}, "--smtp-url", "smtp://mail.example.com:587"),
            (("--smtp-url", "smpt://mail.example.com", *sender), {}, "--smtp-url", "smtps://mail.example.com:465"),
            (("--smtp-url", "smtp://", *sender), {}, "--smtp-url", "host"),
            (("--smtp-url", "smtp://mail.example.com:99999", *sender), {}, "port"),
            (sender, {"SMTP_URL": "https://mail.example.com"}, "MINTMARK_SMTP_URL", "smtp://mail.example.com:587"),
            (("--smtp-url", "smtp://me:hidden@mail.example.com", *sender), {}, "--smtp-user", "--smtp-password-file"),
            (server, {}, "--mail-from", "MINTMARK_MAIL_FROM"),
            (sender, {}, "--smtp-url"),
            ((*server, "--mail-from", "Shop <a@shop.example>"), {}, "--mail-from", "name@example.com"),
            ((*server, *sender, "--smtp-user", "me"), {}, "MINTMARK_SMTP_PASSWORD", "--smtp-password-file"),
            ((*server, *sender), {"SMTP_PASSWORD": "hidden"}, "--smtp-user"),
            ((*server, *sender, "--smtp-user", "me", "--smtp-password-file", self.path("none")), {}, "none", "cannot be read"),
            ((*server, *sender, "--smtp-user", "me", "--smtp-password-file", self.path("empty")), {}, "empty", "has an empty first line"),
            ((*server, *sender, "--smtp-user", "me", "--smtp-password-file", self.path("empty")), {"SMTP_PASSWORD": "hidden"}, "exclude"),
            ((*server, *sender, "--smtp-user", "me", "--smtp-password", "hidden"), {}, "--smtp-password"),
            (hook, {}, "MINTMARK_WEBHOOK_SECRET", "--webhook-secret-file"),
            (hook, {"WEBHOOK_SECRET": "hidden"}, "MINTMARK_WEBHOOK_SECRET", "16 bytes"),
            ((), {"WEBHOOK_SECRET": SECRET}, "--webhook-url"),
            (("--webhook-url", "hooks.example.com/x"), {"WEBHOOK_SECRET": SECRET}, "--webhook-url", "https://hooks.example.com/"),
            (("--webhook-url", "http://hooks.example.com/x"), {"WEBHOOK_SECRET": SECRET}, "https"),
            (("--webhook-url", "https:///x"), {"WEBHOOK_SECRET": SECRET}, "host"),
            (("--webhook-url", "https://me:hidden@hooks.example.com/"), {"WEBHOOK_SECRET": SECRET}, "signed"),
            ((), {"WEBHOOK_URL": "https://hooks.example.com:0/", "WEBHOOK_SECRET": SECRET}, "MINTMARK_WEBHOOK_URL", "port"),
            ((), {"SMTP_PASWORD": "hidden"}, "MINTMARK_SMTP_PASSWORD"),
            (("--smtp-url", "smtp://8.8.8.8:25", "--smtp-unencrypted", *sender), {}, "--smtp-url", "only to loopback addresses"),
        ]:
            with self.subTest(options=options, environment=environment):
                done = self.started_with(*options, **environment)
                self.assertEqual((done.returncode, done.stdout), (64, b""), done.stderr)
                for text in said:
                    self.assertIn(text, done.stderr.decode())
                self.assertNotIn(b"hidden", done.stderr)
                self.assertNotIn(SECRET.encode(), done.stderr)

    def test_doctor_reports_tenants_without_name(self):
        store = self.path("names.db")
        said = lambda: run("doctor", "--store", store, home=self.folder).stdout.decode()
        with self.spawn(store=store) as sidecar:
            sidecar.call("tenant.create", {"tenantId": "named", "name": "The Shop"})
        self.assertNotIn("has no name", said())
        with self.spawn(store=store) as sidecar:
            sidecar.call("tenant.create", {"tenantId": "bare"})
            sidecar.call("account.create", {"username": ALICE})
        for tenant in ("bare", "default"):
            self.assertIn(f"tenant {tenant} has no name", said())
        self.assertNotIn("tenant named", said())

    def test_help_and_doctor_describe_delivery(self):
        text = run("help", "mail", home=self.folder).stdout.decode()
        for option in ("--smtp-url", "--mail-from", "--smtp-user", "--smtp-password-file", "--webhook-url", "--webhook-secret-file"):
            self.assertIn(option, text)
        text = run("doctor", "--store", ":memory:", home=self.folder).stdout.decode()
        self.assertIn("emails are not configured", text)
        self.assertIn("--smtp-url", text)
        done = run("doctor", "--store", ":memory:", "--smtp-url", "smtps://mail.example.com", "--mail-from", "a@shop.example", "--webhook-url",
                   "https://hooks.example.com/hidden", home=self.folder, environment={"MINTMARK_WEBHOOK_SECRET": SECRET})
        text = done.stdout.decode()
        for said in ("smtps://mail.example.com:465", "a@shop.example", "https://hooks.example.com;"):
            self.assertIn(said, text)
        self.assertNotIn("hidden", text)
