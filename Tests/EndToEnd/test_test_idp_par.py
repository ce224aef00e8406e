"""Pushed authorization requests (RFC 9126) at the identity provider for tests: by the client of requests-oauth2client, and every misuse."""

import base64
import json

import requests
from endtoend import only
from requests_oauth2client import DPoPKey, OAuth2Client, PrivateKeyJwt
from test_test_idp import BACK, PASSWORD, query, WithProvider
from test_test_idp_assertions import keys, KIND, public
from test_test_idp_dpop import digest, Holder
from test_test_idp_registration import request
from websites import page, Website

PREFIX = "urn:ietf:params:oauth:request_uri:"
VERIFIER = "v" * 43


class Pushing(WithProvider):
    def setUp(self):
        super().setUp()
        self.user = self.account()["accountId"]
        self.key = keys()[0]
        self.begin()

    def begin(self, **more):
        self.issuer = self.sidecar.call("test.idp", {"issuers": [{
            "name": "pushed", "tenantId": "default", "signInAs": "alice@example.com", "clients": [
                {"clientId": "app", "redirectUris": [BACK]}, {"clientId": "server", "clientSecret": "a secret", "redirectUris": [BACK]},
                {"clientId": "job", "keys": public(self.key), "redirectUris": [BACK]}], **more}]})["issuer"]

    def push(self, headers=None, **form):
        """Pushes a good request of the public client, with changed parameters. `None` removes one."""
        form = {"client_id": "app", "redirect_uri": BACK, "response_type": "code", "scope": "openid", "state": "s-1",
                "code_challenge": digest(VERIFIER), "code_challenge_method": "S256", **form}
        answer = self.person.open(self.issuer + "/par", {name: value for name, value in form.items() if value is not None}, **(headers or {}))
        return answer.status, json.loads(answer.body), answer.headers

    def uri(self, **form):
        status, answer, _ = self.push(**form)
        self.assertEqual(status, 201, answer)
        return answer["request_uri"]

    def open(self, uri, client_id="app", **more):
        return self.person.open(self.issuer + "/authorize?" + "&".join(f"{name}={value}" for name, value in {
            "client_id": client_id, "request_uri": uri, **more}.items()))

    def redeem(self, code, client_id="app", **more):
        return self.token(self.issuer, grant_type="authorization_code", code=code, redirect_uri=BACK, client_id=client_id, code_verifier=VERIFIER, **more)

    def not_shown(self, words, found):
        """Checks that an error is shown on a page: the user is not sent to an address that the request does not prove."""
        self.assertEqual((found.status, found.headers["Location"]), (400, None), found.text)
        self.assertIn("invalid_request_uri", found.text)
        self.assertIn(words, found.text)


class Clients(Pushing):
    def client(self, auth, **more):
        session = requests.Session()
        session.trust_env = False
        return OAuth2Client.from_discovery_endpoint(
            self.issuer + "/.well-known/openid-configuration", issuer=self.issuer, auth=auth, redirect_uri=BACK, session=session, testing=True, **more)

    def sign_in(self, client):
        asked = client.authorization_request(scope="openid offline_access")
        pushed = client.pushed_authorization_request(asked)
        self.assertTrue(pushed.request_uri.startswith(PREFIX))
        self.assertEqual(set(query(str(pushed.uri))), {"client_id", "request_uri"})
        back = self.person.open(str(pushed.uri)).headers["Location"]
        return client.authorization_code(asked.validate_callback(back), validate=False)

    @only("sqlite", "postgres")
    def test_client_with_a_secret_pushes_and_signs_in(self):
        token = self.sign_in(self.client(("server", "a secret")))
        self.assertEqual(self.verified(str(token.id_token), "server", self.issuer)["sub"], self.user)
        self.assertTrue(token.refresh_token)

    def test_client_with_a_key_pushes_and_signs_in(self):
        private = {**self.key.as_dict(private=True), "kid": "k0", "alg": "ES256"}
        token = self.sign_in(self.client(PrivateKeyJwt("job", private, aud=self.issuer)))
        self.assertEqual(self.verified(token.access_token, "job", self.issuer)["sub"], self.user)

    def test_pushed_proof_binds_the_code_to_its_key(self):
        self.begin(dpop="required")
        client = self.client(("server", "a secret"), dpop_bound_access_tokens=True)
        key = DPoPKey.generate()
        asked = client.authorization_request(scope="openid", dpop=True, dpop_key=key)
        pushed = client.pushed_authorization_request(asked)
        back = self.person.open(str(pushed.uri)).headers["Location"]
        token = client.authorization_code(asked.validate_callback(back), validate=False)
        self.assertEqual(self.verified(token.access_token, "server", self.issuer)["cnf"], {"jkt": key.dpop_jkt})


