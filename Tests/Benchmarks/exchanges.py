"""Benchmark of the exchange of foreign tokens for credentials, whose limit is the verification of their signatures."""

import base64
import json
import os
import re
import subprocess
import time

from host import Sidecar, pump, request_line

NAME = "login.example.com"
ROLE = "arn:aws:iam::000000000000:role/deploy"


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Issuer:
    """Signs tokens with a P-256 key of the openssl program."""

    def __init__(self, folder):
        self.key = os.path.join(folder, "issuer.pem")
        subprocess.run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", self.key], check=True, stderr=subprocess.DEVNULL)
        point = subprocess.run(["openssl", "ec", "-in", self.key, "-pubout", "-outform", "DER"], check=True, capture_output=True).stdout[-64:]
        self.jwk = {"kty": "EC", "crv": "P-256", "kid": "k1", "alg": "ES256", "x": encode(point[:32]), "y": encode(point[32:])}

    def token(self):
        now = int(time.time())
        claims = {"iss": f"https://{NAME}", "sub": "repo:octo-org/octo-repo:ref:refs/heads/main", "aud": "sts.amazonaws.com", "iat": now, "exp": now + 3600,
                  "repository": "octo-org/octo-repo", "repository_owner_id": "65", "ref": "refs/heads/main", "event_name": "push", "jti": "example-id"}
        text = f"{encode(json.dumps({'alg': 'ES256', 'typ': 'JWT', 'kid': 'k1'}).encode())}.{encode(json.dumps(claims).encode())}"
        signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", self.key], input=text.encode(), check=True, capture_output=True).stdout
        return f"{text}.{encode(raw(signature))}"


def raw(der):
    """Returns the 64 bytes of an ECDSA signature in DER."""
    numbers, at = [], 2
    for _ in range(2):
        count = der[at + 1]
        numbers.append(der[at + 2:at + 2 + count].lstrip(b"\0").rjust(32, b"\0"))
        at += 2 + count
    return b"".join(numbers)


def prepare(store, folder):
    """Creates the trusted issuer and the role, and returns a request that exchanges a token."""
    issuer = Issuer(folder)
    policy = {"Version": "2012-10-17", "Statement": [{
        "Effect": "Allow", "Principal": {"Federated": f"arn:aws:iam::000000000000:oidc-provider/{NAME}"}, "Action": "sts:AssumeRoleWithWebIdentity",
        "Condition": {"StringEquals": {f"{NAME}:aud": "sts.amazonaws.com", f"{NAME}:repository_owner_id": "65"}, "StringLike": {f"{NAME}:sub": "repo:octo-org/*"}}}]}
    with Sidecar(store=store, checked=False) as sidecar:
        sidecar.call("issuer.put", {"issuer": f"https://{NAME}", "audiences": ["sts.amazonaws.com"], "keys": [issuer.jwk]})
        sidecar.call("role.put", {"name": "deploy", "trustPolicy": policy})
    return request_line("credentials.assumeRole", {"roleArn": ROLE, "sessionName": "job", "token": issuer.token()}, id=1)


def exchanges(store, request, count, work, home):
    """Exchanges per second of a process, pipelined."""
    return pump(store, [request] * count, count, work, home)[0]


def sealings(seconds):
    """Session tokens per second on all processors, from the primitives alone: two HKDFs and an HMAC, which are seven HMACs, and AES-GCM."""
    def rate(*algorithm):
        output = subprocess.run(
            ["openssl", "speed", "-seconds", str(seconds), "-bytes", "512", "-multi", str(os.cpu_count()), *algorithm], capture_output=True, text=True).stdout
        return float(re.search(r"([\d.]+)k\s*$", output)[1]) * 1000 / 512
    return 1 / (7 / rate("-hmac", "sha256") + 1 / rate("-evp", "aes-256-gcm"))
