import Accounts
import Contract
import Crypto
import IdentityPools
import ServiceContext
import SigningKeys
import Storage

/// The method `system.apply`, which makes the store match a document.
public struct ApplyService: Sendable {
    let context: ServiceContext
    private let hooks: HooksService

    /// - Parameter hooks: Validates declared hooks.
    public init(_ context: ServiceContext, hooks: HooksService) {
        self.context = context
        self.hooks = hooks
    }

    /// Creates or updates everything that differs from the document, in one transaction. If nothing differs, nothing is written.
    ///
    /// - Throws: `InvalidParams` with all violations of the document.
    public func apply(_ request: SystemApply.Params, _ call: any CallContext) throws -> SystemApply.Result {
        let now = context.clock.now
        let fresh = FreshParts(for: request, context, hooks)
        func facts(in tx: Storage.Transaction) -> ApplyFacts {
            ApplyFacts(
                realm: context.realm, vault: context.vault, allowsPlainLoopback: context.foreign.allowsPlainLoopback, now: now, tx: tx)
        }
        var keys = ApplyKeys()
        while true {
            let first = try context.database.read { try ApplyPlan(request, fresh, facts(in: $0)) }
            if request.dryRun || !first.writes {
                return SystemApply.Result(dryRun: request.dryRun, changes: first.changes(context.realm, request))
            }
            try keys.add(for: first, context, at: now)
            do {
                // The plan depends on many rows that other transactions can write, so it requires serializable isolation.
                return try context.database.write(isolation: .serializable) { tx in
                    let facts = facts(in: tx)
                    let second = try ApplyPlan(request, fresh, facts)
                    try second.write(keys, by: call, audit: context.audit, facts)
                    return SystemApply.Result(dryRun: false, changes: second.changes(context.realm, request))
                }
            } catch is KeyNeeded {}
        }
    }
}

/// The signing keys of new tenants and pools, by their positions in the document. Keys are generated outside of transactions.
struct ApplyKeys {
    private(set) var tenants: [Int: NewSigningKey] = [:]
    private(set) var pools: [Int: NewSigningKey] = [:]

    mutating func add(for plan: ApplyPlan, _ context: ServiceContext, at now: Int64) throws {
        func key(_ owner: KeyOwner, _ algorithm: String) throws -> NewSigningKey {
            try NewSigningKey(for: owner, algorithm: Crypto.SigningAlgorithm(rawValue: algorithm)!, activeAt: now, context)
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
    let applicationIds: [String]
    /// The encrypted client secrets of identity providers, or `nil` for a provider without one.
    let secrets: [[UInt8]?]
    let hooks: HooksService

    init(for request: SystemApply.Params, _ context: ServiceContext, _ hooks: HooksService) {
        self.hooks = hooks
        deliveries = Dictionary(
            uniqueKeysWithValues: (request.tenants ?? []).enumerated().compactMap { place, tenant in
                tenant.delivery.map { (place, $0.sealed(for: tenant.tenantId, context.vault)) }
            })
        poolIds = (request.pools ?? []).map { $0.poolId ?? context.newIdentifier() }
        secrets = (request.idps ?? []).map { $0.sealedSecret(context.vault) }
        applicationIds = (request.applications ?? []).map { _ in context.random.uuid() }
        roleIds = (request.roles ?? []).map { _ in RoleRecord.newId(context.random) }
    }
}
