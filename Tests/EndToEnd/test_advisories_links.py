"""Families of published advisories: links and codes by email, addresses, and accounts that another user created in advance."""

import concurrent.futures
import unittest

import pyotp

from endtoend import EndToEnd
from sidecar import RpcError
from test_notices import ALICE, OTHER, PASSWORD, Noticed

EVIL = "mallory@evil.example"
PAGE = "https://shop.example/action"


class Advised(Noticed):
    def create(self, purpose, email=ALICE, **more):
        return self.call("oob.create", purpose=purpose, email=email, returnLink=True, **more)["code"]

    def refuse(self, wanted, method, **params):
        return self.refused(wanted, self.sidecar, method, params)


class PendingLinks(Advised):
    """A link that a user requested before losing access. USENIX Security 2022 «Pre-hijacked accounts» (unexpired email change);
    CVE-2026-115770 (Pocket ID), CVE-2026-9087 and CVE-2026-82968 (Keycloak): proofs that outlive what they were issued for."""

    def changed(self, how):
        """Starts a change to the attacker's address and a reset, lets the owner take the account back, and returns both codes."""
        account = self.account_of()
        session = self.session()
        codes = self.create("changeEmail", newEmail=EVIL), self.create("passwordReset")
        self.later(1)
        how(account, session)
        return codes

    def ended(self, how):
        change, reset = self.changed(how)
        self.refuse("actionCodeInvalid", "oob.apply", code=change)
        self.refuse("actionCodeInvalid", "oob.apply", code=reset, newPassword="yet another Horse 11")
        self.assertEqual([each["email"] for each in self.call("account.list")["accounts"]], [ALICE])

    def test_reset_by_code_ends_them(self):
        self.ended(lambda account, session: self.reset())

    def test_reset_by_link_ends_them(self):
        self.ended(lambda account, session: self.call("oob.apply", code=self.create("passwordReset"), newPassword=OTHER))

    def test_change_of_the_password_ends_them(self):
        self.ended(lambda account, session: self.call(
            "account.changePassword", idToken=session["idToken"], currentPassword=PASSWORD, newPassword=OTHER))

    def test_own_new_password_ends_them(self):
        self.ended(lambda account, session: self.call("account.setOwnPassword", idToken=session["idToken"], newPassword=OTHER))

    def test_password_by_the_developer_ends_them(self):
        self.ended(lambda account, session: self.call("account.update", accountId=account, password=OTHER))

    def test_new_second_factor_ends_the_change_of_address(self):
        change, _ = self.changed(lambda account, session: self.enroll(session["idToken"]))
        self.refuse("actionCodeInvalid", "oob.apply", code=change)

    def test_undone_change_of_address_ends_the_next_one(self):
        account = self.account_of()
        self.settings(delivery={"linkUrl": PAGE})
        late = self.create("changeEmail", newEmail="other@evil.example")
        step = self.call("account.changeEmail", idToken=self.session()["idToken"], email=EVIL)
        self.call("account.submitCode", continuationToken=step["continuationToken"], code=self.code(EVIL))
        self.call("oob.apply", code=self.create("revertEmail", accountId=account))
        self.refuse("actionCodeInvalid", "oob.apply", code=late)
        self.assertEqual(self.call("account.get", accountId=account)["email"], ALICE)

    def test_password_by_the_developer_ends_sign_ins_that_wait_for_a_factor(self):
        """CVE-2026-9798 and CVE-2026-16103 (Keycloak): what was begun before the account was secured must not be redeemed after."""
        account = self.account_of()
        _, secret, factor = self.enroll(self.session()["idToken"])
        self.later(30)
        pending = self.session()["continuationToken"]
        self.call("account.update", accountId=account, password=OTHER)
        self.refuse("flowEnded", "mfa.resolve", continuationToken=pending, factorId=factor, code=pyotp.TOTP(secret).at(self.now))


