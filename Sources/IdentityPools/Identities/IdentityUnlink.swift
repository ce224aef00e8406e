import Contract
import ServiceContext
import Storage

extension IdentityService {
    /// Unlinks public logins from an identity that a login proves.
    ///
    /// - Throws: `IdentityNotFound`, `IdentityDisabled`, `IdentityForbidden`, `LoginsDoNotMatch`, `LoginNotLinked`, and the errors of the
    ///   verification of logins.
    /// - Source: Amazon Cognito Federated Identities API Reference, `UnlinkIdentity`.
    public func unlink(_ request: IdentityUnlink.Params, _ call: any CallContext) throws -> IdentityUnlink.Result {
        let now = context.clock.now
        let id = request.identityId
        let proven = try LoginVerifier(context, configurations).prove(id, request.logins, call, now: now).value(for: call)
        if proven.proofs.isEmpty { throw IdentityForbidden(identityId: id) }
        return try context.database.write(isolation: .serializable) { tx in
            guard let identity = try tx.identity(id) else { throw IdentityNotFound(identityId: id) }
            if identity.state == .disabled { throw IdentityDisabled(identityId: id) }
            guard try proven.proofs.contains(where: { try tx.identity(owning: $0.login, in: proven.pool.id) == id }) else {
                throw LoginsDoNotMatch(identityId: id)
            }
            for provider in request.loginsToRemove {
                // A developer login must be unlinked with `identity.unlinkDeveloper`.
                if provider == proven.pool.developerProvider { throw PublicProviderRequired(provider: provider) }
                guard try tx.unlink(provider, from: id) > 0 else {
                    throw LoginNotLinked(identityId: id, provider: provider)
                }
            }
            let event = AuditEvent(method: IdentityUnlink.info.name, by: call, poolId: proven.pool.id).about(identityId: id)
            return try finishUnlinking(id, request.loginsToRemove, event, at: now, in: tx)
        }
    }

    /// Sets the state after unlinking. An identity without logins is permanently disabled; it does not become a guest again.
    func finishUnlinking(
        _ id: String, _ providers: [String], _ event: AuditEvent, at now: Int64, in tx: Transaction
    ) throws -> IdentityDescription {
        try tx.setState(try tx.logins(of: id).isEmpty ? .disabled : .authenticated, of: id, at: now)
        var event = event
        event.details["unlinked"] = .array(providers.map { .string($0) })
        try context.audit.record(event, at: now, in: tx)
        return try answer(try tx.identity(id)!, in: tx)
    }
}

extension PoolRecord {
    /// - Throws: `UnsupportedDeveloperProvider` if `name` is not the pool's developer provider.
    func requireDeveloperProvider(_ name: String?) throws {
        guard let developerProvider, name == nil || name == developerProvider else {
            throw unsupported([name].compactMap { $0 })
        }
    }

    /// - Parameter given: The given names that are not providers of the pool. Empty if the login of the developer provider is missing.
    func unsupported(_ given: [String]) -> UnsupportedDeveloperProvider {
        let reason =
            if !given.isEmpty {
                "it has no login provider \(given.joined(separator: ", "))"
            } else if let developerProvider {
                "a login of its developer provider \(developerProvider) is required"
            } else {
                "it has no developer provider; pool.update can add one"
            }
        return UnsupportedDeveloperProvider(poolId: id, given: given, reason: reason, developerProvider: developerProvider)
    }
}
