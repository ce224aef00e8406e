"""Passkeys in export and import, unlinking, merges and the graph of an account."""

from authenticators import SETTINGS, UP, Authenticator, PasskeyTests, b64
from federation import PASSWORD
from test_logins import claims_of


class PasskeyTransfer(PasskeyTests):
    def exported(self, tenant="default"):
        return self.sidecar.call("account.export", {"tenantId": tenant})["accounts"]

    def imported(self, accounts, sidecar=None, **more):
        return (sidecar or self.sidecar).call("account.import", {"tenantId": "default", "accounts": accounts, **more})

    def test_imported_passkey_signs_in_with_its_counter_handle_and_purpose(self):
        mine, _ = self.register(Authenticator(counts=True), name="Laptop")
        self.sign_in_with(mine, counter=9)
        self.sidecar.call("tenant.update", {"tenantId": "default", "mfa": "optional"})
        step = self.sidecar.call("mfa.enroll", {"idToken": self.token, "kind": "passkey"})
        key = Authenticator(flags=UP)
        self.sidecar.call("mfa.confirm", {"continuationToken": step["continuationToken"], "response": key.create(step["options"])})
        line, = self.exported()
        passkey, factor = line["passkeys"]
        self.assertNotIn("factors", line)
        self.assertEqual((passkey["signCount"], passkey["userHandle"], passkey["usage"], passkey["name"]), (9, mine.handle, "signIn", "Laptop"))
        self.assertEqual((factor["usage"], factor["userVerified"], factor["backupEligible"]), ("secondFactor", False, False))
        other = self.spawn(testing=True)
        other.call("test.clock", {"setAt": 1_700_000_000, "freeze": True})
        other.call("tenant.update", {"tenantId": "default", "passkeys": SETTINGS, "mfa": "optional"})
        self.assertEqual(self.imported([line], other)["imported"], 1)
        again, = other.call("account.export", {"tenantId": "default"})["accounts"]
        self.assertEqual(again["passkeys"], line["passkeys"])
        self.assertEqual(other.call("account.get", {"accountId": self.account_id})["factors"][0]["kind"], "passkey")
        start = other.call("passkey.startAuthentication", {})
        error = self.refused("passkeyNotAccepted", other, "signIn.withCredential", self.answer(start, mine.get(start["options"], counter=9)))
        self.assertEqual(error.data["reason"], "counterRegressed")
        start = other.call("passkey.startAuthentication", {})
        done = other.call("signIn.withCredential", self.answer(start, mine.get(start["options"], counter=10)))
        self.assertEqual((done["state"], done["account"]["accountId"]), ("completed", self.account_id))
        self.assertEqual(claims_of(done["idToken"])["amr"], ["hwk", "user", "mfa"])
        start = other.call("passkey.startRegistration", {"idToken": done["idToken"]})
        self.assertEqual(start["options"]["user"]["id"], mine.handle)

    def test_line_with_an_unusable_passkey_is_refused_with_its_pointer(self):
        self.register()
        line, = self.exported()
        good = line["passkeys"][0]
        self.sidecar.call("account.delete", {"accountId": self.account_id})
        point = b64(b"\x04" + b"\x01" * 64)
        cases = [
            ({"publicKey": "AAAA"}, "publicKey", "publicKeyInvalid"),
            ({"publicKey": point}, "publicKey", "publicKeyInvalid"),
            ({"publicKey": good["publicKey"][:-4]}, "publicKey", None),
            ({"publicKey": good["publicKey"] + "AA"}, "publicKey", None),
            ({"relyingPartyId": "example.org"}, "relyingPartyId", "const"),
            ({"credentialId": "A"}, "credentialId", "pattern"),
            ({"backupState": True}, "backupState", "backupFlagsInvalid"),
        ]
        for change, member, rule in cases:
            with self.subTest(change):
                result = self.imported([{**line, "passkeys": [{**good, **change}]}])
                self.assertEqual((result["imported"], result["failed"]), (0, 1), result)
                violation = result["failures"][0]["violations"][0]
                self.assertEqual(violation["pointer"], f"/passkeys/0/{member}")
                if rule:
                    self.assertEqual(violation["rule"], rule)
        for change in ({"userHandle": b64(b"x" * 65)}, {"signCount": -1}, {"signCount": 1 << 32}, {"usage": "other"}, {"publicKey": "+"}):
            error = self.refused("invalidParams", self.sidecar, "account.import", {"accounts": [{**line, "passkeys": [{**good, **change}]}]})
            self.assertEqual(error.data["violations"][0]["pointer"], f"/accounts/0/passkeys/0/{list(change)[0]}")
        twice = self.imported([{**line, "passkeys": [good, good]}])
        self.assertEqual(twice["failures"][0]["violations"][0]["pointer"], "/passkeys/1/credentialId")
        factor = self.imported([{**line, "passkeys": [], "factors": [{"kind": "passkey"}]}])
        self.assertEqual(factor["failures"][0]["violations"][0]["pointer"], "/factors/0/kind")
        self.assertEqual(self.imported([line])["imported"], 1)
        other = {"accountId": "other", "passkeys": [good]}
        taken = self.imported([other])
        self.assertEqual(taken["failures"][0]["violations"][0]["rule"], "alreadyRegistered")
        self.sidecar.call("account.delete", {"accountId": self.account_id})
        both = self.imported([line, other])
        self.assertEqual((both["imported"], both["failures"][0]["violations"][0]["rule"]), (1, "duplicate"))

    def test_tenant_without_passkeys_refuses_them_and_replacing_replaces_them(self):
        mine, _ = self.register()
        line, = self.exported()
        plain = self.spawn(testing=True)
        refused = self.imported([line], plain)
        self.assertEqual(refused["failures"][0]["violations"][0], {
            **refused["failures"][0]["violations"][0], "pointer": "/passkeys", "rule": "passkeysOff"})
        self.register(token=self.password_session())
        self.assertEqual(self.imported([line], onExisting="replace")["replaced"], 1)
        listed = self.sidecar.call("passkey.list", {"accountId": self.account_id})["passkeys"]
        self.assertEqual([each["credentialId"] for each in listed], [b64(mine.id)])
        self.assertEqual(self.sign_in_with(mine)["state"], "completed")

    def test_unlinking_passkey_deletes_all_with_which_the_user_signs_in(self):
        first, _ = self.register()
        self.register()
        session = self.sign_in_with(first)
        self.sidecar.call("tenant.update", {"tenantId": "default", "mfa": "optional"})
        step = self.sidecar.call("mfa.enroll", {"idToken": session["idToken"], "kind": "passkey"})
        key = Authenticator(flags=UP)
        done = self.sidecar.call("mfa.confirm", {"continuationToken": step["continuationToken"], "response": key.create(step["options"])})
        self.refused("providerNotLinked", self.sidecar, "account.unlink", {"idToken": done["idToken"], "providerId": "google.com"})
        self.sidecar.call("test.clock", {"advanceSeconds": 301})
        self.refused("recentSignInRequired", self.sidecar, "account.unlink", {"idToken": done["idToken"], "providerId": "passkey"})
        first_step = self.sidecar.call("signIn.withPassword", {"username": "carol@example.com", "password": PASSWORD})
        challenge = self.sidecar.call("mfa.challenge", {
            "continuationToken": first_step["continuationToken"], "factorId": first_step["hints"][0]["factorId"]})
        fresh = self.sidecar.call("mfa.resolve", {"continuationToken": challenge["continuationToken"], "response": key.get(challenge["options"])})
        account = self.sidecar.call("account.unlink", {"idToken": fresh["idToken"], "providerId": "passkey"})
        self.assertNotIn("passkeys", account)
        self.assertEqual([each["kind"] for each in account["factors"]], ["passkey"])
        self.refused("tokenRevoked", self.sidecar, "account.graph", {"idToken": done["idToken"]})
        self.refused("providerNotLinked", self.sidecar, "account.unlink", {"idToken": fresh["idToken"], "providerId": "passkey"})
        self.refused("lastProvider", self.sidecar, "account.unlink", {"idToken": fresh["idToken"], "providerId": "password"})

    def test_passkey_is_a_way_to_sign_in_when_a_provider_is_unlinked(self):
        answer = self.sign_in(iat=1_700_000_000, exp=1_700_003_600)
        self.refused("lastProvider", self.sidecar, "account.unlink", {"idToken": answer["idToken"], "providerId": "oidc.work"})
        mine, _ = self.register(token=answer["idToken"])
        account = self.sidecar.call("account.unlink", {"idToken": answer["idToken"], "providerId": "oidc.work"})
        self.assertEqual((account["providers"], len(account["passkeys"])), ([], 1))
        self.assertEqual(self.sign_in_with(mine)["state"], "completed")

    def test_graph_shows_passkeys_and_the_sessions_that_they_began(self):
        mine, passkey = self.register(name="Laptop")
        session = self.sign_in_with(mine)
        graph = self.sidecar.call("account.graph", {"idToken": session["idToken"], "format": "tree"})
        place = [number for number, node in enumerate(graph["nodes"]) if node["kind"] == "passkey"][0]
        self.assertEqual(graph["nodes"][place], {"kind": "passkey", "credentialId": passkey["credentialId"], "name": "Laptop"})
        self.assertIn({"from": place, "to": 0, "kind": "leadsTo"}, graph["edges"])
        began = [edge["to"] for edge in graph["edges"] if edge["kind"] == "began" and edge["from"] == place]
        self.assertEqual([graph["nodes"][each]["sessionId"] for each in began], [claims_of(session["idToken"])["sid"]])
        self.assertIn("passkey Laptop", graph["text"])
        for form in ("mermaid", "dot", "svg"):
            self.assertIn("Laptop", self.sidecar.call("account.graph", {"idToken": session["idToken"], "format": form})["text"])

    def test_merge_moves_both_purposes_with_their_handles(self):
        self.sidecar.call("tenant.update", {"tenantId": "default", "mfa": "optional"})
        mine, _ = self.register()
        other_id, other_token = self.password_account("dave@example.com")
        theirs, moved = self.register(token=other_token)
        step = self.sidecar.call("mfa.enroll", {"idToken": other_token, "kind": "passkey"})
        key = Authenticator(flags=UP)
        done = self.sidecar.call("mfa.confirm", {"continuationToken": step["continuationToken"], "response": key.create(step["options"])})
        params = {"idToken": self.token, "sourceIdToken": done["idToken"], "policy": "keepTarget"}
        plan = self.sidecar.call("account.merge", {**params, "dryRun": True})
        ids = [b64(theirs.id), b64(key.id)]
        self.assertEqual((plan["movedPasskeys"], len(plan["account"]["passkeys"]), len(plan["account"]["factors"])), (ids, 2, 1))
        merged = self.sidecar.call("account.merge", params)
        self.assertEqual((merged["movedPasskeys"], merged["movedFactors"]), (ids, plan["movedFactors"]))
        for device in (mine, theirs):
            self.assertEqual(self.sign_in_with(device)["account"]["accountId"], self.account_id)
        signals = self.sidecar.call("passkey.signals", {"accountId": self.account_id})["allAcceptedCredentials"]
        self.assertEqual({each["userId"]: sorted(each["allAcceptedCredentialIds"]) for each in signals}, {
            mine.handle: [b64(mine.id)], theirs.handle: sorted(ids)})
        session = self.sign_in_with(theirs)
        self.assertEqual(self.begin(session["idToken"])["options"]["user"]["id"], mine.handle)


del PasskeyTests
