"""A person in front of a real browser: signs in at a real provider, or refuses, comes back to this process's page, and reads it.

Screenshots of every page, light, dark and narrow, are left in .build/tests/screenshots.
"""

import os

from browser import Browser
from canailleprovider import PASSWORD, Canaille
from endtoend import EndToEnd, only
from sidecar import ROOT, RpcError
from test_whole_flow import parameters
from websites import closed_port

SCREENSHOTS = os.path.join(ROOT, ".build", "tests", "screenshots")

# How well the words of the page stand out from what is behind them, the worst of them (WCAG 2.1, 1.4.3).
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
        """A flow that this process listens for, at an address that a new client of the provider has registered."""
        while True:
            port = closed_port()
            client = self.provider.register(f"http://127.0.0.1:{port}/back", "EdDSA")
            self.sidecar.call("idp.create", {"providerId": f"oidc.port{port}", "displayName": "Canaille", **client})
            try:
                return self.sidecar.call("idp.authorize", {"providerId": f"oidc.port{port}", "listen": {"port": port, "path": "/back"}})
            except RpcError as error:   # somebody was faster
                if error.type != "listenerUnavailable":
                    raise

    def sign_in(self, flow):
        return self.sidecar.send("signIn.withCredential", {"credential": {"continuationToken": flow["continuationToken"]}})

    def go(self, flow, person="alice", answer="accept"):
        """Signs in at the provider, says yes or no there, and is sent back."""
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
        """The page is the one with this title, and well made: words, look, and nothing from elsewhere."""
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

    def test_there_and_back(self):
        flow = self.authorize()
        waiting = self.sign_in(flow)
        self.go(flow)
        self.reads(flow, "done", "Return to the app", "You can close this window")
        self.assertEqual(self.browser.complaints, [])
        answer = self.sidecar.answer(waiting, timeout=60)
        self.assertEqual((answer["state"], answer["account"]["email"]), ("completed", "alice@example.com"))
        # The code has gone no further than the address.
        self.assertNotIn(parameters(self.browser.run("location.href"))["code"], self.browser.run("document.documentElement.outerHTML"))

    def test_somebody_who_says_no(self):
        flow = self.authorize()
        waiting = self.sign_in(flow)
        self.go(flow, answer="deny")
        self.reads(flow, "refused", "You are not signed in", "you canceled", "Canaille:", "try again in the app")
        with self.assertRaises(RpcError) as caught:
            self.sidecar.answer(waiting, timeout=60)
        self.assertEqual((caught.exception.type, caught.exception.data["error"]), ("signInRefused", "access_denied"))

    def test_a_page_that_belongs_to_no_flow_and_the_right_one_after_it(self):
        flow = self.authorize()
        waiting = self.sign_in(flow)
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

    def test_somebody_who_took_too_long(self):
        flow = self.authorize()
        waiting = self.sign_in(flow)
        self.sidecar.call("test.clock", {"advanceSeconds": 600})
        self.go(flow)
        self.reads(flow, "late", "This took too long", "start again in the app")
        with self.assertRaises(RpcError) as caught:
            self.sidecar.answer(waiting, timeout=60)
        self.assertEqual(caught.exception.type, "continuationTokenExpired")
        self.assertEqual(self.sidecar.call("account.list", {})["accounts"], [])
