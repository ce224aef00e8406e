import Contract
import JSON
import ServiceContext

extension AccountService {
    /// Replaces the custom claims of an account. Tokens issued after the call contain them.
    ///
    /// - Throws: `AccountNotFound`, `AccountMerged`, `ClaimNameReserved`, `ClaimsTooLong`.
    public func setClaims(_ request: AccountSetClaims.Params, _ call: any CallContext) throws -> AccountSetClaims.Result {
        try TenantTokenClaims.check(custom: request.claims)
        let now = context.clock.now
        return try context.database.write { tx in
            try tx.lock([request.accountId])
            guard var account = try tx.account(request.accountId) else { throw try tx.absence(of: request.accountId) }
            _ = try configurations.enabledTenant(account.tenantId, in: tx)
            account.claims = request.claims
            account.updatedAt = now
            try tx.update(account)
            try context.audit.record(
                AuditEvent(AccountSetClaims.info.name, call, tenant: account.tenantId, subject: account.id), at: now, in: tx)
            return try account.answer(in: tx)
        }
    }
}

extension TenantTokenClaims {
    /// The maximum length of custom claims as JSON without whitespace, in characters.
    static let longestCustomClaims = 1000

    /// - Throws: `ClaimNameReserved` with every reserved name; `ClaimsTooLong`.
    package static func check(custom claims: JSONObject) throws {
        let refused = claims.names.filter(isReserved)
        if !refused.isEmpty { throw ClaimNameReserved(names: refused) }
        let characters = JSONValue.object(claims).text.unicodeScalars.count
        if characters > longestCustomClaims { throw ClaimsTooLong(characters: Int64(characters)) }
    }
}
