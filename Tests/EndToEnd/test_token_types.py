"""ID tokens of external issuers: which types, purposes and audiences are accepted as a login, in every method with such tokens."""

import math
import random
import time

from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import ECAlgorithm

from endtoend import encode
from federation import Federation
from test_logins import Provider
from websites import KEYS, OpenIDWebsite, page

API = "https://api.example"
# Each row: aud, azp, and whether the token is accepted as a login for the client IDs shop and ios.
AUDIENCES = [
    ("shop", None, True), ("ios", None, True), (["shop"], None, True), (["shop", "ios"], None, True),
    ("shop", "shop", True), ("shop", "ios", True), (["shop", "other"], "ios", True), (["other", "shop"], "shop", True),
    # azp never replaces aud: these are access tokens for another API that a client of the application received.
    (API, "shop", False), ([API], "shop", False), ([API, "other"], "ios", False),
    ("shop", "other", False), (["shop"], "other", False), (["shop", "other"], "other", False), (["shop", "other"], None, False), (["other"], None, False),
    ("shop", "", False), ("shop", 7, False), ("shop", ["shop"], False), ("shop", {}, False),
    (None, None, False), (None, "shop", False), ("", "shop", False), ([], "shop", False), (7, "shop", False), (["shop", 7], "shop", False), (["shop", ""], None, False), ({"shop": True}, "shop", False),
]
GOOD_TYPES = [None, "JWT", "jwt", "Jwt", "application/jwt", "APPLICATION/JWT"]
OTHER_TYPES = [
    "at+jwt", "AT+JWT", "application/at+jwt", "logout+jwt", "dpop+jwt", "secevent+jwt", "token-introspection+jwt", "oauth-authz-req+jwt", "oauth-id-jag+jwt", "txntoken+jwt",
    "client-authentication+jwt", "entity-statement+jwt", "pool+jwt", "JOSE", "application/jose", "application/x/jwt", "JWT ", " JWT", "", "id_token",
]
OTHER_PURPOSES = [
    {"events": {"http://schemas.openid.net/event/backchannel-logout": {}}}, {"events": {}}, {"events": None}, {"token_use": "access"}, {"token_use": "refresh"}, {"token_use": 7}, {"token_use": None},
    {"typ": "Bearer"}, {"typ": "bearer"}, {"typ": "Refresh"}, {"typ": "Logout"}, {"typ": "Offline"},
]


def signed(provider, header, claims):
    """Returns a token with an arbitrary header and arbitrary claims, including those that PyJWT does not sign."""
    header = {name: value for name, value in {"alg": "ES256", "kid": provider.kid, **header}.items() if value is not None}
    text = f"{encode(header)}.{encode(claims)}"
    return f"{text}.{encode(ECAlgorithm(ECAlgorithm.SHA256).sign(text.encode(), provider.key))}"


