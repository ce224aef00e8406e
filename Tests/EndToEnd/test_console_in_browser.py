"""The web console in Chromium: light, dark and narrow, with the keyboard, live and without JavaScript.

Screenshots of every page are written to .build/tests/screenshots.
"""

import os
import re

from browser import Browser
from endtoend import EndToEnd, only, pool_with_role
from test_browser import SCREENSHOTS
from test_console import PASSWORD, until
from webconsole import path

# Returns the texts on the page whose contrast is below that of WCAG 2.2, 1.4.3, with their ratio.
PALE = """
(() => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
  const rgba = color => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const light = color => color.slice(0, 3).map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = element => {
    for (; element; element = element.parentElement) {
      const color = rgba(getComputedStyle(element).backgroundColor);
      if (color[3] == 255) return color;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll("body *:not(svg *):not(script)")) {
    const own = [...element.childNodes].some(node => node.nodeType == 3 && node.data.trim());
    if (!own || !element.checkVisibility() || element.closest("button:disabled, .skip")) continue;
    const pair = [light(rgba(getComputedStyle(element).color)), light(behind(element))];
    const ratio = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
    if (ratio < 4.5) found.push(`${element.tagName}.${element.className} ${ratio.toFixed(2)}: ${element.innerText.slice(0, 40)}`);
  }
  return found;
})()
"""


@only("sqlite")
class ConsoleInTheBrowser(EndToEnd):
    @classmethod
    def setUpClass(cls):
        os.makedirs(SCREENSHOTS, exist_ok=True)
        cls.browser = Browser(cls.addClassCleanup)

    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn("--console", "--write", testing=True)
        started = self.sidecar.call("signUp.start", {"username": "alice@example.com", "password": PASSWORD})
        code = self.sidecar.call("test.outbox", {})["messages"][0]["code"]
        done = self.sidecar.call("signUp.submitCode", {"continuationToken": started["continuationToken"], "code": code})
        self.account = self.sidecar.call("signIn.withContinuation", {"continuationToken": done["continuationToken"]})["account"]["accountId"]
        self.pool, _ = pool_with_role(self.sidecar)
        self.browser.order("Network.clearBrowserCookies")
        self.browser.look(width=1280, height=800)
        url = until(lambda: re.search(r"^http://\S+", self.sidecar.stderr_text(), re.M))[0]
        self.base = url.split("/?")[0]
        self.browser.open(url)
        self.browser.wait("document.querySelector('h1')?.innerText == 'Overview'")
        self.browser.requests.clear()
        self.browser.complaints.clear()

    def script(self, runs):
        self.browser.order("Emulation.setScriptExecutionDisabled", value=not runs)

    def open(self, place):
        self.browser.open(self.base + place)
        self.browser.wait(f"location.href == {self.base + place!r} && document.querySelector('h1')")

    def test_every_page_is_readable_in_each_look(self):
        self.script(runs=True)
        self.addCleanup(self.script, runs=False)
        pages = {
            "overview": "/", "tenants": "/tenants", "tenant": "/tenants/default", "accounts": "/accounts", "account": f"/accounts/{self.account}",
            "sessions": "/sessions", "pools": "/pools", "pool": path("pools", self.pool), "roles": "/roles", "outbox": "/outbox", "message": "/outbox/1",
            "requests": "/requests", "request": "/requests/1", "metrics": "/metrics", "keys": "/keys", "audit": "/audit", "import": "/import",
            "methods": "/methods", "method": "/methods/tenant.create", "unknown": "/nothing"}
        for name, place in pages.items():
            self.browser.look(width=1280, height=800)
            self.open(place)
            for look, options in {"light": {}, "dark": {"dark": True}, "narrow": {"width": 360}, "narrow-dark": {"width": 360, "dark": True}}.items():
                width = options.get("width", 1280)
                self.browser.look(**{"width": 1280, "height": 900, **options})
                self.assertLessEqual(self.browser.run("document.documentElement.scrollWidth"), width, (name, look))
                self.assertEqual(self.browser.run(PALE), [], (name, look))
                self.browser.screenshot(os.path.join(SCREENSHOTS, f"console-{name}-{look}.png"))
            self.assertNotEqual(self.browser.run("document.title"), "")
        elsewhere = [url for url in self.browser.requests if not url.startswith((self.base, "data:"))]
        self.assertEqual(elsewhere, [])
        self.assertEqual([text for text in self.browser.complaints if "404" not in text and "Multiple forms" not in text], [])

    def test_keyboard_reaches_content_and_shows_focus(self):
        self.open("/accounts")
        key = lambda name, code: [self.browser.order("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code) for kind in ("keyDown", "keyUp")]
        key("Tab", 9)
        self.assertEqual(self.browser.run("document.activeElement.className"), "skip")
        self.assertGreaterEqual(self.browser.run("document.activeElement.getBoundingClientRect().left"), 0)
        seen = []
        for _ in range(30):
            key("Tab", 9)
            seen.append(self.browser.run("document.activeElement.innerText || document.activeElement.name || ''").split("\n")[0])
            self.assertNotEqual(self.browser.run("getComputedStyle(document.activeElement).outlineStyle"), "none")
            if seen[-1] == "alice@example.com":
                break
        self.assertIn("Signing keys", seen)
        self.assertIn("q", seen)
        self.browser.order("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
        self.browser.wait("document.querySelector('[data-graph]')")

    def test_forms_work_without_script_and_origin_is_accepted(self):
        self.open("/methods/tenant.create")
        self.browser.type("input[name=tenantId]", "shop")
        self.browser.click("form.call button[type=submit]")
        self.browser.wait("document.querySelector('[data-result]')")
        self.assertIn("shop", [tenant["tenantId"] for tenant in self.sidecar.call("tenant.list")["tenants"]])
        self.open(f"/accounts/{self.account}")
        self.browser.click("td button")
        self.browser.wait("document.body.innerText.includes('has no sessions')")
        self.assertEqual(self.sidecar.call("session.list", {"accountId": self.account})["sessions"], [])

    def test_graph_nodes_link_to_their_pages(self):
        self.open(f"/accounts/{self.account}")
        graph = self.sidecar.call("account.graph", {"accountId": self.account})
        self.assertEqual(self.browser.run("document.querySelectorAll('svg[data-graph] [data-node] > title').length"), len(graph["nodes"]))
        box = self.browser.run("JSON.stringify(document.querySelector('[data-node=\"0\"]').getBoundingClientRect())")
        self.assertIn('"width":', box)
        self.assertTrue(self.browser.run("document.querySelector('[data-node=\"0\"] a').getAttribute('href')").startswith("/accounts/"))

    def test_requests_and_messages_appear_by_themselves(self):
        self.script(runs=True)
        self.addCleanup(self.script, runs=False)
        self.open("/requests")
        self.sidecar.call("rpc.discover", {}, trace="just-now")
        self.browser.wait("document.querySelector('tbody tr')?.innerText.includes('just-now')")
        self.open("/outbox")
        self.sidecar.call("signUp.start", {"username": "bob@example.com", "password": PASSWORD})
        self.browser.wait("document.body.innerText.includes('bob@example.com')")

    def test_message_is_shown_in_a_sandbox(self):
        self.open("/outbox/1")
        self.assertEqual(self.browser.run("document.querySelector('iframe').sandbox.length"), 0)
        self.assertEqual(self.browser.complaints, [])
