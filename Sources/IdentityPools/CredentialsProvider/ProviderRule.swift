import Contract

/// The state machine of a credentials provider (Sources/IdentityPools/README.md, "Credentials providers").
enum ProviderRule {
    /// The requested result.
    enum Request: Sendable, Equatable {
        case identityId
        /// - Parameter anew: Whether to refresh even if the held credentials are still valid.
        case credentials(anew: Bool)
    }

    /// Whether credentials are held, and whether they expire soon.
    enum Phase: Sendable, Equatable { case none, ready, expiring, expired }

    /// The relevant state of the store and the provider's settings.
    struct Facts: Sendable, Equatable {
        let phase: Phase
        /// The identity that is stored under the provider's key.
        let kept: String?
        let developerProvider: String?
        /// Whether the application's backend mints the tokens.
        let asksCaller: Bool
    }

    /// The kind of a refresh.
    enum Source: Sendable, Equatable {
        case guest
        case publicLogins
        /// This process mints a token for the logins of the developer provider.
        case developer
    }

    enum Step: Sendable, Equatable {
        case answer(CachedCredentials.Held)
        case tell(identityId: String)
        case ask(CredentialsProviderAnswer.TokenRequired.Reason)
        case refresh(Source)
    }

    static func phase(_ memory: CachedCredentials, now: Int64, refreshAheadSeconds: Int64) -> Phase {
        guard let expiresAt = memory.held?.credentials.expiresAt else { return .none }
        if expiresAt <= now { return .expired }
        return expiresAt - now > refreshAheadSeconds ? .ready : .expiring
    }

    /// Returns the held credentials if they can be returned without reading the store.
    static func held(_ memory: CachedCredentials, _ phase: Phase, anew: Bool) -> CachedCredentials.Held? {
        !anew && phase == .ready && memory.awaited == nil ? memory.held : nil
    }

    static func step(_ request: Request, _ memory: CachedCredentials, _ facts: Facts) -> Step {
        switch request {
        case .identityId:
            if let kept = facts.kept, !memory.mustLookAgain { return .tell(identityId: kept) }
        case .credentials(let anew):
            if let held = held(memory, facts.phase, anew: anew) { return .answer(held) }
        }
        if let awaited = memory.awaited { return .ask(awaited.reason) }
        let source = source(of: memory.logins, developerProvider: facts.developerProvider)
        return source == .developer && facts.asksCaller ? .ask(reason(for: request, facts.phase)) : .refresh(source)
    }

    /// Returns the kind of refresh that belongs to the logins.
    static func source(of logins: Members<String>, developerProvider: String?) -> Source {
        if logins.isEmpty { return .guest }
        return developerProvider.flatMap { logins[$0] } != nil ? .developer : .publicLogins
    }

    private static func reason(for request: Request, _ phase: Phase) -> CredentialsProviderAnswer.TokenRequired.Reason {
        switch (request, phase) {
        case (.identityId, _): .noIdentity
        case (_, .none): .noCredentials
        case (_, .expired): .expired
        case (_, .expiring): .expiring
        case (_, .ready): .asked
        }
    }

    /// Returns whether to retry without the stored identity after an error. This is the case:
    /// - if the identity no longer exists,
    /// - if it was merged into another identity and there are logins, or
    /// - if it is a guest and the developer user already has an identity.
    ///
    /// If the logins do not match, the caller must decide, because the user must not be linked without a request.
    static func givesUp(keptAsGuest isGuest: Bool, after error: any Error, hasLogins: Bool) -> Bool {
        switch error {
        case is IdentityNotFound: true
        case is IdentityDisabled: hasLogins
        case is DeveloperUserAlreadyRegistered: isGuest
        default: false
        }
    }
}
