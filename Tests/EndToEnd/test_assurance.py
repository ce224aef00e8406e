"""Security profiles: second factors, lockouts that cover every door, identity providers, disabled tenants. Each test names the numbers of the
requirements that it shows."""

from federation import PASSWORD
from sidecar import RpcError
from test_logins import Provider
from test_second_factors import SecondFactors as Base

PROFILE = {"passwordPolicy": {"minimumLength": 15}, "tokens": {}, "enumerationProtection": True, "lockCovers": "everyDoor"}


class Assurance(Base):
    stores = ("sqlite", "postgres")

    def profile(self, assurance="asvs-l2", **more):
        settings = {**PROFILE, "mfa": "optional" if assurance == "asvs-l2" else "required", **more}
        if assurance == "nist-aal2":
            settings["localAccountMethod"] = "emailPassword"
        self.sidecar.call("tenant.update", {"tenantId": "default", "assurance": assurance, **settings})

    def lock(self, account_password="carol@example.com"):
        for number in range(12):
            try:
                self.sidecar.call("signIn.withPassword", {"username": account_password, "password": f"wrong {number}"})
            except RpcError as error:
                if error.type == "accountLocked":
                    return
        self.fail("the account is not locked")

    def test_asvs_6_5_1_6_5_5_totp_window_is_one_step_and_earlier_steps_are_used(self):
        account, token = self.password_account()
        _, secret = self.enroll(token)
        self.later(300)
        for steps, is_right in ((-2, False), (2, False), (0, True)):
            with self.subTest(steps=steps):
                if is_right:
                    self.assertEqual(self.resolve(self.begin(), self.code(secret, steps), factorId=self.factor(account))["state"], "completed")
                else:
                    self.refused("factorCodeInvalid", self.sidecar, "mfa.resolve", {
                        "continuationToken": self.begin()["continuationToken"], "code": self.code(secret, steps),
                        "factorId": self.factor(account)})
        # The step before the used one was never used, and is no longer accepted.
        error = self.refused("factorCodeInvalid", self.sidecar, "mfa.resolve", {
            "continuationToken": self.begin()["continuationToken"], "code": self.code(secret, -1), "factorId": self.factor(account)})
        self.assertEqual(error.data["check"], "used")

    def factor(self, account):
        return self.sidecar.call("mfa.list", {"accountId": account})["factors"][0]["factorId"]

    def test_asvs_6_5_2_recovery_codes_have_140_bits_and_replace_a_lost_factor_only(self):
        account, token = self.password_account()
        self.profile()
        done, secret = self.enroll(token)
        codes = self.sidecar.call("mfa.recoveryCodes", {"idToken": done["idToken"]})["codes"]
        self.assertEqual(len(set(codes)), 10)
        for code in codes:
            self.assertRegex(code, "^([a-z2-7]{4}-){6}[a-z2-7]{4}$")
        recovered = self.resolve(self.begin(), codes[0], factorId="recovery")["idToken"]
        self.refused("secondFactorNeeded", self.sidecar, "account.changePassword", {
            "idToken": recovered, "currentPassword": PASSWORD, "newPassword": "another Horse 10 Battery"})
        self.refused("secondFactorNeeded", self.sidecar, "mfa.recoveryCodes", {"idToken": recovered})
        self.refused("secondFactorNeeded", self.sidecar, "account.link", {
            "idToken": recovered, "credential": self.credential(subject="thief", email="thief@example.com")})
        self.later(30)
        again, _ = self.enroll(recovered)
        self.sidecar.call("mfa.withdraw", {"idToken": again["idToken"], "factorId": self.factor(account)})

    def test_asvs_6_6_1_sms_needs_a_stronger_factor_or_the_acceptance_of_its_risk(self):
        _, token = self.password_account()
        self.profile()
        sms = {"idToken": token, "kind": "sms", "phoneNumber": "+14155550100"}
        error = self.refused("factorKindNotAccepted", self.sidecar, "mfa.enroll", sms)
        self.assertEqual(error.data["kind"], "sms")
        self.assertIn("acceptsSmsRisk", error.data["reason"])
        self.profile(acceptsSmsRisk=True)
        self.assertEqual(self.sidecar.call("mfa.enroll", sms)["kind"], "sms")
        self.profile(acceptsSmsRisk=False)
        done, _ = self.enroll(token)
        self.assertEqual(self.sidecar.call("mfa.enroll", {**sms, "idToken": done["idToken"]})["kind"], "sms")

    def test_nist_3_1_3_1_email_is_not_a_second_factor(self):
        self.sidecar.call("account.create", {"username": "carol@example.com", "password": PASSWORD, "emailVerified": True})
        self.profile("nist-aal2", acceptsSmsRisk=True)
        begun = self.sidecar.call("signIn.withPassword", {"username": "carol@example.com", "password": PASSWORD})
        self.assertEqual(begun["state"], "secondFactorEnrollmentRequired")
        self.assertEqual(begun["factorKinds"], ["totp", "sms"])
        self.refused("factorKindNotAccepted", self.sidecar, "mfa.enroll", {"continuationToken": begun["continuationToken"], "kind": "email"})

    def test_asvs_6_4_4_developer_gives_the_reason_for_the_removal_of_a_factor(self):
        account, token = self.password_account()
        self.profile()
        self.enroll(token)
        request = {"accountId": account, "factorId": self.factor(account)}
        self.refused("invalidParams", self.sidecar, "mfa.withdraw", request)
        self.sidecar.call("mfa.withdraw", {**request, "reason": "showed the passport"})
        record = self.sidecar.call("audit.list", {"method": "mfa.withdraw", "limit": 1})["records"][0]
        self.assertEqual(record["details"]["reason"], "showed the passport")

    def test_asvs_6_3_4_lockout_covers_every_door_and_ends_no_session(self):
        self.provider = self.idp("oidc.trusted", trustEmail=True)
        account, token = self.password_account()
        self.link(token, self.credential(subject="carol"))
        done, secret = self.enroll(self.password_session_again())
        refresh = done["refreshToken"]
        self.later(30)
        begun = self.begin()
        begun_elsewhere = self.sign_in(subject="carol")
        self.assertEqual(begun_elsewhere["state"], "secondFactorRequired")
        self.lock()
        # Without the setting, a lockout blocks guesses only.
        self.assertEqual(self.sign_in(subject="carol")["state"], "secondFactorRequired")
        self.sidecar.call("tenant.update", {"tenantId": "default", "lockCovers": "everyDoor"})
        doors = {
            "signIn.withCredential": {"credential": self.credential(subject="carol")},
            "mfa.resolve": {"continuationToken": begun_elsewhere["continuationToken"], "code": self.code(secret), "factorId": self.factor(account)},
            "mfa.challenge": {"continuationToken": begun["continuationToken"], "factorId": self.factor(account)},
            "account.unlink": {"idToken": done["idToken"], "providerId": "oidc.trusted"},
            "account.link": {"idToken": done["idToken"], "credential": self.credential(subject="other")},
            "account.changeEmail": {"idToken": done["idToken"], "email": "new@example.com"},
            "mfa.enroll": {"idToken": done["idToken"], "kind": "totp"},
            "mfa.recoveryCodes": {"idToken": done["idToken"]},
            "mfa.withdraw": {"idToken": done["idToken"], "factorId": self.factor(account)},
            "idp.authorize": {"idToken": done["idToken"], "providerId": "oidc.trusted", "redirectUri": "https://shop.example/cb"},
            "account.providerToken": {"idToken": done["idToken"], "providerId": "oidc.trusted"},
        }
        for method, params in doors.items():
            with self.subTest(method=method):
                self.refused("accountLocked", self.sidecar, method, params)
        # A stranger who guesses passwords must not sign the user out, nor keep the user from a new password.
        self.assertIn("idToken", self.sidecar.call("session.refresh", {"refreshToken": refresh}))
        self.sidecar.call("token.verify", {"token": done["accessToken"], "tenantId": "default"})
        self.assertEqual(self.sidecar.call("passwordReset.start", {"username": "carol@example.com"})["state"], "codeRequired")

    def password_session_again(self):
        return self.sidecar.call("signIn.withPassword", {"username": "carol@example.com", "password": PASSWORD})["idToken"]

    def test_asvs_6_8_4_provider_must_show_the_required_class_and_time(self):
        strict = self.idp("oidc.strict", requiredAcr=["urn:mace:silver", "phr"], maxAuthAgeSeconds=600)
        good = {"acr": "phr", "auth_time": self.now - 10}
        self.assertEqual(self.sign_in(strict, "dora", **good)["state"], "completed")
        for check, claims in (
                ("acr", {**good, "acr": "0"}), ("acr", {"auth_time": self.now}), ("acr", {**good, "acr": ["phr"]}),
                ("authTime", {"acr": "phr"}), ("authTime", {**good, "auth_time": self.now - 1000}), ("authTime", {**good, "auth_time": "now"})):
            with self.subTest(check=check, claims=claims):
                error = self.refused("invalidCredential", self.sidecar, "signIn.withCredential", {
                    "credential": self.credential(strict, "dora", **claims)})
                self.assertEqual(error.data["check"], check)
        shown = self.sidecar.call("idp.get", {"providerId": "oidc.strict"})
        self.assertEqual((shown["requiredAcr"], shown["maxAuthAgeSeconds"]), (["urn:mace:silver", "phr"], 600))
        error = self.refused("invalidIdp", self.sidecar, "idp.create", {
            "providerId": "github.com", "clientId": "shop", "clientSecret": "s" * 20, "maxAuthAgeSeconds": 5})
        self.assertEqual(error.data["pointer"], "/maxAuthAgeSeconds")

    def test_asvs_10_5_1_id_token_without_nonce_is_accepted_once_in_a_profile(self):
        credential = self.credential(subject="erin")
        self.assertEqual(self.sidecar.call("signIn.withCredential", {"credential": credential})["state"], "completed")
        self.assertEqual(self.sidecar.call("signIn.withCredential", {"credential": credential})["state"], "completed")
        self.profile()
        self.sidecar.call("signIn.withCredential", {"credential": credential})
        error = self.refused("invalidNonce", self.sidecar, "signIn.withCredential", {"credential": credential})
        self.assertEqual(error.data["check"], "replayed")

    def test_tenant_that_is_disabled_opens_no_pool(self):
        _, token = self.password_account()
        pool = self.sidecar.call("pool.create", {"name": "p", "allowClassicFlow": True, "providers": [{"tenantId": "default"}]})
        login = pool["providers"][0]["name"]
        identity = self.sidecar.call("identity.resolve", {"poolId": pool["poolId"], "logins": {login: token}})["identityId"]
        self.sidecar.call("tenant.update", {"tenantId": "default", "disabled": True})
        for method, params in {
                "identity.resolve": {"poolId": pool["poolId"]}, "credentials.get": {"identityId": identity},
                "token.mint": {"identityId": identity}}.items():
            with self.subTest(method=method):
                self.refused("tenantDisabled", self.sidecar, method, {**params, "logins": {login: token}})


# The tests of second factors run in their own file.
for _name in [name for name in dir(Base) if name.startswith("test_")]:
    setattr(Assurance, _name, None)
del Base
