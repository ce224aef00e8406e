"""Ownership of email addresses: which provider claims are trusted, and how the user who receives the messages can recover the account."""

import json
import time

from federation import PASSWORD, Federation, hashed
from sidecar import RpcError
from test_logins import Provider

ALICE = "alice@example.com"
NEW = "another Horse 7 staple"
PERSONAL = "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0"
DIRECTORY = "https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0"


class MailboxOwners(Federation):
    def tenant(self, **more):
        self.sidecar.call("tenant.update", {"tenantId": "default", **more})

    def code(self, address=ALICE):
        return [each["code"] for each in self.sidecar.call("test.outbox", {"to": address})["messages"] if "code" in each][-1]

    def reset(self, address=ALICE):
        """Completes a password reset with the emailed code and signs in. Returns the result."""
        step = self.sidecar.call("passwordReset.start", {"username": address})
        step = self.sidecar.call("passwordReset.submitCode", {"continuationToken": step["continuationToken"], "code": self.code(address)})
        step = self.sidecar.call("passwordReset.submitPassword", {"continuationToken": step["continuationToken"], "password": NEW})
        return self.sidecar.call("signIn.withContinuation", {"continuationToken": step["continuationToken"]})

    def way(self, method="signUp.start"):
        """Follows the `next` method of each response until a code is sent. Returns the methods that were called."""
        way = []
        while method not in way:
            way.append(method)
            try:
                answer = self.sidecar.call(method, {"username": ALICE})
            except RpcError as error:
                answer = error.data
            if answer.get("state") == "codeRequired":
                return way
            method = answer["next"]
        self.fail(f"in a circle: {way}")

    def squat(self, **more):
        """Creates an account with Alice's unverified address, through a provider account of another user."""
        return self.sign_in(subject="mallory", email=ALICE, email_verified=False, **more)

    def test_responses_lead_the_address_owner_to_a_reset_that_recovers_the_account(self):
        squatted = self.squat()
        account = self.account(squatted)
        self.assertEqual(self.way(), ["signUp.start", "signIn.start", "passwordReset.start"])
        answer = self.reset()
        self.assertEqual(self.account(answer), account)
        shown = self.sidecar.call("account.get", {"accountId": account})
        self.assertEqual((shown["method"], shown["emailVerified"], [each["providerId"] for each in shown["providers"]]), ("password", True, ["password"]))
        self.refused("refreshTokenInvalid", self.sidecar, "session.refresh", {"refreshToken": squatted["refreshToken"]})
        self.assertEqual(self.squat()["state"], "providerRequired")
        self.sidecar.call("signIn.withPassword", {"username": ALICE, "password": NEW})
        self.assertEqual(self.sidecar.call("signIn.start", {"username": ALICE})["state"], "passwordRequired")

    def test_another_provider_of_the_owner_also_names_the_reset(self):
        self.squat()
        answer = self.sign_in(self.idp("oidc.other"), "alice", email=ALICE)
        self.assertEqual((answer["state"], answer["providers"], answer["next"]), ("providerRequired", ["oidc.work"], "passwordReset.start"))

    def test_reset_recovers_an_account_whose_last_provider_was_unlinked(self):
        account, token = self.password_account(ALICE)
        self.sidecar.call("account.unlink", {"idToken": token, "providerId": "password", "force": True})
        self.assertEqual(self.refused("passwordNotSet", self.sidecar, "signIn.start", {"username": ALICE}).data["next"], "passwordReset.start")
        self.assertEqual(self.account(self.reset()), account)

    def test_reset_recovers_the_account_with_enumeration_protection(self):
        account = self.account(self.squat())
        self.tenant(enumerationProtection=True)
        self.assertEqual(self.account(self.reset()), account)
        self.assertEqual(self.providers(account), ["password"])

    def test_email_code_sign_in_recovers_the_account(self):
        for protected in (False, True):
            with self.subTest(protected=protected):
                self.tenant(localAccountMethod="emailCode", enumerationProtection=False)
                squatted = self.squat()
                account = self.account(squatted)
                self.tenant(enumerationProtection=protected)
                if not protected:
                    self.assertEqual(self.way(), ["signUp.start", "signIn.start"])
                    self.assertEqual(self.way("passwordReset.start"), ["passwordReset.start", "signIn.start"])
                step = self.sidecar.call("signIn.start", {"username": ALICE, "language": "en" if protected else "de"})
                answer = self.sidecar.call("signIn.submitCode", {"continuationToken": step["continuationToken"], "code": self.code()})
                self.assertEqual(self.account(answer), account)
                shown = self.sidecar.call("account.get", {"accountId": account})
                self.assertEqual((shown["method"], shown["emailVerified"], [each["providerId"] for each in shown["providers"]]), ("code", True, ["code"]))
                self.refused("refreshTokenInvalid", self.sidecar, "session.refresh", {"refreshToken": squatted["refreshToken"]})
                self.sidecar.call("account.delete", {"accountId": account})

    def test_verified_address_with_an_enabled_provider_requires_that_provider(self):
        self.tenant(localAccountMethod="emailCode")
        trusted = self.idp("oidc.trusted", trustEmail=True)
        self.sign_in(trusted, "alice", email=ALICE, email_verified=True)
        self.assertEqual(self.sidecar.call("signIn.start", {"username": ALICE}), {"state": "providerRequired", "providers": ["oidc.trusted"]})

    # Claims of providers.

    def test_microsoft_addresses_are_trusted_for_personal_accounts_only(self):
        self.sidecar.call("account.create", {"username": "boss@outlook.com", "password": PASSWORD, "emailVerified": True})
        microsoft = Provider(DIRECTORY)
        microsoft.name = "microsoft.com"
        settings = {"providerId": "microsoft.com", "clientId": "shop", "keys": [microsoft.jwk]}
        self.sidecar.call("idp.create", {**settings, "issuer": DIRECTORY})
        self.assertEqual(self.sign_in(microsoft, "mallory", email="boss@outlook.com")["state"], "providerRequired")
        self.assertEqual(self.sign_in(microsoft, "mallory", email="boss@outlook.com", email_verified=True)["state"], "providerRequired")
        for issuer in ("https://evil.example", "https://login.microsoftonline.com.evil.example/v2.0", "https://login.microsoftonline.com@evil.example/"):
            self.refused("invalidIdp", self.sidecar, "idp.update", {"providerId": "microsoft.com", "issuer": issuer})
        self.sidecar.call("idp.delete", {"providerId": "microsoft.com"})
        self.sidecar.call("idp.create", settings)
        microsoft.issuer = PERSONAL
        self.assertEqual(self.sign_in(microsoft, "boss", email="boss@outlook.com", email_verified=False)["state"], "providerRequired")
        self.assertEqual(self.sign_in(microsoft, "boss", email="boss@outlook.com")["state"], "completed")

    def test_picture_must_be_a_web_url(self):
        for number, (picture, isKept) in enumerate([
                ("https://x.example/p.png?s=1", True), ("HTTP://x.example/p", True), ("javascript:alert(1)", False), ("data:image/png;base64,AA", False),
                ("//x.example/p", False), ("https://", False), ("https://x/ y", False), ("https://x/\n", False), ("https://x/" + "y" * 2048, False)]):
            account = self.sign_in(subject=f"s{number}", email=None, picture=picture)["account"]
            self.assertEqual((account["attributes"].get("picture"), account["providers"][0].get("photoUrl")), (picture, picture) if isKept else (None, None))

    def test_times_may_have_fractions(self):
        now = time.time()
        answer = self.sign_in(exp=int(now) + 600.5, iat=int(now) - 0.25, nbf=int(now) - 5.5)
        self.assertEqual(answer["state"], "completed")
        for claims, check in (({"exp": int(now) - 400.5}, "expired"), ({"iat": int(now) + 900.5}, "notYetValid"), ({"nbf": int(now) + 900.5}, "notYetValid"), ({"exp": 1e300}, "expired")):
            error = self.refused("invalidCredential", self.sidecar, "signIn.withCredential", {"credential": self.credential(**claims)})
            self.assertEqual(error.data["check"], check)

    # Addresses, sign-in methods and names of an account.

    def test_password_can_be_linked_for_the_verified_address_only(self):
        trusted = self.idp("oidc.trusted", trustEmail=True)
        answer = self.sign_in(trusted, "alice", email=ALICE, email_verified=True)
        other = {"email": "somebody@example.com", "password": NEW}
        error = self.refused("addressDiffers", self.sidecar, "account.link", {"idToken": answer["idToken"], "credential": other})
        self.assertEqual((error.code, error.data["email"], error.data["next"]), (5060, ALICE, "account.changeEmail"))
        self.refused("userNotFound", self.sidecar, "signIn.start", {"username": "somebody@example.com"})
        linked = self.link(answer["idToken"], {"email": ALICE.upper(), "password": NEW})
        self.assertEqual((linked["account"]["email"], linked["account"]["emailVerified"]), (ALICE, True))
        # An unverified address, or an account without an address, does not prevent linking.
        self.assertEqual(self.link(self.sign_in(subject="bob", email="bob@example.com")["idToken"], other)["account"]["email"], "somebody@example.com")

    def test_password_link_fails_in_a_tenant_with_email_codes_and_the_contract_lists_the_error(self):
        self.tenant(localAccountMethod="emailCode")
        error = self.refused("passwordNotAccepted", self.sidecar, "account.link", {"idToken": self.anonymous()["idToken"], "credential": {"email": ALICE, "password": NEW}})
        link = next(each for each in self.sidecar.call("rpc.discover")["methods"] if each["name"] == "account.link")
        self.assertIn("passwordNotAccepted", json.dumps(link["errors"]))
        self.assertEqual(error.code, 4016)

    def test_disabled_or_deleted_provider_does_not_count_as_a_sign_in_method(self):
        for gone in ({"idp.update": {"enabled": False}}, {"idp.delete": {}}):
            with self.subTest(gone):
                provider = self.idp("oidc.gone")
                account, token = self.password_account(ALICE)
                token = self.link(token, self.credential(provider, "alice"))["idToken"]
                for method, more in gone.items():
                    self.sidecar.call(method, {"providerId": "oidc.gone", **more})
                self.refused("lastProvider", self.sidecar, "account.unlink", {"idToken": token, "providerId": "password"})
                self.sidecar.call("account.unlink", {"idToken": token, "providerId": "password", "force": True})
                self.assertEqual(self.refused("passwordNotSet", self.sidecar, "signIn.start", {"username": ALICE}).data["next"], "passwordReset.start")
                self.sidecar.call("account.delete", {"accountId": account})
                if "idp.update" in gone:
                    self.sidecar.call("idp.delete", {"providerId": "oidc.gone"})

    def test_name_that_apple_sends_once_is_kept(self):
        apple = Provider("https://appleid.apple.com")
        apple.name = "apple.com"
        self.sidecar.call("idp.create", {"providerId": "apple.com", "clientId": "shop", "keys": [apple.jwk]})

        def sign_in(subject, number, email, **more):
            raw = f"{subject}{number}"
            credential = self.credential(apple, subject, email=email, nonce=hashed(raw))
            return self.sidecar.call("signIn.withCredential", {"credential": {**credential, "rawNonce": raw, **more}})["account"]

        sign_in("ann", 1, "ann@example.com", user={"name": {"firstName": "Ann", "lastName": "Lee"}})
        account = sign_in("ann", 2, "ann@relay.example")
        self.assertEqual((account["providers"][0]["displayName"], account["providers"][0]["email"], account["attributes"]["displayName"]), ("Ann Lee", "ann@relay.example", "Ann Lee"))
        self.sidecar.call("account.create", {"username": "pre@example.com", "password": PASSWORD, "emailVerified": True, "attributes": {"displayName": "Pre Existing"}})
        self.assertEqual(sign_in("pre", 1, "pre@example.com")["attributes"]["displayName"], "Pre Existing")
        self.assertEqual(sign_in("pre", 2, "pre@example.com", user={"name": {"firstName": "Later"}})["providers"][1]["displayName"], "Later")
