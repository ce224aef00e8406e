"""Clients that register at the identity provider for tests (RFC 7591, RFC 7592), or have a metadata document at their client ID."""

import json
import threading
import urllib.error
import urllib.parse
import urllib.request

from authlib.integrations.httpx_client import OAuth2Client
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
from endtoend import only
from test_test_idp import BACK, WithProvider
from test_test_idp_dpop import digest, Holder
from websites import closed_port, page, Website

RESOURCE = "http://127.0.0.1:9/mcp"
VERIFIER = "v" * 43


def request(url, method="POST", body=None, content_type="application/json", **headers):
    """Sends a request. Returns the status, the JSON of the body and the headers."""
    data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
    asked = urllib.request.Request(url, data, {**({"Content-Type": content_type} if data is not None else {}), **headers}, method=method)
    try:
        answer = urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked, timeout=60)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        text = answer.read()
        return answer.status, json.loads(text) if text[:1] == b"{" else text.decode(), answer.headers


class Registered(WithProvider):
    def setUp(self):
        super().setUp()
        self.user = self.account()["accountId"]
        self.begin()

    def begin(self, **more):
        found = self.sidecar.call("test.idp", {"issuers": [{
            "name": "mcp", "tenantId": "default", "signInAs": "alice@example.com",
            "resources": [{"resource": RESOURCE, "scopes": ["notes"], "name": "Notes"}], **more}]})
        self.issuer, self.resources = found["issuer"], found["issuers"][0].get("resources")
        return found

    def authorize(self, client_id, **more):
        return self.person.open(self.authorize_url(self.issuer, **{
            "client_id": client_id, "scope": "notes", "resource": RESOURCE, "code_challenge": digest(VERIFIER), "code_challenge_method": "S256", **more}))

    def redeem(self, client_id, back, **more):
        return self.token(self.issuer, grant_type="authorization_code", code=back["code"], redirect_uri=BACK, client_id=client_id, code_verifier=VERIFIER, **more)

    def not_registered(self, wanted, body, content_type="application/json", status=400):
        found, answer, _ = request(self.issuer + "/register", body=body, content_type=content_type)
        self.assertEqual((found, answer["error"]), (status, wanted), answer)
        self.assertNotEqual(answer.get("error_description"), "")


