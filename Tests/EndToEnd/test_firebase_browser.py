"""Popup and redirect of Firebase's web SDK in a real browser.

The SDK and the frame speak through a script of Google, which tests do not load. A stand-in with its functions takes its place.
"""

import json
import unittest
import urllib.parse

from browser import Browser
from endtoend import only
from firebase import FirebaseProject

GAPI = """
window.gapi = window.gapi || {
  load: (name, done) => setTimeout(typeof done === "function" ? done : done.callback),
  iframes: {
    CROSS_ORIGIN_IFRAMES_FILTER: "any",
    getContext: () => ({getParentIframe: () => ({
      register: (name, handler) => { (window.handlers = window.handlers || {})[name] = handler; },
      send: (name, data) => window.parent.postMessage({gapi: name, data}, "*"),
    })}),
  },
};
"""


class Pages(FirebaseProject):
    def setUp(self):
        super().setUp()
        self.browser = Browser(self.addCleanup)
        self.browser.order("Emulation.setScriptExecutionDisabled", value=False)
        self.browser.order("Page.addScriptToEvaluateOnNewDocument", source=GAPI)

    def page(self, name, **parameters):
        return f"{self.base}/emulator/auth/{name}?" + urllib.parse.urlencode({"apiKey": "key", "appName": "[DEFAULT]", "v": "12", **parameters})

    def handler(self, kind, **more):
        return self.page("handler", **{"authType": kind, "providerId": "google.com", "eventId": "e1", "scopes": "profile", **more})

    def application(self, path="/"):
        """Opens a page of the application with its frame, whose events are in `events`."""
        self.browser.open(self.base + path)
        self.browser.wait(f"location.pathname + location.search == {json.dumps(path)}")
        self.browser.run(
            "window.events = []; window.addEventListener('message', (m) => { if (m.data.gapi === 'authEvent') events.push(m.data.data) });"
            f"const frame = document.createElement('iframe'); frame.src = {json.dumps(self.page('iframe'))}; document.body.append(frame); 1")
        self.browser.wait("events.length > 0")

    def enter(self, window, **fields):
        for name, value in fields.items():
            self.browser.run(f"{window}.document.querySelector('[name={name}]').value = {json.dumps(value)}")
        self.browser.run(f"{window}.document.querySelector('button[type=submit]').click()")

    def sign_in(self, event, **more):
        return self.client(
            "accounts:signInWithIdp", requestUri=event["urlResponse"], sessionId=event["sessionId"], postBody=event["postBody"],
            returnSecureToken=True, returnIdpCredential=True, **more)

    def popup(self, kind="signInViaPopup", **more):
        self.browser.order(
            "Runtime.evaluate", expression=f"window.popup = window.open({json.dumps(self.handler(kind, **more))}, 'p', 'width=400,height=500'); 1",
            userGesture=True)
        self.browser.wait("popup.document.readyState == 'complete' && popup.document.querySelector('[name=sub]')")

    @only("sqlite")
    def test_popup_signs_in_and_offers_the_user_again(self):
        self.application()
        self.assertEqual(self.browser.run("events[0].authEvent.error.code"), "auth/no-auth-event")
        self.assertEqual(
            self.browser.run("frames[0].handlers.webStorageSupport()"), {"status": "ACK", "webStorageSupport": True})
        self.popup()
        self.enter("popup", sub="g-1", email="carol@example.com", name="Carol <b>")
        self.browser.wait("events.length > 1 && popup.closed")
        event = self.browser.run("events[1].authEvent")
        self.assertEqual((event["type"], event["eventId"], event["error"]), ("signInViaPopup", "e1", None))
        made = self.sign_in(event)
        self.assertEqual((made["isNewUser"], made["email"], made["displayName"]), (True, "carol@example.com", "Carol <b>"))
        self.popup()
        self.browser.wait("popup.document.querySelector('#known button')")
        self.assertEqual(self.browser.run("popup.document.querySelector('#known button').textContent"), "Carol <b>")
        self.browser.run("popup.document.querySelector('#known button').click()")
        self.browser.wait("events.length > 2")
        again = self.sign_in(self.browser.run("events[2].authEvent"))
        self.assertEqual((again["localId"], "isNewUser" in again), (made["localId"], False))

    @only("sqlite")
    def test_redirect_returns_with_the_event_once(self):
        self.browser.open(self.handler("linkViaRedirect", redirectUrl=self.base + "/?back=1"))
        self.browser.wait("document.querySelector('[name=sub]')")
        self.enter("window", sub="g-2")
        self.browser.wait("location.search == '?back=1'")
        self.application("/?back=1")
        event = self.browser.run("events[0].authEvent")
        self.assertEqual(event["type"], "linkViaRedirect")
        user = self.client("accounts:signUp")
        self.assertEqual(self.sign_in(event, idToken=user["idToken"])["localId"], user["localId"])
        self.application("/?back=1")
        self.assertEqual(self.browser.run("events[0].authEvent.error.code"), "auth/no-auth-event")

    @only("sqlite")
    def test_cancel_and_wrong_parameters_are_reported(self):
        self.application()
        self.popup()
        self.browser.run("popup.document.getElementById('cancel').click()")
        self.browser.wait("events.length > 1")
        self.assertEqual(self.browser.run("events[1].authEvent.error.code"), "auth/user-cancelled")
        self.browser.open(self.handler("signInViaRedirect", redirectUrl="javascript:alert(1)"))
        self.browser.wait("document.querySelector('[name=sub]')")
        self.enter("window", sub="x")
        self.assertIn("redirectUrl", self.browser.run("document.getElementById('problem').textContent"))
        self.browser.open(self.page("handler", providerId="<img src=x onerror=alert(1)>"))
        self.browser.wait("document.getElementById('problem') && !document.getElementById('problem').hidden")
        self.assertEqual(self.browser.run("document.images.length"), 0)


if __name__ == "__main__":
    unittest.main()