class ForeignTokens(Federation):
    stores = ("sqlite",)

    def setUp(self):
        super().setUp()
        self.sidecar.call("idp.update", {"providerId": "oidc.work", "moreClientIds": ["ios"]})
        self.pool = self.sidecar.call("pool.create", {"name": "shop", "allowClassicFlow": True, "providers": [
            {"issuer": self.provider.issuer, "clientIds": ["shop", "ios"], "keys": [self.provider.jwk]}]})["poolId"]
        role = self.sidecar.call("role.put", {"name": "reader", "poolId": self.pool})["roleArn"]
        self.sidecar.call("pool.setRoles", {"poolId": self.pool, "roles": {"authenticated": role}})
        self.login = self.provider.issuer.split("://")[1]
        self.identity = self.sidecar.call("identity.resolve", {"poolId": self.pool, "logins": {self.login: self.token()}})["identityId"]

    def token(self, header={}, **claims):
        now = int(time.time())
        claims = {"iss": self.provider.issuer, "sub": "carol", "aud": "shop", "iat": now, "exp": now + 600, **claims}
        return signed(self.provider, header, {name: value for name, value in claims.items() if value is not None or name in ("events", "token_use")})

    def doors(self, token):
        """Returns every method that accepts such a token, with its params and its error type."""
        logins = {self.login: token}
        credential = {"credential": {"providerId": "oidc.work", "idToken": token}}
        own = {"idToken": self.own}
        return [
            ("identity.resolve", {"poolId": self.pool, "logins": logins}, "loginTokenInvalid"), ("token.mint", {"identityId": self.identity, "logins": logins}, "loginTokenInvalid"),
            ("credentials.get", {"identityId": self.identity, "logins": logins}, "loginTokenInvalid"), ("signIn.withCredential", credential, "invalidCredential"),
            ("account.link", {**credential, **own}, "invalidCredential"), ("account.reauthenticate", {**credential, **own}, "invalidCredential")]

    @property
    def own(self):
        if not hasattr(self, "_own"):
            self._own = self.password_account("dora@example.com")[1]
        return self._own

    def accepted(self, token):
        self.assertEqual(self.sidecar.call("identity.resolve", {"poolId": self.pool, "logins": {self.login: token}})["identityId"], self.identity)
        self.assertEqual(self.sidecar.call("signIn.withCredential", {"credential": {"providerId": "oidc.work", "idToken": token}})["state"], "completed")

    def rejected(self, token, *checks):
        for method, params, wanted in self.doors(token):
            error = self.sidecar.refusal(method, params)
            self.assertEqual(error.type, wanted, (method, error))
            self.assertIn(error.data["check"], checks, (method, error))

    def test_audience_must_be_a_client_id(self):
        for aud, azp, isLogin in AUDIENCES:
            with self.subTest(aud=aud, azp=azp):
                token = self.token(aud=aud, azp=azp)
                if isLogin:
                    self.accepted(token)
                else:
                    self.rejected(token, "audience", "authorizedParty")

    def test_header_type_must_be_jwt_or_omitted(self):
        for kind in GOOD_TYPES:
            with self.subTest(kind):
                self.accepted(self.token({"typ": kind}))
        for kind in OTHER_TYPES:
            with self.subTest(kind):
                self.rejected(self.token({"typ": kind}), "type")
        for kind in (7, ["JWT"], {"typ": "JWT"}, True):
            with self.subTest(kind):
                self.rejected(self.token({"typ": kind}), "malformed")

    def test_tokens_for_other_purposes_fail(self):
        for claims in OTHER_PURPOSES:
            with self.subTest(claims):
                self.rejected(self.token(**claims), "type")
        for claims in ({"token_use": "id"}, {"typ": "ID"}, {"typ": "JWT"}):
            with self.subTest(claims):
                self.accepted(self.token(**claims))

    def test_access_token_for_another_api_is_not_accepted_as_login(self):
        """The operator of an API receives access tokens of the application's client for it. These tokens must not prove a login."""
        for header in ({"typ": "at+jwt"}, {"typ": "JWT"}, {}):
            self.rejected(self.token(header, aud=API, azp="shop", client_id="shop", scope="openid"), "type", "audience")

    def test_id_token_from_a_token_endpoint_must_satisfy_the_same_rules(self):
        """The rules also apply to ID tokens that Mintmark receives in an authorization code flow."""
        site = OpenIDWebsite()
        self.addCleanup(site.close)
        answer = {}
        site.pages["/.well-known/openid-configuration"] = page({
            "issuer": site.issuer, "jwks_uri": site.issuer + KEYS, "authorization_endpoint": site.issuer + "/a", "token_endpoint": site.issuer + "/t"})
        site.pages["/t"] = lambda request: (request.rfile.read(int(request.headers["Content-Length"])), page({"id_token": answer["token"], "token_type": "Bearer"}))[1]
        self.sidecar.call("idp.create", {"providerId": "oidc.site", "clientId": "shop", "clientSecret": "s", "issuer": site.issuer, "responseType": "code"})
        key = Provider(site.issuer, kid="first")
        key.key = site.keys["first"]
        for header, claims, check in [({"typ": "at+jwt"}, {}, "type"), ({}, {"events": {}}, "type"), ({}, {"aud": API, "azp": "shop"}, "audience"), ({}, {"azp": "other"}, "authorizedParty"), ({}, {}, None)]:
            flow = self.sidecar.call("idp.authorize", {"providerId": "oidc.site", "redirectUri": "https://shop.example.com/back"})
            sent = dict(each.split("=") for each in flow["authorizationUrl"].split("?")[1].split("&"))
            now = int(time.time())
            answer["token"] = signed(key, header, {"iss": site.issuer, "sub": "carol", "aud": "shop", "iat": now, "exp": now + 600, "nonce": sent["nonce"], **claims})
            credential = {"continuationToken": flow["continuationToken"], "url": f"https://shop.example.com/back?code=c&state={sent['state']}"}
            if check is None:
                self.assertEqual(self.sidecar.call("signIn.withCredential", {"credential": credential})["state"], "completed")
            else:
                self.assertEqual(self.refused("invalidCredential", self.sidecar, "signIn.withCredential", {"credential": credential}).data["check"], check)

    def test_google_login_is_selected_by_audience_and_azp(self):
        google = Provider("https://accounts.google.com")
        settings = {"provider": "accounts.google.com", "clientIds": ["web", "ios"], "keys": [google.jwk]}
        pool = self.sidecar.call("pool.create", {"name": "google", "providers": [settings]})["poolId"]
        def resolve(**claims):
            return self.sidecar.call("identity.resolve", {"poolId": pool, "logins": {"accounts.google.com": google.token(**claims)}})["identityId"]
        web, ios = resolve(aud="web"), resolve(aud="ios")
        self.assertNotEqual(web, ios)
        self.assertEqual([resolve(aud="web", azp="android"), resolve(aud="web", azp="ios"), resolve(aud="web", azp="web")], [web, ios, web])
        self.refused("loginTokenInvalid", self.sidecar, "identity.resolve", {"poolId": pool, "logins": {"accounts.google.com": google.token(aud="android", azp="web")}})


