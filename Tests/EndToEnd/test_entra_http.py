"""The native authentication API of Microsoft Entra over HTTP: every response is checked with what MSAL's parsers require."""

import base64
import json
import urllib.parse

from entrahttp import ALL, MFA, NUMBER, EntraHTTP
from nativeflows import ALICE, PASSWORD


class EntraAPI(EntraHTTP):
    def test_sign_up_with_password_and_attributes_asked_for_later(self):
        self.restarting = True
        self.sidecar.call("tenant.update", {"tenantId": "shop", "attributes": [
            {"name": "city", "type": "string", "required": True, "pattern": "^[A-Z].*$"}, {"name": "consent", "type": "boolean", "required": True}]})
        token = self.challenge("signup/v1.0/challenge", self.start("signup/v1.0/start", "Alice@Example.com"))
        path = "signup/v1.0/continue"
        for wrong in ("00000000", "12ab5678", "1"):
            self.error(path, ("invalid_grant", 50181, "invalid_oob_value"), continuation_token=token, grant_type="oob", oob=wrong)
        step = self.error(path, ("credential_required", 55103, None), continuation_token=token, grant_type="oob", oob=self.code("Alice@Example.com"))
        answer = self.post("signup/v1.0/challenge", continuation_token=step["continuation_token"], challenge_type=ALL)
        self.assertEqual(answer["challenge_type"], "password")
        token = answer["continuation_token"]
        self.error(path, ("invalid_grant", 399246, "password_too_short"), continuation_token=token, grant_type="password", password="Sh0rt")
        step = self.error(path, ("attributes_required", 55106, None), continuation_token=token, grant_type="password", password=PASSWORD)
        self.assertEqual(step["required_attributes"], [
            {"name": "city", "type": "string", "required": True, "options": {"regex": "^[A-Z].*$"}}, {"name": "consent", "type": "boolean", "required": True}])
        token = step["continuation_token"]
        invalid = self.error(path, ("invalid_grant", 1002027, "attribute_validation_failed"), continuation_token=token, grant_type="attributes",
                             attributes='{"city": "rome", "consent": "maybe"}')
        self.assertEqual(invalid["invalid_attributes"], [{"name": "city"}, {"name": "consent"}])
        self.error(path, ("attributes_required", 55106, None), continuation_token=token, grant_type="attributes", attributes='{"city": "Rome", "shoe": 1}')
        token = self.post(path, continuation_token=token, grant_type="attributes", attributes='{"consent": true}')["continuation_token"]
        tokens = self.redeem(token, username="alice@example.com")
        claims = self.claims(tokens["id_token"])
        self.assertEqual((claims["aud"], claims["tid"], claims["oid"], claims["preferred_username"], claims["ver"]),
                         ("mobile", "shop", claims["sub"], "Alice@Example.com", "2.0"))
        info = tokens["client_info"]
        self.assertEqual(json.loads(base64.urlsafe_b64decode(info + "=" * (-len(info) % 4))), {"uid": claims["oid"], "utid": "shop"})
        self.error("oauth2/v2.0/token", ("invalid_grant", 55200, None), continuation_token=token, grant_type="continuation_token")

    def test_sign_in_with_password_and_refresh(self):
        self.sign_up()
        self.restarting = True
        self.error("oauth2/v2.0/initiate", ("user_not_found", 50034, None), username="none@example.com", challenge_type="redirect")
        token = self.start("oauth2/v2.0/initiate")
        answer = self.post("oauth2/v2.0/challenge", continuation_token=token, challenge_type=ALL)
        self.assertEqual(answer["challenge_type"], "password")
        token = answer["continuation_token"]
        self.error("oauth2/v2.0/token", ("invalid_grant", 50126, None), continuation_token=token, grant_type="password", password="wrong")
        self.error("oauth2/v2.0/token", ("invalid_grant", 400002, None), continuation_token=token, grant_type="oob", oob="12345678")
        self.error("oauth2/v2.0/token", ("invalid_scope", 70011, None), continuation_token=token, grant_type="password", password=PASSWORD, scope="none")
        tokens = self.post("oauth2/v2.0/token", continuation_token=token, grant_type="password", password=PASSWORD, scope="openid offline_access")
        self.assertEqual(set(tokens) & {"id_token", "refresh_token"}, {"id_token", "refresh_token"})
        self.error("oauth2/v2.0/token", ("invalid_grant", 70000, None), refresh_token="nonsense", grant_type="refresh_token")
        fresh = self.post("oauth2/v2.0/token", grant_type="refresh_token", refresh_token=tokens["refresh_token"])
        self.assertEqual(fresh["scope"], "openid offline_access")
        self.call("application.put", tenantId="shop", clientId="web")
        self.error("oauth2/v2.0/token", ("invalid_grant", 70000, None), client_id="web", grant_type="refresh_token", refresh_token=fresh["refresh_token"])
        bare = self.post("oauth2/v2.0/token", grant_type="refresh_token", refresh_token=fresh["refresh_token"], scope="openid")
        self.assertNotIn("refresh_token", bare)

    def test_scopes_name_their_audience(self):
        self.call("tenant.update", tenantId="shop", audiences=["api://orders", "api://stock"], audienceScopes=[
            {"audience": "api://orders", "scopes": ["read", "write"]}, {"audience": "api://stock", "scopes": ["count"]}])
        token = self.sign_up()
        self.error("oauth2/v2.0/token", ("invalid_scope", 70011, None), continuation_token=token, grant_type="continuation_token",
                   scope="api://orders/read api://stock/count")
        tokens = self.redeem(token, scope="openid offline_access api://orders/.default")
        self.assertEqual(tokens["scope"], "openid offline_access api://orders/read api://orders/write")
        self.assertEqual(self.claims(tokens["access_token"])["aud"], "api://orders")
        other = self.post("oauth2/v2.0/token", grant_type="refresh_token", refresh_token=tokens["refresh_token"],
                          scope="openid offline_access api://stock/count")
        self.assertEqual((self.claims(other["access_token"])["aud"], other["scope"]), ("api://stock", "openid offline_access api://stock/count"))

    def test_password_reset_until_tokens(self):
        self.sign_up()
        self.restarting = True
        token = self.challenge("resetpassword/v1.0/challenge", self.start("resetpassword/v1.0/start", types="oob redirect"), "oob redirect")
        self.error("resetpassword/v1.0/poll_completion", ("invalid_request", 55200, None), continuation_token=token)
        token = self.post("resetpassword/v1.0/continue", continuation_token=token, grant_type="oob", oob=self.code())["continuation_token"]
        self.assertEqual(self.post("resetpassword/v1.0/poll_completion", continuation_token=token), {"status": "not_started"})
        self.error("resetpassword/v1.0/submit", ("invalid_grant", 399246, "password_too_weak"), continuation_token=token, new_password="aaaaaaaaaaaa")
        token = self.post("resetpassword/v1.0/submit", continuation_token=token, new_password="another Horse 7 staple")["continuation_token"]
        for _ in range(2):
            done = self.post("resetpassword/v1.0/poll_completion", continuation_token=token)
            self.assertEqual(done["status"], "succeeded")
        self.redeem(done["continuation_token"])

    def test_registration_and_second_factor(self):
        self.sign_up()
        self.call("tenant.update", tenantId="shop", mfa="required")
        self.restarting = True
        token = self.challenge("oauth2/v2.0/challenge", self.start("oauth2/v2.0/initiate", **MFA))
        path = "oauth2/v2.0/token"
        step = self.error(path, ("invalid_grant", 50076, "registration_required"), continuation_token=token, grant_type="password", password=PASSWORD,
                          scope="openid profile offline_access")
        methods = self.post("register/v1.0/introspect", continuation_token=step["continuation_token"])
        self.assertEqual([(each["id"], each["login_hint"]) for each in methods["methods"]], [("email", ALICE), ("sms", "")])
        wrong = {"continuation_token": methods["continuation_token"], "challenge_type": "oob", "challenge_channel": "sms", "challenge_target": "12"}
        self.error("register/v1.0/challenge", ("invalid_request", 901001, None), **wrong)
        verified = self.post("register/v1.0/challenge", continuation_token=methods["continuation_token"], challenge_type="oob", challenge_target=ALICE)
        self.assertEqual(verified["challenge_type"], "preverified")
        sent = self.post("register/v1.0/challenge", **{**wrong, "continuation_token": verified["continuation_token"], "challenge_target": NUMBER})
        self.assertEqual(sent["challenge_target"], NUMBER)
        token = sent["continuation_token"]
        self.error("register/v1.0/continue", ("invalid_request", 55200, None), continuation_token=token, grant_type="continuation_token")
        self.error("register/v1.0/continue", ("invalid_grant", 50181, "invalid_oob_value"), continuation_token=token, grant_type="oob", oob="00000000")
        done = self.post("register/v1.0/continue", continuation_token=token, grant_type="oob", oob=self.code(NUMBER))
        tokens = self.redeem(done["continuation_token"])
        self.assertIn("mfa", self.claims(tokens["id_token"])["amr"])
        token = self.challenge("oauth2/v2.0/challenge", self.start("oauth2/v2.0/initiate", **MFA))
        step = self.error(path, ("invalid_grant", 50076, "mfa_required"), continuation_token=token, grant_type="password", password=PASSWORD)
        methods = self.post("oauth2/v2.0/introspect", continuation_token=step["continuation_token"])
        sent = self.post("oauth2/v2.0/challenge", continuation_token=methods["continuation_token"], id=methods["methods"][0]["id"])
        self.assertEqual(sent["challenge_channel"], "sms")
        self.error(path, ("invalid_grant", 50181, "invalid_oob_value"), continuation_token=sent["continuation_token"], grant_type="mfa_oob", oob="00000000")
        self.post(path, continuation_token=sent["continuation_token"], grant_type="mfa_oob", oob=self.code(NUMBER))

    def test_redirects_send_nothing_and_name_what_is_missing(self):
        for types, missing in (("oob redirect", "password"), ("password redirect", "oob")):
            answer = self.post("signup/v1.0/start", username=ALICE, challenge_type=types)
            self.assertEqual(answer["redirect_reason"], f"challenge type {missing} is required")
        self.sign_up()
        self.assertIn("password", self.post("oauth2/v2.0/initiate", username=ALICE, challenge_type="oob redirect")["redirect_reason"])
        self.assertIn("oob", self.post("resetpassword/v1.0/start", username=ALICE, challenge_type="redirect")["redirect_reason"])
        self.call("tenant.update", tenantId="shop", mfa="required")
        token = self.challenge("oauth2/v2.0/challenge", self.start("oauth2/v2.0/initiate"))
        answer = self.post("oauth2/v2.0/token", continuation_token=token, grant_type="password", password=PASSWORD)
        self.assertEqual(answer["redirect_reason"], "capability registration_required is required")

    def test_refused_requests_have_the_codes_that_clients_read(self):
        path = "signup/v1.0/start"
        form = {"username": ALICE, "challenge_type": ALL}
        answer = self.raw(path, urllib.parse.urlencode(form))[1]
        self.assertIn("client_id parameter is empty or not valid", json.loads(answer)["error_description"])
        self.error(path, ("unauthorized_client", 700016, None), client_id="none", **form)
        self.error(path, ("invalid_request", 90002, None), tenant="nowhere", **form)
        self.call("application.put", tenantId="shop", clientId="off", nativeAuthentication=False)
        self.call("application.put", tenantId="shop", clientId="server", type="confidential")
        self.error(path, ("invalid_client", 550022, "nativeauthapi_disabled"), client_id="off", **form)
        self.error(path, ("invalid_client", 550022, None), client_id="server", **form)
        self.error(path, ("unsupported_challenge_type", 901007, None), username=ALICE, challenge_type="oob password")
        self.error(path, ("invalid_request", 901007, None), username=ALICE, challenge_type="oob redirect magic")
        self.error(path, ("invalid_request", 900144, None), username=ALICE)
        for username in ("", "nobody", "a" * 400):
            invalid = self.error(path, ("invalid_request", 90100, None), username=username, challenge_type=ALL)
            self.assertIn("username parameter is empty or not valid", invalid["error_description"])
        self.error(path, ("invalid_request", 90100, None), attributes="[]", **form)
        self.error("oauth2/v2.0/token", ("unsupported_grant_type", 70003, None), grant_type="magic")
        response, body = self.raw(path, "client_id=mobile&client_id=mobile")
        self.assertEqual((response.status, json.loads(body)["error_codes"]), (400, [90100]))
        response, body = self.raw(path, None, "GET")
        self.assertEqual((response.status, json.loads(body)["error"]), (405, "invalid_request"))
        response, body = self.raw(path, "client_id=" + "a" * 70_000)
        self.assertEqual(json.loads(body)["error_codes"], [90100])
        self.error(path, ("invalid_request", 90100, None), username="a\0b@example.com", challenge_type=ALL)

    def test_tokens_of_other_flows_clients_and_tenants_are_refused_without_effect(self):
        self.call("application.put", tenantId="shop", clientId="web")
        self.call("tenant.create", tenantId="other")
        self.call("application.put", tenantId="other", clientId="mobile")
        token = self.start("signup/v1.0/start")
        forms = {
            "signup/v1.0/challenge": {"challenge_type": ALL}, "signup/v1.0/continue": {"grant_type": "oob", "oob": "12345678"},
            "oauth2/v2.0/challenge": {}, "oauth2/v2.0/introspect": {}, "oauth2/v2.0/token": {"grant_type": "continuation_token"},
            "resetpassword/v1.0/challenge": {"challenge_type": ALL}, "resetpassword/v1.0/continue": {"grant_type": "oob", "oob": "12345678"},
            "resetpassword/v1.0/submit": {"new_password": PASSWORD}, "resetpassword/v1.0/poll_completion": {}, "register/v1.0/introspect": {},
            "register/v1.0/challenge": {"challenge_type": "oob", "challenge_target": ALICE}, "register/v1.0/continue": {"grant_type": "oob", "oob": "1"},
        }
        for path, form in forms.items():
            error = "invalid_grant" if path.endswith("token") else "invalid_request"
            self.error(path, (error, 55200, None), continuation_token="nonsense", **form)
            self.error(path, (error, 55200, None), continuation_token=token, client_id="web", **form)
            self.error(path, (error, 55200, None), continuation_token=token, tenant="other", **form)
            if not path.startswith("signup"):
                self.error(path, (error, 55200, None), continuation_token=token, **form)
        self.error("signup/v1.0/continue", ("invalid_request", 55200, None), continuation_token=token, grant_type="oob", oob="12345678")
        token = self.challenge("signup/v1.0/challenge", token)
        self.error("signup/v1.0/continue", ("credential_required", 55103, None), continuation_token=token, grant_type="oob", oob=self.code())

    def test_sign_in_with_a_code(self):
        self.account(tenantId="shop")
        self.restarting = True
        token = self.challenge("oauth2/v2.0/challenge", self.start("oauth2/v2.0/initiate"))
        self.error("oauth2/v2.0/token", ("invalid_grant", 50181, "invalid_oob_value"), continuation_token=token, grant_type="oob", oob="00000000")
        token = self.challenge("oauth2/v2.0/challenge", token)
        self.post("oauth2/v2.0/token", continuation_token=token, grant_type="oob", oob=self.code(), scope="openid offline_access")
        self.assertEqual(len(self.sent()), 2)

    def test_resend_replaces_the_code(self):
        self.restarting = True
        token = self.challenge("signup/v1.0/challenge", self.start("signup/v1.0/start", password=PASSWORD))
        again = self.challenge("signup/v1.0/challenge", token)
        old, new = self.sent()
        self.error("signup/v1.0/continue", ("invalid_grant", 50181, "invalid_oob_value"), continuation_token=again, grant_type="oob", oob=old)
        for _ in range(3):
            again = self.challenge("signup/v1.0/challenge", again)
        self.error("signup/v1.0/challenge", ("invalid_request", 701014, None), continuation_token=again, challenge_type=ALL)
        self.post("signup/v1.0/continue", continuation_token=again, grant_type="oob", oob=self.code())

    def test_expired_flow(self):
        self.call("test.clock", setAt=1_800_000_000, freeze=True)
        token = self.start("signup/v1.0/start")
        self.call("test.clock", advanceSeconds=601)
        self.error("signup/v1.0/challenge", ("expired_token", 552003, None), continuation_token=token, challenge_type=ALL)

    def test_addresses_of_the_tenant_and_discovery(self):
        for tenant in ("shop", "shop.onmicrosoft.com"):
            response, body = self.raw("v2.0/.well-known/openid-configuration", None, "GET", tenant=tenant)
            document = json.loads(body)
            self.assertEqual(document["token_endpoint"], f"{self.base}/shop/oauth2/v2.0/token")
        tokens = self.redeem(self.sign_up())
        self.assertEqual(self.claims(tokens["id_token"])["iss"], document["issuer"])
        keys = json.loads(self.raw("discovery/v2.0/keys", None, "GET")[1])["keys"]
        self.assertEqual({each["use"] for each in keys}, {"sig"})
        self.assertEqual(self.raw("oauth2/v2.0/authorize", None, "GET")[0].status, 404)
        answer = self.sidecar.call("compat.http", {
            "method": "POST", "url": "https://shop.ciamlogin.com/oauth2/v2.0/initiate/", "headers": {"Content-Type": "application/x-www-form-urlencoded"},
            "body": urllib.parse.urlencode({"client_id": "mobile", "username": ALICE, "challenge_type": ALL})})
        self.assertIn("continuation_token", json.loads(answer["body"]))

    def test_pages_of_listed_origins_only(self):
        def origin_of(origin, client):
            body = urllib.parse.urlencode({"client_id": client, "username": ALICE, "challenge_type": ALL})
            response, _ = self.raw("signup/v1.0/start", body, headers={"Origin": origin})
            self.assertEqual(response.headers["vary"], "Origin")
            return response.headers["access-control-allow-origin"]

        self.assertEqual(origin_of("https://any.example.com", "mobile"), "https://any.example.com")
        self.call("application.put", tenantId="shop", clientId="mobile", origins=["https://shop.example.com"])
        self.assertEqual(origin_of("https://shop.example.com", "mobile"), "https://shop.example.com")
        self.assertIsNone(origin_of("https://any.example.com", "mobile"))
        response, body = self.raw("signup/v1.0/start", None, "OPTIONS", {"Origin": "https://shop.example.com", "Access-Control-Request-Headers": "x-app-a"})
        self.assertEqual((response.status, body, response.headers["access-control-allow-headers"]), (204, b"", "x-app-a"))

    def test_correlation_id_is_returned_and_audited(self):
        given = "11111111-2222-3333-4444-555555555555"
        token = self.challenge("signup/v1.0/challenge", self.start("signup/v1.0/start", password=PASSWORD))
        body = urllib.parse.urlencode({"client_id": "mobile", "continuation_token": token, "grant_type": "oob", "oob": self.code()})
        response, _ = self.raw("signup/v1.0/continue", body, headers={"client-request-id": given})
        self.assertEqual(response.headers["client-request-id"], given)
        records = self.call("audit.list", limit=5)["records"]
        self.assertIn(given, [each.get("trace") for each in records])

    def test_users_that_exist(self):
        self.sign_up()
        self.error("signup/v1.0/start", ("user_already_exists", 1003037, None), username=ALICE, challenge_type=ALL)
        self.account("code@example.com", tenantId="shop")
        self.error("resetpassword/v1.0/start", ("invalid_request", 500222, None), username="code@example.com", challenge_type=ALL)
        self.call("tenant.update", tenantId="shop", signUpAllowed=False)
        self.error("signup/v1.0/start", ("access_denied", 50057, None), username="new@example.com", challenge_type=ALL)
