"""Sign-in with Canaille, a provider whose issuer ends with a slash, with dynamic client registration and Ed25519 signatures."""

import jwt

from canailleprovider import Canaille
from endtoend import EndToEnd
from test_whole_flow import parameters

BACK = "https://shop.example.com/back"
LOCAL = "a local Passphrase 7"


class WithCanaille(EndToEnd):
    @classmethod
    def setUpClass(cls):
        cls.provider = Canaille(cls.addClassCleanup, "alice", "bob")

    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn(testing=True)
        self.client = self.create("oidc.canaille", "EdDSA")
        self.alice, self.bob = self.provider.person("alice"), self.provider.person("bob")

    def create(self, provider_id, algorithm, **more):
        client = self.provider.register(BACK, algorithm)
        self.sidecar.call("idp.create", {"providerId": provider_id, **client, **more})
        return client

    def authorize(self, provider_id="oidc.canaille", **more):
        return self.sidecar.call("idp.authorize", {"providerId": provider_id, "redirectUri": BACK, **more})

    def come_back(self, person, provider_id="oidc.canaille", answer="accept", **more):
        flow = self.authorize(provider_id, **more)
        return {"continuationToken": flow["continuationToken"], "url": self.provider.send(person, flow["authorizationUrl"], answer)}

    def sign_in(self, credential, **more):
        return self.sidecar.call("signIn.withCredential", {"credential": credential, **more})


class SignIn(WithCanaille):
    def test_sign_in_succeeds_with_every_algorithm(self):
        self.assertTrue(self.provider.issuer.endswith("/"))
        # RFC 9864 defines the name Ed25519 for this use of EdDSA.
        for algorithm in ("EdDSA", "Ed25519", "RS256"):
            with self.subTest(algorithm):
                name = f"oidc.{algorithm.lower()}"
                self.create(name, algorithm)
                checked = self.sidecar.call("idp.test", {"providerId": name})
                self.assertTrue(checked["ok"], checked)
                answer = self.sign_in(self.come_back(self.alice, name), returnProviderTokens=True)
                self.assertEqual((answer["state"], answer["account"]["email"]), ("completed", "alice@example.com"))
                token = answer["providerTokens"]["idToken"]
                self.assertEqual(jwt.get_unverified_header(token)["alg"], algorithm)
                self.assertEqual(jwt.decode(token, options={"verify_signature": False})["iss"], self.provider.issuer)
                self.sidecar.call("account.delete", {"accountId": answer["account"]["accountId"]})

    def test_rsa_key_without_algorithm_accepts_only_rs256(self):
        self.create("oidc.other", "PS384")
        error = self.refused("invalidCredential", self.sidecar, "signIn.withCredential", {"credential": self.come_back(self.alice, "oidc.other")})
        self.assertEqual(error.data["check"], "algorithm")
        self.assertEqual(self.sidecar.call("account.list", {})["accounts"], [])

    def test_issuer_without_trailing_slash_does_not_match(self):
        self.sidecar.call("idp.create", {"providerId": "oidc.bare", **self.client, "issuer": self.provider.issuer.rstrip("/")})
        checks = {each["check"]: each for each in self.sidecar.call("idp.test", {"providerId": "oidc.bare"})["checks"]}
        self.assertFalse(checks["discovery"]["ok"])
        self.assertIn("slash", checks["discovery"]["message"])
        error = self.refused("providerUnusable", self.sidecar, "idp.authorize", {"providerId": "oidc.bare", "redirectUri": BACK})
        self.assertIn(self.provider.issuer, error.message)

    def test_denied_consent_fails_sign_in(self):
        credential = self.come_back(self.alice, answer="deny")
        error = self.refused("signInRefused", self.sidecar, "signIn.withCredential", {"credential": credential})
        self.assertEqual(error.data["error"], "access_denied")
        # As announced in its metadata, this provider adds `iss` to every response, except for errors that it finds early. Such an error only ends the
        # flow.
        flow = self.authorize()
        url = f"{BACK}?error=invalid_scope&state={parameters(flow['authorizationUrl'])['state']}"
        error = self.refused("signInRefused", self.sidecar, "signIn.withCredential", {"credential": {"continuationToken": flow["continuationToken"], "url": url}})
        self.assertEqual(error.data["error"], "invalid_scope")

    def test_response_with_wrong_issuer_is_rejected(self):
        credential = self.come_back(self.alice)
        whole = credential["url"]
        for url in (whole[:whole.index("&iss=")], whole.replace("&iss=", "&iss=x"), whole + "x"):
            error = self.refused("callbackInvalid", self.sidecar, "signIn.withCredential", {"credential": {**credential, "url": url}})
            self.assertEqual(error.data["check"], "issuer")
        self.assertEqual(self.sign_in(credential)["state"], "completed")

    def test_code_of_other_flow_fails_pkce_verification(self):
        mine, theirs = self.come_back(self.alice), self.come_back(self.bob)
        stolen = mine["url"].replace(parameters(mine["url"])["code"], parameters(theirs["url"])["code"])
        error = self.refused("invalidCredential", self.sidecar, "signIn.withCredential", {"credential": {**mine, "url": stolen}})
        self.assertEqual(error.data["check"], "code")
        self.assertIn("invalid_grant", error.message)


