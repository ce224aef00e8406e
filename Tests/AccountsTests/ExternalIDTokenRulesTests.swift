import Contract
import Crypto
import JSON
import Platform
import Testing

@testable import Accounts
@testable import Federation
@testable import ServiceContext

@Suite("validation of an ID token from a client application")
struct ForeignIDTokenTests {
    private static let now: Int64 = 1_700_000_000

    /// Checks a token with valid claims, modified by `changes`. A `nil` value removes a claim.
    private func check(
        _ changes: [String: JSONValue?] = [:], provider: String = "oidc.a", more: [String] = [],
        header: String = #"{"alg":"ES256","kid":"a"}"#, _ companions: ExternalIDTokenRules.Companions = .init()
    ) throws -> (subject: String, JSONObject) {
        var claims: JSONObject = [
            "iss": provider == "apple.com" ? "https://appleid.apple.com" : "https://id.example.com", "aud": "shop", "sub": "carol",
            "iat": .number(JSONNumber(Self.now)), "exp": .number(JSONNumber(Self.now + 600)),
        ]
        for (name, value) in changes { claims[name] = value }
        let settings = IdpCreate.Params(
            providerId: provider, clientId: "shop", issuer: provider == "oidc.a" ? "https://id.example.com" : nil, moreClientIds: more)
        let header = Base64URL.encode(Array(header.utf8))
        let jws = try JWS.parse("\(header).\(Base64URL.encode(JSONValue.object(claims).bytes)).AAAA")
        return try ExternalIDTokenRules.claims(jws, IdpRecord(settings, nil, createdAt: 0, updatedAt: 0), companions, now: Self.now)
    }

    private func refused(
        _ name: String, _ changes: [String: JSONValue?] = [:], more: [String] = [], header: String = #"{"alg":"ES256","kid":"a"}"#,
        _ companions: ExternalIDTokenRules.Companions = .init()
    ) {
        do {
            _ = try check(changes, more: more, header: header, companions)
            Issue.record("accepted: \(changes)")
        } catch let error as InvalidCredential { #expect(error.check == name, "\(changes)") } catch let error as InvalidNonce {
            #expect(error.check == name, "\(changes)")
        } catch { Issue.record("\(error)") }
    }

    @Test("a valid token is accepted")
    func good() throws {
        #expect(try check().subject == "carol")
        #expect(try check(["aud": ["shop"]]).subject == "carol")
        #expect(try check(["aud": "ios"], more: ["ios"]).subject == "carol")
    }

    @Test("times can have fractions (RFC 7519 section 2)")
    func fractions() throws {
        func moment(_ seconds: Double) -> JSONValue? { JSONNumber(seconds).map { .number($0) } }
        let now = Double(Self.now)
        #expect(try check(["exp": moment(now + 600.5), "iat": moment(now - 0.5), "nbf": moment(now - 5.5)]).subject == "carol")
        refused("expired", ["exp": moment(now - 300.5)])
        refused("notYetValid", ["iat": moment(now + 301.5)])
        refused("notYetValid", ["nbf": moment(now + 301.5)])
        refused("expired", ["exp": moment(1e300)])
    }

    @Test("the issuer must match exactly")
    func issuer() {
        for other in ["https://id.example.com/", "https://ID.example.com", "http://id.example.com", "https://evil.example"] {
            refused("issuer", ["iss": .string(other)])
        }
        refused("issuer", ["iss": nil])
        refused("issuer", ["iss": ["https://id.example.com"]])
    }

    @Test("the audience must be one of the client IDs")
    func audience() {
        refused("audience", ["aud": "other"])
        refused("audience", ["aud": nil])
        refused("audience", ["aud": ["other", "third"]])
        refused("audience", ["aud": ["shop": true]])
    }

