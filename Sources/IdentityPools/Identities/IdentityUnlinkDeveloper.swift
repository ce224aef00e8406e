import Contract
import ServiceContext
import Storage

extension IdentityService {
    /// Unlinks a developer user identifier from an identity.
    ///
    /// - Throws: `PoolNotFound`, `UnsupportedDeveloperProvider`, `IdentityNotFound`, `DeveloperUserNotFound`, `LoginConflict`.
    /// - Source: Amazon Cognito Federated Identities API Reference, `UnlinkDeveloperIdentity`.
    public func unlinkDeveloper(_ request: IdentityUnlinkDeveloper.Params, _ call: any CallContext) throws -> IdentityUnlinkDeveloper.Result
    {
        let now = context.clock.now
        let id = request.identityId
        return try context.database.write(isolation: .serializable) { tx in
            let pool = try configurations.pool(request.poolId, in: tx)
            try pool.requireDeveloperProvider(request.developerProvider)
            guard let identity = try tx.identity(id), identity.poolId == pool.id else { throw IdentityNotFound(identityId: id) }
            let login = Login(provider: request.developerProvider, subject: request.developerUserIdentifier)
            guard let owner = try tx.identity(owning: login, in: pool.id) else {
                throw DeveloperUserNotFound(poolId: pool.id, parameter: "/developerUserIdentifier")
            }
            guard owner == id else {
                throw LoginConflict(provider: login.provider, reason: "the identifier belongs to another identity than \(id)")
            }
            _ = try tx.unlink(login.provider, subject: login.subject, from: id)
            let event = AuditEvent(method: IdentityUnlinkDeveloper.info.name, by: call, poolId: pool.id).about(identityId: id)
            return try finishUnlinking(id, [login.provider], event, at: now, in: tx)
        }
    }
}
