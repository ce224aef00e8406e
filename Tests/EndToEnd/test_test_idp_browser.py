"""A user in a real browser: from an application to the login page of the identity provider for tests and back.

The test saves screenshots of every page in light, dark and narrow layouts to `.build/tests/screenshots`.
"""

import http.server
import os
import threading
import urllib.parse

from browser import Browser
from endtoend import only
from test_browser import CONTRAST, SCREENSHOTS
from test_test_idp import PASSWORD, WithProvider

LOOKS = {"light": {}, "dark": {"dark": True}, "narrow": {"width": 390, "height": 700}, "narrow-dark": {"width": 390, "height": 700, "dark": True}}


class Shop(http.server.BaseHTTPRequestHandler):
    """The redirect target of the application. It records the parameters of each callback."""

    def do_GET(self):
        self.say(urllib.parse.urlsplit(self.path).query)

    def do_POST(self):
        self.say(self.rfile.read(int(self.headers["Content-Length"])).decode())

    def say(self, brought):
        if self.path.startswith("/back"):
            self.server.brought.append(dict(urllib.parse.parse_qsl(brought)))
        body = b"<!doctype html><title>Shop</title><h1>Welcome back</h1>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@only("sqlite")
class AtTheLoginPage(WithProvider):
    @classmethod
    def setUpClass(cls):
        os.makedirs(SCREENSHOTS, exist_ok=True)
        cls.browser = Browser(cls.addClassCleanup)
        cls.shop = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Shop)
        cls.shop.daemon_threads = True
        threading.Thread(target=cls.shop.serve_forever, daemon=True).start()
        cls.addClassCleanup(cls.shop.server_close)
        cls.addClassCleanup(cls.shop.shutdown)

    def setUp(self):
        super().setUp()
        self.shop.brought = []
        # For the browser, the application and the provider are different hosts.
        self.back = f"http://localhost:{self.shop.server_port}/back"
        self.browser.order("Network.clearBrowserCookies")
        self.browser.look()
        self.browser.complaints.clear()
        self.account()

    def looks_well(self, name, title):
        """Checks the layout of the page in every size and color scheme, and that it loads no other resources."""
        self.browser.wait(f"document.title == {title!r}")
        for look, options in LOOKS.items():
            self.browser.look(**options)
            self.browser.screenshot(os.path.join(SCREENSHOTS, f"idp-{name}-{look}.png"))
            self.assertGreaterEqual(self.browser.run(CONTRAST.replace("h1, p, blockquote", "h1, p, label, input:not([type=hidden]), button")), 4.5, look)
            self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), options.get("width", 1000), look)
        self.assertEqual(self.browser.run("[...document.querySelectorAll('input:not([type=hidden])')].filter(each => !each.labels.length).length"), 0)
        self.assertEqual(self.browser.run("performance.getEntriesByType('resource').length + document.scripts.length"), 0)

    def welcomed(self):
        self.browser.wait("document.title == 'Shop'")
        return self.shop.brought[-1]

    def test_login_page_works_without_scripts(self):
        self.browser.open(self.authorize_url(redirect_uri=self.back))
        self.looks_well("login", "Sign in")
        self.browser.type("#email", "alice@example.com")
        self.browser.type("#password", "not-the-password")
        self.browser.click("form button")
        self.browser.wait("document.querySelector('[role=alert]')")
        self.looks_well("wrong-password", "Sign in")
        self.assertEqual(self.browser.run("document.querySelector('#email').value + ' ' + document.activeElement.id"), "alice@example.com password")
        self.browser.type("#password", PASSWORD)
        self.browser.click("form button")
        brought = self.welcomed()
        self.assertEqual((brought["state"], brought["iss"]), ("s-1", self.issuer))
        status, answer, _ = self.token(grant_type="authorization_code", code=brought["code"], redirect_uri=self.back, client_id="shop")
        self.assertEqual((status, self.verified(answer["id_token"])["email"]), (200, "alice@example.com"))
        # The browser is signed in: the next request redirects to the application without a page.
        self.browser.open(self.authorize_url(redirect_uri=self.back, state="s-2"))
        self.browser.wait("document.title == 'Shop' && location.search.includes('s-2')")
        self.assertIn("code", self.shop.brought[-1])
        self.assertEqual(self.browser.complaints, [])

    def test_form_post_response_works_with_and_without_scripts(self):
        for has_scripts in (False, True):
            self.browser.order("Emulation.setScriptExecutionDisabled", value=not has_scripts)
            self.browser.open(self.authorize_url(redirect_uri=self.back, response_mode="form_post", prompt="login", state=f"s-{has_scripts}"))
            self.browser.type("#email", "alice@example.com")
            self.browser.type("#password", PASSWORD)
            self.browser.click("form button")
            if not has_scripts:
                self.browser.click(f"form[action='{self.back}'] button")
            brought = self.welcomed()
            self.assertEqual((brought["state"], "code" in brought), (f"s-{has_scripts}", True))
        self.browser.order("Emulation.setScriptExecutionDisabled", value=True)

    def test_user_selects_an_account_or_cancels(self):
        for name in ("bob", "carol"):
            self.sidecar.call("account.create", {"username": f"{name}@example.com"})
        self.sidecar.call("test.idp", {"issuers": [{"name": "default", "passwordless": True}]})
        self.browser.open(self.authorize_url(redirect_uri=self.back))
        self.looks_well("pick", "Sign in")
        self.browser.click("button[value='carol@example.com']")
        code = self.welcomed()["code"]
        answer = self.token(grant_type="authorization_code", code=code, redirect_uri=self.back, client_id="shop")[1]
        self.assertEqual(self.verified(answer["id_token"])["email"], "carol@example.com")
        self.browser.open(self.authorize_url(redirect_uri=self.back, prompt="login"))
        self.browser.click("button.quiet")
        self.assertEqual(self.welcomed()["error"], "access_denied")

    def test_device_error_and_sign_out_pages(self):
        self.browser.open(self.issuer + "/activate")
        self.looks_well("device", "Sign in on a device")
        self.browser.open(self.authorize_url(redirect_uri="javascript:1"))
        self.looks_well("refused", "The request failed")
        self.browser.open(self.authorize_url(redirect_uri=self.back))
        self.browser.type("#email", "alice@example.com")
        self.browser.type("#password", PASSWORD)
        self.browser.click("form button")
        self.welcomed()
        self.browser.open(self.issuer + "/logout")
        self.looks_well("sign-out", "Sign out?")
        self.browser.click("form button")
        self.looks_well("signed-out", "You are signed out")
