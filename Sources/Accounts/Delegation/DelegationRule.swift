import Contract
import JSON
import Platform

/// A verified token that takes part in an exchange: of the subject or of the actor.
package struct ExchangedToken: Sendable {
    package let issuer: String
    package let subject: String
    package let clientId: String?
    /// The session of an account of this store.
    package let sessionId: String?
    /// The audiences of an access token; empty for all other tokens.
    package let audiences: [String]
    package let expiresAt: Int64
    package let claims: JSONNode
    /// Whether the token is of the tenant. The claims of other tokens name neither applications nor sessions of the tenant.
    let isOwn: Bool

    /// The application of the tenant that the token is for.
    var ownClientId: String? { isOwn ? clientId : nil }

    package init(_ token: VerifiedTenantToken) {
        isOwn = true
        issuer = token.issuer
        subject = token.accountId
        clientId = token.use == .access ? token.claims["client_id"]?.string : token.audience
        sessionId = token.sessionId
        audiences = token.use == .access ? token.audiences : []
        expiresAt = token.expiresAt
        claims = token.claims
    }

    /// A token of a trusted issuer.
    package init(issuer: String, subject: String, expiresAt: Int64, claims: JSONNode) {
        isOwn = false
        self.issuer = issuer
        self.subject = subject
        clientId = claims["client_id"]?.string ?? claims["azp"]?.string
        sessionId = nil
        audiences = []
        self.expiresAt = expiresAt
        self.claims = claims
    }

    var actor: TokenActor { TokenActor(issuer: issuer, subject: subject, clientId: clientId, sessionId: sessionId) }
}

