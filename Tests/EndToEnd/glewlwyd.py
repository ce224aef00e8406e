"""Runs glewlwyd, a strict OpenID provider from Debian, as a process that ends with the test. It runs from unpacked packages, without installation."""

import glob
import gzip
import http.cookiejar
import json
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request

from cryptography.hazmat.primitives import serialization
from rsakeys import rsa_key
from websites import DISCOVERY, closed_port

PREFIX = os.environ.get("MINTMARK_GLEWLWYD") or os.path.join(os.path.dirname(__file__), "..", "..", ".build", "glewlwyd")


class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Glewlwyd:
    """A provider with one client, `shop`, and one user, `alice`. A cleanup of `case` ends it."""

    def __init__(self, case, redirect_uri):
        if not os.path.exists(f"{PREFIX}/usr/bin/glewlwyd"):
            raise unittest.SkipTest("glewlwyd is not unpacked: Tests/run does that")
        port = closed_port()
        self.origin, self.folder = f"http://127.0.0.1:{port}", tempfile.mkdtemp(prefix="mintmark-")
        case.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.issuer = f"{self.origin}/api/oidc"
        self._configure(port)
        libraries = ":".join(glob.glob(f"{PREFIX}/usr/lib/*-linux-gnu") + glob.glob(f"{PREFIX}/lib/*-linux-gnu"))
        process = subprocess.Popen(
            [f"{PREFIX}/usr/bin/glewlwyd", "-c", f"{self.folder}/conf"], env={**os.environ, "LD_LIBRARY_PATH": libraries},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        case.addCleanup(process.wait)
        case.addCleanup(process.kill)
        self.admin = self._browser()
        deadline = time.monotonic() + 60
        while True:
            try:
                self.call(self.admin, "POST", "/auth/", {"username": "admin", "password": "password"})
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        self._furnish(redirect_uri)
        urllib.request.urlopen(self.issuer + DISCOVERY).close()
        self.person = self._browser()
        self.call(self.person, "POST", "/auth/", {"username": "alice", "password": "password"})
        self.call(self.person, "PUT", "/auth/grant/shop", {"scope": "openid"})

    def _configure(self, port):
        database = sqlite3.connect(f"{self.folder}/g.db")
        with gzip.open(f"{PREFIX}/usr/share/doc/glewlwyd/database/init.sqlite3.sql.gz", "rt") as script:
            database.executescript(script.read())
        database.close()
        with gzip.open(f"{PREFIX}/usr/share/doc/glewlwyd/glewlwyd.conf.sample.gz", "rt") as sample:
            text = sample.read()
        for pattern, value in (
                ("/usr/lib/glewlwyd", f"{PREFIX}/usr/lib/glewlwyd"), ("/usr/share/glewlwyd", f"{PREFIX}/usr/share/glewlwyd"),
                ("/var/cache/glewlwyd/glewlwyd.db", f"{self.folder}/g.db"), ("^port=.*", f"port={port}"),
                ("^external_url=.*", f'external_url="{self.origin}"'), ("^cookie_domain=.*", 'cookie_domain="127.0.0.1"'),
                ("^cookie_secure=1", "cookie_secure=0"), ("^#bind_address.*", 'bind_address="127.0.0.1"')):
            text = re.sub(pattern, value, text, flags=re.MULTILINE)
        with open(f"{self.folder}/conf", "w") as file:
            file.write(text)

    def _furnish(self, redirect_uri):
        key = rsa_key()
        private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
        public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()
        on = {f"auth-type-{kind}-enabled": True for kind in ("code", "id-token", "client", "device", "refresh")}
        off = {f"auth-type-{kind}-enabled": False for kind in ("token", "password")}
        self.call(self.admin, "POST", "/mod/plugin/", {"module": "oidc", "name": "oidc", "display_name": "oidc", "parameters": {
            "iss": self.issuer, "jwt-type": "rsa", "jwt-key-size": "256", "key": private, "cert": public, "access-token-duration": 3600,
            "refresh-token-duration": 1209600, "code-duration": 600, "code-replay": True, "refresh-token-rolling": True,
            "refresh-token-one-use": "never", **on, **off, "pkce-allowed": True, "pkce-method-plain-allowed": False, "pkce-required": True,
            "allow-non-oidc": False, "allowed-scope": ["openid"], "jwks-show": True, "introspection-revocation-allowed": True,
            "device-authorization-expiration": 600, "device-authorization-interval": 1, "session-management-allowed": False,
            "scope": [], "additional-parameters": [], "claims": []}})
        self.call(self.admin, "POST", "/client/?source=database", {
            "client_id": "shop", "name": "shop", "confidential": True, "client_secret": "shop-secret", "password": "shop-secret", "enabled": True,
            "redirect_uri": [redirect_uri], "authorization_type": ["code", "id_token", "refresh_token", "device_authorization"],
            "token_endpoint_auth_method": ["client_secret_basic"], "scope": ["openid"]})
        self.call(self.admin, "POST", "/user/?source=database", {
            "username": "alice", "name": "Alice", "email": "alice@example.com", "password": "password", "enabled": True, "scope": ["openid"]})

    def _browser(self):
        return urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()), Stay)

    def call(self, browser, method, path, body=None):
        request = urllib.request.Request(
            f"{self.origin}/api{path}", json.dumps(body).encode() if body is not None else None, {"Content-Type": "application/json"}, method=method)
        with browser.open(request) as answer:
            return answer.read()

    def send(self, url):
        """Opens a URL of the provider as the signed-in user. Returns the URL of the redirect."""
        try:
            with self.person.open(url + ("&" if "?" in url else "?") + "g_continue") as answer:
                raise AssertionError(f"no redirect but HTTP {answer.status}: {answer.read(300)}")
        except urllib.error.HTTPError as answer:
            with answer:
                if "Location" not in answer.headers:
                    raise AssertionError(f"no redirect but HTTP {answer.code}: {answer.read(300)}")
                return answer.headers["Location"]
