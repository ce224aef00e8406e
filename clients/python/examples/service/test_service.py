"""How a service that trusts Mintmark's tokens is tested: `python -m unittest`, with the client installed and no other software.

`test.idp` is the provider that the service asks for keys, `test.token` makes any token, good or bad.
"""

import json
import threading
import unittest
import urllib.error
import urllib.parse
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import mintmark
from service import serve

LOCAL = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Stay(urllib.request.HTTPRedirectHandler):
    """Does not go where it is sent."""

    def redirect_request(self, *_):
        return None


class ServiceTest(unittest.TestCase):
    def setUp(self):
        self.m = self.enterContext(mintmark.testing()) if hasattr(self, "enterContext") else self._entered(mintmark.testing())
        self.idp = self.m.test.idp()
        self.alice = self.m.account.create(username="alice@example.com", password="a-long-enough-passphrase-77").account_id
        self.url = self.start()

    def _entered(self, context):   # Python before 3.11
        self.addCleanup(context.__exit__, None, None, None)
        return context.__enter__()

    def start(self, **more):
        """A service of its own, which has seen no keys yet: its address."""
        server = serve(self.idp.issuer, **{"jwks_url": self.idp.issuers[0].jwks_url, "audience": "orders", "seconds_between": 0, **more})
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}/orders"

    def token(self, **more):
        """An access token as the provider would sign it, with what a test changes."""
        return self.m.test.token(
            **{"issuer": self.idp.issuer, "subject": self.alice, "use": "access", "audience": "orders", "claims": {"scope": "orders:read"}, **more}).token

    def get(self, token=None, url=None):
        """(status, body) of the service's answer."""
        request = urllib.request.Request(url or self.url, headers={"Authorization": f"Bearer {token}"} if token else {})
        try:
            with LOCAL.open(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def test_somebody_who_has_logged_in(self):
        # What a browser does at the login page, without one: the form is sent to the address of the page.
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

    def test_a_good_token(self):
        self.assertEqual(self.get(self.token())[0], 200)
        self.assertEqual(self.get()[0], 401)

    def test_one_that_has_expired(self):
        # The service has the real time. So the provider's clock goes back: what it signs now was good until an hour ago.
        self.m.test.clock(advance_seconds=-7200)
        self.assertEqual(self.get(self.token())[0], 401)
        self.m.test.clock(reset=True)
        self.assertEqual(self.get(self.token())[0], 200)

    def test_one_for_somebody_else(self):
        status, body = self.get(self.token(audience="invoices"))
        self.assertEqual(status, 401)
        self.assertIn("Audience", body["error"])

    def test_one_that_allows_too_little(self):
        self.assertEqual(self.get(self.token(claims={"scope": "openid"}))[0], 403)

    def test_an_id_token_is_no_access_token(self):
        self.assertEqual(self.get(self.token(use="id")), (401, {"error": "It is no access token."}))

    def test_scopes_of_another_kind(self):
        self.assertEqual(self.get(self.token(claims={"scope": ["openid", "orders:read"]}))[0], 200)
        for scope in ([], 7, {"orders:read": True}, None):
            self.assertEqual(self.get(self.token(claims={"scope": scope}))[0], 403, scope)

    def test_a_rotated_key(self):
        old = self.token()
        self.assertEqual(self.get(old)[0], 200)   # the service knows the old key now, and only that
        self.m.key.rotate(tenant_id="default", activate_after_seconds=0)
        self.assertEqual([self.get(self.token())[0], self.get(old)[0]], [200, 200])

    def test_forged_ones(self):
        for key_state in ("wrong", "unknown"):
            self.assertEqual(self.get(self.token(key_state=key_state))[0], 401)
        self.assertEqual(self.get(self.token(header={"alg": "none"}))[0], 401)
        self.assertEqual(self.get("rubbish")[0], 401)

    def test_the_provider_is_down(self):
        token, fresh = self.token(), self.start()
        self.assertEqual(self.get(token)[0], 200)
        self.m.test.idp(stop=True)
        self.assertEqual(self.get(token)[0], 200)        # it has the keys
        self.assertEqual(self.get(token, fresh)[0], 503)   # one that has just started has none
        self.m.test.idp()
        self.assertEqual(self.get(token, fresh)[0], 200)

    def test_a_provider_that_is_down_is_left_alone_for_a_while(self):
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

    def test_the_provider_has_a_bad_moment(self):
        self.m.test.enqueue(error={"code": "server_error", "endpoint": "jwks"})
        self.assertEqual([self.get(self.token())[0], self.get(self.token())[0]], [503, 200])


if __name__ == "__main__":
    unittest.main()