/// The rules of token exchange (Sources/Accounts/README.md, "Delegation"). All functions are pure.
package enum DelegationRule {
    /// The actors of the new token.
    struct Decision {
        let chain: ActorChain
        /// The entries of the tenant that permit the actor; `nil` if the subject token decides alone.
        let delegations: [Delegation]?
        /// Whether the new token must have less access than the subject token.
        let mustNarrow: Bool
    }

    /// - Throws: `SubjectTokenInvalid`, `ActorTokenRequired`, `ActorNotAllowed`, `DelegationTooDeep`.
    ///
    /// - Parameter tenant: The issuer of the tenant.
    static func decide(
        _ subject: ExchangedToken, _ actor: ExchangedToken?, _ delegations: [Delegation], of tenant: String
    ) throws -> Decision {
        let chain = try ActorChain(subject.claims, issuer: subject.issuer, hasSessions: subject.isOwn)
        let permission = subject.claims["may_act"]
        if let permission, permission.kind != .object || permission["sub"]?.string == nil {
            throw SubjectTokenInvalid(reason: "its may_act is not an object with sub")
        }
        guard let actor else {
            // A new token without the claims would lose the limits that they set.
            if permission != nil || !chain.actors.isEmpty { throw ActorTokenRequired() }
            return Decision(chain: chain, delegations: nil, mustNarrow: true)
        }
        if actor.claims["act"] != nil || actor.claims["may_act"] != nil {
            throw ActorNotAllowed(reason: "the actor token is itself a delegated token")
        }
        if actor.subject.hasBytes(of: subject.subject), actor.issuer.hasBytes(of: subject.issuer) {
            throw ActorNotAllowed(reason: "the actor is the subject itself")
        }
        if let permission {
            guard names(permission, actor, ofSubject: subject) else {
                throw ActorNotAllowed(reason: "the claim may_act of the subject token names another actor")
            }
            return Decision(chain: try chain.adding(actor.actor), delegations: nil, mustNarrow: false)
        }
        if let current = chain.actors.first {
            guard current.subject.hasBytes(of: actor.subject), current.issuer.hasBytes(of: actor.issuer) else {
                throw ActorNotAllowed(reason: "the subject token was issued to another actor")
            }
            return Decision(chain: chain, delegations: nil, mustNarrow: true)
        }
        let entries = delegations.filter { names($0.actor, actor, of: tenant) }
        if entries.isEmpty {
            throw ActorNotAllowed(reason: "the subject token has no claim may_act, and delegations of the tenant does not name the actor")
        }
        return Decision(chain: try chain.adding(actor.actor), delegations: entries, mustNarrow: false)
    }

    /// Whether every member of `may_act` has the value of the actor's token.
    private static func names(_ permission: JSONNode, _ actor: ExchangedToken, ofSubject subject: ExchangedToken) -> Bool {
        var fits = permission["iss"] != nil || actor.issuer.hasBytes(of: subject.issuer)
        permission.forEachMember { name, value in
            switch name {
            case "sub": fits = fits && value.string?.hasBytes(of: actor.subject) == true
            case "iss": fits = fits && value.string?.hasBytes(of: actor.issuer) == true
            case "client_id": fits = fits && value.string != nil && value.string == actor.clientId
            default: fits = fits && actor.claims[name].map { $0.value == value.value } == true
            }
        }
        return fits
    }

    private static func names(_ permitted: DelegationActor, _ actor: ExchangedToken, of tenant: String) -> Bool {
        permitted.sub.hasBytes(of: actor.subject) && (permitted.iss ?? tenant).hasBytes(of: actor.issuer)
            && (permitted.clientId == nil || permitted.clientId == actor.clientId)
    }

    // MARK: Access

    /// The requested access.
    package struct Wish: Sendable {
        let audiences: [String]
        let scope: String?
        let expiresInSeconds: Int64?
        /// The actor that will use the token for the subject; `nil` if the subject acts itself.
        package var actor: ExchangedToken?

        package init(audiences: [String], scope: String?, expiresInSeconds: Int64?) {
            var seen: Set<String> = []
            self.audiences = audiences.filter { seen.insert($0).inserted }
            self.scope = scope
            self.expiresInSeconds = expiresInSeconds
        }
    }

    /// The access of the new token.
    struct Grant: Equatable {
        let audiences: [String]
        let scopes: Scopes
        let expiresAt: Int64
    }

    /// The access of the subject token, and what limits it.
    struct Limits {
        /// The audiences of an access token; empty for an ID token.
        let audiences: [String]
        let scopes: Scopes
        let clientId: String?
        let delegations: [Delegation]?
        /// The entry of the tenant for the trusted issuer of the subject token; `nil` for a token of the tenant.
        let entry: SubjectIssuer?
        let mustNarrow: Bool
        /// The earliest expiration of the tokens and of the session.
        let end: Int64
        let subjectEnd: Int64
    }

    /// - Throws: `AudienceNotOffered`, `ScopeNotGranted`, `ExchangeNotAllowed`, `TokenExpired`.
    static func grant(_ wish: Wish, _ limits: Limits, by tenant: TenantRecord, at now: Int64) throws -> Grant {
        let application = tenant.application(limits.clientId == tenant.id ? nil : limits.clientId)
        let offered = tenant.offeredAudiences(to: application) + [tenant.id]
        let present = limits.audiences
        let audiences = wish.audiences.isEmpty ? (present.isEmpty ? [tenant.id] : present) : wish.audiences
        for audience in audiences {
            let isWithin = present.isEmpty || present.contains(tenant.id) || present.contains(audience)
            guard isWithin, offered.contains(audience), limits.entry?.audiences.contains(audience) ?? true else {
                throw AudienceNotOffered(tenantId: tenant.id, audience: audience)
            }
        }
        // One entry must permit all audiences, so that no token combines the scopes of one entry with the audiences of another.
        let delegation = limits.delegations.map { $0.first { entry in audiences.allSatisfy(entry.audiences.contains) } }
        if case .some(.none) = delegation { throw AudienceNotOffered(tenantId: tenant.id, audience: audiences[0]) }

        let available = limits.scopes.names.filter { name in
            audiences.allSatisfy {
                tenant.offeredScopes(to: ScopeRequest(application: application, audience: $0)).contains(name)
            } && (delegation??.scopes.contains(name) ?? true)
        }
        let scopes = wish.scope.map { Scopes($0) } ?? Scopes(available)
        let missing = Scopes(available).lacking(scopes.names)
        if !missing.isEmpty { throw ScopeNotGranted(scopes: missing, granted: available) }

        let expiresAt = min(limits.end, now + min(tenant.tokens.accessTokenSeconds, wish.expiresInSeconds ?? .max))
        if expiresAt <= now { throw TokenExpired(expiredAt: expiresAt, now: now) }
        let isNarrower =
            (!wish.audiences.isEmpty && Set(audiences) != Set(present)) || scopes.names.count < limits.scopes.names.count
            || (wish.expiresInSeconds != nil && expiresAt < limits.subjectEnd)
        if limits.mustNarrow, !isNarrower {
            throw ExchangeNotAllowed(
                reason: "it requests the same access again; request other audiences, fewer scopes or a shorter lifetime")
        }
        return Grant(audiences: audiences, scopes: scopes, expiresAt: expiresAt)
    }
}
