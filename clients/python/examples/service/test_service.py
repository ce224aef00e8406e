"""Shows how to test a service that trusts Mintmark's tokens. Run it with `python -m unittest`; it requires only the client.

`IdentityProvider` is the provider from which the service fetches keys. It creates arbitrary tokens, valid or not. With pytest, the fixture
`mintmark_idp` is the same.
"""

import json
import threading
import unittest
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from mintmark.testing import IdentityProvider, TestingMintmark
from service import serve

LOCAL = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Stay(urllib.request.HTTPRedirectHandler):
    """Does not follow redirects."""

    def redirect_request(self, *_):
        return None


class ServiceTest(unittest.TestCase):
    def setUp(self):
        self.m = self.enterContext(TestingMintmark()) if hasattr(self, "enterContext") else self._entered(TestingMintmark())
        self.idp = IdentityProvider(self.m, audience="orders")
        self.alice = self.m.account.create(username="alice@example.com", password="a-long-enough-passphrase-77").account_id
        self.url = self.start()

    def _entered(self, context):   # Python before 3.11
        self.addCleanup(context.__exit__, None, None, None)
        return context.__enter__()

    def start(self, **more):
        """Starts a new service that has not fetched any keys. Returns its URL."""
        server = serve(self.idp.issuer, **{"jwks_url": self.idp.jwks_url, "audience": self.idp.audience, "seconds_between": 0, **more})
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}/orders"

    def token(self, **more):
        """Returns an access token that is valid except for the given changes."""
        return self.idp.token(self.alice, **{"claims": {"scope": "orders:read"}, **more})

    def get(self, token=None, url=None):
        """Returns the status and body of the service's response."""
        request = urllib.request.Request(url or self.url, headers={"Authorization": f"Bearer {token}"} if token else {})
        try:
            with LOCAL.open(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def test_token_from_browser_sign_in_is_accepted(self):
        # Simulates the login page in a browser: posts the form to the address of the page.
        page = self.idp.issuer + "/authorize?" + urllib.parse.urlencode({
            "client_id": "shop", "response_type": "code", "redirect_uri": "http://localhost/back", "scope": "openid orders:read", "resource": "orders"})
        form = urllib.parse.urlencode({"step": "address", "email": "alice@example.com", "password": "a-long-enough-passphrase-77"}).encode()
        with self.assertRaises(urllib.error.HTTPError) as sent_back:
            urllib.request.build_opener(urllib.request.ProxyHandler({}), Stay).open(page, form, timeout=60)
        with sent_back.exception:
            place = urllib.parse.urlsplit(sent_back.exception.headers["Location"])
        code = dict(urllib.parse.parse_qsl(place.query))["code"]
        form = {"grant_type": "authorization_code", "code": code, "client_id": "shop", "redirect_uri": "http://localhost/back"}
        with LOCAL.open(self.idp.issuer + "/token", urllib.parse.urlencode(form).encode(), timeout=60) as answer:
            token = json.load(answer)["access_token"]
        self.assertEqual(self.get(token), (200, {"orders": [], "customer": self.alice}))

    def test_valid_token_is_accepted_and_missing_token_is_rejected(self):
        self.assertEqual(self.get(self.token())[0], 200)
        self.assertEqual(self.get()[0], 401)

    def test_expired_token_is_rejected(self):
        # The service uses the real time, which test.clock does not change. This token expired by the real time.
        status, body = self.get(self.idp.expired(self.alice, claims={"scope": "orders:read"}))
        self.assertEqual((status, body["error"]), (401, "Signature has expired"))

    def test_token_of_another_issuer_is_rejected(self):
        self.assertEqual(self.get(self.idp.foreign(self.alice, claims={"scope": "orders:read"}))[0], 401)

    def test_token_for_another_audience_is_rejected(self):
        status, body = self.get(self.token(audience="invoices"))
        self.assertEqual(status, 401)
        self.assertIn("Audience", body["error"])

    def test_token_without_scope_is_forbidden(self):
        self.assertEqual(self.get(self.token(claims={"scope": "openid"}))[0], 403)

    def test_id_token_is_rejected(self):
        self.assertEqual(self.get(self.token(use="id")), (401, {"error": "It is no access token."}))

    def test_scope_can_be_a_list_and_other_types_are_forbidden(self):
        self.assertEqual(self.get(self.token(claims={"scope": ["openid", "orders:read"]}))[0], 200)
        for scope in ([], 7, {"orders:read": True}, None):
            self.assertEqual(self.get(self.token(claims={"scope": scope}))[0], 403, scope)

    def test_tokens_of_old_and_new_key_are_accepted_after_rotation(self):
        old = self.token()
        self.assertEqual(self.get(old)[0], 200)   # the service has now fetched only the old key
        self.m.key.rotate(tenant_id="default", activate_after_seconds=0)
        self.assertEqual([self.get(self.token())[0], self.get(old)[0]], [200, 200])

    def test_forged_tokens_are_rejected(self):
        for key_state in ("wrong", "unknown"):
            self.assertEqual(self.get(self.token(key_state=key_state))[0], 401)
        self.assertEqual(self.get(self.token(header={"alg": "none"}))[0], 401)
        self.assertEqual(self.get("rubbish")[0], 401)

    def test_fetched_keys_are_used_if_the_provider_is_down(self):
        token, fresh = self.token(), self.start()
        self.assertEqual(self.get(token)[0], 200)
        self.m.test.idp(stop=True)
        self.assertEqual(self.get(token)[0], 200)        # this service has fetched the keys
        self.assertEqual(self.get(token, fresh)[0], 503)   # this service has just started and has no keys
        self.m.test.idp()
        self.assertEqual(self.get(token, fresh)[0], 200)

    def test_provider_that_is_down_is_requested_once_per_interval(self):
        asked = []

        class Down(BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                self.send_error(500)

            def log_message(self, *_):
                pass

        down = ThreadingHTTPServer(("127.0.0.1", 0), Down)
        threading.Thread(target=down.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(down.server_close)
        self.addCleanup(down.shutdown)
        url = self.start(jwks_url=f"http://127.0.0.1:{down.server_port}/", seconds_between=3600)
        token = self.token()
        with ThreadPoolExecutor(10) as pool:
            self.assertEqual([status for status, _ in pool.map(lambda _: self.get(token, url), range(10))], [503] * 10)
        self.assertEqual(len(asked), 1)

    def test_service_recovers_after_a_failed_key_request(self):
        self.m.test.enqueue(error={"code": "server_error", "endpoint": "jwks"})
        self.assertEqual([self.get(self.token())[0], self.get(self.token())[0]], [503, 200])


if __name__ == "__main__":
    unittest.main()
