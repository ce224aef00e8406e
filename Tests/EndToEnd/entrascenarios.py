"""Shared by the tests of the scenarios that the clients of Microsoft Entra's native authentication API go through."""

import json

from entrahttp import MFA, EntraHTTP
from nativeflows import ALICE, PASSWORD

CODE = "code@example.com"
TOKEN = "oauth2/v2.0/token"


class Scenarios(EntraHTTP):
    def signed_up_twice(self):
        """Creates an account with a password, and one that signs in with codes."""
        self.sign_up()
        self.account(CODE, tenantId="shop")

    def first_factor(self, suberror, username=ALICE, **form):
        """Signs in with the password until a second factor is due. Returns the continuation token."""
        token = self.challenge("oauth2/v2.0/challenge", self.start("oauth2/v2.0/initiate", username, **MFA))
        return self.error(TOKEN, ("invalid_grant", 50076, suberror), continuation_token=token, grant_type="password",
                          password=PASSWORD, **form)["continuation_token"]

    def json_answer(self, *arguments, **more):
        response, body = self.raw(*arguments, **more)
        self.assertEqual(response.headers["content-type"], "application/json; charset=utf-8")
        return response, json.loads(body)
