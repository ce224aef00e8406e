import Accounts
import Loopback
import Platform

/// A request to the provider for tests, taken apart.
struct ProviderRequest: Sendable {
    let method: String
    /// Between slashes, decoded.
    let path: [String]
    let query: ProviderParameters
    /// What a form has brought; empty for other bodies.
    let form: ProviderParameters
    /// As it came.
    let whole: LoopbackRequest

    /// - Throws: `OAuthRefusal` for what is not UTF-8, or no form.
    init(_ request: LoopbackRequest) throws {
        whole = request
        method = request.method == "HEAD" ? "GET" : request.method
        let path = request.target.prefix { $0 != "?" }
        self.path = path.split(separator: "/").map { String(decoding: PercentEncoding.decode(String($0)), as: UTF8.self) }
        query = try ProviderParameters(request.target.dropFirst(path.count + 1))
        let type = request.header("content-type")?.lowercased().prefix { $0 != ";" }.filter { $0 != " " } ?? ""
        switch type {
        case "application/x-www-form-urlencoded":
            guard let body = String(validating: request.body, as: UTF8.self) else { throw OAuthRefusal.notUTF8 }
            form = try ProviderParameters(body)
        default:
            form = ProviderParameters()
            if !request.body.isEmpty {
                throw OAuthRefusal(
                    "invalid_request",
                    "Send a form: Content-Type must be application/x-www-form-urlencoded, not \(type.isEmpty ? "empty" : type).")
            }
        }
    }

    /// The credentials of a scheme in the Authorization header.
    func authorization(_ scheme: String) -> String? {
        guard let value = whole.header("authorization"), value.lowercased().hasPrefix(scheme.lowercased() + " ") else { return nil }
        return String(value.dropFirst(scheme.utf8.count).drop { $0 == " " })
    }

    /// The value of a cookie.
    func cookie(_ name: String) -> String? {
        for (header, value) in whole.headers where header == "cookie" {
            for pair in value.split(separator: ";") {
                let pair = pair.drop { $0 == " " }
                if pair.hasPrefix(name + "=") { return String(pair.dropFirst(name.utf8.count + 1)) }
            }
        }
        return nil
    }

    /// Whether a browser sends it for a page of somebody else (RFC 6454 7.3). What is no browser names no origin.
    var isFromElsewhere: Bool {
        guard let origin = whole.header("origin") else { return false }
        return origin.lowercased() != "http://\(whole.header("host") ?? "")".lowercased()
    }
}

/// The parameters of a query or a form.
struct ProviderParameters: Sendable {
    private(set) var pairs: [(name: String, value: String)] = []

    init() {}

    /// - Throws: `OAuthRefusal` for what is not UTF-8.
    init(_ text: some StringProtocol) throws {
        guard let pairs = Form.decode(text) else { throw OAuthRefusal.notUTF8 }
        self.pairs = pairs
    }

    /// The first value of a parameter; one that is empty counts as left out (RFC 6749 3.1).
    subscript(_ name: String) -> String? { pairs.first { $0.name == name && !$0.value.isEmpty }?.value }

    var isEmpty: Bool { pairs.isEmpty }

    /// Those that are there twice and may be there once (RFC 6749 3.1; RFC 8707 2 lets `resource` be there often).
    var repeated: [String] {
        var seen: Set<String> = []
        return pairs.map(\.name).filter { !seen.insert($0).inserted && $0 != "resource" }
    }

    /// What may be there once is there once, and a token is for one alone.
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

    /// As they are written in an address.
    var text: String { Form.encode(pairs.map { ($0.name, $0.value) }) }
}
