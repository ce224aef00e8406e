"""Runs oidc-provider-mock, a third-party OpenID provider, as a process that ends with the test."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from websites import DISCOVERY, closed_port

BACK = "http://localhost/back"


class OIDCProviderMock:
    """A provider. `people` are the claims of its users. A cleanup of `case` ends it."""

    def __init__(self, case, *people):
        port = closed_port()
        self.issuer = f"http://127.0.0.1:{port}"
        options = [part for claims in people for part in ("--user-claims", json.dumps(claims))]
        self.process = process = subprocess.Popen(
            [os.path.join(os.path.dirname(sys.executable), "oidc-provider-mock"), "-p", str(port), *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        case.addCleanup(process.wait)
        case.addCleanup(process.kill)
        deadline = time.monotonic() + 90
        while True:
            try:
                urllib.request.urlopen(self.issuer + DISCOVERY).close()
                return
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def stop(self):
        self.process.kill()
        self.process.wait()

    def send(self, authorization_url, subject="alice"):
        """Opens the authorization URL and signs in as `subject`. Returns the URL of the redirect."""
        class Stay(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *_):
                return None
        try:
            urllib.request.build_opener(Stay).open(authorization_url, f"sub={subject}".encode())
            raise AssertionError("no redirect")
        except urllib.error.HTTPError as answer:
            answer.close()
            return answer.headers["Location"]

    def sign_in(self, client, subject="alice", nonce="n"):
        """Performs the authorization code flow as a browser and a server do. Returns the response of the token endpoint."""
        class Stay(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *_):
                return None
        query = {"client_id": client, "response_type": "code", "redirect_uri": BACK, "scope": "openid email profile", "state": "s", **({"nonce": nonce} if nonce else {})}
        try:
            urllib.request.build_opener(Stay).open(f"{self.issuer}/oauth2/authorize?{urllib.parse.urlencode(query)}", f"sub={subject}".encode())
            raise AssertionError("no redirect")
        except urllib.error.HTTPError as answer:
            code = urllib.parse.parse_qs(urllib.parse.urlparse(answer.headers["Location"]).query)["code"][0]
            answer.close()
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": BACK, "client_id": client, "client_secret": "secret"}
        with urllib.request.urlopen(f"{self.issuer}/oauth2/token", urllib.parse.urlencode(form).encode()) as answer:
            return json.load(answer)
