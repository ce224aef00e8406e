"""Metadata files: which authenticators a tenant trusts, and what tokens then state."""

import os

from authenticators import BE, UP, UV, Authenticator, PasskeyTests
from metadataservice import Attested, Authority, blob, entry, pem
from test_logins import claims_of

AAGUID = bytes(range(16))


class PasskeyMetadata(PasskeyTests):
    def setUp(self):
        super().setUp()
        self.maker = Authority()
        self.file = os.path.join(self.folder, "metadata.jwt")
        self.write([entry(self.maker, AAGUID)])
        self.settings(metadataFile=self.file, attestation="direct")

    def write(self, entries, **more):
        # A new file has another inode, so that it is read again.
        with open(self.file + ".new", "w") as file:
            file.write(blob(entries, **more))
        os.replace(self.file + ".new", self.file)

    def refusal(self, reason, authenticator):
        start = self.begin()
        error = self.refused("passkeyNotAccepted", self.sidecar, "passkey.finishRegistration", {
            "continuationToken": start["continuationToken"], "response": authenticator.create(start["options"])})
        self.assertEqual(error.data["reason"], reason, error)

    def test_verified_attestation_names_the_authenticator_and_its_protection(self):
        key, passkey = self.register(Attested(self.maker, AAGUID))
        self.assertEqual((passkey["attestation"], passkey["authenticatorName"], passkey["name"]),
                         ({"format": "packed", "trust": "verified"}, "Maker Key 5", "Maker Key 5"))
        self.assertEqual(passkey["aaguid"], "00010203-0405-0607-0809-0a0b0c0d0e0f")
        done = self.sign_in_with(key)
        self.assertEqual((claims_of(done["idToken"])["amr"], claims_of(done["idToken"])["acr"]), (["hwk", "user", "mfa"], "phrh"))
        fresh = claims_of(self.sidecar.call("session.refresh", {"refreshToken": done["refreshToken"]})["idToken"])
        self.assertEqual(fresh["acr"], "phrh")

    def test_metadata_without_hardware_protection_is_software(self):
        self.write([entry(self.maker, AAGUID, protection=["software"])])
        key, _ = self.register(Attested(self.maker, AAGUID))
        claims = claims_of(self.sign_in_with(key)["idToken"])
        self.assertEqual((claims["amr"], claims["acr"]), (["swk", "user", "mfa"], "phr"))

    def test_synchronized_passkey_on_hardware_is_software_with_hardware_protection(self):
        key, _ = self.register(Attested(self.maker, AAGUID, flags=UP | UV | BE))
        claims = claims_of(self.sign_in_with(key)["idToken"])
        self.assertEqual((claims["amr"], claims["acr"]), (["swk", "user", "mfa"], "phrh"))

    def test_second_factor_with_verified_attestation_is_hardware(self):
        self.sidecar.call("tenant.update", {"tenantId": "default", "mfa": "optional"})
        step = self.sidecar.call("mfa.enroll", {"idToken": self.token, "kind": "passkey"})
        key = Attested(self.maker, AAGUID, flags=UP)
        done = self.sidecar.call("mfa.confirm", {"continuationToken": step["continuationToken"], "response": key.create(step["options"])})
        self.assertEqual(claims_of(done["idToken"])["acr"], "phrh")
        self.assertEqual(done["account"]["factors"][0]["displayName"], "Maker Key 5")

    def test_none_self_unknown_models_and_foreign_roots_are_untrusted(self):
        self.refusal("attestationUntrusted", Authenticator())
        self.refusal("attestationUntrusted", Attested(self.maker, b"\7" * 16))
        self.refusal("attestationUntrusted", Attested(Authority(), AAGUID))
        self.refusal("attestationUntrusted", Attested(self.maker, AAGUID, days=10))
        wrong = Attested(self.maker, AAGUID)
        wrong.aaguid = b"\7" * 16
        self.refusal("attestationInvalid", wrong)

    def test_compromised_models_are_revoked(self):
        for status in ("REVOKED", "USER_VERIFICATION_BYPASS", "ATTESTATION_KEY_COMPROMISE", "USER_KEY_REMOTE_COMPROMISE",
                       "USER_KEY_PHYSICAL_COMPROMISE"):
            with self.subTest(status):
                self.write([entry(self.maker, AAGUID, status=status)])
                self.refusal("authenticatorRevoked", Attested(self.maker, AAGUID))
        self.write([entry(self.maker, AAGUID, status="UPDATE_AVAILABLE")])
        self.register(Attested(self.maker, AAGUID))

    def test_u2f_keys_are_found_by_the_identifier_of_their_certificate(self):
        key = Attested(self.maker, bytes(16), format="fido-u2f", flags=UP)
        self.refusal("attestationUntrusted", key)
        self.write([entry(self.maker, key_identifiers=[key.key_identifier], description="Old key")])
        self.assertEqual(self.register(key)[1]["authenticatorName"], "Old key")

    def test_file_is_read_again_when_it_changes_and_sign_ins_work_without_it(self):
        key, _ = self.register(Attested(self.maker, AAGUID))
        os.remove(self.file)
        self.refusal("attestationUntrusted", Attested(self.maker, AAGUID))
        self.assertEqual(self.sign_in_with(key)["state"], "completed")
        health = self.sidecar.call("system.health", {})
        self.assertTrue(health["ready"])
        check, = [each for each in health["checks"] if each["name"] == "passkeyMetadata"]
        self.assertIn("tenant default registers no passkeys", check["detail"])
        self.write([entry(self.maker, AAGUID)], next_update="2023-10-01")
        self.register(Attested(self.maker, AAGUID))
        check, = [each for each in self.sidecar.call("system.health", {})["checks"] if each["name"] == "passkeyMetadata"]
        self.assertIn("2023-10-01", check["detail"])
        self.write([entry(self.maker, AAGUID)], next_update="2024-10-01")
        self.assertEqual([each for each in self.sidecar.call("system.health", {})["checks"] if each["name"] == "passkeyMetadata"], [])

    def test_signature_of_the_file_must_lead_to_a_root(self):
        roots = os.path.join(os.path.dirname(self.file), "roots.pem")
        service = Authority("Metadata Root")
        with open(roots, "w") as file:
            file.write(pem(service))
        self.unusable({"metadataFile": self.file, "metadataRootFile": roots}, "/passkeys/metadataFile")
        self.write([entry(self.maker, AAGUID)], signer=service)
        self.settings(metadataFile=self.file, metadataRootFile=roots)
        self.register(Attested(self.maker, AAGUID))
        text = open(self.file).read()
        with open(self.file, "w") as file:
            file.write(text[:-8] + ("AAAAAAAA" if text[-8:] != "AAAAAAAA" else "BBBBBBBB"))
        self.refusal("attestationUntrusted", Attested(self.maker, AAGUID))
        self.unusable({"metadataFile": self.file, "metadataRootFile": roots}, "/passkeys/metadataFile")

    def unusable(self, settings, pointer):
        for method, params in (("tenant.update", {"tenantId": "default"}), ("tenant.create", {"tenantId": "other"})):
            error = self.refused("invalidTenantSettings", self.sidecar, method, {
                **params, "passkeys": {"relyingPartyId": "example.com", "origins": ["https://example.com"], **settings}})
            self.assertEqual(error.data["pointer"], pointer, error)

    def test_settings_with_an_unusable_file_are_refused(self):
        folder = os.path.dirname(self.file)
        empty = os.path.join(folder, "empty")
        open(empty, "w").close()
        for path in (os.path.join(folder, "missing"), folder, empty, "/dev/zero"):
            with self.subTest(path):
                self.unusable({"metadataFile": path}, "/passkeys/metadataFile")
        self.unusable({"metadataRootFile": self.file}, "/passkeys/metadataRootFile")
        self.unusable({"metadataFile": self.file, "metadataRootFile": empty}, "/passkeys/metadataFile")


del PasskeyTests
