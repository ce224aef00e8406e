"""Clients of the identity provider for tests that authenticate with signed assertions (`private_key_jwt`, RFC 7523). The keys are made by joserfc."""

import base64
import hmac
import json
import secrets
import time

from authlib.integrations.httpx_client import OAuth2Client
from authlib.oauth2.rfc7523 import PrivateKeyJWT
from endtoend import encode, only
from joserfc import jwk, jws
from test_test_idp import BACK, WithProvider
from test_test_idp_registration import request
from test_test_idp_tokens import EXCHANGE
from websites import closed_port, page, Website

KIND = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"
ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token"
RESOURCE = "http://127.0.0.1:9/mcp"


def keys(count=1, alg="ES256"):
    """Returns keys with the IDs k0, k1 and so on."""
    made = []
    for number in range(count):
        known = {"kid": f"k{number}", "use": "sig", "alg": alg}
        kind = alg[:2]
        if kind == "ES":
            made.append(jwk.ECKey.generate_key({"256": "P-256", "384": "P-384", "512": "P-521"}[alg[2:]], known))
        elif alg == "EdDSA":
            made.append(jwk.OKPKey.generate_key("Ed25519", known))
        else:
            made.append(jwk.RSAKey.generate_key(2048, known))
    return made


def public(*known, **more):
    return [{**each.as_dict(private=False), **more} for each in known]


class Assertions(WithProvider):
    def setUp(self):
        super().setUp()
        self.user = self.account()["accountId"]
        self.key, self.other = keys(2)
        self.begin()

    def begin(self, **more):
        job = {"clientId": "job", "keys": public(self.key), "redirectUris": [BACK], **more}
        self.issuer = self.sidecar.call("test.idp", {"issuers": [{
            "name": "signed", "tenantId": "default", "signInAs": "alice@example.com", "clients": [
                {name: value for name, value in job.items() if value is not None}, {"clientId": "server", "clientSecret": "a secret"},
                {"clientId": "app", "redirectUris": [BACK]}]}]})["issuer"]

    def assertion(self, header=None, key=None, alg="ES256", **claims):
        """Returns a good assertion, with changed claims and header fields. `None` removes one."""
        now = int(time.time())
        known = {"iss": "job", "sub": "job", "aud": self.issuer, "iat": now, "exp": now + 300, "jti": secrets.token_urlsafe(12), **claims}
        head = {"alg": alg, "kid": "k0", **(header or {})}
        body = json.dumps({name: value for name, value in known.items() if value is not None})
        return jws.serialize_compact({name: value for name, value in head.items() if value is not None}, body, key or self.key, algorithms=[head["alg"]])

    def ask(self, signed, path="/token", /, **form):
        answer = self.person.open(self.issuer + path, {
            "client_assertion_type": KIND, "client_assertion": signed, **({"grant_type": "client_credentials"} if path == "/token" else {}), **form})
        return answer.status, json.loads(answer.body) if answer.body else {}

    def accepted(self, signed, /, **form):
        status, answer = self.ask(signed, **form)
        self.assertEqual(status, 200, answer)
        return answer

    def not_accepted(self, words, signed, wanted="invalid_client", /, **form):
        status, answer = self.ask(signed, **form)
        self.assertEqual((status, answer["error"]), (401 if wanted == "invalid_client" else 400, wanted), answer)
        self.assertIn(words, answer["error_description"])
        self.assertNotIn(signed.rsplit(".", 1)[-1] or signed, answer["error_description"])


