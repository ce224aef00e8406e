/// The allowed URL schemes of a provider.
package enum ProviderURL {
    case https
    case httpsOrPlainLoopback

    /// Returns the URL without its scheme, or `nil` for another scheme, plain HTTP to another machine, or characters that are not allowed.
    /// A query or fragment is not allowed (OpenID Connect Core 1.0 §2, `iss`).
    package func rest(of url: String) -> Substring? {
        let isPlain = url.hasPrefix("http://")
        guard isPlain || url.hasPrefix("https://") else { return nil }
        let rest = url.dropFirst(isPlain ? 7 : 8)
        let host = rest.hasPrefix("[") ? rest.prefix { $0 != "]" } + "]" : rest.prefix { $0 != "/" && $0 != ":" }
        let isLoopback = ["localhost", "127.0.0.1", "[::1]"].contains(String(host)) || host.hasSuffix(".localhost")
        guard !host.isEmpty, !isPlain || (self == .httpsOrPlainLoopback && isLoopback),
            rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"?#@\\\"<>^`{|}".utf8.contains($0) })
        else { return nil }
        return rest
    }

    /// Returns whether a URL is safe to open in a browser, for a page or a picture: `http` or `https`, with a host, and at most 2048 bytes.
    /// Other schemes can start programs or run scripts.
    package static func isForBrowser(_ url: String) -> Bool {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        let rest = url.dropFirst(scheme.count)
        return ["http", "https"].contains(scheme) && rest.hasPrefix("://") && !rest.dropFirst(3).prefix { $0 != "/" }.isEmpty
            && url.utf8.count <= 2048 && url.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
    }

    /// Returns a hint if a URL was rejected because it uses plain HTTP.
    package static func hint(_ url: String) -> String {
        url.hasPrefix("http://") ? " Plain HTTP requires allowInsecure and localhost." : ""
    }
}
