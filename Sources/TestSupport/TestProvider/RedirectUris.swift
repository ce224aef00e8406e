import Contract

extension TestClient {
    /// Returns whether a redirect URI is registered. The comparison is exact, except that a loopback URI may have any port, because native
    /// apps use a free one (RFC 8252 §7.3).
    func knows(redirectUri: String) -> Bool {
        let plain = Self.withoutPort(redirectUri)
        return (redirectUris ?? []).contains {
            $0.utf8.elementsEqual(redirectUri.utf8) || (plain != nil && Self.withoutPort($0) == plain)
        }
    }

    /// Returns a loopback URI without its port, or `nil` for any other URI.
    private static func withoutPort(_ uri: String) -> [UInt8]? {
        for host in ["http://127.0.0.1", "http://[::1]"] where uri.hasPrefix(host) {
            var rest = uri.utf8.dropFirst(host.utf8.count)
            if rest.first == UInt8(ascii: ":") {
                rest = rest.dropFirst().drop { 0x30...0x39 ~= $0 }
            }
            guard rest.isEmpty || rest.first == UInt8(ascii: "/") || rest.first == UInt8(ascii: "?") else { return nil }
            return Array(host.utf8) + rest
        }
        return nil
    }
}

extension TestClient {
    /// Returns the violations in the ways in which the client authenticates: a secret, keys, or the URL of a key set.
    func keyViolations(at pointer: String) -> [Violation] {
        var violations: [Violation] = []
        let ways = [("clientSecret", clientSecret != nil), ("keys", keys != nil), ("jwksUri", jwksUri != nil)].filter(\.1).map(\.0)
        if ways.count > 1 {
            violations.append(
                Violation(
                    pointer: "\(pointer)/\(ways[1])", rule: "exclusive",
                    message: "\(ways.joined(separator: " and ")) exclude each other. Set one of them."))
        }
        for (number, key) in (keys ?? []).enumerated() {
            guard let flaw = ClientKeySource.flaw(of: key) else { continue }
            violations.append(
                Violation(pointer: "\(pointer)/keys/\(number)", rule: "key", message: "Key \(number) cannot be used: \(flaw)."))
        }
        let federation = [("assertionIssuer", assertionIssuer != nil), ("assertionSubject", assertionSubject != nil)]
        if let given = federation.first(where: \.1)?.0, let missing = federation.first(where: { !$0.1 })?.0 {
            violations.append(
                Violation(pointer: "\(pointer)/\(given)", rule: "dependency", message: "\(given) requires \(missing)."))
        } else if assertionIssuer != nil, keys == nil, jwksUri == nil {
            violations.append(
                Violation(
                    pointer: "\(pointer)/assertionIssuer", rule: "dependency",
                    message: "assertionIssuer requires the keys of this issuer: set keys or jwksUri."))
        }
        if let flaw = jwksUri.flatMap(ClientKeySource.flaw(ofURL:)) {
            violations.append(Violation(pointer: "\(pointer)/jwksUri", rule: "url", message: "jwksUri \(flaw)"))
        }
        return violations
    }
}

extension TestIdp.Params {
    /// - Throws: `InvalidParams` if a name occurs twice or a redirect URI is not valid.
    func check() throws {
        var violations: [Violation] = []
        var names: Set<String> = []
        for (place, issuer) in (issuers ?? []).enumerated() {
            if !names.insert(issuer.name).inserted {
                violations.append(
                    Violation(pointer: "/issuers/\(place)/name", rule: "duplicate", message: "Issuer \(issuer.name) occurs twice."))
            }
            violations += issuer.resourceViolations(at: "/issuers/\(place)/resources")
            var ids: Set<String> = []
            for (number, client) in (issuer.clients ?? []).enumerated() {
                let pointer = "/issuers/\(place)/clients/\(number)"
                if !ids.insert(client.clientId).inserted {
                    let message = "Client \(client.clientId) occurs twice."
                    violations.append(Violation(pointer: "\(pointer)/clientId", rule: "duplicate", message: message))
                }
                violations += client.keyViolations(at: pointer)
                for (index, uri) in (client.redirectUris ?? []).enumerated() {
                    guard let flaw = AuthorizeRequest.flaw(of: uri) else { continue }
                    violations.append(
                        Violation(pointer: "\(pointer)/redirectUris/\(index)", rule: "redirect", message: "The redirect URI \(flaw)"))
                }
            }
        }
        if !violations.isEmpty { throw InvalidParams(violations: violations) }
    }
}
