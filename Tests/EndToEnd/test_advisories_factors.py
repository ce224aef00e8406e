"""Families of published advisories: second factors, passkeys, guessing and lockouts."""

import concurrent.futures
import unittest

import pyotp

from authenticators import UP, UV, Authenticator, PasskeyTests
from sidecar import RpcError
from test_advisories_links import Advised
from test_notices import ALICE, OTHER, PASSWORD

BOB = "bob@example.com"


class OtherDoors(Advised):
    """CVE-2025-64103 (Zitadel), CVE-2026-105207 (Zitadel), CVE-2025-3910 (Keycloak): sign-ins and links that forgot the second factor."""

    def setUp(self):
        super().setUp()
        self.account = self.account_of()
        token, self.secret, self.factor = self.enroll(self.session()["idToken"])
        self.call("account.link", idToken=token, credential=self.credential(subject="alice", email=None))
        self.later(30)

    def state(self, answer):
        self.assertNotIn("idToken", answer)
        return answer["state"]

    def test_every_sign_in_asks_for_the_factor(self):
        found = [self.state(self.session()), self.state(self.call("signIn.withLink", email=ALICE, code=self.create("signIn"))),
                 self.state(self.call("signIn.withCredential", credential=self.credential(subject="alice")))]
        step = self.call("signIn.start", username=ALICE)
        found.append(self.state(self.call("signIn.submitPassword", continuationToken=step["continuationToken"], password=PASSWORD)))
        found.append(self.state(self.call("signIn.withContinuation", continuationToken=self.reset()["continuationToken"])))
        self.assertEqual(set(found), {"secondFactorRequired"})

    def test_pending_sign_in_is_nothing_but_a_pending_sign_in(self):
        token = self.session()["continuationToken"]
        for method, params in (("mfa.enroll", {"kind": "totp"}), ("mfa.confirm", {"code": "000000"}), ("signIn.withContinuation", {}),
                               ("mfa.confirm", {}), ("signIn.submitPassword", {"password": PASSWORD}), ("signUp.submitPassword", {"password": OTHER}),
                               ("passwordReset.submitPassword", {"password": OTHER}), ("passkey.startRegistration", {})):
            error = self.refuse({"stepNotPossible", "continuationTokenInvalid", "passkeysOff"}, method, continuationToken=token, **params)
            self.assertNotIn("idToken", str(error.data))
        for factor in ("recovery", "x", "", self.factor + " "):
            self.refuse({"factorCodeInvalid", "factorNotFound", "invalidParams"}, "mfa.resolve", continuationToken=token, factorId=factor, code="000000")

    def test_own_password_and_deletion_need_the_factor_in_the_session(self):
        recent = self.call("mfa.resolve", continuationToken=self.session()["continuationToken"], factorId=self.factor,
                           code=pyotp.TOTP(self.secret).at(self.now))
        fresh = self.call("account.setOwnPassword", idToken=recent["idToken"], newPassword=OTHER)
        self.assertEqual(self.call("account.me", idToken=fresh["idToken"])["factors"], ["totp"])
        self.call("account.deleteOwn", idToken=fresh["idToken"])

    def test_code_of_an_app_counts_once_for_all_flows_and_processes(self):
        """TOTP replay: CVE-2024-0227 (devise-two-factor), CVE-2015-7225, CVE-2025-64102 (Zitadel)."""
        flows = [self.session()["continuationToken"] for _ in range(6)]
        others = [self.spawn(store=self.store, testing=True) for _ in range(2)] if self.store.startswith("/") else []
        code = pyotp.TOTP(self.secret).at(self.now)

        def use(number):
            sidecar = [self.sidecar, *others][number % (1 + len(others))]
            try:
                return sidecar.call("mfa.resolve", {"continuationToken": flows[number], "factorId": self.factor, "code": code}, timeout=60)["state"]
            except RpcError as error:
                return error.data.get("check", error.type)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            found = list(pool.map(use, range(len(flows))))
        self.assertEqual((found.count("completed"), found.count("used")), (1, 5), found)

    def test_one_recovery_code_completes_one_sign_in(self):
        """A race of recovery codes; CVE-2025-46815 (Zitadel): a proof that was used repeatedly."""
        done = self.call("mfa.resolve", continuationToken=self.session()["continuationToken"], factorId=self.factor,
                         code=pyotp.TOTP(self.secret).at(self.now))
        code = self.call("mfa.recoveryCodes", idToken=done["idToken"])["codes"][0]
        flows = [self.session()["continuationToken"] for _ in range(6)]

        def use(token):
            try:
                return self.sidecar.call("mfa.resolve", {"continuationToken": token, "factorId": "recovery", "code": code}, timeout=60)["state"]
            except RpcError as error:
                return error.type
        with concurrent.futures.ThreadPoolExecutor() as pool:
            found = list(pool.map(use, flows))
        self.assertEqual((found.count("completed"), found.count("factorCodeInvalid")), (1, 5), found)

    def test_guesses_of_factors_are_counted_for_the_account_not_for_the_flow(self):
        """CVE-2025-64102 (Zitadel), CVE-2024-0227 (devise-two-factor): a new sign-in gave new attempts."""
        outcomes = []
        for number in range(14):
            try:
                self.call("mfa.resolve", continuationToken=self.session()["continuationToken"], factorId=("recovery", self.factor)[number % 2],
                          code=f"{number:06d}")
            except RpcError as error:
                outcomes.append(error.type)
        self.assertEqual(outcomes, ["factorCodeInvalid"] * 10 + ["accountLocked"] * 4)
        late = self.session()["continuationToken"]
        self.refuse("accountLocked", "mfa.resolve", continuationToken=late, factorId=self.factor, code=pyotp.TOTP(self.secret).at(self.now))


