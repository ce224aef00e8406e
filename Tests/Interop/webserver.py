"""Servers on loopback for the tests of Network: one HTTP server, four HTTPS servers with different certificates, and a proxy.

Prints one line of JSON with the ports and the certificate authority's file, then serves until standard input ends.
POST /set sets a response: {"path", "status", "headers", "body", "size", "delay", "drip", "raw"}. GET /seen?PATH returns
the requests for a path: {"count", "method", "headers", "body"}.
"""

import http.server
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

answers = {}
seen = {}
lock = threading.Lock()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def log_message(self, *_):
        pass

    def answer(self, status, body, headers=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path.startswith("/seen?"):
            with lock:
                return self.answer(200, json.dumps(seen.get(self.path[6:], {"count": 0})).encode())
        self.serve(b"")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/set":
            taught = json.loads(body)
            with lock:
                answers[taught["path"]] = taught
            return self.answer(204, b"")
        self.serve(body)

    def serve(self, body):
        with lock:
            known = seen.setdefault(self.path, {"count": 0})
            known.update(count=known["count"] + 1, method=self.command, headers=dict(self.headers), body=body.decode(),
                         client=self.client_address[1])
            taught = answers.get(self.path, {"status": 404, "body": "not here"})
        time.sleep(taught.get("delay", 0))
        try:
            if "raw" in taught:
                self.close_connection = True
                self.wfile.write(taught["raw"].encode())
            elif taught.get("drip"):
                self.send_response(200)
                self.send_header("Content-Length", "1000")
                self.end_headers()
                for _ in range(1000):
                    self.wfile.write(b".")
                    self.wfile.flush()
                    time.sleep(0.1)
            else:
                content = b" " * taught["size"] if "size" in taught else taught.get("body", "").encode()
                self.answer(taught.get("status", 200), content, taught.get("headers"))
        except OSError:
            self.close_connection = True


class Proxy(Handler):
    """Connects every CONNECT request to the HTTPS server, whatever its host and port."""

    target = 0

    def do_CONNECT(self):
        with lock:
            known = seen.setdefault(self.path, {"count": 0})
            known.update(count=known["count"] + 1, method="CONNECT", headers=dict(self.headers), body="")
        self.close_connection = True
        with socket.create_connection(("127.0.0.1", self.target)) as server:
            self.connection.sendall(b"HTTP/1.1 200 OK\r\nX-Proxy: yes\r\n\r\n")
            back = threading.Thread(target=pump, args=(server, self.connection), daemon=True)
            back.start()
            pump(self.connection, server)
            back.join()


def pump(source, destination):
    try:
        while data := source.recv(65536):
            destination.sendall(data)
        destination.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, handler=Handler, certificate=None):
        super().__init__(("127.0.0.1", 0), handler)
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificate + ".pem", certificate + ".key")
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def finish_request(self, request, client_address):
        if self.context:
            try:
                request = self.context.wrap_socket(request, server_side=True)
            except (OSError, ssl.SSLError):
                return
        super().finish_request(request, client_address)
        if self.context:
            try:
                request.unwrap()
            except (OSError, ValueError):
                pass
            request.close()

    def handle_error(self, request, client_address):
        pass

    @property
    def port(self):
        return self.server_address[1]


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def make_authority(path, name):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={name}",
            "-keyout", path + ".key", "-out", path + ".pem")


def make_certificate(path, authority, names, days="2"):
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=test", "-keyout", path + ".key",
            "-out", path + ".csr")
    with open(path + ".ext", "w") as file:
        file.write("subjectAltName=" + names)
    openssl("x509", "-req", "-in", path + ".csr", "-CA", authority + ".pem", "-CAkey", authority + ".key", "-CAcreateserial", "-days", days,
            "-extfile", path + ".ext", "-out", path + ".pem")


def main():
    with tempfile.TemporaryDirectory(prefix="webserver-") as folder:
        def inside(name):
            return os.path.join(folder, name)

        here = "DNS:localhost,DNS:issuer.invalid,IP:127.0.0.1,IP:::ffff:127.0.0.1"
        make_authority(inside("authority"), "Test authority")
        make_authority(inside("stranger"), "Another authority")
        make_certificate(inside("https"), inside("authority"), here)
        make_certificate(inside("otherName"), inside("authority"), "DNS:elsewhere.invalid")
        make_certificate(inside("expired"), inside("authority"), here, days="-1")
        make_certificate(inside("unknown"), inside("stranger"), here)
        ports = {name: Server(certificate=inside(name)).port for name in ("https", "otherName", "expired", "unknown")}
        Proxy.target = ports["https"]
        ports |= {"http": Server().port, "proxy": Server(Proxy).port}
        print(json.dumps({"ports": ports, "caFile": inside("authority.pem")}), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
