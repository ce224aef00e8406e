import Crypto
import Platform
import Testing

@Suite struct JWSVectorTests {
    static let cases: [(token: String, key: String, algorithm: SignatureAlgorithm, payload: String)] = [
        (Vectors.rs256, Vectors.publicPart(Vectors.rs256Key), .RS256, Vectors.claims),
        (Vectors.es256, Vectors.publicPart(Vectors.es256Key), .ES256, Vectors.claims),
        (Vectors.es512, Vectors.es512Key, .ES512, "Payload"),
        (Vectors.edDSA, Vectors.publicPart(Vectors.edDSAKey), .EdDSA, "Example of Ed25519 signing"),
    ]

    @Test("the tokens of RFC 7515 A.2 to A.4 and RFC 8037 A.5 verify", arguments: 0..<cases.count)
    func verifies(_ index: Int) throws {
        let (token, key, algorithm, payload) = Self.cases[index]
        let verified = try JWS.parse(token).verify(with: PublicKey(jwk: json(key)))
        #expect(verified.header.algorithm == algorithm)
        #expect(verified.header.keyID == nil)
        #expect(verified.payload == utf8(payload))
    }

    @Test("Ed25519 is accepted as a name of EdDSA in a header and in a key (RFC 9864)")
    func fullySpecified() throws {
        let key = try PrivateKey.generate(.EdDSA)
        let named = Vectors.publicPart(Vectors.edDSAKey).replacing("{", with: #"{"alg":"Ed25519","#, maxReplacements: 1)
        #expect(try JWK(json(named)).algorithm == .EdDSA)
        let input = Base64URL.encode(utf8(#"{"alg":"Ed25519"}"#)) + "." + Base64URL.encode(utf8("{}"))
        let token = input + "." + Base64URL.encode(try key.sign(utf8(input)))
        #expect(try JWS.parse(token).verify(with: PublicKey(key.jwk)).header.algorithm == .EdDSA)
    }

    @Test("changed bits of the signature and a changed payload are detected", arguments: 0..<cases.count)
    func tampering(_ index: Int) throws {
        let (token, key, _, _) = Self.cases[index]
        let publicKey = try PublicKey(jwk: json(key))
        let parts = token.split(separator: ".")
        let signature = try #require(Base64URL.decode(String(parts[2])))
        for bit in stride(from: 0, to: signature.count * 8, by: 7) {
            var changed = signature
            changed[bit / 8] ^= 1 << (bit % 8)
            let token = parts[0] + "." + parts[1] + "." + Base64URL.encode(changed)
            #expect(throws: JWSError.badSignature) { try JWS.parse(String(token)).verify(with: publicKey) }
        }
        let other = parts[0] + "." + Base64URL.encode(utf8("{}")) + "." + parts[2]
        #expect(throws: JWSError.badSignature) { try JWS.parse(String(other)).verify(with: publicKey) }
    }

    @Test("a signature of the wrong length is rejected, including zero padding", arguments: 0..<cases.count)
    func lengths(_ index: Int) throws {
        let (token, key, _, _) = Self.cases[index]
        let publicKey = try PublicKey(jwk: json(key))
        let parts = token.split(separator: ".")
        let signature = try #require(Base64URL.decode(String(parts[2])))
        for changed in [[], [0] + signature, signature + [0], Array(signature.dropLast()), signature + signature] {
            let token = parts[0] + "." + parts[1] + "." + Base64URL.encode(changed)
            #expect(throws: JWSError.badSignature) { try JWS.parse(String(token)).verify(with: publicKey) }
        }
    }

    @Test("an ECDSA signature of zeros is rejected")
    func zeros() throws {
        let token = "eyJhbGciOiJFUzI1NiJ9." + Vectors.payload + "." + Base64URL.encode([UInt8](repeating: 0, count: 64))
        let key = try PublicKey(jwk: json(Vectors.publicPart(Vectors.es256Key)))
        #expect(throws: JWSError.badSignature) { try JWS.parse(token).verify(with: key) }
    }

    @Test("a DER-encoded ECDSA signature is rejected")
    func derSignature() throws {
        // The DER encoding, SEQUENCE { r, s }, of the signature in RFC 7515 A.3.
        let joined = try #require(Base64URL.decode(String(Vectors.es256.split(separator: ".")[2])))
        let der = [0x30, 0x45, 0x02, 0x20] + joined[..<32] + [0x02, 0x21, 0x00] + joined[32...]
        let token = "eyJhbGciOiJFUzI1NiJ9." + Vectors.payload + "." + Base64URL.encode(der)
        let key = try PublicKey(jwk: json(Vectors.publicPart(Vectors.es256Key)))
        #expect(throws: JWSError.badSignature) { try JWS.parse(token).verify(with: key) }
    }
}
