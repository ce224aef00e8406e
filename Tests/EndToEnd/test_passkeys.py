"""Passkeys: py_webauthn as a second opinion, and the ceremonies of W3C Web Authentication Level 3 section 16."""

import json
import os
import threading
import time

import webauthn

from authenticators import BE, BS, ORIGIN, SETTINGS, UP, UV, Authenticator, PasskeyTests, b64, unb64
from sidecar import RpcError
from test_logins import claims_of

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "WebAuthnTests", "l3-vectors.json")


class Passkeys(PasskeyTests):
    def test_registered_passkey_signs_in_and_a_second_library_agrees(self):
        start = self.begin()
        authenticator = Authenticator()
        response = authenticator.create(start["options"])
        self.assertEqual(start["options"]["rp"], {"id": "example.com", "name": "example.com"})
        self.assertEqual(len(unb64(start["options"]["challenge"])), 32)
        self.assertEqual(len(unb64(start["options"]["user"]["id"])), 32)
        self.assertEqual(start["expiresAt"], 1_700_000_300)
        second = webauthn.verify_registration_response(
            credential=response, expected_challenge=unb64(start["options"]["challenge"]), expected_rp_id="example.com", expected_origin=ORIGIN)
        passkey = self.sidecar.call("passkey.finishRegistration", {
            "continuationToken": start["continuationToken"], "response": response, "name": "Laptop"})["passkey"]
        self.assertEqual(passkey["credentialId"], b64(second.credential_id))
        self.assertEqual((passkey["name"], passkey["transports"], passkey["discoverable"]), ("Laptop", ["hybrid", "internal"], True))
        begun = self.start()
        self.assertEqual(begun["options"]["allowCredentials"], [])
        assertion = authenticator.get(begun["options"])
        webauthn.verify_authentication_response(
            credential=assertion, expected_challenge=unb64(begun["options"]["challenge"]), expected_rp_id="example.com", expected_origin=ORIGIN,
            credential_public_key=second.credential_public_key, credential_current_sign_count=0)
        done = self.sidecar.call("signIn.withCredential", self.answer(begun, assertion))
        self.assertEqual(done["account"]["accountId"], self.account_id)
        self.assertEqual([each["credentialId"] for each in done["account"]["passkeys"]], [passkey["credentialId"]])
        for token in (done["idToken"], done["accessToken"]):
            claims = claims_of(token)
            self.assertEqual((claims["amr"], claims["acr"], claims["auth_time"]), (["hwk", "user", "mfa"], "phr", 1_700_000_000))
        self.assertEqual(claims_of(done["idToken"])["mintmark"]["sign_in_provider"], "passkey")
        self.sidecar.call("test.clock", {"advanceSeconds": 100})
        fresh = claims_of(self.sidecar.call("session.refresh", {"refreshToken": done["refreshToken"]})["idToken"])
        self.assertEqual((fresh["amr"], fresh["acr"], fresh["auth_time"]), (["hwk", "user", "mfa"], "phr", 1_700_000_000))
        self.refused("flowFinished", self.sidecar, "signIn.withCredential", self.answer(begun, assertion))
        before = self.sidecar.call("account.get", {"accountId": self.account_id})
        self.assertEqual(before["passkeys"][0]["lastUsedAt"], 1_700_000_000)
        # A sign-in changes nothing else about the account.
        self.sign_in_with(authenticator)
        after = self.sidecar.call("account.get", {"accountId": self.account_id})
        self.assertEqual(after.pop("lastSignInAt"), 1_700_000_100)
        for account in (before, after):
            account.pop("lastSignInAt", None)
            account["passkeys"][0].pop("lastUsedAt")
        self.assertEqual(after, before)

    def test_synchronized_passkey_without_verification_is_one_software_factor(self):
        authenticator, _ = self.register(Authenticator(flags=UP | BE | BS))
        self.assertEqual(claims_of(self.sign_in_with(authenticator)["idToken"])["amr"], ["swk", "user"])
        # A PIN that was set later does not verify the user: a thief of the authenticator can set it.
        self.assertEqual(claims_of(self.sign_in_with(authenticator, flags=UP | UV | BE | BS)["idToken"])["amr"], ["swk", "user"])

    def test_refused_response_spends_the_challenge_and_names_the_reason(self):
        authenticator, _ = self.register()
        other = Authenticator()
        other.handle = authenticator.handle
        cases = [
            ("originNotAllowed", authenticator, {"origin": "https://shop.example.com.evil.example"}),
            ("originNotAllowed", authenticator, {"origin": ORIGIN + "/"}),
            ("challengeMismatch", authenticator, {"challenge": b64(os.urandom(32))}),
            ("wrongType", authenticator, {"kind": "webauthn.create"}),
            ("userNotPresent", authenticator, {"flags": 0}),
            ("backupFlagsInvalid", authenticator, {"flags": UP | BS}),
            ("backupEligibilityChanged", authenticator, {"flags": UP | BE}),
            ("userHandleMismatch", authenticator, {"handle": None}),
            ("userHandleMismatch", authenticator, {"handle": b64(b"someone else")}),
            ("credentialUnknown", other, {}),
        ]
        for reason, device, wrong in cases:
            with self.subTest(reason, **{key: str(value) for key, value in wrong.items()}):
                start = self.start()
                error = self.not_accepted(reason, start, device.get(start["options"], **wrong))
                self.assertEqual("unknownCredential" in error.data, reason == "credentialUnknown")
                self.refused("flowUsed", self.sidecar, "signIn.withCredential", self.answer(start, authenticator.get(start["options"])))
        start = self.start()
        forged = authenticator.get(start["options"])
        forged["response"]["signature"] = Authenticator().get(start["options"], handle=None)["response"]["signature"]
        self.not_accepted("signatureInvalid", start, forged)
        start = self.start()
        response = authenticator.get({**start["options"], "rpId": "example.org"})
        self.not_accepted("relyingPartyMismatch", start, response)

    def test_response_that_is_not_a_response_spends_nothing(self):
        authenticator, _ = self.register()
        start = self.start()
        good = authenticator.get(start["options"])
        for change in ({"type": "other"}, {"id": b64(b"x")}, {"rawId": good["rawId"] + "="}, {"response": 1}, {"response": {}}):
            error = self.refused("invalidParams", self.sidecar, "signIn.withCredential", self.answer(start, {**good, **change}))
            self.assertTrue(all(each["pointer"].startswith("/credential/response/") for each in error.data["violations"]), error.data)
        self.refused("invalidParams", self.sidecar, "signIn.withCredential", {"credential": {"continuationToken": start["continuationToken"]}})
        self.assertEqual(self.sidecar.call("signIn.withCredential", self.answer(start, good))["state"], "completed")

    def test_tokens_of_another_kind_tenant_or_time_are_refused(self):
        authenticator, _ = self.register()
        self.sidecar.call("tenant.create", {"tenantId": "shop", "passkeys": SETTINGS})
        start = self.start()
        self.refused("continuationTokenInvalid", self.sidecar, "signIn.withCredential",
                     {"tenantId": "shop", **self.answer(start, authenticator.get(start["options"]))})
        elsewhere = self.start(tenantId="shop")
        error = self.refused("passkeyNotAccepted", self.sidecar, "signIn.withCredential",
                             {"tenantId": "shop", **self.answer(elsewhere, authenticator.get(elsewhere["options"]))})
        self.assertEqual(error.data["reason"], "credentialUnknown")
        registration = self.begin()
        self.refused("continuationTokenInvalid", self.sidecar, "signIn.withCredential",
                     self.answer(registration, authenticator.get(start["options"])))
        self.refused("continuationTokenInvalid", self.sidecar, "passkey.finishRegistration",
                     {"continuationToken": start["continuationToken"], "response": Authenticator().create(registration["options"])})
        self.sidecar.call("test.clock", {"advanceSeconds": 299})
        late, conditional = self.start(), self.start(conditional=True)
        self.assertEqual(conditional["mediation"], "conditional")
        self.assertNotIn("timeout", conditional["options"])
        self.assertEqual(self.sign_in_with(authenticator, start)["state"], "completed")
        self.sidecar.call("test.clock", {"advanceSeconds": 300})
        self.refused("continuationTokenExpired", self.sidecar, "signIn.withCredential",
                     self.answer(late, authenticator.get(late["options"])))
        self.assertEqual(self.sign_in_with(authenticator, conditional)["state"], "completed")

    def test_repeated_registration_returns_the_same_passkey_and_an_id_is_registered_once(self):
        start = self.begin()
        authenticator = Authenticator()
        request = {"continuationToken": start["continuationToken"], "response": authenticator.create(start["options"])}
        first = self.sidecar.call("passkey.finishRegistration", request)
        self.assertEqual(self.sidecar.call("passkey.finishRegistration", request), first)
        self.refused("flowUsed", self.sidecar, "passkey.finishRegistration", {**request, "name": "Other"})
        self.sidecar.call("test.clock", {"advanceSeconds": 60})
        self.refused("flowUsed", self.sidecar, "passkey.finishRegistration", request)
        again = self.begin()
        self.assertEqual([each["id"] for each in again["options"]["excludeCredentials"]], [b64(authenticator.id)])
        error = self.refused("passkeyNotAccepted", self.sidecar, "passkey.finishRegistration", {
            "continuationToken": again["continuationToken"], "response": authenticator.create(again["options"])})
        self.assertEqual(error.data["reason"], "alreadyRegistered")
        self.assertEqual(self.sidecar.call("passkey.list", {"idToken": self.token})["passkeys"], [first["passkey"]])

    def test_counter_must_grow_and_a_regression_is_audited(self):
        authenticator, _ = self.register(Authenticator(counts=True))
        self.sign_in_with(authenticator, counter=7)
        for counter in (7, 6, 0):
            start = self.start()
            self.not_accepted("counterRegressed", start, authenticator.get(start["options"], counter=counter))
        refused = [each for each in self.sidecar.call("audit.list", {"limit": 50})["records"] if each["details"].get("refused") == "counterRegressed"]
        self.assertEqual(len(refused), 3)
        self.assertEqual(self.sign_in_with(authenticator, counter=8)["state"], "completed")

    def test_of_parallel_requests_one_is_accepted(self):
        authenticator, _ = self.register(Authenticator(counts=True))
        start = self.start()
        one = self.answer(start, authenticator.get(start["options"]))
        starts = [self.start() for _ in range(6)]
        same = [self.answer(each, authenticator.get(each["options"], counter=50)) for each in starts]
        for requests, errors in (([one] * 6, {"flowUsed", "flowFinished"}), (same, {"passkeyNotAccepted"})):
            outcomes = []

            def attempt(request):
                try:
                    outcomes.append(self.sidecar.call("signIn.withCredential", request)["state"])
                except RpcError as error:
                    outcomes.append(error.type)

            threads = [threading.Thread(target=attempt, args=[request]) for request in requests]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(outcomes.count("completed"), 1, outcomes)
            self.assertLessEqual(set(outcomes), errors | {"completed"})

    def test_started_with_address_only_passkeys_of_the_account_are_accepted(self):
        mine, _ = self.register()
        _, token = self.password_account("dora@example.com")
        other, _ = self.register(token=token)
        start = self.start(username="carol@example.com")
        self.assertEqual([each["id"] for each in start["options"]["allowCredentials"]], [b64(mine.id)])
        self.not_accepted("credentialNotAllowed", start, other.get(start["options"]))
        self.assertEqual(self.sign_in_with(mine, self.start(username="carol@example.com"), handle=None)["state"], "completed")
        self.refused("userNotFound", self.sidecar, "passkey.startAuthentication", {"username": "nobody@example.com"})
        self.password_account("eva@example.com")
        error = self.refused("passkeyNotSet", self.sidecar, "passkey.startAuthentication", {"username": "eva@example.com"})
        self.assertEqual(error.data["next"], "signIn.start")
        self.refused("invalidParams", self.sidecar, "passkey.startAuthentication", {"username": "carol@example.com", "conditional": True})

    def test_enumeration_protection_answers_unknown_addresses_like_known_ones(self):
        mine, _ = self.register()
        self.password_account("eva@example.com")
        self.sidecar.call("tenant.update", {"tenantId": "default", "enumerationProtection": True})
        self.sidecar.call("tenant.create", {"tenantId": "shop", "enumerationProtection": True, "passkeys": SETTINGS})
        known = self.start(username="carol@example.com")
        for name in ("nobody@example.com", "eva@example.com"):
            first, second = self.start(username=name), self.start(username=name.upper())
            allowed = first["options"]["allowCredentials"]
            self.assertIn(len(allowed), (1, 2))
            self.assertEqual(allowed, second["options"]["allowCredentials"])
            self.assertNotEqual(allowed, self.start(username=name, tenantId="shop")["options"]["allowCredentials"])
            self.assertEqual(set(first), set(known))
            self.assertEqual(set(first["options"]), set(known["options"]))
            self.assertTrue(all(16 <= len(unb64(each["id"])) <= 64 and each["transports"] for each in allowed))
        answers = []
        for name, wrong in (("carol@example.com", {}), ("nobody@example.com", {}), ("carol@example.com", {"flags": UP | BE}),
                            ("nobody@example.com", {"flags": UP | BE}), ("carol@example.com", {"origin": "https://evil.example"}),
                            ("nobody@example.com", {"origin": "https://evil.example"})):
            start = self.start(username=name)
            forger = Authenticator()
            forger.id, forger.handle = unb64(start["options"]["allowCredentials"][0]["id"]), b64(b"anyone")
            data = self.refused("passkeyNotAccepted", self.sidecar, "signIn.withCredential",
                                self.answer(start, forger.get(start["options"], **wrong))).data
            data.pop("credentialId")
            answers.append(data)
        for first, second in zip(answers[::2], answers[1::2]):
            self.assertEqual(first, second)
        self.assertEqual([each["reason"] for each in answers[::2]], ["signatureInvalid", "signatureInvalid", "originNotAllowed"])
        start = self.start(username="carol@example.com")
        self.assertEqual(self.sign_in_with(mine, start)["state"], "completed")

    def test_reauthentication_accepts_only_a_passkey_of_the_account(self):
        mine, _ = self.register()
        _, other_token = self.password_account("dora@example.com")
        other, _ = self.register(token=other_token)
        self.sidecar.call("test.clock", {"advanceSeconds": 400})
        self.refused("recentSignInRequired", self.sidecar, "passkey.startRegistration", {"idToken": self.token})
        start = self.start()
        self.refused("userMismatch", self.sidecar, "account.reauthenticate",
                     {"idToken": self.token, **self.answer(start, other.get(start["options"]))})
        start = self.start(idToken=self.token)
        self.not_accepted("credentialNotAllowed", start, other.get(start["options"]), "account.reauthenticate", idToken=self.token)
        start = self.start(idToken=self.token)
        done = self.sidecar.call("account.reauthenticate", {"idToken": self.token, **self.answer(start, mine.get(start["options"]))})
        self.assertIn("continuationToken", self.begin(done["idToken"]))
        self.assertEqual(len(self.sidecar.call("session.list", {"accountId": self.account_id})["sessions"]), 2)

    def test_verified_passkey_is_two_factors_and_an_unverified_one_is_not(self):
        verified, _ = self.register()
        plain, _ = self.register(Authenticator(flags=UP))
        self.sidecar.call("tenant.update", {"tenantId": "default", "mfa": "required"})
        self.assertEqual(self.start()["options"]["userVerification"], "required")
        self.assertEqual(self.sign_in_with(verified)["state"], "completed")
        start = self.start()
        self.not_accepted("userNotVerified", start, plain.get(start["options"]))
        # Verification that the registration did not show does not replace a second factor.
        step = self.sign_in_with(plain, flags=UP | UV)
        self.assertEqual((step["state"], [each["displayName"] for each in step["hints"]]), ("secondFactorRequired", ["Passkey 1"]))
        self.sidecar.call("passkey.delete", {"accountId": self.account_id, "credentialId": b64(verified.id)})
        self.assertEqual(self.sign_in_with(plain, flags=UP | UV)["state"], "secondFactorEnrollmentRequired")

    def test_disabled_and_locked_accounts_are_revealed_after_a_valid_signature_only(self):
        mine, _ = self.register()
        self.sidecar.call("account.update", {"accountId": self.account_id, "disabled": True})
        start = self.start()
        forger = Authenticator()
        forger.id, forger.handle = mine.id, mine.handle
        self.not_accepted("signatureInvalid", start, forger.get(start["options"]))
        start = self.start()
        request = self.answer(start, mine.get(start["options"]))
        self.refused("accountDisabled", self.sidecar, "signIn.withCredential", request)
        self.refused("flowUsed", self.sidecar, "signIn.withCredential", request)

    def test_proof_of_the_address_removes_passkeys_of_other_users(self):
        """A user registers a passkey for an account with the address of another user. Then the owner of the address signs in."""
        self.sidecar.call("test.clock", {"setAt": int(time.time()), "freeze": True})
        trusted = self.idp("oidc.trusted", trustEmail=True)
        _, token = self.password_account("dora@example.com", verified=False)
        theirs, _ = self.register(token=token)
        self.account(self.sign_in(trusted, "dora", email="dora@example.com", email_verified=True))
        start = self.start()
        self.not_accepted("credentialUnknown", start, theirs.get(start["options"]))

    def test_locked_account_is_not_signed_in(self):
        mine, _ = self.register()
        for number in range(10):
            self.sidecar.refusal("signIn.withPassword", {"username": "carol@example.com", "password": f"wrong Horse {number} Battery"})
        start = self.start()
        self.refused("accountLocked", self.sidecar, "signIn.withCredential", self.answer(start, mine.get(start["options"])))

    def test_rename_delete_and_signals(self):
        mine, passkey = self.register()
        self.assertEqual(passkey["name"], "Passkey 1")
        renamed = self.sidecar.call("passkey.rename", {"accountId": self.account_id, "credentialId": passkey["credentialId"], "name": "Key"})
        self.assertEqual(renamed["passkey"], {**passkey, "name": "Key"})
        session = self.sign_in_with(mine)
        signals = self.sidecar.call("passkey.signals", {"idToken": self.token})
        self.assertEqual(signals["allAcceptedCredentials"], [
            {"rpId": "example.com", "userId": mine.handle, "allAcceptedCredentialIds": [passkey["credentialId"]]}])
        self.assertEqual(signals["currentUserDetails"][0]["name"], "carol@example.com")
        self.assertEqual(self.sidecar.call("passkey.signals", {"credentialId": passkey["credentialId"]}), {})
        self.sidecar.call("passkey.delete", {"idToken": self.token, "credentialId": passkey["credentialId"]})
        self.refused("refreshTokenInvalid", self.sidecar, "session.refresh", {"refreshToken": session["refreshToken"]})
        self.assertEqual(self.sidecar.call("passkey.signals", {"idToken": self.token})["allAcceptedCredentials"][0]["allAcceptedCredentialIds"], [])
        self.assertEqual(self.sidecar.call("passkey.signals", {"credentialId": passkey["credentialId"]})["unknownCredential"],
                         {"rpId": "example.com", "credentialId": passkey["credentialId"]})
        self.refused("passkeyNotFound", self.sidecar, "passkey.delete", {"idToken": self.token, "credentialId": passkey["credentialId"]})
        methods = [each["method"] for each in self.sidecar.call("audit.list", {"limit": 50})["records"]]
        for method in ("passkey.finishRegistration", "passkey.rename", "passkey.delete"):
            self.assertIn(method, methods)

    def test_last_sign_in_method_is_deleted_only_with_force(self):
        anonymous = self.anonymous()
        mine, passkey = self.register(token=anonymous["idToken"])
        account = self.sidecar.call("account.get", {"accountId": anonymous["account"]["accountId"]})
        self.assertEqual(account["method"], "federated")
        token = self.sign_in_with(mine)["idToken"]
        request = {"idToken": token, "credentialId": passkey["credentialId"]}
        self.assertEqual(self.refused("lastProvider", self.sidecar, "passkey.delete", request).data["providerId"], "passkey")
        self.assertEqual(self.sidecar.call("passkey.delete", {**request, "force": True})["passkeys"], [])

    def test_deleting_an_account_deletes_its_passkeys_and_frees_the_id(self):
        mine, _ = self.register()
        begun = self.begin()
        self.sidecar.call("account.delete", {"accountId": self.account_id})
        self.refused("flowEnded", self.sidecar, "passkey.finishRegistration", {
            "continuationToken": begun["continuationToken"], "response": Authenticator().create(begun["options"])})
        start = self.start()
        self.not_accepted("credentialUnknown", start, mine.get(start["options"]))
        _, token = self.password_account()
        self.register(mine, token)
        self.assertEqual(self.sign_in_with(mine)["state"], "completed")

    def test_merged_account_keeps_the_passkeys_of_both(self):
        mine, _ = self.register()
        _, other_token = self.password_account("dora@example.com")
        other, _ = self.register(token=other_token)
        self.sidecar.call("account.merge", {"idToken": self.token, "sourceIdToken": other_token, "policy": "keepTarget"})
        for authenticator in (mine, other):
            self.assertEqual(self.sign_in_with(authenticator)["account"]["accountId"], self.account_id)
        handles = {each["userId"] for each in self.sidecar.call("passkey.signals", {"accountId": self.account_id})["allAcceptedCredentials"]}
        self.assertEqual(handles, {mine.handle, other.handle})

    def test_an_account_has_at_most_20_passkeys(self):
        late = self.begin()
        for _ in range(20):
            self.register()
        self.refused("tooManyPasskeys", self.sidecar, "passkey.startRegistration", {"idToken": self.token})
        error = self.refused("tooManyPasskeys", self.sidecar, "passkey.finishRegistration", {
            "continuationToken": late["continuationToken"], "response": Authenticator().create(late["options"])})
        self.assertEqual(error.data["maximum"], 20)

    def test_conditional_registration_needs_a_password_and_no_user(self):
        self.settings(userVerification="required")
        start = self.begin(conditional=True)
        self.assertEqual((start["mediation"], start["options"]["authenticatorSelection"]["userVerification"]), ("conditional", "preferred"))
        authenticator = Authenticator(flags=0)
        self.sidecar.call("passkey.finishRegistration", {
            "continuationToken": start["continuationToken"], "response": authenticator.create(start["options"])})
        start = self.begin()
        error = self.refused("passkeyNotAccepted", self.sidecar, "passkey.finishRegistration", {
            "continuationToken": start["continuationToken"], "response": Authenticator(flags=UP).create(start["options"])})
        self.assertEqual(error.data["reason"], "userNotVerified")
        token = self.sign_in_with(authenticator, flags=UP | UV)["idToken"]
        self.refused("recentSignInRequired", self.sidecar, "passkey.startRegistration", {"idToken": token, "conditional": True})

    def test_settings_are_checked_with_pointers(self):
        wrong = [
            ("relyingPartyId", {"relyingPartyId": each}) for each in ("https://example.com", "Example.com", "example.com.", "127.0.0.1", "a b")
        ] + [
            ("origins/1", {"origins": [ORIGIN, each]}) for each in (
                "https://example.org", "https://badexample.com", "http://shop.example.com", ORIGIN + "/", ORIGIN + ":443",
                "https://Shop.example.com", "https://u@shop.example.com", "android:apk-key-hash:abc", "shop.example.com")
        ] + [("relatedOrigins/0", {"relatedOrigins": ["http://example.org"]}), ("topOrigins/0", {"topOrigins": ["example.org"]}),
             ("algorithms/1", {"algorithms": [-7, -36]})]
        for member, change in wrong:
            with self.subTest(str(change)):
                error = self.refused("invalidTenantSettings", self.sidecar, "tenant.update", {
                    "tenantId": "default", "passkeys": {**SETTINGS, **change}})
                self.assertEqual(error.data["pointer"], f"/passkeys/{member}")
        self.settings(origins=[ORIGIN, "https://example.com:8443", "android:apk-key-hash:" + b64(bytes(32))], relatedOrigins=["https://example.org"])
        self.assertEqual(self.sidecar.call("passkey.relatedOrigins", {})["document"],
                         {"origins": [ORIGIN, "https://example.com:8443", "https://example.org"]})

    def test_relying_party_with_passkeys_changes_only_with_force(self):
        mine, _ = self.register()
        moved = {"relyingPartyId": "example.net", "origins": ["https://example.net"]}
        error = self.refused("invalidTenantSettings", self.sidecar, "tenant.update", {"tenantId": "default", "passkeys": moved})
        self.assertEqual(error.data["pointer"], "/passkeys/relyingPartyId")
        with self.assertRaises(RpcError):
            self.sidecar.call("system.apply", {"tenants": [{"tenantId": "default", "passkeys": moved}]})
        self.sidecar.call("tenant.update", {"tenantId": "default", "passkeys": moved, "force": True})
        self.assertEqual(self.sidecar.call("passkey.list", {"idToken": self.token})["passkeys"][0]["relyingPartyId"], "example.com")
        self.refused("passkeyNotSet", self.sidecar, "passkey.startAuthentication", {"idToken": self.token})
        start = self.start()
        self.not_accepted("credentialUnknown", start, mine.get(start["options"]))

    def test_tenant_without_settings_has_no_passkeys(self):
        self.sidecar.call("tenant.create", {"tenantId": "shop"})
        for method, params in (("passkey.startAuthentication", {}), ("passkey.relatedOrigins", {}), ("passkey.signals", {"credentialId": "AAAA"})):
            error = self.refused("passkeysOff", self.sidecar, method, {"tenantId": "shop", **params})
            self.assertEqual(error.data["tenantId"], "shop")

    def test_ceremonies_of_the_standard_are_accepted(self):
        with open(VECTORS) as file:
            vectors = json.load(file)
        settings = {"relyingPartyId": "example.org", "origins": ["https://example.org"], "topOrigins": ["*"]}
        self.sidecar.call("tenant.update", {"tenantId": "default", "passkeys": settings})
        accepted = 0
        for name, vector in vectors.items():
            if "r.challenge" not in vector:
                continue
            with self.subTest(name):
                value = lambda key: b64(bytes.fromhex(vector[key]))
                _, token = self.password_account(f"{name.lower()}@example.com")
                self.sidecar.call("test.enqueue", {"passkeyChallenge": value("r.challenge")})
                start = self.begin(token)
                self.assertEqual(start["options"]["challenge"], value("r.challenge"))
                response = {"id": value("r.credential_id"), "rawId": value("r.credential_id"), "type": "public-key", "response": {
                    "clientDataJSON": value("r.clientDataJSON"), "attestationObject": value("r.attestationObject")}}
                request = {"continuationToken": start["continuationToken"], "response": response}
                if "es512" in name.lower() or "ed448" in name.lower():
                    error = self.refused("passkeyNotAccepted", self.sidecar, "passkey.finishRegistration", request)
                    self.assertEqual(error.data["reason"], "algorithmNotAllowed")
                    continue
                self.sidecar.call("passkey.finishRegistration", request)
                self.sidecar.call("test.enqueue", {"passkeyChallenge": value("a.challenge")})
                begun = self.start()
                assertion = {"id": value("r.credential_id"), "rawId": value("r.credential_id"), "type": "public-key", "response": {
                    "clientDataJSON": value("a.clientDataJSON"), "authenticatorData": value("a.authenticatorData"),
                    "signature": value("a.signature"), "userHandle": start["options"]["user"]["id"]}}
                self.assertEqual(self.sidecar.call("signIn.withCredential", self.answer(begun, assertion))["state"], "completed")
                accepted += 1
        self.assertEqual(accepted, 13)


del PasskeyTests
