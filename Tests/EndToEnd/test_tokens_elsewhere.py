"""Tokens verified by independent implementations, for every signing algorithm: PyJWT, joserfc, jwcrypto and the openssl program."""

import json
import subprocess

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils
from joserfc import jwt as joserfc_jwt
from joserfc.jwk import KeySet
from jwcrypto import jwk as jwcrypto_jwk, jwt as jwcrypto_jwt

from endtoend import EndToEnd, decode, encode, make_pool, mint

ALGORITHMS = ("ES256", "RS256", "RS512", "EdDSA")


class TokensElsewhere(EndToEnd):
    stores = ("sqlite",)

    def setUp(self):
        super().setUp()
        self.sidecar = self.spawn()

    def minted(self, algorithm):
        """Returns the pool, the result of minting, and the key that signed the token."""
        pool = make_pool(self.sidecar, signingAlgorithm=algorithm)
        minted = mint(self.sidecar, pool["poolId"], principalTags={"plan": "gold", "Team": "a b"})
        keys = self.sidecar.call("token.jwks", {"issuer": pool["issuer"]})["keys"]
        kid = jwt.get_unverified_header(minted["token"])["kid"]
        return pool, minted, next(key for key in keys if key["kid"] == kid)

    def test_claims_and_header_of_a_developer_token(self):
        """The token contains exactly these claims."""
        pool, minted, key = self.minted("ES256")
        self.assertEqual(jwt.get_unverified_header(minted["token"]), {"alg": "ES256", "typ": "pool+jwt", "kid": key["kid"]})
        claims = jwt.decode(minted["token"], options={"verify_signature": False})
        now = self.sidecar.call("system.ping")["now"]
        self.assertAlmostEqual(claims["iat"], now, delta=2)
        self.assertEqual(claims, {
            "iss": pool["issuer"], "aud": pool["poolId"], "sub": minted["identityId"],
            "amr": ["authenticated", "login.shop", f"login.shop:{pool['poolId']}:alice"],
            "iat": claims["iat"], "exp": claims["iat"] + 900,
            "https://cognito-identity.amazonaws.com/identity-pool-arn": pool["arn"],
            "https://aws.amazon.com/tags": {"principal_tags": {"plan": ["gold"], "Team": ["a b"]}},
        })
        self.assertEqual(minted["expiresAt"], claims["exp"])
        verified = self.sidecar.call("token.verify", {"token": minted["token"], "audience": pool["poolId"], "issuer": pool["issuer"]})
        self.assertEqual((verified["claims"], verified["issuer"], verified["expiresAt"]), (claims, pool["issuer"], claims["exp"]))

    def test_token_without_tags_has_no_tags_claim(self):
        pool = make_pool(self.sidecar)["poolId"]
        self.assertNotIn("https://aws.amazon.com/tags", jwt.decode(mint(self.sidecar, pool)["token"], options={"verify_signature": False}))

    def test_amr_contains_user_identifiers_with_any_characters(self):
        pool = make_pool(self.sidecar)["poolId"]
        for user in ('a"b\\c', "é\U0001F600", "a\tb\n", "x" * 1024, "\u2028\u007f", "alice:bob/@+=", " "):
            claims = jwt.decode(mint(self.sidecar, pool, user)["token"], options={"verify_signature": False})
            self.assertEqual(claims["amr"][2], f"login.shop:{pool}:{user}")

    def test_pyjwt_verifies_tokens(self):
        for algorithm in ALGORITHMS:
            with self.subTest(algorithm):
                pool, minted, key = self.minted(algorithm)
                claims = jwt.decode(minted["token"], jwt.PyJWK(key).key, algorithms=[algorithm], audience=pool["poolId"], issuer=pool["issuer"])
                self.assertEqual(claims["sub"], minted["identityId"])

    def test_joserfc_verifies_tokens(self):
        for algorithm in ALGORITHMS:
            with self.subTest(algorithm):
                _, minted, _ = self.minted(algorithm)
                keys = KeySet.import_key_set(self.sidecar.call("token.jwks"))
                self.assertEqual(joserfc_jwt.decode(minted["token"], keys, algorithms=[algorithm]).claims["sub"], minted["identityId"])

    def test_jwcrypto_verifies_tokens(self):
        """Also checks that the ID of a key is its thumbprint (RFC 7638)."""
        for algorithm in ALGORITHMS:
            with self.subTest(algorithm):
                _, minted, key = self.minted(algorithm)
                theirs = jwcrypto_jwk.JWK.from_json(json.dumps(key))
                self.assertEqual(theirs.thumbprint(), key["kid"])
                token = jwcrypto_jwt.JWT(jwt=minted["token"], key=theirs, algs=[algorithm], expected_type="JWS")
                self.assertEqual(json.loads(token.claims)["sub"], minted["identityId"])

    def test_openssl_verifies_signatures(self):
        for algorithm in ALGORITHMS:
            with self.subTest(algorithm):
                _, minted, key = self.minted(algorithm)
                text, _, signature = minted["token"].rpartition(".")
                public, raw = jwt.PyJWK(key).key, decode(signature)
                if isinstance(public, ec.EllipticCurvePublicKey):
                    raw = utils.encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
                files = {"key.pem": public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo),
                         "signature": raw, "text": text.encode()}
                for name, data in files.items():
                    with open(self.path(name), "wb") as file:
                        file.write(data)
                digest = {"ES256": ["-digest", "sha256"], "RS256": ["-digest", "sha256"], "RS512": ["-digest", "sha512"], "EdDSA": []}[algorithm]
                done = subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", "key.pem", "-sigfile", "signature", "-rawin", "-in", "text", *digest],
                                      cwd=self.folder, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_published_keys_contain_only_public_members(self):
        for algorithm, members in (("ES256", {"crv", "x", "y"}), ("RS256", {"n", "e"}), ("RS512", {"n", "e"}), ("EdDSA", {"crv", "x"})):
            with self.subTest(algorithm):
                _, _, key = self.minted(algorithm)
                self.assertEqual(set(key), {"kty", "use", "alg", "kid"} | members)
                self.assertEqual((key["use"], key["alg"]), ("sig", algorithm))

    def test_token_verify_accepts_every_algorithm_and_rejects_a_changed_signature(self):
        for algorithm in ALGORITHMS:
            with self.subTest(algorithm):
                pool, minted, _ = self.minted(algorithm)
                self.assertEqual(self.sidecar.call("token.verify", {"token": minted["token"], "audience": pool["poolId"]})["header"]["alg"], algorithm)
                broken = bytearray(decode(minted["token"].rpartition(".")[2]))
                broken[5] ^= 1
                self.refused("tokenSignatureInvalid", self.sidecar, "token.verify",
                             {"token": minted["token"].rpartition(".")[0] + "." + encode(bytes(broken)), "audience": pool["poolId"]})

    def test_discovery_document_names_issuer_keys_and_algorithm(self):
        """A verifier finds the keys of an issuer with this document."""
        pool, minted, _ = self.minted("ES256")
        document = self.sidecar.call("token.discovery", {"issuer": pool["issuer"]})
        self.assertEqual(document["issuer"], jwt.decode(minted["token"], options={"verify_signature": False})["iss"])
        self.assertTrue(document["jwks_uri"].startswith(pool["issuer"]))
        self.assertEqual(document["id_token_signing_alg_values_supported"], ["ES256"])
