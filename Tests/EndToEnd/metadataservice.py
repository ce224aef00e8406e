"""Makes attestation certificates and files of the FIDO Metadata Service for tests."""

import base64
import datetime
import hashlib
import json
import struct

import cbor2
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.x509.oid import NameOID, ObjectIdentifier

from authenticators import AT, ORIGIN, Authenticator, b64

START = datetime.datetime(2023, 1, 1)
AAGUID_EXTENSION = ObjectIdentifier("1.3.6.1.4.1.45724.1.1.4")


def name(*parts):
    kinds = {"C": NameOID.COUNTRY_NAME, "O": NameOID.ORGANIZATION_NAME, "OU": NameOID.ORGANIZATIONAL_UNIT_NAME, "CN": NameOID.COMMON_NAME}
    return x509.Name([x509.NameAttribute(kinds[kind], value) for kind, value in parts])


class Authority:
    """A root that issues attestation certificates."""

    def __init__(self, common_name="Maker Root", days=3650):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = name(("C", "CH"), ("O", "Maker"), ("CN", common_name))
        self.certificate = self._sign(self.name, self.key.public_key(), True, None, days)

    def _sign(self, subject, key, is_authority, aaguid, days):
        builder = (x509.CertificateBuilder().subject_name(subject).issuer_name(self.name).public_key(key)
                   .serial_number(x509.random_serial_number()).not_valid_before(START).not_valid_after(START + datetime.timedelta(days=days))
                   .add_extension(x509.BasicConstraints(is_authority, None), True))
        if aaguid is not None:
            builder = builder.add_extension(x509.UnrecognizedExtension(AAGUID_EXTENSION, b"\x04\x10" + aaguid), False)
        return builder.sign(self.key, hashes.SHA256())

    def issue(self, aaguid=None, days=3650, unit="Authenticator Attestation"):
        key = ec.generate_private_key(ec.SECP256R1())
        subject = name(("C", "CH"), ("O", "Maker"), ("OU", unit), ("CN", "Batch 1"))
        return key, self._sign(subject, key.public_key(), False, aaguid, days)


def der(certificate):
    return certificate.public_bytes(serialization.Encoding.DER)


class Attested(Authenticator):
    """An authenticator that states its model with a certificate."""

    def __init__(self, authority, aaguid, format="packed", days=3650, **more):
        super().__init__(**more)
        self.format, self.aaguid = format, aaguid
        self.batch, self.certificate = authority.issue(None if format == "fido-u2f" else aaguid, days)

    def create(self, options, origin=ORIGIN, challenge=None):
        response = super().create(options, origin, challenge)
        numbers = self.key.public_key().public_numbers()
        x, y = numbers.x.to_bytes(32, "big"), numbers.y.to_bytes(32, "big")
        data = self.data(options["rp"]["id"], self.flags | AT) + self.aaguid + struct.pack(">H", len(self.id)) + self.id + cbor2.dumps(
            {1: 2, 3: -7, -1: 1, -2: x, -3: y})
        client = base64.urlsafe_b64decode(response["response"]["clientDataJSON"] + "==")
        digest = hashlib.sha256(client).digest()
        signed = b"\0" + data[:32] + digest + self.id + b"\x04" + x + y if self.format == "fido-u2f" else data + digest
        statement = {"sig": self.batch.sign(signed, ec.ECDSA(hashes.SHA256())), "x5c": [der(self.certificate)]}
        if self.format != "fido-u2f":
            statement["alg"] = -7
        response["response"]["attestationObject"] = b64(cbor2.dumps({"fmt": self.format, "attStmt": statement, "authData": data}))
        return response

    @property
    def key_identifier(self):
        point = self.certificate.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
        return hashlib.sha1(point).hexdigest()


def entry(authority, aaguid=None, description="Maker Key 5", protection=("hardware", "secure_element"), status=None, key_identifiers=None):
    reports = [{"status": "FIDO_CERTIFIED", "effectiveDate": "2023-02-01"}]
    if status:
        reports.append({"status": status, "effectiveDate": "2023-03-01"})
    result = {"metadataStatement": {
        "description": description, "keyProtection": list(protection),
        "attestationRootCertificates": [base64.b64encode(der(authority.certificate)).decode()]}, "statusReports": reports}
    if aaguid:
        text = aaguid.hex()
        result["aaguid"] = "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]])
    if key_identifiers:
        result["attestationCertificateKeyIdentifiers"] = key_identifiers
    return result


def blob(entries, signer=None, next_update="2024-01-01"):
    """Returns a file: a JWT that is signed by a certificate of `signer`, or with an unknown key."""
    key, certificate = (signer or Authority("Elsewhere")).issue(unit="Metadata")
    header = {"alg": "ES256", "typ": "JWT", "x5c": [base64.b64encode(der(certificate)).decode()]}
    payload = {"legalHeader": "", "no": 1, "nextUpdate": next_update, "entries": entries}
    signed = b64(json.dumps(header).encode()) + "." + b64(json.dumps(payload).encode())
    r, s = decode_dss_signature(key.sign(signed.encode(), ec.ECDSA(hashes.SHA256())))
    return signed + "." + b64(r.to_bytes(32, "big") + s.to_bytes(32, "big"))


def pem(authority):
    return authority.certificate.public_bytes(serialization.Encoding.PEM).decode()
