import Contract

/// The audience and the scopes of the access tokens of a session.
package struct AccessGrant: Sendable, Equatable {
    /// nil: the tenant itself.
    var audience: String?
    var scopes = Scopes(Scopes.usual)

    /// The grant of an access token that continues a session (RFC 6749 section 6, RFC 8707 section 2.2).
    ///
    /// For the audience of the sign-in these are the scopes that the sign-in was granted, or some of them. For another audience of the
    /// tenant they are the scopes that are requested and that the tenant offers: a scope that was granted for one audience is never
    /// carried over to another.
    ///
    /// - Parameters:
    ///   - audience: the requested audience; nil for that of the sign-in.
    ///   - scope: the requested scopes; nil for all of them, or for another audience the usual one.
    /// - Throws: `AudienceNotOffered`, also for an audience that the tenant has ceased to offer; `ScopeNotOffered`, `ScopeNotGranted`.
    func continued(audience requested: String? = nil, scope: String? = nil, by tenant: TenantRecord) throws -> AccessGrant {
        let own = audience ?? tenant.id
        let audience = requested ?? own
        try SignInCompletion.check(audience, of: tenant)
        return AccessGrant(
            audience: audience,
            scopes: audience == own ? try Scopes.refreshed(scope, of: scopes, by: tenant) : try Scopes.granted(scope, by: tenant))
    }
}
