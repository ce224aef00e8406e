"""The authorization code flow and the device flow with glewlwyd, which checks code verifiers, redirect URIs and reused codes."""

import urllib.parse

from endtoend import EndToEnd
from glewlwyd import Glewlwyd

BACK = "https://shop.example.com/back"


class StrictProvider(EndToEnd):
    def setUp(self):
        super().setUp()
        self.provider = Glewlwyd(self, BACK)
        self.sidecar = self.spawn(testing=True)
        self.sidecar.call("idp.create", {
            "providerId": "oidc.strict", "clientId": "shop", "clientSecret": "shop-secret", "issuer": self.provider.issuer, "openidOnly": True})

    def authorize(self, **more):
        return self.sidecar.call("idp.authorize", {"providerId": "oidc.strict", "redirectUri": BACK, **more})

    def come_back(self, flow):
        return {"continuationToken": flow["continuationToken"], "url": self.provider.send(flow["authorizationUrl"])}

    def sign_in(self, credential):
        return self.sidecar.call("signIn.withCredential", {"credential": credential})

    def test_sign_in_link_and_reauthentication_succeed(self):
        first = self.sign_in(self.come_back(self.authorize()))
        self.assertEqual((first["state"], first["isNewAccount"]), ("completed", True))
        again = self.sidecar.call("account.reauthenticate", {"idToken": first["idToken"], "credential": self.come_back(self.authorize())})
        self.assertEqual(again["account"]["accountId"], first["account"]["accountId"])
        self.sidecar.call("account.unlink", {"idToken": again["idToken"], "providerId": "oidc.strict", "force": True})
        self.sidecar.call("tenant.update", {"tenantId": "default", "anonymousAllowed": True})
        guest = self.sidecar.call("signIn.anonymously", {})
        linked = self.sidecar.call("account.link", {"idToken": guest["idToken"], "credential": self.come_back(self.authorize())})
        self.assertEqual(linked["account"]["accountId"], guest["account"]["accountId"])

    def test_code_of_another_flow_fails(self):
        mine, theirs = self.authorize(), self.authorize()
        url, other = self.come_back(mine)["url"], self.come_back(theirs)["url"]
        code, stolen = (urllib.parse.parse_qs(urllib.parse.urlparse(each).query)["code"][0] for each in (url, other))
        error = self.refused("invalidCredential", self.sidecar, "signIn.withCredential", {
            "credential": {"continuationToken": mine["continuationToken"], "url": url.replace(code, stolen)}})
        self.assertEqual(error.data["check"], "code")

    def test_reused_callback_fails(self):
        credential = self.come_back(self.authorize())
        self.sign_in(credential)
        self.refused("flowUsed", self.sidecar, "signIn.withCredential", {"credential": credential})

    def test_unknown_redirect_uri_is_rejected_by_the_provider(self):
        flow = self.authorize(redirectUri="https://evil.example.com/back")
        try:
            answer = self.provider.send(flow["authorizationUrl"])
        except AssertionError as refusal:
            answer = str(refusal)
        self.assertNotIn("code=", answer)

    def test_device_flow_succeeds(self):
        flow = self.sidecar.call("idp.authorizeDevice", {"providerId": "oidc.strict"})
        waiting = self.sidecar.send("signIn.withCredential", {"credential": {"continuationToken": flow["continuationToken"]}})
        self.settled(self.sidecar)
        self.works(self.sidecar)
        self.assertEqual(self.sidecar.arrived(), 0)
        self.provider.send(f"{self.provider.issuer}/device?code={flow['userCode']}")
        self.assertEqual(self.sidecar.answer(waiting, timeout=30)["state"], "completed")
