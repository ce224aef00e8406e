"""A small HTTP service that trusts the access tokens of one issuer: `GET /orders` with `Authorization: Bearer …`.

    python service.py https://id.example.com/tenants/default https://id.example.com/tenants/default/.well-known/jwks.json orders 8080

It requires PyJWT 2.15 or later with its crypto extra, and no part of Mintmark. `test_service.py` in the same folder shows how to test such
a service.
"""

import json
import math
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt


class Refused(Exception):
    """A rejected request: the HTTP status, and the error code and description as defined by RFC 6750."""

    def __init__(self, status, error, description):
        super().__init__(description)
        self.status, self.error, self.description = status, error, description


class Keys(jwt.PyJWKClient):
    """The public keys of an issuer.

    Keys are kept for five minutes. If a token names an unknown key, for example after a rotation, they are fetched again. Only one request
    runs at a time, with a minimum interval of a few seconds even if the provider is down, so that forged tokens cannot overload it.
    """

    def __init__(self, url, seconds_between):
        super().__init__(url, lifespan=300, timeout=5, cooldown_duration=seconds_between)
        self._failed_at = -math.inf

    def fetch_data(self):   # PyJWKClient calls it from one thread at a time
        if time.monotonic() - self._failed_at < self.cooldown_duration:
            raise jwt.PyJWKClientConnectionError("The last try has failed.")
        try:
            return super().fetch_data()
        except (jwt.PyJWTError, ValueError, OSError) as error:
            self._failed_at = time.monotonic()
            raise jwt.PyJWKClientConnectionError(str(error)) from error


class Tokens:
    """Verifies the access tokens of one issuer for one audience."""

    def __init__(self, issuer, jwks_url, audience, seconds_between):
        self.issuer, self.audience = issuer, audience
        self._keys = Keys(jwks_url, seconds_between)

    def claims(self, authorization):
        """The claims of the token in an Authorization header. Raises Refused if the token is not valid."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Refused(401, None, "Send an access token: Authorization: Bearer …")
        try:
            key = self._keys.get_signing_key_from_jwt(token)
            good = jwt.decode_complete(
                token, key, algorithms=["ES256", "RS256", "EdDSA"], issuer=self.issuer, audience=self.audience, leeway=5,
                options={"require": ["exp", "iss", "aud", "sub"]})
        except jwt.PyJWKClientConnectionError:
            raise Refused(503, None, "The keys of the issuer cannot be fetched just now.") from None
        except (jwt.PyJWTError, ValueError) as error:
            raise Refused(401, "invalid_token", str(error)) from None
        # ID tokens are intended for the client application, not for this service. RFC 9068 distinguishes them from access tokens by their
        # type. If your provider's access tokens have no such type, check another property that only access tokens have, such as a `scope`
        # claim.
        if str(good["header"].get("typ")).lower() not in ("at+jwt", "application/at+jwt"):
            raise Refused(401, "invalid_token", "It is no access token.")
        return good["payload"]


def scopes(claims):
    """The scopes of a token: a space-separated string in RFC 9068, a list with some providers."""
    scope = claims.get("scope")
    return scope.split() if isinstance(scope, str) else scope if isinstance(scope, list) else []


class Service(BaseHTTPRequestHandler):
    def do_GET(self):
        try:
            claims = self.server.tokens.claims(self.headers["Authorization"])
            if "orders:read" not in scopes(claims):
                raise Refused(403, "insufficient_scope", "This needs the scope orders:read.")
            self._answer(200, {"orders": [], "customer": claims["sub"]})
        except Refused as refused:
            words = "Bearer" + (f' error="{refused.error}", scope="orders:read"' if refused.error else "")
            self._answer(refused.status, {"error": refused.description}, {"Retry-After": "5"} if refused.status == 503 else {"WWW-Authenticate": words})

    def _answer(self, status, body, headers={}):
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def serve(issuer, jwks_url, audience, port=0, seconds_between=10):
    """Creates a server that is ready to run: `serve(…).serve_forever()`."""
    server = ThreadingHTTPServer(("127.0.0.1", port), Service)
    server.daemon_threads = True
    server.tokens = Tokens(issuer, jwks_url, audience, seconds_between)
    return server


if __name__ == "__main__":
    serve(*sys.argv[1:4], port=int(sys.argv[4])).serve_forever()
