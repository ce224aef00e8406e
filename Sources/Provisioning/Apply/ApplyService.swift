import Accounts
import Contract
import Crypto
import IdentityPools
import ServiceContext
import SigningKeys
import Storage

/// Brings the store to what one document declares: `system.apply`.
public struct ApplyService: Sendable {
    let surroundings: ServiceContext

    public init(_ surroundings: ServiceContext) { self.surroundings = surroundings }

    /// Makes or changes what differs from the document, all of it in one transaction. A document that says what is there writes nothing.
    ///
    /// - Throws: `InvalidParams` with everything that is wrong with the document.
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
                // Decides by many rows that others may write, so it is as if nobody else did.
                return try surroundings.database.write(isolation: .serializable) { tx in
                    let second = try plan(tx)
                    try second.write(keys, trace: call.trace, audit: surroundings.audit, realm: surroundings.realm, at: now, in: tx)
                    return SystemApply.Result(dryRun: false, changes: second.changes(surroundings.realm, request))
                }
            } catch is KeyNeeded {}
        }
    }
}

/// What new tenants and pools sign with, by their places in the document. Keys are made outside of transactions.
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

/// Thrown where a tenant or pool turns out to be new that was there when keys were made, which no transaction does.
struct KeyNeeded: Error {}

/// What no transaction makes up, by its place in the document: ids for whatever turns out to be new, and sealed secrets.
struct FreshParts: Sendable {
    /// Of tenants that declare one.
    let deliveries: [Int: TenantDelivery]
    let poolIds: [String]
    let roleIds: [String]
    /// The client secrets of identity providers, sealed; nil for one without.
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
