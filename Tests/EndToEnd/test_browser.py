"""Sign-ins in a real browser: a user signs in at a real provider or cancels, and is redirected to the callback page of the process.

Screenshots of every page, light, dark and narrow, are written to .build/tests/screenshots.
"""

import os

from browser import Browser
from canailleprovider import PASSWORD, Canaille
from endtoend import EndToEnd, only
from sidecar import ROOT, RpcError
from test_whole_flow import parameters
from websites import closed_port

SCREENSHOTS = os.path.join(ROOT, ".build", "tests", "screenshots")

# Returns the lowest contrast ratio between text and background on the page (WCAG 2.1, 1.4.3).
CONTRAST = """
(() => {
  const numbers = text => text.match(/[\\d.]+/g).map(Number);
  const light = color => numbers(color).slice(0, 3).map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    for (; element; element = element.parentElement) {
      const color = getComputedStyle(element).backgroundColor;
      if ((numbers(color)[3] ?? 1) > 0) return color;
    }
    return "rgb(255, 255, 255)";
  };
  return Math.min(...[...document.querySelectorAll("h1, p, blockquote")].map(element => {
    const pair = [light(getComputedStyle(element).color), light(behind(element))];
    return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
  }));
})()
"""


@only("sqlite")
class InTheBrowser(EndToEnd):
    @classmethod
    def setUpClass(cls):
        os.makedirs(SCREENSHOTS, exist_ok=True)
        cls.browser = Browser(cls.addClassCleanup)
        cls.provider = Canaille(cls.addClassCleanup, "alice", "bob")

    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn(testing=True)
        self.browser.order("Network.clearBrowserCookies")
        self.browser.look()

    def authorize(self):
        """Starts a flow for which this process listens, at an address registered by a new client of the provider."""
        while True:
            port = closed_port()
            client = self.provider.register(f"http://127.0.0.1:{port}/back", "EdDSA")
            self.sidecar.call("idp.create", {"providerId": f"oidc.port{port}", "displayName": "Canaille", **client})
            try:
                return self.sidecar.call("idp.authorize", {"providerId": f"oidc.port{port}", "listen": {"port": port, "path": "/back"}})
            except RpcError as error:   # Another process took the port.
                if error.type != "listenerUnavailable":
                    raise

    def sign_in(self, flow):
        return self.sidecar.send("signIn.withCredential", {"credential": {"continuationToken": flow["continuationToken"]}})

    def go(self, flow, person="alice", answer="accept"):
        """Signs in at the provider, submits the consent form with `answer`, and is redirected back."""
        self.browser.open(flow["authorizationUrl"])
        self.browser.type("input[name=login]", person)
        self.browser.click("button[type=submit]")
        self.browser.type("input[name=password]", PASSWORD)
        self.browser.click("button[type=submit]")
        self.browser.wait(f"document.querySelector('button[value={answer}]')")
        self.browser.requests.clear()
        self.browser.complaints.clear()
        self.browser.click(f"button[value={answer}]")

    def reads(self, flow, name, title, *words):
        """Checks that the page has the given title and text, sufficient contrast and no overflow, and that it loads no external resources."""
        self.browser.wait(f"location.href.startsWith('{flow['redirectUri']}')")
        self.assertEqual(self.browser.run("document.title"), title)
        self.assertEqual(self.browser.run("document.querySelector('h1').innerText"), title)
        self.assertEqual((self.browser.run("document.documentElement.lang"), self.browser.run("document.characterSet")), ("en", "UTF-8"))
        text = self.browser.run("document.body.innerText")
        for each in words:
            self.assertIn(each, text)
        for look, options in {"light": {}, "dark": {"dark": True}, "narrow": {"width": 390, "height": 700}, "narrow-dark": {"width": 390, "height": 700, "dark": True}}.items():
            self.browser.look(**options)
            self.browser.screenshot(os.path.join(SCREENSHOTS, f"{name}-{look}.png"))
            self.assertGreaterEqual(self.browser.run(CONTRAST), 4.5, look)
            self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), options.get("width", 1000), look)
            self.assertLessEqual(self.browser.run("document.documentElement.scrollHeight"), options.get("height", 640), look)
        self.assertEqual(self.browser.run("performance.getEntriesByType('resource').length + document.scripts.length"), 0)
        elsewhere = [url for url in self.browser.requests if not url.startswith((flow["redirectUri"], self.provider.issuer, "data:"))]
        self.assertEqual(elsewhere, [])

    def test_sign_in_with_redirect_completes(self):
        flow = self.authorize()
        waiting = self.sign_in(flow)
        self.go(flow)
        self.reads(flow, "done", "Return to the app", "You can close this window")
        self.assertEqual(self.browser.complaints, [])
        answer = self.sidecar.answer(waiting, timeout=60)
        self.assertEqual((answer["state"], answer["account"]["email"]), ("completed", "alice@example.com"))
        # The code does not appear in the page.
        self.assertNotIn(parameters(self.browser.run("location.href"))["code"], self.browser.run("document.documentElement.outerHTML"))

    def test_denied_consent_fails_sign_in(self):
        flow = self.authorize()
        waiting = self.sign_in(flow)
        self.go(flow, answer="deny")
        self.reads(flow, "refused", "You are not signed in", "you canceled", "Canaille:", "try again in the app")
        with self.assertRaises(RpcError) as caught:
            self.sidecar.answer(waiting, timeout=60)
        self.assertEqual((caught.exception.type, caught.exception.data["error"]), ("signInRefused", "access_denied"))

    def test_unrelated_callback_is_rejected_and_correct_callback_completes(self):
        flow = self.authorize()
        waiting = self.sign_in(flow)
        self.browser.requests.clear()   # An earlier test uses the same browser.
        self.browser.open(f"{flow['redirectUri']}?code=stolen&state=wrong")
        self.reads(flow, "stranger", "Unexpected request", "Nothing has changed")
        self.browser.requests.clear()
        self.browser.open(flow["redirectUri"] + "door")
        self.reads({"redirectUri": flow["redirectUri"] + "door"}, "elsewhere", "Not found")
        self.assertEqual(self.sidecar.call("account.list", {})["accounts"], [])
        self.browser.look()
        self.go(flow, "bob")
        self.browser.wait("document.title == 'Return to the app'")
        self.assertEqual(self.sidecar.answer(waiting, timeout=60)["account"]["email"], "bob@example.com")

    def test_callback_after_expiry_fails_sign_in(self):
        flow = self.authorize()
        waiting = self.sign_in(flow)
        self.sidecar.call("test.clock", {"advanceSeconds": 600})
        self.go(flow)
        self.reads(flow, "late", "This took too long", "start again in the app")
        with self.assertRaises(RpcError) as caught:
            self.sidecar.answer(waiting, timeout=60)
        self.assertEqual(caught.exception.type, "continuationTokenExpired")
        self.assertEqual(self.sidecar.call("account.list", {})["accounts"], [])
