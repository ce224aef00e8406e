"""The native authentication API of Microsoft Entra: requests that are sent again, and authentication contexts."""

import urllib.parse

from entrahttp import ALL, MFA, NUMBER
from entrascenarios import CODE, TOKEN, Scenarios
from nativeflows import ALICE, PASSWORD


class Repetitions(Scenarios):
    """A client whose connection breaks sends the same request again, also after a restart. It gets the same response, and nothing happens twice."""

    def twice(self, path, status=200, **form):
        body = urllib.parse.urlencode({"client_id": "mobile", **form})
        before = len(self.call("test.outbox")["messages"])
        first = self.json_answer(path, body)
        sent = len(self.call("test.outbox")["messages"])
        self.restart()
        again = self.json_answer(path, body)
        self.assertEqual((first[0].status, again[0].status), (status, status), (first[1], again[1]))
        passing = {"timestamp", "trace_id", "correlation_id", "interval", "expires_in"}
        self.assertEqual(*[{name: value for name, value in answer.items() if name not in passing} for _, answer in (first, again)])
        self.assertEqual(len(self.call("test.outbox")["messages"]), sent)
        self.assertLessEqual(sent - before, 1)
        return first[1]["continuation_token"]

    def test_every_step_until_the_tokens(self):
        self.call("tenant.update", tenantId="shop", mfa="required", attributes=[
            {"name": "city", "type": "string", "required": True}, {"name": "zip", "type": "string", "required": True}])
        path = "signup/v1.0/continue"
        token = self.twice("signup/v1.0/start", username=ALICE, challenge_type=ALL, **MFA)
        for _ in range(2):
            token = self.twice("signup/v1.0/challenge", continuation_token=token, challenge_type=ALL)
        token = self.twice(path, 400, continuation_token=token, grant_type="oob", oob=self.code())
        token = self.twice("signup/v1.0/challenge", continuation_token=token, challenge_type=ALL)
        token = self.twice(path, 400, continuation_token=token, grant_type="password", password=PASSWORD)
        token = self.twice(path, 400, continuation_token=token, grant_type="attributes", attributes='{"city": "Rome"}')
        token = self.twice(path, continuation_token=token, grant_type="attributes", attributes='{"zip": "1"}')
        token = self.twice(TOKEN, 400, continuation_token=token, grant_type="continuation_token", scope="openid", username=ALICE)
        token = self.twice("register/v1.0/introspect", continuation_token=token)
        token = self.twice("register/v1.0/challenge", continuation_token=token, challenge_type="oob", challenge_target=NUMBER, challenge_channel="sms")
        token = self.twice("register/v1.0/continue", continuation_token=token, grant_type="oob", oob=self.code(NUMBER))
        self.redeem(token)
        self.error(TOKEN, ("invalid_grant", 55200, None), continuation_token=token, grant_type="continuation_token")

    def test_second_factor(self):
        self.signed_up_twice()
        self.call("tenant.update", tenantId="shop", mfa="required")
        for name, grant in ((ALICE, "password"), (CODE, "oob")):
            token = self.twice("oauth2/v2.0/initiate", username=name, challenge_type=ALL, **MFA)
            old = self.twice("oauth2/v2.0/challenge", continuation_token=token, challenge_type=ALL)
            first = {"password": PASSWORD} if grant == "password" else {"oob": self.code(name)}
            token = self.twice(TOKEN, 400, continuation_token=old, grant_type=grant, scope="openid", **first)
            for wrong in ({"grant_type": grant, **{each: "12345678" for each in first}}, {"grant_type": "mfa_oob", "oob": "12345678"}):
                self.error(TOKEN, ("invalid_grant", 55200, None), continuation_token=old, **wrong)
            token = self.twice("register/v1.0/challenge", continuation_token=token, challenge_type="oob", challenge_target=NUMBER, challenge_channel="sms")
            self.redeem(self.twice("register/v1.0/continue", continuation_token=token, grant_type="oob", oob=self.code(NUMBER)))
            token = self.challenge("oauth2/v2.0/challenge", self.start("oauth2/v2.0/initiate", name, **MFA))
            if grant == "oob":
                first["oob"] = self.code(name)
            old = self.twice(TOKEN, 400, continuation_token=token, grant_type=grant, scope="openid", **first)
            token = self.twice("oauth2/v2.0/challenge", continuation_token=old)
            self.error(TOKEN, ("invalid_grant", 55200, None), continuation_token=old, grant_type="mfa_oob", oob="12345678")
            self.post(TOKEN, continuation_token=token, grant_type="mfa_oob", oob=self.code(NUMBER))

    def test_reset(self):
        self.sign_up()
        token = self.twice("resetpassword/v1.0/start", username=ALICE, challenge_type=ALL)
        token = self.twice("resetpassword/v1.0/challenge", continuation_token=token, challenge_type=ALL)
        token = self.twice("resetpassword/v1.0/continue", continuation_token=token, grant_type="oob", oob=self.code())
        token = self.twice("resetpassword/v1.0/submit", continuation_token=token, new_password="another Horse 7 staple")
        self.redeem(self.twice("resetpassword/v1.0/poll_completion", continuation_token=token))


