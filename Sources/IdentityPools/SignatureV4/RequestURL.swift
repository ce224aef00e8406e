/// The components of a request URL, unchanged: an absolute URL or a path with a query.
///
/// The parser works on bytes, because in Swift a `/` followed by a combining mark is one character, while other software treats it as a
/// slash.
package struct RequestURL: Sendable {
    /// The `Host` header that a client derives from the URL: lowercase, without user information and the default port. `nil` if the URL has
    /// no authority.
    let host: String?
    let path: String
    /// The parameters as written, in their order, including empty ones.
    package let parameters: [(name: String, value: String)]
    private let scheme: String

    package init(_ url: String) {
        var rest = Array(url.utf8).prefix { $0 != UInt8(ascii: "#") }
        let scheme = Self.scheme(of: rest)
        self.scheme = scheme ?? ""
        if let scheme {
            rest = rest.dropFirst(scheme.utf8.count + 3)
            let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
            let name = authority.lastIndex(of: UInt8(ascii: "@")).map { authority[($0 + 1)...] } ?? authority
            host = Self.withoutPort(String(decoding: name, as: UTF8.self), of: scheme)
            rest = rest[authority.endIndex...]
        } else {
            host = nil
        }
        let path = rest.prefix { $0 != UInt8(ascii: "?") }
        let query = rest[path.endIndex...].dropFirst()
        self.path = String(decoding: path, as: UTF8.self)
        parameters = query.isEmpty ? [] : query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map(Self.parameter)
    }

    /// Returns whether a `Host` header matches the host of this URL. Always `true` if the URL has no host.
    func isFor(hostHeader: String) -> Bool { host == nil || host == Self.withoutPort(hostHeader, of: scheme) }

    private static func parameter(_ pair: ArraySlice<UInt8>) -> (name: String, value: String) {
        let name = pair.prefix { $0 != UInt8(ascii: "=") }
        return (String(decoding: name, as: UTF8.self), String(decoding: pair[name.endIndex...].dropFirst(), as: UTF8.self))
    }

    /// Returns the lowercase scheme of an absolute URL (RFC 3986 §3.1).
    private static func scheme(of url: ArraySlice<UInt8>) -> String? {
        let scheme = url.prefix { isLetter($0) || 0x30...0x39 ~= $0 || "+-.".utf8.contains($0) }
        guard let first = scheme.first, isLetter(first), url[scheme.endIndex...].starts(with: "://".utf8) else { return nil }
        return String(decoding: scheme, as: UTF8.self).lowercased()
    }

    private static func withoutPort(_ authority: String, of scheme: String) -> String {
        let host = authority.lowercased()
        let port = ["https": ":443", "wss": ":443", "http": ":80", "ws": ":80"][scheme]
        if let port, host.hasSuffix(port) { return String(host.dropLast(port.count)) }
        return host.hasSuffix(":") ? String(host.dropLast()) : host
    }

    private static func isLetter(_ byte: UInt8) -> Bool { 0x41...0x5A ~= byte || 0x61...0x7A ~= byte }
}
