import Contract
import Crypto
import JSON
import Network
import Testing

@testable import Accounts
@testable import ServiceContext

@Suite("identity providers of a tenant")
struct IdpRulesTests {
    private static let key = #"{"kty": "oct", "k": "AAAA"}"#

    @Test(
        "inconsistent settings are rejected with the pointer of the wrong member",
        arguments: [
            (#"{"providerId": "oidc.a", "clientId": "c"}"#, "/issuer"),
            (#"{"providerId": "oidc.a", "clientId": "c", "issuer": "http://id.example.com"}"#, "/issuer"),
            (#"{"providerId": "oidc.a", "clientId": "c", "issuer": "id.example.com"}"#, "/issuer"),
            (#"{"providerId": "oidc.a", "clientId": "c", "issuer": "https://id.example.com?a=b"}"#, "/issuer"),
            (#"{"providerId": "google.com", "clientId": "c", "issuer": "https://accounts.google.com"}"#, "/issuer"),
            (
                #"{"providerId": "oidc.a", "clientId": "c", "issuer": "https://id.example.com", "clientAuthentication": "basic"}"#,
                "/clientSecret"
            ),
            (
                #"{"providerId": "oidc.a", "clientId": "c", "issuer": "https://id.example.com", "clientAuthentication": "post"}"#,
                "/clientSecret"
            ),
            (#"{"providerId": "oidc.a", "clientId": "c", "issuer": "https://id.example.com/.well-known/openid-configuration"}"#, "/issuer"),
            (#"{"providerId": "github.com", "clientId": "c", "clientSecret": "s", "openidOnly": true}"#, "/openidOnly"),
            (#"{"providerId": "facebook.com", "clientId": "c", "openidOnly": true}"#, "/openidOnly"),
            (#"{"providerId": "github.com", "clientId": "c"}"#, "/clientSecret"),
            (#"{"providerId": "github.com", "clientId": "c", "clientSecret": "s", "responseType": "idToken"}"#, "/responseType"),
            (#"{"providerId": "google.com", "clientId": "c", "trustEmail": true}"#, "/trustEmail"),
            (#"{"providerId": "apple.com", "clientId": "c", "endpoint": "https://a.example"}"#, "/endpoint"),
            (#"{"providerId": "facebook.com", "clientId": "c", "endpoint": "http://a.example"}"#, "/endpoint"),
            (#"{"providerId": "facebook.com", "clientId": "c", "endpoint": "https://a.example/"}"#, "/endpoint"),
            (#"{"providerId": "microsoft.com", "clientId": "c", "issuer": "https://evil.example"}"#, "/issuer"),
            (#"{"providerId": "microsoft.com", "clientId": "c", "issuer": "https://login.microsoftonline.com.evil.example/"}"#, "/issuer"),
            (#"{"providerId": "google.com", "clientId": "c", "keys": [\#(key)]}"#, "/keys/0"),
        ])
    func refused(_ settings: String, _ pointer: String) throws {
        let settings = try IdpCreate.Params(decoding: JSONText(settings).root)
        do {
            try IdpRules.check(settings, hasSecret: settings.clientSecret != nil, allowsPlainLoopback: false)
            Issue.record("accepted")
        } catch let error as InvalidIdp { #expect(error.pointer == pointer) }
    }

    @Test(
        "consistent settings are accepted",
        arguments: [
            #"{"providerId": "oidc.a", "clientId": "c", "issuer": "https://id.example.com/"}"#,
            #"{"providerId": "oidc.a", "clientId": "c", "issuer": "http://localhost:8080", "allowInsecure": true, "trustEmail": true}"#,
            #"{"providerId": "oidc.a", "clientId": "c", "issuer": "https://id.example.com", "responseType": "code"}"#,
            #"{"providerId": "oidc.a", "clientId": "c", "issuer": "https://id.example.com", "scopes": ["x"], "openidOnly": true}"#,
            #"{"providerId": "google.com", "clientId": "c"}"#, #"{"providerId": "apple.com", "clientId": "c", "moreClientIds": ["d"]}"#,
            #"{"providerId": "microsoft.com", "clientId": "c", "issuer": "https://login.microsoftonline.com/x/v2.0"}"#,
            #"{"providerId": "github.com", "clientId": "c", "clientSecret": "s"}"#,
            #"{"providerId": "facebook.com", "clientId": "c", "endpoint": "https://graph.example/v9"}"#,
        ])
    func taken(_ settings: String) throws {
        let settings = try IdpCreate.Params(decoding: JSONText(settings).root)
        try IdpRules.check(settings, hasSecret: settings.clientSecret != nil, allowsPlainLoopback: false)
        let stored = try IdpCreate.Params(decoding: JSONText(JSONValue.object(settings.stored).text).root)
        #expect(stored.stored == settings.stored)
    }

    @Test("a provider ID must be a known provider or begin with oidc.")
    func names() {
        for name in ["oidc.", "oidc", "saml.a", "Google.com", "google.com.evil", "oidc.A", "oidc.a.", "twitter.com", "oidc. a"] {
            #expect(throws: InvalidParams.self, "\(name)") {
                try IdpGet.Params(decoding: JSONText(#"{"providerId": "\#(name)"}"#).root)
            }
        }
    }

    @Test("a stored secret is kept only while the issuer does not change")
    func secretsStay() throws {
        let vault = Vault(dataKey: SecretBytes(SystemRandom().bytes(32)), random: SystemRandom())
        let made = try IdpCreate.Params(
            decoding: JSONText(
                #"{"providerId": "oidc.a", "clientId": "c", "clientSecret": "hush", "issuer": "https://a.example", "responseType": "code"}"#
            ).root)
        let before = IdpRecord(made, IdpRecord.seal(made, vault), createdAt: 1, updatedAt: 1)
        #expect(before.settings.clientSecret == nil)
        let renamed = try IdpDeclaration(providerId: "oidc.a", displayName: "A").over(before, nil, at: 2, allowsPlainLoopback: false)
        #expect(try renamed.openSecret(vault) == "hush")
        #expect(throws: InvalidIdp.self) {
            try IdpDeclaration(providerId: "oidc.a", issuer: "https://b.example").over(before, nil, at: 2, allowsPlainLoopback: false)
        }
        let change = IdpDeclaration(providerId: "oidc.a", clientSecret: "other", issuer: "https://b.example")
        let moved = try change.over(before, change.sealedSecret(vault), at: 2, allowsPlainLoopback: false)
        #expect(try moved.openSecret(vault) == "other")
    }

    @Test("an address is trusted according to the rule of its provider")
    func trust() {
        let rows: [(KnownProvider, String, verified: Bool?, managed: Bool, Bool)] = [
            (.google, "a@gmail.com", true, false, true), (.google, "a@gmail.com", false, false, false),
            (.google, "a@corp.example", true, true, true), (.google, "a@corp.example", true, false, false),
            (.google, "a@gmail.com.evil.example", true, false, false), (.google, "a@gmail.com", nil, true, false),
            (.apple, "a@any.example", nil, false, true), (.apple, "a@any.example", false, false, false),
            (.microsoft, "a@outlook.com", nil, false, true), (.microsoft, "a@hotmail.com", true, false, true),
            (.microsoft, "a@outlook.com", false, false, false),
            (.microsoft, "a@corp.example", true, false, false), (.facebook, "a@gmail.com", true, true, false),
            (.github, "a@gmail.com", true, true, false),
        ]
        for (provider, email, isVerified, isManaged, trusted) in rows {
            func isTrusted(isOwnIssuer: Bool) -> Bool {
                provider.isTrusted(email: email, isVerified: isVerified, isManaged: isManaged, isOwnIssuer: isOwnIssuer)
            }
            #expect(isTrusted(isOwnIssuer: true) == trusted, "\(provider) \(email)")
            if provider == .microsoft { #expect(!isTrusted(isOwnIssuer: false)) }
        }
    }
}
