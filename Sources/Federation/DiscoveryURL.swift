import Contract
import Platform

/// Recognizes URLs of discovery documents that are given in place of an issuer.
package enum DiscoveryURL {
    /// Whether an issuer is the URL of a discovery document instead (OpenID Connect Discovery 4, RFC 8414 section 3).
    package static func isDocument(_ issuer: String) -> Bool { issuer.includes("/.well-known/") }

    /// - Parameter named: the issuer that the document names, if it could be read.
    package static func documentRefused(_ url: String, named: String?) -> InvalidIdp {
        let words = "the URL of a discovery document is not an issuer. "
        if let named {
            return InvalidIdp(pointer: "/issuer", reason: words + "This document names the issuer \(ProviderErrorText.of(named)): use that")
        }
        let start = url.firstRange(of: "/.well-known/").map { String(url[..<$0.lowerBound]) } ?? url
        return InvalidIdp(
            pointer: "/issuer",
            reason: words + "The issuer is the value of issuer in that document, probably \(ProviderErrorText.of(start))")
    }
}
