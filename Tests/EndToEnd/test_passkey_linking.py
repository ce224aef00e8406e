"""`account.link` with the response of a passkey: it tells whose passkey it is, and its pending token signs in there once."""

from authenticators import UP, UV, Authenticator, PasskeyTests
from federation import PASSWORD
from test_logins import claims_of


class PasskeyLinking(PasskeyTests):
    def setUp(self):
        super().setUp()
        self.authenticator, _ = self.register()
        self.other_id, self.other = self.password_account("dave@example.com")
        self.others, _ = self.register(token=self.other)

    def taken(self, authenticator=None, token=None, **start):
        """Links a passkey of another account. Returns the pending token."""
        started = self.start(**start)
        response = (authenticator or self.others).get(started["options"])
        error = self.refused("credentialAlreadyInUse", self.sidecar, "account.link", {
            "idToken": token or self.token, **self.answer(started, response)})
        self.assertEqual(error.data["providerId"], "passkey")
        self.assertNotIn("email", error.data)
        return error.data["pendingToken"]

    def test_own_passkey_is_linked_already(self):
        start = self.start()
        given = {"idToken": self.token, **self.answer(start, self.authenticator.get(start["options"]))}
        self.assertEqual(self.refused("providerAlreadyLinked", self.sidecar, "account.link", given).data["providerId"], "passkey")
        self.refused("flowFinished", self.sidecar, "account.link", given)
        self.refused("flowFinished", self.sidecar, "signIn.withCredential", {"credential": given["credential"]})
        self.assertEqual(len(self.sidecar.call("passkey.list", {"idToken": self.token})["passkeys"]), 1)

    def test_passkey_of_another_account_signs_in_there_once(self):
        pending = self.taken()
        self.sidecar.call("test.clock", {"advanceSeconds": 400})
        done = self.sidecar.call("signIn.withCredential", {"credential": {"pendingToken": pending}})
        claims = claims_of(done["idToken"])
        self.assertEqual((claims["sub"], claims["amr"], claims["acr"]), (self.other_id, ["hwk", "user", "mfa"], "phr"))
        self.assertEqual(claims["auth_time"], 1_700_000_000, "the time of the response")
        for method, more in (("signIn.withCredential", {}), ("account.link", {"idToken": self.token})):
            self.refused("pendingTokenInvalid", self.sidecar, method, {"credential": {"pendingToken": pending}, **more})
        # Nothing of the signed-in account has changed.
        self.assertEqual(len(self.sidecar.call("passkey.list", {"idToken": self.token})["passkeys"]), 1)

    def test_response_is_spent_by_the_link(self):
        start = self.start()
        given = self.answer(start, self.others.get(start["options"]))
        self.refused("credentialAlreadyInUse", self.sidecar, "account.link", {"idToken": self.token, **given})
        self.refused("flowUsed", self.sidecar, "signIn.withCredential", given)
        self.refused("flowUsed", self.sidecar, "account.link", {"idToken": self.token, **given})

    def test_pending_token_expires_and_belongs_to_its_tenant(self):
        pending = self.taken()
        self.sidecar.call("tenant.create", {"tenantId": "shop"})
        self.refused("pendingTokenInvalid", self.sidecar, "signIn.withCredential", {"tenantId": "shop", "credential": {"pendingToken": pending}})
        self.sidecar.call("test.clock", {"advanceSeconds": 600})
        self.refused("pendingTokenInvalid", self.sidecar, "signIn.withCredential", {"credential": {"pendingToken": pending}})

    def test_pending_token_ends_with_its_passkey_and_account(self):
        pending = self.taken()
        passkey, = self.sidecar.call("passkey.list", {"accountId": self.other_id})["passkeys"]
        self.sidecar.call("passkey.delete", {"accountId": self.other_id, "credentialId": passkey["credentialId"]})
        self.refused("pendingTokenInvalid", self.sidecar, "signIn.withCredential", {"credential": {"pendingToken": pending}})
        pending = self.taken(self.authenticator, self.other)
        self.sidecar.call("account.update", {"accountId": self.account_id, "disabled": True})
        self.refused("accountDisabled", self.sidecar, "signIn.withCredential", {"credential": {"pendingToken": pending}})

    def test_pending_token_reauthenticates_only_its_own_user(self):
        pending = self.taken()
        self.refused("userMismatch", self.sidecar, "account.reauthenticate", {"idToken": self.token, "credential": {"pendingToken": pending}})
        done = self.sidecar.call("account.reauthenticate", {"idToken": self.other, "credential": {"pendingToken": pending}})
        self.assertEqual(claims_of(done["idToken"])["sub"], self.other_id)

    def test_pending_token_can_be_linked_again_with_the_same_result(self):
        pending = self.taken()
        for _ in range(2):
            error = self.refused("credentialAlreadyInUse", self.sidecar, "account.link", {
                "idToken": self.token, "credential": {"pendingToken": pending}})
        self.refused("providerAlreadyLinked", self.sidecar, "account.link", {"idToken": self.other, "credential": {"pendingToken": pending}})
        for token in (error.data["pendingToken"], pending):
            if token == pending:
                self.refused("pendingTokenInvalid", self.sidecar, "signIn.withCredential", {"credential": {"pendingToken": token}})
            else:
                self.sidecar.call("signIn.withCredential", {"credential": {"pendingToken": token}})

    def test_unknown_and_forged_responses_are_refused(self):
        stranger = Authenticator()
        stranger.handle = self.others.handle
        start = self.start()
        self.not_accepted("credentialUnknown", start, stranger.get(start["options"]), "account.link", idToken=self.token)
        start = self.start()
        forged = self.others.get(start["options"])
        forged["response"]["signature"] = self.authenticator.get(start["options"])["response"]["signature"]
        self.not_accepted("signatureInvalid", start, forged, "account.link", idToken=self.token)
        # A ceremony for the signed-in user accepts only their passkeys.
        start = self.start(idToken=self.token)
        self.not_accepted("credentialNotAllowed", start, self.others.get(start["options"]), "account.link", idToken=self.token)

    def test_verification_of_the_user_is_not_borrowed_from_another_account(self):
        """A passkey that was registered without a PIN counts as two factors only with another factor of its own account."""
        weak, _ = self.register(Authenticator(flags=UP), token=self.other)
        enrolled = self.sidecar.call("mfa.enroll", {"idToken": self.token, "kind": "passkey"})
        factor = Authenticator()
        confirmed = self.sidecar.call("mfa.confirm", {
            "continuationToken": enrolled["continuationToken"], "response": factor.create(enrolled["options"])})
        token = confirmed["idToken"]
        start = self.start()
        error = self.refused("credentialAlreadyInUse", self.sidecar, "account.link", {
            "idToken": token, **self.answer(start, weak.get(start["options"], flags=UP | UV))})
        done = self.sidecar.call("signIn.withCredential", {"credential": {"pendingToken": error.data["pendingToken"]}})
        self.assertEqual(claims_of(done["idToken"])["amr"], ["hwk", "user"])

    def test_locked_and_disabled_sessions_are_refused(self):
        self.sidecar.call("tenant.update", {"tenantId": "default", "lockCovers": "everyDoor"})
        start = self.start()
        given = {"idToken": self.token, **self.answer(start, self.others.get(start["options"]))}
        for number in range(10):
            self.sidecar.refusal("signIn.withPassword", {"username": "carol@example.com", "password": f"{PASSWORD} {number}"})
        self.refused("accountLocked", self.sidecar, "account.link", given)
        self.sidecar.call("account.update", {"accountId": self.account_id, "disabled": True})
        self.refused("tokenRevoked", self.sidecar, "account.link", given)
