import Contract
import Crypto
import JSON
import Platform
import ServiceContext
import Testing

@testable import IdentityPools

/// The rules for the claims of trusted issuers' tokens.
struct WorkloadTokenTests {
    static let now: Int64 = 1_700_000_000

    static func issuer(_ change: (inout TrustedIssuerDeclaration) -> Void = { _ in }) throws -> KnownIssuer {
        var settings = TrustedIssuerDeclaration(source: .issuer("https://login.example.com"), audiences: ["one", "two"])
        change(&settings)
        let name = try TrustedIssuerRules.name(of: settings, in: Deployment(), allowsPlainLoopback: false)
        return try KnownIssuer(TrustedIssuerRecord(name: name, settings: settings, createdAt: 0, updatedAt: 0), in: Deployment())
    }

    static func claims(_ changes: JSONObject = [:]) throws -> JSONNode {
        var claims: JSONObject = [
            "iss": "https://login.example.com", "sub": "carol", "aud": "one", "iat": .number(JSONNumber(now)),
            "exp": .number(JSONNumber(now + 600)),
        ]
        for (name, value) in changes.members { claims[name] = value.isNull ? JSONValue?.none : value }
        return try JSONText(JSONValue.object(claims).text).root
    }

    // MARK: Audience

    static let audiences: [(JSONObject, String?)] = [
        (["aud": "one"], "one"), (["aud": "two"], "two"), (["aud": "three"], nil), (["aud": ["one"]], "one"),
        (["aud": ["two", "one"]], "two"),
        (["aud": ["one", "three"]], nil), (["aud": ["one", "three"], "azp": "one"], "one"), (["aud": ["three"], "azp": "one"], nil),
        (["aud": "three", "azp": "one"], nil), (["aud": "one", "azp": "other"], nil), (["aud": "one", "azp": ""], nil),
        (["aud": "one", "azp": 7], nil), (["aud": []], nil), (["aud": .null], nil), (["aud": 7], nil), (["aud": ""], nil),
        (["aud": ["one", 7]], nil),
        (["aud": "ONE"], nil),
    ]

    @Test("aud decides, and azp never replaces it", arguments: audiences.indices)
    func audience(index: Int) throws {
        let (changes, expected) = Self.audiences[index]
        let claims = try Self.claims(changes)
        guard let expected else {
            #expect(throws: TokenAudienceMismatch.self) { try WorkloadTokenRules.audience(claims, Self.issuer()) }
            return
        }
        #expect(try WorkloadTokenRules.audience(claims, Self.issuer()) == expected)
    }

    @Test("authorizedParties are accepted in addition to the audiences, and * accepts any")
    func parties() throws {
        let claims = try Self.claims(["azp": "app"])
        let named = try Self.issuer { $0.authorizedParties = ["app"] }
        let any = try Self.issuer { $0.authorizedParties = ["*"] }
        #expect(try WorkloadTokenRules.audience(claims, named) == "app")
        #expect(try WorkloadTokenRules.audience(claims, any) == "app")
        #expect(throws: TokenAudienceMismatch.self) { try WorkloadTokenRules.audience(claims, Self.issuer()) }
        #expect(throws: TokenAudienceMismatch.self) { try WorkloadTokenRules.audience(Self.claims(["aud": "app", "azp": "app"]), named) }
    }

    // MARK: Times

    static let times: [(Int64?, Int64?, Int64?, Bool)] = [
        // exp, iat and nbf relative to the current time; whether the token is accepted.
        (600, 0, nil, true), (1, -900, nil, true), (-299, -900, nil, true), (-300, -900, nil, false), (nil, 0, nil, false),
        (600, 300, nil, true),
        (600, 301, nil, false), (600, nil, 300, true), (600, nil, 301, false), (86_400, 0, nil, true), (86_401, 0, nil, false),
        (86_401, nil, nil, false), (86_400, nil, nil, true),
    ]

