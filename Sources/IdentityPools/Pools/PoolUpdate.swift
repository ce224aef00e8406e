import Contract
import JSON
import ServiceContext
import Storage

extension PoolService {
    /// Replaces the settings of a pool. If `developerProvider` is omitted, it keeps its value.
    ///
    /// - Throws: `PoolNotFound`, `DeveloperProviderFixed`, `InvalidPoolProvider`, `TenantNotFound`; `InvalidParams` if a tag contains
    ///   characters that are not allowed.
    /// - Source: Amazon Cognito Federated Identities API Reference, `UpdateIdentityPool`.
    public func update(_ request: PoolUpdate.Params, _ call: any CallContext) throws -> PoolUpdate.Result {
        let now = context.clock.now
        try ResourceTags.check(request.tags)
        return try change(request.poolId, by: PoolUpdate.info.name, call, at: now) { pool, tx in
            let developerProvider = try pool.developerProvider(asking: request.developerProvider)
            let providers = try [LoginProvider](
                request.providers ?? [], developerProvider: developerProvider, in: context.realm,
                allowsPlainLoopback: context.foreign.allowsPlainLoopback)
            try configurations.tenants.requireTenants(of: providers, in: tx)
            return PoolRecord(
                id: pool.id, name: request.name, allowUnauthenticated: request.allowUnauthenticated,
                allowClassicFlow: request.allowClassicFlow, developerProvider: developerProvider,
                providers: providers, signingAlgorithm: pool.signingAlgorithm, tags: request.tags?.object ?? [:], createdAt: pool.createdAt,
                updatedAt: now,
                roleMappings: pool.roleMappings, tagMaps: pool.tagMaps.only(providers.map(\.name)))
        }
    }

    func change(
        _ id: String, by method: String, _ call: any CallContext, at now: Int64, _ change: (PoolRecord, Transaction) throws -> PoolRecord
    ) throws -> Pool {
        answer(
            try context.database.write { tx in
                try tx.lock([id])
                guard let pool = try tx.pool(id) else { throw PoolNotFound(poolId: id) }
                let changed = try change(pool, tx)
                try tx.advanceEpoch()
                try tx.update(changed)
                if changed.tagMaps.json != pool.tagMaps.json { try tx.setTagMaps(changed.tagMaps, of: id) }
                try context.audit.record(AuditEvent(method: method, by: call, poolId: id), at: now, in: tx)
                return changed
            })
    }
}

extension PoolRecord {
    func with(tags: JSONObject, at now: Int64) -> PoolRecord {
        PoolRecord(
            id: id, name: name, allowUnauthenticated: allowUnauthenticated, allowClassicFlow: allowClassicFlow,
            developerProvider: developerProvider, providers: providers, signingAlgorithm: signingAlgorithm, tags: tags,
            createdAt: createdAt, updatedAt: now, roleMappings: roleMappings, tagMaps: tagMaps)
    }
}
