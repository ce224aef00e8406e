import Contract

/// What a credential provider does when it is asked for something: the states and events of cognito.md 8.2 to 8.4.
enum ProviderRule {
    /// What is asked for.
    enum Request: Sendable, Equatable {
        case identityId
        /// - Parameter anew: however long those last that are held.
        case credentials(anew: Bool)
    }

    /// Whether there are credentials, and for how long (8.2).
    enum Phase: Sendable, Equatable { case none, ready, expiring, expired }

    /// What the store says, and how the provider was opened.
    struct Facts: Sendable, Equatable {
        let phase: Phase
        /// The identity that is kept under the provider's key.
        let kept: String?
        let developerProvider: String?
        /// Whether the caller's own backend mints.
        let asksCaller: Bool
    }

    /// Where a refresh begins.
    enum Source: Sendable, Equatable {
        case guest
        case publicLogins
        /// This process mints a token, as the developer's backend would.
        case developer
    }

    enum Step: Sendable, Equatable {
        case answer(ProviderMemory.Held)
        case tell(identityId: String)
        case ask(CredentialsProviderAnswer.Reason)
        case refresh(Source)
    }

    static func phase(_ memory: ProviderMemory, now: Int64, refreshAheadSeconds: Int64) -> Phase {
        guard let expiresAt = memory.held?.credentials.expiresAt else { return .none }
        if expiresAt <= now { return .expired }
        return expiresAt - now > refreshAheadSeconds ? .ready : .expiring
    }

    /// What is held and good enough; the store need not be asked.
    static func held(_ memory: ProviderMemory, _ phase: Phase, anew: Bool) -> ProviderMemory.Held? {
        !anew && phase == .ready && memory.awaited == nil ? memory.held : nil
    }

    static func step(_ request: Request, _ memory: ProviderMemory, _ facts: Facts) -> Step {
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

    /// Which logins lead where (8.3, at the end).
    static func source(of logins: Members<String>, developerProvider: String?) -> Source {
        if logins.isEmpty { return .guest }
        return developerProvider.flatMap { logins[$0] } != nil ? .developer : .publicLogins
    }

    private static func reason(for request: Request, _ phase: Phase) -> CredentialsProviderAnswer.Reason {
        switch (request, phase) {
        case (.identityId, _): .noIdentity
        case (_, .none): .noCredentials
        case (_, .expired): .expired
        case (_, .expiring): .expiring
        case (_, .ready): .asked
        }
    }

    /// Whether a kept identity that was refused is given up, to look once more without it (8.4): always if it is gone; if it was
    /// merged into another one, when there are logins that prove that one; and a guest's, when the developer's user has an identity
    /// already. That somebody else's logins do not match is the caller's to decide: that user is not to be linked unasked.
    static func givesUp(keptAsGuest isGuest: Bool, after error: any Error, hasLogins: Bool) -> Bool {
        switch error {
        case is IdentityNotFound: true
        case is IdentityDisabled: hasLogins
        case is DeveloperUserAlreadyRegistered: isGuest
        default: false
        }
    }
}
