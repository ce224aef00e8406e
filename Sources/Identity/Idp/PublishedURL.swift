import Contract

/// A URL that a provider names, for people to open or for codes to go to. A provider that was taken over, or never was one, names what it
/// likes: a script, a file, a machine without TLS (RFC 9700 4.11).
enum PublishedURL {
    /// - Parameter member: what the provider calls it.
    /// - Throws: `ProviderUnusable`.
    static func check(_ url: String?, _ member: String, of idp: IdpRecord) throws {
        guard let url, !isGood(url, allowsPlainLoopback: idp.isOnThisMachine) else { return }
        throw ProviderUnusable(
            provider: idp.providerId, check: "document",
            reason: "What it names as \(member) is no place to send anybody: '\(Words.of(url))'. It has to begin with https:// and a host.")
    }

    static func isGood(_ url: String, allowsPlainLoopback: Bool) -> Bool {
        let place = url.prefix { $0 != "?" && $0 != "#" }
        let scheme = allowsPlainLoopback ? ProviderURL.httpsOrPlainLoopback : .https
        guard let rest = scheme.rest(of: String(place)), rest.first != "/" else { return false }
        return url.utf8.dropFirst(place.utf8.count).allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\\\"<>^`{|}".utf8.contains($0) }
    }
}

extension IdpRecord {
    /// Whether an administrator has said that it is on this machine, without TLS.
    fileprivate var isOnThisMachine: Bool { [issuers.first, settings.endpoint].contains { $0?.hasPrefix("http://") == true } }
}
