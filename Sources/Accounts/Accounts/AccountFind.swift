import Contract

extension AccountService {
    /// - Throws: `TenantNotFound`, `AccountNotFound`.
    public func find(_ request: AccountFind.Params, _ call: any CallContext) throws -> AccountFind.Result {
        let address =
            switch request.address {
            case .username(let address), .email(let address): address
            }
        let found = try context.database.read { tx in
            try tx.account(named: address, in: try configurations.tenant(request.tenantId, in: tx).id)?.answer(in: tx)
        }
        guard let found else { throw AccountNotFound() }
        return found
    }
}
