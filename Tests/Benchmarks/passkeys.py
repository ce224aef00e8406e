"""The rates of passkey sign-ins and of verified assertions over the pipe, compared to OpenSSL's rate of P-256 verifications."""

import base64
import ctypes
import ctypes.util
import hashlib
import json
import struct
import subprocess

from host import median, openssl_speed, pump, request_line

ORIGIN, DOMAIN = "https://example.com", "example.com"
USERS = 100


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Key:
    """A P-256 key that signs with libcrypto. Python's standard library has no signatures."""

    def __init__(self):
        self.pem = subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], capture_output=True, check=True).stdout
        public = subprocess.run(["openssl", "pkey", "-pubout", "-outform", "DER"], input=self.pem, capture_output=True, check=True).stdout
        self.x, self.y = public[-64:-32], public[-32:]
        crypto = self.crypto = ctypes.CDLL(ctypes.util.find_library("crypto"))
        for name in ("BIO_new_mem_buf", "PEM_read_bio_PrivateKey", "EVP_MD_CTX_new", "EVP_sha256"):
            getattr(crypto, name).restype = ctypes.c_void_p
        bio = ctypes.c_void_p(crypto.BIO_new_mem_buf(self.pem, len(self.pem)))
        self.key = ctypes.c_void_p(crypto.PEM_read_bio_PrivateKey(bio, None, None, None))
        crypto.BIO_free(bio)

    def sign(self, message):
        crypto, context = self.crypto, ctypes.c_void_p(self.crypto.EVP_MD_CTX_new())
        signature, length = ctypes.create_string_buffer(80), ctypes.c_size_t(80)
        if (crypto.EVP_DigestSignInit(context, None, ctypes.c_void_p(crypto.EVP_sha256()), None, self.key) != 1
                or crypto.EVP_DigestSign(context, signature, ctypes.byref(length), message, ctypes.c_size_t(len(message))) != 1):
            raise SystemExit("libcrypto does not sign")
        crypto.EVP_MD_CTX_free(context)
        return signature.raw[:length.value]

    @property
    def cose(self):
        return bytes.fromhex("a5010203262001215820") + self.x + bytes.fromhex("225820") + self.y


def client(kind, challenge):
    return json.dumps({"type": f"webauthn.{kind}", "challenge": challenge, "origin": ORIGIN, "crossOrigin": False}).encode()


def data(flags, rest=b""):
    return hashlib.sha256(DOMAIN.encode()).digest() + bytes([flags]) + bytes(4) + rest


def created(key, id, options):
    attested = bytes(16) + struct.pack(">H", len(id)) + id + key.cose
    authenticator = data(0x45, attested)
    head = b"\x58" + bytes([len(authenticator)]) if len(authenticator) < 256 else b"\x59" + struct.pack(">H", len(authenticator))
    attestation = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData" + head + authenticator
    return {"id": b64(id), "rawId": b64(id), "type": "public-key", "response": {
        "clientDataJSON": b64(client("create", options["challenge"])), "attestationObject": b64(attestation)}}


def used(key, id, handle, options):
    made, authenticator = client("get", options["challenge"]), data(0x05)
    return {"id": b64(id), "rawId": b64(id), "type": "public-key", "response": {
        "clientDataJSON": b64(made), "authenticatorData": b64(authenticator), "userHandle": handle,
        "signature": b64(key.sign(authenticator + hashlib.sha256(made).digest()))}}


class Passkeys:
    """A store with users who have a passkey each."""

    def __init__(self, store, work, home):
        self.pump = lambda lines: pump(store, lines, len(lines), work, home)
        self.call(lambda _: ("tenant.update", {
            "tenantId": "default", "anonymousAllowed": True, "passkeys": {"relyingPartyId": DOMAIN, "origins": [ORIGIN]}}), 1)
        tokens = self.call(lambda user: ("signIn.anonymously", {}))
        starts = self.call(lambda user: ("passkey.startRegistration", {"idToken": tokens[user]["idToken"]}))
        self.keys = [(Key(), hashlib.sha256(b"%d" % user).digest(), starts[user]["options"]["user"]["id"]) for user in range(USERS)]
        self.call(lambda user: ("passkey.finishRegistration", {
            "continuationToken": starts[user]["continuationToken"], "response": created(*self.keys[user][:2], starts[user]["options"])}))

    def call(self, request, count=USERS):
        """The results of the requests, in the order of their numbers."""
        answers = {}
        for line in self.pump([request_line(*request(number), id=number) for number in range(count)])[1].splitlines():
            answer = json.loads(line)
            answers[answer["id"]] = answer["result"]
        return [answers[number] for number in range(count)]

    def rate(self, count):
        """Sign-ins per second: each verifies an assertion, stores the counter and a session, and signs two tokens."""
        starts = self.call(lambda number: ("passkey.startAuthentication", {}), count)
        lines = [request_line("signIn.withCredential", {"credential": {
            "continuationToken": start["continuationToken"], "response": used(*self.keys[number % USERS], start["options"])}}, id=number)
            for number, start in enumerate(starts)]
        rate, output = self.pump(lines)
        if output.count(b'"state":"completed"') != count:
            raise SystemExit(f"a sign-in failed: {output[:300]!r}")
        return rate

    def verifications(self, count):
        """Requests that verify an assertion each, for a challenge of the caller."""
        lines = []
        for number in range(count):
            options = {"challenge": b64(hashlib.sha256(b"challenge %d" % number).digest())}
            lines.append(request_line("passkey.verify", {
                "challenge": options["challenge"], "response": used(*self.keys[number % USERS], options)}, id=number))
        return lines


def rows(benchmarks, Row):
    """The rows of the table about passkeys. A sign-in verifies one signature and makes two, so OpenSSL's own rate for these three is its bound. An
    assertion alone is one verification, so its bound is OpenSSL's rate of these."""
    count, turns = (2_000, 1) if benchmarks.quick else (10_000, 5)
    passkeys = Passkeys(benchmarks.path("passkeys.db"), benchmarks.work, benchmarks.home)
    verifications = passkeys.verifications(4 * count)
    ours, alone, verified, bound = [], [], [], []
    for _ in range(turns):
        alone.append(passkeys.pump(verifications)[0])
        signs, verifies = openssl_speed(1 if benchmarks.quick else 2)
        verified.append(verifies)
        bound.append(1 / (1 / verifies + 2 / signs))
        ours.append(passkeys.rate(count))
    a, b, c, d = median(ours), median(verified), median(bound), median(alone)
    yield Row("passkey assertion verified, pipelined", f"{d:,.0f}/s", f"openssl speed -multi verifies {b:,.0f}/s", f">= 60%: {d / b:.0%}", d >= .6 * b)
    yield Row("passkey sign-in, pipelined", f"{a:,.0f}/s", f"openssl speed -multi: 1 verification, 2 signatures {c:,.0f}/s", f">= 40%: {a / c:.0%}", a >= .4 * c)
    yield Row("the same, of verifications alone", f"{a:,.0f}/s", f"openssl speed -multi verifies {b:,.0f}/s", f"{a / b:.0%}", True)
