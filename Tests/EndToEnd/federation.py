"""Shared by the tests of sign-in with identity providers: a provider with configured keys, credentials and accounts."""

import hashlib

from endtoend import EndToEnd
from test_logins import Provider

PASSWORD = "correct horse 9 Battery"


def hashed(raw):
    return hashlib.sha256(raw.encode()).hexdigest()


class Federation(EndToEnd):
    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn(testing=True)
        self.provider = self.idp("oidc.work")

    def idp(self, name, sidecar=None, **more):
        """Creates an identity provider with configured keys."""
        provider = Provider(f"https://{name}.example.com")
        provider.name = name
        (sidecar or self.sidecar).call("idp.create", {"providerId": name, "clientId": "shop", "issuer": provider.issuer, "keys": [provider.jwk], **more})
        return provider

    def credential(self, provider=None, subject="carol", **claims):
        provider = provider or self.provider
        return {"providerId": provider.name, "idToken": provider.token(subject, **claims)}

    def sign_in(self, provider=None, subject="carol", sidecar=None, **claims):
        answer = (sidecar or self.sidecar).call("signIn.withCredential", {"credential": self.credential(provider, subject, **claims)})
        return answer

    def account(self, answer):
        self.assertEqual(answer["state"], "completed", answer)
        return answer["account"]["accountId"]

    def password_account(self, username="carol@example.com", verified=True):
        account = self.sidecar.call("account.create", {"username": username, "password": PASSWORD, "emailVerified": verified})
        return account["accountId"], self.password_session(username)

    def password_session(self, username="carol@example.com"):
        return self.sidecar.call("signIn.withPassword", {"username": username, "password": PASSWORD})["idToken"]

    def anonymous(self):
        self.sidecar.call("tenant.update", {"tenantId": "default", "anonymousAllowed": True})
        return self.sidecar.call("signIn.anonymously", {})

    def link(self, token, credential, **more):
        return self.sidecar.call("account.link", {"idToken": token, "credential": credential, **more})

    def providers(self, account_id):
        return [each["providerId"] for each in self.sidecar.call("account.get", {"accountId": account_id})["providers"]]
