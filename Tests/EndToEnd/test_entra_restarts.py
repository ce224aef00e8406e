"""Every flow of Entra's native authentication API with a restart of the process before each request, and the correlation IDs of the requests
in the audit log."""

import json
import urllib.parse
import uuid

from entrahttp import ALL, MFA, NUMBER, EntraHTTP
from nativeflows import ALICE, PASSWORD

OTHER = "another Horse 7 staple"
TOKEN = "oauth2/v2.0/token"


class EveryFlow(EntraHTTP):
    def setUp(self):
        super().setUp()
        self.requests, self.restarts = {}, 0
        self.before = {self.key(each) for each in self.records()}

    def restart(self):
        self.restarts += 1
        super().restart()

    def raw(self, path, body=None, method="POST", headers=None, tenant=None):
        given = str(uuid.uuid4())
        response, answer = super().raw(path, body, method, {**(headers or {}), "client-request-id": given}, tenant)
        self.assertEqual(response.headers["client-request-id"], given)
        self.requests[given] = path
        return response, answer

    def key(self, record):
        return record["hash"]

    def records(self):
        return self.sidecar.call("audit.list", {"limit": 60})["records"]

    def flow(self):
        """From here, the process is started again before each request."""
        self.before = {self.key(each) for each in self.records()}
        self.restarting, self.restarts, self.requests = True, 0, {}

    def is_audited(self, *paths):
        """Checks that the flow was restarted before each request, and that these requests, and no others, wrote records with their IDs."""
        self.restarting = False
        self.assertGreaterEqual(self.restarts, len(self.requests))
        new = [each for each in self.records() if self.key(each) not in self.before and each["method"] not in ("audit.checkpoint", "tenant.update")]
        # The newest record is the first, also if processes with a chain of their own wrote them in one second.
        found = [self.requests.get(each.get("trace"), str(each)) for each in new]
        self.assertEqual(found[::-1], list(paths), new)

    def second_factor(self, step):
        """Ends a sign-in with the second factor."""
        methods = self.post("oauth2/v2.0/introspect", continuation_token=step["continuation_token"])
        sent = self.post("oauth2/v2.0/challenge", continuation_token=methods["continuation_token"], id=methods["methods"][0]["id"])
        return self.post(TOKEN, continuation_token=sent["continuation_token"], grant_type="mfa_oob", oob=self.code(NUMBER), scope="openid offline_access")

    def test_sign_up_with_password_then_tokens_and_refresh(self):
        self.flow()
        tokens = self.redeem(self.sign_up(), username=ALICE)
        self.post(TOKEN, grant_type="refresh_token", refresh_token=tokens["refresh_token"])
        self.is_audited("signup/v1.0/continue", TOKEN)

    def test_sign_up_with_a_code_and_attributes(self):
        self.sidecar.call("tenant.update", {"tenantId": "shop", "localAccountMethod": "emailCode", "attributes": [
            {"name": "city", "type": "string", "required": True}]})
        self.flow()
        token = self.challenge("signup/v1.0/challenge", self.start("signup/v1.0/start"))
        step = self.error("signup/v1.0/continue", ("attributes_required", 55106, None), continuation_token=token, grant_type="oob", oob=self.code())
        done = self.post("signup/v1.0/continue", continuation_token=step["continuation_token"], grant_type="attributes", attributes='{"city": "Rome"}')
        self.redeem(done["continuation_token"])
        self.is_audited("signup/v1.0/continue", TOKEN)

    def test_sign_in_with_a_code(self):
        self.account(tenantId="shop")
        self.flow()
        token = self.challenge("oauth2/v2.0/challenge", self.start("oauth2/v2.0/initiate"))
        self.post(TOKEN, continuation_token=token, grant_type="oob", oob=self.code(), scope="openid offline_access")
        self.is_audited(TOKEN)

    def test_sign_in_with_a_password(self):
        self.account(tenantId="shop", password=PASSWORD)
        self.flow()
        token = self.post("oauth2/v2.0/challenge", continuation_token=self.start("oauth2/v2.0/initiate"), challenge_type=ALL)["continuation_token"]
        self.error(TOKEN, ("invalid_grant", 50126, None), continuation_token=token, grant_type="password", password="wrong")
        self.post(TOKEN, continuation_token=token, grant_type="password", password=PASSWORD, scope="openid offline_access")
        self.is_audited(TOKEN)

    def test_registration_of_a_factor_and_sign_in_with_it(self):
        self.account(tenantId="shop", password=PASSWORD)
        self.call("tenant.update", tenantId="shop", mfa="required")
        self.flow()
        token = self.challenge("oauth2/v2.0/challenge", self.start("oauth2/v2.0/initiate", **MFA))
        step = self.error(TOKEN, ("invalid_grant", 50076, "registration_required"), continuation_token=token, grant_type="password", password=PASSWORD)
        methods = self.post("register/v1.0/introspect", continuation_token=step["continuation_token"])
        sent = self.post("register/v1.0/challenge", continuation_token=methods["continuation_token"], challenge_type="oob", challenge_channel="sms",
                         challenge_target=NUMBER)
        done = self.post("register/v1.0/continue", continuation_token=sent["continuation_token"], grant_type="oob", oob=self.code(NUMBER))
        self.redeem(done["continuation_token"])
        self.is_audited("register/v1.0/continue", TOKEN)
        self.flow()
        token = self.challenge("oauth2/v2.0/challenge", self.start("oauth2/v2.0/initiate", **MFA))
        self.second_factor(self.error(TOKEN, ("invalid_grant", 50076, "mfa_required"), continuation_token=token, grant_type="password", password=PASSWORD))
        self.is_audited(TOKEN)

    def test_registration_of_the_verified_address_without_a_code(self):
        self.account(tenantId="shop", password=PASSWORD)
        self.call("tenant.update", tenantId="shop", mfa="required")
        self.flow()
        token = self.challenge("oauth2/v2.0/challenge", self.start("oauth2/v2.0/initiate", **MFA))
        step = self.error(TOKEN, ("invalid_grant", 50076, "registration_required"), continuation_token=token, grant_type="password", password=PASSWORD)
        verified = self.post("register/v1.0/challenge", continuation_token=step["continuation_token"], challenge_type="oob", challenge_target=ALICE)
        done = self.post("register/v1.0/continue", continuation_token=verified["continuation_token"], grant_type="continuation_token")
        self.redeem(done["continuation_token"])
        self.is_audited("register/v1.0/continue", TOKEN)

    def test_reset_until_tokens_and_the_new_password(self):
        self.account(tenantId="shop", password=PASSWORD)
        self.flow()
        token = self.challenge("resetpassword/v1.0/challenge", self.start("resetpassword/v1.0/start", types="oob redirect"), "oob redirect")
        token = self.post("resetpassword/v1.0/continue", continuation_token=token, grant_type="oob", oob=self.code())["continuation_token"]
        token = self.post("resetpassword/v1.0/submit", continuation_token=token, new_password=OTHER)["continuation_token"]
        done = self.post("resetpassword/v1.0/poll_completion", continuation_token=token)
        self.redeem(done["continuation_token"])
        self.is_audited("resetpassword/v1.0/submit", TOKEN)
        self.flow()
        token = self.challenge("oauth2/v2.0/challenge", self.start("oauth2/v2.0/initiate"))
        self.error(TOKEN, ("invalid_grant", 50126, None), continuation_token=token, grant_type="password", password=PASSWORD)
        self.post(TOKEN, continuation_token=token, grant_type="password", password=OTHER)
        self.is_audited(TOKEN)

    def test_requests_through_the_pipe_are_audited_with_their_ids(self):
        self.account(tenantId="shop", password=PASSWORD)
        seen = {}

        def send(path, **form):
            given = str(uuid.uuid4())
            self.restart()
            answer = self.sidecar.call("compat.http", {"method": "POST", "url": f"https://login.example.com/shop/{path}", "headers": {
                "content-type": "application/x-www-form-urlencoded", "client-request-id": given},
                "body": urllib.parse.urlencode({"client_id": "mobile", **form})})
            seen[given] = path
            self.assertEqual(answer["status"], 200, answer)
            return json.loads(answer["body"]).get("continuation_token")

        self.flow()
        token = send("oauth2/v2.0/initiate", username=ALICE, challenge_type=ALL)
        token = send("oauth2/v2.0/challenge", continuation_token=token, challenge_type=ALL)
        send(TOKEN, continuation_token=token, grant_type="password", password=PASSWORD, scope="openid")
        self.requests = seen
        self.is_audited(TOKEN)
