import Contract
import Crypto
import Loopback
import Testing

@testable import Accounts
@testable import ServiceContext

@Suite("authorization at an identity provider and the callback")
struct AuthorizationTests {

    static func flow(_ kind: IdpFlow.Kind = .code, redirectUri: String = "https://shop.example.com/back", namesIssuer: Bool = false)
        -> IdpFlow
    {
        IdpFlow(
            id: "00112233445566778899aabbccddeeff", tenantId: "default", providerId: "oidc.work", kind: kind, accountId: nil,
            redirectUri: redirectUri, isHeard: false, tokenEndpoint: "https://login.example.com/token", namesIssuer: namesIssuer,
            expiresAt: 1000)
    }

    func callback(_ url: String, _ flow: IdpFlow = AuthorizationTests.flow()) throws -> AuthorizationCallback {
        try AuthorizationCallback(url, flow, state: "s", issuers: ["https://login.example.com"])
    }

    func check(_ url: String, _ flow: IdpFlow = AuthorizationTests.flow()) -> String? {
        do { _ = try callback(url, flow) } catch { return (error as? CallbackInvalid)?.check ?? (error as? SignInRefused)?.error }
        return nil
    }

    @Test("a callback for the flow contains its code, in the query or the fragment")
    func code() throws {
        #expect(try callback("https://shop.example.com/back?code=a%2Bb&state=s") == .code("a+b"))
        #expect(try callback("https://shop.example.com/back?code=c&state=s&iss=https%3A%2F%2Flogin.example.com#x") == .code("c"))
        #expect(try callback("https://shop.example.com/back#id_token=t&state=s", Self.flow(.idToken)) == .idToken("t", accessToken: nil))
        #expect(try callback("com.example.shop:/back?code=c&state=s", Self.flow(redirectUri: "com.example.shop:/back")) == .code("c"))
    }

    @Test("a callback that does not match the flow is rejected with the name of the failed check")
    func refusals() {
        #expect(check("https://evil.example.com/back?code=c&state=s") == "redirectUri")
        #expect(check("https://shop.example.com/back/more?code=c&state=s") == "redirectUri")
        #expect(check("https://shop.example.com/back?code=c") == "state")
        #expect(check("https://shop.example.com/back?code=c&state=S") == "state")
        #expect(check("https://shop.example.com/back?code=c&state=s#state=s") == "malformed")
        #expect(check("https://shop.example.com/back?code=%ff&state=s") == "malformed")
        #expect(check("https://shop.example.com/back?code=c&state=s&iss=https%3A%2F%2Flogin.example.com%2F") == "issuer")
        #expect(check("https://shop.example.com/back?code=c&state=s", Self.flow(namesIssuer: true)) == "issuer")
        #expect(check("https://shop.example.com/back?error=access_denied&state=s", Self.flow(namesIssuer: true)) == "access_denied")
        #expect(check("https://shop.example.com/back?error=access_denied&state=s&iss=https%3A%2F%2Fevil.example") == "issuer")
        #expect(check("https://shop.example.com/back?state=s") == "missing")
        #expect(check("https://shop.example.com/back?code=c&state=s", Self.flow(.idToken)) == "missing")
        #expect(check("https://shop.example.com/back?error=access_denied&state=s") == "access_denied")
        #expect(check("https://shop.example.com/back?error=access_denied&state=x") == "state")
    }

    @Test("a redirect URI must use HTTPS, a loopback address or a reverse-domain scheme")
    func redirects() {
        for uri in ["https://a.example/b?c=d", "http://127.0.0.1:1/x", "http://[::1]/x", "http://localhost", "com.example:/x"] {
            #expect(throws: Never.self) { try RedirectRule.check(uri) }
        }
        for uri in [
            "http://a.example/b", "javascript:alert(1)", "data:text/html,x", "https://", "https://u@a.example/", "https://a.example/#f",
            "x y:/",
            "shop:/back", "", "//a.example", "1.2:/x",
        ] {
            #expect(throws: InvalidParams.self, "\(uri)") { try RedirectRule.check(uri) }
        }
    }

    @Test("the loopback page accepts one callback with the flow's state, and its pages contain no markup from the provider")
    func loopback() {
        let question = CallbackListener.Question(id: "1", path: "/p", state: "s", providerName: "<Work>")
        func judge(_ method: String, _ target: String, _ body: String = "", type: String = "application/x-www-form-urlencoded") -> (
            Bool, Int
        ) {
            let request = LoopbackRequest(method: method, target: target, headers: [("content-type", type)], body: Array(body.utf8))
            switch CallbackRequest.judge(request, question) {
            case .heard(_, let page): return (true, page.status)
            case .refused(let page): return (false, page.status)
            }
        }
        #expect(judge("GET", "/p?code=c&state=s") == (true, 200))
        #expect(judge("POST", "/p", "id_token=t&state=s") == (true, 200))
        #expect(judge("GET", "/p?error=access_denied&state=s") == (true, 200))
        #expect(judge("POST", "/p", "id_token=t&state=s", type: "text/plain") == (false, 400))
        #expect(judge("GET", "/p?code=c&state=t") == (false, 400))
        #expect(judge("GET", "/p?code=c&state=s&state=s") == (false, 400))
        #expect(judge("GET", "/q?code=c&state=s") == (false, 404))
        #expect(judge("DELETE", "/p?code=c&state=s") == (false, 405))
        let page = CallbackPage.refused(by: "<Work>", "access_denied", "<b>no</b>")
        let text = String(decoding: page.response.body, as: UTF8.self)
        #expect(text.contains("&lt;Work&gt; did not sign you in") && text.contains("&lt;b&gt;no"))
        #expect(!text.contains("<Work>") && !text.contains("<b>"))
    }

    @Test("the secrets derived from a flow ID are distinct and bound to the flow")
    func secrets() throws {
        let vault = Vault(dataKey: SecretBytes(SystemRandom().bytes(32)), random: SystemRandom())
        let secrets = IdpFlowSecrets(vault)
        let all = ["a", "b"].flatMap { [secrets.state(of: $0), secrets.nonce(of: $0), secrets.verifier(of: $0), secrets.path(of: $0)] }
        #expect(Set(all).count == 8)
        #expect(all.allSatisfy { $0.utf8.count == 43 })
        #expect(try secrets.open(secrets.seal("code", of: "a"), of: "a") == "code")
        #expect(throws: (any Error).self) { try secrets.open(secrets.seal("code", of: "a"), of: "b") }
    }
}
