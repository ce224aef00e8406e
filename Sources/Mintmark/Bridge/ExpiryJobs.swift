import Accounts
import Audit
import IdentityPools
import ServiceContext
import SigningKeys

/// The expiry jobs of all modules.
extension ExpiryJob {
    /// - Parameter auditRetentionSeconds: The time for which audit records are kept; `nil` keeps them forever.
    public static func all(of context: ServiceContext, auditRetentionSeconds: Int64?) -> [ExpiryJob] {
        [
            .revocations, .signingKeys, .flows, .counts, .clients, .sendClaims, .sessions, .spentTokens, .idpFlows, .mergedRefreshTokens,
            .passkeyCeremonies, .actionCodes, .usedWorkloadTokens, .events,
        ]
            + (auditRetentionSeconds.map { [.audit(AuditRetention(log: context.audit, seconds: $0))] } ?? [])
    }
}
