"""Login providers whose keys are in the pool's settings. They need no network."""

import base64
import json

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

NAMES, SUBJECTS = ["a.example", "b.example"], ["s0", "s1", "s2"]
LIFETIME = 86_400


def text(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def logins(now):
    """Returns the tokens of all users of all providers, by name and subject, and the settings of the providers."""
    tokens, settings = {}, []
    for place, name in enumerate(NAMES):
        # The same keys in every run, so that one seed always sends the same requests.
        key = ec.derive_private_key(20_000 + place, ec.SECP256R1())
        point = key.public_key().public_numbers()
        settings.append({"issuer": f"https://{name}", "clientIds": ["shop"], "keys": [{
            "kty": "EC", "crv": "P-256", "x": text(point.x.to_bytes(32, "big")), "y": text(point.y.to_bytes(32, "big")), "kid": name, "alg": "ES256", "use": "sig"}]})
        for subject in SUBJECTS:
            head = text(json.dumps({"alg": "ES256", "kid": name}).encode())
            body = text(json.dumps({"iss": f"https://{name}", "sub": subject, "aud": "shop", "iat": now, "exp": now + LIFETIME}).encode())
            r, s = decode_dss_signature(key.sign(f"{head}.{body}".encode(), ec.ECDSA(hashes.SHA256(), deterministic_signing=True)))
            tokens[name, subject] = f"{head}.{body}.{text(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"
    return tokens, settings
