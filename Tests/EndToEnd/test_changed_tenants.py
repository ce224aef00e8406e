"""A tenant is changed while somebody signs up: each step goes by the tenant as it is then."""

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
        """Somebody who has typed the code."""
        step = self.sidecar.call("signUp.start", {"tenantId": "shop", "username": ALICE, **given})
        code = self.sidecar.call("test.outbox", {"to": ALICE})["messages"][-1]["code"]
        return self.step("submitCode", step, code=code)

    def account(self, step):
        self.assertEqual(step["state"], "completed")
        return self.sidecar.call("account.get", {"accountId": step["accountId"]})

    def test_an_attribute_that_is_not_asked_for_any_more_keeps_nobody_from_an_account(self):
        for given in ({}, {"zip": "1"}, {"city": "B"}):
            with self.subTest(given=given):
                self.sidecar.call("test.reset")
                self.tenant(attributes=[ZIP])
                step = self.verified()
                self.assertEqual(step["state"], "attributesRequired")
                self.change(attributes=[{"name": "city", "type": "string"}])
                account = self.account(self.step("submitAttributes", step, attributes=given))
                self.assertEqual(account["attributes"], {key: value for key, value in given.items() if key == "city"})

    def test_a_lost_answer_that_asked_for_it_is_given_anew_as_completed(self):
        self.tenant(attributes=[ZIP, {"name": "plate", "type": "string", "required": True}])
        step = self.verified()
        asked = self.step("submitAttributes", step, attributes={"zip": "1"})
        self.assertEqual([each["name"] for each in asked["attributes"]], ["plate"])
        self.change(attributes=[ZIP])
        again = self.step("submitAttributes", step, attributes={"zip": "1"})
        self.assertEqual(self.account(again)["attributes"], {"zip": "1"})
        signed = self.sidecar.call("signIn.withContinuation", {"continuationToken": again["continuationToken"]})
        self.assertEqual(signed["state"], "completed")

    def test_a_password_that_is_not_asked_for_any_more_is_passed_over(self):
        self.tenant(localAccountMethod="emailPassword", attributes=[ZIP])
        step = self.verified()
        self.assertEqual(step["state"], "passwordRequired")
        self.change(localAccountMethod="emailCode")
        step = self.step("submitPassword", step, password=PASSWORD)
        self.assertEqual([each["name"] for each in step["attributes"]], ["zip"])
        self.assertEqual(self.account(self.step("submitAttributes", step, attributes={"zip": "1"}))["method"], "code")

    def test_one_that_was_given_before_does_not_become_part_of_the_account(self):
        self.tenant(attributes=[ZIP])
        step = self.verified(password=PASSWORD)
        self.change(localAccountMethod="emailCode")
        self.assertEqual(self.account(self.step("submitAttributes", step, attributes={"zip": "1"}))["method"], "code")

    def test_a_password_that_is_asked_for_from_now_on_is_asked_for(self):
        self.tenant(localAccountMethod="emailCode", attributes=[ZIP])
        step = self.verified()
        self.change(localAccountMethod="emailPassword")
        step = self.step("submitAttributes", step, attributes={"zip": "1"})
        self.assertEqual(step["state"], "passwordRequired")
        self.assertEqual(self.account(self.step("submitPassword", step, password=PASSWORD))["method"], "password")

    def test_a_value_that_does_not_fit_any_more_is_asked_for_again(self):
        self.tenant(attributes=[ZIP])
        step = self.sidecar.call("signUp.start", {"tenantId": "shop", "username": ALICE, "attributes": {"zip": "abc"}})
        code = self.sidecar.call("test.outbox", {"to": ALICE})["messages"][-1]["code"]
        self.change(attributes=[ZIP | {"type": "integer"}])
        step = self.step("submitCode", step, code=code)
        self.assertEqual([each["type"] for each in step["attributes"]], ["integer"])
        self.assertEqual(self.account(self.step("submitAttributes", step, attributes={"zip": "12"}))["attributes"], {"zip": 12})

    def test_where_nobody_may_sign_up_any_more_nobody_goes_on_with_it(self):
        self.tenant(attributes=[ZIP])
        step = self.verified()
        self.change(signUpAllowed=False)
        params = {"continuationToken": step["continuationToken"], "attributes": {"zip": "1"}}
        self.refused("signUpNotAllowed", self.sidecar, "signUp.submitAttributes", params)
        self.change(signUpAllowed=True)
        self.assertEqual(self.sidecar.call("signUp.submitAttributes", params)["state"], "completed")
