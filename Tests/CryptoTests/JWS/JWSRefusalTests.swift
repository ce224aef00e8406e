import COpenSSL
import Crypto
import JSON
import Platform
import Testing

@Suite struct JWSRefusalTests {
    static let cases: [(token: String, error: JWSError)] = [
        ("", .malformed(.parts)),
        ("abc", .malformed(.parts)),
        ("e30.e30", .malformed(.parts)),
        ("e30.e30.AA.AA", .malformed(.parts)),
        (Vectors.es256 + ".", .malformed(.parts)),
        (Vectors.es256 + "=", .malformed(.encoding(.signature))),
        (Vectors.es256 + "\n", .malformed(.encoding(.signature))),
        // The last character of the signature encodes four bits that must be zero.
        (Vectors.es256.dropLast() + "R", .malformed(.encoding(.signature))),
        ("eyJhbGciOiJFUzI1NiJ9." + Vectors.payload + "=.AA", .malformed(.encoding(.payload))),
        ("eyJhbGciOiJFUzI1NiJ9.a+b/.AA", .malformed(.encoding(.payload))),
        ("eyJhbGciOiJFUzI1NiJ9=.e30.AA", .malformed(.encoding(.header))),
        (compact(header: #"["ES256"]"#), .malformed(.headerNotObject)),
        (compact(header: "{}"), .malformed(.headerParameter("alg"))),
        (compact(header: #"{"alg":null}"#), .malformed(.headerParameter("alg"))),
        (compact(header: #"{"alg":"ES256","kid":1}"#), .malformed(.headerParameter("kid"))),
        (compact(header: #"{"alg":"ES256","typ":{}}"#), .malformed(.headerParameter("typ"))),
        (Vectors.none, .algorithmNotAllowed("none")),
        (compact(header: #"{"alg":"NONE"}"#), .algorithmNotAllowed("NONE")),
        (compact(header: #"{"alg":"HS256"}"#), .algorithmNotAllowed("HS256")),
        (compact(header: #"{"alg":"HS512"}"#), .algorithmNotAllowed("HS512")),
        (compact(header: #"{"alg":"es256"}"#), .algorithmNotAllowed("es256")),
        (compact(header: #"{"alg":"RS1"}"#), .algorithmNotAllowed("RS1")),
        (compact(header: #"{"alg":"ES256","crit":["b64"],"b64":false}"#), .criticalHeader(["b64"])),
        (compact(header: #"{"alg":"ES256","crit":[]}"#), .criticalHeader([])),
        (compact(header: #"{"alg":"ES256","crit":"exp"}"#), .criticalHeader([])),
    ]

    @Test("a token that violates a rule is rejected with the corresponding error", arguments: 0..<cases.count)
    func refused(_ index: Int) {
        let (token, error) = Self.cases[index]
        #expect(throws: error, "\(token)") { try JWS.parse(token) }
    }

    @Test(
        "a header that is not strict JSON is rejected: empty, duplicate names, trailing bytes or too deeply nested",
        arguments: [
            ("", JSONSyntaxError.Reason.empty),
            (#"{"alg":"ES256","alg":"none"}"#, .duplicateName),
            (#"{"alg":"none","alg":"ES256"}"#, .duplicateName),
            (#"{"alg":"ES256","\u0061lg":"none"}"#, .duplicateName),
            (#"{"alg":"ES256",}"#, .trailingComma),
            (#"{"alg":"ES256"}{}"#, .trailingBytes),
            (#"{"alg":"ES256","x":"# + String(repeating: "[", count: 50) + String(repeating: "]", count: 50) + "}", .tooDeep),
        ])
    func headerSyntax(_ header: String, _ reason: JSONSyntaxError.Reason) {
        let error = #expect(throws: JWSError.self) { try JWS.parse(compact(header: header)) }
        guard case .malformed(.headerSyntax(let syntax)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(syntax.reason == reason)
    }

    @Test("a token longer than the limit is rejected before it is parsed")
    func limits() {
        #expect(throws: JWSError.malformed(.tooLong)) { try JWS.parse(Vectors.es256, maximumCount: 100) }
        #expect(throws: JWSError.malformed(.tooLong)) { try JWS.parse(String(repeating: "A", count: 65_537)) }
    }

    @Test("a header with an algorithm other than the key's is rejected before the signature is verified")
    func mismatch() throws {
        let ec = try PublicKey(jwk: json(Vectors.publicPart(Vectors.es256Key)))
        let rsa = try PublicKey(jwk: json(Vectors.publicPart(Vectors.rs256Key)))
        let pss = try PublicKey(jwk: json(Vectors.publicPart(Vectors.rs256Key)), rsaAlgorithm: .PS256)
        #expect(throws: JWSError.algorithmMismatch(header: .RS256, key: .ES256)) { try JWS.parse(Vectors.rs256).verify(with: ec) }
        #expect(throws: JWSError.algorithmMismatch(header: .ES256, key: .RS256)) { try JWS.parse(Vectors.es256).verify(with: rsa) }
        #expect(throws: JWSError.algorithmMismatch(header: .RS256, key: .PS256)) { try JWS.parse(Vectors.rs256).verify(with: pss) }
    }

    @Test("an HMAC keyed with the public key is rejected (RFC 8725 section 2.1)")
    func confusedHMAC() throws {
        let pem = try PublicKey(jwk: json(Vectors.publicPart(Vectors.rs256Key))).pem
        let input = Base64URL.encode(utf8(#"{"alg":"HS256"}"#)) + "." + Vectors.payload
        let token = input + "." + Base64URL.encode(HMAC.sha256(key: utf8(pem), utf8(input)))
        #expect(throws: JWSError.algorithmNotAllowed("HS256")) { try JWS.parse(token) }
    }

    @Test("a key in the token's header is ignored", arguments: ["jwk", "jku", "x5c", "x5u"])
    func embeddedKey(_ parameter: String) throws {
        let attacker = try PrivateKey.generate(.ES256)
        var writer = JSONWriter()
        attacker.jwk.write(to: &writer)
        let key = String(decoding: writer.bytes, as: UTF8.self)
        let value = ["jwk": key, "jku": #""https://evil.example/jwks""#, "x5c": #"["AA"]"#, "x5u": #""https://evil.example/c""#]
        let header = #"{"alg":"ES256","\#(parameter)":\#(value[parameter]!)}"#
        let input = Base64URL.encode(utf8(header)) + "." + Vectors.payload
        let token = input + "." + Base64URL.encode(try attacker.sign(utf8(input)))
        let ours = try PublicKey(jwk: json(Vectors.publicPart(Vectors.es256Key)))
        #expect(throws: JWSError.badSignature) { try JWS.parse(token).verify(with: ours) }
        #expect(throws: JWSError.unknownKey(keyID: nil)) { try JWS.parse(token).verify { _ in nil } }
        #expect(try JWS.parse(token).verify(with: attacker.publicKey).payload == utf8(Vectors.claims))
    }

    @Test("rejections leave no entries in OpenSSL's error queue")
    func errorQueue() throws {
        ERR_clear_error()
        let rsa = try PublicKey(jwk: json(Vectors.publicPart(Vectors.rs256Key)))
        let ed = try PublicKey(jwk: json(Vectors.publicPart(Vectors.edDSAKey)))
        _ = rsa.verify([UInt8](repeating: 1, count: 256), of: [])
        _ = ed.verify([UInt8](repeating: 1, count: 64), of: [])
        _ = try? PublicKey(jwk: json(PublicKeyRefusalTests.cases[10].key))
        _ = try? PublicKey(spki: [1, 2, 3])
        _ = try? Scrypt.derive(password: [], salt: [], .init(n: 1 << 30, r: 8, p: 1), count: 16)
        _ = try? AESGCM.open(
            [UInt8](repeating: 0, count: 16), key: SecretBytes([UInt8](repeating: 0, count: 32)), nonce: [UInt8](repeating: 0, count: 12),
            authenticating: [])
        #expect(ERR_peek_error() == 0)
    }
}
