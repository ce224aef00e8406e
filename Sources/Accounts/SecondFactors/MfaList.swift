import Contract

extension MfaService {
    /// - Throws: the errors of ID token verification; `CallerNotAllowed`, `AccountNotFound`.
    public func list(_ request: MfaList.Params, _ call: any CallContext) throws -> MfaList.Result {
        let now = context.clock.now
        let token: VerifiedTenantToken? =
            if case .idToken(let idToken) = request.account { try verify(idToken, at: now) } else { nil }
        return try context.database.read { tx in
            let (account, tenant) =
                switch request.account {
                case .accountId(let id): try named(id, by: MfaList.info.name, call, in: tx)
                case .idToken:
                    try { (try AuthenticatedAccount($0, in: tx).account, try configurations.tenant($0.tenantId, in: tx)) }(token!)
                }
            return MfaList.Result(
                factors: try tx.factors(of: account.id).map(\.answer),
                recoveryCodesLeft: Int64(try tx.recoveryCodesLeft(of: account.id)), policy: tenant.mfa)
        }
    }
}
