/// The address of a provider in a test: the issuer, another URL of the provider, or a host.
package struct ProviderOrigin: Sendable {
    private let host: String
    /// The port, or `nil` for any port.
    private let port: String?

    /// - Parameter text: A URL, or a host with an optional port. An IPv6 address is in brackets.
    package init?(_ text: String) {
        let isURL = text.contains("://")
        var rest = Substring(text)
        if let start = text.firstRange(of: "://") { rest = text[start.upperBound...] }
        rest = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if let at = rest.lastIndex(of: "@") { rest = rest[rest.index(after: at)...] }
        var port: Substring?
        if let colon = rest.lastIndex(of: ":"), !rest[colon...].contains("]") {
            port = rest[rest.index(after: colon)...]
            rest = rest[..<colon]
        }
        guard Self.isHost(rest), port.map(Self.isPort) ?? true else { return nil }
        host = rest.lowercased()
        self.port = port.map { String($0) } ?? (isURL ? (text.lowercased().hasPrefix("http:") ? "80" : "443") : nil)
    }

    /// Returns whether the text can be a host: a name or an address.
    private static func isHost(_ text: Substring) -> Bool {
        if text.hasPrefix("["), text.hasSuffix("]") {
            return text.count > 2 && text.dropFirst().dropLast().allSatisfy { $0.isHexDigit || ":.%".contains($0) }
        }
        return !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber || ".-_".contains($0) }
    }

    private static func isPort(_ text: Substring) -> Bool { UInt16(text).map { $0 > 0 } ?? false }

    func matches(_ url: String) -> Bool {
        guard let other = ProviderOrigin(url), other.host == host else { return false }
        return port == nil || port == other.port
    }
}
