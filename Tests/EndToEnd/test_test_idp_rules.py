"""Details of the identity provider for tests: ID token hints, maximum login age, concurrent clients, store failures, error texts."""

import http.client
import json
import socket
import urllib.error
import urllib.parse
import urllib.request

from loginform import Person
from test_test_idp import BACK, WithProvider
from test_test_idp_clients import DEVICE


class Logins(WithProvider):
    def test_id_token_hint_for_another_user_requires_their_login(self):
        alice, bob = self.account(), self.account("bob@example.com")
        hint = self.tokens(prompt="login")["id_token"]
        self.person = Person()
        self.log_in(self.authorize_url(), "bob@example.com")
        self.assertEqual(self.person.open(self.authorize_url(prompt="none")).status, 302)
        silent = self.person.open(self.authorize_url(prompt="none", id_token_hint=hint)).back
        self.assertEqual((silent["error"], silent["state"]), ("login_required", "s-1"))
        page = self.person.open(self.authorize_url(id_token_hint=hint))
        self.assertEqual((page.status, page.fields["email"]), (200, "alice@example.com"))
        other = self.log_in(self.authorize_url(id_token_hint=hint), "bob@example.com").back
        self.assertEqual(other["error"], "login_required")
        self.assertNotIn("code", other)
        code = self.log_in(self.authorize_url(id_token_hint=hint)).back["code"]
        answer = self.token(grant_type="authorization_code", code=code, redirect_uri=BACK, client_id="shop")[1]
        self.assertEqual(self.verified(answer["id_token"])["sub"], alice["accountId"])
        self.assertIn("code", self.person.open(self.authorize_url(prompt="none", id_token_hint=hint)).back)
        self.assertEqual(self.person.open(self.authorize_url(prompt="none", id_token_hint="junk")).back["error"], "invalid_request")
        self.assertEqual(self.person.open(self.authorize_url(id_token_hint=answer["access_token"])).back["error"], "invalid_request")
        self.assertNotEqual(alice["accountId"], bob["accountId"])

    def test_max_age_zero_or_a_login_in_the_future_requires_a_new_login(self):
        self.account()
        self.tokens()
        self.assertEqual(self.person.open(self.authorize_url(prompt="none", max_age="0")).back["error"], "login_required")
        self.assertIn("code", self.person.open(self.authorize_url(prompt="none", max_age="1")).back)
        self.sidecar.call("test.clock", {"advanceSeconds": -100})
        self.assertEqual(self.person.open(self.authorize_url(prompt="none", max_age="1000")).back["error"], "login_required")
        self.assertIn("code", self.log_in(self.authorize_url(max_age="0")).back)


class ManyAtOnce(WithProvider):
    def test_three_hundred_concurrent_connections_are_served(self):
        port = urllib.parse.urlsplit(self.issuer).port
        request = b"GET /default/jwks HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        connections = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(300)]
        try:
            for connection in connections:
                connection.sendall(request)
            self.assertEqual([connection.recv(12) for connection in connections], [b"HTTP/1.1 200"] * 300)
        finally:
            for connection in connections:
                connection.close()


class StoreTroubles(WithProvider):
    def test_store_failure_returns_temporarily_unavailable_and_is_logged(self):
        self.account()
        refresh = self.tokens(scope="openid offline_access", prompt="login")["refresh_token"]
        form = {"grant_type": "refresh_token", "refresh_token": refresh, "client_id": "shop"}
        for store in ("busy", "full"):
            self.sidecar.call("test.fault", {"store": store})
            sent = self.log_in(self.authorize_url(prompt="login"))
            self.assertEqual((sent.status, sent.back["error"], sent.back["state"]), (303, "temporarily_unavailable", "s-1"))
            self.sidecar.call("test.fault", {"store": store})
            sent = self.person.open(self.authorize_url(prompt="none"))
            self.assertEqual((sent.status, sent.back["error"], sent.back["state"]), (302, "temporarily_unavailable", "s-1"))
            self.sidecar.call("test.fault", {"store": store})
            status, answer, headers = self.token(**form)
            self.assertEqual((status, answer["error"], headers["Retry-After"]), (503, "temporarily_unavailable", "1"))
            self.assertEqual(answer["error_description"], sent.back["error_description"])
        self.assertEqual(self.token(**form)[0], 200)
        log = self.wait_for_log(self.sidecar, "a request to test.idp failed", times=6)
        lines = [json.loads(line) for line in log.splitlines() if "a request to test.idp failed" in line]
        self.assertEqual([line["request"] for line in lines], ["POST /default/authorize", "GET /default/authorize", "POST /default/token"] * 2)
        self.assertIn("The store is busy.", lines[0]["reason"])

    def test_retry_after_a_busy_store_succeeds_with_the_same_code_and_enqueued_claims(self):
        account = self.account()
        issuer = self.sidecar.call("test.idp", {"issuers": [{"name": "easy", "tenantId": "default", "passwordless": True}]})["issuer"]
        self.sidecar.call("test.enqueue", {"issuer": "easy", "claims": {"roles": ["admin"]}})
        code = self.person.send(self.person.open(self.authorize_url(issuer)), email="alice@example.com").back["code"]
        device = json.loads(self.person.open(issuer + "/device", {"client_id": "tv", "scope": "openid"}).body)
        self.person.send(self.person.open(device["verification_uri_complete"]), email="alice@example.com")
        forms = (
            {"grant_type": DEVICE, "device_code": device["device_code"], "client_id": "tv"},
            {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK, "client_id": "shop"})
        # The first token of the default tenant creates its signing key, which is a write to the store.
        self.sidecar.call("test.fault", {"store": "busy", "times": 2})
        for form in forms:
            status, answer, headers = self.token(issuer, **form)
            self.assertEqual((status, answer["error"], headers["Retry-After"]), (503, "temporarily_unavailable", "1"))
        claims = [self.verified(self.token(issuer, **form)[1]["id_token"], form["client_id"], issuer) for form in forms]
        self.assertEqual([each["sub"] for each in claims], [account["accountId"]] * 2)
        self.assertEqual([each.get("roles") for each in claims], [["admin"], None])