class Confusion(Advised):
    def test_code_of_one_purpose_serves_no_other(self):
        """CVE-2026-114607 (Better Auth): the state of an OAuth flow was accepted as a magic link."""
        account = self.account_of()
        tokens = [self.create("verifyEmail"), self.create("passwordReset"), self.create("changeEmail", newEmail=EVIL),
                  self.create("revertEmail", accountId=account)]
        step = self.call("signIn.start", username=ALICE)
        refresh = self.session()
        foreign = [step["continuationToken"], refresh["refreshToken"], refresh["idToken"]]
        for code in tokens + foreign:
            self.refuse({"actionCodeInvalid", "invalidParams"}, "signIn.withLink", email=ALICE, code=code)
        sign_in = self.create("signIn")
        for code in [sign_in] + foreign:
            self.refuse({"actionCodeInvalid", "invalidParams"}, "oob.apply", code=code)
        for method, params in (("signIn.withContinuation", {}), ("signIn.submitPassword", {"password": PASSWORD}),
                               ("passwordReset.submitPassword", {"password": OTHER}), ("mfa.resolve", {"code": "000000"})):
            for code in tokens + [sign_in]:
                self.refuse({"continuationTokenInvalid", "invalidParams"}, method, continuationToken=code, **params)
        self.assertEqual(self.call("signIn.withLink", email=ALICE, code=sign_in)["account"]["accountId"], account)

    def test_reset_reaches_its_password_step_only_with_the_code(self):
        """CVE-2026-18963 (Keycloak): the reset flow accepted the new password without the code of the email."""
        self.account_of()
        step = self.call("passwordReset.start", username=ALICE)
        quiet = self.call("passwordReset.start", username=ALICE, send=False)
        for token in (step["continuationToken"], quiet["continuationToken"]):
            self.refuse("stepNotPossible", "passwordReset.submitPassword", continuationToken=token, password=OTHER)
            self.refuse("stepNotPossible", "signIn.withContinuation", continuationToken=token)
            self.refuse("continuationTokenInvalid", "signUp.submitPassword", continuationToken=token, password=OTHER)
            self.refuse("continuationTokenInvalid", "signIn.submitPassword", continuationToken=token, password=PASSWORD)
            self.refuse({"continuationTokenInvalid", "stepNotPossible"}, "mfa.enroll", continuationToken=token, kind="totp")
        self.refuse("stepNotPossible", "passwordReset.submitCode", continuationToken=quiet["continuationToken"], code="00000000")
        self.refuse("invalidCode", "passwordReset.submitCode", continuationToken=step["continuationToken"], code="00000000")
        self.session()

    def test_one_of_many_parallel_uses_of_a_link_succeeds(self):
        """CVE-2025-46815 (Zitadel): the token of an identity provider's intent could be used repeatedly."""
        self.account_of()
        code = self.create("signIn")
        others = [self.spawn(store=self.store, testing=True) for _ in range(2)] if self.store.startswith("/") else []

        def use(sidecar):
            try:
                return sidecar.call("signIn.withLink", {"email": ALICE, "code": code}, timeout=60)["state"]
            except RpcError as error:
                return error.type
        with concurrent.futures.ThreadPoolExecutor() as pool:
            found = list(pool.map(use, [self.sidecar, *others] * 4))
        self.assertEqual((found.count("completed"), set(found)), (1, {"completed", "actionCodeInvalid"}))


