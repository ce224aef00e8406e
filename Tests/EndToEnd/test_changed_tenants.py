"""Tenants that change during a sign-up. Each step uses the current settings of the tenant."""

from endtoend import EndToEnd

ALICE = "alice@example.com"
PASSWORD = "Correct-Horse-77"
ZIP = {"name": "zip", "type": "string", "required": True}


class ChangedTenants(EndToEnd):
    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn(testing=True)

    def tenant(self, **settings):
        self.sidecar.call("tenant.create", {"tenantId": "shop", **settings})

    def change(self, **settings):
        self.sidecar.call("tenant.update", {"tenantId": "shop", **settings})

    def step(self, name, step, **given):
        return self.sidecar.call(f"signUp.{name}", {"continuationToken": step["continuationToken"], **given})

    def verified(self, **given):
        """Starts a sign-up and submits its code."""
        step = self.sidecar.call("signUp.start", {"tenantId": "shop", "username": ALICE, **given})
        code = self.sidecar.call("test.outbox", {"to": ALICE})["messages"][-1]["code"]
        return self.step("submitCode", step, code=code)

    def account(self, step):
        self.assertEqual(step["state"], "completed")
        return self.sidecar.call("account.get", {"accountId": step["accountId"]})

    def test_attribute_removed_during_sign_up_is_no_longer_required(self):
        for given in ({}, {"zip": "1"}, {"city": "B"}):
            with self.subTest(given=given):
                self.sidecar.call("test.reset")
                self.tenant(attributes=[ZIP])
                step = self.verified()
                self.assertEqual(step["state"], "attributesRequired")
                self.change(attributes=[{"name": "city", "type": "string"}])
                account = self.account(self.step("submitAttributes", step, attributes=given))
                self.assertEqual(account["attributes"], {key: value for key, value in given.items() if key == "city"})

    def test_repeated_step_completes_if_last_attribute_was_removed(self):
        self.tenant(attributes=[ZIP, {"name": "plate", "type": "string", "required": True}])
        step = self.verified()
        asked = self.step("submitAttributes", step, attributes={"zip": "1"})
        self.assertEqual([each["name"] for each in asked["attributes"]], ["plate"])
        self.change(attributes=[ZIP])
        again = self.step("submitAttributes", step, attributes={"zip": "1"})
        self.assertEqual(self.account(again)["attributes"], {"zip": "1"})
        signed = self.sidecar.call("signIn.withContinuation", {"continuationToken": again["continuationToken"]})
        self.assertEqual(signed["state"], "completed")

    def test_password_that_is_no_longer_required_is_ignored(self):
        self.tenant(localAccountMethod="emailPassword", attributes=[ZIP])
        step = self.verified()
        self.assertEqual(step["state"], "passwordRequired")
        self.change(localAccountMethod="emailCode")
        step = self.step("submitPassword", step, password=PASSWORD)
        self.assertEqual([each["name"] for each in step["attributes"]], ["zip"])
        self.assertEqual(self.account(self.step("submitAttributes", step, attributes={"zip": "1"}))["method"], "code")

    def test_password_given_before_change_is_not_stored(self):
        self.tenant(attributes=[ZIP])
        step = self.verified(password=PASSWORD)
        self.change(localAccountMethod="emailCode")
        self.assertEqual(self.account(self.step("submitAttributes", step, attributes={"zip": "1"}))["method"], "code")

    def test_password_required_during_sign_up_is_requested(self):
        self.tenant(localAccountMethod="emailCode", attributes=[ZIP])
        step = self.verified()
        self.change(localAccountMethod="emailPassword")
        step = self.step("submitAttributes", step, attributes={"zip": "1"})
        self.assertEqual(step["state"], "passwordRequired")
        self.assertEqual(self.account(self.step("submitPassword", step, password=PASSWORD))["method"], "password")

    def test_attribute_that_no_longer_matches_its_type_is_requested_again(self):
        self.tenant(attributes=[ZIP])
        step = self.sidecar.call("signUp.start", {"tenantId": "shop", "username": ALICE, "attributes": {"zip": "abc"}})
        code = self.sidecar.call("test.outbox", {"to": ALICE})["messages"][-1]["code"]
        self.change(attributes=[ZIP | {"type": "integer"}])
        step = self.step("submitCode", step, code=code)
        self.assertEqual([each["type"] for each in step["attributes"]], ["integer"])
        self.assertEqual(self.account(self.step("submitAttributes", step, attributes={"zip": "12"}))["attributes"], {"zip": 12})

    def test_sign_up_that_is_no_longer_allowed_cannot_continue(self):
        self.tenant(attributes=[ZIP])
        step = self.verified()
        self.change(signUpAllowed=False)
        params = {"continuationToken": step["continuationToken"], "attributes": {"zip": "1"}}
        self.refused("signUpNotAllowed", self.sidecar, "signUp.submitAttributes", params)
        self.change(signUpAllowed=True)
        self.assertEqual(self.sidecar.call("signUp.submitAttributes", params)["state"], "completed")
