import FoundationEssentials
import JSON

/// An OpenID Connect provider on 127.0.0.1 with the accounts of the tenant `default`, for tests of a service. The service accepts
/// `token()`, and must refuse `expired()` and `foreign()`. Users sign in with their email address alone; an unknown address gets an
/// account.
public struct IdentityProvider: Sendable {
    /// The issuer of the tokens.
    public let issuer: String
    /// The URL of the public keys.
    public let jwksURL: String
    /// The URL of the discovery document.
    public let discoveryURL: String
    /// The audience of tokens for which no other one is given.
    public let audience: String
    private let base: String
    private let m: any Caller

    /// Starts the provider of a testing store.
    public static func start(_ m: some Caller, audience: String = "test") async throws -> IdentityProvider {
        let issuer: JSONValue = ["name": "default", "passwordless": true, "createAccounts": true]
        let started: JSONValue = try await m.call("test.idp", ["issuers": [issuer]])
        func text(_ name: String) -> String { started[name]?.string ?? "" }
        return IdentityProvider(
            issuer: text("issuer"), jwksURL: text("jwksUrl"), discoveryURL: text("discoveryUrl"), audience: audience,
            base: text("baseUrl") + "/", m: m)
    }

    /// Returns a valid access token. Its times are those of Mintmark's clock, which `test.clock` moves. The clock of your service does not
    /// move with it.
    ///
    /// - Parameter params: the parameters of `test.token` that replace the defaults, such as `["keyState": "wrong"]`.
    public func token(subject: String = "test-user", _ params: JSONObject = [:]) async throws -> String {
        var all: JSONObject = [
            "issuer": .string(issuer), "subject": .string(subject), "audience": .string(audience), "use": "access",
        ]
        for member in params.members { all[member.name] = member.value }
        let signed: JSONValue = try await m.call("test.token", all)
        return signed["token"]?.string ?? ""
    }

    /// Returns a token that expired an hour ago, by the clock of Mintmark and by the real time, and that is valid otherwise.
    public func expired(subject: String = "test-user", _ params: JSONObject = [:]) async throws -> String {
        let clock: JSONValue = try await m.call("test.clock")
        let end = min(clock["now"]?.int ?? 0, Int64(Date().timeIntervalSince1970)) - 3600
        var claims: JSONObject = ["iat": .number(JSONNumber(end - 3600)), "exp": .number(JSONNumber(end))]
        for member in params["claims"]?.object?.members ?? [] { claims[member.name] = member.value }
        var all = params
        all["claims"] = .object(claims)
        return try await token(subject: subject, all)
    }

    /// Returns a token of an issuer that your service does not know, and that is valid otherwise.
    public func foreign(subject: String = "test-user", _ params: JSONObject = [:]) async throws -> String {
        let issuers: JSONValue = try await m.call("test.idp", ["issuers": [["name": "foreign"]]])
        var all = params
        all["issuer"] = issuers["issuers"]?.array?.first { $0["name"] == "foreign" }?["issuer"]
        return try await token(subject: subject, all)
    }

    /// A request that a login sends.
    public struct Request: Sendable {
        public let url: String
        /// The header `Cookie`, or nil if there are no cookies.
        public let cookie: String?
        /// The form to send with POST, or nil for GET.
        public let form: String?
    }

    /// A response to a login's request. The client must not follow redirects.
    public struct Response: Sendable {
        public let status: Int
        /// The header `Location`.
        public let location: String?
        /// The values of the headers `Set-Cookie`.
        public let cookies: [String]
        public let body: String

        public init(status: Int, location: String? = nil, cookies: [String] = [], body: String) {
            (self.status, self.location, self.cookies, self.body) = (status, location, cookies, body)
        }
    }

    /// A login that did not lead to the provider, or that the provider refused.
    public struct LoginFailure: Error, CustomStringConvertible {
        public let description: String
    }

