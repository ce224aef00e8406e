import Contract

/// The audience and the scopes of the access tokens of a session.
package struct AccessGrant: Sendable, Equatable {
    /// The audience, or `nil` for the tenant itself.
    var audience: String?
    var scopes = Scopes(Scopes.usual)
    /// The application of the session; `nil` for the default application of the tenant.
    var application: ApplicationName?

    /// Returns the grant of an access token that continues a session (RFC 6749 §6, RFC 8707 §2.2).
    ///
    /// For the audience of the sign-in, the scopes are those granted at sign-in or a subset of them. For another audience of the tenant,
    /// they are the requested scopes that the tenant offers: scopes granted for one audience are never transferred to another.
    ///
    /// - Parameters:
    ///   - audience: The requested audience. Defaults to the audience of the sign-in.
    ///   - scope: The requested scopes. Defaults to all granted scopes, or for another audience to `openid`.
    /// - Throws: `AudienceNotOffered`, also if the tenant no longer offers the audience; `ScopeNotOffered`, `ScopeNotGranted`.
    func continued(audience requested: String? = nil, scope: String? = nil, by tenant: TenantRecord) throws -> AccessGrant {
        let own = audience ?? tenant.id
        let audience = requested ?? own
        let client = tenant.application(named: application)
        try AccessGrant.check(audience, of: tenant, by: client)
        let request = ScopeRequest(application: client, audience: audience)
        // For another audience, a default application without `consent` can request every scope; others those of their consent.
        let consented = Scopes(tenant.offeredScopes(to: request).filter { client?.consents(to: $0) ?? true })
        return AccessGrant(
            audience: audience,
            scopes: audience == own
                ? try Scopes.refreshed(scope, of: scopes, by: tenant, to: request)
                : try Scopes.refreshed(scope ?? Scopes.usual, of: consented, by: tenant, to: request),
            application: application)
    }
}

extension AccessGrant {
    /// - Throws: `AudienceNotOffered`, `ScopeNotOffered`.
    static func check(
        _ audience: String?, _ scope: String? = nil, of tenant: TenantRecord, by application: ApplicationRecord? = nil
    ) throws {
        _ = try Scopes.granted(scope, by: tenant, to: ScopeRequest(application: application, audience: audience))
        guard let audience, audience != tenant.id, !tenant.offeredAudiences(to: application).contains(audience) else { return }
        throw AudienceNotOffered(tenantId: tenant.id, audience: audience)
    }
}
