"""Email addresses at the limits of the rules, and attributes that are not valid."""

from test_bad_input_people import ALICE, People


class Input(People):
    def test_display_name_of_ten_thousand_emoji_fails(self):
        for emoji in ("😀", "👩‍👩‍👧‍👦", "🇨🇭"):
            error = self.no("invalidAttributes", "signUp.start", username=ALICE, attributes={"displayName": emoji * 10_000})
            self.assertEqual([(each["name"], each["rule"]) for each in error.data["attributes"]], [("displayName", "tooLong")])
            self.assertLess(len(str(error)), 600)
            account = self.call("account.create", username=f"{len(emoji)}@example.com")["accountId"]
            self.no("invalidAttributes", "account.update", accountId=account, attributes={"displayName": emoji * 10_000})
            self.no("invalidAttributes", "account.create", username="new@example.com", attributes={"displayName": emoji * 10_000})
        self.completed(attributes={"displayName": "😀" * 256})
        self.assertEqual(self.call("account.find", username=ALICE)["attributes"]["displayName"], "😀" * 256)

    def test_addresses_at_the_limits_are_accepted(self):
        domain = ".".join(["d" * 63, "e" * 63, "f" * 61])
        for address in [
                "a@b.c", "A@B.CO", f"{'l' * 64}@example.com", f"a@{'d' * 63}.com", f"{'l' * 64}@{domain}"[:254], "a.b.c@example.com",
                "!#$%&'*+-/=?^_`{|}~@example.com", "1@2.c3", "a@xn--bcher-kva.example", "a@b-c.d", "a@1.2.3.x", "a+b+c@example.com"]:
            with self.subTest(address=address):
                self.assertEqual(self.submit(self.start(address), address=address)["state"], "completed")

    def test_addresses_beyond_the_limits_fail(self):
        domain = ".".join(["d" * 63, "e" * 63, "f" * 62])
        for address in [
                "", "a", "@", "a@", "@b.c", "a@b", "a@@b.c", "a@b@c.d", f"{'l' * 65}@example.com", f"a@{'d' * 64}.com",
                f"{'l' * 64}@{domain}", "x" * 1024, ".a@b.c", "a.@b.c", "a..b@c.d", '"a b"@c.d', "a b@c.d", "a@b .c", "a@.b.c", "a@b.c.", "a@b..c",
                "a@-b.c", "a@b-.c", "a@b_c.d", "a@1.2.3.4", "a@[127.0.0.1]", "a@[IPv6:::1]", "a(b)@c.d", "a,b@c.d", "a;b@c.d", "a:b@c.d",
                "a\\b@c.d", "<a@b.c>", "Alice <a@b.c>", "mailto:a@b.c", "a@b.c\r\nBcc: d@e.f", "a@b.c\x7f", "a\u00a0@b.c",
                "a@b。c", "ａ@b.c", "a@b.c,d@e.f", "a@b.c\t"]:
            for method in ("signUp.start", "signIn.start", "passwordReset.start"):
                with self.subTest(address=address, method=method):
                    error = self.no("invalidUsername", method, username=address)
                    self.assertTrue(error.data["reason"])
        self.assertIn(("/username", "noNulCharacter"), self.violations(self.sidecar, "signUp.start", {"username": "a\x00@b.c"}))
        self.assertIn(("/username", "maxLength"), self.violations(self.sidecar, "signUp.start", {"username": "x" * 1025}))
        self.assertEqual(self.mails(), [])

    def test_attributes_with_unknown_names_or_wrong_types_fail(self):
        for name in ("", "__proto__", "display name", "email", "x" * 1000, "displayname"):
            error = self.no("invalidAttributes", "signUp.start", username=ALICE, attributes={name: "x"})
            self.assertEqual([each["rule"] for each in error.data["attributes"]], ["unknown"])
        for value in (1, True, [], {}, ["x"], {"a": 1}):
            error = self.no("invalidAttributes", "signUp.start", username=ALICE, attributes={"city": value})
            self.assertEqual([each["rule"] for each in error.data["attributes"]], ["type"])
        error = self.no("invalidAttributes", "signUp.start", username=ALICE, attributes={f"x{number}": 1 for number in range(500)})
        self.assertEqual(len(error.data["attributes"]), 500)
