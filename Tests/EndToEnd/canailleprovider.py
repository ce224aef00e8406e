"""Runs Canaille, a third-party OpenID provider, as a process that ends with the test.

Its issuer ends with a slash. It has RSA and Ed25519 keys, supports dynamic client registration, and requires PKCE and a nonce in the code flow.
"""

import http.cookiejar
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

from sidecar import ROOT

PYTHON = os.environ.get("MINTMARK_CANAILLE") or os.path.join(ROOT, ".build", "canaille", "bin", "python")
PASSWORD = "a rather long Passphrase 7"


class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Canaille:
    """A provider. `people` are the names of its users, who all have the password `PASSWORD`. A function registered with `add_cleanup` ends it."""

    def __init__(self, add_cleanup, *people):
        assert os.path.exists(PYTHON), "canaille is not installed: Tests/run does that"
        listed = [{"name": name, "password": PASSWORD, "email": f"{name}@example.com"} for name in people]
        folder = tempfile.mkdtemp(prefix="mintmark-")
        add_cleanup(shutil.rmtree, folder, ignore_errors=True)
        process = subprocess.Popen(
            [PYTHON, "-B", os.path.join(ROOT, "Tests", "Interop", "canaille_server.py"), os.path.join(folder, "canaille.db"), json.dumps(listed)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        add_cleanup(self._end, process)
        self.issuer = process.stdout.readline().strip()
        assert self.issuer, f"canaille does not start: {PYTHON} Tests/Interop/canaille_server.py FILE '[]' says why"
        with self.open(urllib.request.build_opener(), f"{self.issuer}.well-known/openid-configuration") as answer:
            self.document = json.load(answer)

    @staticmethod
    def _end(process):
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()

    def open(self, browser, url, body=None, **headers):
        """Returns the response, whatever its status."""
        try:
            return browser.open(urllib.request.Request(url, body, headers), timeout=60)
        except urllib.error.HTTPError as answer:
            return answer

    def register(self, redirect_uri, algorithm, **more):
        """Registers a client dynamically (RFC 7591) and returns its settings for `idp.create`."""
        wanted = {
            "client_name": "shop", "client_uri": "https://shop.example.com/", "redirect_uris": [redirect_uri],
            "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"], "scope": "openid email profile",
            "token_endpoint_auth_method": "client_secret_basic", "id_token_signed_response_alg": algorithm, **more}
        with self.open(urllib.request.build_opener(), self.document["registration_endpoint"], json.dumps(wanted).encode(),
                       **{"Content-Type": "application/json"}) as answer:
            client = json.load(answer)
        assert answer.status == 201, client
        return {"clientId": client["client_id"], "clientSecret": client["client_secret"], "clientAuthentication": "basic",
                "issuer": self.issuer, "responseType": "code"}

    def person(self, name, password=PASSWORD):
        """Returns a browser session in which the user is signed in."""
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()), Stay)
        for path, form in (("login", {"login": name}), ("auth/password", {"password": password})):
            self.open(browser, f"{self.issuer}{path}").close()
            with self.open(browser, f"{self.issuer}{path}", urllib.parse.urlencode(form).encode()) as answer:
                assert answer.status in (302, 303), f"{name} is not signed in: HTTP {answer.status} of /{path}"
        return browser

    def send(self, browser, url, answer="accept"):
        """Opens a URL of the provider, submits the consent form if there is one, and returns the URL of the redirect."""
        # Canaille issues the same access token for one user and client twice within a second, and then rejects the second one.
        time.sleep(1.01 - time.time() % 1)
        with self.open(browser, url) as response:
            if "Location" in response.headers:
                return response.headers["Location"]
        with self.open(browser, url, urllib.parse.urlencode({"answer": answer}).encode()) as response:
            assert "Location" in response.headers, f"no redirect but HTTP {response.status}: {response.read(400)}"
            return response.headers["Location"]
