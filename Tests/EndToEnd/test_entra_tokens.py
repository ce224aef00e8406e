"""The native authentication API of Microsoft Entra: continuation tokens at every endpoint to which they do not belong, and requests at the same time."""

import json
import urllib.parse

from entrahttp import ALL, MFA, NUMBER, EntraHTTP
from nativeflows import ALICE, PASSWORD

CODE = "code@example.com"
TOKEN = "oauth2/v2.0/token"
# One request to each endpoint that takes a continuation token, complete except for the token.
FORMS = {
    "signup/v1.0/challenge": {"challenge_type": ALL},
    "signup/v1.0/continue": {"grant_type": "oob", "oob": "00000000"},
    "signup/v1.0/continue password": {"grant_type": "password", "password": PASSWORD},
    "signup/v1.0/continue attributes": {"grant_type": "attributes", "attributes": '{"city": "Rome"}'},
    "oauth2/v2.0/challenge": {"challenge_type": ALL}, "oauth2/v2.0/introspect": {},
    TOKEN: {"grant_type": "continuation_token"}, TOKEN + " mfa_oob": {"grant_type": "mfa_oob", "oob": "00000000"},
    "resetpassword/v1.0/challenge": {"challenge_type": ALL}, "resetpassword/v1.0/continue": {"grant_type": "oob", "oob": "00000000"},
    "resetpassword/v1.0/submit": {"new_password": "another Horse 7 staple"}, "resetpassword/v1.0/poll_completion": {},
    "register/v1.0/introspect": {}, "register/v1.0/challenge": {"challenge_type": "oob", "challenge_target": NUMBER, "challenge_channel": "sms"},
    "register/v1.0/continue": {"grant_type": "oob", "oob": "00000000"},
}