class Configured(Assertions):
    @only("sqlite", "postgres")
    def test_client_of_authlib_uses_every_endpoint(self):
        with OAuth2Client("job", self.key, token_endpoint_auth_method="private_key_jwt", revocation_endpoint_auth_method="private_key_jwt", scope="openid offline_access", redirect_uri=BACK, trust_env=False) as http:
            http.register_client_auth_method(PrivateKeyJWT(alg="ES256", headers={"kid": "k0"}))
            url, _ = http.create_authorization_url(self.issuer + "/authorize")
            token = http.fetch_token(self.issuer + "/token", authorization_response=self.person.open(url).headers["Location"])
            self.assertEqual(self.verified(token["id_token"], "job", self.issuer)["sub"], self.user)
            fresh = http.refresh_token(self.issuer + "/token", refresh_token=token["refresh_token"])
            self.assertNotEqual(fresh["refresh_token"], token["refresh_token"])
            told = http.introspect_token(self.issuer + "/introspect", token=fresh["access_token"]).json()
            self.assertEqual((told["active"], told["client_id"], told["sub"]), (True, "job", self.user))
            self.assertEqual(http.revoke_token(self.issuer + "/revoke", token=fresh["access_token"]).status_code, 200)
            self.assertEqual(http.introspect_token(self.issuer + "/introspect", token=fresh["access_token"]).json(), {"active": False})
            own = http.fetch_token(self.issuer + "/token", grant_type="client_credentials")
            self.assertEqual(self.verified(own["access_token"], "job", self.issuer)["sub"], "job")

    def test_device_and_challenge_endpoints_accept_assertions(self):
        device = self.ask(self.assertion(), "/device", scope="openid")[1]
        form = {"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": device["device_code"]}
        self.assertEqual(self.ask(self.assertion(), **form)[1]["error"], "authorization_pending")
        self.assertEqual(self.ask("x", "/device")[1]["error"], "invalid_client")
        self.assertEqual(self.ask("x", "/authorize-challenge", client_id="job")[1]["error"], "invalid_client")

    def test_discovery_names_the_method_and_its_algorithms(self):
        document = self.discovery(self.issuer)
        for name in ("token", "introspection", "revocation"):
            self.assertIn("private_key_jwt", document[name + "_endpoint_auth_methods_supported"])
            algorithms = document[name + "_endpoint_auth_signing_alg_values_supported"]
            self.assertLessEqual({"ES256", "RS256", "PS256", "EdDSA"}, set(algorithms))
            self.assertFalse({"none", "HS256"} & set(algorithms))

    def test_every_algorithm_of_discovery_is_accepted(self):
        for alg in self.discovery(self.issuer)["token_endpoint_auth_signing_alg_values_supported"]:
            with self.subTest(alg):
                key = keys(alg=alg)[0]
                self.begin(keys=public(key))
                self.accepted(self.assertion(key=key, alg=alg))
                # An RSA key without alg is for the algorithm of the header.
                known = [{name: value for name, value in each.items() if name not in ("alg", "kid", "use")} for each in public(key)]
                self.begin(keys=known)
                self.accepted(self.assertion({"kid": None}, key=key, alg=alg))

    def test_accepted_forms(self):
        url = self.issuer
        for claims in ({"aud": url}, {"aud": [url]}, {"aud": url + "/token"}, {"aud": [url, url + "/token"]}, {"iat": None}, {"nbf": int(time.time())}, {"exp": time.time() + 60.5}):
            self.accepted(self.assertion(**claims))
        for header in ({"typ": "JWT"}, {"typ": "client-authentication+jwt"}, {"kid": None}):
            self.accepted(self.assertion(header))
        self.accepted(self.assertion(), client_id="job")
        self.assertEqual(self.ask(self.assertion(aud=url + "/introspect"), "/introspect", token="x"), (200, {"active": False}))

    def test_bad_assertions_are_refused(self):
        now, url = int(time.time()), self.issuer
        header, payload, signature = self.assertion().split(".")
        for words, assertion in (
                ("not a JWT", "x"), ("not a JWT", f"{header}.{payload}"), ("not a JWT", f"{encode({})}.{payload}.{signature}"), ("not a JWT", "x" * 20_000),
                ("not that of the client's key", self.assertion(key=self.other)), ("no usable key with the kid k1", self.assertion({"kid": "k1"}, self.other)),
                ("not that of the client's key", f"{header}.{self.assertion(sub='job', jti='x').split('.')[1]}.{signature}")):
            with self.subTest(assertion):
                self.not_accepted(words, assertion)
        for name, words, claims in (
                ("another audience", "aud must be", {"aud": "https://other.example"}), ("no audience", "aud must be", {"aud": None}),
                ("audience of several", "aud must be", {"aud": [url, "https://other.example"]}), ("audience of another endpoint", "aud must be", {"aud": url + "/introspect"}),
                ("no audiences", "aud must be", {"aud": []}), ("number as audience", "aud must be", {"aud": 7}), ("audience with a slash", "aud must be", {"aud": url + "/"}),
                ("expired", "expired", {"exp": now - 1}), ("no exp", "exp is missing", {"exp": None}), ("exp as text", "exp must be a number", {"exp": str(now + 60)}),
                ("long life", "at most 3600", {"exp": now + 7200}), ("issued later", "in the future", {"iat": now + 600}), ("not yet valid", "in the future", {"nbf": now + 600}),
                ("another issuer", "iss and its sub", {"iss": "server"}), ("no issuer", "iss and its sub", {"iss": None}), ("no subject", "iss and its sub", {"sub": None}),
                ("empty", "iss and its sub", {"iss": "", "sub": ""}), ("subject as list", "iss and its sub", {"sub": ["job"]}),
                ("no jti", "jti", {"jti": None}), ("number as jti", "jti", {"jti": 7}), ("long jti", "jti", {"jti": "x" * 257}),
                ("unknown client", "Unknown client nobody", {"iss": "nobody", "sub": "nobody"}), ("client with a secret", "has no keys", {"iss": "server", "sub": "server"}),
                ("public client", "has no keys", {"iss": "app", "sub": "app"})):
            with self.subTest(name):
                self.not_accepted(words, self.assertion(**claims))
        for kind in ("at+jwt", "dpop+jwt", "oauth-id-jag+jwt", "logout+jwt"):
            self.not_accepted("typ must be", self.assertion({"typ": kind}))

    def test_other_algorithms_are_refused(self):
        """Unsigned, symmetric with the public key as the secret, and an algorithm of another kind of key."""
        plain = f"{encode({'alg': 'none'})}.{self.assertion().split('.')[1]}."
        self.not_accepted("not a JWT", plain)
        for secret in (json.dumps(public(self.key)[0]).encode(), self.key.as_pem(private=False)):
            text = f"{encode({'alg': 'HS256', 'kid': 'k0'})}.{self.assertion().split('.')[1]}"
            mac = base64.urlsafe_b64encode(hmac.digest(secret, text.encode(), "sha256")).rstrip(b"=").decode()
            self.not_accepted("not a JWT", f"{text}.{mac}")
        rsa = keys(alg="RS256")[0]
        self.not_accepted("signature", self.assertion(key=rsa, alg="RS256"))
        self.not_accepted("no usable key", self.assertion({"kid": None}, key=rsa, alg="RS256"))
        # A key in the header proves nothing.
        self.not_accepted("signature", self.assertion({"jwk": public(self.other)[0]}, self.other))

    def test_each_assertion_is_accepted_once(self):
        first = self.assertion()
        self.accepted(first)
        self.not_accepted("already used", first)
        self.not_accepted("already used", self.assertion(jti=claims(first)["jti"]))
        self.assertEqual(self.ask(first, "/introspect", token="x")[0], 401)
        # A refused one is not used up, and another issuer has its own.
        fine = self.assertion(jti="again")
        self.not_accepted("signature", self.assertion(key=self.other, jti="again"))
        self.accepted(fine)
        self.sidecar.call("test.idp", {"issuers": [{"name": "more", "tenantId": "default", "clients": [{"clientId": "job", "keys": public(self.key)}]}]})
        self.issuer = self.issuer.replace("/signed", "/more")
        self.accepted(self.assertion(jti="again"))

    def test_client_authenticates_in_one_way(self):
        self.not_accepted("once", self.assertion(), "invalid_request", client_secret="x")
        status, answer, _ = self.token(self.issuer, basic="job:x", client_assertion=self.assertion(), client_assertion_type=KIND, grant_type="client_credentials")
        self.assertEqual((status, answer["error"]), (400, "invalid_request"))
        for form in ({"client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:saml2-bearer"}, {"client_assertion_type": ""}, {"client_assertion": ""}):
            self.not_accepted("client_assertion_type", self.assertion(), "invalid_request", **form)
        self.not_accepted("client_id is not", self.assertion(), client_id="server")
        for form in ({}, {"client_secret": "x"}):
            self.assertIn("authenticates with private_key_jwt", self.no_token(
                "invalid_client", 401, issuer=self.issuer, grant_type="client_credentials", client_id="job", **form))
        self.assertEqual(self.token(self.issuer, grant_type="client_credentials", client_id="server", client_secret="a secret")[0], 200)

    def test_clock_of_the_store_or_of_the_machine_counts(self):
        self.sidecar.call("test.clock", {"setAt": int(time.time()) + 10 * 86_400, "freeze": True})
        later = int(time.time()) + 10 * 86_400
        self.accepted(self.assertion())
        self.accepted(self.assertion(iat=later, exp=later + 60))
        self.not_accepted("expired", self.assertion(exp=later - 60))

    def test_invalid_clients_are_refused_by_the_method(self):
        def found(**client):
            return self.violations(self.sidecar, "test.idp", {"issuers": [{"name": "x", "tenantId": "default", "clients": [{"clientId": "c", **client}]}]})
        at, good = "/issuers/0/clients/0", public(self.key)
        self.assertEqual(found(keys=good, clientSecret="s"), {(at + "/keys", "exclusive")})
        self.assertEqual(found(keys=good, jwksUri="https://a.example/jwks"), {(at + "/jwksUri", "exclusive")})
        for key in (self.key.as_dict(private=True), {"kty": "oct", "k": "c2VjcmV0"}, {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}, {**good[0], "use": "enc"}, {}):
            self.assertEqual(found(keys=good + [key]), {(at + "/keys/1", "key")}, key)
        self.assertEqual(found(keys=good, assertionIssuer="https://platform.example"), {(at + "/assertionIssuer", "dependency")})
        self.assertEqual(found(keys=good, assertionSubject="job"), {(at + "/assertionSubject", "dependency")})
        self.assertEqual(found(assertionIssuer="https://platform.example", assertionSubject="job"), {(at + "/assertionIssuer", "dependency")})
        for url in ("no url", "http://keys.example/jwks", "https://me@keys.example/jwks", "https://keys.example/#x", "ftp://127.0.0.1/jwks"):
            self.assertEqual(found(jwksUri=url), {(at + "/jwksUri", "url")}, url)

    def test_token_of_a_platform_authenticates_its_workload(self):
        """Workload identity federation: the platform signs, the provider has its keys, and the token is sent until it expires."""
        for family in ("kubernetes", "github", "spiffe"):
            def signed(header=None, **more):
                return self.sidecar.call("test.workloadToken", {"family": family, "claims": {"aud": [self.issuer], **more}, "header": header or {}})
            made = signed()
            federated = {"assertionIssuer": made["issuer"], "assertionSubject": claims(made["token"])["sub"]}
            self.begin(keys=made["keys"], **federated)
            for _ in range(2):
                answer = self.accepted(made["token"])
            self.assertEqual(self.verified(answer["access_token"], "job", self.issuer)["client_id"], "job")
            self.accepted(made["token"], client_id="job")
            self.not_accepted("client_id", made["token"], client_id="app")
            self.not_accepted("must be the assertionIssuer", self.assertion())
            for words, more in (
                    ("aud must be", {"aud": ["sts.amazonaws.com"]}), ("expired", {"exp": 1}), ("Unknown client", {"sub": "another"}),
                    ("Unknown client", {"iss": "https://other.example"}), ("at most 86400", {"exp": 2**33}), ("exp is missing", {"exp": None}),
                    ("typ must be", {"header": {"typ": "at+jwt"}})):
                self.not_accepted(words, signed(**more)["token"])
            # A subject of the platform that is also a client ID proves nothing.
            self.begin(keys=made["keys"])
            self.not_accepted("must both be the client ID", signed(sub="job")["token"])

    def test_snapshot_keeps_the_keys(self):
        self.sidecar.call("test.snapshot", {"file": self.path("one")})
        other = self.spawn(testing=True)
        other.call("test.restore", {"file": self.path("one")})
        self.issuer = other.call("test.idp")["baseUrl"] + "/signed"
        self.accepted(self.assertion())
        self.not_accepted("signature", self.assertion(key=self.other))

    def test_issuer_without_clients_accepts_every_client(self):
        self.issuer = self.idp["issuer"]
        self.accepted(self.assertion(key=self.other))
        self.not_accepted("expired", self.assertion(exp=1))

    def test_client_redeems_an_identity_assertion(self):
        company = self.sidecar.call("test.idp", {"issuers": [{"name": "company", "tenantId": "default"}]})["issuer"]
        code = self.person.open(self.authorize_url(self.issuer, client_id="job", scope="openid")).back["code"]
        id_token = self.accepted(self.assertion(), grant_type="authorization_code", code=code, redirect_uri=BACK)["id_token"]
        granted = self.token(
            company, grant_type=EXCHANGE, client_id="job", requested_token_type=ID_JAG, subject_token=id_token, subject_token_type=ID_TOKEN, audience=self.issuer)[1]
        form = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": granted["access_token"]}
        self.assertEqual(self.verified(self.accepted(self.assertion(), **form)["access_token"], "job", self.issuer)["sub"], self.user)


