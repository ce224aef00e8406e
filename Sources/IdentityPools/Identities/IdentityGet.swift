import Contract
import ServiceContext

extension IdentityService {
    /// - Throws: `IdentityNotFound`.
    /// - Source: Amazon Cognito Federated Identities API Reference, `DescribeIdentity`.
    public func get(_ request: IdentityGet.Params, _ call: any CallContext) throws -> IdentityGet.Result {
        try context.database.read { tx in
            guard let identity = try tx.identity(request.identityId) else { throw IdentityNotFound(identityId: request.identityId) }
            return try answer(identity, in: tx)
        }
    }
}