    @Test("a token is accepted until 300 s after exp, and 300 s before iat and nbf", arguments: times.indices)
    func time(index: Int) throws {
        let (exp, iat, nbf, isAccepted) = Self.times[index]
        func moment(_ offset: Int64?) -> JSONValue { offset.map { .number(JSONNumber(Self.now + $0)) } ?? .null }
        let claims = try Self.claims(["exp": moment(exp), "iat": moment(iat), "nbf": moment(nbf)])
        let issuer = try Self.issuer()
        if isAccepted {
            _ = try WorkloadTokenRules.check(claims, issuer, now: Self.now)
        } else {
            #expect(throws: (any Error).self) { try WorkloadTokenRules.check(claims, issuer, now: Self.now) }
        }
    }

    @Test("times other than numbers of seconds are malformed", arguments: ["\"1\"", "1e300", "-1e300", "true", "[1]", "null"])
    func notATime(text: String) throws {
        let claims = try JSONText(#"{"sub": "a", "aud": "one", "exp": \#(text)}"#).root
        #expect(throws: TokenMalformed.self) { try WorkloadTokenRules.check(claims, Self.issuer(), now: Self.now) }
    }

    // MARK: Condition keys

    static func keys(_ claims: JSONNode) throws -> WorkloadClaims {
        WorkloadClaims(
            WorkloadToken(
                issuer: try issuer(), subject: "carol", audience: "one", tokenId: nil, issuedAt: nil, expiresAt: 0, claims: claims))
    }

    @Test("claims are condition keys by their type")
    func values() throws {
        let claims = try Self.claims([
            "azp": "two", "aud": ["one", "two"], "oaud": "forged", "amr": ["mfa"], "email": "a@example.com", "count": 7, "flag": true,
            "groups": ["a", "b"], "single": ["a"], "object": ["a": 1], "mixed": ["a", ["b"]], "empty": [], "Mixed/Case:x": "1",
        ])
        let keys = try Self.keys(claims)
        func value(_ name: String) -> PolicyContext.Value? { keys.value(of: "login.example.com:\(name)") }
        #expect(value("aud") == .single("two"))
        #expect(value("oaud") == .many(["one", "two"]))
        #expect(value("sub") == .single("carol"))
        #expect(value("amr") == .many(["mfa"]))
        #expect(value("email") == nil)
        #expect(value("count") == .single("7"))
        #expect(value("flag") == .single("true"))
        #expect(value("groups") == .many(["a", "b"]))
        #expect(value("single") == .single("a"))
        #expect(value("object") == nil)
        #expect(value("mixed") == nil)
        #expect(value("empty") == nil)
        #expect(value("mixed/case:x") == .single("1"))
        #expect(keys.value(of: "login.example.co:sub") == nil)
        #expect(try Self.keys(Self.claims(["email": "a@example.com", "email_verified": true])).value(of: "login.example.com:email") != nil)
    }

    @Test(
        "claims that differ only in case are rejected",
        arguments: [("repo", "Repo", true), ("repo", "repos", false), ("Repo", "ref", false)])
    func ambiguous(first: String, second: String, isAmbiguous: Bool) throws {
        let claims = try Self.claims([first: "a", second: "b"])
        #expect((WorkloadClaims.ambiguousName(claims) != nil) == isAmbiguous)
    }

    @Test("only JWT is accepted by default, and foreign types never")
    func types() throws {
        func check(_ type: String?, _ accepted: [String]?) throws {
            let header = try JWSHeaderExample.header(type)
            try WorkloadTokenRules.checkType(header, Self.issuer { $0.types = accepted }.types)
        }
        for type in [nil, "JWT", "jwt", "application/JWT"] { try check(type, nil) }
        for type in ["at+jwt", "JOSE", "logout+jwt", "pool+jwt", "secevent+jwt", "x"] {
            #expect(throws: TokenUseMismatch.self) { try check(type, nil) }
        }
        try check("at+jwt", ["JWT", "at+jwt"])
        try check("JOSE", ["JWT", "JOSE"])
        #expect(throws: InvalidTrustedIssuer.self) { try check("JWT", ["logout+jwt"]) }
    }
}

/// Headers of tokens, parsed as those of a real token.
enum JWSHeaderExample {
    static func header(_ type: String?) throws -> JWSHeader {
        var header: JSONObject = ["alg": "ES256"]
        header["typ"] = type.map { .string($0) }
        let text = Array(JSONValue.object(header).text.utf8)
        return try JWS.parse("\(Base64URL.encode(text)).e30.AA").header
    }
}