class Published(Assertions):
    """The client publishes its keys at a URL."""

    def setUp(self):
        super().setUp()
        self.site = Website()
        self.addCleanup(self.site.close)
        self.publish(self.key)
        self.begin(keys=None, jwksUri=self.site.origin + "/jwks")

    def publish(self, *known, **headers):
        self.site.pages["/jwks"] = page({"keys": public(*known)}, **headers)

    def test_keys_are_fetched_once_and_again_after_their_time(self):
        for _ in range(3):
            self.accepted(self.assertion())
        self.assertEqual(self.site.asked, ["/jwks"])
        self.sidecar.call("test.clock", {"advanceSeconds": 301})
        self.accepted(self.assertion())
        self.assertEqual(len(self.site.asked), 2)

    def test_rotated_keys_are_found_immediately(self):
        self.accepted(self.assertion())
        self.publish(self.key, self.other)
        self.accepted(self.assertion({"kid": "k1"}, self.other))
        self.publish(self.other)
        self.sidecar.call("test.clock", {"advanceSeconds": 301})
        self.not_accepted("no usable key", self.assertion())

    def test_failures_of_the_key_set_are_named(self):
        for words, answer in {
                "status 404": (404, {}, b""), "Content-Type": (200, {"Content-Type": "text/html"}, b"{}"), "list keys": page([]), "list  keys": page({}),
                "no usable key": page({"keys": []}), "more than": (200, {"Content-Type": "application/json"}, b" " * 70_000),
                "Redirects": (302, {"Location": self.site.origin + "/other"}, b"")}.items():
            with self.subTest(words):
                self.site.pages["/jwks"] = answer
                self.not_accepted(words.replace("  ", " "), self.assertion())
        self.publish(self.key)
        self.accepted(self.assertion())
        self.begin(keys=None, jwksUri=f"http://127.0.0.1:{closed_port()}/jwks")
        self.not_accepted("does not accept connections", self.assertion())
        self.begin(keys=None, jwksUri="https://169.254.169.254/jwks")
        self.not_accepted("not allowed", self.assertion())

    def test_pages_of_other_origins_cannot_make_the_provider_fetch(self):
        """Otherwise a page of any origin could find the open ports of this machine."""
        form = {"client_assertion_type": KIND, "grant_type": "client_credentials"}
        for origin in ("https://evil.example", "null", self.issuer.rsplit("/", 1)[0]):
            answer = self.person.open(self.issuer + "/token", {**form, "client_assertion": self.assertion()}, Origin=origin)
            self.assertEqual(answer.status, 401)
            self.assertIn("Origin", json.loads(answer.body)["error_description"])
        self.assertEqual(self.site.asked, [])
        self.accepted(self.assertion())
        answer = self.person.open(self.issuer + "/token", {**form, "client_assertion": self.assertion()}, Origin="https://evil.example")
        self.assertEqual(answer.status, 200)