class Lockouts(Advised):
    def guess(self, sidecar, number, address):
        try:
            sidecar.call("signIn.withPassword", {"username": address, "password": f"Wrong {number} wrong"}, timeout=120)
        except RpcError as error:
            return error.type

    def test_parallel_guesses_in_several_spellings_and_processes_count_as_one_account(self):
        """GHSA-7h8m-vrxx-vr4m (Zitadel): parallel checks. Lockout evasion by upper case."""
        self.account_of()
        others = [self.spawn(store=self.store, testing=True) for _ in range(2)] if self.store.startswith("/") else []
        sidecars = [self.sidecar, *others]
        spelled = [ALICE, ALICE.upper(), ALICE.title(), "aLice@example.com"]
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            found = list(pool.map(lambda n: self.guess(sidecars[n % len(sidecars)], n, spelled[n % 4]), range(24)))
        self.assertLessEqual(found.count("invalidPassword"), 10, found)
        self.assertIn("accountLocked", found)
        for address in spelled:
            self.refuse("accountLocked", "signIn.withPassword", username=address, password=PASSWORD)

    def test_lockout_covers_what_was_begun_before_if_it_covers_every_door(self):
        """CVE-2026-9798 and CVE-2026-16103 (Keycloak)."""
        self.settings(lockCovers="everyDoor")
        self.account_of()
        link, token = self.create("signIn"), self.session()["idToken"]
        for number in range(10):
            self.guess(self.sidecar, number, ALICE)
        self.refuse("accountLocked", "signIn.withLink", email=ALICE, code=link)
        self.refuse("accountLocked", "account.setOwnPassword", idToken=token, newPassword=OTHER)

    def test_quiet_starts_and_refused_parts_reveal_no_account(self):
        """CVE-2026-23511 (Zitadel): answers that differ for known and unknown users."""
        self.account_of()
        self.settings(enumerationProtection=True, localAccountMethod="emailPassword")
        for method in ("signIn.start", "passwordReset.start", "signUp.start"):
            for more in ({"send": False}, {"accepts": ["code"]}, {"accepts": ["password"]}, {"accepts": ["secondFactor"], "send": False}, {}):
                shown = []
                for address in (ALICE, BOB):
                    step = self.call(method, username=address, **more)
                    shown.append((sorted(step), step["state"], step.get("codeLength"), step.get("missing"), step.get("sent"), step.get("expiresAt")))
                self.assertEqual(shown[0], shown[1], (method, more))


