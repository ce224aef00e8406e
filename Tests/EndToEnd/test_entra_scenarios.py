"""The native authentication API of Microsoft Entra: the cases that the tests of Microsoft's own clients go through, and requests that no client sends."""

import json
import urllib.parse

from entrahttp import ALL, MFA, NUMBER
from entrascenarios import CODE, TOKEN, Scenarios
from hooks import Host
from nativeflows import ALICE, PASSWORD
from test_hooks import PIPE

OTHER = "+4915112345679"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Frame(Scenarios):
    def test_paths_that_do_not_exist_answer_json(self):
        for path in ("oauth2/v2.0/nothing", "resetpassword/v1.0/complete", "signup/v1.0/", "register/v1.0/start/more"):
            for tenant in ("shop", "shop.onmicrosoft.com"):
                response, answer = self.json_answer(path, "client_id=mobile", tenant=tenant)
                self.assertEqual((response.status, answer["error"]), (404, "invalid_request"), path)
        response, answer = self.json_answer("oauth2/v2.0/nothing", "client_id=mobile", headers={"Origin": "https://page.example.com"})
        self.assertEqual(response.headers["access-control-allow-origin"], "https://page.example.com")
        # Addresses of other APIs, and of no tenant, are not those of this one.
        for path, tenant in (("v1/oauth2/v2.0/nothing", "shop"), ("oauth2/v2.0/nothing", "nowhere")):
            self.assertNotEqual(self.raw(path, "client_id=mobile", tenant=tenant)[0].headers["content-type"], "application/json; charset=utf-8")

    def test_other_methods_get_the_right_one_in_allow(self):
        for method in ("GET", "PUT", "DELETE"):
            response, answer = self.json_answer("oauth2/v2.0/token", None, method)
            self.assertEqual((response.status, response.headers["allow"], answer["error"]), (405, "POST", "invalid_request"))

    def test_bodies_in_other_formats(self):
        form = {"client_id": "mobile", "username": ALICE, "challenge_type": ALL}
        path = "signup/v1.0/start"
        for kind, body in (("application/json", json.dumps(form)), ("text/plain", urllib.parse.urlencode(form)), (FORM["Content-Type"] + "-x", "a=b")):
            response, answer = self.json_answer(path, body, headers={"Content-Type": kind})
            self.assertEqual((response.status, answer["error_codes"]), (400, [90100]), kind)
            self.assertIn("application/x-www-form-urlencoded", answer["error_description"])
        for body in (b"client_id=mobile&challenge_type=redirect&username=a\xffb@example.com", b"client_id=mobile&challenge_type=redirect&username=%FF"):
            response, answer = self.json_answer(path, body)
            self.assertEqual((response.status, answer["error_codes"]), (400, [90100]))
            self.assertIn("UTF-8", answer["error_description"])
        for kind in ("application/x-www-form-urlencoded; charset=utf-8", "Application/X-WWW-Form-Urlencoded;charset=UTF-8"):
            response, answer = self.json_answer(path, urllib.parse.urlencode(form), headers={"Content-Type": kind})
            self.assertEqual((response.status, set(answer)), (200, {"continuation_token"}), answer)

    def test_forms_are_decoded_as_clients_encode_them(self):
        # MSAL for iOS encodes a blank as a plus sign, and MSAL for Android as %20; the order of the parameters and unknown ones do not matter.
        for blank in ("+", "%20"):
            body = f"x=1&challenge_type=oob{blank}password{blank}redirect&username=a%2Bb%40example.com&&client_id=mobile&capabilities=&password="
            response, answer = self.json_answer("signup/v1.0/start?client_id=other&dc=ESTS", body)
            self.assertEqual(response.status, 200, answer)
        for repeated in ("client_id=mobile", "unknown=1&unknown=2", "username=a", "client_id="):
            body = urllib.parse.urlencode({"client_id": "mobile", "username": ALICE, "challenge_type": ALL})
            response, answer = self.json_answer("signup/v1.0/start", f"{body}&{repeated}")
            self.assertEqual((response.status, answer["error_codes"]), (400, [90100]), repeated)

    def test_names_of_hosts_ignore_case(self):
        form = urllib.parse.urlencode({"client_id": "mobile", "username": ALICE, "challenge_type": ALL})
        for url in ("https://shop.CIAMlogin.com/oauth2/v2.0/initiate", "https://login.example.com/shop.OnMicrosoft.com/oauth2/v2.0/initiate",
                    "https://shop.ciamlogin.com/shop.onmicrosoft.com/oauth2/v2.0/initiate/"):
            answer = self.sidecar.call("compat.http", {"method": "POST", "url": url, "headers": FORM, "body": form})
            self.assertEqual(json.loads(answer["body"]).get("error"), "user_not_found", url)

    def test_correlation_ids_of_each_client(self):
        for given, kept in (("6F9619FF-8B86-D011-B42D-00CF4FC964FF", True), ("6f9619ff-8b86-d011-b42d-00cf4fc964ff", True),
                            ("UNSET", False), ("", False), ("6f9619ff8b86d011b42d00cf4fc964ff", False)):
            response, answer = self.json_answer("oauth2/v2.0/initiate", "client_id=mobile", headers={"client-request-id": given})
            self.assertEqual(response.headers["client-request-id"] == given, kept, given)
            self.assertEqual(answer["correlation_id"], response.headers["client-request-id"])

    def test_descriptions_have_the_permitted_characters_only(self):
        for grant in ('"quoted"', "back\\slash", "gr\u00fc\u00df dich", "line\nfeed"):
            answer = self.post(TOKEN, 400, grant_type=grant)
            self.assertRegex(answer["error_description"], r"^[\x20-\x21\x23-\x5b\x5d-\x7e]+$")