class ForeignTokens(EntraHTTP):
    def setUp(self):
        super().setUp()
        self.call("application.put", tenantId="shop", clientId="web")
        self.call("tenant.create", tenantId="other")
        self.call("application.put", tenantId="other", clientId="mobile")

    def refused_elsewhere(self, token, *fitting):
        """Sends the token to all endpoints but the fitting ones, and to those for another client and tenant."""
        for name, form in FORMS.items():
            path = name.split()[0]
            wanted = ("invalid_grant" if path == TOKEN else "invalid_request", 55200, None)
            with self.subTest(endpoint=name):
                self.error(path, wanted, continuation_token=token, client_id="web", **form)
                self.error(path, wanted, continuation_token=token, tenant="other", **form)
                self.error(path, wanted, continuation_token="nonsense", **form)
                if name not in fitting:
                    self.error(path, wanted, continuation_token=token, **form)
        return token

    def test_steps_of_a_sign_up(self):
        self.call("tenant.update", tenantId="shop", attributes=[{"name": "city", "type": "string", "required": True}])
        # Password and attributes are welcome before the code.
        early = ("signup/v1.0/continue password", "signup/v1.0/continue attributes")
        token = self.refused_elsewhere(self.start("signup/v1.0/start"), "signup/v1.0/challenge", *early)
        token = self.challenge("signup/v1.0/challenge", token)
        self.refused_elsewhere(token, "signup/v1.0/challenge", "signup/v1.0/continue", *early)
        path = "signup/v1.0/continue"
        token = self.error(path, ("credential_required", 55103, None), continuation_token=token, grant_type="oob", oob=self.code())["continuation_token"]
        self.refused_elsewhere(token, "signup/v1.0/challenge", path + " password", path + " attributes")
        token = self.error(path, ("attributes_required", 55106, None), continuation_token=token, grant_type="password",
                           password=PASSWORD)["continuation_token"]
        self.refused_elsewhere(token, path + " attributes")
        token = self.post(path, continuation_token=token, grant_type="attributes", attributes='{"city": "Rome"}')["continuation_token"]
        self.refused_elsewhere(token, TOKEN)
        self.redeem(token)
        self.error(TOKEN, ("invalid_grant", 55200, None), continuation_token=token, grant_type="continuation_token")

    def test_password_and_attributes_before_the_code(self):
        token = self.challenge("signup/v1.0/challenge", self.start("signup/v1.0/start"))
        for form in ({"grant_type": "attributes", "attributes": '{"city": "Rome"}'}, {"grant_type": "password", "password": PASSWORD}):
            step = self.error("signup/v1.0/continue", ("verification_required", 55104, None), continuation_token=token, **form)
            self.assertEqual(step["unverified_attributes"], [{"name": "username"}])
            token = step["continuation_token"]
        token = self.post("signup/v1.0/continue", continuation_token=token, grant_type="oob", oob=self.code())["continuation_token"]
        self.redeem(token)

    def test_steps_of_a_sign_in(self):
        self.sign_up()
        token = self.refused_elsewhere(self.start("oauth2/v2.0/initiate"), "oauth2/v2.0/challenge")
        token = self.refused_elsewhere(self.challenge("oauth2/v2.0/challenge", token), "oauth2/v2.0/challenge")
        self.post(TOKEN, continuation_token=token, grant_type="password", password=PASSWORD)
        self.account(CODE, tenantId="shop")
        token = self.refused_elsewhere(self.start("oauth2/v2.0/initiate", CODE), "oauth2/v2.0/challenge")
        token = self.refused_elsewhere(self.challenge("oauth2/v2.0/challenge", token), "oauth2/v2.0/challenge")
        self.post(TOKEN, continuation_token=token, grant_type="oob", oob=self.code(CODE))

    def test_steps_of_a_reset(self):
        self.sign_up()
        token = self.refused_elsewhere(self.start("resetpassword/v1.0/start"), "resetpassword/v1.0/challenge")
        token = self.challenge("resetpassword/v1.0/challenge", token)
        self.refused_elsewhere(token, "resetpassword/v1.0/challenge", "resetpassword/v1.0/continue")
        token = self.post("resetpassword/v1.0/continue", continuation_token=token, grant_type="oob", oob=self.code())["continuation_token"]
        self.refused_elsewhere(token, "resetpassword/v1.0/submit", "resetpassword/v1.0/poll_completion")
        token = self.post("resetpassword/v1.0/submit", continuation_token=token, new_password="another Horse 7 staple")["continuation_token"]
        self.refused_elsewhere(token, "resetpassword/v1.0/poll_completion", TOKEN)
        self.redeem(self.post("resetpassword/v1.0/poll_completion", continuation_token=token)["continuation_token"])

    def test_steps_of_a_registration_and_a_second_factor(self):
        self.sign_up()
        self.call("tenant.update", tenantId="shop", mfa="required")

        def first_factor(suberror):
            token = self.challenge("oauth2/v2.0/challenge", self.start("oauth2/v2.0/initiate", **MFA))
            return self.error(TOKEN, ("invalid_grant", 50076, suberror), continuation_token=token, grant_type="password",
                              password=PASSWORD)["continuation_token"]

        token = self.refused_elsewhere(first_factor("registration_required"), "register/v1.0/introspect", "register/v1.0/challenge")
        token = self.post("register/v1.0/challenge", continuation_token=token, **FORMS["register/v1.0/challenge"])["continuation_token"]
        self.refused_elsewhere(token, "register/v1.0/challenge", "register/v1.0/continue")
        token = self.post("register/v1.0/continue", continuation_token=token, grant_type="oob", oob=self.code(NUMBER))["continuation_token"]
        self.refused_elsewhere(token, TOKEN)
        self.redeem(token)
        token = first_factor("mfa_required")
        self.refused_elsewhere(token, "oauth2/v2.0/introspect", "oauth2/v2.0/challenge", TOKEN + " mfa_oob")
        token = self.challenge("oauth2/v2.0/challenge", token)
        self.refused_elsewhere(token, "oauth2/v2.0/introspect", "oauth2/v2.0/challenge", TOKEN + " mfa_oob")
        self.post(TOKEN, continuation_token=token, grant_type="mfa_oob", oob=self.code(NUMBER))

    def test_challenges_at_the_same_time_send_one_code(self):
        token = self.start("signup/v1.0/start", password=PASSWORD)
        answers = self.together("signup/v1.0/challenge", continuation_token=token, challenge_type=ALL)
        good = {each["continuation_token"] for each in answers if "continuation_token" in each}
        # The others get an error that asks to repeat the request, until the message was sent.
        self.assertLessEqual({each["error"] for each in answers if "error" in each}, {"temporarily_unavailable"})
        self.assertEqual((len(good), len(self.sent())), (1, 1), answers)
        self.post("signup/v1.0/continue", continuation_token=good.pop(), grant_type="oob", oob=self.code())

    def test_requests_at_the_same_time_have_one_effect(self):
        token = self.challenge("signup/v1.0/challenge", self.start("signup/v1.0/start", password=PASSWORD))
        answers = self.together("signup/v1.0/continue", continuation_token=token, grant_type="oob", oob=self.code())
        token = {each["continuation_token"] for each in answers}
        self.assertEqual(len(token), 1, answers)
        answers = self.together(TOKEN, continuation_token=token.pop(), grant_type="continuation_token", scope="openid offline_access")
        tokens = [each for each in answers if "access_token" in each]
        self.assertEqual(len(tokens), 1, answers)
        self.assertEqual({each["error_codes"][0] for each in answers if "error" in each}, {55200})
        self.assertEqual(len(self.call("account.list", tenantId="shop")["accounts"]), 1)
        account = self.claims(tokens[0]["id_token"])["sub"]
        self.assertEqual(len(self.call("session.list", accountId=account)["sessions"]), 1)

    def test_limits_of_a_client_are_429_with_retry_after(self):
        form = {"client_id": "mobile", "username": ALICE, "challenge_type": ALL}
        for _ in range(400):
            answer = self.sidecar.call("compat.http", {
                "method": "POST", "url": "https://login.example.com/shop/oauth2/v2.0/initiate", "body": urllib.parse.urlencode(form),
                "headers": {"Content-Type": "application/x-www-form-urlencoded", "X-Forwarded-For": "192.0.2.7, 10.0.0.1"}})
            if answer["status"] == 429:
                break
        body = json.loads(answer["body"])
        self.assertEqual((answer["status"], body["error"], body["error_codes"]), (429, "temporarily_unavailable", [50196]), body)
        headers = {name.lower(): value for name, value in answer["headers"].items()}
        self.assertGreater(int(headers["retry-after"]), 0)
        self.post("oauth2/v2.0/initiate", 400, username=ALICE, challenge_type=ALL)   # the HTTP server for tests has no such limit

    def test_pages_and_their_origins(self):
        self.call("application.put", tenantId="shop", clientId="mobile", origins=["https://shop.example.com"])
        self.call("application.put", tenantId="shop", clientId="web", origins=["https://web.example.com"])
        self.call("application.put", tenantId="shop", clientId="shop", origins=["https://none.example.com"])
        for path in ("signup/v1.0/start", "oauth2/v2.0/token", "v2.0/.well-known/openid-configuration"):
            for origin, allowed in (("https://shop.example.com", True), ("https://web.example.com", True), ("https://evil.example.com", False)):
                response, _ = self.raw(path, None, "OPTIONS", {"Origin": origin})
                self.assertEqual((response.status, response.headers["access-control-allow-origin"]), (204, origin if allowed else None))
                self.assertIsNone(response.headers["access-control-allow-credentials"])
                self.assertEqual(response.headers["access-control-max-age"], "600" if allowed else None)
        body = urllib.parse.urlencode({"client_id": "mobile", "username": ALICE, "challenge_type": ALL})
        response, _ = self.raw("signup/v1.0/start", body, headers={"Origin": "https://web.example.com"})
        self.assertIsNone(response.headers["access-control-allow-origin"])   # the origin belongs to another application
        response, _ = self.raw("signup/v1.0/start", "client_id=none", headers={"Origin": "https://web.example.com"})
        self.assertIsNone(response.headers["access-control-allow-origin"])