class Registrations(Registered):
    @only("sqlite", "postgres")
    def test_public_client_registers_signs_in_and_refreshes(self):
        status, client, headers = request(self.issuer + "/register", body={
            "redirect_uris": [BACK], "client_name": "inspector", "token_endpoint_auth_method": "none", "grant_types": ["authorization_code", "refresh_token"],
            "unknown": [1]})
        self.assertEqual((status, headers["Cache-Control"]), (201, "no-store"), client)
        self.assertEqual((client["client_name"], client["redirect_uris"], client["response_types"]), ("inspector", [BACK], ["code"]))
        self.assertNotIn("client_secret", client)
        self.assertNotIn("unknown", client)
        id = client["client_id"]
        back = self.authorize(id).back
        self.assertEqual(back["iss"], self.issuer)
        status, answer, _ = self.redeem(id, back, resource=RESOURCE)
        self.assertEqual(status, 200, answer)
        claims = self.verified(answer["access_token"], RESOURCE, self.issuer)
        self.assertEqual((claims["sub"], claims["client_id"], claims["scope"]), (self.user, id, "notes"))
        fresh = self.token(self.issuer, grant_type="refresh_token", client_id=id, refresh_token=answer["refresh_token"], resource=RESOURCE)[1]
        self.assertEqual(self.verified(fresh["access_token"], RESOURCE, self.issuer)["aud"], RESOURCE)

    def test_confidential_client_needs_its_secret(self):
        client = request(self.issuer + "/register", body={"redirect_uris": [BACK]})[1]
        self.assertEqual((client["token_endpoint_auth_method"], client["client_secret_expires_at"]), ("client_secret_basic", 0))
        back = self.authorize(client["client_id"]).back
        self.assertEqual(self.redeem(client["client_id"], back)[1]["error"], "invalid_client")
        self.assertEqual(self.redeem(client["client_id"], back, client_secret="wrong")[1]["error"], "invalid_client")
        status, answer, _ = self.redeem(client["client_id"], back, client_secret=client["client_secret"])
        self.assertEqual(status, 200, answer)
        self.assertNotIn("refresh_token", answer)   # not one of its grant types
        self.no_token("unauthorized_client", issuer=self.issuer, grant_type="client_credentials", client_id=client["client_id"], client_secret=client["client_secret"])

    def test_registration_is_read_changed_and_deleted_with_its_token(self):
        client = request(self.issuer + "/register", body={"redirect_uris": [BACK], "token_endpoint_auth_method": "none"})[1]
        url, right = client["registration_client_uri"], {"Authorization": "Bearer " + client["registration_access_token"]}
        self.assertEqual(request(url, "GET", **right)[1], client)
        changed = request(url, "PUT", {"client_id": client["client_id"], "redirect_uris": [BACK + "2"], "token_endpoint_auth_method": "none"}, **right)
        self.assertEqual((changed[0], changed[1]["redirect_uris"]), (200, [BACK + "2"]), changed)
        self.assertEqual(self.authorize(client["client_id"]).status, 400)
        self.assertIn("code", self.authorize(client["client_id"], redirect_uri=BACK + "2").back)
        other = request(self.issuer + "/register", body={"redirect_uris": [BACK]})[1]
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer " + other["registration_access_token"]}):
            for method in ("GET", "DELETE"):
                self.assertEqual(request(url, method, **headers)[0], 401)
        for body in ({"redirect_uris": [BACK]}, {"client_id": other["client_id"], "redirect_uris": [BACK]}, {"client_id": client["client_id"], "redirect_uris": [BACK]},
                     {"client_id": client["client_id"], "client_secret": "mine", "redirect_uris": [BACK], "token_endpoint_auth_method": "none"}):
            self.assertEqual(request(url, "PUT", body, **right)[1]["error"], "invalid_client_metadata")
        self.assertEqual(request(url, "DELETE", **right)[0], 204)
        self.assertEqual(request(url, "GET", **right)[0], 401)
        self.assertEqual(self.authorize(client["client_id"]).status, 400)

    def test_malformed_registrations_are_refused(self):
        for body in (b"", b"{", b"[]", b"null", b'"text"', b"\xff\xfe", b"{}" + b" " * 20000, b"[" * 5000):
            self.not_registered("invalid_client_metadata", body)
        self.not_registered("invalid_client_metadata", b"redirect_uris=x", "application/x-www-form-urlencoded")
        self.not_registered("invalid_client_metadata", b"{}", "text/plain")
        for name, value in {
                "grant_types": ["implicit"], "response_types": ["token"], "token_endpoint_auth_method": "tls_client_auth", "client_name": 1, "contacts": "a",
                "scope": ["a"], "dpop_bound_access_tokens": "yes", "client_uri": "a" * 3000}.items():
            with self.subTest(name):
                self.not_registered("invalid_client_metadata", {"redirect_uris": [BACK], name: value})
        self.not_registered("invalid_client_metadata", {"redirect_uris": BACK})
        self.not_registered("invalid_client_metadata", {"redirect_uris": [BACK, 1]})
        self.not_registered("invalid_client_metadata", {"redirect_uris": [BACK] * 101})
        for uri in ("", "/back", "javascript:alert(1)", "data:text/html,x", "http://shop.example.com/back", "http://127.0.0.1.evil.example/", "http://localhost@evil.example/",
                    "https://shop.example.com/#x", "https:///x", "http://[::2]/", "HTTP://evil.example/", "https://ä.example/", "https://shop.example.com/ x"):
            with self.subTest(uri):
                self.not_registered("invalid_redirect_uri", {"redirect_uris": [BACK, uri]})
        self.not_registered("invalid_redirect_uri", {})
        self.not_registered("invalid_redirect_uri", {"redirect_uris": []})
        for uri in ("http://localhost:3000/back", "https://shop.example.com/back", "http://[::1]/", "cursor://auth/back"):
            self.assertEqual(request(self.issuer + "/register", body={"redirect_uris": [uri]})[0], 201)
        self.assertEqual(request(self.issuer + "/register", body={"grant_types": ["client_credentials"]})[1]["redirect_uris"], [])

    def test_redirect_uri_of_another_client_or_with_additions_is_refused(self):
        mine, other = (request(self.issuer + "/register", body={"redirect_uris": [uri], "token_endpoint_auth_method": "none"})[1] for uri in (
            "https://shop.example.com/back", "https://evil.example/back"))
        for uri in ("https://evil.example/back", "https://shop.example.com/back/../x", "https://shop.example.com/back?a=b", "https://shop.example.com/Back",
                    "https://shop.example.com:443/back", "https://shop.example.com/back%2F", "https://shop.example.com/bac", "https://shop.example.com.evil.example/back"):
            found = self.authorize(mine["client_id"], redirect_uri=uri)
            self.assertEqual((found.status, found.headers["Location"]), (400, None), uri)
        back = self.authorize(mine["client_id"], redirect_uri="https://shop.example.com/back").back
        self.assertEqual(self.redeem(other["client_id"], back)[1]["error"], "invalid_grant")

    def test_registrations_without_end_use_bounded_memory(self):
        ids = []
        for number in range(1100):
            ids.append(request(self.issuer + "/register", body={"redirect_uris": [BACK], "token_endpoint_auth_method": "none", "client_name": "n" * 2000})[1]["client_id"])
        self.assertEqual(self.authorize(ids[0]).status, 400)
        self.assertIn("code", self.authorize(ids[-1]).back)
        with open(f"/proc/{self.sidecar.process.pid}/status", encoding="utf-8") as file:
            memory = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
        self.assertLess(memory, 300_000)

    def test_issuer_without_resources_has_no_registration_unless_it_is_set(self):
        plain = self.sidecar.call("test.idp", {})["issuer"].replace("/mcp", "/default")
        status, answer, _ = request(plain + "/register", body={"redirect_uris": [BACK]})
        self.assertEqual((status, answer["error"]), (403, "access_denied"))
        self.assertNotIn("registration_endpoint", self.discovery(plain))
        self.begin(registration=False, clientIdMetadata=False)
        self.assertEqual(request(self.issuer + "/register", body={"redirect_uris": [BACK]})[0], 403)
        document = self.discovery(self.issuer)
        self.assertNotIn("registration_endpoint", document)
        self.assertNotIn("client_id_metadata_document_supported", document)

    def test_registrations_survive_a_snapshot(self):
        client = request(self.issuer + "/register", body={"redirect_uris": [BACK], "token_endpoint_auth_method": "none"})[1]
        file = self.path("snapshot.jsonl")
        self.sidecar.call("test.snapshot", {"file": file})
        self.sidecar.call("test.reset")
        self.assertEqual(self.authorize(client["client_id"]).status, 404)
        self.sidecar.call("test.restore", {"file": file})
        self.assertIn("code", self.authorize(client["client_id"]).back)
        self.assertEqual(request(client["registration_client_uri"], "GET", Authorization="Bearer " + client["registration_access_token"])[1], client)

    def test_enqueued_error_is_the_answer_of_the_registration(self):
        self.sidecar.call("test.enqueue", {"issuer": self.issuer, "error": {"code": "temporarily_unavailable", "endpoint": "register"}})
        self.not_registered("temporarily_unavailable", {"redirect_uris": [BACK]}, status=503)
        self.assertEqual(request(self.issuer + "/register", body={"redirect_uris": [BACK]})[0], 201)

    def test_inspectors_in_browsers_can_read_every_endpoint(self):
        origin = {"Origin": "http://localhost:6274"}
        client = request(self.issuer + "/register", body={"redirect_uris": [BACK]})[1]
        base, name = self.issuer.rsplit("/", 1)
        for url, method in ((self.issuer + "/register", "POST"), (client["registration_client_uri"], "PUT"), (self.issuer + "/token", "POST"),
                            (f"{base}/.well-known/oauth-authorization-server/{name}", "GET"), (self.resources[0]["metadataUrl"], "GET")):
            status, _, headers = request(url, "OPTIONS", **origin, **{"Access-Control-Request-Method": method, "Access-Control-Request-Headers": "content-type,mcp-protocol-version"})
            self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (204, "*"))
            self.assertIn(method, headers["Access-Control-Allow-Methods"])
            self.assertIn("mcp-protocol-version", headers["Access-Control-Allow-Headers"])
        for answer in (request(self.issuer + "/register", body={}, **origin), request(client["registration_client_uri"], "GET", **origin)):
            self.assertEqual(answer[2]["Access-Control-Allow-Origin"], "*")


