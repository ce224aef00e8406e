"""Notices: an email for each change of the sign-in methods of an account, and the retries if it cannot be sent."""

import concurrent.futures
import json
import time

import pyotp

from endtoend import EndToEnd
from federation import Federation

ALICE = "alice@example.com"
PASSWORD, OTHER = "correct Horse 9", "another Horse 10"
START = 1_700_000_000
AT = "2023-11-14 22:13 UTC"
CODES = ("signUp", "signIn", "passwordReset", "verifyAddress")


class Noticed(Federation):
    """A testing store with a frozen clock. The email addresses of its accounts are verified."""

    def setUp(self):
        EndToEnd.setUp(self)
        self.store = self.path("notices.db")
        self.sidecar = self.spawn("--clock", str(START), store=self.store, testing=True)
        self.provider = self.idp("oidc.work")
        self.now = START

    def call(self, method, **params):
        return self.sidecar.call(method, params)

    def credential(self, provider=None, subject="carol", **claims):
        return super().credential(provider, subject, iat=self.now, exp=self.now + 3600, **claims)

    def settings(self, **settings):
        self.call("tenant.update", tenantId="default", **settings)

    def later(self, seconds, sidecar=None, **more):
        self.now += seconds
        (sidecar or self.sidecar).call("test.clock", {"advanceSeconds": seconds, **more})

    def account_of(self, address=ALICE, **more):
        return self.call("account.create", username=address, password=PASSWORD, emailVerified=True, **more)["accountId"]

    def session(self, address=ALICE, password=PASSWORD):
        return self.call("signIn.withPassword", username=address, password=password)

    def messages(self, to=None):
        return self.call("test.outbox", **({"to": to} if to else {}))["messages"]

    def notices(self, to=ALICE):
        """Returns the purpose and text of each message without a code, and clears the outbox."""
        found = [each for each in self.messages(to) if each["purpose"] not in CODES]
        self.call("test.outbox", clear=True, **({"to": to} if to else {}))
        for each in found:
            self.assertNotIn("code", each)
            self.assertEqual(each["channel"], "email")
            for part in (each["subject"], each["text"], each["html"]):
                self.assertNotRegex(part, r"\{\{|https?://|\d{6}|\b\d+\.\d+\.\d+\.\d+\b")
            self.assertIn("If you did not make this change", each["text"]) if each["purpose"] != "noticesPaused" else None
        return [(each["purpose"], each["text"]) for each in found]

    def purposes(self, to=ALICE):
        return [purpose for purpose, _ in self.notices(to)]

    def code(self, to=ALICE):
        return [each["code"] for each in self.messages(to) if "code" in each][-1]

    def enroll(self, token, **more):
        step = self.call("mfa.enroll", idToken=token, kind="totp", **more)
        done = self.call("mfa.confirm", continuationToken=step["continuationToken"], code=pyotp.TOTP(step["secret"]).at(self.now))
        return done["idToken"], step["secret"], done["account"]["factors"][-1]["factorId"]

    def reset(self, address=ALICE, password=OTHER, **more):
        token = self.call("passwordReset.start", username=address, **more)["continuationToken"]
        token = self.call("passwordReset.submitCode", continuationToken=token, code=self.code(address))["continuationToken"]
        return self.call("passwordReset.submitPassword", continuationToken=token, password=password)

    def wrong(self, count, address=ALICE, first=0):
        for number in range(first, first + count):
            self.refused("invalidPassword", self.sidecar, "signIn.withPassword", {"username": address, "password": f"wrong {number}"})

    def unsent(self):
        return [each["details"] for each in self.call("audit.list")["records"] if each.get("details", {}).get("notice")]

    def queued(self):
        return self.rows("SELECT * FROM notice")


