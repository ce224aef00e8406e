import Platform

/// The address of a provider in a test: the issuer, another URL of the provider, or a host.
package struct ProviderOrigin: Sendable {
    private let host: String
    /// The port, or `nil` for any port.
    private let port: UInt16?

    /// - Parameter text: A URL, or a host with an optional port. An IPv6 address is in brackets.
    package init?(_ text: String) {
        let scheme = text.firstRange(of: "://").map { text[..<$0.lowerBound].lowercased() }
        guard let url = try? HTTPURL(scheme.map { $0 + text.dropFirst($0.count) } ?? "https://" + text) else { return nil }
        host = url.host.lowercased()
        port = scheme == nil ? url.port : url.effectivePort
    }

    func matches(_ url: String) -> Bool {
        guard let other = ProviderOrigin(url), other.host == host else { return false }
        return port == nil || port == other.port
    }
}