class Resources(Registered):
    def setUp(self):
        super().setUp()
        self.client = request(self.issuer + "/register", body={"redirect_uris": [BACK], "token_endpoint_auth_method": "none", "grant_types": ["authorization_code", "refresh_token"]})[1]["client_id"]

    def test_metadata_of_server_and_resource_are_published(self):
        base, name = self.issuer.rsplit("/", 1)
        document = self.get(f"{base}/.well-known/oauth-authorization-server/{name}")
        for each in (f"{base}/.well-known/openid-configuration/{name}", self.issuer + "/.well-known/openid-configuration"):
            self.assertEqual(self.get(each), document)
        self.assertEqual((document["registration_endpoint"], document["client_id_metadata_document_supported"]), (self.issuer + "/register", True))
        self.assertEqual(document["protected_resources"], [RESOURCE])
        self.assertIn("notes", document["scopes_supported"])
        AuthorizationServerMetadata({**document, **{key: value.replace("http://", "https://") for key, value in document.items() if isinstance(value, str)}}).validate()
        metadata = self.get(self.resources[0]["metadataUrl"])
        self.assertEqual(metadata, self.resources[0]["metadata"])
        self.assertEqual((metadata["resource"], metadata["authorization_servers"], metadata["resource_name"]), (RESOURCE, [self.issuer], "Notes"))
        self.assertEqual(request(self.resources[0]["metadataUrl"][:-1] + "7", "GET")[0], 404)

    def test_resource_must_be_known_and_stays_the_same(self):
        for more in ({"resource": "http://127.0.0.1:9/other"}, {"resource": RESOURCE + "/x"}, {"audience": "other", "resource": ""}, {"resource": RESOURCE + "#x"}):
            self.assertEqual(self.authorize(self.client, **more).back["error"], "invalid_target", more)
        self.assertEqual(self.authorize(self.client, scope="notes admin").back["error"], "invalid_scope")
        self.assertEqual(self.authorize(self.client, code_challenge="", code_challenge_method="").back["error"], "invalid_request")
        self.begin(resources=[{"resource": RESOURCE, "scopes": ["notes"]}, {"resource": "http://127.0.0.1:8/mcp"}])
        answer = self.redeem(self.client, self.authorize(self.client).back, resource="http://127.0.0.1:8/mcp")[1]
        self.assertEqual(answer["error"], "invalid_target")
        answer = self.redeem(self.client, self.authorize(self.client, prompt="login").back)[1]
        self.assertEqual(self.verified(answer["access_token"], RESOURCE, self.issuer)["aud"], RESOURCE)
        self.no_token("invalid_target", issuer=self.issuer, grant_type="refresh_token", client_id=self.client, refresh_token=answer["refresh_token"], resource="http://127.0.0.1:8/mcp")
        self.assertEqual(self.token(self.issuer, grant_type="refresh_token", client_id=self.client, refresh_token=answer["refresh_token"])[0], 200)

    def test_resource_with_and_without_the_final_slash_of_a_host_are_equal(self):
        self.begin(resources=[{"resource": "http://127.0.0.1:9"}])
        answer = self.redeem(self.client, self.authorize(self.client, resource="http://127.0.0.1:9/").back)[1]
        self.assertEqual(self.verified(answer["access_token"], "http://127.0.0.1:9", self.issuer)["aud"], "http://127.0.0.1:9")

    def test_malformed_resources_are_refused_by_the_method(self):
        for resource in ("no url at all", "ftp://127.0.0.1/", "http://user@127.0.0.1/x", "http://127.0.0.1/#x", "http://127.0.0.1/#"):
            self.assertEqual(
                self.violations(self.sidecar, "test.idp", {"issuers": [{"name": "x", "tenantId": "default", "resources": [{"resource": resource}]}]}),
                {("/issuers/0/resources/0/resource", "resource")})
        self.assertEqual(
            self.violations(self.sidecar, "test.idp", {"issuers": [{"name": "x", "tenantId": "default", "resources": [{"resource": RESOURCE}] * 2}]}),
            {("/issuers/0/resources/1/resource", "duplicate")})

    def test_resource_server_introspects_and_client_revokes(self):
        answer = self.redeem(self.client, self.authorize(self.client).back)[1]
        with OAuth2Client("notes-server", "any", trust_env=False) as http:
            told = http.introspect_token(self.issuer + "/introspect", token=answer["access_token"]).json()
            self.assertEqual((told["active"], told["aud"], told["client_id"], told["scope"]), (True, RESOURCE, self.client, "notes"))
            self.assertEqual(self.person.open(self.issuer + "/revoke", {"token": answer["access_token"], "client_id": self.client}).status, 200)
            self.assertEqual(http.introspect_token(self.issuer + "/introspect", token=answer["access_token"]).json(), {"active": False})

    def test_sign_in_as_needs_an_account(self):
        self.begin(signInAs="bob@example.com")
        back = self.authorize(self.client).back
        self.assertEqual(back["error"], "access_denied")
        self.begin(signInAs="bob@example.com", createAccounts=True)
        self.assertIn("code", self.authorize(self.client).back)
        self.assertEqual(self.sidecar.call("account.find", {"username": "bob@example.com"})["username"], "bob@example.com")


