import Accounts
import Contract
import Crypto
import IdentityPools
import ServiceContext
import SigningKeys
import Storage

/// The method `system.apply`, which makes the store match a document.
public struct ApplyService: Sendable {
    let surroundings: ServiceContext

    public init(_ surroundings: ServiceContext) { self.surroundings = surroundings }

    /// Creates or updates everything that differs from the document, in one transaction. If nothing differs, nothing is written.
    ///
    /// - Throws: `InvalidParams` with all violations of the document.
    public func apply(_ request: SystemApply.Params, _ call: any CallContext) throws -> SystemApply.Result {
        let now = surroundings.clock.now
        let fresh = FreshParts(for: request, surroundings)
        let plan: (Storage.Transaction) throws -> ApplyPlan = { tx in
            try ApplyPlan(
                request, fresh, realm: surroundings.realm, vault: surroundings.vault,
                allowsPlainLoopback: surroundings.foreign.allowsPlainLoopback, at: now, in: tx)
        }
        var keys = ApplyKeys()
        while true {
            let first = try surroundings.database.read(plan)
            if request.dryRun || !first.writes {
                return SystemApply.Result(dryRun: request.dryRun, changes: first.changes(surroundings.realm, request))
            }
            try keys.add(for: first, surroundings, at: now)
            do {
                // The plan depends on many rows that other transactions can write, so it requires serializable isolation.
                return try surroundings.database.write(isolation: .serializable) { tx in
                    let second = try plan(tx)
                    try second.write(keys, trace: call.trace, audit: surroundings.audit, realm: surroundings.realm, at: now, in: tx)
                    return SystemApply.Result(dryRun: false, changes: second.changes(surroundings.realm, request))
                }
            } catch is KeyNeeded {}
        }
    }
}

/// The signing keys of new tenants and pools, by their positions in the document. Keys are generated outside of transactions.
struct ApplyKeys {
    private(set) var tenants: [Int: NewSigningKey] = [:]
    private(set) var pools: [Int: NewSigningKey] = [:]

    mutating func add(for plan: ApplyPlan, _ surroundings: ServiceContext, at now: Int64) throws {
        func key(_ owner: KeyOwner, _ algorithm: String) throws -> NewSigningKey {
            try NewSigningKey(for: owner, algorithm: Crypto.SigningAlgorithm(rawValue: algorithm)!, activeAt: now, surroundings)
        }
        for tenant in plan.tenants where tenant.before == nil && tenants[tenant.place] == nil {
            tenants[tenant.place] = try key(.tenant(tenant.after.id), tenant.after.settings.signingAlgorithm.rawValue)
        }
        for pool in plan.pools where pool.before == nil && pools[pool.place] == nil {
            pools[pool.place] = try key(.pool(pool.after.id), pool.after.signingAlgorithm)
        }
    }
}

/// Thrown if a tenant or pool is new that existed when the keys were generated. Transactions do not generate keys.
struct KeyNeeded: Error {}

/// The values that are generated before the transaction, by their positions in the document: IDs for new objects and encrypted secrets.
struct FreshParts: Sendable {
    /// The encrypted delivery settings of the tenants that declare them.
    let deliveries: [Int: TenantDelivery]
    let poolIds: [String]
    let roleIds: [String]
    /// The encrypted client secrets of identity providers, or `nil` for a provider without one.
    let secrets: [[UInt8]?]

    init(for request: SystemApply.Params, _ surroundings: ServiceContext) {
        deliveries = Dictionary(
            uniqueKeysWithValues: (request.tenants ?? []).enumerated().compactMap { place, tenant in
                tenant.delivery.map { (place, $0.sealed(for: tenant.tenantId, surroundings.vault)) }
            })
        poolIds = (request.pools ?? []).map { $0.poolId ?? surroundings.newIdentifier() }
        secrets = (request.idps ?? []).map { $0.sealedSecret(surroundings.vault) }
        roleIds = (request.roles ?? []).map { _ in RoleRecord.newId(surroundings.random) }
    }
}
