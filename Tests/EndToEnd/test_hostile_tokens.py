"""Forged and malformed tokens, with the expected error of each. Every method that accepts a token rejects them."""

import hashlib
import hmac
import time

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
import jwt

from endtoend import EndToEnd, decode, encode, make_pool, mint, pool_with_role


def sign(header, payload, key):
    """Returns a token signed with a P-256 key of the test."""
    text = f"{encode(header)}.{encode(payload)}"
    r, s = utils.decode_dss_signature(key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
    return f"{text}.{encode(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"


class HostileTokens(EndToEnd):
    stores = ("sqlite",)

    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn()
        self.pool, self.role = pool_with_role(self.sidecar)
        self.token = mint(self.sidecar, self.pool)["token"]
        self.header, self.payload, self.signature = self.token.split(".")
        self.jwk = self.sidecar.call("token.jwks")["keys"][0]
        self.claims = jwt.decode(self.token, options={"verify_signature": False})
        self.own = ec.generate_private_key(ec.SECP256R1())

    def deceives(self, token, wanted):
        """Checks that every method with a token rejects it, and that `token.verify` returns the expected error. Returns that error."""
        error = self.refused(wanted, self.sidecar, "token.verify", {"token": token, "audience": self.pool})
        wanted = {wanted} if isinstance(wanted, str) else set(wanted)
        self.refused(wanted, self.sidecar, "credentials.get", {"token": token})
        self.refused(wanted, self.sidecar, "credentials.assumeRole", {"roleArn": self.role, "sessionName": "me", "token": token})
        return error

    def header_with(self, **changes):
        return {"alg": "ES256", "typ": "pool+jwt", "kid": self.jwk["kid"], **changes}

    def test_valid_token_is_accepted_by_every_method(self):
        """Without this check, the rejections in the other tests would prove nothing."""
        self.sidecar.call("token.verify", {"token": self.token, "audience": self.pool})
        self.sidecar.call("credentials.get", {"token": self.token})
        self.sidecar.call("credentials.assumeRole", {"roleArn": self.role, "sessionName": "me", "token": self.token})

    def test_truncated_tokens_are_rejected(self):
        for token in (self.token[:-1], self.token[:-2], self.token[:-43], self.token[:-85]):
            self.deceives(token, {"tokenSignatureInvalid", "tokenMalformed"})
        for token in (f"{self.header}.{self.payload}.", f"{self.header}.{self.payload}", self.header, "..", ".", "a", f"{self.header}..{self.signature}"):
            self.deceives(token, {"tokenMalformed", "tokenSignatureInvalid"})

    def test_tokens_that_are_not_base64url_are_rejected(self):
        for token in (self.token + "=", self.token + "==", " " + self.token, self.token + "\n", self.token.replace(".", "..", 1), self.token + ".x",
                      "*" + self.token[1:], f"{self.header}.{self.payload}.{self.signature[:-1]}+", "é" + self.token):
            self.deceives(token, {"tokenMalformed", "tokenSignatureInvalid"})

    def test_unused_bits_of_last_character_must_not_change(self):
        """A different last character can decode to the same bytes. Such a token is rejected."""
        alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        self.assertTrue(len(self.signature) % 4)
        other = alphabet[alphabet.index(self.signature[-1]) ^ 1]
        self.deceives(self.token[:-1] + other, {"tokenMalformed", "tokenSignatureInvalid"})

    def test_altered_claims_and_signatures_are_rejected(self):
        for claims in ({"sub": "local-1:" + "0" * 8}, {"exp": self.claims["exp"] + 86400}, {"aud": self.pool + "0"}, {"amr": ["authenticated", "admin"]}):
            self.deceives(f"{self.header}.{encode({**self.claims, **claims})}.{self.signature}", "tokenSignatureInvalid")
        for place in (0, 20, 31, 32, 50, 63):
            broken = bytearray(decode(self.signature))
            broken[place] ^= 1
            self.deceives(f"{self.header}.{self.payload}.{encode(bytes(broken))}", "tokenSignatureInvalid")
        for broken in (bytes(64), b"\xff" * 64, bytes(63), bytes(65), bytes(31) + b"\1" + bytes(31) + b"\1"):
            self.deceives(f"{self.header}.{self.payload}.{encode(broken)}", {"tokenSignatureInvalid", "tokenMalformed"})
        # The signature of another user's token.
        other = mint(self.sidecar, self.pool, "bob")["token"]
        self.deceives(f"{self.header}.{self.payload}.{other.rpartition('.')[2]}", "tokenSignatureInvalid")

    def test_der_encoded_signature_is_rejected(self):
        """A JOSE signature is the concatenation of R and S, not an ASN.1 structure (RFC 7518 §3.4)."""
        raw = decode(self.signature)
        der = utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
        self.deceives(f"{self.header}.{self.payload}.{encode(der)}", {"tokenSignatureInvalid", "tokenMalformed"})

    def test_expired_token_is_rejected(self):
        short = mint(self.sidecar, self.pool, durationSeconds=1)
        while time.time() < short["expiresAt"]:
            time.sleep(0.1)
        error = self.deceives(short["token"], "tokenExpired")
        self.assertEqual(error.data["expiredAt"], short["expiresAt"])
        self.assertGreaterEqual(error.data["now"], short["expiresAt"])

    def test_token_of_other_pool_is_rejected(self):
        other = make_pool(self.sidecar)["poolId"]
        foreign = mint(self.sidecar, other)["token"]
        error = self.refused("tokenAudienceMismatch", self.sidecar, "token.verify", {"token": foreign, "audience": self.pool})
        self.assertEqual((error.data["expected"], error.data["actual"]), (self.pool, [other]))
        issuer = self.sidecar.call("pool.get", {"poolId": self.pool})["issuer"]
        self.refused("tokenIssuerMismatch", self.sidecar, "token.verify", {"token": foreign, "issuer": issuer})
        self.refused("assumeRoleDenied", self.sidecar, "credentials.assumeRole", {"roleArn": self.role, "sessionName": "me", "token": foreign})
        # The token is signed with the key of the other pool but claims to be from this pool.
        kid = jwt.get_unverified_header(foreign)["kid"]
        self.deceives(f"{encode(self.header_with(kid=kid))}.{self.payload}.{foreign.rpartition('.')[2]}", {"tokenSignatureInvalid", "tokenIssuerMismatch"})

    def test_token_of_other_store_is_rejected(self):
        elsewhere = self.spawn()
        pool = make_pool(elsewhere, poolId=self.pool)["poolId"]
        self.assertEqual(pool, self.pool)
        self.deceives(mint(elsewhere, pool)["token"], "tokenKeyUnknown")

    def test_algorithm_none_is_rejected(self):
        for alg in ("none", "None", "NONE", "nOnE", ""):
            self.deceives(f"{encode(self.header_with(alg=alg))}.{self.payload}.{self.signature}", {"tokenAlgorithmNotAllowed", "tokenMalformed"})
            self.deceives(f"{encode(self.header_with(alg=alg))}.{self.payload}.", {"tokenAlgorithmNotAllowed", "tokenMalformed"})
        self.deceives(f"{encode({'alg': 'none'})}.{self.payload}.", {"tokenAlgorithmNotAllowed", "tokenKeyUnknown"})

    def test_hmac_with_public_key_is_rejected(self):
        public = jwt.PyJWK(self.jwk).key
        for secret in (
            public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo),
            public.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo),
            public.public_bytes(serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint),
            b"",
        ):
            for alg, digest in (("HS256", hashlib.sha256), ("HS512", hashlib.sha512)):
                text = f"{encode(self.header_with(alg=alg))}.{self.payload}"
                self.deceives(f"{text}.{encode(hmac.new(secret, text.encode(), digest).digest())}", "tokenAlgorithmNotAllowed")

    def test_algorithm_that_does_not_match_key_is_rejected(self):
        for alg in ("ES384", "ES512", "RS256", "PS256", "EdDSA", "ES256K", "dir"):
            self.deceives(f"{encode(self.header_with(alg=alg))}.{self.payload}.{self.signature}", "tokenAlgorithmNotAllowed")

    def test_embedded_keys_are_ignored(self):
        """The header parameters `jwk`, `jku` and `x5c` are not used."""
        numbers = self.own.public_key().public_numbers()
        jwk = {"kty": "EC", "crv": "P-256", "x": encode(numbers.x.to_bytes(32, "big")), "y": encode(numbers.y.to_bytes(32, "big"))}
        self.deceives(sign(self.header_with(jwk=jwk), self.claims, self.own), {"tokenSignatureInvalid", "tokenMalformed"})
        self.deceives(sign({"alg": "ES256", "typ": "pool+jwt", "jwk": jwk}, self.claims, self.own), {"tokenKeyUnknown", "tokenMalformed"})
        self.deceives(sign(self.header_with(jku="https://evil.example/jwks"), self.claims, self.own), {"tokenSignatureInvalid", "tokenMalformed"})

    def test_unknown_key_id_is_rejected(self):
        for kid in ("nobody", "", "../../dev/null", "' OR 1=1 --", "k" * 10_000, "\0", self.jwk["kid"] + "\0", self.jwk["kid"] + " ", self.jwk["kid"].lower()):
            self.deceives(sign(self.header_with(kid=kid), self.claims, self.own), {"tokenKeyUnknown", "tokenMalformed"})
        for kid in (None, 7, [self.jwk["kid"]], {"a": 1}):
            self.deceives(sign(self.header_with(kid=kid), self.claims, self.own), {"tokenKeyUnknown", "tokenMalformed"})
        self.deceives(sign({"alg": "ES256", "typ": "pool+jwt"}, self.claims, self.own), "tokenKeyUnknown")

    def test_issuer_with_null_character_is_rejected(self):
        for issuer in (self.claims["iss"] + "\0", self.claims["iss"].rsplit("/", 1)[0] + "/\0"):
            self.deceives(sign(self.header_with(kid="nobody"), {**self.claims, "iss": issuer}, self.own), "tokenKeyUnknown")

    def test_known_key_id_with_other_key_is_rejected(self):
        self.deceives(sign(self.header_with(), self.claims, self.own), "tokenSignatureInvalid")

    def test_critical_headers_are_rejected(self):
        for crit in (["exp"], [], "x", ["b64"]):
            self.deceives(f"{encode(self.header_with(crit=crit, b64=False))}.{self.payload}.{self.signature}", {"tokenMalformed", "tokenSignatureInvalid"})

    def test_headers_and_payloads_that_are_not_objects_are_rejected(self):
        for part in (b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b'{"alg":"ES256","alg":"none"}', b"[" * 10_000):
            self.deceives(f"{encode(part)}.{self.payload}.{self.signature}", {"tokenMalformed", "tokenKeyUnknown", "tokenAlgorithmNotAllowed"})
            self.deceives(f"{self.header}.{encode(part)}.{self.signature}", {"tokenMalformed", "tokenSignatureInvalid"})

    def test_token_of_other_use_is_rejected(self):
        self.refused("tokenUseMismatch", self.sidecar, "token.verify", {"token": self.token, "audience": self.pool, "use": "id"})
        self.assertEqual(self.sidecar.call("token.verify", {"token": self.token, "audience": self.pool, "use": "pool"})["use"], "pool")

    def test_token_of_deleted_pool_is_rejected(self):
        self.sidecar.call("pool.delete", {"poolId": self.pool})
        self.refused("poolNotFound", self.sidecar, "credentials.get", {"token": self.token})
        self.refused("tokenKeyUnknown", self.sidecar, "credentials.assumeRole", {"roleArn": self.role, "sessionName": "me", "token": self.token})
        self.refused("tokenKeyUnknown", self.sidecar, "token.verify", {"token": self.token, "audience": self.pool})
        for method, params in [("token.verify", {"audience": self.pool}), ("credentials.assumeRole", {"roleArn": self.role, "sessionName": "me"})]:
            self.assertIn("its pool does not exist", self.sidecar.refusal(method, {**params, "token": self.token}).message)

    def test_unknown_key_error_names_reason(self):
        def why(**claims):
            error = self.refused("tokenKeyUnknown", self.sidecar, "token.verify", {
                "token": sign(self.header_with(kid="nobody"), {**self.claims, **claims}, self.own), "audience": self.pool})
            self.assertEqual(error.data["kid"], "nobody")
            self.assertIn(error.data["reason"], error.message)
            return error.data["reason"]
        base = self.claims["iss"].split("/pools/")[0]
        self.assertIn("has no such key", why())
        self.assertIn("its tenant does not exist", why(iss=f"{base}/tenants/nobody"))
        self.assertIn(f"whose issuers begin with {base}/", why(iss="https://elsewhere.example"))
        self.assertIn(f"whose issuers begin with {base}/", why(iss=7))

    def test_revoked_key_rejects_its_tokens_and_is_replaced(self):
        self.sidecar.call("key.revoke", {"kid": self.jwk["kid"]})
        self.deceives(self.token, "tokenRevoked")
        self.sidecar.call("token.verify", {"token": mint(self.sidecar, self.pool)["token"], "audience": self.pool})
