import Contract
import Crypto
import ServiceContext
import SigningKeys

extension PoolService {
    /// Creates a pool with its own signing key, which is active immediately.
    ///
    /// - Throws: `PoolExists`, `InvalidPoolProvider`, `TenantNotFound`; `InvalidParams` if a tag contains characters that are not allowed.
    /// - Source: Amazon Cognito Federated Identities API Reference, `CreateIdentityPool`.
    public func create(_ request: PoolCreate.Params, _ call: any CallContext) throws -> PoolCreate.Result {
        let now = context.clock.now
        try ResourceTags.check(request.tags)
        let id = request.poolId ?? context.newIdentifier()
        let algorithm = Crypto.SigningAlgorithm(rawValue: request.signingAlgorithm.rawValue)!
        let key = try NewSigningKey(for: .pool(id), algorithm: algorithm, activeAt: now, context)
        let providers = try [LoginProvider](
            request.providers ?? [], developerProvider: request.developerProvider, in: context.realm,
            allowsPlainLoopback: context.foreign.allowsPlainLoopback)
        let pool = PoolRecord(
            id: id, name: request.name, allowUnauthenticated: request.allowUnauthenticated, allowClassicFlow: request.allowClassicFlow,
            developerProvider: request.developerProvider, providers: providers, signingAlgorithm: request.signingAlgorithm.rawValue,
            tags: request.tags?.object ?? [:], createdAt: now, updatedAt: now)
        try context.database.write { tx in
            try configurations.tenants.requireTenants(of: providers, in: tx)
            guard try tx.insert(pool) else { throw PoolExists(poolId: id) }
            try tx.insert(key, at: now)
            try context.audit.record(
                AuditEvent(method: PoolCreate.info.name, by: call, poolId: id, details: ["kid": .string(key.kid)]), at: now, in: tx
            )
        }
        return answer(pool)
    }
}
