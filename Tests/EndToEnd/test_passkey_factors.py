"""Passkeys as second factors: enrollment, challenge, refusals, hints, withdrawal, and what tokens state."""

import pyotp

from authenticators import SETTINGS, UP, UV, Authenticator, PasskeyTests
from federation import PASSWORD
from test_logins import claims_of


class PasskeyFactors(PasskeyTests):
    def setUp(self):
        super().setUp()
        self.policy("optional")

    def policy(self, policy):
        self.sidecar.call("tenant.update", {"tenantId": "default", "mfa": policy})

    def enroll(self, authenticator=None, token=None, **more):
        authenticator = authenticator or Authenticator(flags=UP)
        step = self.sidecar.call("mfa.enroll", {"idToken": token or self.token, "kind": "passkey", **more})
        done = self.sidecar.call("mfa.confirm", {
            "continuationToken": step["continuationToken"], "response": authenticator.create(step["options"])})
        return authenticator, done

    def first(self):
        step = self.sidecar.call("signIn.withPassword", {"username": "carol@example.com", "password": PASSWORD})
        self.assertEqual(step["state"], "secondFactorRequired", step)
        return step

    def challenge(self, step, number=0):
        return self.sidecar.call("mfa.challenge", {
            "continuationToken": step["continuationToken"], "factorId": step["hints"][number]["factorId"]})

    def resolve(self, challenge, response, **more):
        return self.sidecar.call("mfa.resolve", {"continuationToken": challenge["continuationToken"], "response": response, **more})

    def refusal(self, reason, next, method, params):
        error = self.refused("passkeyNotAccepted", self.sidecar, method, params)
        self.assertEqual((error.data["reason"], error.data["next"]), (reason, next), error)

    def test_enrolled_passkey_is_the_second_factor_of_the_next_sign_in(self):
        step = self.sidecar.call("mfa.enroll", {"idToken": self.token, "kind": "passkey", "displayName": "Key"})
        self.assertEqual((step["state"], step["kind"], step["expiresAt"]), ("passkeyRequired", "passkey", 1_700_000_300))
        self.assertEqual(step["options"]["authenticatorSelection"], {
            "residentKey": "discouraged", "requireResidentKey": False, "userVerification": "discouraged"})
        again = self.sidecar.call("mfa.enroll", {"idToken": self.token, "kind": "passkey", "displayName": "Key"})
        self.assertEqual(again, step)
        key = Authenticator(flags=UP)
        done = self.sidecar.call("mfa.confirm", {"continuationToken": step["continuationToken"], "response": key.create(step["options"])})
        factor = done["account"]["factors"][0]
        self.assertEqual((factor["kind"], factor["displayName"]), ("passkey", "Key"))
        self.assertNotIn("passkeys", done["account"])
        claims = claims_of(done["idToken"])
        self.assertEqual((claims["amr"], claims["acr"]), (["pwd", "hwk", "user", "mfa"], "phr"))
        self.assertEqual(claims["mintmark"]["second_factor"], {"kind": "passkey", "factor_id": factor["factorId"]})
        self.refused("tokenRevoked", self.sidecar, "mfa.list", {"idToken": self.token})
        listed = self.sidecar.call("mfa.list", {"idToken": done["idToken"]})["factors"]
        self.assertEqual(listed, [factor])
        usages = [each["usage"] for each in self.sidecar.call("passkey.list", {"idToken": done["idToken"]})["passkeys"]]
        self.assertEqual(usages, ["secondFactor"])
        self.sidecar.call("test.clock", {"advanceSeconds": 100})
        step = self.first()
        self.assertEqual(step["hints"], [{"factorId": factor["factorId"], "kind": "passkey", "displayName": "Key"}])
        challenge = self.challenge(step)
        self.assertEqual((challenge["state"], challenge["expiresAt"]), ("passkeyRequired", 1_700_000_400))
        self.assertEqual([each["id"] for each in challenge["options"]["allowCredentials"]], [key_id(key)])
        self.assertEqual(challenge["options"]["userVerification"], "discouraged")
        signed_in = self.resolve(challenge, key.get(challenge["options"], handle=None))
        claims = claims_of(signed_in["idToken"])
        self.assertEqual((claims["amr"], claims["acr"]), (["pwd", "hwk", "user", "mfa"], "phr"))
        self.assertEqual(signed_in["account"]["factors"][0]["lastUsedAt"], 1_700_000_100)
        fresh = claims_of(self.sidecar.call("session.refresh", {"refreshToken": signed_in["refreshToken"]})["idToken"])
        self.assertEqual((fresh["amr"], fresh["acr"], fresh["mintmark"]["second_factor"]), (claims["amr"], "phr", claims["mintmark"]["second_factor"]))
        self.refused("flowFinished", self.sidecar, "mfa.resolve", {
            "continuationToken": challenge["continuationToken"], "response": key.get(challenge["options"])})
        self.sidecar.call("account.changePassword", {
            "idToken": signed_in["idToken"], "currentPassword": PASSWORD, "newPassword": "correct horse 10 Battery"})

    def test_second_factor_never_signs_in_alone(self):
        key, _ = self.enroll()
        start = self.start()
        self.not_accepted("credentialUnknown", start, key.get(start["options"]))
        self.refused("passkeyNotSet", self.sidecar, "passkey.startAuthentication", {"username": "carol@example.com"})

    def test_refused_response_spends_the_challenge_and_keeps_the_flow(self):
        key, _ = self.enroll()
        challenge = self.challenge(self.first())
        params = {"continuationToken": challenge["continuationToken"], "response": key.get(challenge["options"], origin="https://evil.example")}
        self.refusal("originNotAllowed", "mfa.challenge", "mfa.resolve", params)
        right = {**params, "response": key.get(challenge["options"])}
        error = self.refused("stepNotPossible", self.sidecar, "mfa.resolve", right)
        self.assertEqual(error.data["expected"], "mfa.challenge")
        factor = self.sidecar.call("mfa.list", {"accountId": self.account_id})["factors"][0]["factorId"]
        fresh = self.sidecar.call("mfa.challenge", {"continuationToken": challenge["continuationToken"], "factorId": factor})
        self.assertNotEqual(fresh["options"]["challenge"], challenge["options"]["challenge"])
        self.refusal("challengeMismatch", "mfa.challenge", "mfa.resolve", {
            "continuationToken": fresh["continuationToken"], "response": key.get(challenge["options"])})
        last = self.sidecar.call("mfa.challenge", {"continuationToken": fresh["continuationToken"], "factorId": factor})
        self.assertEqual(self.resolve(last, key.get(last["options"]))["state"], "completed")

    def test_response_for_another_purpose_or_of_another_user_is_refused(self):
        key, _ = self.enroll()
        other_id, other_token = self.password_account("dave@example.com")
        other, _ = self.enroll(token=other_token)
        challenge = self.challenge(self.first())
        self.refusal("credentialNotAllowed", "mfa.challenge", "mfa.resolve", {
            "continuationToken": challenge["continuationToken"], "response": other.get(challenge["options"])})
        challenge = self.challenge(self.first())
        self.refused("continuationTokenInvalid", self.sidecar, "signIn.withCredential", self.answer(challenge, key.get(challenge["options"])))
        begun = self.start()
        self.refused("continuationTokenExpired", self.sidecar, "mfa.resolve", {
            "continuationToken": begun["continuationToken"], "response": key.get(begun["options"])})
        self.refused("invalidParams", self.sidecar, "mfa.resolve", {
            "continuationToken": challenge["continuationToken"], "factorId": "x", "response": key.get(challenge["options"])})
        self.refused("invalidParams", self.sidecar, "mfa.resolve", {
            "continuationToken": challenge["continuationToken"], "code": "1", "response": key.get(challenge["options"])})
        self.refused("invalidParams", self.sidecar, "mfa.resolve", {"continuationToken": challenge["continuationToken"], "response": {}})
        self.refused("stepNotPossible", self.sidecar, "mfa.resolve", {"continuationToken": challenge["continuationToken"], "code": "123456"})
        self.assertEqual(self.resolve(challenge, key.get(challenge["options"]))["state"], "completed")

    def test_challenge_expires_after_five_minutes_and_the_flow_starts_another(self):
        key, _ = self.enroll()
        step = self.first()
        challenge = self.challenge(step)
        self.sidecar.call("test.clock", {"advanceSeconds": 300})
        error = self.refused("stepNotPossible", self.sidecar, "mfa.resolve", {
            "continuationToken": challenge["continuationToken"], "response": key.get(challenge["options"])})
        self.assertEqual(error.data["expected"], "mfa.challenge")
        again = self.sidecar.call("mfa.challenge", {
            "continuationToken": challenge["continuationToken"], "factorId": step["hints"][0]["factorId"]})
        self.assertEqual(self.resolve(again, key.get(again["options"]))["state"], "completed")

    def test_counter_of_a_factor_must_grow_and_a_regression_is_audited(self):
        key, _ = self.enroll(Authenticator(flags=UP, counts=True))
        challenge = self.challenge(self.first())
        self.resolve(challenge, key.get(challenge["options"], counter=7))
        challenge = self.challenge(self.first())
        self.refusal("counterRegressed", "mfa.challenge", "mfa.resolve", {
            "continuationToken": challenge["continuationToken"], "response": key.get(challenge["options"], counter=7)})
        refused = [each for each in self.sidecar.call("audit.list", {"limit": 50})["records"] if each["details"].get("refused") == "counterRegressed"]
        self.assertEqual([each["method"] for each in refused], ["mfa.resolve"])

    def test_passkey_that_signs_in_is_a_hint_once_a_second_factor_is_required(self):
        passkey, _ = self.register()
        done = self.sidecar.call("signIn.withPassword", {"username": "carol@example.com", "password": PASSWORD})
        self.assertEqual(done["state"], "completed", "an optional second factor is not required because of a passkey")
        self.policy("required")
        step = self.first()
        self.assertEqual([(each["kind"], each["displayName"]) for each in step["hints"]], [("passkey", "Passkey 1")])
        challenge = self.challenge(step)
        done = self.resolve(challenge, passkey.get(challenge["options"]))
        self.assertEqual(claims_of(done["idToken"])["amr"], ["pwd", "hwk", "user", "mfa"])
        self.assertEqual(claims_of(done["idToken"])["mintmark"]["second_factor"]["kind"], "passkey")
        self.assertNotIn("factors", done["account"])

    def test_passkey_of_the_sign_in_is_not_a_second_factor(self):
        first, _ = self.register(Authenticator(flags=UP))
        self.policy("required")
        start = self.start()
        self.assertEqual(start["options"]["userVerification"], "required")
        self.not_accepted("userNotVerified", start, first.get(start["options"]))
        self.policy("optional")
        key, done = self.enroll()
        step = self.sign_in_with(first)
        self.assertEqual((step["state"], len(step["hints"])), ("secondFactorRequired", 1))
        challenge = self.challenge(step)
        self.assertEqual([each["id"] for each in challenge["options"]["allowCredentials"]], [key_id(key)])
        self.refusal("credentialNotAllowed", "mfa.challenge", "mfa.resolve", {
            "continuationToken": challenge["continuationToken"], "response": first.get(challenge["options"])})
        listed = self.sidecar.call("passkey.list", {"accountId": self.account_id})["passkeys"]
        self.assertEqual([each["usage"] for each in listed], ["signIn", "secondFactor"])
        challenge = self.challenge(self.sign_in_with(first))
        self.assertEqual(claims_of(self.resolve(challenge, key.get(challenge["options"]))["idToken"])["amr"], ["hwk", "user", "mfa"])

    def test_passkey_with_verification_at_its_registration_needs_no_second_factor(self):
        verified, _ = self.register(Authenticator(flags=UP | UV))
        self.enroll()
        self.assertEqual(self.sign_in_with(verified)["state"], "completed")

    def test_verification_after_a_password_makes_a_passkey_two_factors(self):
        passkey, _ = self.register(Authenticator(flags=UP))
        self.enroll()
        self.assertEqual(self.sign_in_with(passkey, flags=UP | UV)["state"], "secondFactorRequired")
        step = self.first()
        number = [each["displayName"] for each in step["hints"]].index("Passkey 1")
        challenge = self.challenge(step, number)
        self.resolve(challenge, passkey.get(challenge["options"], flags=UP | UV))
        self.assertEqual(self.sign_in_with(passkey, flags=UP | UV)["state"], "completed")
        self.assertEqual(self.sign_in_with(passkey, flags=UP)["state"], "secondFactorRequired")

    def test_refused_enrollment_spends_the_challenge_and_keeps_the_flow(self):
        step = self.sidecar.call("mfa.enroll", {"idToken": self.token, "kind": "passkey"})
        key = Authenticator(flags=UP)
        self.refusal("challengeMismatch", "mfa.enroll", "mfa.confirm", {
            "continuationToken": step["continuationToken"], "response": key.create(step["options"], challenge="AAAAAAAAAAAAAAAAAAAAAAAA")})
        right = {"continuationToken": step["continuationToken"], "response": key.create(step["options"])}
        error = self.refused("stepNotPossible", self.sidecar, "mfa.confirm", right)
        self.assertEqual(error.data["expected"], "mfa.enroll")
        self.refused("stepNotPossible", self.sidecar, "mfa.confirm", {"continuationToken": step["continuationToken"], "code": "123456"})
        app = self.sidecar.call("mfa.enroll", {"idToken": self.token, "kind": "totp"})
        self.refused("stepNotPossible", self.sidecar, "mfa.confirm", {**right, "continuationToken": app["continuationToken"]})
        self.assertEqual(self.sidecar.call("mfa.list", {"idToken": self.token})["factors"], [])

    def test_passkey_of_either_purpose_is_registered_once(self):
        passkey, _ = self.register()
        step = self.sidecar.call("mfa.enroll", {"idToken": self.token, "kind": "passkey"})
        self.assertEqual([each["id"] for each in step["options"]["excludeCredentials"]], [key_id(passkey)])
        self.refusal("alreadyRegistered", "mfa.enroll", "mfa.confirm", {
            "continuationToken": step["continuationToken"], "response": passkey.create(step["options"])})

    def test_enrollment_in_a_sign_in_that_requires_a_factor(self):
        self.policy("required")
        step = self.sidecar.call("signIn.withPassword", {"username": "carol@example.com", "password": PASSWORD})
        self.assertEqual(step["state"], "secondFactorEnrollmentRequired")
        self.assertIn("passkey", step["factorKinds"])
        key = Authenticator(flags=UP)
        enrolling = self.sidecar.call("mfa.enroll", {"continuationToken": step["continuationToken"], "kind": "passkey"})
        app = self.sidecar.call("mfa.enroll", {"continuationToken": enrolling["continuationToken"], "kind": "totp"})
        self.assertEqual(app["kind"], "totp")
        enrolling = self.sidecar.call("mfa.enroll", {"continuationToken": app["continuationToken"], "kind": "passkey"})
        done = self.sidecar.call("mfa.confirm", {
            "continuationToken": enrolling["continuationToken"], "response": key.create(enrolling["options"])})
        self.assertEqual((done["state"], done["account"]["factors"][0]["displayName"]), ("completed", "Passkey 1"))

    def test_withdrawal_follows_the_rules_of_factors(self):
        key, done = self.enroll()
        factor = done["account"]["factors"][0]["factorId"]
        self.policy("required")
        self.refused("lastFactor", self.sidecar, "mfa.withdraw", {"idToken": done["idToken"], "factorId": factor})
        self.refused("lastFactor", self.sidecar, "passkey.delete", {"idToken": done["idToken"], "credentialId": key_id(key)})
        self.policy("optional")
        gone = self.sidecar.call("mfa.withdraw", {"idToken": done["idToken"], "factorId": factor})
        self.assertEqual((gone["state"], "factors" in gone["account"]), ("signedOut", False))
        self.assertEqual(self.sidecar.call("passkey.list", {"accountId": self.account_id})["passkeys"], [])
        self.token = self.password_session()
        again, done = self.enroll(key)
        left = self.sidecar.call("passkey.delete", {"idToken": done["idToken"], "credentialId": key_id(key)})
        self.assertEqual(left["passkeys"], [])
        self.refused("tokenRevoked", self.sidecar, "account.graph", {"idToken": done["idToken"]})
        self.assertEqual(self.sidecar.call("mfa.list", {"accountId": self.account_id})["factors"], [])

    def test_at_most_five_factors_and_recovery_codes_with_a_passkey(self):
        for _ in range(5):
            _, done = self.enroll()
            self.token = done["idToken"]
        self.refused("tooManyFactors", self.sidecar, "mfa.enroll", {"idToken": self.token, "kind": "passkey"})
        codes = self.sidecar.call("mfa.recoveryCodes", {"idToken": self.token})["codes"]
        step = self.first()
        self.assertEqual([each["kind"] for each in step["hints"]], ["passkey"] * 5 + ["recovery"])
        done = self.sidecar.call("mfa.resolve", {"continuationToken": step["continuationToken"], "factorId": "recovery", "code": codes[0]})
        self.assertEqual(done["state"], "completed")
        # The twenty passkeys with which a user signs in are counted apart.
        self.assertEqual(self.register(token=done["idToken"])[1]["usage"], "signIn")

    def test_tenant_without_passkeys_or_second_factors_refuses(self):
        self.policy("off")
        self.refused("secondFactorsOff", self.sidecar, "mfa.enroll", {"idToken": self.token, "kind": "passkey"})
        self.sidecar.call("tenant.create", {"tenantId": "shop", "mfa": "optional"})
        self.sidecar.call("account.create", {"tenantId": "shop", "username": "erin@example.com", "password": PASSWORD, "emailVerified": True})
        token = self.sidecar.call("signIn.withPassword", {"tenantId": "shop", "username": "erin@example.com", "password": PASSWORD})["idToken"]
        self.refused("passkeysOff", self.sidecar, "mfa.enroll", {"idToken": token, "kind": "passkey"})
        self.refused("factorTargetMissing", self.sidecar, "mfa.enroll", {"idToken": self.token, "kind": "passkey", "email": "x@example.com"})

    def test_app_and_passkey_of_one_account_both_satisfy(self):
        step = self.sidecar.call("mfa.enroll", {"idToken": self.token, "kind": "totp"})
        app = pyotp.TOTP(step["secret"])
        done = self.sidecar.call("mfa.confirm", {"continuationToken": step["continuationToken"], "code": app.at(1_700_000_000)})
        key, _ = self.enroll(token=done["idToken"])
        first = self.first()
        self.assertEqual([each["kind"] for each in first["hints"]], ["totp", "passkey"])
        challenge = self.challenge(first, 1)
        self.assertEqual(self.resolve(challenge, key.get(challenge["options"]))["state"], "completed")
        self.sidecar.call("test.clock", {"advanceSeconds": 60})
        first = self.first()
        challenge = self.challenge(first, 1)
        done = self.sidecar.call("mfa.resolve", {
            "continuationToken": challenge["continuationToken"], "factorId": first["hints"][0]["factorId"], "code": app.at(1_700_000_060)})
        self.assertEqual(claims_of(done["idToken"])["amr"], ["pwd", "otp", "mfa"])

    def test_locked_factors_refuse_passkeys_too(self):
        step = self.sidecar.call("mfa.enroll", {"idToken": self.token, "kind": "totp"})
        app = pyotp.TOTP(step["secret"])
        done = self.sidecar.call("mfa.confirm", {"continuationToken": step["continuationToken"], "code": app.at(1_700_000_000)})
        key, _ = self.enroll(token=done["idToken"])
        first = self.first()
        challenge = self.challenge(first, 1)
        for _ in range(20):
            try:
                self.sidecar.call("mfa.resolve", {
                    "continuationToken": challenge["continuationToken"], "factorId": first["hints"][0]["factorId"], "code": "000000"})
            except Exception as error:
                if error.type == "accountLocked":
                    break
        self.refused("accountLocked", self.sidecar, "mfa.resolve", {
            "continuationToken": challenge["continuationToken"], "response": key.get(challenge["options"])})


def key_id(authenticator):
    return authenticator.get({"rpId": SETTINGS["relyingPartyId"], "challenge": ""}, handle=None, counter=authenticator.counter)["id"]


del PasskeyTests
