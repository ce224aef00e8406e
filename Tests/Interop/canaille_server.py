"""Runs Canaille, an independent OpenID provider, until standard input ends: canaille_server.py DATABASE PEOPLE.

It runs in a separate Python environment with the packages of canaille.txt. DATABASE is a new file, because Canaille's store in memory
accepts any code of a client for another one. PEOPLE is a JSON list of {"name", "password", "email"}. When the server listens, it prints
its issuer, which ends with a slash. Clients can register without authentication. ID tokens are signed with RSA or Ed25519, as the client
requests.
"""

import json
import sys
import threading

from canaille import create_app
from canaille.app import models
from canaille.backends import Backend
from joserfc.jwk import OKPKey, RSAKey
from werkzeug.serving import WSGIRequestHandler, make_server


class Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *_):
        pass


def main():
    keys = [key.as_dict(private=True) for key in (RSAKey.generate_key(2048, auto_kid=True), OKPKey.generate_key("Ed25519", auto_kid=True))]
    app = create_app({
        "SECRET_KEY": "only for tests", "WTF_CSRF_ENABLED": False,
        "CANAILLE": {"DATABASE": "sql", "ENABLE_REGISTRATION": False, "LOGGING": {"version": 1, "disable_existing_loggers": True}},
        "CANAILLE_SQL": {"DATABASE_URI": f"sqlite:///{sys.argv[1]}", "PASSWORD_HASH_PARAMS": {"pbkdf2_sha512__rounds": 1000}},
        "CANAILLE_OIDC": {"DYNAMIC_CLIENT_REGISTRATION_OPEN": True, "ACTIVE_JWKS": keys, "TRUSTED_DOMAINS": []}})
    with app.app_context():
        for person in json.loads(sys.argv[2]):
            Backend.instance.save(models.User(
                user_name=person["name"], formatted_name=person["name"].title(), family_name=person["name"].title(),
                emails=[person["email"]], password=person["password"]))
    server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_port}/", flush=True)
    sys.stdin.read()


main()
