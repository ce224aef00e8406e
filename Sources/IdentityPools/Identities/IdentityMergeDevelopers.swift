import Contract
import ServiceContext

extension IdentityService {
    /// Merges the identities of two developer user identifiers into the identity of the destination.
    ///
    /// - Throws: `PoolNotFound`, `UnsupportedDeveloperProvider`, `DeveloperUserNotFound`, `LoginConflict`.
    /// - Source: Amazon Cognito Federated Identities API Reference, `MergeDeveloperIdentities`.
    public func mergeDevelopers(_ request: IdentityMergeDevelopers.Params, _ call: any CallContext) throws -> IdentityMergeDevelopers.Result
    {
        let now = context.clock.now
        let id = try context.database.write(isolation: .serializable) { tx in
            let pool = try configurations.pool(request.poolId, in: tx)
            try pool.requireDeveloperProvider(request.developerProvider)
            func owner(of subject: String, _ parameter: String) throws -> String {
                guard let owner = try tx.identity(owning: Login(provider: request.developerProvider, subject: subject), in: pool.id) else {
                    throw DeveloperUserNotFound(poolId: pool.id, parameter: parameter)
                }
                return owner
            }
            let source = try owner(of: request.sourceUserIdentifier, "/sourceUserIdentifier")
            let destination = try owner(of: request.destinationUserIdentifier, "/destinationUserIdentifier")
            if source == destination { return destination }
            try IdentityResolution.refuseConflicts(
                among: try tx.logins(of: destination) + tx.logins(of: source), developerProvider: pool.developerProvider)
            try tx.absorb(source, into: destination, at: now)
            try tx.setState(.authenticated, of: destination, at: now)
            try context.audit.record(
                AuditEvent(
                    method: IdentityMergeDevelopers.info.name, by: call, poolId: pool.id, details: ["merged": [.string(source)]]
                ).about(identityId: destination), at: now, in: tx)
            return destination
        }
        return IdentityMergeDevelopers.Result(identityId: id)
    }
}
