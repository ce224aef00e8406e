import Contract
import Storage

/// Two accounts of a tenant that are merged.
package struct AccountPair {
    let targetId: String
    let sourceId: String
    let tenantId: String

    package init(targetId: String, sourceId: String, tenantId: String) {
        self.targetId = targetId
        self.sourceId = sourceId
        self.tenantId = tenantId
    }
}

/// The effects of a merge of two accounts of a tenant on identities in pools. The logins of the source account become logins of the target
/// account, and two identities are merged by the rules of the pool.
package struct MergedIdentities {
    enum Move: Equatable {
        /// The login of the source account is replaced by one of the target account.
        case renamed(identityId: String)
        /// Two identities are merged.
        case joined(parent: String, child: String)
        /// A conflict prevents the merge. The login of one identity is removed.
        case separated(kept: String, left: String, keepsTarget: Bool)
    }

    package struct Change: Equatable {
        let poolId: String
        /// The login provider name of the tenant in the pool.
        let provider: String
        let move: Move

        package var answer: MergedIdentity {
            switch move {
            case .renamed(let id): MergedIdentity(poolId: poolId, identityId: id)
            case .joined(let parent, let child): MergedIdentity(poolId: poolId, identityId: parent, absorbedIdentityId: child)
            case .separated(let kept, let left, _): MergedIdentity(poolId: poolId, identityId: kept, unlinkedIdentityId: left)
            }
        }
    }

    private let accounts: AccountPair
    package private(set) var changes: [Change] = []
    package private(set) var conflicts: [MergeConflict] = []

    /// Checks every pool that has the tenant as a login provider.
    package init(
        of accounts: AccountPair, _ policy: MergePolicy, _ configurations: PoolConfigurationCache, in tx: Transaction
    ) throws {
        self.accounts = accounts
        try configurations.forEachPool(of: accounts.tenantId, in: tx) { pool, provider in
            if let move = try move(in: pool, provider.name, policy, in: tx) {
                changes.append(Change(poolId: pool.id, provider: provider.name, move: move))
            }
        }
    }

    private var targetId: String { accounts.targetId }
    private var sourceId: String { accounts.sourceId }

    private mutating func move(in pool: PoolRecord, _ provider: String, _ policy: MergePolicy, in tx: Transaction) throws -> Move? {
        guard let source = try tx.identity(owning: Login(provider: provider, subject: sourceId), in: pool.id) else { return nil }
        guard let target = try tx.identity(owning: Login(provider: provider, subject: targetId), in: pool.id), target != source else {
            return .renamed(identityId: source)
        }
        guard let own = try tx.identity(target), let other = try tx.identity(source) else { throw SerializationConflict() }
        let logins = try tx.logins(of: target) + tx.logins(of: source).filter { $0.provider != provider }
        do {
            try IdentityResolution.refuseConflicts(among: logins, developerProvider: pool.developerProvider)
        } catch is LoginConflict {
            conflicts.append(MergeConflict(kind: .identity, name: pool.id, target: target, source: source, policy: policy))
            let keepsTarget = policy != .keepSource
            return .separated(kept: keepsTarget ? target : source, left: keepsTarget ? source : target, keepsTarget: keepsTarget)
        }
        let parent = IdentityResolution.parent(of: [own, other])
        return .joined(parent: parent.id, child: parent.id == target ? source : target)
    }

    package func apply(at now: Int64, in tx: Transaction) throws {
        for change in changes {
            switch change.move {
            case .renamed(let id):
                if try !tx.logins(of: id).contains(Login(provider: change.provider, subject: targetId)) {
                    guard try tx.link(Login(provider: change.provider, subject: targetId), to: id, in: change.poolId, at: now) else {
                        throw SerializationConflict()
                    }
                }
                _ = try tx.unlink(change.provider, subject: sourceId, from: id)
            case .joined(let parent, let child):
                for id in [parent, child] { _ = try tx.unlink(change.provider, subject: sourceId, from: id) }
                try tx.absorb(child, into: parent, at: now)
                try tx.setState(.authenticated, of: parent, at: now)
            case .separated(let kept, let left, let keepsTarget):
                _ = try tx.unlink(change.provider, subject: keepsTarget ? sourceId : targetId, from: left)
                if !keepsTarget {
                    _ = try tx.unlink(change.provider, subject: sourceId, from: kept)
                    guard try tx.link(Login(provider: change.provider, subject: targetId), to: kept, in: change.poolId, at: now) else {
                        throw SerializationConflict()
                    }
                }
                try tx.setState(try tx.logins(of: left).isEmpty ? .disabled : .authenticated, of: left, at: now)
            }
        }
    }
}

extension PoolConfigurationCache {
    /// Calls `body` with every pool that has a tenant as a login provider, ordered by pool ID.
    func forEachPool(of tenantId: String, in tx: Transaction, _ body: (PoolRecord, LoginProvider) throws -> Void) throws {
        var last = ""
        while true {
            let pools = try tx.pools(after: last, limit: 200)
            for pool in try pools.map({ try pool($0.poolId, in: tx) }) {
                for provider in pool.providers where provider.tenantId == tenantId { try body(pool, provider) }
            }
            guard let end = pools.last else { return }
            last = end.poolId
        }
    }

    /// Returns the identities that have an account of a tenant as a login, ordered by pool, each with its other logins.
    package func identities(
        ofAccount accountId: String, tenantId: String, in tx: Transaction
    ) throws -> [(poolId: String, identityId: String, otherLogins: [Login])] {
        var found: [(poolId: String, identityId: String, otherLogins: [Login])] = []
        try forEachPool(of: tenantId, in: tx) { pool, provider in
            let login = Login(provider: provider.name, subject: accountId)
            guard let id = try tx.identity(owning: login, in: pool.id) else { return }
            found.append((pool.id, id, try tx.logins(of: id).filter { $0 != login }))
        }
        return found
    }
}