class Contexts(Scenarios):
    """Authentication contexts: a request asks for a second factor that the tenant does not require otherwise."""

    ASKED = {"claims": '{"access_token": {"acrs": {"essential": true, "value": "c4"}}}'}

    def setUp(self):
        super().setUp()
        self.call("tenant.update", tenantId="shop", authenticationContexts=["c1", "c4"])

    def acrs(self, tokens):
        self.assertNotIn("acrs", self.claims(tokens["id_token"]))
        return self.claims(tokens["access_token"]).get("acrs")

    def with_password(self):
        return self.challenge("oauth2/v2.0/challenge", self.start("oauth2/v2.0/initiate", **MFA))

    def registered(self, token, contact=ALICE):
        found = self.post("register/v1.0/introspect", continuation_token=token)
        step = self.post("register/v1.0/challenge", continuation_token=found["continuation_token"], challenge_type="oob", challenge_channel="email", challenge_target=contact)
        form = {"grant_type": "continuation_token"} if step["challenge_type"] == "preverified" else {"grant_type": "oob", "oob": self.code(contact)}
        return self.post("register/v1.0/continue", continuation_token=step["continuation_token"], **form)["continuation_token"]

    def test_registration_after_the_sign_up(self):
        for contact in (ALICE, "second@example.com"):
            name = ALICE if contact == ALICE else "bob@example.com"
            token = self.sign_up(name, **MFA)
            step = self.error(TOKEN, ("invalid_grant", 50076, "registration_required"), continuation_token=token, grant_type="continuation_token",
                              username=name, scope="openid offline_access", **self.ASKED)
            tokens = self.redeem(self.registered(step["continuation_token"], contact), **self.ASKED)
            self.assertEqual(self.acrs(tokens), ["c4"])
            self.assertIn("mfa", self.claims(tokens["access_token"])["amr"])

    def test_second_factor_only_for_requests_that_ask(self):
        self.redeem(self.sign_up())
        tokens = self.post(TOKEN, continuation_token=self.with_password(), grant_type="password", password=PASSWORD, scope="openid offline_access")
        self.assertIsNone(self.acrs(tokens))
        refresh = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
        self.error(TOKEN, ("invalid_grant", 50076, "mfa_required"), **refresh, **self.ASKED)
        self.restarting = True
        step = self.error(TOKEN, ("invalid_grant", 50076, "registration_required"), continuation_token=self.with_password(), grant_type="password",
                          password=PASSWORD, **self.ASKED)
        self.assertEqual(self.acrs(self.redeem(self.registered(step["continuation_token"]))), ["c4"])
        self.call("tenant.update", tenantId="shop", mfa="required")
        token = self.sign_up("bob@example.com", **MFA)
        step = self.error(TOKEN, ("invalid_grant", 50076, "registration_required"), continuation_token=token, grant_type="continuation_token")
        self.assertEqual(self.acrs(self.redeem(self.registered(step["continuation_token"], "bob@example.com"), **self.ASKED)), ["c4"])
        self.call("tenant.update", tenantId="shop", mfa="optional")
        step = self.error(TOKEN, ("invalid_grant", 50076, "mfa_required"), continuation_token=self.with_password(), grant_type="password",
                          password=PASSWORD, scope="openid offline_access", claims='{"access_token": {"acrs": {"essential": true, "values": ["c1", "none", "c4"]}}}')
        token = self.challenge("oauth2/v2.0/challenge", step["continuation_token"])
        tokens = self.post(TOKEN, continuation_token=token, grant_type="mfa_oob", oob=self.code())
        self.assertEqual(self.acrs(tokens), ["c1", "c4"])
        fresh = self.post(TOKEN, grant_type="refresh_token", refresh_token=tokens["refresh_token"])
        self.assertIsNone(self.acrs(fresh))
        fresh = self.post(TOKEN, grant_type="refresh_token", refresh_token=fresh["refresh_token"], **self.ASKED)
        self.assertEqual(self.acrs(fresh), ["c4"])

    def test_application_without_the_capability(self):
        self.sign_up()
        token = self.challenge("oauth2/v2.0/challenge", self.start("oauth2/v2.0/initiate"))
        answer = self.post(TOKEN, continuation_token=token, grant_type="password", password=PASSWORD, **self.ASKED)
        self.assertEqual(answer["redirect_reason"], "capability registration_required is required")

    def test_requests_that_ask_for_nothing_known(self):
        self.sign_up()
        for claims in ("nonsense", "[]", '{"access_token": {"acrs": {"essential": true, "value": "c2"}}}', '{"access_token": {"acrs": {"value": "c4"}}}',
                       '{"id_token": {"acrs": {"essential": true, "value": "c4"}}}', '{"access_token": {"acrs": null}}'):
            tokens = self.post(TOKEN, continuation_token=self.with_password(), grant_type="password", password=PASSWORD, scope="openid", claims=claims)
            self.assertIsNone(self.acrs(tokens), claims)
        for change in ({"mfa": "off"}, {"mfa": "optional", "authenticationContexts": []}):
            self.call("tenant.update", tenantId="shop", **change)
            tokens = self.post(TOKEN, continuation_token=self.with_password(), grant_type="password", password=PASSWORD, scope="openid", **self.ASKED)
            self.assertIsNone(self.acrs(tokens))
        self.assertNotIn("authenticationContexts", self.call("tenant.get", tenantId="shop"))

    def test_accounts_cannot_have_the_claim_as_their_own(self):
        account = self.claims(self.redeem(self.sign_up())["id_token"])["sub"]
        self.call("account.setClaims", accountId=account, claims={"acrs": ["c4"]})
        tokens = self.post(TOKEN, continuation_token=self.with_password(), grant_type="password", password=PASSWORD, scope="openid")
        self.assertIsNone(self.acrs(tokens))
