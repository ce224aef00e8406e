"""Export of accounts: the file, the pages, and the import into another store."""

import base64
import json
import os
import stat

import pyotp

from endtoend import EndToEnd
from foreign_passwords import FIREBASE, PBKDF2, SCRYPT, hashed

PASSWORD = "correct horse 9 Battery"


class Exports(EndToEnd):
    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn(testing=True)
        self.sidecar.call("test.clock", {"setAt": 1_700_000_010, "freeze": True})

    def person(self, name, **more):
        return self.sidecar.call("account.create", {"accountId": name, "username": f"{name}@example.com", "emailVerified": True, **more})["accountId"]

    def lines(self, path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.assertTrue(not text or text.endswith("\n"))
        return [json.loads(line) for line in text.splitlines()]

    def everything(self, sidecar):
        """Returns all accounts without the IDs of their factors, which differ in every store."""
        accounts = sidecar.call("account.list")["accounts"]
        for account in accounts:
            for factor in account.get("factors", []):
                del factor["factorId"]
        return accounts

    def crowd(self):
        """Creates one account of each kind, most with the password PASSWORD. Returns the TOTP secret."""
        self.person("ann", password=PASSWORD, attributes={"displayName": "Ann", "city": "Bern"})
        self.sidecar.call("account.setClaims", {"accountId": "ann", "claims": {"plan": "gold", "seats": [1, 2]}})
        token = self.sidecar.call("signIn.withPassword", {"username": "ann@example.com", "password": PASSWORD})["idToken"]
        step = self.sidecar.call("mfa.enroll", {"idToken": token, "kind": "totp", "displayName": "App"})
        self.sidecar.call("mfa.confirm", {"continuationToken": step["continuationToken"], "code": pyotp.TOTP(step["secret"]).at(1_700_000_010)})
        self.person("bob")
        self.sidecar.call("account.update", {"accountId": "bob", "disabled": True, "emailVerified": False})
        self.person("carol", password=PASSWORD, mustChangePassword=True)
        self.sidecar.call("account.import", {"hash": FIREBASE, "accounts": [
            {"accountId": "dora", "email": "dora@example.com", "providers": [{"providerId": "google.com", "subject": "d1", "email": "d@gmail.com", "linkedAt": 5}], **hashed(FIREBASE, PASSWORD)},
            {"accountId": "emma", "providers": [{"providerId": "github.com", "subject": "e1", "displayName": "Ü \"quoted\"\n"}]}]})
        self.sidecar.call("tenant.update", {"tenantId": "default", "anonymousAllowed": True})
        self.sidecar.call("signIn.anonymously", {})
        return step["secret"]

    def test_exported_accounts_import_identically_into_other_store(self):
        secret = self.crowd()
        self.sidecar.call("test.clock", {"advanceSeconds": 3600})
        path = self.path("accounts.jsonl")
        answer = self.sidecar.call("account.export", {"file": path, "includeSecrets": True})
        self.assertEqual(answer, {"exported": 6, "file": path, "bytes": os.stat(path).st_size})
        self.assertEqual(self.lines(path), self.sidecar.call("account.export", {"includeSecrets": True})["accounts"])
        other = self.spawn(testing=True)
        other.call("test.clock", {"setAt": 1_700_009_000, "freeze": True})
        imported = other.call("account.import", {"file": path})
        self.assertEqual((imported["imported"], imported["failures"], imported["completed"]), (6, [], True))
        self.assertEqual(self.everything(other), self.everything(self.sidecar))
        self.assertEqual(other.call("account.export", {"includeSecrets": True}), self.sidecar.call("account.export", {"includeSecrets": True}))
        # The passwords and the TOTP app work as before.
        step = other.call("signIn.withPassword", {"username": "ann@example.com", "password": PASSWORD})
        self.assertEqual(step["state"], "secondFactorRequired")
        code = pyotp.TOTP(secret).at(1_700_009_000)
        done = other.call("mfa.resolve", {"continuationToken": step["continuationToken"], "factorId": step["hints"][0]["factorId"], "code": code})
        self.assertEqual((done["state"], done["account"]["claims"]), ("completed", {"plan": "gold", "seats": [1, 2]}))
        self.refused("passwordChangeRequired", other, "signIn.withPassword", {"username": "carol@example.com", "password": PASSWORD})
        self.refused("invalidPassword", other, "signIn.withPassword", {"username": "dora@example.com", "password": "wrong horse 9"})
        self.assertEqual(other.call("signIn.withPassword", {"username": "dora@example.com", "password": PASSWORD})["account"]["accountId"], "dora")
        # A store that is not a testing store imports them too, although its own hashes have a higher cost.
        real = self.spawn(store=self.path("real.db"))
        self.assertEqual(real.call("account.import", {"file": path})["imported"], 6)
        self.assertEqual(real.call("signIn.withPassword", {"username": "ann@example.com", "password": PASSWORD}, timeout=60)["state"], "secondFactorRequired")
        kept = {each["accountId"]: each.get("hash") for each in real.call("account.export", {"includeSecrets": True})["accounts"]}
        self.assertEqual((kept["ann"]["memoryCost"], kept["carol"]["memoryCost"]), (17, 4))

    def test_hashes_are_exported_as_padded_base64_and_imported_in_every_form(self):
        hashes = {how["algorithm"]: hashed(how, PASSWORD, salt=bytes(range(240, 253))) for how in (FIREBASE, SCRYPT, PBKDF2[0])}
        for how in (FIREBASE, SCRYPT, PBKDF2[0]):
            name = how["algorithm"]
            plain = {key: value.rstrip("=").replace("+", "-").replace("/", "_") for key, value in hashes[name].items()}
            self.sidecar.call("account.import", {"accounts": [{"accountId": name, "email": f"{name}@example.com", "hash": how, **plain}]})
        own = self.person("own", password=PASSWORD)
        for account in self.sidecar.call("account.export", {"includeSecrets": True})["accounts"]:
            if account["accountId"] != own:
                self.assertEqual({key: account[key] for key in ("passwordHash", "salt")}, hashes[account["accountId"]])
            texts = [account["passwordHash"], account["salt"]] + [account["hash"][key] for key in ("signerKey", "saltSeparator") if key in account["hash"]]
            for text in texts:
                self.assertEqual(base64.b64encode(base64.b64decode(text, validate=True)).decode(), text)

    def test_export_without_secrets_contains_none(self):
        secret = self.crowd()
        text = json.dumps(self.sidecar.call("account.export", {}))
        for each in (secret, "passwordHash", "salt", "signerKey", "\"hash\""):
            self.assertNotIn(each, text)
        self.assertEqual([record["details"]["exported"] for record in self.sidecar.call("audit.list", {"method": "account.export"})["records"]], [])
        self.sidecar.call("account.export", {"includeSecrets": True})
        self.assertEqual([record["details"] for record in self.sidecar.call("audit.list", {"method": "account.export"})["records"]], [{"tenantId": "default", "exported": "6"}])
        path = self.path("accounts.jsonl")
        self.sidecar.call("account.export", {"file": path})
        other = self.spawn(testing=True)
        answer = other.call("account.import", {"file": path})
        self.assertEqual((answer["imported"], [(each["accountId"], each["violations"][0]["pointer"]) for each in answer["failures"]]), (5, [("ann", "/factors/0/secret")]))
        # A user with a password must reset it.
        self.refused("passwordNotSet", other, "signIn.withPassword", {"username": "dora@example.com", "password": PASSWORD})
        self.assertEqual(other.call("passwordReset.start", {"username": "dora@example.com"})["state"], "codeRequired")

    def test_pages_contain_each_account_of_tenant_once(self):
        for number in range(25):
            self.person(f"p{number:02}")
        self.sidecar.call("tenant.create", {"tenantId": "shop"})
        self.sidecar.call("account.create", {"tenantId": "shop", "username": "p01@example.com"})
        found, cursor = [], {}
        while True:
            page = self.sidecar.call("account.export", {"limit": 10, **cursor})
            self.assertEqual(page["exported"], len(page["accounts"]))
            found += [each["accountId"] for each in page["accounts"]]
            if "nextCursor" not in page:
                break
            cursor = {"cursor": page["nextCursor"]}
        self.assertEqual(found, [f"p{number:02}" for number in range(25)])
        self.refused("invalidCursor", self.sidecar, "account.export", {"tenantId": "shop", **cursor})
        self.refused("tenantNotFound", self.sidecar, "account.export", {"tenantId": "nowhere"})
        self.assertEqual(self.violations(self.sidecar, "account.export", {"file": "/x", **cursor}), {("", "atMostOne")})

    def test_export_file_is_private_and_replaces_no_file(self):
        for number in range(1_100):
            self.sidecar.send("account.create", {"username": f"p{number}@example.com"}, id=f"c{number}")
        for number in range(1_100):
            self.sidecar.answer(f"c{number}")
        path = self.path("accounts.jsonl")
        answer = self.sidecar.call("account.export", {"file": path}, progressToken="e")
        self.assertEqual((answer["exported"], len(self.lines(path))), (1_100, 1_100))
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
        told = [self.sidecar.receive(lambda m: m.get("method") == "$/progress")["params"]["value"]["exported"] for _ in range(3)]
        self.assertEqual(told, [500, 1_000, 1_100])
        os.symlink(self.path("nowhere"), self.path("link"))
        for taken in (path, self.path("link"), self.folder):
            self.refused("exportFileExists", self.sidecar, "account.export", {"file": taken})
        self.refused("exportFailed", self.sidecar, "account.export", {"file": self.path("missing", "accounts.jsonl")})
        self.assertEqual([name for name in os.listdir(self.folder) if "part" in name], [])
        self.assertEqual(self.sidecar.call("account.export", {"tenantId": "default", "limit": 1})["exported"], 1)

    def test_export_of_empty_tenant_creates_empty_file(self):
        path = self.path("accounts.jsonl")
        self.assertEqual(self.sidecar.call("account.export", {"file": path})["exported"], 0)
        self.assertEqual(self.lines(path), [])
