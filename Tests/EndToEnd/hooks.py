"""The host of a process in the tests of hooks: handles the requests of the process, each in its own thread."""

import hashlib
import hmac
import http.server
import json
import threading

SECRET = "the secret of a hook webhook"
PASSWORD = "correct horse 9 Battery"


class Host:
    """Answers hooks over the pipe with `decide(method, params)`, which returns a result, raises an exception, or returns `SILENT`."""

    SILENT = object()

    def __init__(self, sidecar, decide=lambda method, params: None, hooks=("beforeCreate", "beforeSignIn", "beforeSendMessage")):
        self.sidecar, self.decide, self.asked = sidecar, decide, []
        if hooks:
            sidecar.call("hooks.offer", {"hooks": list(hooks)})
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                message = self.sidecar.receive(lambda m: isinstance(m, dict) and "method" in m and "id" in m, 120)
            except Exception:
                return
            self.asked.append((message["method"].removeprefix("hook/"), message["params"]))
            threading.Thread(target=self._answer, args=(message,), daemon=True).start()

    def _answer(self, message):
        try:
            result = self.decide(message["method"].removeprefix("hook/"), message["params"])
        except Exception as error:
            self.write({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32603, "message": str(error)}})
            return
        if result is not Host.SILENT:
            self.write({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def write(self, message):
        self.sidecar._write((message if isinstance(message, bytes) else json.dumps(message).encode()) + b"\n")


class Webhook:
    """A receiver of signed questions: `decide(type, params)` returns the body of the response, or a status."""

    def __init__(self, test, decide):
        self.asked, self.problems = [], []
        outer = self

        class Receiver(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                name, timestamp = self.headers["Mintmark-Webhook-Id"], self.headers["Mintmark-Webhook-Timestamp"]
                digest = hmac.new(SECRET.encode(), f"{timestamp}.{name}.".encode() + body, hashlib.sha256).hexdigest()
                if self.headers["Mintmark-Webhook-Signature"] != f"v1={digest}":
                    outer.problems.append("the signature is wrong")
                    found = 401
                else:
                    params = json.loads(body)
                    outer.asked.append(params)
                    found = decide(params["type"].removeprefix("hook/"), params)
                status, answer = (found, b"") if isinstance(found, int) else (200, found if isinstance(found, bytes) else json.dumps(found).encode())
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        server.daemon_threads = True
        server.handle_error = lambda *_: None   # The process may have closed the connection.
        threading.Thread(target=server.serve_forever, daemon=True).start()
        test.addCleanup(server.server_close)
        test.addCleanup(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_address[1]}/"

    def hook(self, secret=SECRET):
        return {"transport": "webhook", "webhook": {"url": self.url, "secret": secret, "allowInsecure": True}}
