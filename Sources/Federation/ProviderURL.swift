/// What the URLs of a provider may begin with.
package enum ProviderURL {
    case https
    case httpsOrPlainLoopback

    /// What follows the scheme; nil for other schemes, plain http to other machines, and characters that cannot stand there.
    /// Neither query nor fragment are allowed (OpenID Connect Core 2, iss).
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

    /// Whether a program can hand this to a browser, for a page or a picture: http or https with a host, and not long (firebase.md 1.1).
    /// Other schemes start programs, or run scripts.
    package static func isForBrowser(_ url: String) -> Bool {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        let rest = url.dropFirst(scheme.count)
        return ["http", "https"].contains(scheme) && rest.hasPrefix("://") && !rest.dropFirst(3).prefix { $0 != "/" }.isEmpty
            && url.utf8.count <= 2048 && url.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
    }

    /// Why a URL of plain http is refused.
    package static func hint(_ url: String) -> String {
        url.hasPrefix("http://") ? " Plain HTTP requires allowInsecure and localhost." : ""
    }
}
