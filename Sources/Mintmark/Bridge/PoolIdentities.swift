import Accounts
import Contract
import IdentityPools
import Storage

/// Gives accounts access to the identities in the pools of the same store.
public struct PoolIdentities: LinkedIdentities {
    private let pools: PoolConfigurationCache

    public init(_ pools: PoolConfigurationCache) { self.pools = pools }

    public func merge(
        of sourceId: String, into targetId: String, tenantId: String, policy: MergePolicy, in tx: Transaction
    ) throws -> any LinkedIdentityMerge {
        let accounts = AccountPair(targetId: targetId, sourceId: sourceId, tenantId: tenantId)
        return PoolIdentityMerge(plan: try MergedIdentities(of: accounts, policy, pools, in: tx))
    }

    public func identities(ofAccount accountId: String, tenantId: String, in tx: Transaction) throws -> [LinkedIdentity] {
        try pools.identities(ofAccount: accountId, tenantId: tenantId, in: tx).map {
            LinkedIdentity(poolId: $0.poolId, identityId: $0.identityId, otherLoginProviders: $0.otherLogins.map(\.provider))
        }
    }
}

private struct PoolIdentityMerge: LinkedIdentityMerge {
    let plan: MergedIdentities
    var changes: [MergedIdentity] { plan.changes.map(\.answer) }
    var conflicts: [MergeConflict] { plan.conflicts }

    func apply(at now: Int64, in tx: Transaction) throws { try plan.apply(at: now, in: tx) }
}
