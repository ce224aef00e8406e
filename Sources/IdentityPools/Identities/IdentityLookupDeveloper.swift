import Contract
import ServiceContext
import Storage

extension IdentityService {
    /// Returns the identity of a developer user identifier, or the identifiers of an identity.
    ///
    /// - Throws: `PoolNotFound`, `UnsupportedDeveloperProvider`, `IdentityNotFound`, `DeveloperUserNotFound`, `LoginConflict`,
    ///   `InvalidCursor`.
    /// - Source: Amazon Cognito Federated Identities API Reference, `LookupDeveloperIdentity`.
    public func lookupDeveloper(_ request: IdentityLookupDeveloper.Params, _ call: any CallContext) throws -> IdentityLookupDeveloper.Result
    {
        try context.database.read { tx in
            let pool = try configurations.pool(request.poolId, in: tx)
            try pool.requireDeveloperProvider(nil)
            let provider = pool.developerProvider!
            let owner = try request.developerUserIdentifier.map { subject -> String in
                guard let owner = try tx.identity(owning: Login(provider: provider, subject: subject), in: pool.id) else {
                    throw DeveloperUserNotFound(poolId: pool.id, parameter: "/developerUserIdentifier")
                }
                return owner
            }
            if let given = request.identityId {
                guard let identity = try tx.identity(given), identity.poolId == pool.id else { throw IdentityNotFound(identityId: given) }
                if let owner, owner != given {
                    throw LoginConflict(provider: provider, reason: "the identifier belongs to another identity than \(given)")
                }
                if owner != nil {
                    return IdentityLookupDeveloper.Result(
                        identityId: given, developerUserIdentifiers: [request.developerUserIdentifier!])
                }
            }
            let id = request.identityId ?? owner!
            let list = PagedList(method: IdentityLookupDeveloper.info.name, scope: id)
            let found = try tx.subjects(
                of: provider, linkedTo: id, after: try list.place(after: request.cursor), limit: Int(request.limit) + 1)
            let page = list.page(found, limit: request.limit, place: \.self)
            return IdentityLookupDeveloper.Result(
                identityId: id, developerUserIdentifiers: page.elements, nextCursor: page.nextCursor)
        }
    }
}

extension Transaction {
    fileprivate func subjects(of provider: String, linkedTo identityId: String, after subject: String, limit: Int) throws -> [String] {
        try query(
            "SELECT subject FROM login WHERE identity_id = $1 AND provider = $2 AND subject > $3 ORDER BY subject LIMIT $4", identityId,
            provider, subject, limit
        ) { $0.string(0) }
    }
}
