"""DPoP (RFC 9449) at the identity provider for tests: proofs, nonces, bound tokens, replay. The keys and proofs are made by joserfc."""

import base64
import hashlib
import http.client
import json
import secrets
import time
import urllib.parse

from endtoend import encode, only
from joserfc import jwk, jws
from test_test_idp import BACK, WithProvider

REFRESH = {"grant_type": "refresh_token", "client_id": "app"}


def digest(text):
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


class Holder:
    """A client with a key."""

    def __init__(self, key=None, alg="ES256"):
        self.key, self.alg = key or jwk.ECKey.generate_key("P-256"), alg

    @property
    def thumbprint(self):
        return self.key.thumbprint()

    def proof(self, url, method="POST", token=None, header=None, **claims):
        known = {"jti": secrets.token_urlsafe(12), "htm": method, "htu": url, "iat": int(time.time()), **claims}
        if token:
            known.setdefault("ath", digest(token))
        head = {"typ": "dpop+jwt", "alg": self.alg, "jwk": self.key.as_dict(private=False), **(header or {})}
        body = json.dumps({name: value for name, value in known.items() if value is not None})
        return jws.serialize_compact({name: value for name, value in head.items() if value is not None}, body, self.key, algorithms=[self.alg])


class Proofs(WithProvider):
    def setUp(self):
        super().setUp()
        self.user = self.account()["accountId"]
        self.holder = Holder()
        self.begin()

    def begin(self, dpop="required", **more):
        self.issuer = self.sidecar.call("test.idp", {"issuers": [{
            "name": "bound", "tenantId": "default", "signInAs": "alice@example.com", "dpop": dpop,
            "clients": [{"clientId": "app", "redirectUris": [BACK]}, {"clientId": "server", "clientSecret": "a secret", "redirectUris": [BACK]}], **more}]})["issuer"]
        self.endpoint = self.issuer + "/token"

    def code(self, **more):
        verifier = secrets.token_urlsafe(48)
        back = self.person.open(self.authorize_url(
            self.issuer, client_id="app", scope="openid offline_access", code_challenge=digest(verifier), code_challenge_method="S256", prompt="login", **more)).back
        return {"grant_type": "authorization_code", "code": back["code"], "redirect_uri": BACK, "client_id": "app", "code_verifier": verifier}

    def send(self, form, *proofs, url=None):
        """Posts a form with any number of DPoP headers."""
        parts = urllib.parse.urlsplit(url or self.endpoint)

        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
        connection.putrequest("POST", parts.path)
        body = urllib.parse.urlencode(form).encode()
        for name, value in [("Content-Type", "application/x-www-form-urlencoded"), ("Content-Length", str(len(body)))] + [("DPoP", each) for each in proofs]:
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        found = answer.status, json.loads(answer.read()), answer.headers
        connection.close()
        return found

    def signed_in(self):
        status, answer, _ = self.send(self.code(), self.holder.proof(self.endpoint))
        self.assertEqual((status, answer["token_type"]), (200, "DPoP"), answer)
        return answer

    def info(self, token, proof, scheme="DPoP"):
        headers = {"Authorization": f"{scheme} {token}", **({"DPoP": proof} if proof else {})}
        answer = self.person.open(self.issuer + "/userinfo", **headers)
        return answer.status, json.loads(answer.body), answer.headers

    @only("sqlite", "postgres")
    def test_tokens_are_bound_to_the_key_of_the_proof(self):
        answer = self.signed_in()
        self.assertEqual(self.verified(answer["access_token"], "app", self.issuer)["cnf"], {"jkt": self.holder.thumbprint})
        self.assertNotIn("cnf", self.verified(answer["id_token"], "app", self.issuer))
        url = self.issuer + "/userinfo"
        token = answer["access_token"]
        status, claims, _ = self.info(token, self.holder.proof(url, "GET", token))
        self.assertEqual((status, claims["sub"]), (200, self.user), claims)
        told = self.person.open(self.issuer + "/introspect", {"token": token, "client_id": "server", "client_secret": "a secret"})
        told = json.loads(told.body)
        self.assertEqual((told["active"], told["token_type"], told["cnf"]), (True, "DPoP", {"jkt": self.holder.thumbprint}))
        fresh = self.send({**REFRESH, "refresh_token": answer["refresh_token"]}, self.holder.proof(self.endpoint))[1]
        self.assertEqual(self.verified(fresh["access_token"], "app", self.issuer)["cnf"], {"jkt": self.holder.thumbprint})
        self.assertEqual(self.discovery(self.issuer)["dpop_signing_alg_values_supported"][0], "ES256")

    def test_access_token_needs_its_scheme_its_key_and_its_hash(self):
        token = self.signed_in()["access_token"]
        url = self.issuer + "/userinfo"
        good = self.holder.proof(url, "GET", token)
        wrong = {
            "as bearer": (None, "Bearer"), "no proof": (None, "DPoP"), "no ath": (self.holder.proof(url, "GET"), "DPoP"),
            "ath of another token": (self.holder.proof(url, "GET", "other"), "DPoP"), "another key": (Holder().proof(url, "GET", token), "DPoP"),
            "another method": (self.holder.proof(url, "POST", token), "DPoP"), "another endpoint": (self.holder.proof(self.endpoint, "GET", token), "DPoP")}
        for name, (proof, scheme) in wrong.items():
            with self.subTest(name):
                status, answer, headers = self.info(token, proof, scheme)
                self.assertEqual(status, 401, answer)
                self.assertTrue(headers["WWW-Authenticate"].startswith("DPoP error="))
                self.assertIn("algs=", headers["WWW-Authenticate"])
        self.assertEqual(self.info(token, good)[0], 200)
        status, answer, _ = self.info(token, good)
        self.assertEqual((status, answer["error"]), (401, "invalid_dpop_proof"))
        self.sidecar.call("test.clock", {"freeze": False})
        plain = self.sidecar.call("test.token", {"issuer": self.issuer, "subject": self.user, "use": "access", "audience": "app", "claims": {"scope": "openid"}})["token"]
        self.assertEqual(self.info(plain, self.holder.proof(url, "GET", plain))[0], 401)
        self.assertEqual(self.info(plain, None, "Bearer")[0], 200)

    def test_malformed_and_old_proofs_are_refused(self):
        key = jwk.ECKey.generate_key("P-256")
        private = {**key.as_dict(private=True)}
        holder, url = Holder(key), self.endpoint
        good = holder.proof(url)
        head, body, tail = good.split(".")
        now = int(time.time())
        bad = {
            "text": "no proof", "empty": "", "cut": f"{head}.{body}", "changed": f"{head}.{base64.urlsafe_b64encode(b'{}').decode()}.{tail}",
            "typ": holder.proof(url, header={"typ": "JWT"}), "no typ": holder.proof(url, header={"typ": None}),
            "no key": holder.proof(url, header={"jwk": None}), "private key": holder.proof(url, header={"jwk": private}),
            "key of another": holder.proof(url, header={"jwk": Holder().key.as_dict(private=False)}),
            "secret as key": holder.proof(url, header={"jwk": {"kty": "oct", "k": "AAAA"}}),
            "no jti": holder.proof(url, jti=None), "long jti": holder.proof(url, jti="a" * 300), "number as jti": holder.proof(url, jti=1),
            "htm": holder.proof(url, "GET"), "htm in lower case": holder.proof(url, "post"), "htu": holder.proof(self.issuer + "/authorize"),
            "htu of another host": holder.proof(url.replace("127.0.0.1", "evil.example")), "no htu": holder.proof(None), "htu as list": holder.proof([url]),
            "old": holder.proof(url, iat=now - 400), "new": holder.proof(url, iat=now + 400), "no iat": holder.proof(url, iat=None),
            "huge iat": holder.proof(url, iat=2 ** 63 - 1), "least iat": holder.proof(url, iat=-2 ** 63), "iat as text": holder.proof(url, iat=str(now)),
            "long": good + "A" * 9000}
        for name, header in {"crit": {"crit": ["x"], "x": 1}, "text as key": {"jwk": "key"}, "none": {"alg": "none"}}.items():
            bad[name] = f"{encode({'typ': 'dpop+jwt', 'alg': 'ES256', **header})}.{body}.{tail}"
        form = self.code()
        for name, proof in bad.items():
            with self.subTest(name):
                status, answer, _ = self.send(form, proof)
                self.assertEqual((status, answer["error"]), (400, "invalid_dpop_proof"), answer)
        status, answer, _ = self.send(form, holder.proof(url), holder.proof(url))
        self.assertEqual((status, answer["error"]), (400, "invalid_dpop_proof"))
        status, answer, _ = self.send(form)
        self.assertEqual((status, answer["error"]), (400, "invalid_dpop_proof"))
        # None of the refused requests has used the code.
        self.assertEqual(self.send(form, good)[0], 200)
        self.assertEqual(self.send(self.code(), good)[1]["error"], "invalid_dpop_proof")

    def test_other_algorithms_and_forms_of_the_url_are_accepted(self):
        for holder in (Holder(jwk.RSAKey.generate_key(2048), "RS256"), Holder(jwk.RSAKey.generate_key(2048), "PS256"), Holder(jwk.OKPKey.generate_key("Ed25519"), "EdDSA")):
            with self.subTest(holder.alg):
                status, answer, _ = self.send(self.code(), holder.proof(self.endpoint))
                self.assertEqual(status, 200, answer)
                self.assertEqual(self.verified(answer["access_token"], "app", self.issuer)["cnf"]["jkt"], holder.thumbprint)
        for url in (self.endpoint + "?a=b#c", self.endpoint.replace("http:", "HTTP:").replace("HTTP", "http")):
            self.assertEqual(self.send(self.code(), self.holder.proof(url))[0], 200)

    def test_nonce_is_required_and_changes(self):
        self.begin("requiredWithNonce")
        form = self.code()
        status, answer, headers = self.send(form, self.holder.proof(self.endpoint))
        self.assertEqual((status, answer["error"]), (400, "use_dpop_nonce"))
        nonce = headers["DPoP-Nonce"]
        self.assertIn("dpop-nonce", headers["Access-Control-Expose-Headers"])
        self.assertEqual(self.send(form, self.holder.proof(self.endpoint, nonce="guessed"))[1]["error"], "use_dpop_nonce")
        status, answer, headers = self.send(form, self.holder.proof(self.endpoint, nonce=nonce))
        self.assertEqual((status, headers["DPoP-Nonce"]), (200, nonce), answer)
        token, url = answer["access_token"], self.issuer + "/userinfo"
        status, answer, headers = self.info(token, self.holder.proof(url, "GET", token))
        self.assertEqual((status, answer["error"]), (401, "use_dpop_nonce"))
        self.assertIn('error="use_dpop_nonce"', headers["WWW-Authenticate"])
        for _ in range(2):
            self.sidecar.call("test.clock", {"advanceSeconds": 301})
            form = self.code()
            self.assertNotEqual(self.send({"grant_type": "none", "client_id": "app"})[2]["DPoP-Nonce"], nonce)
        self.assertEqual(self.send(form, self.holder.proof(self.endpoint, nonce=nonce))[1]["error"], "use_dpop_nonce")

    def test_code_and_refresh_token_are_bound_to_the_key(self):
        form = self.code(dpop_jkt=self.holder.thumbprint)
        self.assertEqual(self.send(form, Holder().proof(self.endpoint))[1]["error"], "invalid_grant")
        status, answer, _ = self.send(form, self.holder.proof(self.endpoint))
        self.assertEqual(status, 200, answer)
        again = {**REFRESH, "refresh_token": answer["refresh_token"]}
        self.assertEqual(self.send(again, Holder().proof(self.endpoint))[1]["error"], "invalid_grant")
        self.begin("optional")
        self.assertEqual(self.send(again)[1]["error"], "invalid_grant")
        self.assertEqual(self.send(again, self.holder.proof(self.endpoint))[0], 200)
        back = self.person.open(self.authorize_url(
            self.issuer, client_id="app", code_challenge=digest("a" * 43), code_challenge_method="S256", dpop_jkt="no thumbprint")).back
        self.assertEqual(back["error"], "invalid_request")

    def test_proofs_are_optional_unless_required(self):
        self.begin("optional")
        status, answer, _ = self.send(self.code())
        self.assertEqual((status, answer["token_type"]), (200, "Bearer"))
        self.assertNotIn("cnf", self.verified(answer["access_token"], "app", self.issuer))
        self.assertEqual(self.send(self.code(), "junk")[1]["error"], "invalid_dpop_proof")

    def test_bound_token_is_exchanged_with_its_key_only(self):
        token = self.signed_in()["access_token"]
        form = {
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "client_id": "server", "client_secret": "a secret", "subject_token": token,
            "subject_token_type": "urn:ietf:params:oauth:token-type:access_token"}
        self.assertEqual(self.send(form, Holder().proof(self.endpoint))[1]["error"], "invalid_request")
        self.assertEqual(self.send(form, self.holder.proof(self.endpoint))[0], 200)
