import Crypto
import JSON
import Platform
import Testing

@Suite struct JWKTests {
    @Test("thumbprints agree with RFC 7638 section 3.1 and RFC 8037 A.3")
    func thumbprints() throws {
        let rsa = try #require(json(Vectors.set)["keys"]?.element(1))
        #expect(try JWK(rsa).thumbprint == Vectors.rsaThumbprint)
        #expect(try JWK(json(Vectors.publicPart(Vectors.edDSAKey))).thumbprint == Vectors.edDSAThumbprint)
    }

    @Test("a kid is preserved; without one, the thumbprint is the key ID")
    func keyID() throws {
        let rsa = try #require(json(Vectors.set)["keys"]?.element(1))
        #expect(try JWK(rsa).keyID == "2011-04-29")
        #expect(try JWK(json(Vectors.publicPart(Vectors.edDSAKey))).keyID == Vectors.edDSAThumbprint)
    }

    @Test("a set keeps the usable keys and reports why others were skipped (RFC 7517 A.1 and section 5)")
    func set() throws {
        let set = try JWKSet(json(Vectors.set))
        #expect(set.keys.map(\.keyID) == ["2011-04-29"])
        #expect(set.refusals == [.notForSignatures])
        #expect(throws: KeyError.malformedMember("keys")) { try JWKSet(json(#"{"keys":{}}"#)) }
    }

    @Test("large sets are processed in bounded time: keys above the limits are skipped")
    func hostileSets() throws {
        let long = #"{"kty":"RSA","e":"AQAB","n":"\#(PublicKeyRefusalTests.modulus(bits: 8192))"}"#
        let set = try JWKSet(json(#"{"keys":["# + Array(repeating: long, count: 5).joined(separator: ",") + "]}"))
        #expect(set.refusals.filter { $0 == .tooMany }.count == 3)
        let common = Vectors.publicPart(Vectors.es256Key)
        let many = try JWKSet(json(#"{"keys":["# + Array(repeating: common, count: 130).joined(separator: ",") + "]}"))
        #expect(many.keys.count == 128)
        #expect(many.refusals == [.tooMany, .tooMany])
    }

    @Test("a written key is read back as the same key", arguments: SigningAlgorithm.allCases)
    func roundTrip(_ algorithm: SigningAlgorithm) throws {
        let key = try PrivateKey.generate(algorithm)
        var writer = JSONWriter()
        key.jwk.write(to: &writer)
        let node = try JSONText(writer.bytes).root
        #expect(try JWK(node) == key.jwk)
        #expect(node["kid"]?.string == key.jwk.thumbprint)
        #expect(node["use"]?.string == "sig")
        #expect(node["alg"]?.string == algorithm.rawValue)
        #expect(node["d"] == nil)
    }

    @Test("a written set contains only public keys")
    func writtenSet() throws {
        let keys = [try PrivateKey.generate(.ES256), try PrivateKey.generate(.EdDSA)]
        var writer = JSONWriter()
        JWKSet(keys.map(\.publicKey)).write(to: &writer)
        #expect(try JWKSet(JSONText(writer.bytes).root).keys.map(\.jwk) == keys.map(\.jwk))
    }

    @Test("an RSA key without alg gets the algorithm that the caller names")
    func impliedAlgorithm() throws {
        let key = Vectors.publicPart(Vectors.rs256Key)
        #expect(try PublicKey(jwk: json(key)).algorithm == .RS256)
        #expect(try PublicKey(jwk: json(key), rsaAlgorithm: .PS384).algorithm == .PS384)
        #expect(throws: KeyError.algorithmMismatch(.ES256)) { try PublicKey(jwk: json(key), rsaAlgorithm: .ES256) }
    }

    @Test("leading zeros of an RSA modulus are removed, so that the thumbprint does not change")
    func leadingZeros() throws {
        let key = try JWK(json(Vectors.publicPart(Vectors.rs256Key)))
        guard case .rsa(let n, _) = key.material else {
            Issue.record("not an RSA key")
            return
        }
        let padded = #"{"kty":"RSA","e":"AQAB","n":"\#(Base64URL.encode([0] + n))"}"#
        #expect(try JWK(json(padded)).thumbprint == key.thumbprint)
    }
}

extension JSONNode {
    fileprivate func element(_ wanted: Int) -> JSONNode? {
        var found: JSONNode?
        forEachElement { if $0 == wanted { found = $1 } }
        return found
    }
}