class Changes(Noticed):
    def told(self, wanted, what=None, to=ALICE):
        """Checks that exactly these notices were sent, each with the time. The text of the first one must contain `what`."""
        found = self.notices(to)
        self.assertEqual([purpose for purpose, _ in found], wanted)
        for purpose, text in found:
            self.assertTrue(AT in text or self.now != START, text)
        if what:
            self.assertIn(what, found[0][1])

    def test_password_change_and_reset_send_a_notice(self):
        self.account_of()
        token = self.session()["idToken"]
        self.told([])
        self.refused("invalidPassword", self.sidecar, "account.changePassword", {"idToken": token, "currentPassword": "no", "newPassword": OTHER})
        self.told([])
        self.call("account.changePassword", idToken=token, currentPassword=PASSWORD, newPassword=OTHER)
        self.told(["passwordChanged"])
        self.reset(password=PASSWORD + "!")
        self.told(["passwordResetNotice"])

    def test_factor_and_recovery_code_changes_send_a_notice(self):
        account = self.account_of()
        token, secret, first = self.enroll(self.session()["idToken"], displayName="my phone")
        self.told(["factorAdded"], "my phone")
        token, _, second = self.enroll(token)
        self.told(["factorAdded"], "authenticator app")
        codes = self.call("mfa.recoveryCodes", idToken=token)["codes"]
        self.told(["recoveryCodesMade"])
        pending = self.session()["continuationToken"]
        self.call("mfa.resolve", continuationToken=pending, factorId="recovery", code=codes[0])
        self.told(["recoveryCodeUsed"], "Recovery codes left: 9.")
        self.call("mfa.withdraw", accountId=account, factorId=first)
        self.told(["factorRemoved"], "my phone")
        self.call("mfa.withdraw", idToken=token, factorId=second)
        self.told(["factorRemoved"])

    def test_linking_and_unlinking_a_provider_sends_a_notice(self):
        self.account_of()
        token = self.link(self.session()["idToken"], self.credential(subject="alice"))["idToken"]
        self.told(["providerLinked"], "oidc.work")
        self.call("account.unlink", idToken=token, providerId="oidc.work")
        self.told(["providerUnlinked"], "oidc.work")
        trusted = self.idp("oidc.trusted", trustEmail=True)
        self.sign_in(trusted, "alice", email=ALICE, email_verified=True)
        self.told(["providerLinked"], "oidc.trusted")
        self.sign_in(trusted, "alice", email=ALICE, email_verified=True)
        self.told([])
        # A reset verifies the address and removes a provider that was linked before.
        self.reset()
        self.told(["passwordResetNotice", "providerUnlinked"])

    def test_address_change_sends_a_notice_to_both_addresses(self):
        account = self.account_of()
        for who in ({"idToken": self.session()["idToken"]}, {"accountId": account}):
            old = self.call("account.get", accountId=account)["email"]
            new = "new-" + old
            token = self.call("account.changeEmail", email=new, language="de", **who)["continuationToken"]
            self.call("account.submitCode", continuationToken=token, code=self.code(new))
            for address in (old, new):
                self.told(["addressChanged"], to=address)
        # Verifying the current address is not a change.
        self.call("account.update", accountId=account, emailVerified=False)
        token = self.call("account.changeEmail", accountId=account, email=new)["continuationToken"]
        self.call("account.submitCode", continuationToken=token, code=self.code(new))
        self.told([], to=new)

    def test_merge_sends_a_notice_for_the_moved_provider(self):
        target = self.account_of()
        source = self.sign_in(subject="other")["idToken"]
        self.call("account.merge", idToken=self.session()["idToken"], sourceIdToken=source)
        self.told(["providerLinked"], "oidc.work")
        self.assertEqual(self.providers(target), ["password", "oidc.work"])

    def test_lockout_and_sign_in_after_five_failures_send_one_notice_each(self):
        self.account_of()
        self.wrong(4)
        self.session()
        self.told([])
        self.wrong(5)
        self.session()
        self.told(["signInAfterFailures"], "after 5 attempts")
        self.session()
        self.told([])
        self.wrong(10)
        self.told(["accountLocked"])
        for _ in range(3):
            self.refused("accountLocked", self.sidecar, "signIn.withPassword", {"username": ALICE, "password": PASSWORD})
        self.told([])
        self.later(61)
        self.session()
        self.told(["signInAfterFailures"])

    def test_failures_of_both_factors_count_and_wrong_factor_codes_send_a_lockout_notice(self):
        self.account_of()
        _, secret, factor = self.enroll(self.session()["idToken"])
        self.told(["factorAdded"])
        self.later(60)
        self.wrong(3)
        answer = self.session()
        for _ in range(2):
            self.refused("factorCodeInvalid", self.sidecar, "mfa.resolve", {
                "continuationToken": answer["continuationToken"], "factorId": factor, "code": "000000"})
        self.told([])
        given = {"continuationToken": answer["continuationToken"], "factorId": factor}
        self.call("mfa.resolve", **given, code=pyotp.TOTP(secret).at(self.now))
        self.told(["signInAfterFailures"], "after 5 attempts")
        answer = self.session()
        for _ in range(10):
            self.refused("factorCodeInvalid", self.sidecar, "mfa.resolve", {
                "continuationToken": answer["continuationToken"], "factorId": factor, "code": "000000"})
        self.told(["accountLocked"])

    def test_wrong_sign_in_and_reset_codes_send_a_lockout_notice(self):
        self.account_of()
        self.call("account.create", username="bob@example.com", emailVerified=True)
        self.settings(lockout={"threshold": 2})
        for kind, address in (("signIn", "bob@example.com"), ("passwordReset", ALICE)):
            token = self.call(f"{kind}.start", username=address)["continuationToken"]
            for _ in range(2):
                self.refused("invalidCode", self.sidecar, f"{kind}.submitCode", {"continuationToken": token, "code": "0000"})
            self.told(["accountLocked"], to=address)

    def test_unverified_address_or_disabled_notices_send_nothing(self):
        self.call("account.create", username="bob@example.com", password=PASSWORD, emailVerified=False)
        token = self.session("bob@example.com")["idToken"]
        self.call("account.changePassword", idToken=token, currentPassword=PASSWORD, newPassword=OTHER)
        self.assertEqual(self.messages(), [])
        self.assertEqual(self.call("tenant.get", tenantId="default")["notices"], "credentials")
        changes = self.call("system.apply", tenants=[{"tenantId": "default", "notices": "none"}])["changes"]
        self.assertEqual(changes[0]["changed"], ["notices"])
        self.account_of()
        self.call("account.changePassword", idToken=self.session()["idToken"], currentPassword=PASSWORD, newPassword=OTHER)
        self.wrong(10)
        self.assertEqual(self.messages(), [])
        self.assertEqual(self.unsent(), [])

    def test_failed_sign_ins_without_an_account_send_nothing(self):
        self.settings(enumerationProtection=True, localAccountMethod="emailPassword")
        self.wrong(10, "nobody@example.com")
        self.assertEqual(self.messages(), [])


