"""Settings without effect are rejected, and errors name the problem and the allowed values."""

from delivery import MailServer
from test_bad_input_people import ALICE, PASSWORD, People


class Settings(People):
    def test_must_change_password_without_password_is_rejected(self):
        for method, params in (("account.create", {"username": ALICE}), ("account.update", {"accountId": self.account("bob@example.com", None)})):
            self.assertEqual(self.violations(self.sidecar, method, {**params, "mustChangePassword": True}), {("/mustChangePassword", "requires")})
        self.account(mustChangePassword=True)
        self.no("passwordChangeRequired", "signIn.withPassword", username=ALICE, password=PASSWORD)

    def test_required_consent_of_false_is_accepted_from_developer_and_rejected_at_sign_up(self):
        self.tenant(attributes=[{"name": "ok", "type": "boolean", "required": True}])
        account = self.call("account.create", tenantId="shop", username=ALICE, attributes={"ok": False})
        self.assertEqual(account["attributes"], {"ok": False})
        self.no("invalidAttributes", "signUp.start", tenantId="shop", username="bob@example.com", attributes={"ok": False})

    def test_breached_password_service_url_is_validated(self):
        for url in ("https://a b.c/", "https://api.example.com/range?x=", "https://", "https://u:p@api.example.com/", "http://127.0.0.1/"):
            error = self.no("invalidTenantSettings", "tenant.update", tenantId="default", passwordPolicy={"breached": {"url": url}})
            self.assertEqual(error.data["pointer"], "/passwordPolicy/breached/url", url)
        self.settings(passwordPolicy={"breached": {"url": "https://api.example.com/range"}})

    def test_valid_token_with_other_username_fails_with_reason(self):
        token = self.completed()
        error = self.no("continuationTokenInvalid", "signIn.withContinuation", continuationToken=token, username="bob@example.com")
        self.assertIn("username does not match the email address of the flow", str(error))
        self.assertNotIn("reason", self.no("continuationTokenInvalid", "signIn.withContinuation", continuationToken="x" * 60).data)
        self.assertEqual(self.call("signIn.withContinuation", continuationToken=token, username=ALICE)["state"], "completed")

    def test_invalid_client_address_error_names_member(self):
        error = self.no("invalidParams", "signUp.start", username=ALICE, client={"address": "here"})
        self.assertIn("client.address must be an IPv4 or IPv6 address", str(error))

    def test_unavailable_test_method_error_names_testing_option(self):
        error = self.refused("methodNotFound", self.spawn(), "test.outbox", {})
        self.assertEqual(
            error.message,
            "Unknown method test.outbox. It exists only in a testing store. To start one, add --testing and use a new store. To list all "
            "methods, call rpc.discover.")
        self.assertEqual((error.data["nearest"], error.data["testingOption"]), ([], "--testing"))

    def test_method_names_of_other_products_suggest_equivalents(self):
        sidecar = self.spawn()
        for name, wanted in (
                ("linkWithCredential", "account.link"), ("signInWithPopup", "idp.authorize"), ("submitCode", "signUp.submitCode"),
                ("GetOpenIdTokenForDeveloperIdentity", "token.mintForDeveloper"), ("accounts:signInWithIdp", "signIn.withCredential"),
                ("sts:AssumeRoleWithWebIdentity", "credentials.assumeRole"), ("/signup/v1.0/start", "signUp.start")):
            error = self.refused("methodNotFound", sidecar, name, {})
            self.assertIn(wanted, error.data["nearest"], name)
            self.assertIn(wanted, error.message)
        public = self.refused("methodNotFound", self.spawn("--caller", "public"), "GetOpenIdTokenForDeveloperIdentity", {})
        self.assertNotIn("token.mintForDeveloper", public.data["nearest"])

    def test_unknown_method_without_similar_names_suggests_none(self):
        error = self.refused("methodNotFound", self.spawn(), "zzzzzzzzzzzz", {})
        self.assertEqual(error.data["nearest"], [])
        self.assertEqual(error.message, "Unknown method zzzzzzzzzzzz. To list all methods, call rpc.discover.")


class Deleted(MailServer):
    def test_correct_code_for_account_deleted_during_sending_fails_with_cause(self):
        sidecar = self.process(self.ports["login"])
        for kind, name, more in (("signIn", "slow-code", {}), ("passwordReset", "slow-password", {"password": PASSWORD})):
            address = f"{name}@example.com"
            account = sidecar.call("account.create", {"username": address, **more}, timeout=60)["accountId"]
            number = sidecar.send(f"{kind}.start", {"username": address})
            self.wait_until_underway(address)
            sidecar.call("account.delete", {"accountId": account})
            token = sidecar.answer(number)["continuationToken"]
            params = {"continuationToken": token, "code": self.code(self.take(address)[0])}
            error = self.refused("flowEnded", sidecar, f"{kind}.submitCode", params)
            self.assertEqual(error.data["cause"], "accountDeleted")