class Steps(Scenarios):
    def test_wrong_grant_types_and_missing_parameters_change_nothing(self):
        path = "signup/v1.0/continue"
        token = self.challenge("signup/v1.0/challenge", self.start("signup/v1.0/start", password=PASSWORD))
        for form, wanted in (({}, ("invalid_request", 900144, None)), ({"grant_type": "OOB", "oob": "1"}, ("invalid_grant", 70003, None)),
                             ({"grant_type": "oob"}, ("invalid_request", 900144, None)),
                             ({"grant_type": "oob", "oob": ""}, ("invalid_grant", 50181, "invalid_oob_value")),
                             ({"grant_type": "password"}, ("invalid_request", 900144, None)),
                             ({"grant_type": "attributes"}, ("invalid_request", 900144, None)),
                             ({"grant_type": "attributes", "attributes": "nonsense"}, ("invalid_request", 90100, None)),
                             ({"grant_type": "attributes", "attributes": '{"city":'}, ("invalid_request", 90100, None)),
                             ({"grant_type": "continuation_token"}, ("invalid_grant", 70003, None))):
            with self.subTest(form=form):
                self.error(path, wanted, continuation_token=token, **form)
        self.error(path, ("invalid_request", 900144, None), grant_type="oob", oob="1")
        self.post(path, continuation_token=token, grant_type="oob", oob=self.code())

    def test_attributes_of_every_type(self):
        self.call("tenant.update", tenantId="shop", attributes=[
            {"name": "age", "type": "integer", "required": True}, {"name": "terms", "type": "boolean", "required": True},
            {"name": "city", "type": "string", "required": True}])
        path = "signup/v1.0/continue"
        for number, (age, terms) in enumerate(((40, True), ("40", "true"), ("-1", "TRUE"))):
            name = f"user{number}@example.com"
            token = self.challenge("signup/v1.0/challenge", self.start("signup/v1.0/start", name, password=PASSWORD))
            step = self.error(path, ("attributes_required", 55106, None), continuation_token=token, grant_type="oob", oob=self.code(name))
            self.assertEqual([(each["name"], each["type"]) for each in step["required_attributes"]],
                             [("age", "integer"), ("terms", "boolean"), ("city", "string")])
            token = step["continuation_token"]
            for wrong, names in (({"age": "4.5"}, ["age"]), ({"age": [1], "terms": {}, "city": 7}, ["age", "terms", "city"])):
                form = {"continuation_token": token, "grant_type": "attributes", "attributes": json.dumps(wrong)}
                answer = self.error(path, ("invalid_grant", 1002027, "attribute_validation_failed"), **form)
                self.assertEqual(sorted(each["name"] for each in answer["invalid_attributes"]), sorted(names))
            # One attribute on each page, as MSAL's tests submit them: from the newest state, or from the first one again.
            step = self.error(path, ("attributes_required", 55106, None), continuation_token=token, grant_type="attributes", attributes=json.dumps({"age": age}))
            self.assertEqual([each["name"] for each in step["required_attributes"]], ["terms", "city"])
            step = self.error(path, ("attributes_required", 55106, None), continuation_token=token, grant_type="attributes", attributes=json.dumps({"terms": terms}))
            self.assertEqual([each["name"] for each in step["required_attributes"]], ["city"])
            done = self.post(path, continuation_token=token, grant_type="attributes", attributes='{"city": "Dublin", "extension_1_shoe": "44"}')
            self.redeem(done["continuation_token"], username=name)

    def test_passwords_are_refused_with_the_suberror_of_the_rule(self):
        wanted = {"Sh0rt!": "password_too_short", "aB3!" * 65: "password_too_long", "alllowercase": "password_too_weak", "Grüße-aus-Köln1": "password_is_invalid"}
        for password, suberror in wanted.items():
            self.error("signup/v1.0/start", ("invalid_grant", 399246, suberror), username=ALICE, challenge_type=ALL, password=password)
        self.sign_up()
        token = self.challenge("resetpassword/v1.0/challenge", self.start("resetpassword/v1.0/start"))
        token = self.post("resetpassword/v1.0/continue", continuation_token=token, grant_type="oob", oob=self.code())["continuation_token"]
        for password, suberror in {**wanted, PASSWORD: "password_recently_used"}.items():
            self.error("resetpassword/v1.0/submit", ("invalid_grant", 399246, suberror), continuation_token=token, new_password=password)
        self.error("resetpassword/v1.0/submit", ("invalid_request", 900144, None), continuation_token=token, new_password="")
        token = self.post("resetpassword/v1.0/submit", continuation_token=token, new_password=" another Horse & 7+staple% ")["continuation_token"]
        done = self.post("resetpassword/v1.0/poll_completion", continuation_token=token)
        self.redeem(done["continuation_token"], username="ALICE@example.com")
        token = self.challenge("oauth2/v2.0/challenge", self.start("oauth2/v2.0/initiate"))
        self.post(TOKEN, continuation_token=token, grant_type="password", password=" another Horse & 7+staple% ")

    def test_sign_in_after_sign_up_names_the_user_of_the_flow(self):
        token = self.sign_up()
        self.error(TOKEN, ("invalid_request", 90100, None), continuation_token=token, grant_type="continuation_token", username="other@example.com")
        self.redeem(token, username="Alice@Example.COM")

    def test_account_created_elsewhere_while_signing_up(self):
        token = self.challenge("signup/v1.0/challenge", self.start("signup/v1.0/start", password=PASSWORD))
        self.sign_up()
        self.error("signup/v1.0/continue", ("user_already_exists", 1003037, None), continuation_token=token, grant_type="oob", oob=self.sent()[0])

    def test_account_that_is_locked_disabled_or_must_change_its_password(self):
        account = self.claims(self.redeem(self.sign_up())["id_token"])["sub"]
        token = self.challenge("oauth2/v2.0/challenge", self.start("oauth2/v2.0/initiate"))
        for number in range(10):
            self.error(TOKEN, ("invalid_grant", 50126, None), continuation_token=token, grant_type="password", password=f"Wrong password {number}")
        self.error(TOKEN, ("invalid_grant", 50053, None), continuation_token=token, grant_type="password", password=PASSWORD)
        self.call("test.clock", advanceSeconds=61)
        self.post(TOKEN, continuation_token=token, grant_type="password", password=PASSWORD)
        self.call("account.update", accountId=account, disabled=True)
        self.error("oauth2/v2.0/initiate", ("access_denied", 50057, None), username=ALICE, challenge_type=ALL)

    def test_password_that_must_be_changed(self):
        account = self.claims(self.redeem(self.sign_up())["id_token"])["sub"]
        token = self.challenge("oauth2/v2.0/challenge", self.start("oauth2/v2.0/initiate"))
        self.call("account.update", accountId=account, mustChangePassword=True)
        self.error(TOKEN, ("invalid_grant", 50126, None), continuation_token=token, grant_type="password", password="wrong")
        self.error(TOKEN, ("invalid_request", 50142, None), continuation_token=token, grant_type="password", password=PASSWORD)
        token = self.challenge("resetpassword/v1.0/challenge", self.start("resetpassword/v1.0/start"))
        token = self.post("resetpassword/v1.0/continue", continuation_token=token, grant_type="oob", oob=self.code())["continuation_token"]
        token = self.post("resetpassword/v1.0/submit", continuation_token=token, new_password="another Horse 7 staple")["continuation_token"]
        self.redeem(self.post("resetpassword/v1.0/poll_completion", continuation_token=token)["continuation_token"])

    def test_account_deleted_during_a_flow(self):
        account = self.claims(self.redeem(self.sign_up())["id_token"])["sub"]
        other = self.challenge("oauth2/v2.0/challenge", self.start("oauth2/v2.0/initiate"))
        token = self.challenge("resetpassword/v1.0/challenge", self.start("resetpassword/v1.0/start"))
        token = self.post("resetpassword/v1.0/continue", continuation_token=token, grant_type="oob", oob=self.code())["continuation_token"]
        token = self.post("resetpassword/v1.0/submit", continuation_token=token, new_password="another Horse 7 staple")["continuation_token"]
        self.call("account.delete", accountId=account)
        self.error("resetpassword/v1.0/poll_completion", ("user_not_found", 50034, None), continuation_token=token)
        self.error(TOKEN, ("invalid_grant", 55200, None), continuation_token=token, grant_type="continuation_token")
        self.error(TOKEN, ("invalid_grant", 55200, None), continuation_token=other, grant_type="password", password=PASSWORD)

    def test_challenge_of_an_application_that_names_other_types_than_at_the_start(self):
        self.signed_up_twice()
        for path, start, username, types, missing in (
                ("signup/v1.0/challenge", "signup/v1.0/start", "new@example.com", "password redirect", "oob"),
                ("oauth2/v2.0/challenge", "oauth2/v2.0/initiate", ALICE, "oob redirect", "password"),
                ("oauth2/v2.0/challenge", "oauth2/v2.0/initiate", CODE, "password redirect", "oob"),
                ("resetpassword/v1.0/challenge", "resetpassword/v1.0/start", ALICE, "password redirect", "oob")):
            token = self.start(start, username)
            for given in (types, "redirect"):
                answer = self.post(path, continuation_token=token, challenge_type=given)
                self.assertEqual(answer, {"challenge_type": "redirect", "redirect_reason": f"challenge type {missing} is required"})
            self.error(path, ("unsupported_challenge_type", 901007, None), continuation_token=token, challenge_type="oob password")
            self.error(path, ("invalid_request", 901007, None), continuation_token=token, challenge_type="OOB redirect")
            self.challenge(path, token)

    def test_phrases_that_programs_look_for(self):
        self.call("tenant.update", tenantId="shop", audiences=["api://orders"], audienceScopes=[{"audience": "api://orders", "scopes": ["read"]}])
        self.signed_up_twice()
        answer = self.error("resetpassword/v1.0/start", ("invalid_request", 500222, None), username=CODE, challenge_type=ALL)
        self.assertIn("The tenant or user does not support native credential recovery.", answer["error_description"])
        token = self.challenge("oauth2/v2.0/challenge", self.start("oauth2/v2.0/initiate"))
        answer = self.error(TOKEN, ("invalid_scope", 70011, None), continuation_token=token, grant_type="password", password=PASSWORD,
                            scope="api://orders/Lorum.Ipsum openid")
        self.assertIn(65001, answer["error_codes"])
        self.assertIn("AADSTS65001: The user or administrator has not consented to use the application", answer["error_description"])
        tokens = self.post(TOKEN, continuation_token=token, grant_type="password", password=PASSWORD, scope="openid offline_access")
        answer = self.error(TOKEN, ("invalid_scope", 70011, None), grant_type="refresh_token", refresh_token=tokens["refresh_token"], scope="Calendar.Read")
        self.assertIn("Send an interactive authorization request for this user and resource.", answer["error_description"])
        self.post(TOKEN, grant_type="refresh_token", refresh_token=tokens["refresh_token"])

    def test_session_that_has_ended(self):
        self.call("tenant.update", tenantId="shop", tokens={"sessionSeconds": 3600})
        tokens = self.redeem(self.sign_up())
        form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
        self.call("test.clock", advanceSeconds=3601)
        self.error(TOKEN, ("invalid_grant", 700082, None), **form)


