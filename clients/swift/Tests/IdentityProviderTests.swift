import Crypto
import Glibc
import JSON
import Loopback
import MintmarkClient
import MintmarkInProcess
import Synchronization
import Testing

@Suite("The identity provider for tests of a service", .timeLimit(.minutes(10)))
struct IdentityProviderTests {
    /// A service that signs users in at one issuer, and whose API trusts access tokens of this issuer.
    private final class SmallService: Sendable {
        struct Refused: Error { let reason: String }

        private let idp: IdentityProvider
        private let server = Mutex<LoopbackServer?>(nil)
        let url: String

        init(_ idp: IdentityProvider) throws {
            self.idp = idp
            let box = Handler()
            let started = try LoopbackServer { box.answer($0) }
            url = started.baseURL
            server.withLock { $0 = started }
            box.body.withLock { $0 = { [weak self] in self?.answer($0) ?? LoopbackResponse(status: 500) } }
        }

        func stop() { server.withLock { $0?.stop() } }

        /// Returns the customer of an access token, or the reason for which it is refused.
        func orders(_ token: String) throws -> String {
            do { return try verified(token, idp.audience)["sub"]?.string ?? "" } catch let refused as Refused { return refused.reason }
        }

        private func answer(_ request: LoopbackRequest) -> LoopbackResponse {
            let parts = request.target.split(separator: "?", maxSplits: 1).map(String.init)
            let cookie = request.header("Cookie") ?? request.header("cookie") ?? ""
            do {
                switch parts[0] {
                case "/login":
                    let query = "client_id=shop&response_type=code&redirect_uri=\(url)/back&scope=openid%20email&state=s1"
                    let location = try discovery("authorization_endpoint") + "?" + query
                    return LoopbackResponse(status: 302, headers: [("Location", location), ("Set-Cookie", "state=s1; Path=/")])
                case "/back":
                    let given = parts[1].split(separator: "&").first { $0.hasPrefix("code=") }?.dropFirst(5) ?? ""
                    guard parts[1].contains("state=s1"), cookie.contains("state=s1") else { throw Refused(reason: "wrong state") }
                    let form = "grant_type=authorization_code&code=\(given)&redirect_uri=\(url)/back&client_id=shop"
                    let tokens = try JSONValue(
                        parsing: Array(IdentityProviderTests.fetch(discovery("token_endpoint"), form: form).body.utf8))
                    let email = try verified(tokens["id_token"]?.string ?? "", "shop")["email"]?.string ?? ""
                    return LoopbackResponse(status: 303, headers: [("Location", "/me"), ("Set-Cookie", "user=\(email); Path=/")])
                default:
                    let user = cookie.split(separator: "; ").first { $0.hasPrefix("user=") }
                    return LoopbackResponse(
                        status: user == nil ? 401 : 200, body: Array((user?.dropFirst(5)).map(String.init)?.utf8 ?? "not signed in".utf8))
                }
            } catch {
                return LoopbackResponse(status: 401, text: "\(error)")
            }
        }

        private func discovery(_ name: String) throws -> String {
            try JSONValue(parsing: Array(IdentityProviderTests.fetch(idp.discoveryURL).body.utf8))[name]?.string ?? ""
        }

        private func verified(_ token: String, _ audience: String) throws -> JSONValue {
            let keys = try JWKSet(JSONText(Array(IdentityProviderTests.fetch(idp.jwksURL).body.utf8)).root)
            let jws = try JWS.parse(token)
            guard let key = keys.key(for: jws.header) else { throw Refused(reason: "unknown key") }
            guard let proven = try? jws.verify(with: key) else { throw Refused(reason: "wrong signature") }
            let claims = try JSONValue(parsing: proven.payload)
            guard claims["iss"]?.string == idp.issuer else { throw Refused(reason: "wrong issuer") }
            guard claims["aud"]?.string == audience else { throw Refused(reason: "wrong audience") }
            guard claims["exp"]?.int ?? 0 > time(nil) else { throw Refused(reason: "expired") }
            return claims
        }
    }

    private final class Handler: Sendable {
        let body = Mutex<@Sendable (LoopbackRequest) -> LoopbackResponse>({ _ in LoopbackResponse(status: 503) })

        func answer(_ request: LoopbackRequest) -> LoopbackResponse { body.withLock { $0 }(request) }
    }