class Rules(Pushing):
    def test_discovery_names_the_endpoint(self):
        document = self.discovery(self.issuer)
        self.assertEqual((document["pushed_authorization_request_endpoint"], document["require_pushed_authorization_requests"]), (self.issuer + "/par", False))
        self.begin(requirePushedRequests=True)
        self.assertTrue(self.discovery(self.issuer)["require_pushed_authorization_requests"])

    def test_answer_is_that_of_the_standard(self):
        status, answer, headers = self.push()
        self.assertEqual((status, sorted(answer), answer["expires_in"]), (201, ["expires_in", "request_uri"], 60))
        self.assertEqual((headers["Cache-Control"], headers["Access-Control-Allow-Origin"]), ("no-store", "*"))
        self.assertRegex(answer["request_uri"], rf"\A{PREFIX}[\w-]{{32}}\Z")
        self.assertNotEqual(self.uri(), answer["request_uri"])
        self.assertEqual(self.person.open(self.issuer + "/par").status, 405)

    def test_request_is_used_once(self):
        uri = self.uri(nonce="n-9")
        back = self.open(uri).back
        self.assertEqual((back["state"], back["iss"]), ("s-1", self.issuer))
        status, answer, _ = self.redeem(back["code"])
        self.assertEqual((status, self.verified(answer["id_token"], "app", self.issuer)["nonce"]), (200, "n-9"))
        self.not_shown("was already used", self.open(uri))

    def test_parameters_of_the_url_have_no_effect(self):
        back = self.open(self.uri(), redirect_uri="https://evil.example/", scope="email", state="s-2", code_challenge="x").back
        self.assertEqual((back["state"], self.redeem(back["code"])[1]["scope"]), ("s-1", "openid"))

    def test_request_expires_but_not_while_the_user_signs_in(self):
        self.sidecar.call("test.idp", {"issuers": [{"name": "pushed", "tenantId": "default", "clients": [{"clientId": "app", "redirectUris": [BACK]}]}]})
        late, shown = self.uri(), self.uri()
        form = self.open(shown)
        self.assertIn("email", form.fields)
        self.sidecar.call("test.clock", {"advanceSeconds": 60})
        self.not_shown("has expired", self.open(late))
        self.not_shown("has expired", self.open(shown))
        self.assertEqual(self.person.send(form, email="alice@example.com", password="wrong password 12").status, 200)
        self.assertIn("code", self.log_in_form(form).back)
        self.not_shown("was already used", self.log_in_form(form))
        late = self.open(self.uri(prompt="login"))
        self.sidecar.call("test.clock", {"advanceSeconds": 601})
        self.not_shown("has expired", self.log_in_form(late))

    def log_in_form(self, form):
        return self.person.send(form, email="alice@example.com", password=PASSWORD)

    def test_request_belongs_to_its_client_and_issuer(self):
        uri = self.uri()
        self.not_shown("belongs to another client", self.open(uri, "server"))
        found = self.person.open(f"{self.idp['issuer']}/authorize?client_id=app&request_uri={uri}")
        self.not_shown("is unknown", found)
        self.not_shown("is unknown", self.open(PREFIX + "x" * 32))
        self.assertIn("code", self.open(uri).back)

    def test_client_must_authenticate(self):
        basic = {"Authorization": "Basic " + base64.b64encode(b"server:wrong").decode()}
        for wanted, form, headers in (
                ("invalid_client", {"client_id": "nobody"}, {}), ("invalid_client", {"client_id": "server"}, {}),
                ("invalid_client", {"client_id": "server", "client_secret": "wrong"}, {}), ("invalid_client", {"client_id": "server"}, basic),
                ("invalid_client", {"client_id": "job"}, {}), ("invalid_client", {"client_id": None}, {}),
                ("invalid_client", {"client_id": "job", "client_assertion_type": KIND, "client_assertion": "a.b.c"}, {})):
            with self.subTest(form):
                status, answer, _ = self.push(headers, **form)
                self.assertEqual((status, answer["error"]), (401, wanted), answer)
        good = {"Authorization": "Basic " + base64.b64encode(b"server:a secret").decode()}
        self.assertEqual(self.push(good, client_id="server")[0], 201)
        status, answer, _ = self.push(good, client_id=None)
        self.assertEqual((status, answer["error"]), (400, "invalid_request"))

    def test_invalid_requests_are_refused_when_they_are_pushed(self):
        for wanted, form in (
                ("invalid_request", {"request_uri": PREFIX + "x"}), ("invalid_request", {"redirect_uri": "https://evil.example/"}),
                ("invalid_request", {"redirect_uri": None}), ("invalid_request", {"response_type": None}),
                ("unsupported_response_type", {"response_type": "token"}), ("invalid_request", {"code_challenge": None, "code_challenge_method": None}),
                ("invalid_request", {"code_challenge_method": "plain"}), ("request_not_supported", {"request": "e30.e30."}),
                ("invalid_request", {"prompt": "none login"}), ("invalid_request", {"max_age": "-1"}), ("invalid_request", {"dpop_jkt": "x"})):
            with self.subTest(form):
                status, answer, _ = self.push(**form)
                self.assertEqual((status, answer["error"]), (400, wanted), answer)
        status, answer, _ = request(self.issuer + "/par", body={"client_id": "app"})
        self.assertEqual((status, answer["error"]), (400, "invalid_request"))
        status, answer, _ = self.push(state="s" * 17_000)
        self.assertEqual((status, answer["error"]), (413, "invalid_request"))
        twice = f"client_id=app&scope=a&scope=b&response_type=code&redirect_uri={BACK}".encode()
        status, answer, _ = request(self.issuer + "/par", body=twice, content_type="application/x-www-form-urlencoded")
        self.assertEqual((status, answer["error"]), (400, "invalid_request"))

    def test_issuer_can_require_pushed_requests(self):
        self.begin(requirePushedRequests=True)
        plain = self.authorize_url(self.issuer, client_id="app", code_challenge=digest(VERIFIER), code_challenge_method="S256")
        back = self.person.open(plain).back
        self.assertEqual(back["error"], "invalid_request")
        self.assertIn("RFC 9126", back["error_description"])
        self.assertIn("code", self.open(self.uri()).back)
        status, answer, _ = self.push(request_uri=PREFIX + "x" * 32)
        self.assertEqual((status, answer["error"]), (400, "invalid_request"))

    def test_registered_client_can_require_pushed_requests(self):
        self.begin(registration=True)
        made = request(self.issuer + "/register", body={
            "redirect_uris": [BACK], "token_endpoint_auth_method": "none", "require_pushed_authorization_requests": True})[1]
        self.assertTrue(made["require_pushed_authorization_requests"])
        client = made["client_id"]
        plain = self.authorize_url(self.issuer, client_id=client, code_challenge=digest(VERIFIER), code_challenge_method="S256")
        self.assertEqual(self.person.open(plain).back["error"], "invalid_request")
        self.assertIn("code", self.open(self.uri(client_id=client), client).back)
        wrong = {"redirect_uris": [BACK], "require_pushed_authorization_requests": "yes"}
        self.assertEqual(request(self.issuer + "/register", body=wrong)[1]["error"], "invalid_client_metadata")

    def test_document_is_fetched_for_programs_only(self):
        """A page of any origin could otherwise find the open ports of this machine."""
        site = Website()
        self.addCleanup(site.close)
        client = site.origin + "/client.json"
        site.pages["/client.json"] = page({"client_id": client, "redirect_uris": [BACK]})
        self.begin(clientIdMetadata=True)
        status, answer, _ = self.push({"Origin": "https://evil.example"}, client_id=client)
        self.assertEqual((status, answer["error"], site.asked), (401, "invalid_client", []))
        self.assertIn("code", self.open(self.uri(client_id=client), client).back)
        self.assertEqual(site.asked, ["/client.json"])

    def test_proof_must_be_of_the_named_key(self):
        holder, other = Holder(), Holder()
        url = self.issuer + "/par"
        status, answer, _ = self.push({"DPoP": holder.proof(url)}, dpop_jkt=other.thumbprint)
        self.assertEqual((status, answer["error"]), (400, "invalid_dpop_proof"))
        code = self.open(self.push({"DPoP": holder.proof(url)})[1]["request_uri"]).back["code"]
        self.assertEqual(self.redeem(code)[1]["error"], "invalid_grant")

    def test_resources_are_checked(self):
        self.begin(resources=[{"resource": "http://127.0.0.1:9/mcp", "scopes": ["notes"]}])
        good = {"resource": "http://127.0.0.1:9/mcp", "scope": "notes"}
        for wanted, form in (("invalid_target", {**good, "resource": "http://127.0.0.1:8/mcp"}), ("invalid_scope", {**good, "scope": "mail"})):
            self.assertEqual(self.push(**form)[1]["error"], wanted)
        self.assertIn("code", self.open(self.uri(**good)).back)

    def test_pushed_requests_use_bounded_memory(self):
        first, last = self.uri(), None
        for _ in range(1000):
            last = self.uri()
        self.not_shown("is unknown", self.open(first))
        self.assertIn("code", self.open(last).back)

    def test_enqueued_errors_are_returned(self):
        self.sidecar.call("test.enqueue", {"issuer": "pushed", "error": {"code": "temporarily_unavailable", "status": 503, "endpoint": "par"}})
        status, answer, _ = self.push()
        self.assertEqual((status, answer["error"]), (503, "temporarily_unavailable"))
        self.sidecar.call("test.enqueue", {"issuer": "pushed", "error": {"code": "access_denied", "endpoint": "authorize"}})
        uri = self.uri()
        self.assertEqual(self.open(uri).back["error"], "access_denied")
        self.not_shown("was already used", self.open(uri))

    def test_request_survives_a_snapshot(self):
        uri = self.uri()
        name = self.sidecar.call("test.snapshot")["name"]
        self.open(uri)
        self.sidecar.call("test.restore", {"name": name})
        self.assertIn("code", self.open(uri).back)
        self.sidecar.call("test.reset")
        self.begin()
        self.not_shown("is unknown", self.open(uri))


if __name__ == "__main__":
    import unittest
    unittest.main()
