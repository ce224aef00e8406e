import JSON
import Platform
import Testing

@testable import Crypto

@Suite struct PrivateKeyTests {
    @Test("a key signs, its PKCS #8 form is read as the same key, and only its public key verifies", arguments: SigningAlgorithm.allCases)
    func roundTrip(_ algorithm: SigningAlgorithm) throws {
        let key = try PrivateKey.generate(algorithm)
        let read = try PrivateKey(pkcs8: key.pkcs8, algorithm: algorithm)
        #expect(read.jwk == key.jwk)
        #expect(read.pkcs8.constantTimeEquals(key.pkcs8))
        let signature = try read.sign(utf8("hello"))
        #expect(signature.count == key.signatureCount)
        #expect(key.publicKey.verify(signature, of: utf8("hello")))
        #expect(!key.publicKey.verify(signature, of: utf8("hellO")))
        #expect(try !PrivateKey.generate(algorithm).publicKey.verify(signature, of: utf8("hello")))
        #expect(try PublicKey(spki: key.publicKey.spki, rsaAlgorithm: algorithm == .RS512 ? .RS512 : .RS256).jwk == key.jwk)
    }

    @Test(
        "P-256 signatures of a deterministic key match RFC 6979 A.2.5",
        arguments: [
            (
                "sample",
                "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8"
            ),
            (
                "test",
                "F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083"
            ),
        ])
    func repeatableECDSA(_ message: String, _ signature: String) throws {
        let number = Hex.decode("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721")!
        let (handle, material) = try PrivateComponents.ec(.p256, d: SecretBytes(number), point: nil).makeHandle()
        let key = try PrivateKey(pkcs8: PrivateComponents(handle, material).pkcs8(), algorithm: .ES256, repeats: true)
        #expect(Hex.encode(try key.sign(utf8(message))).uppercased() == signature)
        #expect(key.publicKey.verify(try key.sign(utf8(message)), of: utf8(message)))
    }

    @Test("a deterministic random source yields the same key and the same signatures", arguments: SigningAlgorithm.allCases)
    func repeated(_ algorithm: SigningAlgorithm) throws {
        let (one, same, other) = (
            try PrivateKey.generate(algorithm, from: Repeated(byte: 7)), try PrivateKey.generate(algorithm, from: Repeated(byte: 7)),
            try PrivateKey.generate(algorithm, from: Repeated(byte: 8))
        )
        let signature = try one.sign(utf8("hello"))
        #expect(try (same.keyID, same.sign(utf8("hello"))) == (one.keyID, signature))
        #expect(other.keyID != one.keyID)
        #expect(one.publicKey.verify(signature, of: utf8("hello")))
        #expect(one.signatureCount == (try PrivateKey.generate(algorithm).signatureCount))
    }

    @Test("an RSA key must have 2,048 to 8,192 bits")
    func rsaLengths() throws {
        #expect(try PrivateKey.generate(.RS256, rsaBits: 3072).signatureCount == 384)
        for bits in [1024, 2047, 8193] {
            #expect(throws: KeyError.unacceptableModulus(bits: bits)) { try PrivateKey.generate(.RS256, rsaBits: bits) }
        }
    }

    @Test("Ed25519 signatures are deterministic and match RFC 8037 A.4")
    func edDSA() throws {
        let key = try PrivateKey(jwk: json(Vectors.edDSAKey), algorithm: .EdDSA)
        let parts = Vectors.edDSA.split(separator: ".")
        #expect(Base64URL.encode(try key.sign(utf8(parts[0] + "." + parts[1]))) == parts[2])
        #expect(key.keyID == Vectors.edDSAThumbprint)
    }

    @Test("RSASSA-PKCS1-v1_5 signatures are deterministic and match RFC 7515 A.2")
    func rs256() throws {
        let key = try PrivateKey(jwk: json(Vectors.rs256Key), algorithm: .RS256)
        #expect(Base64URL.encode(try key.sign(utf8("eyJhbGciOiJSUzI1NiJ9." + Vectors.payload))) == Vectors.rs256Signature)
    }

