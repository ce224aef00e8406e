import Contract

/// What an access token allows, as OAuth has it (RFC 6749 section 3.3): names, each once, in the order they were asked for.
package struct Scopes: Sendable, Equatable {
    /// Those of OpenID Connect, which every tenant offers.
    package static let standard = ["openid", "profile", "email", "offline_access"]
    /// What is granted where nothing is asked for.
    package static let usual = "openid"

    package let names: [String]

    package init(_ text: String) {
        var seen: Set<String> = []
        names = text.split(separator: " ").map(String.init).filter { seen.insert($0).inserted }
    }

    init(_ names: [String]) { self.names = names }

    /// As claims and requests have it.
    package var text: String { names.joined(separator: " ") }

    package func lacking(_ others: [String]) -> [String] { others.filter { !names.contains($0) } }

    /// What a sign-in grants.
    ///
    /// - Throws: `ScopeNotOffered` with all names that the tenant does not offer.
    static func granted(_ asked: String?, by tenant: TenantRecord) throws -> Scopes {
        let asked = Scopes(asked ?? usual)
        let missing = Scopes(standard + tenant.scopes).lacking(asked.names)
        if !missing.isEmpty { throw ScopeNotOffered(tenantId: tenant.id, scopes: missing) }
        return asked
    }

    /// What a refresh grants of what the sign-in was granted (RFC 6749 section 6): all that is still offered, or the part asked for.
    ///
    /// - Throws: `ScopeNotOffered`, `ScopeNotGranted`.
    static func refreshed(_ asked: String?, of granted: Scopes, by tenant: TenantRecord) throws -> Scopes {
        guard let asked else {
            let offered = standard + tenant.scopes
            return Scopes(granted.names.filter { offered.contains($0) })
        }
        let part = try Self.granted(asked, by: tenant)
        let missing = granted.lacking(part.names)
        if !missing.isEmpty { throw ScopeNotGranted(scopes: missing, granted: granted.names) }
        return part
    }
}
