"""Passkey-first sign-up, and the life of accounts that have nothing but a passkey."""

from authenticators import SETTINGS, Authenticator, PasskeyTests, b64
from federation import PASSWORD
from test_logins import claims_of

USER = "alice@example.com"


class PasskeySignUp(PasskeyTests):
    def setUp(self):
        super().setUp()
        self.sidecar.call("tenant.create", {"tenantId": "shop", "localAccountMethod": "passkey", "passkeys": SETTINGS})

    def code(self, to=USER):
        return self.sidecar.call("test.outbox", {"to": to})["messages"][-1]["code"]

    def verified(self, username=USER, **more):
        start = self.sidecar.call("signUp.start", {"tenantId": "shop", "username": username, **more})
        self.assertEqual(start["state"], "codeRequired")
        return self.sidecar.call("signUp.submitCode", {"continuationToken": start["continuationToken"], "code": self.code(username)})

    def begin_in(self, step):
        return self.sidecar.call("passkey.startRegistration", {"continuationToken": step["continuationToken"]})

    def finish(self, start, authenticator, **more):
        return self.sidecar.call("passkey.finishRegistration", {
            "continuationToken": start["continuationToken"], "response": authenticator.create(start["options"]), **more})

    def signed_up(self, username=USER):
        authenticator = Authenticator()
        done = self.finish(self.begin_in(self.verified(username)), authenticator)
        return authenticator, done

    def test_sign_up_registers_a_passkey_that_signs_in(self):
        step = self.verified()
        self.assertEqual((step["state"], set(step)), ("passkeyRequired", {"state", "continuationToken", "expiresAt"}))
        start = self.begin_in(step)
        self.assertEqual((start["options"]["user"]["name"], start["options"]["excludeCredentials"]), (USER, []))
        self.assertEqual(start["mediation"], "optional")
        authenticator = Authenticator()
        self.assertEqual(self.sidecar.call("account.list", {"tenantId": "shop"})["accounts"], [])
        done = self.finish(start, authenticator, name="Laptop")
        self.assertEqual((done["state"], done["passkey"]["name"]), ("completed", "Laptop"))
        first = self.sidecar.call("signIn.withContinuation", {"continuationToken": done["continuationToken"]})
        account = first["account"]
        self.assertEqual((account["accountId"], account["method"], account["providers"]), (done["accountId"], "passkey", []))
        self.assertEqual([each["credentialId"] for each in account["passkeys"]], [b64(authenticator.id)])
        self.assertTrue(first["isNewAccount"])
        begun = self.start(tenantId="shop")
        signed_in = self.sidecar.call("signIn.withCredential", {
            "tenantId": "shop", **self.answer(begun, authenticator.get(begun["options"]))})
        self.assertEqual(claims_of(signed_in["idToken"])["amr"], ["hwk", "user", "mfa"])
        again = self.begin(signed_in["idToken"])
        self.assertEqual(again["options"]["user"]["id"], authenticator.handle, "the account keeps its user handle")

    def test_attributes_are_asked_for_after_the_passkey(self):
        self.sidecar.call("tenant.update", {"tenantId": "shop", "attributes": [{"name": "city", "type": "string", "required": True}]})
        step = self.verified()
        self.refused("stepNotPossible", self.sidecar, "signUp.submitAttributes", {
            "continuationToken": step["continuationToken"], "attributes": {"city": "Bern"}})
        authenticator = Authenticator()
        start = self.begin_in(step)
        request = {"continuationToken": start["continuationToken"], "response": authenticator.create(start["options"])}
        done = self.sidecar.call("passkey.finishRegistration", request)
        self.assertEqual((done["state"], done["attributes"][0]["name"]), ("attributesRequired", "city"))
        self.assertEqual(self.sidecar.call("passkey.finishRegistration", request), done, "a repetition gets the same answer")
        self.assertEqual(self.sidecar.call("account.list", {"tenantId": "shop"})["accounts"], [])
        last = self.sidecar.call("signUp.submitAttributes", {"continuationToken": done["continuationToken"], "attributes": {"city": "Bern"}})
        self.assertEqual(last["state"], "completed")
        listed = self.sidecar.call("passkey.list", {"accountId": last["accountId"]})["passkeys"]
        self.assertEqual([each["credentialId"] for each in listed], [b64(authenticator.id)])

    def test_refused_response_spends_the_challenge_and_keeps_the_sign_up(self):
        step = self.verified()
        start = self.begin_in(step)
        authenticator = Authenticator()
        error = self.refused("passkeyNotAccepted", self.sidecar, "passkey.finishRegistration", {
            "continuationToken": start["continuationToken"], "response": authenticator.create(start["options"], origin="https://evil.example")})
        self.assertEqual((error.data["reason"], error.data["next"]), ("originNotAllowed", "passkey.startRegistration"))
        self.refused("flowUsed", self.sidecar, "passkey.finishRegistration", {
            "continuationToken": start["continuationToken"], "response": authenticator.create(start["options"])})
        again = self.begin_in(step)
        self.assertEqual(again["options"]["user"]["id"], start["options"]["user"]["id"])
        self.assertNotEqual(again["options"]["challenge"], start["options"]["challenge"])
        self.assertEqual(self.finish(again, authenticator)["state"], "completed")
        self.refused("continuationTokenInvalid", self.sidecar, "passkey.startRegistration", {"continuationToken": step["continuationToken"]})

    def test_other_steps_and_tokens_are_refused(self):
        start = self.sidecar.call("signUp.start", {"tenantId": "shop", "username": USER})
        error = self.refused("stepNotPossible", self.sidecar, "passkey.startRegistration", {"continuationToken": start["continuationToken"]})
        self.assertEqual(error.data["expected"], "signUp.submitCode")
        self.refused("passwordNotAccepted", self.sidecar, "signUp.submitPassword", {
            "continuationToken": start["continuationToken"], "password": PASSWORD})
        self.refused("passwordNotAccepted", self.sidecar, "signUp.start", {"tenantId": "shop", "username": "bob@example.com", "password": PASSWORD})
        step = self.sidecar.call("signUp.submitCode", {"continuationToken": start["continuationToken"], "code": self.code()})
        error = self.refused("stepNotPossible", self.sidecar, "signUp.submitPassword", {
            "continuationToken": step["continuationToken"], "password": PASSWORD})
        self.assertEqual(error.data["expected"], "passkey.startRegistration")
        self.refused("stepNotPossible", self.sidecar, "signIn.withContinuation", {"continuationToken": step["continuationToken"]})
        self.refused("invalidParams", self.sidecar, "passkey.startRegistration", {
            "continuationToken": step["continuationToken"], "conditional": True})
        self.refused("invalidParams", self.sidecar, "passkey.startRegistration", {
            "continuationToken": step["continuationToken"], "idToken": self.token})
        sign_in = self.sidecar.call("signIn.start", {"username": "carol@example.com"})
        self.refused("continuationTokenInvalid", self.sidecar, "passkey.startRegistration", {"continuationToken": sign_in["continuationToken"]})

    def test_passkey_that_is_registered_already_is_refused_and_of_two_sign_ups_one_gets_it(self):
        authenticator, _ = self.signed_up()
        start = self.begin_in(self.verified("bob@example.com"))
        error = self.refused("passkeyNotAccepted", self.sidecar, "passkey.finishRegistration", {
            "continuationToken": start["continuationToken"], "response": authenticator.create(start["options"])})
        self.assertEqual(error.data["reason"], "alreadyRegistered")
        self.sidecar.call("tenant.update", {"tenantId": "shop", "attributes": [{"name": "city", "type": "string", "required": True}]})
        shared = Authenticator()
        first = self.finish(self.begin_in(self.verified("dave@example.com")), shared)
        second = self.finish(self.begin_in(self.verified("erin@example.com")), shared)
        city = {"attributes": {"city": "Bern"}}
        self.assertEqual(self.sidecar.call("signUp.submitAttributes", {"continuationToken": first["continuationToken"], **city})["state"], "completed")
        back = self.sidecar.call("signUp.submitAttributes", {"continuationToken": second["continuationToken"], **city})
        self.assertEqual(back["state"], "passkeyRequired")
        self.assertEqual(self.finish(self.begin_in(back), Authenticator())["state"], "completed")

    def test_code_recovers_an_account_whose_passkey_is_lost(self):
        authenticator, done = self.signed_up()
        start = self.sidecar.call("signIn.start", {"tenantId": "shop", "username": USER})
        self.assertEqual(start["state"], "codeRequired")
        signed_in = self.sidecar.call("signIn.submitCode", {"continuationToken": start["continuationToken"], "code": self.code()})
        self.assertEqual((signed_in["state"], len(signed_in["account"]["passkeys"])), ("completed", 1), "the passkey is kept")
        fresh, passkey = self.register(token=signed_in["idToken"])
        left = self.sidecar.call("passkey.delete", {"idToken": signed_in["idToken"], "credentialId": b64(authenticator.id)})
        self.assertEqual([each["credentialId"] for each in left["passkeys"]], [passkey["credentialId"]])
        # The code is the recovery, not a way to sign in: the last passkey needs force.
        self.refused("lastProvider", self.sidecar, "passkey.delete", {"idToken": signed_in["idToken"], "credentialId": b64(fresh.id)})
        self.refused("lastProvider", self.sidecar, "account.unlink", {"idToken": signed_in["idToken"], "providerId": "passkey"})
        self.refused("passwordNotAccepted", self.sidecar, "account.link", {
            "idToken": signed_in["idToken"], "credential": {"email": USER, "password": PASSWORD}})

    def test_tenant_without_passkey_settings_refuses_the_step(self):
        self.sidecar.call("tenant.create", {"tenantId": "plain", "localAccountMethod": "passkey"})
        start = self.sidecar.call("signUp.start", {"tenantId": "plain", "username": USER})
        step = self.sidecar.call("signUp.submitCode", {"continuationToken": start["continuationToken"], "code": self.code()})
        self.refused("passkeysOff", self.sidecar, "passkey.startRegistration", {"continuationToken": step["continuationToken"]})

    def test_changed_tenant_decides_the_next_step(self):
        step = self.verified()
        start = self.begin_in(step)
        self.sidecar.call("tenant.update", {"tenantId": "shop", "signUpAllowed": False})
        self.refused("signUpNotAllowed", self.sidecar, "passkey.startRegistration", {"continuationToken": step["continuationToken"]})
        authenticator = Authenticator()
        request = {"continuationToken": start["continuationToken"], "response": authenticator.create(start["options"])}
        self.refused("signUpNotAllowed", self.sidecar, "passkey.finishRegistration", request)
        self.sidecar.call("tenant.update", {"tenantId": "shop", "signUpAllowed": True})
        self.assertEqual(self.sidecar.call("passkey.finishRegistration", request)["state"], "completed")

    def test_challenge_of_a_sign_up_expires(self):
        step = self.verified()
        start = self.begin_in(step)
        self.sidecar.call("test.clock", {"advanceSeconds": 300})
        self.refused("continuationTokenExpired", self.sidecar, "passkey.finishRegistration", {
            "continuationToken": start["continuationToken"], "response": Authenticator().create(start["options"])})
        self.assertEqual(self.finish(self.begin_in(step), Authenticator())["state"], "completed")


del PasskeyTests
