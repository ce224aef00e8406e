"""Import of accounts: valid and invalid records, existing accounts, and interruptions."""

import json
import os
import resource

from endtoend import EndToEnd, only
from foreign_passwords import PBKDF2, hashed
from test_logins import Provider

HASH = hashed(PBKDF2[0], "correct horse 9", b"always the same")


def person(number, **more):
    return {"accountId": f"person-{number:05}", "email": f"person{number}@example.com", "emailVerified": True, **HASH, **more}


class Imports(EndToEnd):
    def setUp(self):
        super().setUp()
        self.store = self.path("store.db")
        self.sidecar = self.open()

    def open(self, **more):
        return self.spawn(store=self.store, testing=True, **more)

    def file(self, *lines, name="people.jsonl"):
        """Writes a file of accounts, or of lines as they are. Returns its path."""
        with open(self.path(name), "wb") as file:
            for line in lines:
                file.write((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n")
        return self.path(name)

    def bring(self, *accounts, **more):
        return self.sidecar.call("account.import", {"accounts": list(accounts), "hash": PBKDF2[0], **more})

    def people(self, count, name="people.jsonl"):
        return self.file(*(person(number) for number in range(count)), name=name)

    def all(self, sidecar=None):
        """Returns all accounts by their ID."""
        found, cursor = {}, {}
        while True:
            page = (sidecar or self.sidecar).call("account.export", {"limit": 1000, **cursor})
            found.update({each["accountId"]: each for each in page["accounts"]})
            if "nextCursor" not in page:
                return found
            cursor = {"cursor": page["nextCursor"]}

    def counts(self, answer):
        return tuple(answer[name] for name in ("imported", "replaced", "skipped", "failed"))

    def wrong(self, answer):
        """Returns the pointers and rules of the violations by line."""
        return {each["line"]: {(violation["pointer"], violation["rule"]) for violation in each["violations"]} for each in answer["failures"]}

    # Valid records

    def test_all_members_of_account_are_imported(self):
        self.sidecar.call("tenant.create", {"tenantId": "shop", "attributes": [{"name": "city", "type": "string"}]})
        given = {
            "accountId": "wQ7bcN1XhXgWbrVGdGnSkjwFcJv2", "email": "Carol@Example.com", "emailVerified": True, "disabled": False,
            "attributes": {"city": "Bern", "displayName": "Carol", "picture": "https://example.com/c.png"}, "claims": {"plan": "gold"},
            "createdAt": 1_500_000_000, "updatedAt": 1_600_000_000, "lastSignInAt": 1_650_000_000, "mustChangePassword": False,
            "providers": [{"providerId": "password", "subject": "carol@example.com"}, {"providerId": "google.com", "subject": "1101", "email": "C@gmail.com", "linkedAt": 1_550_000_000}],
            "factors": [{"kind": "sms", "phoneNumber": "+4915112345678", "displayName": "Phone", "enrolledAt": 1_560_000_000}], **HASH}
        self.assertEqual(self.counts(self.bring(given, tenantId="shop")), (1, 0, 0, 0))
        account = self.sidecar.call("account.get", {"accountId": given["accountId"]})
        self.assertEqual(self.sidecar.call("account.find", {"tenantId": "shop", "username": "carol@example.com"})["accountId"], given["accountId"])
        for name in ("accountId", "email", "emailVerified", "disabled", "attributes", "claims", "createdAt", "updatedAt", "lastSignInAt", "mustChangePassword"):
            self.assertEqual(account[name], given[name], name)
        self.assertEqual((account["method"], account["tenantId"]), ("password", "shop"))
        self.assertEqual([(each["providerId"], each["subject"]) for each in account["providers"]], [("password", "Carol@Example.com"), ("google.com", "1101")])
        self.assertEqual((account["providers"][1]["email"], account["providers"][1]["linkedAt"]), ("c@gmail.com", 1_550_000_000))
        self.assertEqual([(each["kind"], each["phoneNumber"], each["enrolledAt"]) for each in account["factors"]], [("sms", "+4915112345678", 1_560_000_000)])

    def test_omitted_method_is_inferred(self):
        for given, method in [
            ({"accountId": "1", "email": "a@example.com"}, "code"), ({"accountId": "2", "email": "b@example.com", **HASH}, "password"),
            ({"accountId": "3", "providers": [{"providerId": "github.com", "subject": "7"}]}, "federated"), ({"accountId": "4"}, "anonymous"),
            ({"accountId": "5", "method": "custom"}, "custom"),
        ]:
            self.assertEqual(self.counts(self.bring(given)), (1, 0, 0, 0))
            self.assertEqual(self.sidecar.call("account.get", {"accountId": given["accountId"]})["method"], method)

    def test_hash_requires_method_password(self):
        for number, method in enumerate(("federated", "code", "anonymous", "custom")):
            given = {"accountId": f"a{number}", "email": f"a{number}@example.com", "method": method, "providers": [{"providerId": "github.com", "subject": str(number)}], **HASH}
            answer = self.bring(given)
            self.assertEqual((self.counts(answer), self.wrong(answer)), ((0, 0, 0, 1), {1: {("/passwordHash", "method")}}))
        self.assertEqual(self.counts(self.bring({**given, "method": "password"})), (1, 0, 0, 0))

    def test_account_without_hash_reports_that_no_password_is_set(self):
        login = {"providerId": "oidc.work", "subject": "carol"}
        self.bring({"accountId": "a", "email": "carol@example.com", "emailVerified": True, "method": "password", "providers": [login]})
        given = {"username": "carol@example.com", "password": "correct horse 9"}
        error = self.refused("passwordNotSet", self.sidecar, "signIn.withPassword", given)
        self.assertEqual(error.data["next"], "passwordReset.start")
        self.refused("passwordNotSet", self.sidecar, "signIn.start", {"username": "carol@example.com"})
        # A user who signs in with the provider has no current password either.
        provider = Provider("https://login.example.com")
        self.sidecar.call("idp.create", {"providerId": "oidc.work", "issuer": provider.issuer, "clientId": "shop", "keys": [provider.jwk]})
        token = self.sidecar.call("signIn.withCredential", {"credential": {"providerId": "oidc.work", "idToken": provider.token("carol", aud="shop")}})["idToken"]
        error = self.refused("passwordNotSet", self.sidecar, "account.changePassword", {"idToken": token, "currentPassword": "correct horse 9", "newPassword": "another horse 10"})
        self.assertEqual(error.data["next"], "passwordReset.start")
        exported, = self.sidecar.call("account.export", {"includeSecrets": True})["accounts"]
        self.assertEqual((exported["method"], {"passwordHash", "salt", "hash"} & set(exported)), ("password", set()))

    def test_file_is_read_by_line_with_progress(self):
        # Many blank lines do not end the file.
        blank = self.file(person(0), *[b" " * 1000] * 3_000, person(1), name="blank.jsonl")
        dry = self.sidecar.call("account.import", {"file": blank, "hash": PBKDF2[0], "dryRun": True})
        self.assertEqual((dry["imported"], dry["nextLine"], dry["completed"]), (2, 3_003, True))
        path = self.file(b"\xef\xbb\xbf" + json.dumps(person(0)).encode() + b"\r", b"", b"  ", *(person(number) for number in range(1, 450)))
        id = self.sidecar.send("account.import", {"file": path, "hash": PBKDF2[0]}, progressToken="p")
        answer = self.sidecar.answer(id)
        self.assertEqual((self.counts(answer), answer["nextLine"], answer["completed"]), ((450, 0, 0, 0), 453, True))
        told = [self.sidecar.receive(lambda m: m.get("method") == "$/progress")["params"] for _ in range(3)]
        self.assertEqual([each["token"] for each in told], ["p"] * 3)
        self.assertEqual([each["value"]["nextLine"] for each in told], [203, 403, 453])
        self.assertEqual(told[-1]["value"]["imported"], 450)
        self.assertEqual(len(self.all()), 450)
        records = self.sidecar.call("audit.list", {"method": "account.import"})["records"]
        self.assertEqual(sum(len(each["details"]["accounts"]) for each in records), 450)
        self.assertNotIn("@", json.dumps(records))
        self.assertTrue(self.sidecar.call("audit.verify")["intact"])

    def test_firebase_export_is_imported(self):
        self.sidecar.call("tenant.create", {"tenantId": "shop", "attributes": [{"name": "phoneNumber", "type": "string"}]})
        user = {
            "localId": "wQ7bcN1XhXgWbrVGdGnSkjwFcJv2", "email": "carol@example.com", "emailVerified": True, "displayName": "Carol", "photoUrl": "https://example.com/c.png",
            "lastSignedInAt": "1650000000123", "createdAt": "1500000000999", "phoneNumber": "+4915112345678", "disabled": False, "customAttributes": "{\"plan\":\"gold\"}",
            "providerUserInfo": [
                {"providerId": "google.com", "rawId": "1101", "email": "c@gmail.com", "displayName": "C", "photoUrl": "https://example.com/g.png"},
                {"providerId": "phone", "rawId": "+4915112345678", "phoneNumber": "+4915112345678"}],
            "mfaInfo": [{"mfaEnrollmentId": "x", "phoneInfo": "+4915112345679", "displayName": "Phone", "enrolledAt": "2024-01-01T00:00:00Z"}], **HASH}
        bare = {"localId": "anon", "createdAt": "1500000000999", "lastSignedInAt": "1500000000999", "providerUserInfo": [], "passwordHash": "", "salt": ""}
        answer = self.sidecar.call("account.import", {"tenantId": "shop", "format": "firebase", "hash": PBKDF2[0], "file": self.file(user, bare, b"7", {"localId": "no\tgood"})})
        self.assertEqual((self.counts(answer), set(self.wrong(answer))), ((2, 0, 0, 2), {3, 4}))
        carol = self.sidecar.call("account.get", {"accountId": user["localId"]})
        self.assertEqual((carol["createdAt"], carol["lastSignInAt"], carol["claims"]), (1_500_000_000, 1_650_000_000, {"plan": "gold"}))
        self.assertEqual(carol["attributes"], {"displayName": "Carol", "picture": user["photoUrl"], "phoneNumber": "+4915112345678"})
        self.assertEqual([each["providerId"] for each in carol["providers"]], ["password", "google.com"])
        self.assertEqual([each["phoneNumber"] for each in carol["factors"]], ["+4915112345679"])
        self.assertEqual(self.sidecar.call("account.get", {"accountId": "anon"})["method"], "anonymous")

    # Invalid records

    def test_every_violation_is_reported_by_line_and_valid_lines_are_imported(self):
        path = self.file(
            person(1), b"{not json", b'["an", "array"]', {"acountId": "x", "email": 7, "createdAt": -1}, {"accountId": "bad\tid!", "email": "no.address"},
            {"accountId": "6"} | {"providers": [{"providerId": "twitter.com", "subject": "1"}, {"providerId": "google.com", "subject": "1"}, {"providerId": "google.com", "subject": "2"}]},
            {"accountId": "7", "claims": {"sub": "x"}, "attributes": {"nope": 1, "displayName": 5}}, {**HASH, "accountId": "8"},
            {**HASH, "email": "nine@example.com", "hash": {"algorithm": "firebaseScrypt"}}, {}, {"accountId": "11", "factors": [{"kind": "totp"}, {"kind": "sms", "phoneNumber": "123"}]},
            {"email": "twelve@example.com", "passwordHash": "AAAA", "salt": "A"}, b'"' + b"x" * (1 << 20) + b'"', person(2))
        answer = self.sidecar.call("account.import", {"file": path, "hash": PBKDF2[0]})
        self.assertEqual((self.counts(answer), answer["nextLine"]), ((2, 0, 0, 12), 15))
        self.assertEqual(self.wrong(answer), {
            2: {("", "malformed")}, 3: {("", "type")},
            4: {("/acountId", "unknownParameter"), ("/email", "type"), ("/createdAt", "minimum")}, 5: {("/accountId", "pattern")},
            6: {("/providers/0/providerId", "pattern"), ("/providers/2/providerId", "uniqueItems")},
            7: {("/claims", "claimNameReserved"), ("/attributes/nope", "unknown"), ("/attributes/displayName", "type")},
            8: {("/email", "required")}, 9: {("/hash/signerKey", "invalidHashParameters")}, 10: {("", "unrecognisable")},
            11: {("/factors", "emailNotVerified"), ("/factors/0/secret", "required"), ("/factors/1/phoneNumber", "invalidPhoneNumber")},
            12: {("/salt", "pattern")}, 13: {("", "maxLength")}})
        self.assertEqual([each.get("accountId") for each in answer["failures"]][3:6], ["bad\tid!", "6", "7"])
        self.assertEqual(set(self.all()), {"person-00001", "person-00002"})

    def test_conflicts_with_existing_accounts_are_reported_by_line(self):
        self.bring(person(1, providers=[{"providerId": "google.com", "subject": "g1"}]))
        self.sidecar.call("tenant.create", {"tenantId": "shop"})
        self.bring({"accountId": "of-shop", "email": "person1@example.com"}, tenantId="shop")
        answer = self.bring(
            {"accountId": "a", "email": "PERSON1@example.com"}, {"accountId": "b", "providers": [{"providerId": "google.com", "subject": "g1"}]},
            {"accountId": "of-shop", "email": "c@example.com"}, {"accountId": "d", "email": "d@example.com"}, {"accountId": "d", "email": "e@example.com"},
            {"accountId": "f", "email": "D@example.com"}, {"accountId": "g", "providers": [{"providerId": "google.com", "subject": "g2"}]},
            {"accountId": "h", "email": "h@example.com", "providers": [{"providerId": "google.com", "subject": "g2"}]}, {"accountId": "i", "email": "h@example.com"})
        self.assertEqual(self.wrong(answer), {
            1: {("/email", "emailAlreadyInUse")}, 2: {("/providers/0", "credentialAlreadyInUse")}, 3: {("/accountId", "accountExists")},
            5: {("/accountId", "duplicate")}, 6: {("/email", "duplicate")}, 8: {("/providers/0", "duplicate")}})
        self.assertEqual(set(self.all()), {"person-00001", "d", "g", "i"})

    def test_unreadable_files_and_relative_paths_are_rejected(self):
        os.mkfifo(self.path("pipe"))
        for path in (self.folder, self.path("pipe"), self.path("nowhere"), "/dev/zero"):
            self.assertEqual(self.refused("importFileUnreadable", self.sidecar, "account.import", {"file": path}).data["path"], path)
        self.assertEqual(self.violations(self.sidecar, "account.import", {"file": "people.jsonl"}), {("/file", "pattern")})
        self.assertEqual(self.violations(self.sidecar, "account.import", {}), {("", "exactlyOne")})
        self.refused("tenantNotFound", self.sidecar, "account.import", {"tenantId": "nowhere", "accounts": []})

    def test_import_stops_after_1000_failures_and_can_continue(self):
        path = self.file(*[{"accountId": f"{number}", "email": "no.address"} for number in range(1500)], person(1))
        answer = self.sidecar.call("account.import", {"file": path, "hash": PBKDF2[0]})
        self.assertEqual((self.counts(answer), answer["completed"], answer["stopped"]["type"], answer["nextLine"]), ((0, 0, 0, 1000), False, "tooManyFailures", 1001))
        answer = self.sidecar.call("account.import", {"file": path, "hash": PBKDF2[0], "from": answer["nextLine"]})
        self.assertEqual((self.counts(answer), answer["completed"], answer["failures"][0]["line"]), ((1, 0, 0, 500), True, 1001))

    # Existing accounts

    def test_repeated_import_skips_existing_accounts(self):
        path = self.file(person(1), {"email": "nameless@example.com"}, {"providers": [{"providerId": "google.com", "subject": "g1"}]})
        self.assertEqual(self.counts(self.sidecar.call("account.import", {"file": path, "hash": PBKDF2[0]})), (3, 0, 0, 0))
        before = self.all()
        # Changes since the first import are kept.
        self.sidecar.call("signIn.withPassword", {"username": "person1@example.com", "password": "correct horse 9"})
        self.assertEqual(self.counts(self.sidecar.call("account.import", {"file": path, "hash": PBKDF2[0]})), (0, 0, 3, 0))
        after = self.all()
        self.assertEqual(set(after), set(before))
        self.assertIn("lastSignInAt", after["person-00001"])

    def test_existing_accounts_fail_or_are_replaced_as_requested(self):
        self.bring(person(1, providers=[{"providerId": "google.com", "subject": "g1"}], claims={"plan": "gold"}), person(2))
        token = self.sidecar.call("signIn.withPassword", {"username": "person1@example.com", "password": "correct horse 9"})["idToken"]
        self.assertEqual(self.wrong(self.bring(person(1), onExisting="fail")), {1: {("/accountId", "accountExists")}})
        taken = self.bring(person(1, email="person2@example.com"), onExisting="replace")
        self.assertEqual(self.wrong(taken), {1: {("/email", "emailAlreadyInUse")}})
        self.sidecar.call("token.verify", {"token": token, "tenantId": "default"})
        changed = {"accountId": "person-00001", "email": "new@example.com", "providers": [{"providerId": "github.com", "subject": "h1"}]}
        self.assertEqual(self.counts(self.bring(changed, onExisting="replace")), (0, 1, 0, 0))
        account = self.all()["person-00001"]
        self.assertEqual((account["email"], account["method"], account["claims"], [each["providerId"] for each in account["providers"]]), ("new@example.com", "federated", {}, ["github.com"]))
        self.soon_refused("tokenRevoked", self.sidecar, "token.verify", {"token": token, "tenantId": "default"})
        self.refused("accountNotFound", self.sidecar, "account.find", {"username": "person1@example.com"})
        # The previous address and login can be used again.
        self.assertEqual(self.counts(self.bring(person(3, email="person1@example.com", providers=[{"providerId": "google.com", "subject": "g1"}]))), (1, 0, 0, 0))
        # Without an ID, the account is identified by its address.
        self.assertEqual(self.counts(self.bring({"email": "NEW@example.com", **HASH}, onExisting="replace")), (0, 1, 0, 0))
        self.assertEqual(self.sidecar.call("signIn.withPassword", {"username": "new@example.com", "password": "correct horse 9"})["account"]["accountId"], "person-00001")

    def test_dry_run_reports_result_and_changes_nothing(self):
        self.bring(person(1))
        path = self.file(person(1), person(2), person(2), {"accountId": "x", "email": "no.address"})
        dry = self.sidecar.call("account.import", {"file": path, "hash": PBKDF2[0], "dryRun": True})
        self.assertEqual((self.counts(dry), dry["dryRun"]), ((1, 0, 1, 2), True))
        self.assertEqual(set(self.all()), {"person-00001"})
        real = self.sidecar.call("account.import", {"file": path, "hash": PBKDF2[0]})
        self.assertEqual({**real, "dryRun": True}, dry)

    # Interruptions

    def killed(self, path, line, count):
        """Kills the process during an import that begins at a line. Returns the next line of the last progress notification, or `None` if the import
        was complete."""
        id = self.sidecar.send("account.import", {"file": path, "hash": PBKDF2[0], "from": line}, progressToken="p")
        for _ in range(3):
            told = self.sidecar.receive(lambda m: m.get("method") == "$/progress", timeout=60)
        self.sidecar.process.kill()
        self.sidecar.process.wait()
        messages = self.sidecar.remaining()
        self.sidecar = self.open()
        told = ([told] + [each for each in messages if each.get("method") == "$/progress"])[-1]["params"]["value"]
        found = self.all()
        # The reported lines are imported. More lines may be, in whole chunks.
        self.assertEqual(sorted(found), [f"person-{number:05}" for number in range(len(found))])
        self.assertGreaterEqual(len(found), told["nextLine"] - 1)
        return told["nextLine"] if len(found) < count and not [each for each in messages if each.get("id") == id] else None

    def test_killed_process_loses_and_duplicates_no_account(self):
        count = 5_000
        path = self.people(count)
        for attempt in range(5):   # On a busy machine, the process can be killed too late.
            self.sidecar.close()
            self.store = self.path(f"store{attempt}.db")
            self.sidecar = self.open()
            if (first := self.killed(path, 1, count)) and (line := self.killed(path, first, count)):
                break
        else:
            self.fail("it was never killed amid an import")
        answer = self.sidecar.call("account.import", {"file": path, "hash": PBKDF2[0], "from": line}, timeout=120)
        self.assertEqual((answer["failed"], answer["completed"], answer["nextLine"]), (0, True, count + 1))
        again = self.sidecar.call("account.import", {"file": path, "hash": PBKDF2[0]}, timeout=120)
        self.assertEqual(self.counts(again), (0, 0, count, 0))
        self.assertEqual(sorted(self.all()), [f"person-{number:05}" for number in range(count)])
        self.assertEqual(self.rows("SELECT COUNT(*) FROM account_name"), [(count,)])
        self.assertTrue(self.sidecar.call("audit.verify")["intact"])
        self.sidecar.call("signIn.withPassword", {"username": "person4999@example.com", "password": "correct horse 9"})

    def test_cancellation_between_chunks_reports_next_line(self):
        count = 12_000
        path = self.people(count)
        id = self.sidecar.send("account.import", {"file": path, "hash": PBKDF2[0]}, progressToken=1)
        self.sidecar.receive(lambda m: m.get("method") == "$/progress")
        self.sidecar.write(b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}\n' % id)
        answer = self.sidecar.answer(id)
        self.assertEqual((answer["completed"], answer["stopped"]["type"]), (False, "requestCancelled"))
        self.assertEqual((len(self.all()), answer["nextLine"]), (answer["imported"], answer["imported"] + 1))
        rest = self.sidecar.call("account.import", {"file": path, "hash": PBKDF2[0], "from": answer["nextLine"], "dryRun": True}, timeout=120)
        self.assertEqual((rest["imported"], rest["completed"]), (count - answer["imported"], True))

    def test_import_does_not_block_other_requests(self):
        """Other writes wait for at most one of the sixty chunks."""
        path = self.people(12_000)
        id = self.sidecar.send("account.import", {"file": path, "hash": PBKDF2[0]}, progressToken=1)
        self.sidecar.receive(lambda m: m.get("method") == "$/progress")
        for number in range(5):
            self.sidecar.call("system.ping")
            self.sidecar.call("account.create", {"username": f"other{number}@example.com"})
        self.sidecar.write(b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}\n' % id)
        self.assertFalse(self.sidecar.answer(id)["completed"])

    def test_concurrent_imports_of_same_file_import_each_account_once(self):
        path, other = self.people(1_000), self.open()
        ids = [(each, each.send("account.import", {"file": path, "hash": PBKDF2[0]})) for each in (self.sidecar, other)]
        answers = [each.answer(id, timeout=120) for each, id in ids]
        self.assertEqual([(each["imported"] + each["skipped"], each["failed"]) for each in answers], [(1_000, 0)] * 2)
        self.assertEqual(sum(each["imported"] for each in answers), 1_000)
        self.assertEqual(len(self.all()), 1_000)

    @only("sqlite")
    def test_full_disk_stops_import_and_it_continues_later(self):
        path, store = self.people(4_000), self.path("small.db")
        hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        small = self.spawn(
            store=store, testing=True, restore_signals=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, hard)))
        answer = small.call("account.import", {"file": path, "hash": PBKDF2[0]}, timeout=120)
        self.assertEqual((answer["completed"], answer["stopped"]["type"]), (False, "storeFull"))
        self.assertGreater(answer["imported"], 0)
        self.assertEqual(small.finish(), 0)
        sidecar = self.spawn(store=store, testing=True)
        self.assertEqual(len(self.all(sidecar)), answer["imported"])
        rest = sidecar.call("account.import", {"file": path, "hash": PBKDF2[0], "from": answer["nextLine"]}, timeout=120)
        self.assertEqual((rest["imported"], rest["skipped"], rest["completed"]), (4_000 - answer["imported"], 0, True))
