"""A software authenticator, and what tests of passkeys share."""

import base64
import hashlib
import json
import os
import struct

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from federation import Federation

ORIGIN = "https://shop.example.com"
SETTINGS = {"relyingPartyId": "example.com", "origins": [ORIGIN]}
UP, UV, BE, BS, AT = 1, 4, 8, 16, 64


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Authenticator:
    """A software authenticator with one passkey. The authenticator and its browser can simulate faults."""

    def __init__(self, flags=UP | UV, counts=False):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.id = os.urandom(32)
        self.flags = flags
        self.counter = 1 if counts else 0
        self.handle = None

    def client(self, kind, challenge, origin, **more):
        return json.dumps({"type": kind, "challenge": challenge, "origin": origin, "crossOrigin": False, **more}).encode()

    def data(self, rp, flags):
        return hashlib.sha256(rp.encode()).digest() + bytes([flags]) + struct.pack(">I", self.counter)

    def create(self, options, origin=ORIGIN, challenge=None):
        self.handle = options["user"]["id"]
        numbers = self.key.public_key().public_numbers()
        key = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")})
        data = self.data(options["rp"]["id"], self.flags | AT) + bytes(16) + struct.pack(">H", len(self.id)) + self.id + key
        client = self.client("webauthn.create", challenge or options["challenge"], origin)
        return {"id": b64(self.id), "rawId": b64(self.id), "type": "public-key", "authenticatorAttachment": "platform",
                "clientExtensionResults": {"credProps": {"rk": True}}, "somethingNew": 1, "response": {
                    "clientDataJSON": b64(client), "transports": ["internal", "hybrid", "internal"], "publicKeyAlgorithm": -7,
                    "attestationObject": b64(cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data}))}}

    def get(self, options, origin=ORIGIN, challenge=None, flags=None, handle="own", counter=None, kind="webauthn.get"):
        if counter is None and self.counter:
            self.counter += 1
        if counter is not None:
            self.counter = counter
        data = self.data(options["rpId"], self.flags if flags is None else flags)
        client = self.client(kind, challenge or options["challenge"], origin)
        signature = self.key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        response = {"clientDataJSON": b64(client), "authenticatorData": b64(data), "signature": b64(signature)}
        if handle:
            response["userHandle"] = self.handle if handle == "own" else handle
        return {"id": b64(self.id), "rawId": b64(self.id), "type": "public-key", "clientExtensionResults": {}, "response": response}


class PasskeyTests(Federation):
    def setUp(self):
        super().setUp()
        self.sidecar.call("test.clock", {"setAt": 1_700_000_000, "freeze": True})
        self.settings()
        self.account_id, self.token = self.password_account()

    def settings(self, tenant="default", **more):
        return self.sidecar.call("tenant.update", {"tenantId": tenant, "passkeys": {**SETTINGS, **more}})

    def begin(self, token=None, **more):
        return self.sidecar.call("passkey.startRegistration", {"idToken": token or self.token, **more})

    def register(self, authenticator=None, token=None, **more):
        authenticator = authenticator or Authenticator()
        start = self.begin(token)
        done = self.sidecar.call("passkey.finishRegistration", {
            "continuationToken": start["continuationToken"], "response": authenticator.create(start["options"]), **more})
        return authenticator, done["passkey"]

    def start(self, **more):
        return self.sidecar.call("passkey.startAuthentication", more)

    def answer(self, start, response):
        return {"credential": {"continuationToken": start["continuationToken"], "response": response}}

    def sign_in_with(self, authenticator, start=None, **more):
        start = start or self.start()
        return self.sidecar.call("signIn.withCredential", self.answer(start, authenticator.get(start["options"], **more)))

    def not_accepted(self, reason, start, response, method="signIn.withCredential", **more):
        error = self.refused("passkeyNotAccepted", self.sidecar, method, {**self.answer(start, response), **more})
        self.assertEqual(error.data["reason"], reason, error)
        return error