    /// Signs a user in at your service as a browser does.
    ///
    /// - Parameters:
    ///   - page: the URL of the page that starts the login by a redirect to the provider.
    ///   - send: sends a request with your HTTP client, without following redirects.
    /// - Returns: the last response of the service, and the header `Cookie` with which the user is signed in there.
    /// - Throws: a `LoginFailure`, or an error of `send`.
    public func login(
        _ email: String, at page: String, send: (Request) async throws -> Response
    ) async throws -> (response: Response, cookie: String?) {
        var browser = Browser()
        var (url, form, origin) = (page, String?.none, String?.none)
        var response = try await browser.send(url, form, by: send)
        for _ in 0..<20 {
            guard let next = response.location.flatMap({ Browser.resolve($0, at: url) }) else { break }
            if next.hasPrefix(base) {
                (url, form) = try await signIn(email, at: next, send)
                origin = Browser.origin(url)
            } else if let origin, Browser.origin(next) != origin {
                break  // The service sends the browser elsewhere; the login is over.
            } else {
                (url, form) = (next, nil)
            }
            response = try await browser.send(url, form, by: send)
        }
        guard let origin else {
            throw LoginFailure(
                description: """
                    \(page) does not lead to the provider: the last answer of the service has the status \(response.status). Configure \
                    the issuer \(issuer) in the service.
                    """)
        }
        return (response, browser.cookie(origin))
    }

    /// Sends the form of the login page. Returns what the browser sends to the service next.
    private func signIn(_ email: String, at page: String, _ send: (Request) async throws -> Response) async throws -> (String, String?) {
        var browser = Browser()
        var url = page
        var response = try await browser.send(url, "step=address&email=\(Browser.encoded(email))", by: send)
        while let next = response.location.flatMap({ Browser.resolve($0, at: url) }) {
            if !next.hasPrefix(base) { return (next, nil) }
            url = next
            response = try await browser.send(url, nil, by: send)
        }
        throw LoginFailure(
            description: "The provider has not signed in \(email): status \(response.status), \(Browser.words(response.body))")
    }

    /// The cookies of a login, by origin.
    private struct Browser {
        private var cookies: [String: [(name: String, value: String)]] = [:]

        mutating func send(_ url: String, _ form: String?, by send: (Request) async throws -> Response) async throws -> Response {
            let origin = Self.origin(url)
            let response = try await send(Request(url: url, cookie: cookie(origin), form: form))
            for line in response.cookies {
                let pair = line.prefix { $0 != ";" }
                let name = String(pair.prefix { $0 != "=" })
                cookies[origin, default: []].removeAll { $0.name == name }
                cookies[origin, default: []].append((name, String(pair.dropFirst(name.count + 1))))
            }
            return response
        }

        func cookie(_ origin: String) -> String? {
            let all = cookies[origin] ?? []
            return all.isEmpty ? nil : all.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
        }

        static func origin(_ url: String) -> String { url.split(separator: "/", maxSplits: 3).prefix(2).joined(separator: "//") }

        static func resolve(_ location: String, at url: String) -> String {
            location.contains("://") ? location : location.hasPrefix("/") ? origin(url) + location : origin(url) + "/" + location
        }

        static func encoded(_ text: String) -> String {
            text.utf8.map { byte in
                let isPlain = byte < 128 && (Character(UnicodeScalar(byte)).isLetter || Character(UnicodeScalar(byte)).isNumber)
                let digits = String(byte, radix: 16, uppercase: true)
                return isPlain ? String(UnicodeScalar(byte)) : "%" + (digits.count == 1 ? "0" : "") + digits
            }.joined()
        }

        /// Returns the text of a page without its tags.
        static func words(_ page: String) -> String {
            let body = page.split(separator: "</style>").last.map(String.init) ?? page
            let text = body.split(separator: "<").map { part in part.split(separator: ">", maxSplits: 1).dropFirst().joined() }
            return String(text.joined(separator: " ").split(whereSeparator: \.isWhitespace).joined(separator: " ").prefix(300))
        }
    }
}
