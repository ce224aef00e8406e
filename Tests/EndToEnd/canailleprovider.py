"""Canaille, an OpenID provider that others wrote, as a process that ends with the test: an issuer that ends with a slash, RSA and
Ed25519 keys, clients that register themselves, and a code flow that insists on PKCE and a nonce."""

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
    """A provider; `people` are the names of those who can sign in there, each with `PASSWORD`. It ends when what it adds to a test's cleanups is run."""

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
        """The answer, whatever its status says."""
        try:
            return browser.open(urllib.request.Request(url, body, headers), timeout=60)
        except urllib.error.HTTPError as answer:
            return answer

    def register(self, redirect_uri, algorithm, **more):
        """A new client by dynamic registration (RFC 7591): what `idp.create` needs to know of it."""
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
        """A browser in which somebody has signed in."""
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()), Stay)
        for path, form in (("login", {"login": name}), ("auth/password", {"password": password})):
            self.open(browser, f"{self.issuer}{path}").close()
            with self.open(browser, f"{self.issuer}{path}", urllib.parse.urlencode(form).encode()) as answer:
                assert answer.status in (302, 303), f"{name} is not signed in: HTTP {answer.status} of /{path}"
        return browser

    def send(self, browser, url, answer="accept"):
        """Somebody who is sent to a URL of the provider and says yes or no there, if they are asked: where they are sent back to."""
        # Two access tokens for one person and client in one second are the same one here, and the second one fails.
        time.sleep(1.01 - time.time() % 1)
        with self.open(browser, url) as response:
            if "Location" in response.headers:
                return response.headers["Location"]
        with self.open(browser, url, urllib.parse.urlencode({"answer": answer}).encode()) as response:
            assert "Location" in response.headers, f"no redirect but HTTP {response.status}: {response.read(400)}"
            return response.headers["Location"]
