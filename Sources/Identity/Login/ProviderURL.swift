/// What the URLs of a provider may begin with.
enum ProviderURL {
    case https
    case httpsOrPlainLoopback

    /// What follows the scheme; nil for other schemes, plain http to other machines, and characters that cannot stand there.
    /// Neither query nor fragment are allowed (OpenID Connect Core 2, iss).
    func rest(of url: String) -> Substring? {
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

    /// Why a URL of plain http is refused.
    static func hint(_ url: String) -> String {
        url.hasPrefix("http://") ? " Plain http is for localhost only, with allowInsecure." : ""
    }
}