class WeakKeys(Federation):
    """RSA keys of the ROCA form (CVE-2017-15361): each prime is k * M + (65537 ** a mod M), where M is a product of small primes."""

    stores = ("sqlite",)

    PRIMES = [number for number in range(2, 168) if all(number % divisor for divisor in range(2, number))]
    M = math.prod(PRIMES)

    @classmethod
    def is_prime(cls, number):
        if any(number % prime == 0 for prime in cls.PRIMES):
            return False
        odd, twos = number - 1, 0
        while odd % 2 == 0:
            odd, twos = odd // 2, twos + 1
        for base in (2, 3, 5, 7, 11, 13, 17, 19):
            power = pow(base, odd, number)
            if power in (1, number - 1):
                continue
            for _ in range(twos - 1):
                power = power * power % number
                if power == number - 1:
                    break
            else:
                return False
        return True

    @classmethod
    def weak_key(cls, seed=15361):
        source = random.Random(seed)
        def prime():
            while True:
                number = source.getrandbits(1025 - cls.M.bit_length()) * cls.M + pow(65537, source.randrange(1 << 64), cls.M)
                if number >> 1022 == 3 and cls.is_prime(number):
                    return number
        p, q = prime(), prime()
        d = pow(65537, -1, (p - 1) * (q - 1))
        public = rsa.RSAPublicNumbers(65537, p * q)
        return rsa.RSAPrivateNumbers(p, q, d, d % (p - 1), d % (q - 1), pow(q, -1, p), public).private_key()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.key = cls.weak_key()

    def provider_of(self, key):
        provider = Provider("https://weak.example.com", algorithm="RS256")
        provider.key = key
        return provider

    def test_weak_key_in_the_settings_fails(self):
        weak, good = self.provider_of(self.key), Provider("https://weak.example.com", algorithm="RS256")
        for jwk, wanted in [(weak.jwk, False), (good.jwk, True)]:
            requests = [
                ("idp.create", {"providerId": "oidc.weak", "clientId": "shop", "issuer": weak.issuer, "keys": [jwk]}, "invalidIdp"),
                ("pool.create", {"name": "shop", "providers": [{"issuer": weak.issuer, "clientIds": ["shop"], "keys": [jwk]}]}, "invalidPoolProvider")]
            for method, params, error in requests:
                if wanted:
                    self.sidecar.call(method, params)
                else:
                    self.assertIn("CVE-2017-15361", self.refused(error, self.sidecar, method, params).message)

    def test_weak_key_in_a_fetched_key_set_fails_with_the_reason(self):
        for others in ([], ["first"]):
            with self.subTest(others):
                site = OpenIDWebsite(algorithm="RS256")
                self.addCleanup(site.close)
                site.keys["weak"] = self.key
                site.pages[KEYS] = page({"keys": [site.jwk(kid) for kid in [*others, "weak"]]})
                name = f"oidc.w{site.port}"
                self.sidecar.call("idp.create", {"providerId": name, "clientId": "shop", "issuer": site.issuer})
                error = self.refused("providerUnusable", self.sidecar, "signIn.withCredential", {"credential": {"providerId": name, "idToken": site.token(kid="weak")}})
                self.assertEqual(error.data["check"], "keys")
                self.assertIn("CVE-2017-15361", error.message)
                pool = self.sidecar.call("pool.create", {"name": "shop", "providers": [site.settings()]})["poolId"]
                error = self.refused("providerUnusable", self.sidecar, "identity.resolve", {"poolId": pool, "logins": {site.name: site.token(kid="weak")}})
                self.assertIn("CVE-2017-15361", error.message)
                if others:
                    self.assertEqual(self.sidecar.call("signIn.withCredential", {"credential": {"providerId": name, "idToken": site.token(kid="first")}})["state"], "completed")
