"""Every method with the continuation tokens of every flow and step: valid, expired, and of other tenants."""

import itertools

import jwt

from sidecar import RpcError
from test_bad_input_people import OTHER, PASSWORD, WRONG, People

STEPS = {
    "signUp.submitCode": {"code": WRONG}, "signUp.resendCode": {}, "signUp.submitPassword": {"password": PASSWORD},
    "signUp.submitAttributes": {"attributes": {"size": 1}}, "signIn.submitCode": {"code": WRONG}, "signIn.resendCode": {},
    "signIn.submitPassword": {"password": WRONG}, "signIn.withContinuation": {}, "passwordReset.submitCode": {"code": WRONG},
    "passwordReset.resendCode": {}, "passwordReset.submitPassword": {"password": OTHER},
    "mfa.challenge": {"factorId": "1"}, "mfa.resolve": {"code": WRONG}, "mfa.enroll": {"kind": "totp"}, "mfa.confirm": {"code": WRONG},
}

# The outcome of each method of a flow at each of its steps. All other methods reject the token.
STANDS = {
    "signUp at its code": {
        "signUp.submitCode": "invalidCode", "signUp.resendCode": "codeRequired", "signUp.submitPassword": "codeRequired",
        "signUp.submitAttributes": "codeRequired"},
    "signUp at its password": {"signUp.submitPassword": "attributesRequired"},
    "signUp at its attributes": {"signUp.submitAttributes": "completed"},
    "signUp completed": {"signIn.withContinuation": "completed"},
    "signIn at its code": {"signIn.submitCode": "invalidCode", "signIn.resendCode": "codeRequired"},
    "signIn at its password": {"signIn.submitPassword": "invalidPassword"},
    "passwordReset at its code": {"passwordReset.submitCode": "invalidCode", "passwordReset.resendCode": "codeRequired"},
    "passwordReset at its password": {"passwordReset.submitPassword": "completed"},
    "passwordReset completed": {"signIn.withContinuation": "completed"},
}


class Matrix(People):
    """The combinations of flow, step, method, tenant and expiry."""

    def setUp(self):
        super().setUp()
        self.numbers = itertools.count()
        for tenant in ("one", "two"):
            self.tenant(tenant, localAccountMethod="either", attributes=[{"name": "size", "type": "integer", "required": True}])
            self.tenant(tenant + "p", localAccountMethod="emailPassword", attributes=[{"name": "size", "type": "integer", "required": True}])

    def token(self, stand, tenant):
        """Returns a continuation token of a new flow at the given step."""
        kind, _, where = stand.partition(" at its ")
        kind, address = kind.split(" ")[0], f"user{next(self.numbers)}@example.com"
        place = {"tenantId": tenant + "p"}
        if kind == "signUp":
            token = self.start(address, **place)
            if where == "code":
                return token
            token = self.submit(token, address=address)["continuationToken"]
            if where == "password":
                return token
            token = self.call("signUp.submitPassword", continuationToken=token, password=PASSWORD)["continuationToken"]
            return token if where else self.attributes(token, size=1)["continuationToken"]
        self.account(address, None if (kind, where) == ("signIn", "code") else PASSWORD, **({"tenantId": tenant} if where == "code" and kind == "signIn" else place))
        token = self.start(address, kind, tenantId=tenant if (kind, where) == ("signIn", "code") else place["tenantId"])
        if kind == "signIn" or where == "code":
            return token
        token = self.submit(token, kind=kind, address=address)["continuationToken"]
        return token if where else self.call("passwordReset.submitPassword", continuationToken=token, password=OTHER)["continuationToken"]

    def outcome(self, method, token):
        try:
            return self.call(method, continuationToken=token, **STEPS[method])["state"]
        except RpcError as error:
            return error.type

    @staticmethod
    def is_for(stand, method):
        """Returns whether a method accepts tokens of this kind of flow."""
        kind = stand.split(" ")[0]
        if method.startswith("mfa."):
            return True   # Each of these flows can require a second factor.
        return kind != "signIn" if method == "signIn.withContinuation" else method.split(".")[0] == kind

    def test_every_method_with_token_of_every_step(self):
        for stand, method in itertools.product(STANDS, STEPS):
            with self.subTest(stand=stand, method=method):
                wanted = STANDS[stand].get(method, "stepNotPossible" if self.is_for(stand, method) else "continuationTokenInvalid")
                self.assertEqual(self.outcome(method, self.token(stand, "one")), wanted)

    def test_every_method_with_expired_token(self):
        tokens = {stand: self.token(stand, "one") for stand in STANDS}
        self.advance(1200)
        for stand, method in itertools.product(STANDS, STEPS):
            with self.subTest(stand=stand, method=method):
                wanted = "continuationTokenExpired" if self.is_for(stand, method) else "continuationTokenInvalid"
                self.assertEqual(self.outcome(method, tokens[stand]), wanted)

    def test_token_is_bound_to_its_tenant(self):
        # The token determines the tenant. No step accepts `tenantId`, and the resulting tokens are valid in that tenant only.
        for stand, method in itertools.product(STANDS, STEPS):
            with self.subTest(stand=stand, method=method):
                params = {"continuationToken": "x", "tenantId": "two", **STEPS[method]}
                self.assertEqual({pointer for pointer, _ in self.violations(self.sidecar, method, params)}, {"/tenantId"})
        for stand in ("signUp completed", "passwordReset completed"):
            done = self.call("signIn.withContinuation", continuationToken=self.token(stand, "one"))
            issuer = self.call("tenant.get", tenantId="onep")["issuer"]
            self.assertEqual(jwt.decode(done["idToken"], options={"verify_signature": False})["iss"], issuer)
            self.no("tokenIssuerMismatch", "token.verify", token=done["idToken"], tenantId="twop")
        self.call("tenant.delete", tenantId="twop")
        for stand in ("signUp at its code", "signUp completed"):
            token = self.token(stand, "one")
            self.call("tenant.delete", tenantId="onep")
            self.no("flowEnded", next(iter(STANDS[stand])), continuationToken=token, **STEPS[next(iter(STANDS[stand]))])
            self.tenant("onep", localAccountMethod="emailPassword", attributes=[{"name": "size", "type": "integer", "required": True}])
            self.no("flowEnded", next(iter(STANDS[stand])), continuationToken=token, **STEPS[next(iter(STANDS[stand]))])