class Registered(Assertions):
    def setUp(self):
        super().setUp()
        self.issuer = self.sidecar.call("test.idp", {"issuers": [{
            "name": "mcp", "tenantId": "default", "signInAs": "alice@example.com", "resources": [{"resource": RESOURCE, "scopes": ["notes"]}]}]})["issuer"]

    def register(self, **more):
        body = {"token_endpoint_auth_method": "private_key_jwt", "grant_types": ["client_credentials"], "jwks": {"keys": public(self.key)}, **more}
        return request(self.issuer + "/register", body={name: value for name, value in body.items() if value is not None})[:2]

    def signed(self, client, header=None, key=None, alg="ES256", **claims):
        return self.assertion(header, key, alg, iss=client["client_id"], sub=client["client_id"], **claims)

    def test_client_registers_its_keys_and_rotates_them(self):
        status, client = self.register(token_endpoint_auth_signing_alg="ES256")
        self.assertEqual(status, 201, client)
        self.assertNotIn("client_secret", client)
        self.assertEqual((client["token_endpoint_auth_method"], client["jwks"]["keys"], client["token_endpoint_auth_signing_alg"]), (
            "private_key_jwt", public(self.key), "ES256"))
        answer = self.accepted(self.signed(client), scope="notes", resource=RESOURCE)
        self.assertEqual(self.verified(answer["access_token"], RESOURCE, self.issuer)["sub"], client["client_id"])
        right = {"Authorization": "Bearer " + client["registration_access_token"]}
        self.assertEqual(request(client["registration_client_uri"], "GET", **right)[1], client)
        changed = {name: client[name] for name in ("client_id", "token_endpoint_auth_method", "grant_types")}
        status, changed, _ = request(client["registration_client_uri"], "PUT", {**changed, "jwks": {"keys": public(self.other)}}, **right)
        self.assertEqual(status, 200, changed)
        self.not_accepted("no usable key", self.signed(client))
        self.accepted(self.signed(client, {"kid": "k1"}, self.other))
        # A secret cannot replace the keys.
        status, refused, _ = request(client["registration_client_uri"], "PUT", {"client_id": client["client_id"], "grant_types": ["client_credentials"]}, **right)
        self.assertEqual((status, refused["error"]), (400, "invalid_client_metadata"))

    def test_registered_client_has_one_algorithm_and_its_grants(self):
        rsa = keys(alg="RS256")[0]
        client = self.register(jwks={"keys": [{name: value for name, value in public(rsa)[0].items() if name != "alg"}]}, token_endpoint_auth_signing_alg="PS256")[1]
        self.accepted(self.signed(client, key=rsa_for(rsa, "PS256"), alg="PS256"))
        self.not_accepted("alg must be PS256", self.signed(client, key=rsa, alg="RS256"))
        client = self.register(grant_types=["authorization_code"], redirect_uris=[BACK])[1]
        self.not_accepted("not registered for the grant type", self.signed(client), "unauthorized_client")
        # The assertion of one registration is none of another.
        other = self.register(jwks={"keys": public(self.other)})[1]
        self.not_accepted("no usable key", self.signed(other))

    def test_malformed_keys_are_refused(self):
        good = {"keys": public(self.key)}
        for more in (
                {"jwks": None}, {"jwks_uri": "https://keys.example/jwks"}, {"jwks": []}, {"jwks": {}}, {"jwks": {"keys": []}}, {"jwks": {"keys": [1]}},
                {"jwks": {"keys": public(self.key) * 21}}, {"jwks": {"keys": [self.key.as_dict(private=True)]}}, {"jwks": {"keys": [{"kty": "oct", "k": "c2VjcmV0"}]}},
                {"jwks": None, "jwks_uri": 7}, {"jwks": None, "jwks_uri": "http://keys.example/jwks"}, {"jwks": None, "jwks_uri": "https://keys.example/#x"},
                {"jwks": good, "token_endpoint_auth_signing_alg": "HS256"}, {"jwks": good, "token_endpoint_auth_signing_alg": "none"},
                {"jwks": good, "token_endpoint_auth_signing_alg": ["ES256"]}):
            with self.subTest(more):
                status, answer = self.register(**more)
                self.assertEqual((status, answer["error"]), (400, "invalid_client_metadata"), answer)

    def test_client_with_a_metadata_document_has_keys(self):
        site = Website()
        self.addCleanup(site.close)
        client = {"client_id": site.origin + "/client.json"}
        document = {**client, "client_name": "cron", "token_endpoint_auth_method": "private_key_jwt", "grant_types": ["client_credentials"]}
        site.pages["/jwks"] = page({"keys": public(self.key)})
        for more, asked in (({"jwks": {"keys": public(self.key)}}, ["/client.json"]), ({"jwks_uri": site.origin + "/jwks"}, ["/client.json", "/jwks"])):
            self.sidecar.call("test.clock", {"advanceSeconds": 301})
            site.pages["/client.json"] = page({**document, **more})
            site.asked.clear()
            answer = self.accepted(self.signed(client), scope="notes", resource=RESOURCE)
            self.assertEqual(self.verified(answer["access_token"], RESOURCE, self.issuer)["client_id"], client["client_id"])
            self.assertEqual(site.asked, asked)
            self.not_accepted("signature", self.signed(client, key=self.other))
        self.assertIn("authenticates with private_key_jwt", self.no_token(
            "invalid_client", 401, issuer=self.issuer, grant_type="client_credentials", client_id=client["client_id"]))


def claims(token):
    return json.loads(jws.extract_compact(token.encode()).payload)


def rsa_for(key, alg):
    """Returns the same RSA key for another algorithm."""
    return jwk.RSAKey.import_key({**key.as_dict(private=True), "alg": alg})