class Words(Noticed):
    def test_templates_use_the_time_and_the_subject_in_the_language_of_the_flow(self):
        words = [{"purpose": "passwordResetNotice", "language": language, "subject": f"{language} {{{{tenantName}}}}",
                  "text": "{{address}} {{time}} [{{what}}]"} for language in ("de", "fr")]
        words.append({"purpose": "providerLinked", "language": "fr", "subject": "s", "text": "{{what}}", "html": "<p>{{what}}</p>"})
        self.settings(name="Shop", delivery={"templates": words, "language": "fr"})
        self.account_of()
        self.reset(language="de-AT")
        self.reset(password=PASSWORD)
        found = [(each["language"], each["subject"], each["text"]) for each in self.messages(ALICE) if "code" not in each]
        self.assertEqual(found, [(language, f"{language} Shop", f"{ALICE} {AT} []") for language in ("de", "fr")])
        self.link(self.session()["idToken"], self.credential())
        self.assertEqual(self.messages(ALICE)[-1]["html"], "<p>oidc.work</p>")

    def test_notice_templates_reject_code_placeholders_and_code_templates_reject_notice_placeholders(self):
        for purpose, text, reason in (
                ("passwordChanged", "{{code}}", "{{tenantName}}, {{address}}, {{time}}, {{what}}"), ("factorAdded", "{{minutes}}", "{{what}}"),
                ("signIn", "{{code}} {{time}}", "{{minutes}}"), ("signUpNotice", "{{what}}", "{{address}}")):
            with self.subTest(purpose=purpose):
                error = self.refused("invalidTenantSettings", self.sidecar, "tenant.update", {"tenantId": "default", "delivery": {
                    "templates": [{"purpose": purpose, "language": "en", "subject": "s", "text": text}]}})
                self.assertIn(reason, error.data["reason"])


class Limits(Noticed):
    def test_account_gets_ten_notices_per_hour_and_one_about_the_pause(self):
        self.account_of()
        self.account_of("bob@example.com")
        token = self.session()["idToken"]
        for number in range(14):
            passwords = (PASSWORD, OTHER) if number % 2 == 0 else (OTHER, PASSWORD)
            token = self.call("account.changePassword", idToken=token, currentPassword=passwords[0], newPassword=passwords[1])["idToken"]
        self.assertEqual(self.purposes(), ["passwordChanged"] * 10 + ["noticesPaused"])
        # Notices of another account, and codes, have separate limits.
        self.call("account.changePassword", idToken=self.session("bob@example.com")["idToken"], currentPassword=PASSWORD, newPassword=OTHER)
        self.assertEqual(self.purposes("bob@example.com"), ["passwordChanged"])
        self.assertEqual(self.call("signIn.start", username=ALICE)["state"], "passwordRequired")
        self.later(3599)
        self.call("account.changePassword", idToken=token, currentPassword=PASSWORD, newPassword=OTHER)
        self.assertEqual(self.purposes(), [])
        self.later(1)
        self.reset(password=PASSWORD)
        self.assertEqual(self.purposes(), ["passwordResetNotice"])


