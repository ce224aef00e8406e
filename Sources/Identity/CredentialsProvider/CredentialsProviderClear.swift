import Contract

extension CredentialsProviderService {
    /// Drops the credentials and keeps the identity.
    ///
    /// - Throws: `ProviderNotOpen`.
    /// - Source: cognito.md 8.3, clearCredentials.
    public func clearCredentials(
        _ request: CredentialsProviderClearCredentials.Params, _ call: any CallContext
    ) throws -> CredentialsProviderClearCredentials.Result {
        let identityId = try providers.find(request.provider).change { memory in
            memory.dropCredentials()
            return memory.identityId
        }
        return .init(provider: request.provider, identityId: identityId)
    }

    /// Drops credentials, identity and logins, in memory and in the store.
    ///
    /// - Throws: `ProviderNotOpen`.
    /// - Source: cognito.md 8.3, clearKeychain; 8.6.
    public func clearKeychain(
        _ request: CredentialsProviderClearKeychain.Params, _ call: any CallContext
    ) throws -> CredentialsProviderClearKeychain.Result {
        let provider = try providers.find(request.provider)
        let now = surroundings.clock.now
        let key = provider.settings.key
        try provider.change { memory in
            try surroundings.database.write { tx in
                guard let identity = try tx.keptIdentity(key), try tx.forgetIdentity(key) else { return }
                let event = AuditEvent(
                    method: CredentialsProviderClearKeychain.info.name, trace: call.trace, poolId: key.poolId, identityId: identity.id)
                try surroundings.audit.record(event, at: now, in: tx)
            }
            memory.dropAll()
        }
        return .init(provider: request.provider)
    }

    /// Forgets an open provider; what is kept in the store stays.
    ///
    /// - Throws: `ProviderNotOpen`.
    public func close(_ request: CredentialsProviderClose.Params, _ call: any CallContext) throws -> CredentialsProviderClose.Result {
        try providers.remove(request.provider)
        return .init(provider: request.provider)
    }
}
