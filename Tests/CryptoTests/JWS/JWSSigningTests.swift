import Crypto
import Glibc
import JSON
import Platform
import Synchronization
import Testing

@Suite struct JWSSigningTests {
    @Test("a signed token carries alg, kid and typ, and verifies with the published key", arguments: SigningAlgorithm.allCases)
    func signs(_ algorithm: SigningAlgorithm) throws {
        let key = try PrivateKey.generate(algorithm)
        let token = try JWS.sign(payload: utf8(#"{"sub":"x"}"#), with: key, type: "at+jwt")
        let header = Base64URL.decode(String(token.prefix { $0 != "." })) ?? []
        #expect(header == utf8(#"{"alg":"\#(algorithm.rawValue)","kid":"\#(key.keyID)","typ":"at+jwt"}"#))
        let verified = try JWS.parse(token).verify(with: key.publicKey)
        #expect(verified.payload == utf8(#"{"sub":"x"}"#))
        #expect(verified.header.type == "at+jwt")
        #expect(verified.key.keyID == key.keyID)
    }

    @Test("one key signs with many types and key IDs, each with the correct header")
    func headers() throws {
        let key = try PrivateKey.generate(.ES256)
        for round in 0..<3 {
            for number in 0..<20 {
                let token = try JWS.sign(payload: [], with: key, type: "t\(number)", keyID: number % 2 == 0 ? nil : "k\(number)")
                let header = try JWS.parse(token).header
                #expect(header.type == "t\(number)", "round \(round)")
                #expect(header.keyID == (number % 2 == 0 ? key.keyID : "k\(number)"))
            }
        }
    }

    @Test("more keys than the per-thread context cache holds sign and verify correctly")
    func manyKeys() throws {
        let keys = try (0..<40).map { _ in try PrivateKey.generate(.ES256) }
        for _ in 0..<3 {
            for (index, key) in keys.enumerated() {
                let token = try JWS.sign(payload: utf8("\(index)"), with: key, type: "JWT")
                #expect(try JWS.parse(token).verify(with: key.publicKey).payload == utf8("\(index)"))
                #expect(throws: JWSError.badSignature) {
                    try JWS.parse(token).verify(with: keys[(index + 1) % keys.count].publicKey)
                }
            }
        }
    }

    @Test("the context of a released key is never used for another key")
    func shortLivedKeys() throws {
        for index in 0..<200 {
            let key = try PrivateKey.generate(index % 2 == 0 ? .ES256 : .EdDSA)
            let token = try JWS.sign(payload: [], with: key, type: "JWT")
            _ = try JWS.parse(token).verify(with: PublicKey(key.jwk))
        }
    }

    @Test("threads sign and verify with one key at the same time")
    func threads() throws {
        let key = try PrivateKey.generate(.ES256)
        let publicKey = key.publicKey
        let good = ConditionLock(0)
        for worker in 0..<4 {
            _ = Thread.start(name: "sign \(worker)") {
                var count = 0
                for number in 0..<200 {
                    guard let token = try? JWS.sign(payload: utf8("\(worker) \(number)"), with: key, type: "JWT"),
                        let verified = try? JWS.parse(token).verify(with: publicKey), verified.payload == utf8("\(worker) \(number)")
                    else { continue }
                    count += 1
                }
                good.withLock { $0 += count + 1_000_000 }
                good.broadcast()
            }
        }
        #expect(good.wait { $0 >= 4_000_000 ? $0 : nil } == 4_000_800)
    }

    @Test("the key is found by the header's kid, and an unknown kid fails with unknownKey")
    func lookup() throws {
        let (one, other) = (try PrivateKey.generate(.ES256), try PrivateKey.generate(.EdDSA))
        let set = JWKSet([one.publicKey, other.publicKey])
        let token = try JWS.parse(JWS.sign(payload: utf8("p"), with: other, type: "JWT"))
        #expect(try token.verify(with: set).key.keyID == other.keyID)
        #expect(try token.verify { keyID in set.keys.first { $0.keyID == keyID } }.key.keyID == other.keyID)
        #expect(throws: JWSError.unknownKey(keyID: other.keyID)) { try token.verify(with: JWKSet([one.publicKey])) }
        #expect(throws: JWSError.unknownKey(keyID: other.keyID)) { try token.verify { _ in nil } }
        struct Unreachable: Error {}
        #expect(throws: Unreachable.self) { try token.verify { _ in throw Unreachable() } }
    }

    @Test("without a kid, the only key for the algorithm is used; with two such keys, verification fails")
    func lookupWithoutKeyID() throws {
        let key = try PublicKey(jwk: json(Vectors.publicPart(Vectors.es256Key)))
        let (ec, ed) = (try PrivateKey.generate(.ES256).publicKey, try PrivateKey.generate(.EdDSA).publicKey)
        let token = try JWS.parse(Vectors.es256)
        #expect(try token.verify(with: JWKSet([ed, key])).payload == utf8(Vectors.claims))
        #expect(throws: JWSError.unknownKey(keyID: nil)) { try token.verify(with: JWKSet([ec, key])) }
    }

    @Test("typ is compared according to RFC 7515 section 4.1.9")
    func types() throws {
        func header(_ type: String) throws -> JWSHeader { try JWS.parse(compact(header: #"{"alg":"ES256","typ":"\#(type)"}"#)).header }
        #expect(try header("at+jwt").hasType("at+jwt"))
        #expect(try header("AT+JWT").hasType("at+jwt"))
        #expect(try header("application/at+jwt").hasType("at+jwt"))
        #expect(try !header("JWT").hasType("at+jwt"))
        #expect(try !header("application/x/at+jwt").hasType("x/at+jwt"))
        #expect(try !JWS.parse(Vectors.es256).header.hasType("JWT"))
    }
}
