"""Imported password hashes: verified at the first sign-in, and then replaced with a hash of this store."""

import base64

from endtoend import EndToEnd
from foreign_passwords import ALL, FIREBASE, PBKDF2, SCRYPT, hashed
from sidecar import RpcError
from test_logins import Provider

PASSWORD = "naïve secret 9"


class ForeignPasswords(EndToEnd):
    def setUp(self):
        super().setUp()
        self.store = self.path("store.db")
        self.sidecar = self.spawn(store=self.store, testing=True)

    def bring(self, how, name="carol", password=PASSWORD, **more):
        account = {"accountId": name, "email": f"{name}@example.com", "emailVerified": True, **hashed(how, password), **more}
        answer = self.sidecar.call("account.import", {"accounts": [account], "hash": how})
        self.assertEqual((answer["imported"], answer["failures"]), (1, []))

    def sign_in(self, name="carol", password=PASSWORD, method="signIn.withPassword", **more):
        return self.sidecar.call(method, {"username": f"{name}@example.com", "password": password, **more})

    def kept(self, name="carol"):
        """Returns the algorithm and the parameters of the stored hash."""
        accounts = self.sidecar.call("account.export", {"includeSecrets": True, "limit": 1000})["accounts"]
        return next(each["hash"] for each in accounts if each["accountId"] == name)

    def is_own(self, name="carol"):
        """Returns whether the stored hash has the parameters of this store. Testing stores use N = 2^4."""
        return self.kept(name) == {"algorithm": "scrypt", "memoryCost": 4, "blockSize": 8, "parallelization": 1}

    def test_each_algorithm_is_verified_at_first_sign_in_and_replaced(self):
        for number, how in enumerate(ALL):
            with self.subTest(how["algorithm"]):
                name = f"user{number}"
                self.bring(how, name)
                self.refused("invalidPassword", self.sidecar, "signIn.withPassword", {"username": f"{name}@example.com", "password": "naive secret 9"})
                self.assertEqual(self.kept(name)["algorithm"], how["algorithm"])
                answer = self.sign_in(name)
                self.assertEqual((answer["state"], answer["account"]["accountId"], answer["account"]["method"]), ("completed", name, "password"))
                self.assertTrue(self.is_own(name))
                self.assertEqual(self.sign_in(name)["state"], "completed")
                self.refused("invalidPassword", self.sidecar, "signIn.withPassword", {"username": f"{name}@example.com", "password": "naive secret 9"})

    def test_sample_hash_of_firebase_is_verified(self):
        self.sidecar.call("account.import", {"hash": FIREBASE, "accounts": [{
            "email": "user1@example.com", "salt": "42xEC+ixf3L2lw==",
            "passwordHash": "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=="}]})
        self.assertEqual(self.sign_in("user1", "user1password")["state"], "completed")

    def test_sign_in_by_steps_replaces_hash(self):
        self.bring(FIREBASE)
        step = self.sidecar.call("signIn.start", {"username": "carol@example.com"})
        self.assertEqual(step["state"], "passwordRequired")
        token = step["continuationToken"]
        self.refused("invalidPassword", self.sidecar, "signIn.submitPassword", {"continuationToken": token, "password": "wrong secret 9"})
        self.assertFalse(self.is_own())
        self.assertEqual(self.sidecar.call("signIn.submitPassword", {"continuationToken": token, "password": PASSWORD})["state"], "completed")
        self.assertTrue(self.is_own())

    def test_pending_second_factor_does_not_prevent_replacement(self):
        self.bring(SCRYPT, factors=[{"kind": "sms", "phoneNumber": "+4915112345678"}])
        self.assertEqual(self.sign_in()["state"], "secondFactorRequired")
        self.assertTrue(self.is_own())
        self.assertEqual(self.sign_in()["state"], "secondFactorRequired")

    def test_imported_password_is_accepted_for_sensitive_operations(self):
        provider = Provider("https://work.example.com")
        self.sidecar.call("idp.create", {"providerId": "oidc.work", "clientId": "shop", "issuer": provider.issuer, "keys": [provider.jwk]})
        def session(name):
            self.bring(PBKDF2[1], name, providers=[{"providerId": "oidc.work", "subject": name}])
            answer = self.sidecar.call("signIn.withCredential", {"credential": {"providerId": "oidc.work", "idToken": provider.token(name)}})
            self.assertEqual((answer["account"]["accountId"], answer["isNewAccount"], self.is_own(name)), (name, False, False))
            return answer["idToken"]
        token = session("carol")
        credential = {"email": "carol@example.com", "password": PASSWORD}
        self.refused("invalidPassword", self.sidecar, "account.reauthenticate", {"idToken": token, "credential": {**credential, "password": "wrong 9"}})
        self.assertEqual(self.sidecar.call("account.reauthenticate", {"idToken": token, "credential": credential})["state"], "completed")
        self.assertTrue(self.is_own("carol"))
        token = session("dora")
        change = {"idToken": token, "currentPassword": "wrong 9", "newPassword": "another Secret 7"}
        self.refused("invalidPassword", self.sidecar, "account.changePassword", change)
        self.sidecar.call("account.changePassword", {**change, "currentPassword": PASSWORD})
        self.assertEqual(self.sign_in("dora", "another Secret 7")["state"], "completed")
        step = self.sidecar.call("account.changeEmail", {"idToken": session("emma"), "email": "new@example.com", "currentPassword": PASSWORD})
        self.assertEqual(step["state"], "codeRequired")

    def test_concurrent_sign_ins_succeed(self):
        """Only one of them replaces the hash. The others succeed too."""
        other = self.spawn(store=self.store, testing=True)
        for number in range(5):
            name = f"user{number}"
            self.bring(PBKDF2[0], name)
            ids = [(each, each.send("signIn.withPassword", {"username": f"{name}@example.com", "password": PASSWORD})) for each in (self.sidecar, other) * 6]
            for each, id in ids:
                self.assertEqual(each.answer(id)["state"], "completed")
            self.assertTrue(self.is_own(name))

    def test_password_reset_replaces_hash_or_sets_missing_password(self):
        self.bring(FIREBASE)
        lost = {"accountId": "dora", "email": "dora@example.com", "method": "password"}
        self.sidecar.call("account.import", {"accounts": [lost]})
        for _ in range(12):   # Attempts without a stored password do not lock the account.
            for method, params in (("signIn.withPassword", {"password": ""}), ("signIn.start", {})):
                self.assertEqual(self.refused("passwordNotSet", self.sidecar, method, {"username": "dora@example.com", **params}).data["next"], "passwordReset.start")
        exported = self.sidecar.call("account.export", {"includeSecrets": True})["accounts"]
        self.assertEqual({each["accountId"]: "passwordHash" in each for each in exported}, {"carol": True, "dora": False})
        self.assertEqual(next(each["method"] for each in exported if each["accountId"] == "dora"), "password")
        for name in ("carol", "dora"):
            step = self.sidecar.call("passwordReset.start", {"username": f"{name}@example.com"})
            code = self.sidecar.call("test.outbox", {"to": f"{name}@example.com"})["messages"][-1]["code"]
            step = self.sidecar.call("passwordReset.submitCode", {"continuationToken": step["continuationToken"], "code": code})
            self.sidecar.call("passwordReset.submitPassword", {"continuationToken": step["continuationToken"], "password": "another Secret 7"})
            self.assertEqual(self.sign_in(name, "another Secret 7")["state"], "completed")
            self.assertTrue(self.is_own(name))

    def test_wrong_passwords_count_toward_lockout(self):
        self.bring(PBKDF2[2])
        for number in range(10):
            self.refused(("invalidPassword", "accountLocked"), self.sidecar, "signIn.withPassword", {"username": "carol@example.com", "password": f"wrong {number}"})
        self.refused("accountLocked", self.sidecar, "signIn.withPassword", {"username": "carol@example.com", "password": PASSWORD})

    def test_expensive_hash_parameters_are_rejected_before_hashing(self):
        def pointers(how):
            return self.refused("invalidHashParameters", self.sidecar, "account.import", {"accounts": [], "hash": how}).data["pointer"]
        self.assertEqual(pointers({"algorithm": "scrypt", "memoryCost": 17, "blockSize": 16}), "/memoryCost")
        self.assertEqual(pointers({"algorithm": "scrypt", "memoryCost": 17, "parallelization": 2}), "/memoryCost")
        self.assertEqual(pointers({**FIREBASE, "rounds": 17}), "/rounds")
        self.assertEqual(pointers({**FIREBASE, "memoryCost": 17, "rounds": 16}), "/memoryCost")
        self.assertEqual(pointers({"algorithm": "pbkdf2Sha256"}), "/rounds")
        self.assertEqual(pointers({"algorithm": "sha256", "rounds": 8193}), "/rounds")
        self.assertEqual(pointers({"algorithm": "hmacSha256"}), "/signerKey")
        self.assertEqual(pointers({"algorithm": "sha1", "signerKey": "AAAA"}), "/signerKey")
        self.assertEqual(pointers({"algorithm": "scrypt", "saltAfterPassword": True}), "/saltAfterPassword")
        for how, wrong in (
            ({"algorithm": "scrypt", "memoryCost": 18}, ("/hash/memoryCost", "maximum")), ({"algorithm": "pbkdf2Sha1", "rounds": 2_000_001}, ("/hash/rounds", "maximum")),
            ({"algorithm": "pbkdf2Sha1", "rounds": 0}, ("/hash/rounds", "minimum")), ({"algorithm": "md4"}, ("/hash/algorithm", "enum")),
        ):
            self.assertEqual(self.violations(self.sidecar, "account.import", {"accounts": [], "hash": how}), {wrong})
        line = {"email": "carol@example.com", **hashed(SCRYPT, PASSWORD), "hash": {"algorithm": "scrypt", "memoryCost": 17, "blockSize": 16}}
        failures = self.sidecar.call("account.import", {"accounts": [line]})["failures"]
        self.assertEqual([(each["pointer"], each["rule"]) for each in failures[0]["violations"]], [("/hash/memoryCost", "invalidHashParameters")])

    def bring_text(self, algorithm, text, name="carol"):
        account = {"accountId": name, "email": f"{name}@example.com", "emailVerified": True, "passwordHash": base64.b64encode(text.encode()).decode()}
        return self.sidecar.call("account.import", {"accounts": [account], "hash": {"algorithm": algorithm}})

    def test_bcrypt_is_verified_exported_and_replaced(self):
        # A test vector of the author of crypt_blowfish (Openwall).
        text = "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"
        self.assertEqual(self.bring_text("bcrypt", text)["imported"], 1)
        exported = self.sidecar.call("account.export", {"includeSecrets": True})["accounts"][0]
        self.assertEqual(base64.b64decode(exported["passwordHash"]).decode(), text)
        other = self.spawn(testing=True)
        self.assertEqual(other.call("account.import", {"accounts": [exported]})["imported"], 1)
        for sidecar in (self.sidecar, other):
            self.refused("invalidPassword", sidecar, "signIn.withPassword", {"username": "carol@example.com", "password": "U*V"})
            for _ in range(2):
                answer = sidecar.call("signIn.withPassword", {"username": "carol@example.com", "password": "U*U"})
                self.assertEqual(answer["state"], "completed")
        self.assertTrue(self.is_own())

    def test_bcrypt_does_not_ignore_the_end_of_a_long_password(self):
        """CVE-2025-22228 (Spring Security): bcrypt considers 72 bytes, so that passwords with the same beginning were equal."""
        # The password is 72 times the letter a.
        self.assertEqual(self.bring_text("bcrypt", "$2b$05$CCCCCCCCCCCCCCCCCCCCC.ODcEJfYFxKziEakDsjep8mcF3zSCvHq")["imported"], 1)
        for tail in ("a", "b" * 20, "é"):
            self.refused("invalidPassword", self.sidecar, "signIn.withPassword", {"username": "carol@example.com", "password": "a" * 72 + tail})
        answer = self.sidecar.call("signIn.withPassword", {"username": "carol@example.com", "password": "a" * 72})
        self.assertEqual(answer["state"], "completed")

    def test_bcrypt_that_is_malformed_or_too_expensive_is_refused(self):
        for text in ("$2b$12$short" + "x" * 20, "$2b$31$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"):
            failures = self.bring_text("bcrypt", text)["failures"]
            self.assertEqual([(each["pointer"], each["rule"]) for each in failures[0]["violations"]], [("/passwordHash", "invalidHashParameters")])
        error = self.refused("invalidHashParameters", self.sidecar, "account.import", {"accounts": [], "hash": {"algorithm": "bcrypt", "rounds": 5}})
        self.assertIsNotNone(error)

    def test_argon2id_is_verified_or_refused_with_reason(self):
        # A test vector of the reference implementation of Argon2.
        text = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
        try:
            self.bring_text("argon2id", text)
        except RpcError as failure:
            self.assertIn("OpenSSL 3.2", str(failure))
            return
        self.refused("invalidPassword", self.sidecar, "signIn.withPassword", {"username": "carol@example.com", "password": "Password"})
        self.sidecar.call("signIn.withPassword", {"username": "carol@example.com", "password": "password"})