class Accounts(WithCanaille):
    def test_provider_can_be_linked_and_used_for_reauthentication(self):
        account = self.sidecar.call("account.create", {"username": "alice@example.org", "password": LOCAL})["accountId"]
        token = self.sidecar.call("signIn.withPassword", {"username": "alice@example.org", "password": LOCAL})["idToken"]
        linked = self.sidecar.call("account.link", {"idToken": token, "credential": self.come_back(self.alice, idToken=token)})
        self.assertEqual([(each["providerId"], each["subject"]) for each in linked["account"]["providers"]],
                         [("password", "alice@example.org"), ("oidc.canaille", "alice")])
        self.assertEqual(self.sign_in(self.come_back(self.alice))["account"]["accountId"], account)
        self.sidecar.call("test.clock", {"advanceSeconds": 250})
        again = self.sidecar.call("account.reauthenticate", {"idToken": token, "credential": self.come_back(self.alice)})
        self.assertEqual(again["account"]["accountId"], account)
        error = self.refused("userMismatch", self.sidecar, "account.reauthenticate", {"idToken": token, "credential": self.come_back(self.bob)})
        self.assertNotIn("bob", error.message)
        bob = self.sign_in(self.come_back(self.bob))["idToken"]
        error = self.refused("credentialAlreadyInUse", self.sidecar, "account.link", {"idToken": bob, "credential": self.come_back(self.alice)})
        self.assertEqual(self.sign_in({"pendingToken": error.data["pendingToken"]})["account"]["accountId"], account)

    def test_id_token_of_provider_is_accepted_as_pool_login(self):
        token = self.sign_in(self.come_back(self.alice), returnProviderTokens=True)["providerTokens"]["idToken"]
        pool = self.sidecar.call("pool.create", {"name": "shop", "providers": [{"issuer": self.provider.issuer, "clientIds": [self.client["clientId"]]}]})["poolId"]
        role = self.sidecar.call("role.put", {"name": "reader", "poolId": pool})["roleArn"]
        self.sidecar.call("pool.setRoles", {"poolId": pool, "roles": {"authenticated": role}})
        logins = {self.provider.issuer.split("://")[1]: token}
        identity = self.sidecar.call("identity.resolve", {"poolId": pool, "logins": logins})
        self.assertTrue(identity["isNewIdentity"])
        bought = self.sidecar.call("credentials.get", {"identityId": identity["identityId"], "logins": logins})
        self.assertEqual((bought["identityId"], bought["roleArn"]), (identity["identityId"], role))
        verified = self.sidecar.call("credentials.verify", {"sessionToken": bought["credentials"]["sessionToken"]})
        self.assertEqual(verified["principal"]["identityId"], identity["identityId"])
        head, body, signature = token.split(".")
        for forged in (f"{head}.{body}.{signature[:-4]}AAAA", f"{head}.{body}."):
            self.refused("loginTokenInvalid", self.sidecar, "identity.resolve", {"poolId": pool, "logins": {next(iter(logins)): forged}})
