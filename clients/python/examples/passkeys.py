"""Serves a page with passkeys: python passkeys.py clients/passkeys/page.html"""

import http.server
import json
import sys
import urllib.parse

import mintmark
import mintmark.testing

# The methods that the page may call. A real application keeps the tokens in a session of its own.
METHODS = {
    "signUp.start", "signUp.submitCode", "signIn.withContinuation", "signIn.withCredential", "account.reauthenticate",
    "passkey.startRegistration", "passkey.finishRegistration", "passkey.startAuthentication", "passkey.list", "passkey.delete",
}


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/code":
            to = urllib.parse.parse_qs(url.query)["to"][0]
            self.reply(200, "application/json", json.dumps({"code": m.test.outbox(to=to).messages[-1].code}))
        elif url.path == "/":
            self.reply(200, "text/html; charset=utf-8", open(sys.argv[1], encoding="utf-8").read())
        else:
            self.reply(404, "text/plain", "not found")

    def do_POST(self):
        method, body = self.path[1:], self.rfile.read(int(self.headers["content-length"]))
        if method not in METHODS:
            return self.reply(404, "application/json", json.dumps({"message": "not allowed"}))
        try:
            self.reply(200, "application/json", json.dumps(m.call(method, json.loads(body)).to_dict()))
        except mintmark.APIError as error:
            self.reply(400, "application/json", json.dumps({"type": error.type, "message": str(error), "data": error.data}))

    def reply(self, status, kind, text):
        body = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


with mintmark.testing.TestingMintmark(stderr=None) as m, http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
    origin = f"http://localhost:{server.server_port}"
    passkeys = {"relyingPartyId": "localhost", "origins": [origin], "residentKey": "preferred"}
    m.call("tenant.update", {"tenantId": "default", "localAccountMethod": "passkey", "passkeys": passkeys})
    print(origin, flush=True)
    server.serve_forever()
