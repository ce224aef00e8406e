import IdentityPools
import Platform

/// The endpoints of the API.
enum EntraEndpoint: String, CaseIterable {
    case signUpStart = "signup/v1.0/start"
    case signUpChallenge = "signup/v1.0/challenge"
    case signUpContinue = "signup/v1.0/continue"
    case initiate = "oauth2/v2.0/initiate"
    case challenge = "oauth2/v2.0/challenge"
    case introspect = "oauth2/v2.0/introspect"
    case token = "oauth2/v2.0/token"
    case resetStart = "resetpassword/v1.0/start"
    case resetChallenge = "resetpassword/v1.0/challenge"
    case resetContinue = "resetpassword/v1.0/continue"
    case resetSubmit = "resetpassword/v1.0/submit"
    case resetPoll = "resetpassword/v1.0/poll_completion"
    case registerIntrospect = "register/v1.0/introspect"
    case registerChallenge = "register/v1.0/challenge"
    case registerContinue = "register/v1.0/continue"
    case configuration = "v2.0/.well-known/openid-configuration"
    case keys = "discovery/v2.0/keys"
    case authorize = "oauth2/v2.0/authorize"
    case authorizeChallenge = "oauth2/v2.0/authorize-challenge"
    case serverMetadata = ".well-known/oauth-authorization-server"
}

/// The tenant and the endpoint of a request.
struct EntraAddress {
    let tenantId: String
    /// `nil` for a path that the API does not have.
    let endpoint: EntraEndpoint?

    /// - Returns: `nil` if the request is addressed to another API.
    init?(_ request: WireRequest) {
        let (host, path) = Self.parts(of: request)
        let first: Substring
        if let found = EntraEndpoint.allCases.first(where: { path == $0.rawValue || path.hasSuffix("/" + $0.rawValue) }) {
            first = path.dropLast(found.rawValue.count)
            endpoint = found
        } else {
            let whole = path + "/"
            first = Self.families.contains(where: whole.hasPrefix) ? "" : whole.prefix { $0 != "/" } + "/"
            guard Self.families.contains(where: whole.dropFirst(first.count).hasPrefix) else { return nil }
            endpoint = nil
        }
        guard !first.dropLast().contains("/") else { return nil }
        let name = first.isEmpty ? Self.named(by: host) : String(decoding: PercentEncoding.decode(String(first.dropLast())), as: UTF8.self)
        guard let name, !name.isEmpty, !name.utf8.contains(0) else { return nil }
        tenantId = name.lowercased().hasSuffix(Self.domain) ? String(name.dropLast(Self.domain.count)) : name
    }

    private static let domain = ".onmicrosoft.com"
    /// The paths below a tenant whose endpoints are all of this API, including those that it does not have.
    private static let families = ["signup/v1.0/", "oauth2/v2.0/", "resetpassword/v1.0/", "register/v1.0/"]

    /// Returns the host, and the path without its slashes at the start and the end.
    private static func parts(of request: WireRequest) -> (host: String, path: Substring) {
        var (text, host) = (Substring(request.url), request.header("host") ?? "")
        if !text.hasPrefix("/") {
            text = text.drop { $0 != ":" }.dropFirst(3)
            host = String(text.prefix { $0 != "/" })
            text = text.drop { $0 != "/" }
        }
        text = text.prefix { $0 != "?" && $0 != "#" }.drop { $0 == "/" }
        return (host, text.hasSuffix("/") ? text.dropLast() : text)
    }

    /// Returns the tenant that a host such as `shop.ciamlogin.com` names.
    private static func named(by host: String) -> String? {
        let name = host.prefix { $0 != ":" }
        return name.lowercased().hasSuffix(".ciamlogin.com") ? String(name.dropLast(".ciamlogin.com".count)) : nil
    }

    /// The base URL of the endpoints of a tenant.
    static func base(of request: WireRequest, tenantId: String) -> String {
        let host = parts(of: request).host
        let isAbsolute = request.url.hasPrefix("https://")
        return "\(isAbsolute ? "https" : "http")://\(host)/\(tenantId)"
    }
}

/// The parameters of a form body. Parameters of the query are ignored, because applications add their own.
struct EntraForm {
    private let values: [String: String]

    /// - Throws: `EntraError` if the body is not a form in UTF-8, or a parameter occurs twice.
    init(_ request: WireRequest) throws {
        let type = request.header("content-type")?.prefix { $0 != ";" }.lowercased() ?? ""
        guard request.body.isEmpty || type.filter({ $0 != " " }) == "application/x-www-form-urlencoded" else {
            throw EntraError("invalid_request", 90100, "The Content-Type of the request must be application/x-www-form-urlencoded.")
        }
        var values: [String: String] = [:]
        let form = WireRequest(method: "POST", url: "/", headers: request.headers, body: request.body)
        for (name, value) in form.parameters where !name.isEmpty {
            guard !value.unicodeScalars.contains(where: { $0 == "\0" || $0 == "\u{FFFD}" }) else {
                throw EntraError("invalid_request", 90100, "The parameter \(name) is not UTF-8, or contains the character U+0000.")
            }
            guard values.updateValue(value, forKey: name) == nil else {
                throw EntraError("invalid_request", 90100, "The parameter \(name) occurs twice.")
            }
        }
        self.values = values
    }

    /// The value of a parameter that is not empty.
    subscript(name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// Whether a parameter occurs with an empty value.
    func isEmpty(_ name: String) -> Bool { values[name]?.isEmpty == true }

    /// - Throws: `EntraError` if the parameter is missing or empty.
    func required(_ name: String) throws -> String {
        guard let value = self[name] else {
            throw EntraError("invalid_request", 900144, "The request body must contain the following parameter: '\(name)'.")
        }
        return value
    }

    /// The words of a set, separated by spaces or commas.
    func words(_ name: String) -> [String] { (self[name] ?? "").split { $0 == " " || $0 == "," }.map(String.init) }
}

/// Times in the format of the API's errors.
enum EntraTime {
    static func text(_ seconds: Int64) -> String {
        String(PolicyDate.text(seconds).map { $0 == "T" ? " " : $0 })
    }
}