    @Test("signatures of the private JWK of RFC 7515 A.3 verify with its public part")
    func es256() throws {
        let key = try PrivateKey(jwk: json(Vectors.es256Key), algorithm: .ES256)
        let signature = try key.sign(utf8("hello"))
        #expect(try PublicKey(jwk: json(Vectors.publicPart(Vectors.es256Key))).verify(signature, of: utf8("hello")))
    }

    @Test("a private value that does not match the public part is rejected")
    func inconsistent() throws {
        let strange = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE"
        let ec = Vectors.es256Key.replacing("jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI", with: strange)
        #expect(throws: KeyError.inconsistent) { try PrivateKey(jwk: json(ec), algorithm: .ES256) }
        let ed = Vectors.edDSAKey.replacing("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A", with: strange)
        #expect(throws: KeyError.inconsistent) { try PrivateKey(jwk: json(ed), algorithm: .EdDSA) }
        let rsa = Vectors.rs256Key.replacing("oQ\",", with: "ow\",")
        #expect(throws: KeyError.inconsistent) { try PrivateKey(jwk: json(rsa), algorithm: .RS256) }
    }

    @Test(
        "zero and the group order are rejected as private values",
        arguments: [
            "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "_____wAAAAD__________7zm-q2nF56E87nKwvxjJVE",
        ])
    func outOfRange(_ d: String) {
        let key = Vectors.es256Key.replacing("jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI", with: d)
        #expect(throws: KeyError.inconsistent) { try PrivateKey(jwk: json(key), algorithm: .ES256) }
    }

    @Test("a key cannot be read for an algorithm that its type or its alg does not allow")
    func pinned() throws {
        let ec = try PrivateKey.generate(.ES256)
        #expect(throws: KeyError.algorithmMismatch(.RS256)) { try PrivateKey(pkcs8: ec.pkcs8, algorithm: .RS256) }
        #expect(throws: KeyError.algorithmMismatch(.ES256)) {
            try PrivateKey(jwk: json(Vectors.edDSAKey), algorithm: .ES256)
        }
        let labelled = Vectors.rs256Key.replacing("{\"kty\"", with: "{\"alg\":\"PS256\",\"kty\"")
        #expect(throws: KeyError.algorithmMismatch(.RS256)) { try PrivateKey(jwk: json(labelled), algorithm: .RS256) }
    }

    @Test("truncated, extended and changed PKCS #8 bytes are rejected or yield the same key")
    func malformedPKCS8() throws {
        for algorithm in [SigningAlgorithm.ES256, .EdDSA] {
            let key = try PrivateKey.generate(algorithm)
            let bytes = key.pkcs8.copy()
            for count in 0..<bytes.count {
                #expect(throws: KeyError.malformedEncoding) {
                    try PrivateKey(pkcs8: SecretBytes(Array(bytes.prefix(count))), algorithm: algorithm)
                }
            }
            #expect(throws: KeyError.malformedEncoding) {
                try PrivateKey(pkcs8: SecretBytes(bytes + [0]), algorithm: algorithm)
            }
        }
        let key = try PrivateKey.generate(.ES256)
        for index in key.pkcs8.copy().indices {
            var bytes = key.pkcs8.copy()
            bytes[index] ^= 1
            // The version and the tag of an unused attribute may change; the key must not.
            let read = try? PrivateKey(pkcs8: SecretBytes(bytes), algorithm: .ES256)
            #expect(read == nil || read?.keyID == key.keyID, "byte \(index)")
        }
    }
}

/// A random source that always returns the same byte.
private struct Repeated: RandomSource {
    let byte: UInt8
    func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }
    func draw(_ count: Int) -> RandomDraw { RandomDraw(bytes: bytes(count), number: 0) }
}
