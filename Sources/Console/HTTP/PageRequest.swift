import Loopback
import Platform

/// Names with values, in order: the query of a URL or the fields of a form.
struct Fields: Sendable {
    private(set) var all: [(name: String, value: String)] = []

    init(_ all: [(name: String, value: String)] = []) { self.all = all }

    /// Parses `application/x-www-form-urlencoded` text (URL Standard, section 5.1).
    init(encoded text: some StringProtocol) {
        func decoded(_ part: Substring.SubSequence) -> String {
            String(decoding: PercentEncoding.decode(String(part.map { $0 == "+" ? " " : $0 })), as: UTF8.self)
        }
        for pair in String(text).split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            all.append((decoded(parts[0]), parts.count > 1 ? decoded(parts[1]) : ""))
        }
    }

    /// The last value of `name`, or `nil`.
    subscript(_ name: String) -> String? { all.last { $0.name == name }?.value }

    /// The last value of `name` without surrounding spaces, or `nil` if it is empty.
    func given(_ name: String) -> String? {
        let value = self[name].map { String($0.drop { $0.isWhitespace }) } ?? ""
        let end = value.lastIndex { !$0.isWhitespace }
        return end.map { String(value[...$0]) }
    }

    mutating func add(_ name: String, _ value: String) { all.append((name, value)) }
}

/// A request with its parts.
struct PageRequest: Sendable {
    let method: String
    /// The path without its query, decoded, by segment.
    let path: [String]
    let query: Fields
    let form: Fields
    let cookie: String?
    let headers: LoopbackRequest
    /// The session of the browser; empty before the request is admitted.
    var formToken = ""

    init(_ request: LoopbackRequest, cookieName: String) {
        let parts = request.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        method = request.method == "HEAD" ? "GET" : request.method
        path = parts[0].split(separator: "/").map { String(decoding: PercentEncoding.decode(String($0)), as: UTF8.self) }
        query = Fields(encoded: parts.count > 1 ? parts[1] : "")
        let isForm = request.header("content-type")?.lowercased().hasPrefix("application/x-www-form-urlencoded") ?? false
        form = isForm ? Fields(encoded: String(decoding: request.body, as: UTF8.self)) : Fields()
        cookie = Self.cookie(cookieName, in: request)
        headers = request
    }

    private static func cookie(_ name: String, in request: LoopbackRequest) -> String? {
        for header in request.headers where header.name == "cookie" {
            for pair in header.value.split(separator: ";") {
                let pair = pair.drop { $0 == " " }
                if pair.hasPrefix(name + "=") { return String(pair.dropFirst(name.utf8.count + 1)) }
            }
        }
        return nil
    }

    /// The path and query of this request, without the one-time token.
    var place: String {
        let rest = query.all.filter { $0.name != "token" }
        return Self.url(path, rest)
    }

    /// Returns a path with a query.
    static func url(_ path: [String], _ query: [(name: String, value: String)] = []) -> String {
        let encoded = query.map { "\(PercentEncoding.encode($0.name))=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
        return "/" + path.map { PercentEncoding.encode($0) }.joined(separator: "/") + (encoded.isEmpty ? "" : "?" + encoded)
    }
}
