import Contract
import ServiceContext
import Storage

/// The stored facts about an opaque token.
public enum InspectedToken: Sendable {
    /// - Parameter kind: The kind of the flow; `nil` if the flow is over and removed.
    case continuation(kind: String?, expiresAt: Int64?)
    /// - Parameter state: The reason the token is refused; `nil` if it can be used.
    case refresh(sessionId: String, accountId: String?, expiresAt: Int64, state: String?)
}

extension SessionService {
    /// Returns what the store knows of a continuation token or refresh token. Uses nothing up, and changes nothing.
    public func inspect(_ token: String) throws -> (token: InspectedToken, now: Int64)? {
        let now = context.clock.now
        let mac = completion.mac(ofRefreshToken: token)
        let found = try context.database.read { tx -> InspectedToken? in
            do {
                let id = try ContinuationTokens(context).read(token, in: tx).id
                let flow = try tx.flow(id)
                return .continuation(kind: flow?.kind.rawValue, expiresAt: flow?.expiresAt)
            } catch is ContinuationTokenInvalid {}
            guard let record = try tx.refreshToken(mac) else { return nil }
            let session = try tx.session(record.sessionId)
            let state: String? =
                if session == nil {
                    "the session has ended (\(RefreshTokenInvalid.type))"
                } else if record.usedAt != nil {
                    "it was used already (\(RefreshTokenReused.type))"
                } else {
                    record.expiresAt <= now ? "it has expired (\(RefreshTokenExpired.type))" : nil
                }
            return .refresh(sessionId: record.sessionId, accountId: session?.accountId, expiresAt: record.expiresAt, state: state)
        }
        return found.map { ($0, now) }
    }
}
