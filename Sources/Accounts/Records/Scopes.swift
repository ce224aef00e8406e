import Contract

/// The scopes of an access token (RFC 6749 §3.3): distinct names in the order of the request.
package struct Scopes: Sendable, Equatable {
    /// The scopes of OpenID Connect, which every tenant offers.
    package static let standard = ["openid", "profile", "email", "offline_access"]
    /// The scope that is granted if none is requested.
    package static let usual = "openid"

    package let names: [String]

    package init(_ text: String) {
        guard text.utf8.contains(UInt8(ascii: " ")) else {
            names = text.isEmpty ? [] : [text]
            return
        }
        var seen: Set<String> = []
        names = text.split(separator: " ").map(String.init).filter { seen.insert($0).inserted }
    }

    init(_ names: [String]) { self.names = names }

    /// The scopes separated by spaces, as in claims and requests.
    package var text: String { names.joined(separator: " ") }

    package func lacking(_ others: [String]) -> [String] { others.filter { !names.contains($0) } }

    /// Returns the scopes that a sign-in grants.
    ///
    /// - Throws: `ScopeNotOffered` with every requested scope that the tenant does not offer.
    static func granted(_ asked: String?, by tenant: TenantRecord, to request: ScopeRequest = ScopeRequest()) throws -> Scopes {
        let asked = Scopes(asked ?? usual)
        if asked.names.allSatisfy(standard.contains) { return asked }
        let missing = Scopes(tenant.offeredScopes(to: request)).lacking(asked.names)
        if !missing.isEmpty { throw ScopeNotOffered(tenantId: tenant.id, scopes: missing) }
        return asked
    }

    /// Returns the scopes that a refresh grants (RFC 6749 §6): the requested subset of the granted scopes. Defaults to all granted scopes
    /// that the tenant still offers.
    ///
    /// - Throws: `ScopeNotOffered`, `ScopeNotGranted`.
    static func refreshed(
        _ asked: String?, of granted: Scopes, by tenant: TenantRecord, to request: ScopeRequest = ScopeRequest()
    ) throws -> Scopes {
        guard let asked else {
            let offered = tenant.offeredScopes(to: request)
            return Scopes(granted.names.filter { offered.contains($0) })
        }
        let part = try Self.granted(asked, by: tenant, to: request)
        let missing = granted.lacking(part.names)
        // The consent is that of the application, so the user does not have to consent again.
        let refused = missing.filter { request.application?.consents(to: $0) == false }
        if !refused.isEmpty { throw ScopeNotOffered(tenantId: tenant.id, scopes: refused) }
        if missing.allSatisfy({ request.application?.consents(to: $0) == true }) { return part }
        if !missing.isEmpty { throw ScopeNotGranted(scopes: missing, granted: granted.names) }
        return part
    }
}

/// The application and the audience for which scopes are requested.
struct ScopeRequest {
    var application: ApplicationRecord?
    /// `nil` for the tenant itself.
    var audience: String?
}

extension ApplicationRecord {
    /// Whether a refresh can request a scope that was not granted at sign-in. `nil` for a default application without `consent`: its
    /// sessions keep to the granted scopes.
    func consents(to scope: String) -> Bool? {
        guard let consent = settings.consent else { return isDefault ? nil : true }
        return consent.contains(scope) || Scopes.standard.contains(scope)
    }
}

extension TenantRecord {
    /// The scopes of an audience, or of the tenant itself.
    func scopes(of audience: String?) -> [String] {
        guard let audience, audience != id else { return scopes }
        return settings.audienceScopes?.first { $0.audience == audience }?.scopes ?? scopes
    }

    /// The scopes that an application can request.
    func offeredScopes(to request: ScopeRequest) -> [String] {
        let (all, own) = (scopes(of: request.audience), request.application?.settings.scopes)
        return Scopes.standard + (own.map { own in all.filter { own.contains($0) } } ?? all)
    }

    /// The scopes of the tenant and of all its audiences.
    package var allScopes: [String] { scopes + (settings.audienceScopes ?? []).flatMap(\.scopes) }

    /// The audiences, in addition to the tenant itself, for which an application can request access tokens.
    func offeredAudiences(to application: ApplicationRecord?) -> [String] {
        let own = application?.settings.audiences
        return own.map { own in audiences.filter { own.contains($0) } } ?? audiences
    }
}

extension TenantRecord {
    /// The audiences in addition to the tenant itself.
    package var audienceNames: [String] { audiences }

    /// The scopes that tokens for an audience can have, without those of OpenID Connect.
    package func scopeNames(of audience: String) -> [String] { scopes(of: audience) }
}
