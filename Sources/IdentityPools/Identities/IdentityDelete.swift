import Contract
import ServiceContext

extension IdentityService {
    /// Deletes identities with their logins.
    ///
    /// - Source: Amazon Cognito Federated Identities API Reference, `DeleteIdentities`.
    public func delete(_ request: IdentityDelete.Params, _ call: any CallContext) throws -> IdentityDelete.Result {
        let now = context.clock.now
        try context.database.write { tx in
            for id in Set(request.identityIds).sorted() {
                guard let identity = try tx.identity(id), try tx.deleteIdentity(id) else { continue }
                try context.audit.record(
                    AuditEvent(method: IdentityDelete.info.name, by: call, poolId: identity.poolId).about(identityId: id), at: now, in: tx)
            }
        }
        return IdentityDelete.Result(unprocessed: [])
    }
}
