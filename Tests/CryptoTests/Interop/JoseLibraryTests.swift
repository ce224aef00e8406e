import Crypto
import JSON
import Testing

@Suite struct JoseLibraryTests {
    static let libraries = ["pyjwt", "joserfc"]

    @Test("PyJWT and joserfc verify our tokens with our published keys", arguments: libraries)
    func theyVerifyOurs(_ library: String) throws {
        let keys = try SigningAlgorithm.allCases.map { try PrivateKey.generate($0) }
        let answers = try Programs.jose(
            keys.map { key in
                var writer = JSONWriter()
                key.jwk.write(to: &writer)
                return [
                    "do": "verify", "with": .string(library), "alg": .string(key.algorithm.rawValue),
                    "jwk": try JSONValue(parsing: writer.bytes),
                    "token": .string(try JWS.sign(payload: utf8(#"{"sub":"zoë"}"#), with: key, type: "pool+jwt")),
                ]
            })
        #expect(answers.count == keys.count)
        for (key, answer) in zip(keys, answers) {
            #expect(answer["claims"]?["sub"]?.string == "zoë", "\(key.algorithm): \(answer.rawText)")
            #expect(answer["header"]?["kid"]?.string == key.keyID)
            #expect(answer["header"]?["typ"]?.string == "pool+jwt")
        }
    }

    @Test("tokens of PyJWT and joserfc verify in every supported algorithm", arguments: libraries)
    func weVerifyTheirs(_ library: String) throws {
        let answers = try Programs.jose(
            SignatureAlgorithm.allCases.map { algorithm in
                ["do": "sign", "with": .string(library), "alg": .string(algorithm.rawValue), "claims": ["sub": "zoë"]]
            })
        #expect(answers.count == SignatureAlgorithm.allCases.count)
        for (algorithm, answer) in zip(SignatureAlgorithm.allCases, answers) {
            let token = try #require(answer["token"]?.string, "\(algorithm): \(answer.rawText)")
            let key = try PublicKey(jwk: #require(answer["jwk"]))
            let verified = try JWS.parse(token).verify(with: JWKSet([key]))
            #expect(verified.header.algorithm == algorithm)
            #expect(try JSONText(verified.payload).root["sub"]?.string == "zoë")
            let other = token.dropLast(8) + (token.hasSuffix("AAAAAAAA") ? "BBBBBBBB" : "AAAAAAAA")
            #expect(throws: JWSError.badSignature, "\(algorithm)") { try JWS.parse(String(other)).verify(with: key) }
        }
    }

    @Test("PyJWT and joserfc reject our token with another key", arguments: libraries)
    func theyRefuse(_ library: String) throws {
        let (key, other) = (try PrivateKey.generate(.ES256), try PrivateKey.generate(.ES256))
        var writer = JSONWriter()
        other.jwk.write(to: &writer)
        let answers = try Programs.jose([
            [
                "do": "verify", "with": .string(library), "alg": "ES256", "jwk": try JSONValue(parsing: writer.bytes),
                "token": .string(try JWS.sign(payload: utf8("{}"), with: key, type: "JWT")),
            ]
        ])
        #expect(answers.first?["error"]?.string?.isEmpty == false)
    }
}
