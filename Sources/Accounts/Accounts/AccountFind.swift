import Contract

extension AccountService {
    /// - Throws: `TenantNotFound`, `AccountNotFound`.
    public func find(_ request: AccountFind.Params, _ call: any CallContext) throws -> AccountFind.Result {
        let found = try context.database.read { tx -> Account? in
            let tenantId = try configurations.tenant(request.tenantId, in: tx).id
            return switch request.address {
            case .username(let address), .email(let address): try tx.account(named: address, in: tenantId)?.answer(in: tx)
            case .phoneNumber(let number): try tx.account(withPhoneNumber: number, in: tenantId)?.answer(in: tx)
            case .provider(let login):
                try tx.owner(ofLogin: login.subject, at: login.providerId, in: tenantId).flatMap { try tx.account($0) }?.answer(in: tx)
            }
        }
        guard let found else { throw AccountNotFound() }
        return found
    }
}
