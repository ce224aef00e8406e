"""A webhook receiver on loopback for the tests of Messages. It verifies signatures as documented for receivers.

Prints its port, then serves until standard input ends. POST /STATUS returns that status and Retry-After: 30, and POST /STATUS-at-length also
a body of 3 MiB. GET /ID returns the number of requests with an ID and the latest of them, GET /all those of all IDs: {"count", "secrets",
"timestamp", "type", "body"}, where "secrets" are the secrets with a valid signature.
"""

import hashlib
import hmac
import http.server
import json
import sys
import threading

SECRETS = ("first secret of a webhook", "second secret of a webhook")
came = {}


class Receiver(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        told = list(came.values()) if self.path == "/all" else came.get(self.path[1:], {"count": 0})
        self.answer(200, json.dumps(told).encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        name, timestamp = self.headers["Mintmark-Webhook-Id"], self.headers["Mintmark-Webhook-Timestamp"]
        signatures = self.headers["Mintmark-Webhook-Signature"].split(",")

        def is_right(secret):
            digest = hmac.new(secret.encode(), f"{timestamp}.{name}.".encode() + body, hashlib.sha256).hexdigest()
            return any(hmac.compare_digest(f"v1={digest}", signature) for signature in signatures)

        known = came.setdefault(name, {"count": 0})
        known.update(count=known["count"] + 1, secrets=list(filter(is_right, SECRETS)), timestamp=int(timestamp),
                     type=self.headers["Content-Type"], body=json.loads(body))
        status, _, length = self.path[1:].partition("-")
        try:
            self.answer(int(status), b"x" * (3 << 20) if length else b"", Retry_After="30", Location="/200")
        except OSError:
            pass   # the client closed the connection early


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