class Factors(Scenarios):
    def setUp(self):
        super().setUp()
        self.sign_up()
        self.call("tenant.update", tenantId="shop", mfa="required")

    def registered(self, target=NUMBER, channel="sms"):
        """Registers a second factor and signs in."""
        token = self.first_factor("registration_required")
        token = self.post("register/v1.0/challenge", continuation_token=token, challenge_type="oob", challenge_channel=channel,
                          challenge_target=target)["continuation_token"]
        token = self.post("register/v1.0/continue", continuation_token=token, grant_type="oob", oob=self.code(target))["continuation_token"]
        return self.redeem(token)

    def test_registration_right_after_a_sign_up_with_the_hint_of_the_method(self):
        token = self.sign_up("new@example.com", **MFA)
        step = self.error(TOKEN, ("invalid_grant", 50076, "registration_required"), continuation_token=token, grant_type="continuation_token",
                          username="new@example.com", scope="openid offline_access", claims='{"access_token":{"acrs":{"essential":true,"value":"c4"}}}')
        found = self.post("register/v1.0/introspect", continuation_token=step["continuation_token"])
        # MSAL for Android registers the hint of the method if the program names no contact.
        hint = next(each["login_hint"] for each in found["methods"] if each["challenge_channel"] == "email")
        answer = self.post("register/v1.0/challenge", continuation_token=found["continuation_token"], challenge_type="oob", challenge_channel="email", challenge_target=hint)
        self.assertEqual(answer["challenge_type"], "preverified")
        token = self.post("register/v1.0/continue", continuation_token=answer["continuation_token"], grant_type="continuation_token")["continuation_token"]
        tokens = self.redeem(token, username="other@example.com")   # ignored after a registration
        self.assertEqual((tokens["scope"], self.claims(tokens["id_token"])["preferred_username"]), ("openid profile offline_access", "new@example.com"))

    def test_registration_of_another_address(self):
        token = self.first_factor("registration_required", scope="openid offline_access")
        form = {"challenge_type": "oob", "challenge_channel": "email", "challenge_target": "second@example.com"}
        for target in ("nobody", "+123", " ", "", "a" * 400):
            self.error("register/v1.0/challenge", ("invalid_request", 901001, None), continuation_token=token, **{**form, "challenge_target": target})
        self.error("register/v1.0/challenge", ("invalid_request", 900144, None), continuation_token=token, challenge_type="oob")
        self.error("register/v1.0/challenge", ("invalid_request", 901007, None), continuation_token=token, **{**form, "challenge_type": "password"})
        self.error("register/v1.0/challenge", ("invalid_request", 901001, None), continuation_token=token, **{**form, "challenge_channel": "voice"})
        sent = self.post("register/v1.0/challenge", continuation_token=token, **form)
        self.assertEqual((sent["challenge_target"], sent["challenge_channel"]), ("second@example.com", "email"))
        token = sent["continuation_token"]
        self.error("register/v1.0/continue", ("invalid_grant", 50181, "invalid_oob_value"), continuation_token=token, grant_type="oob", oob="invalid")
        old = self.code("second@example.com")
        token = self.post("register/v1.0/challenge", continuation_token=token, **form)["continuation_token"]
        self.assertNotEqual(self.code("second@example.com"), old)
        self.error("register/v1.0/continue", ("invalid_grant", 50181, "invalid_oob_value"), continuation_token=token, grant_type="oob", oob=old)
        token = self.post("register/v1.0/continue", continuation_token=token, grant_type="oob", oob=self.code("second@example.com"))["continuation_token"]
        self.error("register/v1.0/continue", ("invalid_request", 55200, None), continuation_token=token, grant_type="oob", oob="00000000")
        self.assertEqual(self.redeem(token, scope=None or "")["scope"], "openid offline_access")

    def test_contact_that_adds_no_security(self):
        self.account(CODE, tenantId="shop")
        token = self.challenge("oauth2/v2.0/challenge", self.start("oauth2/v2.0/initiate", CODE, **MFA))
        step = self.error(TOKEN, ("invalid_grant", 50076, "registration_required"), continuation_token=token, grant_type="oob", oob=self.code(CODE))
        found = self.post("register/v1.0/introspect", continuation_token=step["continuation_token"])
        self.error("register/v1.0/challenge", ("invalid_request", 901001, None), continuation_token=found["continuation_token"], challenge_type="oob",
                   challenge_channel="email", challenge_target=CODE)
        self.post("register/v1.0/challenge", continuation_token=found["continuation_token"], challenge_type="oob", challenge_channel="sms", challenge_target=NUMBER)

    def test_second_factor_as_the_clients_ask_for_it(self):
        self.registered()
        token = self.first_factor("mfa_required", scope="openid offline_access")
        sent = self.post("oauth2/v2.0/challenge", continuation_token=token, challenge_type=ALL)    # without introspect: the only method
        token = sent["continuation_token"]
        for wrong in ("invalid", "", "00000000"):
            self.error(TOKEN, ("invalid_grant", 50181, "invalid_oob_value"), continuation_token=token, grant_type="mfa_oob", oob=wrong)
        self.error(TOKEN, ("invalid_request", 900144, None), continuation_token=token, grant_type="mfa_oob")
        found = self.post("oauth2/v2.0/introspect", continuation_token=token)
        self.assertEqual([each["challenge_channel"] for each in found["methods"]], ["sms"])
        self.error("oauth2/v2.0/challenge", ("invalid_request", 90100, None), continuation_token=found["continuation_token"], id="none")
        old = self.code(NUMBER)
        token = self.post("oauth2/v2.0/challenge", continuation_token=found["continuation_token"], id=found["methods"][0]["id"])["continuation_token"]
        self.error(TOKEN, ("invalid_grant", 50181, "invalid_oob_value"), continuation_token=token, grant_type="mfa_oob", oob=old)
        tokens = self.post(TOKEN, continuation_token=token, grant_type="mfa_oob", oob=self.code(NUMBER), scope="openid offline_access")
        self.assertEqual(tokens["scope"], "openid offline_access")
        self.error(TOKEN, ("invalid_grant", 55200, None), continuation_token=token, grant_type="mfa_oob", oob="00000000")

    def test_scopes_of_the_last_request_decide(self):
        self.registered()
        token = self.challenge("oauth2/v2.0/challenge", self.first_factor("mfa_required"))
        self.error(TOKEN, ("invalid_scope", 70011, None), continuation_token=token, grant_type="mfa_oob", oob=self.code(NUMBER), scope="none")
        self.error(TOKEN, ("invalid_grant", 50181, "invalid_oob_value"), continuation_token=token, grant_type="mfa_oob", oob="00000000", scope="openid")
        form = {"continuation_token": token, "grant_type": "mfa_oob", "oob": self.code(NUMBER), "scope": "openid profile offline_access"}
        answers = self.together(TOKEN, **form)
        tokens = [each for each in answers if "access_token" in each]
        self.assertEqual([each["scope"] for each in tokens], ["openid profile offline_access"], answers)
        self.assertEqual({each["error_codes"][0] for each in answers if "error" in each}, {55200})
        claims = self.claims(tokens[0]["id_token"])
        self.assertEqual((claims["amr"], "refresh_token" in tokens[0]), (["pwd", "sms", "mfa"], True))
        token = self.challenge("oauth2/v2.0/challenge", self.first_factor("mfa_required", scope="openid offline_access"))
        self.assertEqual(self.post(TOKEN, continuation_token=token, grant_type="mfa_oob", oob=self.code(NUMBER))["scope"], "openid offline_access")

    def test_application_that_cannot_read_codes_is_redirected_before_one_is_sent(self):
        self.registered()
        token = self.challenge("oauth2/v2.0/challenge", self.start("oauth2/v2.0/initiate", types="password redirect", **MFA), "password redirect")
        token = self.error(TOKEN, ("invalid_grant", 50076, "mfa_required"), continuation_token=token, grant_type="password", password=PASSWORD)["continuation_token"]
        answer = self.post("oauth2/v2.0/challenge", continuation_token=token, challenge_type="password redirect")
        self.assertEqual(answer, {"challenge_type": "redirect", "redirect_reason": "challenge type oob is required"})

    def test_contact_that_a_hook_blocks(self):
        self.registered()
        token = self.first_factor("mfa_required")
        self.sign_up("new@example.com")
        fresh = self.first_factor("registration_required", "new@example.com")
        refusing = [True]
        Host(self.sidecar, lambda hook, params: {"refuse": "This number is blocked."} if refusing[0] else None)
        self.call("hooks.set", tenantId="shop", beforeSendMessage=PIPE)
        blocked = ("access_denied", 550024, "provider_blocked_by_rep")
        form = {"continuation_token": fresh, "challenge_type": "oob", "challenge_channel": "sms", "challenge_target": OTHER}
        self.error("oauth2/v2.0/challenge", blocked, continuation_token=token)
        self.error("register/v1.0/challenge", blocked, **form)
        refusing[0] = False
        self.post("oauth2/v2.0/challenge", continuation_token=token)
        self.post("register/v1.0/challenge", **form)
