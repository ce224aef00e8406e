"""OAuth 2.0 for First-Party Applications: step-by-step sign-in with an OAuth client's own requests."""

import base64
import hashlib
import json
import urllib.parse

import pyotp

from entrahttp import EntraHTTP
from nativeflows import ALICE, PASSWORD

VERIFIER = "a-code-verifier-of-at-least-forty-three-characters"
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
CODE = "code@example.com"
CHALLENGE_PATH, TOKEN_PATH = "oauth2/v2.0/authorize-challenge", "oauth2/v2.0/token"


class FirstParty(EntraHTTP):
    def ask(self, status=400, path=CHALLENGE_PATH, tenant=None, headers=None, **form):
        """Sends a request, and returns its response."""
        if self.restarting:
            self.restart()
        response, body = self.raw(path, urllib.parse.urlencode(form), headers=headers, tenant=tenant)
        answer = json.loads(body)
        self.assertEqual(response.status, status, answer)
        self.assertEqual(response.headers["cache-control"], "no-store")
        if path == CHALLENGE_PATH:
            self.assertIsNone(response.headers["access-control-allow-origin"])
        if status == 200:
            return answer
        self.assertTrue(answer["error"] and answer["error_description"])
        self.assertEqual("auth_session" in answer, answer["error"] == "insufficient_authorization")
        return answer

    def begin(self, flow="sign_in", username=ALICE, wanted="code", **form):
        """Sends the first request of a flow. Returns its response."""
        answer = self.ask(client_id="mobile", flow=flow, login_hint=username, **form)
        self.assertEqual((answer["error"], answer.get("next")), ("insufficient_authorization", wanted), answer)
        return answer

    def further(self, before, wanted, **form):
        """Sends a further request, which needs another step after it."""
        answer = self.ask(auth_session=before["auth_session"], **form)
        self.assertEqual((answer["error"], answer.get("next")), ("insufficient_authorization", wanted), answer)
        self.assertNotEqual(answer["auth_session"], before["auth_session"])
        return answer

    def wrong(self, before, reason, **form):
        answer = self.further(before, before["next"], **form)
        self.assertEqual(answer["reason"], reason, answer)
        return answer

    def done(self, before, **form):
        answer = self.ask(200, auth_session=before["auth_session"], **form)
        self.assertEqual(set(answer), {"authorization_code"})
        return answer["authorization_code"]

    def exchange(self, code, status=200, **form):
        answer = self.ask(status, TOKEN_PATH, **{"client_id": "mobile", "grant_type": "authorization_code", "code": code, **form})
        if status != 200:
            self.assertEqual((answer["error"], answer["error_codes"]), ("invalid_grant", [70000]), answer)
        return answer

    def refuse(self, error, status=400, **form):
        answer = self.ask(status, **form)
        self.assertEqual(answer["error"], error, answer)
        return answer

    def test_sign_in_with_a_code_and_pkce(self):
        self.account(CODE, tenantId="shop")
        self.restarting = True
        step = self.begin(username=CODE, scope="openid offline_access", code_challenge=CHALLENGE, code_challenge_method="S256")
        self.assertEqual((step["channel"], step["code_length"]), ("email", 8))
        self.assertIn("*", step["sent_to"])
        step = self.wrong(step, "invalid_code", code="00000000")
        code = self.done(step, code=self.code(CODE))
        self.exchange(code, 400)
        self.exchange(code, 400, code_verifier="x" * 43)
        self.exchange(code, 400, code_verifier=VERIFIER, client_id="shop")
        tokens = self.exchange(code, code_verifier=VERIFIER, auth_session=step["auth_session"])
        claims = self.claims(tokens["id_token"])
        self.assertEqual((claims["aud"], tokens["scope"], claims["amr"]), ("mobile", "openid offline_access", ["otp"]))
        self.exchange(code, 400, code_verifier=VERIFIER)
        fresh = self.ask(200, TOKEN_PATH, client_id="mobile", grant_type="refresh_token", refresh_token=tokens["refresh_token"])
        self.assertEqual(fresh["token_type"], "Bearer")

    def test_sign_in_with_a_password_and_a_second_factor_that_is_enrolled_first(self):
        self.sign_up()
        self.call("tenant.update", tenantId="shop", mfa="required")
        self.restarting = True
        step = self.begin(wanted="password")
        step = self.wrong(step, "invalid_password", password="wrong")
        self.assertEqual(step["rules"], ["incorrect"])
        step = self.further(step, "enrolment", password=PASSWORD)
        self.assertIn({"kind": "totp"}, step["methods"])
        step = self.further(step, "enrolment", enrol_kind="totp")
        totp = pyotp.TOTP(step["secret"])
        step = self.wrong(step, "invalid_code", code="000000")
        self.restarting = False
        now = self.call("test.clock", freeze=True)["now"]
        tokens = self.exchange(self.done(step, code=totp.at(now)))
        self.assertIn("mfa", self.claims(self.ask(200, TOKEN_PATH, client_id="mobile", grant_type="authorization_code",
                      code=self.second_factor(totp))["id_token"])["amr"])
        self.assertNotIn("refresh_token", tokens)

    def second_factor(self, totp):
        """Signs in with the password and the next code. Returns the authorization code."""
        now = self.call("test.clock", advanceSeconds=60)["now"]
        step = self.begin(wanted="second_factor", password=PASSWORD)
        factor = next(each["factor_id"] for each in step["methods"] if each["kind"] == "totp")
        return self.done(step, factor_id=factor, code=totp.at(now))

    def test_second_factor_by_email_and_a_refresh_that_needs_it(self):
        self.sign_up()
        code = self.done(self.begin(wanted="password", scope="openid offline_access"), password=PASSWORD)
        first = self.exchange(code)
        self.call("tenant.update", tenantId="shop", mfa="required")
        form = {"client_id": "mobile", "grant_type": "refresh_token", "refresh_token": first["refresh_token"]}
        self.error(TOKEN_PATH, ("invalid_grant", 50076, "mfa_required"), **{key: value for key, value in form.items() if key != "client_id"})
        step = self.ask(403, TOKEN_PATH, auth_session_supported="true", **form)
        self.assertEqual((step["error"], step["next"]), ("insufficient_authorization", "enrolment"))
        for kind, target in (("email", "nobody"), ("sms", "+123")):
            step = self.wrong(step, "invalid_target", enrol_kind=kind, enrol_target=target)
        tokens = self.exchange(self.done(step, enrol_kind="email", enrol_target=ALICE))
        self.assertIn("mfa", self.claims(tokens["id_token"])["amr"])
        self.assertEqual(tokens["scope"], "openid offline_access")
        step = self.begin(wanted="second_factor", password=PASSWORD)
        step = self.further(step, "second_factor", factor_id=step["methods"][0]["factor_id"])
        self.assertEqual(step["channel"], "email")
        self.exchange(self.done(step, code=self.code()))

    def test_sign_up_with_attributes(self):
        self.call("tenant.update", tenantId="shop", attributes=[{"name": "city", "type": "string", "required": True, "pattern": "^[A-Z].*$"}])
        self.restarting = True
        step = self.begin("sign_up")
        step = self.further(step, "code", resend="true")
        self.assertEqual(len(self.sent()), 2)
        step = self.further(step, "password", code=self.code())
        step = self.wrong(step, "invalid_password", password="short")
        self.assertIn("too_short", step["rules"])
        step = self.further(step, "attributes", password=PASSWORD)
        self.assertEqual(step["required_attributes"][0]["name"], "city")
        step = self.wrong(step, "invalid_attributes", attributes='{"city": "rome"}')
        self.assertEqual(step["attributes"], ["city"])
        tokens = self.exchange(self.done(step, attributes='{"city": "Rome"}'))
        self.assertEqual(self.claims(tokens["id_token"])["preferred_username"] if "profile" in tokens["scope"] else tokens["scope"], "openid")
        self.assertEqual(self.refuse("access_denied", client_id="mobile", flow="sign_up", login_hint=ALICE)["reason"], "user_already_exists")

    def test_reset(self):
        self.sign_up()
        self.restarting = True
        step = self.further(self.begin("reset"), "new_password", code=self.code())
        step = self.wrong(step, "invalid_password", new_password="aaaaaaaaaaaa")
        self.exchange(self.done(step, new_password="another Horse 7 staple"))
        self.exchange(self.done(self.begin(wanted="password"), password="another Horse 7 staple"))

    def test_codes_and_sessions_end(self):
        self.sign_up()
        self.call("test.clock", freeze=True)
        step = self.begin(wanted="password")
        code = self.done(step, password=PASSWORD)
        self.call("test.clock", advanceSeconds=60)
        self.exchange(code, 400)
        self.refuse("invalid_session", auth_session=step["auth_session"], password="something else")
        step = self.begin(wanted="password")
        self.call("test.clock", advanceSeconds=601)
        self.refuse("invalid_session", auth_session=step["auth_session"], password=PASSWORD)

    def test_codes_are_redeemed_once_also_at_the_same_time(self):
        self.sign_up()
        form = {"client_id": "mobile", "grant_type": "authorization_code", "code": self.done(self.begin(wanted="password"), password=PASSWORD)}
        answers = self.together(TOKEN_PATH, **form)
        tokens = [each for each in answers if "access_token" in each]
        self.assertEqual(len(tokens), 1, answers)
        self.assertEqual({each["error"] for each in answers if "error" in each}, {"invalid_grant"})
        account = self.claims(tokens[0]["id_token"])["sub"]
        # The session begins with the redemption, so that a code that is never redeemed leaves none.
        before = len(self.call("session.list", accountId=account)["sessions"])
        code = self.done(self.begin(wanted="password"), password=PASSWORD)
        self.assertEqual(len(self.call("session.list", accountId=account)["sessions"]), before)
        self.call("account.update", accountId=account, disabled=True)
        self.ask(400, TOKEN_PATH, client_id="mobile", grant_type="authorization_code", code=code)
        self.assertEqual(len(self.call("session.list", accountId=account)["sessions"]), 0)

    def test_unknown_addresses_look_like_known_ones_with_enumeration_protection(self):
        self.sign_up()
        self.call("tenant.update", tenantId="shop", enumerationProtection=True)
        for flow, wanted, reason, form in (("sign_in", "password", "invalid_password", {"password": "wrong"}),
                                           ("reset", "code", "invalid_code", {"code": "00000000"})):
            known, unknown = self.begin(flow, wanted=wanted), self.begin(flow, "none@example.com", wanted)
            self.assertEqual(set(known), set(unknown))
            self.wrong(unknown, reason, **form)
            self.wrong(known, reason, **form)
        self.exchange(self.done(self.begin(wanted="password"), password=PASSWORD))

    def test_foreign_sessions_are_refused_and_stay_valid(self):
        self.sign_up()
        self.call("application.put", tenantId="shop", clientId="web")
        self.call("tenant.create", tenantId="other")
        self.call("application.put", tenantId="other", clientId="mobile")
        step = self.begin(wanted="password")
        session = step["auth_session"]
        self.refuse("invalid_session", auth_session=session, client_id="web", password=PASSWORD)
        self.refuse("invalid_session", auth_session=session, tenant="other", password=PASSWORD)
        self.refuse("invalid_session", auth_session="nonsense", password=PASSWORD)
        self.refuse("invalid_session", auth_session=self.start("oauth2/v2.0/initiate"), password=PASSWORD)
        self.refuse("invalid_request", auth_session=session)
        code = self.done(step, password=PASSWORD)
        self.refuse("invalid_session", auth_session=code, password=PASSWORD)
        other = self.begin(wanted="password")
        self.exchange(code, 400, auth_session=other["auth_session"])
        self.exchange(code, auth_session=session)

    def test_refused_requests(self):
        self.sign_up()
        form = {"client_id": "mobile", "login_hint": ALICE}
        sent = len(self.sent())
        self.refuse("invalid_request", login_hint=ALICE)
        self.refuse("invalid_client", client_id="none", login_hint=ALICE)
        self.refuse("invalid_client", 401, client_id="none", login_hint=ALICE, headers={"Authorization": "Basic bm9uZTpub25l"})
        self.call("application.put", tenantId="shop", clientId="off", nativeAuthentication=False)
        self.refuse("unauthorized_client", client_id="off", login_hint=ALICE)
        self.refuse("invalid_scope", scope="none", **form)
        self.refuse("invalid_target", resource="https://none.example.com", **form)
        self.refuse("invalid_request", code_challenge=CHALLENGE, **form)
        self.refuse("invalid_request", code_challenge="x", code_challenge_method="S256", **form)
        self.refuse("invalid_request", flow="magic", **form)
        self.refuse("invalid_request", accepts="magic", **form)
        self.refuse("invalid_request", client_id="mobile")
        self.refuse("redirect_to_web", accepts="code", **form)
        self.refuse("redirect_to_web", flow="reset", accepts="password", **form)
        self.assertEqual(self.refuse("access_denied", client_id="mobile", login_hint="none@example.com")["reason"], "user_not_found")
        self.refuse("invalid_request", 404, tenant="nowhere", **form)
        self.assertEqual(len(self.sent()), sent)
        response, body = self.raw(CHALLENGE_PATH, None, "GET")
        self.assertEqual((response.status, response.headers["allow"], json.loads(body)["error"]), (405, "POST", "invalid_request"))

    def test_resource_decides_about_the_audience(self):
        self.call("tenant.update", tenantId="shop", audiences=["api://orders"], audienceScopes=[{"audience": "api://orders", "scopes": ["read"]}])
        self.sign_up()
        step = self.begin(wanted="password", resource="api://orders", scope="openid read")
        tokens = self.exchange(self.done(step, password=PASSWORD))
        self.assertEqual((self.claims(tokens["access_token"])["aud"], self.claims(tokens["access_token"])["scope"]), ("api://orders", "openid read"))

    def test_metadata(self):
        document = json.loads(self.raw(".well-known/oauth-authorization-server", None, "GET")[1])
        self.assertEqual(document["authorization_challenge_endpoint"], f"{self.base}/shop/{CHALLENGE_PATH}")
        self.assertEqual(document["native_authorization_endpoint"], document["authorization_challenge_endpoint"])
        self.assertIn("authorization_code", document["grant_types_supported"])

    def twice(self, status=400, path=CHALLENGE_PATH, **form):
        """Sends the same request again, as a client does whose connection broke. Returns the second response."""
        before = len(self.call("test.outbox")["messages"])
        first = self.ask(status, path, **form)
        sent = len(self.call("test.outbox")["messages"])
        self.restart()
        again = self.ask(status, path, **form)
        self.assertEqual(first.get("next"), again.get("next"), again)
        self.assertLessEqual(sent - before, 1)
        self.assertEqual(len(self.call("test.outbox")["messages"]), sent)
        return again

    def test_repeated_requests_have_one_effect(self):
        self.call("tenant.update", tenantId="shop", mfa="required", attributes=[{"name": "city", "type": "string", "required": True}])
        step = self.twice(client_id="mobile", flow="sign_up", login_hint=ALICE)
        step = self.twice(auth_session=step["auth_session"], resend="true")
        step = self.twice(auth_session=step["auth_session"], code=self.code())
        step = self.twice(auth_session=step["auth_session"], password=PASSWORD)
        # This request completes the sign-up and begins the sign-in: its repetition has no effect, but the response is lost.
        old, step = step, self.further(step, "enrolment", attributes='{"city": "Rome"}')
        self.refuse("invalid_session", auth_session=old["auth_session"], attributes='{"city": "Rome"}')
        step = self.twice(auth_session=step["auth_session"], enrol_kind="sms", enrol_target="+4915112345678")
        done = self.twice(200, auth_session=step["auth_session"], code=self.code("+4915112345678"))
        self.exchange(done["authorization_code"])
        self.exchange(done["authorization_code"], 400)
        step = self.twice(client_id="mobile", login_hint=ALICE)
        step = self.twice(auth_session=step["auth_session"], password=PASSWORD)
        step = self.twice(auth_session=step["auth_session"], factor_id=step["methods"][0]["factor_id"])
        done = self.twice(200, auth_session=step["auth_session"], code=self.code("+4915112345678"))
        self.exchange(done["authorization_code"])
        step = self.twice(client_id="mobile", flow="reset", login_hint=ALICE)
        step = self.twice(auth_session=step["auth_session"], code=self.code())
        self.further(step, "second_factor", new_password="another Horse 7 staple")