class Words(WithProvider):
    """Accepted values, rejected values, and the texts of errors."""

    def strict(self, **client):
        return self.sidecar.call("test.idp", {"issuers": [{"name": "strict", "tenantId": "default", "clients": [{"clientId": "desk", **client}]}]})["issuer"]

    def test_loopback_redirect_uris_match_any_port(self):
        issuer = self.strict(redirectUris=["http://127.0.0.1/cb", "http://[::1]:8080/cb?a=b", "http://localhost:8080/cb"])
        def status(uri):
            return self.person.open(self.authorize_url(
                issuer, client_id="desk", redirect_uri=uri, code_challenge="A" * 43, code_challenge_method="S256")).status
        for uri in ("http://127.0.0.1:4711/cb", "http://127.0.0.1/cb", "http://[::1]:1/cb?a=b", "http://localhost:8080/cb"):
            self.assertEqual(status(uri), 200, uri)
        for uri in ("http://127.0.0.1:4711/cb2", "http://127.0.0.1.example.com/cb", "http://127.0.0.1:1@example.com/cb", "https://127.0.0.1/cb", "http://[::1]/cb", "http://localhost:1/cb"):
            self.assertEqual(status(uri), 400, uri)

    def test_invalid_redirect_uris_and_duplicate_names_fail_in_test_idp(self):
        clients = [{"clientId": "a", "redirectUris": ["http://127.0.0.1/cb", "javascript:alert(1)"]}, {"clientId": "a", "redirectUris": ["http://"]}]
        self.assertEqual(self.violations(self.sidecar, "test.idp", {"issuers": [{"name": "default", "clients": clients}, {"name": "default"}]}), {
            ("/issuers/0/clients/0/redirectUris/1", "redirect"), ("/issuers/0/clients/1/clientId", "duplicate"),
            ("/issuers/0/clients/1/redirectUris/0", "redirect"), ("/issuers/1/name", "duplicate")})
        self.assertIn("contains no host", self.person.open(self.authorize_url(redirect_uri="https:///cb")).text)

    def test_provider_that_was_never_started_has_an_address(self):
        other = self.spawn(testing=True)
        down = other.call("test.idp", {"stop": True})
        self.assertEqual((down["running"], down["issuer"]), (False, down["baseUrl"] + "/default"))
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", urllib.parse.urlsplit(down["baseUrl"]).port), timeout=60)
        up = other.call("test.idp", {})
        self.assertEqual((up["running"], up["issuer"]), (True, down["issuer"]))

    def test_provider_keeps_its_port_if_the_requested_one_is_in_use(self):
        self.sidecar.call("test.idp", {"stop": True})
        with socket.create_server(("127.0.0.1", 0)) as taken:
            self.sidecar.refusal("test.idp", {"port": taken.getsockname()[1]})
        with socket.socket() as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with self.assertRaises(OSError):
                other.bind(("127.0.0.1", urllib.parse.urlsplit(self.issuer).port))
                other.listen()
        self.assertEqual(self.sidecar.call("test.idp")["issuer"], self.issuer)

    def test_client_authentication_errors_explain_the_format(self):
        issuer = self.strict(clientSecret="a+b%41", redirectUris=[BACK])
        form = {"grant_type": "client_credentials", "issuer": issuer}
        self.assertIn("is missing", self.no_token("invalid_client", 401, client_id="desk", **form))
        self.assertIn("form-encoded", self.no_token("invalid_client", 401, basic="desk:a+b%41", **form))
        self.assertEqual(self.token(basic="desk:a%2Bb%2541", **form)[0], 200)
        self.assertIn("requires the client_assertion_type", self.no_token("invalid_request", client_assertion="x", **form))

    def test_token_without_scope_has_no_scope_claim_and_allows_no_scopes(self):
        answer = self.token(grant_type="client_credentials", client_id="desk")[1]
        self.assertNotIn("scope", answer)
        self.assertNotIn("scope", self.verified(answer["access_token"], "desk"))
        exchange = {
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "client_id": "desk", "subject_token": answer["access_token"],
            "subject_token_type": "urn:ietf:params:oauth:token-type:access_token"}
        self.assertEqual(self.token(**exchange)[0], 200)
        self.no_token("invalid_scope", scope="admin", **exchange)
        kind = "urn:ietf:params:oauth:token-type:id_token"
        self.assertIn("is an access token, not an ID token", self.no_token("invalid_request", **{**exchange, "subject_token_type": kind}))
        for name in ("audience", "resource"):
            body = urllib.parse.urlencode([*exchange.items(), (name, "https://a.example"), (name, "https://b.example")])
            self.assertEqual(self.answer_to(body)["error"], "invalid_target")

    def test_error_description_contains_only_allowed_characters(self):
        strange = 'a"b\\c\u00e9\n'
        told = self.person.open(self.authorize_url(response_type=strange)).back["error_description"]
        self.assertIn("not a'b'c''.", told)
        self.assertIn("a'b'c'' is not supported", self.no_token("unsupported_grant_type", client_id="shop", grant_type=strange))
        # Descriptions that a test enqueues are returned unchanged.
        for endpoint in ("token", "authorize"):
            self.sidecar.call("test.enqueue", {"error": {"code": "server_error", "description": strange, "endpoint": endpoint}})
        self.assertEqual(self.person.open(self.authorize_url()).back["error_description"], strange)
        self.assertEqual(self.no_token("server_error", 500, client_id="shop"), strange)

    def answer_to(self, body):
        """Posts a form to the token endpoint. Returns the error response."""
        request = urllib.request.Request(self.issuer + "/token", body.encode())
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60)
        with refused.exception:
            return json.load(refused.exception)

    def test_passwordless_login_has_no_amr_claim(self):
        self.account()
        issuer = self.sidecar.call("test.idp", {"issuers": [{"name": "easy", "tenantId": "default", "passwordless": True}]})["issuer"]
        page = self.person.open(self.authorize_url(issuer))
        code = self.person.send(page, email="alice@example.com").back["code"]
        answer = self.token(issuer, grant_type="authorization_code", code=code, redirect_uri=BACK, client_id="shop")[1]
        self.assertNotIn("amr", self.verified(answer["id_token"], issuer=issuer))

    def test_new_account_without_a_password_must_choose_one(self):
        issuer = self.sidecar.call("test.idp", {"issuers": [{"name": "open", "tenantId": "default", "createAccounts": True}]})["issuer"]
        self.assertIn("Enter a password", self.log_in(self.authorize_url(issuer), "new@example.com", "").text)

    def test_cross_origin_requests_may_send_any_header_and_read_the_reason(self):
        port = urllib.parse.urlsplit(self.issuer).port
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.addCleanup(connection.close)
        connection.request("OPTIONS", "/default/userinfo", headers={
            "Origin": "http://localhost:3000", "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization,traceparent"})
        answer = connection.getresponse()
        answer.read()
        self.assertEqual((answer.status, answer.headers["Access-Control-Allow-Headers"]), (204, "authorization,traceparent"))
        connection.request("GET", "/default/userinfo", headers={"Origin": "http://localhost:3000"})
        answer = connection.getresponse()
        answer.read()
        self.assertIn("www-authenticate", answer.headers["Access-Control-Expose-Headers"])

    def test_issuer_with_a_trailing_slash_is_found_and_an_unknown_issuer_error_names_test_idp(self):
        self.assertEqual(len(self.sidecar.call("test.enqueue", {"issuer": self.issuer + "/", "claims": {"a": 1}})["waiting"]), 1)
        error = self.refused("issuerNotFound", self.sidecar, "test.enqueue", {"issuer": "http://127.0.0.1:1/nobody"})
        self.assertIn("test.idp", error.message)

    def test_token_issued_before_a_reset_fails_with_a_reason(self):
        self.account()
        token = self.tokens()["access_token"]
        self.sidecar.call("test.reset", {})
        answer = self.person.open(self.issuer + "/userinfo", Authorization=f"Bearer {token}")
        self.assertEqual(answer.status, 401)
        self.assertIn("test.reset", json.loads(answer.body)["error_description"])
        self.assertNotIn("mintmark.localhost", answer.body)
