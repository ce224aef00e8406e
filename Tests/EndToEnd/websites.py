"""Web servers on this machine with configurable pages, with or without TLS."""

import base64
import datetime
import http.server
import ipaddress
import json
import socket
import ssl
import threading
import time

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from rsakeys import rsa_key


class Authority:
    """A certificate authority. `path` is its certificate, for --ca-file."""

    def __init__(self, folder, name="Test authority"):
        self.folder, self.name, self.key = folder, x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]), ec.generate_private_key(ec.SECP256R1())
        self.path = f"{folder}/{name.replace(' ', '-')}.pem"
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        with open(self.path, "wb") as file:
            file.write(self._sign(self.name, self.key, constraints).public_bytes(serialization.Encoding.PEM))

    def _sign(self, subject, key, *extensions):
        now = datetime.datetime.now(datetime.timezone.utc)
        day = datetime.timedelta(days=1)
        builder = (x509.CertificateBuilder().subject_name(subject).issuer_name(self.name).public_key(key.public_key())
                   .serial_number(x509.random_serial_number()).not_valid_before(now - day).not_valid_after(now + day))
        for extension in extensions:
            builder = builder.add_extension(extension, critical=isinstance(extension, x509.BasicConstraints))
        return builder.sign(self.key, hashes.SHA256())

    def context(self, *names):
        """Returns the TLS settings of a server with a certificate for the given names and addresses."""
        key = ec.generate_private_key(ec.SECP256R1())
        known = [x509.IPAddress(ipaddress.ip_address(name)) if name[0].isdigit() else x509.DNSName(name) for name in names]
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
        path = f"{self.folder}/{base64.urlsafe_b64encode('-'.join(names).encode()).decode()}.pem"
        with open(path, "wb") as file:
            file.write(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
            file.write(self._sign(subject, key, x509.SubjectAlternativeName(known)).public_bytes(serialization.Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context


class Website:
    """Serves each path from `pages`: (status, headers, body), or a function that receives the request handler. `asked` lists the requested paths in
    the order of their arrival."""

    def __init__(self, context=None, handler=None):
        site = self
        self.pages, self.asked, self.changed, self.context, self.connections = {}, [], threading.Condition(), context, []
        self._held = []

        class Handler(handler or http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *_):
                pass

            def do_GET(self):
                path = self.path.split("?")[0]
                with site.changed:
                    site.asked.append(path)
                    site.changed.notify_all()
                page = site.pages.get(path, (404, {}, b"not here"))
                status, headers, body = page(self) if callable(page) else page
                try:
                    self.send_response(status)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    self.close_connection = True

            do_POST = do_GET

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def get_request(self):
                connection = super().get_request()
                site.connections.append(connection[0])
                return connection

            def finish_request(self, request, client_address):
                if context:
                    try:
                        request = context.wrap_socket(request, server_side=True)
                    except (OSError, ssl.SSLError):
                        return
                super().finish_request(request, client_address)
                request.close()

            def handle_error(self, request, client_address):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def origin(self):
        return f"{'https' if self.context else 'http'}://127.0.0.1:{self.port}"

    def count(self, path):
        return self.asked.count(path)

    def wait_until_asked(self, path, times=1, timeout=60):
        with self.changed:
            assert self.changed.wait_for(lambda: self.count(path) >= times, timeout), self.asked

    def held(self, answer=(404, {}, b"not here")):
        """Returns a page that responds with another page, but only after the test calls its `release`."""
        self._held.append(Held(answer))
        return self._held[-1]

    def close(self):
        for each in self._held:
            each.release()
        self.server.shutdown()
        self.server.server_close()
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Held:
    """A page that does not respond before `release`."""

    def __init__(self, answer):
        self.answer, self._gate = answer, threading.Event()

    def __call__(self, request):
        self._gate.wait()
        return self.answer(request) if callable(self.answer) else self.answer

    def release(self):
        self._gate.set()


def page(value, status=200, **headers):
    """Returns a response with a JSON document."""
    return status, {"Content-Type": "application/json", **headers}, json.dumps(value).encode()


def html(text="<!doctype html><title>Sign in</title>", status=200):
    return status, {"Content-Type": "text/html; charset=utf-8"}, text.encode()


def redirect(location):
    return 302, {"Location": location}, b""


DISCOVERY, KEYS = "/.well-known/openid-configuration", "/jwks"


class OpenIDWebsite(Website):
    """An OpenID provider. It serves its discovery document and its keys, and signs ID tokens with the newest key."""

    def __init__(self, context=None, issuer=None, algorithm="ES256"):
        super().__init__(context)
        self.issuer, self.algorithm, self.keys = issuer or self.origin, algorithm, {}
        self.pages[DISCOVERY] = lambda _: page({"issuer": self.issuer, "jwks_uri": self.issuer.rstrip("/") + KEYS})
        self.pages[KEYS] = lambda _: page({"keys": [self.jwk(kid) for kid in self.keys]})
        self.rotate("first")

    @property
    def name(self):
        return self.issuer.split("://")[1]

    def rotate(self, kid, keeps=False):
        """Adds a key, which replaces the others unless `keeps` is true."""
        key = ec.generate_private_key(ec.SECP256R1()) if self.algorithm == "ES256" else rsa_key()
        self.keys = {**(self.keys if keeps else {}), kid: key}

    def jwk(self, key, **more):
        public = self.keys[key].public_key()
        return {**json.loads((ECAlgorithm if self.algorithm == "ES256" else RSAAlgorithm).to_jwk(public)), "kid": key, "alg": self.algorithm, "use": "sig", **more}

    def token(self, subject="carol", kid=None, key=None, **claims):
        now = int(time.time())
        kid = kid or list(self.keys)[-1]
        claims = {"iss": self.issuer, "sub": subject, "aud": "shop", "iat": now, "exp": now + 600, **claims}
        return jwt.encode(claims, key or self.keys.get(kid) or list(self.keys.values())[-1], self.algorithm, {"kid": kid})

    def settings(self, **more):
        return {"issuer": self.issuer, "clientIds": ["shop"], **more}


class Proxy(Website):
    """A proxy that connects every CONNECT request to one server. `connected` lists the requested destinations."""

    def __init__(self, target):
        proxy = self
        self.connected = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_CONNECT(self):
                proxy.connected.append(self.path)
                self.close_connection = True
                with socket.create_connection(("127.0.0.1", target)) as server:
                    self.connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                    back = threading.Thread(target=pump, args=(server, self.connection), daemon=True)
                    back.start()
                    pump(self.connection, server)
                    back.join()

        super().__init__(handler=Handler)


def pump(source, destination):
    try:
        while data := source.recv(65536):
            destination.sendall(data)
        destination.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def closed_port():
    """Returns a port on which no process listens."""
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return it.getsockname()[1]
