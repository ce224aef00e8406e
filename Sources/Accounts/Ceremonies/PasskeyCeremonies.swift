import Contract
import Storage

/// Finds the ceremony of a continuation token.
struct PasskeyCeremonies: Sendable {
    let context: AccountsContext
    let configurations: TenantConfigurationCache

    /// - Throws: `ContinuationTokenInvalid`, `ContinuationTokenExpired`, `FlowEnded`.
    func find(_ token: String, _ kind: StoredCeremony.Kind, at now: Int64, in tx: Transaction) throws -> (StoredCeremony, TenantRecord) {
        let (id, _) = try ContinuationTokens(context).read(token, in: tx)
        guard let ceremony = try tx.ceremony(id) else {
            // The token is authentic: it is of another kind of flow, or its ceremony was deleted after it expired.
            if try tx.flow(id) != nil || tx.idpFlow(id) != nil { throw ContinuationTokenInvalid() }
            throw ContinuationTokenExpired()
        }
        guard ceremony.kind == kind else { throw ContinuationTokenInvalid() }
        guard let tenant = try configurations.knownTenant(ceremony.tenantId, in: tx) else { throw FlowEnded(.tenantDeleted) }
        try tenant.requireEnabled()
        if now >= ceremony.expiresAt { throw ContinuationTokenExpired(expiredAt: ceremony.expiresAt) }
        return (ceremony, tenant)
    }
}
