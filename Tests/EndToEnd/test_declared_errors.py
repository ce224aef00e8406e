"""Methods with an ID token fail with an error that they declare, for every kind of token that cannot be used."""

import json
import time

from checker import load, method_names
from endtoend import EndToEnd, decode, encode, make_pool, mint
from sidecar import RpcError

PASSWORD = "a-long-enough-passphrase-77"
SECRET = {"username": "nobody@example.com", "password": PASSWORD}
# The other parameters of the methods that need some.
PARAMS = {
    "account.changeEmail": {"email": "new@example.com"},
    "account.changePassword": {"currentPassword": PASSWORD, "newPassword": PASSWORD + "8"},
    "account.link": {"credential": SECRET}, "account.merge": {"dryRun": True}, "account.providerToken": {"providerId": "google.com"},
    "account.reauthenticate": {"credential": SECRET}, "account.unlink": {"providerId": "password"},
    "idp.authorize": {"providerId": "google.com", "redirectUri": "https://shop.example.com/back"},
    "idp.authorizeDevice": {"providerId": "google.com"},
    "mfa.enroll": {"kind": "totp"}, "mfa.withdraw": {"factorId": "00000000-0000-4000-8000-000000000000"},
}


class DeclaredErrors(EndToEnd):
    stores = ("sqlite",)

    def setUp(self):
        super().setUp()
        self.sidecar, self.users = self.spawn(testing=True), 0
        self.sidecar.call("test.clock", {"setAt": int(time.time()), "freeze": True})
        self.sidecar.call("tenant.update", {"tenantId": "default", "mfa": "optional"})
        self.sidecar.call("tenant.create", {"tenantId": "other"})
        self.sidecar.call("idp.create", {"providerId": "google.com", "clientId": "shop", "clientSecret": "s"})

    def sign_in(self, tenant="default"):
        """Creates an account and returns the response of its sign-in."""
        self.users += 1
        user = {"tenantId": tenant, "username": f"u{self.users}@example.com", "password": PASSWORD}
        self.sidecar.call("account.create", {**user, "emailVerified": True})
        return self.sidecar.call("signIn.withPassword", user)

    def tokens(self):
        """Yields tokens that cannot be used, each with the error that is expected."""
        call, usual = self.sidecar.call, self.sign_in()
        head, claims, signature = usual["idToken"].split(".")
        header = json.loads(decode(head))
        disabled, deleted, merged, ended, removed = self.sign_in(), self.sign_in(), self.sign_in(), self.sign_in(), self.sign_in("other")
        call("account.update", {"accountId": disabled["account"]["accountId"], "disabled": True})
        call("account.delete", {"accountId": deleted["account"]["accountId"]})
        call("account.merge", {"idToken": self.sign_in()["idToken"], "sourceIdToken": merged["idToken"], "policy": "keepTarget"})
        call("session.signOut", {"refreshToken": ended["refreshToken"]})
        other = self.sign_in("other")["idToken"]
        pool = mint(self.sidecar, make_pool(self.sidecar)["poolId"])["token"]
        yield "tokenMalformed", "a.b.c"
        yield "tokenAlgorithmNotAllowed", ".".join([encode({**header, "alg": "HS256"}), claims, signature])
        yield "tokenKeyUnknown", ".".join([encode({**header, "kid": "none"}), claims, signature])
        yield "tokenSignatureInvalid", ".".join([head, claims, "A" * len(signature)])
        yield "tokenUseMismatch", usual["accessToken"]
        yield "tokenUseMismatch", pool
        yield "tokenIssuerMismatch", other   # only where the request names a tenant
        yield "tokenRevoked", disabled["idToken"]
        yield "tokenRevoked", deleted["idToken"]
        yield "accountMerged", merged["idToken"]
        yield "tokenRevoked", ended["idToken"]
        call("tenant.delete", {"tenantId": "other"})
        yield "tokenKeyUnknown", removed["idToken"]
        call("test.clock", {"advanceSeconds": -3600})
        yield "tokenNotYetValid", usual["idToken"]
        call("test.clock", {"advanceSeconds": 90_000})
        yield "tokenExpired", usual["idToken"]

    def test_methods_with_an_id_token_declare_their_errors(self):
        """The harness fails on an error that is not declared."""
        names = [name for name in sorted(method_names()) if "idToken" in load(f"methods/{name}.json")["params"]["properties"]]
        self.assertLessEqual(set(PARAMS), set(names))
        for wanted, token in self.tokens():
            usual = self.sign_in()["idToken"]
            for name in names:
                params = {"idToken": token, **PARAMS.get(name, {})}
                merges = [{**params, "sourceIdToken": usual}, {**params, "idToken": usual, "sourceIdToken": token}]
                for each in merges if name == "account.merge" else [params]:
                    with self.subTest(name, wanted=wanted):
                        try:
                            self.sidecar.call(name, each)
                            found = None
                        except RpcError as error:
                            found = error.type
                        if name in ("idp.authorize", "idp.authorizeDevice", "mfa.list") and wanted != "tokenIssuerMismatch":
                            self.assertEqual(found, wanted)