    /// Sends a request over a connection of its own.
    fileprivate static func fetch(_ url: String, cookie: String? = nil, form: String? = nil) throws -> IdentityProvider.Response {
        let parts = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true)
        let port = UInt16(parts[1].split(separator: ":")[1]) ?? 0
        let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(file) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        try #require(status == 0)
        var head =
            "\(form == nil ? "GET" : "POST") /\(parts.count > 2 ? parts[2] : "") HTTP/1.1\r\nHost: \(parts[1])\r\nConnection: close\r\n"
        if let cookie { head += "Cookie: \(cookie)\r\n" }
        if let form { head += "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: \(form.utf8.count)\r\n" }
        var rest = Array((head + "\r\n" + (form ?? "")).utf8)[...]
        while !rest.isEmpty { rest = rest.dropFirst(rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = read(file, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
        let text = String(decoding: bytes, as: UTF8.self)
        let end = try #require(text.firstRange(of: "\r\n\r\n"))
        let lines = text[..<end.lowerBound].split(separator: "\r\n")
        let headers = lines.dropFirst().map { line in
            let pair = line.split(separator: ":", maxSplits: 1)
            return (name: pair[0].lowercased(), value: pair[1].drop { $0 == " " })
        }
        return IdentityProvider.Response(
            status: Int(lines[0].split(separator: " ")[1]) ?? 0, location: headers.first { $0.name == "location" }.map { String($0.value) },
            cookies: headers.filter { $0.name == "set-cookie" }.map { String($0.value) }, body: String(text[end.upperBound...]))
    }

    private func with(_ body: (TestingMintmark, IdentityProvider, SmallService) async throws -> Void) async throws {
        let m = try await TestingMintmark.inProcess(log: .discarded)
        let idp = try await IdentityProvider.start(m, audience: "orders")
        let service = try SmallService(idp)
        try await body(m, idp, service)
        service.stop()
        await m.close()
    }

    @Test("a service accepts only valid tokens of the identity provider")
    func tokens() async throws {
        try await with { _, idp, service in
            func expect(_ token: String, _ wanted: String) throws {
                let said = try service.orders(token)
                #expect(said == wanted)
            }
            try await expect(idp.token(), "test-user")
            try await expect(idp.token(subject: "alice", ["claims": ["roles": ["admin"]]]), "alice")
            try await expect(idp.expired(), "expired")
            try await expect(idp.foreign(), "unknown key")
            try await expect(idp.token(["audience": "billing"]), "wrong audience")
            try await expect(idp.token(["keyState": "wrong"]), "wrong signature")
        }
    }

    @Test("the clock of Mintmark does not move the clock of the service, and an expired token has expired for both")
    func clocks() async throws {
        try await with { m, idp, service in
            let good = try await idp.token()
            for seconds in [7200, -14400] as [Int64] {
                let _: JSONValue = try await m.call("test.clock", ["advanceSeconds": .number(JSONNumber(seconds))])
                let said = [try service.orders(good), try service.orders(await idp.expired())]
                #expect(said == ["test-user", "expired"])
            }
        }
    }

    @Test("a user signs in at a service, and a login that fails says why")
    func logins() async throws {
        try await with { m, idp, service in
            func login(_ email: String, at path: String = "/login") async throws -> (response: IdentityProvider.Response, cookie: String?) {
                try await idp.login(email, at: service.url + path) { try Self.fetch($0.url, cookie: $0.cookie, form: $0.form) }
            }
            let done = try await login("alice@example.com")
            #expect(done.response.status == 200 && done.response.body == "alice@example.com")
            let again = try Self.fetch(service.url + "/me", cookie: done.cookie)
            #expect(again.body == "alice@example.com")
            var failure = await #expect(throws: IdentityProvider.LoginFailure.self) { try await login("alice@example.com", at: "/me") }
            #expect(
                failure?.description.contains("/me does not lead to the provider: the last answer of the service has the status 401")
                    == true)
            let account: JSONValue = try await m.call("account.create", ["username": "dave@example.com"])
            let _: JSONValue = try await m.call("account.update", ["accountId": account["accountId"] ?? .null, "disabled": true])
            failure = await #expect(throws: IdentityProvider.LoginFailure.self) { try await login("dave@example.com") }
            #expect(failure?.description.contains("has not signed in dave@example.com: status ") == true)
        }
    }
}