    @Test("azp must be one of the client IDs and never replaces aud (OpenID Connect Core section 3.1.3.7)")
    func authorizedParty() throws {
        refused("authorizedParty", ["aud": ["shop", "other"]])
        refused("authorizedParty", ["aud": ["shop", "other"], "azp": "other"])
        #expect(try check(["aud": ["shop", "other"], "azp": "shop"]).subject == "carol")
        #expect(try check(["aud": ["shop", "ios"]], more: ["ios"]).subject == "carol")
        #expect(try check(["aud": "shop", "azp": "ios"], more: ["ios"]).subject == "carol")
        refused("authorizedParty", ["aud": "shop", "azp": "other"])
        for azp: JSONValue in ["", 7, .null, ["shop"]] { refused("authorizedParty", ["azp": azp]) }
        refused("audience", ["aud": "https://api.example", "azp": "shop"])
        refused("audience", ["aud": ["https://api.example"], "azp": "shop"])
        for aud: JSONValue? in [nil, .null, "", 7, [], ["shop", 7]] { refused("audience", ["aud": aud, "azp": "shop"]) }
    }

    @Test("the header's type must be JWT or absent (RFC 8725 section 3.11)")
    func types() throws {
        for type in [#""JWT""#, #""jwt""#, #""application/jwt""#, #""APPLICATION/JWT""#] {
            #expect(try check(header: #"{"alg":"ES256","kid":"a","typ":\#(type)}"#).subject == "carol")
        }
        for type in [
            "at+jwt", "AT+JWT", "application/at+jwt", "logout+jwt", "dpop+jwt", "secevent+jwt", "token-introspection+jwt",
            "oauth-authz-req+jwt", "oauth-id-jag+jwt", "txntoken+jwt", "client-authentication+jwt", "entity-statement+jwt", "pool+jwt",
            "JOSE", "", "JWT ", "application/x/jwt",
        ] {
            refused("type", header: #"{"alg":"ES256","kid":"a","typ":"\#(type)"}"#)
        }
    }

    @Test("claims of other token types are rejected")
    func purposes() throws {
        let purposes: [[String: JSONValue?]] = [
            ["events": [:]], ["events": .some(.null)], ["token_use": "access"], ["token_use": 7], ["typ": "Bearer"], ["typ": "Refresh"],
            ["typ": "Logout"], ["typ": "Offline"], ["typ": "offline"],
        ]
        for claims in purposes { refused("type", claims) }
        for claims: [String: JSONValue?] in [["token_use": "id"], ["typ": "ID"], ["typ": "JWT"]] {
            #expect(try check(claims).subject == "carol")
        }
    }

    @Test("for Google, azp can be any client, because it names the app")
    func google() throws {
        let claims = try JSONText(#"{"aud": "web", "azp": "android"}"#).root
        #expect(try ExternalTokenRules.client(of: claims, among: ["web", "ios"], acceptsAnyParty: true) == "web")
        let own = try JSONText(#"{"aud": "web", "azp": "ios"}"#).root
        #expect(try ExternalTokenRules.client(of: own, among: ["web", "ios"], acceptsAnyParty: true) == "ios")
        #expect(throws: ExternalTokenRules.Refusal.self) {
            try ExternalTokenRules.client(of: claims, among: ["android"], acceptsAnyParty: true)
        }
    }

    @Test("the token must be within its validity period, with five minutes of clock skew")
    func time() throws {
        func at(_ offset: Int64) -> JSONValue { .number(JSONNumber(Self.now + offset)) }
        refused("expired", ["exp": at(-300)])
        refused("expired", ["exp": nil])
        #expect(try check(["exp": at(-299)]).subject == "carol")
        refused("notYetValid", ["iat": at(301)])
        refused("notYetValid", ["iat": nil])
        refused("notYetValid", ["nbf": at(301)])
        #expect(try check(["iat": at(300), "nbf": at(300)]).subject == "carol")
    }

    @Test("the subject must have 1 to 255 ASCII characters")
    func subject() throws {
        for subject: JSONValue? in [nil, "", 7, .string(String(repeating: "a", count: 256)), "caröl"] {
            refused("subject", ["sub": subject])
        }
        #expect(try check(["sub": .string(String(repeating: "a", count: 255))]).subject.count == 255)
    }

    @Test("the nonce must be the lowercase hexadecimal SHA-256 of rawNonce, and both must be present or absent")
    func nonce() throws {
        let hex = Hex.encode(Hash.sha256(Array("raw".utf8)))
        #expect(try check(["nonce": .string(hex)], .init(nonce: .hashed("raw"))).subject == "carol")
        refused("missing", ["nonce": .string(hex)])
        refused("unexpected", [:], .init(nonce: .hashed("raw")))
        refused("mismatch", ["nonce": .string(hex)], .init(nonce: .hashed("Raw")))
        refused("mismatch", ["nonce": .string(hex.uppercased())], .init(nonce: .hashed("raw")))
        refused("mismatch", ["nonce": "raw"], .init(nonce: .hashed("raw")))
        refused("mismatch", ["nonce": .string(Base64URL.encode(Hash.sha256(Array("raw".utf8))))], .init(nonce: .hashed("raw")))
        refused("mismatch", ["nonce": 7], .init(nonce: .hashed("raw")))
    }

    @Test("a token of Apple requires a nonce")
    func needsNonce() {
        #expect(throws: InvalidNonce.self) { try check(provider: "apple.com") }
    }

    @Test("the access token must match at_hash")
    func accessToken() throws {
        let hash = ExternalIDTokenRules.hash(of: "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y", under: .RS256)
        #expect(hash == "77QmUPtjPfzWtF2AnpK9RQ")  // OpenID Connect Core A.3
        #expect(try check(["at_hash": .string(hash)], .init(accessToken: "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y")).subject == "carol")
        #expect(try check(["at_hash": .string(hash)]).subject == "carol")
        #expect(try check([:], .init(accessToken: "any")).subject == "carol")
        refused("accessTokenHash", ["at_hash": .string(hash)], .init(accessToken: "another"))
        refused("accessTokenHash", ["at_hash": 7], .init(accessToken: "another"))
    }

    @Test("claims are mapped to an identity, and an address is trusted only from a trusted provider")
    func mapping() throws {
        let settings = IdpCreate.Params(providerId: "oidc.a", clientId: "shop", issuer: "https://id.example.com", trustEmail: true)
        let claims: JSONObject = [
            "email": "Carol@Example.COM", "email_verified": true, "name": "Carol", "picture": "https://p.example/c.png",
        ]
        let trusting = IdpRecord(settings, nil, createdAt: 0, updatedAt: 0)
        let carol = ProviderIdentity(claims, subject: "c", trusting)
        #expect(carol.email == "carol@example.com" && carol.isEmailTrusted && carol.displayName == "Carol")
        #expect(carol.address?.folded == "carol@example.com" && carol.photoUrl == "https://p.example/c.png")
        var unsaid = claims
        unsaid["email_verified"] = nil
        #expect(!ProviderIdentity(unsaid, subject: "c", trusting).isEmailTrusted)
        var plain = settings
        plain.trustEmail = false
        #expect(!ProviderIdentity(claims, subject: "c", IdpRecord(plain, nil, createdAt: 0, updatedAt: 0)).isEmailTrusted)
        #expect(ProviderIdentity(["email": "no address"], subject: "c", trusting).address == nil)
    }

    @Test("a pending token contains the identity, is valid for ten minutes and is bound to its tenant")
    func pending() throws {
        let tokens = PendingTokens(vault: Vault(dataKey: SecretBytes(SystemRandom().bytes(32)), random: SystemRandom()))
        var carol = ProviderIdentity(providerId: "oidc.a", subject: "c")
        carol.email = "c@d.de"
        carol.isEmailTrusted = true
        carol.profile = ["sub": "c", "n": [1, 2]]
        carol.idToken = "x.y.z"
        let token = tokens.token(of: carol, in: "default", at: 1000)
        guard case .provider(carol, spending: nil) = try tokens.proven(by: token, in: "default", at: 1599) else {
            Issue.record("The token does not contain the identity.")
            return
        }
        #expect(throws: PendingTokenInvalid.self) { try tokens.proven(by: token, in: "default", at: 1600) }
        #expect(throws: PendingTokenInvalid.self) { try tokens.proven(by: token, in: "shop", at: 1000) }
        #expect(throws: PendingTokenInvalid.self) { try tokens.proven(by: token + "AAAA", in: "default", at: 1000) }
        #expect(throws: PendingTokenInvalid.self) { try tokens.proven(by: "", in: "default", at: 1000) }
    }
}
