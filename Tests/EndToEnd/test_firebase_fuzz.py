"""The HTTP side of the Firebase API with input that no SDK sends: heads, bodies, percent-encoding and long members."""

import json
import random
import socket
import unittest

from endtoend import only
from firebase import PROJECT, FirebaseProject

PREFIX = "/identitytoolkit.googleapis.com/v1/"


class Fuzz(FirebaseProject):
    """Nothing but documented errors, and never a status that SDKs would repeat. The endpoint serves the next request."""

    def setUp(self):
        super().setUp()
        host, port = self.base.split("://")[1].split(":")
        self.host, self.address = f"{host}:{port}", (host, int(port))

    def raw(self, data):
        """Sends bytes and returns the status line and the body; None if the connection was closed without an answer."""
        with socket.create_connection(self.address, timeout=60) as connection:
            try:
                connection.sendall(data)
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass   # The server has already refused the request.
            answer = b""
            try:
                while block := connection.recv(65536):
                    answer += block
            except ConnectionResetError:
                pass
        if not answer:
            return None
        head, _, body = answer.partition(b"\r\n\r\n")
        return int(head.split(b" ", 2)[1]), body

    def post(self, path, body, *headers):
        lines = [f"POST {path} HTTP/1.1", f"Host: {self.host}", "Content-Type: application/json", f"Content-Length: {len(body)}", "Connection: close", *headers]
        return self.raw("\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + body)

    def documented(self, answer, about):
        with self.subTest(about=repr(about)[:300]):
            self.assertIsNotNone(answer)
            status, body = answer
            self.assertIn(status, {200, 204, 303, 400, 401, 403, 404, 405, 409, 411, 413, 414, 431, 501, 505})
            if body.startswith(b"{") and status != 200:
                found = json.loads(body)
                if "authEmulator" in found:   # The page of a link has a format of its own.
                    self.assertIn("error", found["authEmulator"])
                elif "__type" not in found:   # So has the other API at this address.
                    self.assertEqual(found["error"]["code"], status)
                    self.assertLess(len(found["error"]["message"]), 2000)

    def alive(self):
        self.assertTrue(self.request("/")[1]["authEmulator"]["ready"])

    @only("sqlite")
    def test_heads(self):
        chance = random.Random(3)
        known = ["Authorization: Bearer owner", "Authorization: bearer", "Authorization: Basic x", "X-Goog-Api-Key: k", "Content-Type: text/plain",
                 "Content-Type: application/x-www-form-urlencoded", "Origin: null", "X-Firebase-Locale: \u00ff", "Authorization:", "Expect: 100-continue",
                 "Content-Length: -1", "Transfer-Encoding: gzip", "Content-Encoding: gzip", ": x", "A\tB: c", "X: " + "y" * 9000]
        for _ in range(150):
            head = "\r\n".join(
                [f"{chance.choice(['POST', 'GET', 'PATCH', 'DELETE', 'PUT', 'OPTIONS', 'post', 'FLY'])} "
                 f"{chance.choice(['/', PREFIX + 'accounts:signUp?key=k', PREFIX + f'projects/{PROJECT}/accounts:lookup', '*', '//', '/emulator/action', 'http://x/'])} "
                 f"{chance.choice(['HTTP/1.1', 'HTTP/1.0', 'HTTP/2', 'x'])}", f"Host: {self.host}", "Connection: close"] + chance.sample(known, chance.randrange(5)))
            answer = self.raw(head.encode() + b"\r\n\r\n{}")
            if answer:
                self.documented(answer, head)
        self.alive()

    @only("sqlite")
    def test_bodies(self):
        chance = random.Random(5)
        good = json.dumps({"email": "a@example.com", "password": "secret-1", "returnSecureToken": True, "tenantId": ""}).encode()
        bodies = [b"", b"null", b"[" * 100_000, b'{"a":' * 5000 + b"1" + b"}" * 5000, b"\xff\xfe", b'{"email":"\\ud800"}', b'{"email":1e999}', b'{"a":1,"a":2}',
                  b'{"email":"' + b"a" * 1_000_000 + b'@example.com"}', b"\x00" * 1000, b'{"localId":["' + b'","'.join([b"x"] * 3000) + b'"]}']
        for _ in range(120):
            body = bytearray(good)
            for _ in range(chance.randrange(1, 6)):
                place = chance.randrange(len(body))
                body[place:place + chance.randrange(3)] = bytes(chance.randrange(256) for _ in range(chance.randrange(3)))
            bodies.append(bytes(body))
        for body in bodies:
            for path, header in ((PREFIX + "accounts:signUp?key=k", "X: y"), (PREFIX + f"projects/{PROJECT}/accounts:lookup", "Authorization: Bearer owner"),
                                 ("/securetoken.googleapis.com/v1/token?key=k", "Content-Type: application/x-www-form-urlencoded")):
                self.documented(self.post(path, body, header), (path, body))
        self.assertEqual(self.post(PREFIX + "accounts:signUp?key=k", b"x" * (1 << 20) + b"x" * 10)[0], 413)
        self.alive()

    @only("sqlite")
    def test_percent_encoding_and_paths(self):
        chance = random.Random(9)
        pieces = ["accounts", ":", "signUp", "%2F", "%00", "%ff", "%", "%zz", "..", "%2e%2e", "projects", PROJECT, "tenants", "/", "//", "?", "&", "=", "key=k", "#",
                  "tenantId=%00", "oobCode=%F0%9F%98%80", "updateMask=a.b.c..", "a" * 300, "+", ";", "%3A", "é", "'\"<>", "oauthIdpConfigs", "oidc.x", "inboundSamlConfigs", "saml.x", "defaultSupportedIdpConfigs", "google.com", "defaultSupportedIdps", "?inboundSamlConfigId=saml.x", "pageSize=-1",
                  "maxResults=99999999999999999999"]
        for _ in range(400):
            start = chance.choice([PREFIX, "/identitytoolkit.googleapis.com/v2/", "/emulator/v1/", "/emulator/action?", "/www.googleapis.com/identitytoolkit/v3/relyingparty/",
                                   "/securetoken.googleapis.com/", "/emulator/auth/"])
            path = start + "".join(chance.choice(pieces) for _ in range(chance.randrange(1, 8)))
            method = chance.choice(["GET", "POST", "PATCH", "DELETE"])
            data = f"{method} {path} HTTP/1.1\r\nHost: {self.host}\r\nAuthorization: Bearer owner\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}"
            self.documented(self.raw(data.encode()), (method, path))
        self.alive()

    @only("sqlite")
    def test_long_members_are_refused_or_kept_and_never_break_the_store(self):
        long = "ü" * 60_000
        for call, name in (("signUp", "email"), ("signUp", "password"), ("signUp", "displayName"), ("signInWithPassword", "password"), ("sendOobCode", "continueUrl"),
                           ("signInWithIdp", "postBody"), ("signInWithIdp", "requestUri"), ("lookup", "idToken"), ("signInWithCustomToken", "token"),
                           ("resetPassword", "oobCode"), ("sendVerificationCode", "phoneNumber"), ("createAuthUri", "identifier")):
            body = {"email": "a@example.com", "password": "secret-1", "requestType": "PASSWORD_RESET", "requestUri": "http://x", "continueUri": "http://x", name: long}
            for path, header in ((PREFIX + f"accounts:{call}?key=k", "X: y"), (PREFIX + f"projects/{PROJECT}/accounts:{call}", "Authorization: Bearer owner")):
                self.documented(self.post(path, json.dumps(body).encode(), header), (path, name))
        long = long[:5000]
        users = [{"localId": "x" * 129}, {"localId": "a", "displayName": long, "photoUrl": long, "customAttributes": json.dumps({"a": long})}, {"localId": "b"}]
        status, body = self.post(PREFIX + f"projects/{PROJECT}/accounts:batchCreate", json.dumps({"users": users}).encode(), "Authorization: Bearer owner")
        self.assertEqual((status, [each["index"] for each in json.loads(body)["error"]]), (200, [0, 1]))
        self.alive()


if __name__ == "__main__":
    unittest.main()
