"""Signs and verifies tokens with PyJWT and joserfc, for interoperability tests with independent implementations.

Reads a JSON array of requests from standard input and writes the array of responses:
  {"do": "verify", "with": "pyjwt" | "joserfc", "alg", "jwk", "token"}  ->  {"header", "claims"}
  {"do": "sign", "with": "pyjwt" | "joserfc", "alg", "claims"}          ->  {"jwk" (public), "token"}
A response is {"error"} if the library rejected the request.
"""

import json
import sys

import jwt
from cryptography.hazmat.primitives import serialization
from joserfc import jwk as joserfc_jwk
from joserfc import jwt as joserfc_jwt

CURVES = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}


def new_key(alg):
    if alg in CURVES:
        return joserfc_jwk.ECKey.generate_key(CURVES[alg])
    if alg == "EdDSA":
        return joserfc_jwk.OKPKey.generate_key("Ed25519")
    return joserfc_jwk.RSAKey.generate_key(2048)


def verify(library, alg, jwk, token):
    if library == "pyjwt":
        claims = jwt.decode(token, jwt.PyJWK(jwk).key, algorithms=[alg], options={"verify_aud": False})
        return {"header": jwt.get_unverified_header(token), "claims": claims}
    decoded = joserfc_jwt.decode(token, joserfc_jwk.import_key(jwk), algorithms=[alg])
    return {"header": decoded.header, "claims": decoded.claims}


def sign(library, alg, claims):
    key = new_key(alg)
    header = {"alg": alg, "kid": "theirs", "typ": "JWT"}
    if library == "pyjwt":
        pem = serialization.load_pem_private_key(key.as_pem(private=True), None)
        token = jwt.encode(claims, pem, algorithm=alg, headers=header)
    else:
        token = joserfc_jwt.encode(header, claims, key, algorithms=[alg])
    return {"jwk": {**key.as_dict(private=False), "alg": alg, "use": "sig", "kid": "theirs"}, "token": token}


def answer(request):
    try:
        if request["do"] == "verify":
            return verify(request["with"], request["alg"], request["jwk"], request["token"])
        return sign(request["with"], request["alg"], request["claims"])
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


json.dump([answer(request) for request in json.load(sys.stdin)], sys.stdout)
