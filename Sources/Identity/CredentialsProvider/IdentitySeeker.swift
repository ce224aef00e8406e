import Contract

/// A user who was proven on the way to credentials.
struct ProvenUser: Sendable {
    /// What credentials are bought with.
    enum Proof: Sendable {
        case logins(SessionHolder)
        case token(String)
    }

    let identityId: String
    let isGuest: Bool
    let proof: Proof
}

/// Finds out whom a provider's logins prove, by the same ways that clients go themselves (cognito.md 6.1, 8.3).
struct IdentitySeeker {
    let service: CredentialsProviderService
    let source: ProviderRule.Source
    let logins: Members<String>
    let turn: ProviderTurn

    private var poolId: String { turn.settings.key.poolId }

    /// Looks with the identity that is kept, and once more without it if it has to be given up (8.4).
    func seek<R>(from kept: Identity?, _ look: (String?) throws -> R) throws -> R {
        do { return try look(kept?.id) } catch {
            guard let kept, ProviderRule.givesUp(keptAsGuest: kept.state == .guest, after: error, hasLogins: !logins.isEmpty) else {
                throw error
            }
            return try look(nil)
        }
    }

    /// The id alone.
    func identify(_ kept: String?) throws -> String {
        if kept == nil, source != .developer { return try resolve() }
        return try prove(kept).identityId
    }

    /// The identity, with what buys credentials for it.
    func prove(_ kept: String?) throws -> ProvenUser {
        let isGuest = source == .guest
        if source == .developer {
            let minted = try service.tokens.mintForDeveloper(.init(poolId: poolId, logins: logins, identityId: kept), turn.call)
            return ProvenUser(identityId: minted.identityId, isGuest: isGuest, proof: .token(minted.token))
        }
        let id = try kept ?? resolve()
        let proofs = isGuest ? nil : logins
        switch turn.settings.flow {
        case .enhanced:
            let holder = try service.credentials.holder(id, proofs, turn.call, now: turn.now)
            return ProvenUser(identityId: holder.identityId, isGuest: isGuest, proof: .logins(holder))
        case .basic:
            let minted = try service.tokens.mint(.init(identityId: id, logins: proofs), turn.call)
            return ProvenUser(identityId: minted.identityId, isGuest: isGuest, proof: .token(minted.token))
        }
    }

    private func resolve() throws -> String {
        try service.identities.resolve(.init(poolId: poolId, logins: source == .guest ? nil : logins), turn.call).identityId
    }
}

extension CredentialsProviderService {
    /// The name of every session of the basic flow (8.5).
    private static let sessionName = "ProviderSession"

    /// Buys credentials.
    ///
    /// - Throws: what `credentials.get` and `credentials.assumeRole` throw.
    func exchange(_ user: ProvenUser, _ turn: ProviderTurn) throws -> ProviderMemory.Held {
        let settings = turn.settings
        switch user.proof {
        case .logins(let holder): return .init(try credentials.exchange(holder, custom: settings.customRoleArn, now: turn.now))
        case .token(let token) where settings.flow == .enhanced:
            return .init(try credentials.get(.init(who: .token(token), customRoleArn: settings.customRoleArn), turn.call))
        case .token(let token):
            let role = try settings.roleArn ?? poolRole(user, turn)
            let taken = try credentials.assumeRole(.init(roleArn: role, sessionName: Self.sessionName, token: token), turn.call)
            return .init(identityId: taken.subject, credentials: taken.credentials, roleArn: role)
        }
    }

    /// The role that the pool gives to such users.
    private func poolRole(_ user: ProvenUser, _ turn: ProviderTurn) throws -> String {
        let poolId = turn.settings.key.poolId
        let name = try surroundings.database.read { try catalogue.roleName(user.isGuest ? .guest : .authenticated, of: poolId, in: $0) }
        guard let name else {
            throw RoleNotConfigured(
                poolId: poolId, roleArn: nil, reason: "it has no role for \(user.isGuest ? "guests" : "authenticated identities")")
        }
        return surroundings.realm.arn(ofRole: name)
    }
}

extension ProviderMemory.Held {
    init(_ result: CredentialsGet.Result) {
        self.init(identityId: result.identityId, credentials: result.credentials, roleArn: result.roleArn)
    }
}