class Addresses(Advised):
    def test_address_that_is_not_one_exact_address_is_refused(self):
        """CVE-2023-7028 (GitLab): a list of addresses. Email normalization and homographs: CVE-2019-19844 (Django)."""
        self.account_of()
        wrong = (f"{ALICE},{EVIL}", f"{ALICE} {EVIL}", f"{ALICE}\n{EVIL}", f"{ALICE}%0a{EVIL}", "al\u0131ce@example.com", "alice@ex\u00e4mple.com",
                 "\uff41lice@example.com", "alice@e\u212aample.com", f"<{ALICE}>", f"\u200b{ALICE}", f"{ALICE}\u0000", f"\"{ALICE}\"@evil.example",
                 f"{ALICE}@evil.example", ALICE + ".")
        for address in wrong:
            for method, params in (("passwordReset.start", {}), ("signIn.start", {}), ("signUp.start", {}),
                                   ("signIn.withPassword", {"password": PASSWORD})):
                self.refuse({"invalidUsername", "invalidParams", "userNotFound"}, method, username=address, **params)
            self.refuse({"invalidUsername", "invalidParams"}, "oob.create", purpose="passwordReset", email=address, returnLink=True)
        self.refuse("invalidParams", "passwordReset.start", username=[ALICE, EVIL])
        self.refuse("invalidParams", "oob.create", purpose="passwordReset", email=[ALICE, EVIL], returnLink=True)
        self.assertEqual(self.messages(), [])

    def test_address_in_capitals_is_the_same_account_and_the_message_goes_to_the_stored_address(self):
        """Email normalization, CVE-2019-19844 (Django): a second account by another case; messages to the address as the requester typed it."""
        self.account_of()
        self.refuse("userAlreadyExists", "signUp.start", username=ALICE.upper())
        self.call("passwordReset.start", username=ALICE.upper())
        self.assertEqual({each["to"].lower() for each in self.messages()}, {ALICE})

    def test_page_of_a_link_is_the_tenants(self):
        """CVE-2025-48936, CVE-2025-64101 (Zitadel): headers set the scheme and host of links in emails. CVE-2024-56734 (Better Auth)."""
        self.account_of()
        self.settings(delivery={"linkUrl": PAGE})
        made = self.call("oob.create", purpose="passwordReset", email=ALICE, returnLink=True, continueUrl="https://evil.example/")
        self.assertTrue(made["link"].startswith(PAGE + "?"), made)
        for url in ("javascript:alert(1)", "javascript://x/%0aalert(1)", "data:text/html,x", "//evil.example", "/x", "http://evil.example",
                    "vbscript:x", "https://"):
            self.refuse("invalidParams", "oob.create", purpose="passwordReset", email=ALICE, returnLink=True, continueUrl=url)

    def test_public_caller_gets_no_codes(self):
        """CVE-2026-105211 (Zitadel): codes were returned to the person who should receive them by mail."""
        if not self.store.startswith("/"):
            self.store = self.path("public.db")
        EndToEnd.spawn(self, store=self.store).finish()
        public = self.spawn("--caller", "public", store=self.store)
        for purpose in ("passwordReset", "signIn", "verifyEmail"):
            self.refused("callerNotAllowed", public, "oob.create", {"purpose": purpose, "email": ALICE, "returnLink": True})
        self.refused("callerNotAllowed", public, "test.outbox", {}) if "test.outbox" in public.call("rpc.discover") else None


class CreatedInAdvance(Advised):
    def test_owner_who_comes_by_a_provider_gets_the_account_alone(self):
        """CVE-2026-53516 (Better Auth), CVE-2026-44166 and CVE-2024-38351 (PocketBase): the one who registered first stayed in the account."""
        self.call("idp.update", providerId="oidc.work", trustEmail=True)
        self.call("account.create", username=ALICE, password=PASSWORD)
        before = self.session()
        other = self.idp("oidc.evil")
        self.call("account.link", idToken=before["idToken"], credential=self.credential(other, subject="mallory", email=None))
        before = self.session()
        done = self.call("signIn.withCredential", credential=self.credential(subject="alice", email=ALICE, email_verified=True))
        self.refuse({"refreshTokenInvalid", "accountMerged"}, "session.refresh", refreshToken=before["refreshToken"])
        self.refuse({"passwordNotSet", "invalidPassword"}, "signIn.withPassword", username=ALICE, password=PASSWORD)
        thief = self.call("signIn.withCredential", credential=self.credential(other, subject="mallory", email=None))
        self.assertNotEqual(thief["account"]["accountId"], done["account"]["accountId"])

    def test_unverified_address_of_a_provider_opens_nothing(self):
        """CVE-2026-9092 (Casdoor), CVE-2026-41574 (Nhost), CVE-2026-120263 (Gitea): linking by an address that the provider did not verify."""
        self.account_of()
        for claims in ({"email_verified": False}, {}, {"email_verified": "false"}, {"email_verified": None}, {"email_verified": 0}):
            done = self.call("signIn.withCredential", credential=self.credential(subject="mallory", email=ALICE, **claims))
            self.assertEqual(done["state"], "providerRequired", claims)
            self.assertNotIn("idToken", done)

    def test_link_for_an_account_with_a_temporary_password_demands_a_new_one(self):
        """CVE-2025-3910 (Keycloak): a required action was skipped through another door."""
        account = self.account_of(mustChangePassword=True)
        code = self.create("signIn")
        self.refuse("passwordChangeRequired", "signIn.withLink", email=ALICE, code=code)
        self.reset()
        self.assertEqual(self.call("signIn.withLink", email=ALICE, code=code)["account"]["accountId"], account)


if __name__ == "__main__":
    unittest.main()
