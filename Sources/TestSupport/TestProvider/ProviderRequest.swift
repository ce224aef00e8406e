import Accounts
import Loopback
import Platform

/// A parsed request to the test provider.
struct ProviderRequest: Sendable {
    let method: String
    /// The decoded components of the path.
    let path: [String]
    let query: ProviderParameters
    /// The parameters of a form body, or empty if there is no body.
    let form: ProviderParameters
    /// Whether the body is JSON, as in the registration of a client.
    let isJSON: Bool
    /// The original request.
    let whole: LoopbackRequest

    /// - Throws: `OAuthRefusal` if the parameters are not valid UTF-8 or the body is not a form.
    init(_ request: LoopbackRequest) throws {
        whole = request
        method = request.method == "HEAD" ? "GET" : request.method
        let path = request.target.prefix { $0 != "?" }
        self.path = path.split(separator: "/").map { String(decoding: PercentEncoding.decode(String($0)), as: UTF8.self) }
        query = try ProviderParameters(request.target.dropFirst(path.count + 1))
        let isRegistration = self.path.dropFirst().first == ProviderEndpoint.register.rawValue
        let type = request.header("content-type")?.lowercased().prefix { $0 != ";" }.filter { $0 != " " } ?? ""
        isJSON = isRegistration && type == "application/json"
        switch type {
        case "application/x-www-form-urlencoded":
            guard let body = String(validating: request.body, as: UTF8.self) else { throw OAuthRefusal.notUTF8 }
            form = try ProviderParameters(body)
        default:
            form = ProviderParameters()
            if !request.body.isEmpty, !isRegistration {
                throw OAuthRefusal(
                    "invalid_request",
                    "Send a form: Content-Type must be application/x-www-form-urlencoded, not \(type.isEmpty ? "empty" : type).")
            }
        }
    }

    /// Returns the credentials of a scheme in the `Authorization` header.
    func authorization(_ scheme: String) -> String? {
        guard let value = whole.header("authorization"), value.lowercased().hasPrefix(scheme.lowercased() + " ") else { return nil }
        return String(value.dropFirst(scheme.utf8.count).drop { $0 == " " })
    }

    /// Returns the value of a cookie.
    func cookie(_ name: String) -> String? {
        for (header, value) in whole.headers where header == "cookie" {
            for pair in value.split(separator: ";") {
                let pair = pair.drop { $0 == " " }
                if pair.hasPrefix(name + "=") { return String(pair.dropFirst(name.utf8.count + 1)) }
            }
        }
        return nil
    }

    /// Whether a browser sends the request from a page of another origin (RFC 6454 §7.3). Clients that are not browsers send no origin.
    var isFromElsewhere: Bool {
        guard let origin = whole.header("origin") else { return false }
        return origin.lowercased() != "http://\(whole.header("host") ?? "")".lowercased()
    }
}

/// The parameters of a query or a form.
struct ProviderParameters: Sendable {
    private(set) var pairs: [(name: String, value: String)] = []

    init() {}

    /// - Throws: `OAuthRefusal` if the text is not valid UTF-8.
    init(_ text: some StringProtocol) throws {
        guard let pairs = Form.decode(text) else { throw OAuthRefusal.notUTF8 }
        self.pairs = pairs
    }

    /// The first value of a parameter. An empty value counts as omitted (RFC 6749 §3.1).
    subscript(_ name: String) -> String? { pairs.first { $0.name == name && !$0.value.isEmpty }?.value }

    var isEmpty: Bool { pairs.isEmpty }

    /// The parameters that occur twice and may occur only once (RFC 6749 §3.1). RFC 8707 §2 allows several `resource` parameters.
    var repeated: [String] {
        var seen: Set<String> = []
        return pairs.map(\.name).filter { !seen.insert($0).inserted && $0 != "resource" }
    }

    /// Checks that no parameter is repeated and that a token has a single resource and audience.
    ///
    /// - Throws: `OAuthRefusal`.
    func checkRepeated() throws {
        if pairs.filter({ $0.name == "resource" }).count > 1 {
            throw OAuthRefusal("invalid_target", "A token has one resource: request a token for each resource.")
        }
        if repeated.contains("audience") {
            throw OAuthRefusal("invalid_target", "A token has one audience: request a token for each audience.")
        }
        if let name = repeated.first { throw OAuthRefusal("invalid_request", "\(name) occurs twice.") }
    }

    /// The parameters in URL encoding.
    var text: String { Form.encode(pairs.map { ($0.name, $0.value) }) }
}
