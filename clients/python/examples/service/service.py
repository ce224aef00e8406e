"""A small HTTP service that trusts the access tokens of one issuer: `GET /orders` with `Authorization: Bearer …`.

    python service.py https://id.example.com/tenants/default https://id.example.com/tenants/default/.well-known/jwks.json orders 8080

It needs PyJWT 2.15 or later with its crypto extra, and nothing of Mintmark: `test_service.py` beside it shows how such a service is tested.
"""

import json
import math
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jwt


class Refused(Exception):
    """A request that is not served: the HTTP status, and the words of RFC 6750 for it."""

    def __init__(self, status, error, description):
        super().__init__(description)
        self.status, self.error, self.description = status, error, description


class Keys(jwt.PyJWKClient):
    """The public keys of an issuer.

    It keeps them for five minutes. When a token names one that it does not know, as after a rotation, it fetches them again, but one request
    at a time and not more often than every few seconds, also when the provider is down: whoever sends made-up tokens does not make it busy.
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
    """Judges the access tokens of one issuer, for one audience."""

    def __init__(self, issuer, jwks_url, audience, seconds_between):
        self.issuer, self.audience = issuer, audience
        self._keys = Keys(jwks_url, seconds_between)

    def claims(self, authorization):
        """The claims of the token in an Authorization header. Raises Refused."""
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
        # ID tokens are for the app that signs people in. RFC 9068 tells the two apart by their type. If your provider's access tokens have
        # none of their own, check instead what else they alone have, such as a claim scope.
        if str(good["header"].get("typ")).lower() not in ("at+jwt", "application/at+jwt"):
            raise Refused(401, "invalid_token", "It is no access token.")
        return good["payload"]


def scopes(claims):
    """What a token allows: RFC 9068 has names with spaces between them, some providers a list."""
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
    """A server that is ready to run: `serve(…).serve_forever()`."""
    server = ThreadingHTTPServer(("127.0.0.1", port), Service)
    server.daemon_threads = True
    server.tokens = Tokens(issuer, jwks_url, audience, seconds_between)
    return server


if __name__ == "__main__":
    serve(*sys.argv[1:4], port=int(sys.argv[4])).serve_forever()