class Documents(Registered):
    def setUp(self):
        super().setUp()
        self.site = Website()
        self.addCleanup(self.site.close)
        self.client_id = f"{self.site.origin}/client.json"
        self.serve({})

    def serve(self, more, path="/client.json", **headers):
        document = {"client_id": self.client_id, "client_name": "inspector", "redirect_uris": [BACK], **more}
        self.site.pages[path] = page({name: value for name, value in document.items() if value is not None}, **headers)

    def not_accepted(self, words, client_id=None):
        found = self.authorize(client_id or self.client_id)
        self.assertEqual((found.status, found.headers["Location"]), (400, None), found.text)
        self.assertIn(words, found.text)

    def test_document_is_fetched_once_and_again_after_its_time(self):
        self.assertEqual(self.redeem(self.client_id, self.authorize(self.client_id).back)[0], 200)
        self.authorize(self.client_id)
        self.assertEqual(self.site.asked, ["/client.json"])
        self.sidecar.call("test.clock", {"advanceSeconds": 301})
        self.serve({}, **{"Cache-Control": "no-store"})
        for count in (2, 3):
            self.assertIn("code", self.authorize(self.client_id).back)
            self.assertEqual(len(self.site.asked), count)

    def test_malformed_documents_are_refused_and_not_kept(self):
        for words, more in {
                "must be its URL": {"client_id": self.client_id + "/"}, "must be its URL,": {"client_id": None}, "must not contain client_secret": {"client_secret": "x"},
                "must not contain client_secret_expires_at": {"client_secret_expires_at": 0}, "token_endpoint_auth_method": {"token_endpoint_auth_method": "client_secret_post"},
                "redirect_uris is missing": {"redirect_uris": None}, "must be a list": {"redirect_uris": BACK}, "must use https": {"redirect_uris": ["http://evil.example/"]}}.items():
            with self.subTest(words):
                self.serve(more)
                self.not_accepted(words)
        for words, answer in {
                "status 404": (404, {}, b""), "status 500": (500, {}, b""), "Content-Type": (200, {"Content-Type": "text/html"}, b"{}"),
                "not a JSON object": (200, {"Content-Type": "application/json"}, b"[1]"), "more than": (200, {"Content-Type": "application/json"}, b" " * 6000),
                "Redirects are not followed": (302, {"Location": self.site.origin + "/other.json"}, b"")}.items():
            with self.subTest(words):
                self.site.pages["/client.json"] = answer
                self.not_accepted(words)
        self.serve({"redirect_uris": [BACK + "2"]})
        self.not_accepted("has no redirect URI")
        self.sidecar.call("test.clock", {"advanceSeconds": 301})
        self.serve({})
        self.assertIn("code", self.authorize(self.client_id).back)

    def test_urls_that_no_client_can_have_are_never_fetched(self):
        base = self.site.origin
        for words, client_id in {
                "must have a path": base + "/", "fragment": self.client_id + "#x", "user name": self.client_id.replace("http://", "http://me@"), "segments": base + "/a/../client.json",
                "segments .": base + "/%2e%2e/client.json", "plain http is allowed only": "http://client.example/client.json", "provider": self.issuer + "/jwks",
                "of the provider": self.issuer.replace("127.0.0.1", "localhost") + "/authorize?client_id=" + urllib.parse.quote(self.client_id, safe="")}.items():
            with self.subTest(client_id):
                self.not_accepted(words, client_id)
        for client_id in ("https://10.0.0.1/client.json", "https://192.168.1.1/c", "https://169.254.169.254/latest/meta-data/", "https://[fd00::1]/c", "https://[fe80::1]/c",
                          "https://100.64.0.1/c", "https://0.0.0.0/c", "https://[::ffff:10.0.0.1]/c"):
            with self.subTest(client_id):
                self.not_accepted("not allowed", client_id)
        self.not_accepted("does not accept connections", f"http://127.0.0.1:{closed_port()}/client.json")
        self.assertEqual(self.site.asked, [])

    def test_slow_documents_do_not_stop_the_provider(self):
        release = threading.Event()
        self.addCleanup(release.set)

        def slow(_):
            release.wait(30)
            return 404, {}, b""
        self.site.pages["/slow"] = slow
        threads = [threading.Thread(target=self.authorize, args=(f"{self.site.origin}/slow?{number}",)) for number in range(8)]
        for thread in threads:
            thread.start()
        self.site.wait_until_asked("/slow", 8)
        found = self.authorize(self.client_id)
        self.assertEqual(found.status, 503)
        self.assertIn("Try again", found.text)
        self.assertIn("issuer", self.discovery(self.issuer))
        release.set()
        for thread in threads:
            thread.join(30)
        self.assertIn("code", self.authorize(self.client_id).back)

    def test_document_can_require_proofs(self):
        self.serve({"dpop_bound_access_tokens": True})
        back = self.authorize(self.client_id).back
        self.assertEqual(self.redeem(self.client_id, back)[1]["error"], "invalid_dpop_proof")
        holder = Holder()
        url = self.issuer + "/token"
        form = urllib.parse.urlencode({"grant_type": "authorization_code", "code": back["code"], "redirect_uri": BACK, "client_id": self.client_id, "code_verifier": VERIFIER}).encode()
        status, answer, _ = request(url, body=form, content_type="application/x-www-form-urlencoded", DPoP=holder.proof(url))
        self.assertEqual((status, answer["token_type"]), (200, "DPoP"), answer)
