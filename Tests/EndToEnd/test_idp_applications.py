"""Flows at identity providers that belong to an application: `clientId` of `idp.authorize` and `idp.authorizeDevice`."""

from test_hostile_providers import BACK, Hostile
from test_logins import claims_of


class Flows(Hostile):
    def setUp(self):
        super().setUp()
        for client in ("mobile", "web"):
            self.call("application.put", clientId=client, redirectUris=[BACK])

    def call(self, method, **params):
        return self.sidecar.call(method, params)

    def back(self, token, sent, **more):
        return {**self.credential(token, code="c", state=sent["state"]), **more}

    def test_session_belongs_to_the_application_of_the_flow(self):
        for given in ({}, {"clientId": "mobile"}):
            token, sent = self.begin(clientId="mobile")
            done = self.call("signIn.withCredential", **self.back(token, sent, **given))
            self.assertEqual((claims_of(done["idToken"])["aud"], claims_of(done["accessToken"])["azp"]), ("mobile", "mobile"))
        sessions = self.call("session.list", accountId=done["account"]["accountId"])["sessions"]
        self.assertEqual([each["clientId"] for each in sessions], ["mobile", "mobile"])

    def test_another_application_cannot_use_the_flow_which_continues(self):
        token, sent = self.begin(clientId="mobile")
        for other in ("web", "default"):
            self.refused("continuationTokenInvalid", self.sidecar, "signIn.withCredential", self.back(token, sent, clientId=other))
        self.refused("clientUnknown", self.sidecar, "signIn.withCredential", self.back(token, sent, clientId="none"))
        self.assertEqual(self.site.forms, [], "the code was redeemed")
        self.assertEqual(self.call("signIn.withCredential", **self.back(token, sent))["state"], "completed")

    def test_flow_of_the_default_application_belongs_to_it(self):
        token, sent = self.begin(clientId="default")
        self.refused("continuationTokenInvalid", self.sidecar, "signIn.withCredential", self.back(token, sent, clientId="web"))
        done = self.call("signIn.withCredential", **self.back(token, sent))
        self.assertEqual(claims_of(done["idToken"])["aud"], "default")
        # Without a client ID, the application is chosen at the end, as before.
        token, sent = self.begin()
        done = self.call("signIn.withCredential", **self.back(token, sent, clientId="web"))
        self.assertEqual(claims_of(done["idToken"])["aud"], "web")

    def test_flow_of_an_application_does_not_link_or_reauthenticate(self):
        token, sent = self.begin()
        session = self.call("signIn.withCredential", **self.back(token, sent))["idToken"]
        for method in ("account.link", "account.reauthenticate"):
            token, sent = self.begin(clientId="mobile")
            self.refused("continuationTokenInvalid", self.sidecar, method, self.back(token, sent, idToken=session))
        error = self.refused("invalidParams", self.sidecar, "idp.authorize", {
            "providerId": "oidc.good", "redirectUri": BACK, "idToken": session, "clientId": "mobile"})
        self.assertEqual(error.data["violations"][0]["pointer"], "/clientId")

    def test_redirect_uri_must_be_one_of_the_application(self):
        self.call("application.put", clientId="web", redirectUris=[BACK, "http://127.0.0.1/back", "com.example.shop:/back"])
        for uri in (BACK, "http://127.0.0.1/back", "http://127.0.0.1:4711/back", "com.example.shop:/back"):
            self.call("idp.authorize", providerId="oidc.good", redirectUri=uri, clientId="web")
        wrong = (BACK + "/", BACK + "?x=1", "https://shop.example.com", "https://evil.example.com/back", "http://127.0.0.1:4711/other",
                 "http://localhost:4711/back", "https://127.0.0.1/back", "com.example.shop:/other", BACK.replace("back", "Back"))
        for uri in wrong:
            with self.subTest(uri):
                error = self.refused("clientNotPermitted", self.sidecar, "idp.authorize", {
                    "providerId": "oidc.good", "redirectUri": uri, "clientId": "web"})
                self.assertEqual(error.data["cause"], "redirectUriNotAllowed")
        # An application without redirect URIs allows all that a provider can use, and a loopback address of this process is always allowed.
        self.call("application.put", clientId="web")
        self.call("idp.authorize", providerId="oidc.good", redirectUri="https://evil.example.com/back", clientId="web")
        self.call("idp.authorize", providerId="oidc.good", listen={}, clientId="mobile")
        self.refused("clientUnknown", self.sidecar, "idp.authorize", {"providerId": "oidc.good", "redirectUri": BACK, "clientId": "none"})
        self.refused("clientUnknown", self.sidecar, "idp.authorizeDevice", {"providerId": "oidc.good", "clientId": "none"})

    def test_deleted_application_ends_its_flows(self):
        for again in (False, True):
            self.call("application.put", clientId="mobile")
            token, sent = self.begin(clientId="mobile")
            self.call("application.delete", clientId="mobile")
            if again:
                self.call("application.put", clientId="mobile")
            self.refused("continuationTokenInvalid", self.sidecar, "signIn.withCredential", self.back(token, sent))

    def test_confidential_application_ends_the_flow_with_its_secret(self):
        self.call("application.put", clientId="server", type="confidential")
        secret = self.call("application.addSecret", clientId="server")["clientSecret"]
        token, sent = self.begin(clientId="server")
        for given in ({}, {"clientId": "server"}, {"clientSecret": "wrong"}):
            self.refused("clientSecretInvalid", self.sidecar, "signIn.withCredential", self.back(token, sent, **given))
        self.assertEqual(self.site.forms, [], "the code was redeemed")
        done = self.call("signIn.withCredential", **self.back(token, sent, clientSecret=secret))
        self.assertEqual(claims_of(done["idToken"])["aud"], "server")
        self.refused("clientSecretInvalid", self.sidecar, "session.refresh", {"refreshToken": done["refreshToken"]})
