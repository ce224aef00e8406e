import Contract

extension KeyService {
    /// The keys of one pool, one issuer, or of all, without the ones that are gone.
    ///
    /// - Throws: `PoolNotFound`, `IssuerNotFound`, `InvalidCursor`.
    public func list(_ request: KeyList.Params, _ call: any CallContext) throws -> KeyList.Result {
        let now = surroundings.clock.now
        let start = try place(after: request.cursor, of: KeyList.info.name)
        let keys = try surroundings.database.read { tx -> [Contract.SigningKey] in
            let owners: [KeyOwner]
            switch request.owner {
            case .poolId(let id): owners = [.pool(try catalogue.pool(id, in: tx).id)]
            case .issuer(let issuer):
                guard let owner = surroundings.realm.owner(ofIssuer: issuer) else { throw IssuerNotFound(issuer: issuer) }
                owners = [owner]
            case nil: owners = try tx.keyOwners()
            }
            let keys = try owners.flatMap { owner in
                let ring = try catalogue.signingKeys.ring(of: owner, in: tx)
                return ring.keys.compactMap { answer($0, in: ring, at: now) }
            }
            if keys.isEmpty, case .issuer(let issuer) = request.owner { throw IssuerNotFound(issuer: issuer) }
            return keys
        }
        let page = Page(keys.sorted { $0.kid < $1.kid }.filter { $0.kid > start }, limit: request.limit, place: \.kid)
        return KeyList.Result(keys: page.elements, nextCursor: page.nextCursor)
    }
}
