import Accounts
import Audit
import IdentityPools
import ServiceContext
import SigningKeys

/// The expiry jobs of all modules.
extension Sweep {
    /// - Parameter auditRetentionSeconds: The time for which audit records are kept; `nil` keeps them forever.
    public static func all(of surroundings: ServiceContext, auditRetentionSeconds: Int64?) -> [Sweep] {
        [.revocations, .signingKeys, .flows, .counts, .clients, .sendClaims, .sessions, .spentTokens, .idpFlows, .mergedRefreshTokens]
            + (auditRetentionSeconds.map { [.audit(AuditRetention(log: surroundings.audit, seconds: $0))] } ?? [])
    }
}
