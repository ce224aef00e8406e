import Contract
import ServiceContext
import Storage

extension KeyService {
    /// Returns the keys of one pool, one issuer or all owners, except expired keys. The newest key of each owner comes first.
    ///
    /// - Throws: `PoolNotFound`, `TenantNotFound`, `IssuerNotFound`, `InvalidCursor`.
    public func list(_ request: KeyList.Params, _ call: any CallContext) throws -> KeyList.Result {
        let now = context.clock.now
        let list = PagedList(method: KeyList.info.name, scope: "\(request.owner.map { "\($0)" } ?? "")")
        let start = try list.place(after: request.cursor)
        let keys = try context.database.read { tx -> [Contract.SigningKey] in
            let owners: [KeyOwner]
            switch request.owner {
            case .poolId(let id): owners = [try known(.pool(id), in: tx)]
            case .tenantId(let id): owners = [try known(.tenant(id), in: tx)]
            case .issuer(let issuer):
                guard let owner = context.realm.owner(ofIssuer: issuer) else { throw IssuerNotFound(issuer: issuer) }
                owners = [owner]
            case nil: owners = try tx.keyOwners()
            }
            let keys = try owners.flatMap { owner in
                let ring = try signingKeys.ring(of: owner, in: tx)
                return ring.keys.reversed().compactMap { answer($0, in: ring, at: now) }
            }
            if keys.isEmpty, case .issuer(let issuer) = request.owner { throw IssuerNotFound(issuer: issuer) }
            return keys
        }
        let page = list.page(try rest(of: keys, after: start), limit: request.limit, place: \.kid)
        return KeyList.Result(keys: page.elements, nextCursor: page.nextCursor)
    }

    private func known(_ owner: KeyOwner, in tx: Transaction) throws -> KeyOwner {
        _ = try owners.algorithm(of: owner, in: tx)
        return owner
    }

    private func rest(of keys: [Contract.SigningKey], after kid: String) throws -> ArraySlice<Contract.SigningKey> {
        if kid.isEmpty { return keys[...] }
        guard let place = keys.firstIndex(where: { $0.kid == kid }) else { throw InvalidCursor(method: KeyList.info.name) }
        return keys[(place + 1)...]
    }
}