class Retries(Noticed):
    def refuse(self, sidecar=None, **more):
        (sidecar or self.sidecar).call("test.fault", {"delivery": "refused", "to": ALICE, "times": 1000, **more})

    def change(self, sidecar=None):
        sidecar = sidecar or self.sidecar
        token = sidecar.call("signIn.withPassword", {"username": ALICE, "password": PASSWORD})["idToken"]
        sidecar.call("account.changePassword", {"idToken": token, "currentPassword": PASSWORD, "newPassword": OTHER})

    def test_unsent_notice_fails_no_request_and_is_retried(self):
        self.account_of()
        self.refuse()
        self.change()
        self.session(password=OTHER)
        self.assertEqual(self.purposes(), [])
        row, = self.queued()
        self.assertNotIn(ALICE, repr(row))
        self.later(59)
        self.call("test.fault", clear=True)
        self.assertEqual(self.purposes(), [])
        self.later(1)
        found = self.notices()
        self.assertEqual([purpose for purpose, _ in found], ["passwordChanged"])
        self.assertIn(AT, found[0][1])
        self.later(86_400)
        self.assertEqual((self.notices(), self.queued(), self.unsent()), ([], [], []))

    def test_notice_is_dropped_after_a_day_with_an_audit_record(self):
        account = self.account_of()
        self.refuse()
        self.change()
        for _ in range(23):
            self.later(3600)
        self.assertEqual((len(self.queued()), self.unsent()), (1, []))
        self.later(3600)
        self.later(3600)
        self.assertEqual((self.queued(), self.notices()), ([], []))
        record, = [each for each in self.sidecar.call("audit.list", {"method": "account.changePassword"})["records"] if "notice" in each["details"]]
        self.assertEqual((record["subject"], record["details"]["notice"], record["details"]["purpose"]), (account, "noticeNotSent", "passwordChanged"))
        self.assertIn("test.fault rejects it", record["details"]["reason"])
        self.assertNotIn(ALICE, json.dumps(record))
        self.assertTrue(self.call("audit.verify")["intact"])

    def test_queued_notice_survives_the_process_and_is_sent_once_by_several(self):
        self.account_of()
        self.refuse()
        self.change()
        self.sidecar.process.kill()
        self.sidecar.process.wait()
        processes = [self.spawn(store=self.store, testing=True) for _ in range(4)]
        self.sidecar = processes[0]
        self.assertEqual(len(self.queued()), 1)
        self.later(3600, settle=False)
        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda each: each.call("test.clock", {"advanceSeconds": 1}), processes))
        self.assertEqual((self.purposes(), self.queued()), (["passwordChanged"], []))

    def test_failed_change_sends_no_notice(self):
        self.account_of()
        token = self.session()["idToken"]
        self.call("test.fault", store="full")
        self.refused("storeFull", self.sidecar, "account.changePassword", {"idToken": token, "currentPassword": PASSWORD, "newPassword": OTHER})
        self.call("test.fault", clear=True)
        self.assertEqual((self.purposes(), self.queued()), ([], []))

    def test_without_a_delivery_notices_are_only_recorded_in_the_audit_log(self):
        sidecar, now = self.spawn(store=self.path("plain.db")), int(time.time())
        account = sidecar.call("account.create", {"username": ALICE, "emailVerified": True})["accountId"]
        trusted = self.idp("oidc.trusted", sidecar, trustEmail=True)
        token = trusted.token("alice", email=ALICE, email_verified=True, iat=now, exp=now + 3600)
        sidecar.call("signIn.withCredential", {"credential": {"providerId": "oidc.trusted", "idToken": token}})
        records = [each for each in sidecar.call("audit.list")["records"] if each.get("details", {}).get("notice")]
        self.assertEqual([(each["method"], each["subject"], each["details"]["purpose"]) for each in records],
                         [("signIn.withCredential", account, "providerLinked")])
        self.assertIn("no mail server", records[0]["details"]["reason"])
