"""Runs oidc-provider-mock, a third-party OpenID provider, as a process that ends with the test.

Loading the provider takes half a second of processor time. One process loads it, and starts each provider as a copy of itself."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from websites import DISCOVERY, closed_port

BACK = "http://localhost/back"


class Loaded:
    """The process that has loaded the provider. It ends with the process of the tests, and ends its providers."""

    current = None

    def __init__(self):
        self._process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)

    def order(self, **order):
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


class OIDCProviderMock:
    """A provider. `people` are the claims of its users. A cleanup of `case` ends it."""

    def __init__(self, case, *people):
        port = closed_port()
        self.issuer = f"http://127.0.0.1:{port}"
        options = [part for claims in people for part in ("--user-claims", json.dumps(claims))]
        Loaded.current = Loaded.current or Loaded()
        self._number = Loaded.current.order(start=["-p", str(port), *options])
        case.addCleanup(self.stop)
        deadline = time.monotonic() + 90
        while True:
            try:
                urllib.request.urlopen(self.issuer + DISCOVERY).close()
                return
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def stop(self):
        if self._number:
            Loaded.current.order(end=self._number)
            self._number = None

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


def obey():
    """Carries out the orders on standard input: the process that has loaded the provider."""
    from oidc_provider_mock.__main__ import run
    providers = set()
    for line in sys.stdin:
        order = json.loads(line)
        if "start" in order:
            number = os.fork()
            if number == 0:
                os.dup2(os.open(os.devnull, os.O_RDWR), 0)
                os.dup2(0, 1)
                try:
                    run(order["start"])
                finally:
                    os._exit(1)
            providers.add(number)
        else:
            number = order["end"]
            providers.remove(number)
            os.kill(number, signal.SIGKILL)
            os.waitpid(number, 0)
        print(number, flush=True)
    for number in providers:
        os.kill(number, signal.SIGKILL)


if __name__ == "__main__":
    obey()
