import Contract
import ServiceContext
import Storage

/// A user who was proven on the way to credentials.
struct ProvenUser: Sendable {
    /// What credentials are bought with.
    enum Proof: Sendable {
        case token(String)
        /// The logins have bought them already.
        case bought(CredentialsGet.Result)
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
    /// The identity that is kept.
    let kept: Identity?

    private var poolId: String { turn.settings.key.poolId }

    /// Thrown where another provider has kept another identity under the key meanwhile.
    private struct KeptByOther: Error {}

    /// Looks with the identity that is kept, and once more without it if it has to be given up (8.4).
    func seek<R>(_ look: (IdentitySeeker, String?) throws -> R) throws -> R {
        do { return try give(look) } catch is KeptByOther {
            return try IdentitySeeker(service: service, source: source, logins: logins, turn: turn, kept: service.kept(turn)).seek(look)
        }
    }

    private func give<R>(_ look: (IdentitySeeker, String?) throws -> R) throws -> R {
        do { return try look(self, kept?.id) } catch {
            guard let kept, ProviderRule.givesUp(keptAsGuest: kept.state == .guest, after: error, hasLogins: !logins.isEmpty) else {
                throw error
            }
            return try look(self, nil)
        }
    }

    /// The id alone.
    func identify(_ kept: String?) throws -> String {
        if source == .developer { return try prove(kept).identityId }
        guard let kept else { return try resolve() }
        if turn.settings.flow == .basic { return try prove(kept).identityId }
        return try service.credentials.holder(kept, proofs, turn.call, now: turn.now) { $1.identityId }
    }

    /// The identity, with what buys credentials for it.
    func prove(_ kept: String?) throws -> ProvenUser {
        let isGuest = source == .guest
        if source == .developer {
            let minted = try service.tokens.mintForDeveloper(.init(poolId: poolId, logins: logins, identityId: kept), turn.call)
            return ProvenUser(identityId: minted.identityId, isGuest: isGuest, proof: .token(minted.token))
        }
        let id = try kept ?? resolve()
        switch turn.settings.flow {
        case .enhanced:
            let bought = try service.credentials.get(id, proofs, custom: turn.settings.customRoleArn, turn.call, now: turn.now)
            return ProvenUser(identityId: bought.identityId, isGuest: isGuest, proof: .bought(bought))
        case .basic:
            let minted = try service.tokens.mint(.init(identityId: id, logins: proofs), turn.call)
            return ProvenUser(identityId: minted.identityId, isGuest: isGuest, proof: .token(minted.token))
        }
    }

    private var proofs: Members<String>? { source == .guest ? nil : logins }

    /// Finds or makes an identity, and keeps it: a new one in the very transaction that makes it, so that of two providers that are
    /// the first ones of a key at once, one makes an identity and the other takes it.
    ///
    /// - Throws: `KeptByOther`; `ProviderOvertaken`, and then nothing was made.
    private func resolve() throws -> String {
        var isKept = false
        let id = try service.identities.resolve(.init(poolId: poolId, logins: proofs), turn.call) { tx, identity in
            isKept = identity.changed
            if isKept { try keep(identity.id, tx) }
        }.identityId
        if !isKept { try service.surroundings.database.write { try keep(id, $0) } }
        return id
    }

    private func keep(_ id: String, _ tx: Transaction) throws {
        let key = turn.settings.key
        try turn.requireCurrent(in: tx)
        guard try !tx.keep(id, as: key, insteadOf: kept?.id, at: turn.now) else { return try service.recordKeeping(of: id, turn, tx) }
        if let other = try tx.keptIdentity(key)?.id, other != id { throw KeptByOther() }
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
        case .bought(let result): return .init(result)
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
