"""Shared by the tests of blocking functions: a project whose functions a server of the test answers."""

import base64
import http.server
import json
import threading

from firebase import PROJECT, FirebaseProject


class FunctionsProject(FirebaseProject):
    def serve(self, answer):
        """Starts functions that return `answer(event, claims)`: a status, bytes, or the body as an object."""
        test = self
        self.asked = []

        class Receiver(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                head, claims, signature = body["data"]["jwt"].split(".")
                claims = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
                test.asked.append((self.path.strip("/"), claims))
                found = answer(self.path.strip("/"), claims)
                status, data = (found, b"no") if isinstance(found, int) else (200, found if isinstance(found, bytes) else json.dumps(found).encode())
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        server.daemon_threads = True
        server.handle_error = lambda *_: None   # The process may have closed the connection.
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_address[1]}"

    def begin(self, answer, events=("beforeCreate", "beforeSignIn")):
        url = self.serve(answer)
        self.admin(f"v2/projects/{PROJECT}/config?updateMask=blockingFunctions", {
            "blockingFunctions": {"triggers": {event: {"functionUri": f"{url}/{event}"} for event in events}}}, method="PATCH")
        return url
