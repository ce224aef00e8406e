import Contract
import ServiceContext
import Storage
import Synchronization

/// An authenticated identity for which credentials are being obtained.
struct ProvenUser: Sendable {
    /// The proof that is exchanged for credentials.
    enum Proof: Sendable {
        case token(String)
        /// The logins were already exchanged for credentials.
        case bought(CredentialsGet.Result)
    }

    let identityId: String
    let isGuest: Bool
    let proof: Proof
}

/// Resolves the identity of a provider's logins, with the same methods that clients can call.
struct IdentityResolver {
    let service: CredentialsProviderService
    let source: ProviderRule.Source
    let logins: Members<String>
    let turn: CredentialsRefresh
    /// The stored identity.
    let kept: Identity?

    private var poolId: String { turn.settings.key.poolId }

    /// Thrown if another provider has stored another identity under the key in the meantime.
    private struct KeptByOther: Error {}

    /// Resolves with the stored identity, and once more without it if `ProviderRule.givesUp` returns `true` for the error.
    func seek<R>(_ look: (IdentityResolver, String?) throws -> R) throws -> R {
        do { return try give(look) } catch is KeptByOther {
            return try IdentityResolver(service: service, source: source, logins: logins, turn: turn, kept: service.kept(turn)).seek(look)
        }
    }

    private func give<R>(_ look: (IdentityResolver, String?) throws -> R) throws -> R {
        do { return try look(self, kept?.id) } catch {
            guard let kept, ProviderRule.givesUp(keptAsGuest: kept.state == .guest, after: error, hasLogins: !logins.isEmpty) else {
                throw error
            }
            return try look(self, nil)
        }
    }

    /// Returns only the identity ID.
    func identify(_ kept: String?) throws -> String {
        if source == .developer { return try prove(kept).identityId }
        guard let kept else { return try resolve() }
        if turn.settings.flow == .basic { return try prove(kept).identityId }
        let verifier = LoginVerifier(service.context, service.configurations)
        let proven = try verifier.prove(kept, proofs, turn.call, now: turn.now).value(for: turn.call)
        guard let id = try service.credentials.holder(proven, turn.call, now: turn.now, complete: { $1.identityId }) else {
            preconditionFailure("a refresh runs on a thread that may wait")
        }
        return id
    }

    /// Returns the identity and its proof.
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

    /// Finds or creates an identity and stores its ID. A new identity is stored in the transaction that creates it. If two providers
    /// resolve a new key concurrently, one creates the identity and the other uses it.
    ///
    /// - Throws: `KeptByOther`; `ProviderOvertaken`, in which case nothing was created.
    private func resolve() throws -> String {
        let isKept = Atomic(false)
        let id = try service.identities.resolve(.init(poolId: poolId, logins: proofs), turn.call) { [self] tx, identity in
            isKept.store(identity.changed, ordering: .relaxed)
            if identity.changed { try keep(identity.id, tx) }
        }.value(for: turn.call).identityId
        if !isKept.load(ordering: .relaxed) { try service.context.database.write { try keep(id, $0) } }
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
    /// The role session name of the basic flow.
    private static let sessionName = "ProviderSession"

    /// Exchanges a proof for credentials.
    ///
    /// - Throws: The errors of `credentials.get` and `credentials.assumeRole`.
    func exchange(_ user: ProvenUser, _ turn: CredentialsRefresh) throws -> CachedCredentials.Held {
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

    /// Returns the role of the pool for guests or for authenticated identities.
    private func poolRole(_ user: ProvenUser, _ turn: CredentialsRefresh) throws -> String {
        let poolId = turn.settings.key.poolId
        let name = try context.database.read { try configurations.roleName(user.isGuest ? .guest : .authenticated, of: poolId, in: $0) }
        guard let name else {
            throw RoleNotConfigured(
                poolId: poolId, roleArn: nil, reason: "it has no role for \(user.isGuest ? "guests" : "authenticated identities")")
        }
        return context.realm.arn(ofRole: name)
    }
}

extension CachedCredentials.Held {
    init(_ result: CredentialsGet.Result) {
        self.init(identityId: result.identityId, credentials: result.credentials, roleArn: result.roleArn)
    }
}
