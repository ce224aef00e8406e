/// A response with any status.
public struct HTTPResponse: Sendable {
    /// The status code, such as 200 or 404.
    public let status: Int
    /// Names and values as received, in order.
    public let headers: [(name: String, value: String)]
    public let body: [UInt8]

    public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Returns the value of the first header with this name. The comparison is case-insensitive.
    public func header(_ name: String) -> String? {
        let name = name.lowercased()
        return headers.first { $0.name.lowercased() == name }?.value
    }

    /// The media type in lower case, without parameters: `application/json`.
    public var contentType: String? {
        header("content-type")?.split(separator: ";", omittingEmptySubsequences: false).first.map { trimmed($0).lowercased() }
    }

    /// The number of seconds for which the response can be cached (RFC 9111 section 5.2.2): `max-age` minus `Age`, 0 for `no-store` and
    /// `no-cache`, `nil` without a directive. Numbers that are too large count as 2^31 (section 1.2.2).
    public var maxAgeSeconds: Int? {
        var maxAge: Int?
        for (name, value) in headers where name.lowercased() == "cache-control" {
            for directive in value.lowercased().split(separator: ",") {
                let parts = directive.split(separator: "=", maxSplits: 1).map { trimmed($0) }
                switch parts.first {
                case "no-store", "no-cache": return 0
                case "max-age" where parts.count == 2 && maxAge == nil:
                    maxAge = seconds(parts[1].filter { $0 != "\"" }) ?? 0
                default: break
                }
            }
        }
        return maxAge.map { max(0, $0 - (header("age").flatMap { seconds(trimmed($0)) } ?? 0)) }
    }
}

/// Parses a number of seconds in an HTTP header. Returns `nil` unless the text consists of digits.
private func seconds(_ text: String) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return min(Int(text) ?? .max, 1 << 31)
}

/// Returns the text without spaces and tabs at both ends.
func trimmed(_ text: some StringProtocol) -> String {
    let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
    let bytes = text.utf8.drop(while: isBlank)
    return String(decoding: bytes.reversed().drop(while: isBlank).reversed(), as: UTF8.self)
}