class Passkeys(PasskeyTests):
    """CVE-2026-105209 (Zitadel): a passkey of another organization; CVE-2024-9956 and user handles, origins and challenges of others."""

    def test_passkey_of_one_tenant_opens_no_other(self):
        authenticator, _ = self.register()
        self.sidecar.call("tenant.create", {"tenantId": "shop"})
        self.settings("shop")
        start = self.start(tenantId="shop")
        response = authenticator.get(start["options"])
        self.not_accepted("credentialUnknown", start, response, tenantId="shop")
        elsewhere = self.start()
        self.refused("continuationTokenInvalid", self.sidecar, "signIn.withCredential", {
            **self.answer(elsewhere, authenticator.get(elsewhere["options"])), "tenantId": "shop"})

    def test_handle_of_another_user_does_not_choose_the_account(self):
        mine, _ = self.register()
        self.sidecar.call("account.create", {"username": BOB, "password": "correct horse 9 Battery", "emailVerified": True})
        theirs, _ = self.register(token=self.password_session(BOB))
        start = self.start()
        self.not_accepted("userHandleMismatch", start, mine.get(start["options"], handle=theirs.handle))
        done = self.sign_in_with(mine)
        self.assertEqual(done["account"]["accountId"], self.account_id)

    def test_challenge_of_a_registration_or_of_another_sign_in_is_refused(self):
        mine, _ = self.register()
        first, second, registration = self.start(), self.start(), self.begin()
        self.not_accepted("challengeMismatch", first, mine.get(second["options"]))
        third = self.start()
        self.not_accepted("challengeMismatch", third, mine.get({**third["options"], "challenge": registration["options"]["challenge"]}))
        self.refused({"continuationTokenInvalid", "invalidParams"}, self.sidecar, "signIn.withCredential",
                     self.answer(registration, mine.get(second["options"])))

    def test_origins_that_only_resemble_the_allowed_one(self):
        """Origins and redirect addresses by prefix or pattern, CVE-2024-52289 (authentik): the whole origin is compared."""
        mine, _ = self.register()
        for origin in ("https://shop.example.com.evil.example", "https://evil-shop.example.com", "http://shop.example.com", "https://shop.example.com:444",
                       "https://example.com", "https://SHOP.example.com", "null", "", "https://shop.example.com@evil.example"):
            start = self.start()
            self.not_accepted("originNotAllowed", start, mine.get(start["options"], origin=origin))

    def test_cross_origin_frame_is_refused(self):
        mine, _ = self.register()
        mine.client = lambda kind, challenge, origin, **more: Authenticator.client(mine, kind, challenge, origin, crossOrigin=True, **more)
        start = self.start()
        error = self.refused("passkeyNotAccepted", self.sidecar, "signIn.withCredential", self.answer(start, mine.get(start["options"])))
        self.assertEqual(error.data["reason"], "crossOriginNotAllowed")

    def test_trusted_provider_is_linked_only_after_the_passkey_that_is_the_second_factor(self):
        """CVE-2026-105207 (Zitadel): a provider was linked before the account's factor was shown."""
        mine, _ = self.register(Authenticator(flags=UP | UV))
        self.sidecar.call("idp.update", {"providerId": "oidc.work", "trustEmail": True})
        self.sidecar.call("tenant.update", {"tenantId": "default", "mfa": "required"})
        now = self.sidecar.call("system.ping")["now"]
        step = self.sidecar.call("signIn.withCredential", {"credential": self.credential(
            subject="mallory", email="carol@example.com", email_verified=True, iat=now, exp=now + 600)})
        self.assertEqual(step["state"], "secondFactorRequired")
        self.assertNotIn("oidc.work", self.providers(self.account_id))


if __name__ == "__main__":
    unittest.main()
