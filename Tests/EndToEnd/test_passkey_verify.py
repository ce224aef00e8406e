"""`passkey.verify`: responses to challenges that the caller made."""

import json
import os
import threading

import cbor2
import webauthn

from authenticators import BE, BS, ORIGIN, SETTINGS, UP, UV, Authenticator, PasskeyTests, b64, unb64
from endtoend import only
from test_passkeys import VECTORS

FACTS = {"accountId", "credentialId", "userVerified", "twoFactors", "backupEligible", "backupState", "signCount"}


class Verify(PasskeyTests):
    def options(self, **more):
        """The options of the caller, which need no more than a challenge."""
        return {"challenge": b64(os.urandom(32)), "rpId": "example.com", **more}

    def verify(self, options, response, **more):
        return self.sidecar.call("passkey.verify", {"challenge": options["challenge"], "response": response, **more})

    def no(self, reason, options, response, **more):
        error = self.refused("passkeyNotAccepted", self.sidecar, "passkey.verify", {
            "challenge": options["challenge"], "response": response, **more})
        self.assertEqual((error.data["reason"], error.data["next"]), (reason, "passkey.verify"), error)
        return error

    def test_accepted_response_returns_facts_and_changes_nothing(self):
        device, passkey = self.register(Authenticator(counts=True))
        before, options = self.export(), self.options()
        response = device.get(options)
        facts = {"accountId": self.account_id, "credentialId": passkey["credentialId"], "userVerified": True, "twoFactors": True,
                 "backupEligible": False, "backupState": False, "signCount": 2}
        self.assertEqual(self.verify(options, response), facts)
        self.assertEqual(set(facts), FACTS)
        # The challenge and the counter are the caller's: the same response is accepted again, and then signs in nowhere.
        self.assertEqual(self.verify(options, response, accountId=self.account_id), facts)
        self.assertEqual(self.export(), before)
        self.assertNotIn("passkey.verify", [each["method"] for each in self.sidecar.call("audit.list", {"limit": 50})["records"]])
        webauthn.verify_authentication_response(
            credential=response, expected_challenge=unb64(options["challenge"]), expected_rp_id="example.com", expected_origin=ORIGIN,
            credential_public_key=self.key_of(device), credential_current_sign_count=0)

    def export(self):
        """The stored accounts, sessions, passkeys and events."""
        return (self.sidecar.call("account.get", {"accountId": self.account_id}), self.sidecar.call("passkey.list", {"accountId": self.account_id}),
                self.sidecar.call("session.list", {"accountId": self.account_id}), self.sidecar.call("audit.list", {"limit": 1})["records"])

    def key_of(self, device):
        numbers = device.key.public_key().public_numbers()
        return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")})

    def test_every_failed_check_has_its_own_reason(self):
        device, _ = self.register()
        stranger = Authenticator()
        stranger.handle = device.handle
        cases = [
            ("originNotAllowed", device, {"origin": "https://shop.example.com.evil.example"}),
            ("originNotAllowed", device, {"origin": ORIGIN + "/"}),
            ("challengeMismatch", device, {"challenge": b64(os.urandom(32))}),
            ("wrongType", device, {"kind": "webauthn.create"}),
            ("userNotPresent", device, {"flags": 0}),
            ("backupFlagsInvalid", device, {"flags": UP | BS}),
            ("backupEligibilityChanged", device, {"flags": UP | BE}),
            ("userHandleMismatch", device, {"handle": None}),
            ("userHandleMismatch", device, {"handle": b64(b"someone else")}),
            ("credentialUnknown", stranger, {}),
        ]
        for reason, each, wrong in cases:
            with self.subTest(reason, **{key: str(value) for key, value in wrong.items()}):
                options = self.options()
                error = self.no(reason, options, each.get(options, **wrong))
                self.assertEqual("unknownCredential" in error.data, reason == "credentialUnknown")
        options = self.options()
        self.no("relyingPartyMismatch", options, device.get({**options, "rpId": "example.org"}))
        forged = device.get(options)
        forged["response"]["signature"] = stranger.get(options)["response"]["signature"]
        self.no("signatureInvalid", options, forged)
        good = device.get(options)
        self.assertEqual(self.verify(options, good)["accountId"], self.account_id)
        data = bytearray(unb64(good["response"]["authenticatorData"]))
        data[36] ^= 1   # A counter without a signature.
        good["response"]["authenticatorData"] = b64(bytes(data))
        self.no("signatureInvalid", options, good)

    def test_settings_of_the_tenant_decide_about_origins_and_frames(self):
        device, _ = self.register()
        options = self.options()
        related = device.get(options, origin="https://example.org")
        self.no("originNotAllowed", options, related)
        self.settings(relatedOrigins=["https://example.org"])
        self.assertTrue(self.verify(options, related)["userVerified"])
        framed = self.framed(device, options)
        self.no("crossOriginNotAllowed", options, framed)
        self.settings(topOrigins=["https://other.example"])
        self.no("topOriginNotAllowed", options, framed)
        self.settings(topOrigins=["https://top.example"])
        self.assertTrue(self.verify(options, framed)["userVerified"])

    def framed(self, device, options):
        client = device.client
        device.client = lambda kind, challenge, origin: client(kind, challenge, origin).replace(
            b'"crossOrigin": false', b'"crossOrigin": true, "topOrigin": "https://top.example"')
        try:
            return device.get(options)
        finally:
            device.client = client

    def test_challenge_of_the_caller_must_be_long_enough_and_canonical(self):
        device, _ = self.register()
        for challenge in ("", b64(bytes(15)), b64(bytes(32)) + "=", "A" * 24 + "+", b64(bytes(16))[:-1] + "B", b64(bytes(1025))):
            with self.subTest(challenge):
                found = self.violations(self.sidecar, "passkey.verify", {"challenge": challenge, "response": device.get(self.options())})
                self.assertEqual({pointer for pointer, _ in found}, {"/challenge"})
        for count in (16, 1024):
            options = self.options(challenge=b64(os.urandom(count)))
            self.assertEqual(self.verify(options, device.get(options))["accountId"], self.account_id)
        options = self.options()
        good = device.get(options)
        for change in ({"type": "other"}, {"id": b64(b"x")}, {"rawId": good["rawId"] + "="}, {"response": 1}, {"response": {}}):
            found = self.violations(self.sidecar, "passkey.verify", {"challenge": options["challenge"], "response": {**good, **change}})
            self.assertTrue(all(pointer.startswith("/response/") for pointer, _ in found), found)

    def test_account_must_match(self):
        mine, _ = self.register()
        other_id, token = self.password_account("dora@example.com")
        other, _ = self.register(token=token)
        options = self.options()
        self.assertEqual(self.verify(options, other.get(options))["accountId"], other_id)
        self.assertEqual(self.verify(options, mine.get(options, handle=None), accountId=self.account_id)["accountId"], self.account_id)
        error = self.no("credentialUnknown", options, other.get(options), accountId=self.account_id)
        # The passkey exists, so the page must not tell the authenticator to forget it.
        self.assertNotIn("unknownCredential", error.data)
        stranger = Authenticator()
        error = self.no("credentialUnknown", options, stranger.get(options, handle=None), accountId=self.account_id)
        self.assertEqual(error.data["unknownCredential"], {"rpId": "example.com", "credentialId": b64(stranger.id)})
        unknown = "00000000-0000-4000-8000-000000000000"
        error = self.refused("accountNotFound", self.sidecar, "passkey.verify", {
            "challenge": options["challenge"], "response": mine.get(options), "accountId": unknown})
        self.assertEqual(error.data["accountId"], unknown)
        self.sidecar.call("account.merge", {"idToken": self.token, "sourceIdToken": token, "policy": "keepTarget"})
        self.assertEqual(self.verify(options, other.get(options))["accountId"], self.account_id)
        error = self.refused("accountMerged", self.sidecar, "passkey.verify", {
            "challenge": options["challenge"], "response": other.get(options), "accountId": other_id})
        self.assertEqual(error.data["survivorId"], self.account_id)

    def test_other_tenants_do_not_have_the_passkey(self):
        device, _ = self.register()
        options = self.options()
        response = device.get(options)
        self.sidecar.call("tenant.create", {"tenantId": "shop", "passkeys": SETTINGS})
        self.sidecar.call("tenant.create", {"tenantId": "bare"})
        self.no("credentialUnknown", options, response, tenantId="shop")
        params = {"challenge": options["challenge"], "response": response}
        self.refused("accountNotFound", self.sidecar, "passkey.verify", {**params, "tenantId": "shop", "accountId": self.account_id})
        self.assertEqual(self.refused("passkeysOff", self.sidecar, "passkey.verify", {**params, "tenantId": "bare"}).data["tenantId"], "bare")
        self.refused("tenantNotFound", self.sidecar, "passkey.verify", {**params, "tenantId": "none"})
        self.sidecar.call("tenant.update", {"tenantId": "default", "force": True, "passkeys": {
            "relyingPartyId": "example.net", "origins": ["https://example.net"]}})
        self.no("credentialUnknown", options, response)

    def test_state_of_account_and_tenant_is_revealed_after_a_valid_signature(self):
        device, _ = self.register()
        options = self.options()
        good, forged = device.get(options), device.get(options)
        forged["response"]["signature"] = Authenticator().get(options)["response"]["signature"]
        params = {"challenge": options["challenge"], "response": good}
        for number in range(10):
            self.sidecar.refusal("signIn.withPassword", {"username": "carol@example.com", "password": f"wrong Horse {number} Battery"})
        error = self.refused("accountLocked", self.sidecar, "passkey.verify", params)
        self.assertGreater(error.data["retryAfterSeconds"], 0)
        self.no("signatureInvalid", options, forged)
        self.sidecar.call("account.update", {"accountId": self.account_id, "password": "another Horse 10 Battery", "disabled": True})
        self.assertEqual(self.refused("accountDisabled", self.sidecar, "passkey.verify", params).data["accountId"], self.account_id)
        self.no("signatureInvalid", options, forged)
        self.sidecar.call("account.update", {"accountId": self.account_id, "disabled": False})
        self.assertEqual(self.verify(options, good)["accountId"], self.account_id)
        self.sidecar.call("tenant.create", {"tenantId": "shop", "passkeys": SETTINGS, "anonymousAllowed": True})
        token = self.sidecar.call("signIn.anonymously", {"tenantId": "shop"})["idToken"]
        other, _ = self.register(token=token)
        response = other.get(options)
        self.sidecar.call("tenant.update", {"tenantId": "shop", "disabled": True})
        params = {"tenantId": "shop", "challenge": options["challenge"], "response": response}
        self.refused("tenantDisabled", self.sidecar, "passkey.verify", params)
        response["response"]["signature"] = forged["response"]["signature"]
        self.no("signatureInvalid", options, response, tenantId="shop")
        self.sidecar.call("account.delete", {"accountId": self.account_id})
        self.no("credentialUnknown", options, good)

    def test_counter_is_compared_with_the_stored_one(self):
        device, _ = self.register(Authenticator(counts=True))
        self.sign_in_with(device, counter=7)
        options = self.options()
        for counter in (7, 6, 0):
            self.no("counterRegressed", options, device.get(options, counter=counter))
        # Verification stores no counter: a lower one than the last is still above that of the last sign-in.
        for counter in (20, 9, 2**32 - 1):
            self.assertEqual(self.verify(options, device.get(options, counter=counter))["signCount"], counter)
        self.assertEqual(self.sign_in_with(device, counter=8)["state"], "completed")
        self.no("counterRegressed", options, device.get(options, counter=8))
        refused = [each for each in self.sidecar.call("audit.list", {"limit": 50})["records"] if each["details"].get("refused")]
        self.assertEqual(refused, [])

    def test_user_verification_is_that_of_the_tenant_or_of_the_call(self):
        device, _ = self.register(Authenticator(flags=UP))
        options = self.options()
        without, with_user = device.get(options), device.get(options, flags=UP | UV)
        facts = self.verify(options, without)
        self.assertEqual((facts["userVerified"], facts["twoFactors"]), (False, False))
        # A PIN that was set after the registration proves nothing about the user.
        facts = self.verify(options, with_user, userVerification="required")
        self.assertEqual((facts["userVerified"], facts["twoFactors"]), (True, False))
        self.no("userNotVerified", options, without, userVerification="required")
        for settings in ({"passkeys": {**SETTINGS, "userVerification": "required"}}, {"passkeys": SETTINGS, "mfa": "required"}):
            self.sidecar.call("tenant.update", {"tenantId": "default", **settings})
            self.no("userNotVerified", options, without)
            self.assertTrue(self.verify(options, with_user)["userVerified"])
            for weaker in ("preferred", "discouraged"):
                self.assertFalse(self.verify(options, without, userVerification=weaker)["userVerified"])
        self.assertEqual(self.violations(self.sidecar, "passkey.verify", {
            "challenge": options["challenge"], "response": without, "userVerification": "always"}), {("/userVerification", "enum")})

    def test_second_factor_is_not_accepted(self):
        device = Authenticator()
        self.sidecar.call("tenant.update", {"tenantId": "default", "mfa": "optional"})
        step = self.sidecar.call("mfa.enroll", {"idToken": self.token, "kind": "passkey"})
        self.sidecar.call("mfa.confirm", {"continuationToken": step["continuationToken"], "response": device.create(step["options"])})
        options = self.options()
        for more in ({}, {"accountId": self.account_id}):
            self.assertNotIn("unknownCredential", self.no("credentialUnknown", options, device.get(options), **more).data)

    def test_sign_in_does_not_name_a_registered_passkey_as_unknown(self):
        """The page passes `unknownCredential` to the authenticator, which then hides the passkey."""
        mine, _ = self.register()
        _, token = self.password_account("dora@example.com")
        other, _ = self.register(token=token)
        start = self.start(idToken=self.token, conditional=True)
        self.assertEqual(start["options"]["allowCredentials"], [])
        error = self.not_accepted("credentialUnknown", start, other.get(start["options"]), "account.reauthenticate", idToken=self.token)
        self.assertNotIn("unknownCredential", error.data)
        self.assertEqual(self.sign_in_with(mine)["account"]["accountId"], self.account_id)

    def test_many_keys_are_verified_at_the_same_time_each_with_its_own(self):
        devices = [self.register()[0] for _ in range(8)]
        options = self.options()
        responses = [device.get(options) for device in devices]
        mixed = []
        for number, response in enumerate(responses):
            wrong = json.loads(json.dumps(response))
            wrong["response"]["signature"] = responses[number - 1]["response"]["signature"]
            mixed += [(response, None), (wrong, "signatureInvalid")]
        failures = []

        def work():
            for _ in range(5):
                for response, reason in mixed:
                    try:
                        found = self.verify(options, response)["credentialId"] != response["id"]
                    except Exception as error:
                        found = error.data["reason"]
                    if (found or None) != reason:
                        failures.append((found, reason))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    @only("sqlite")
    def test_assertions_of_the_standard_are_accepted(self):
        with open(VECTORS) as file:
            vectors = json.load(file)
        settings = {"relyingPartyId": "example.org", "origins": ["https://example.org"], "topOrigins": ["*"]}
        self.sidecar.call("tenant.update", {"tenantId": "default", "passkeys": settings})
        accepted = 0
        for name, vector in vectors.items():
            if "a.challenge" not in vector or name in ("packed-es512", "packed-ed448"):
                continue
            with self.subTest(name):
                value = lambda key: b64(bytes.fromhex(vector[key]))
                account, token = self.password_account(f"{name.lower()}@example.com")
                self.sidecar.call("test.enqueue", {"passkeyChallenge": value("r.challenge")})
                start, id = self.begin(token), value("r.credential_id")
                self.sidecar.call("passkey.finishRegistration", {"continuationToken": start["continuationToken"], "response": {
                    "id": id, "rawId": id, "type": "public-key",
                    "response": {"clientDataJSON": value("r.clientDataJSON"), "attestationObject": value("r.attestationObject")}}})
                response = {"id": id, "rawId": id, "type": "public-key", "response": {
                    "clientDataJSON": value("a.clientDataJSON"), "authenticatorData": value("a.authenticatorData"), "signature": value("a.signature")}}
                facts = self.verify({"challenge": value("a.challenge")}, response, accountId=account)
                self.assertEqual((facts["accountId"], facts["credentialId"]), (account, id))
                accepted += 1
        self.assertEqual(accepted, 13)


del PasskeyTests
