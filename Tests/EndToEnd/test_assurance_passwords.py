"""The list of common passwords in the program (asvs 6.2.4, nist 3.1.1.2)."""

import os
import random
import subprocess
import sys

from endtoend import EndToEnd
from sidecar import ROOT, RpcError

FOLDER = os.path.join(ROOT, "Sources", "CPasswordFilter")
sys.path.insert(0, FOLDER)
sys.dont_write_bytecode = True
import generate  # noqa: E402

NUMBERS = random.Random(7)


class CommonPasswords(EndToEnd):
    stores = ("sqlite",)

    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn(testing=True)
        self.sidecar.call("tenant.create", {"tenantId": "bank", "assurance": "asvs-l2"})
        self.listed = generate.lines(os.path.join(FOLDER, "common-passwords.txt.gz"))

    def rules(self, password):
        try:
            self.sidecar.call("account.create", {"tenantId": "bank", "username": f"u{NUMBERS.getrandbits(60)}@example.org", "password": password})
            return []
        except RpcError as error:
            return [each["rule"] for each in error.data["reasons"]]

    def test_filter_in_the_repository_is_made_from_the_list(self):
        subprocess.run([sys.executable, "-B", os.path.join(FOLDER, "generate.py"), "--check"], check=True, capture_output=True)
        self.assertLessEqual(os.path.getsize(os.path.join(FOLDER, "filter.bin")), 512 * 1024)
        self.assertGreaterEqual(len(self.listed), 100_000)

    def test_asvs_6_2_4_commonest_3000_passwords_are_refused(self):
        commonest = [each for each in self.listed if len(each) >= 8][:3000]
        accepted = [each for each in commonest if "common" not in self.rules(each) and "context" not in self.rules(each)]
        self.assertEqual(accepted, [])

    def test_listed_passwords_with_other_characters_are_refused(self):
        special = [each for each in self.listed if not each.isascii() and len(each) >= 8]
        for password in special + [each.upper() for each in self.listed[5000:90000:9973]]:
            with self.subTest(password=password):
                self.assertNotEqual(self.rules(password), [])

    def test_phrases_of_random_words_and_random_passwords_are_accepted(self):
        words = [each for each in self.listed if each.isalpha() and each.islower() and 4 <= len(each) <= 8]
        for _ in range(40):
            phrase = " ".join(NUMBERS.sample(words, 6))
            with self.subTest(phrase=phrase):
                self.assertEqual(self.rules(phrase), [])
        for _ in range(40):
            self.assertEqual(self.rules("".join(NUMBERS.choice("abcdefghkmnpqrstuvwxyz23456789") for _ in range(14))), [])
