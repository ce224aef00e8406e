import Contract
import ServiceContext

extension CredentialsProviderService {
    /// Removes credentials, identity and logins, in memory and in the store.
    ///
    /// - Throws: `ProviderNotOpen`.
    public func clearKeychain(
        _ request: CredentialsProviderClearKeychain.Params, _ call: any CallContext
    ) throws -> CredentialsProviderClearKeychain.Result {
        let provider = try provider(request.provider)
        let now = context.clock.now
        let key = provider.settings.key
        try provider.change { memory in
            try context.database.write { tx in
                try tx.lock([key.lockName])
                guard let identity = try tx.keptIdentity(key), try tx.forgetIdentity(key) else { return }
                let event = AuditEvent(method: CredentialsProviderClearKeychain.info.name, by: call, poolId: key.poolId)
                    .about(identityId: identity.id)
                try context.audit.record(event, at: now, in: tx)
            }
            memory.dropAll()
        }
        return .init(provider: request.provider)
    }
}
