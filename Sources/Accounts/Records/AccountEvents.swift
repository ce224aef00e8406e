import Contract
import ServiceContext
import Storage

/// Events of changes that no audit record describes: of links that wait for a second factor, single sessions, and lockouts.
extension Transaction {
    func insertLinkEvent(_ providerId: String, _ account: AccountRecord, by method: String, at now: Int64) throws {
        try insertLoginEvent(.linked, providerId, account, by: method, at: now)
    }

    /// - Parameter type: `linked` or `unlinked`.
    func insertLoginEvent(_ type: EventType, _ providerId: String, _ account: AccountRecord, by method: String, at now: Int64) throws {
        var event = SecurityEventDraft(type, by: method, account: (account.tenantId, account.id))
        event.members["providers"] = .array([.string(providerId)])
        try insert(event, at: now)
    }

    /// - Parameter session: The session that ended, or `nil` if all sessions of the account ended.
    func insertEndEvent(_ account: AccountRecord, session: String? = nil, by method: String, at now: Int64) throws {
        var event = SecurityEventDraft(.sessionEnded, by: method, account: (account.tenantId, account.id))
        event.members["sessionId"] = session.map { .string($0) }
        try insert(event, at: now)
    }

    /// - Parameter subject: The subject whose failures are counted. Only those of existing accounts lock an account.
    func insertLockEvent(_ lockedUntil: Int64, of subject: String, at now: Int64) throws {
        let parts = subject.split(separator: "/", maxSplits: 1).map(String.init)
        guard parts.count == 2, ["account", "factor"].contains(parts[0]), let account = try account(parts[1]) else { return }
        var event = SecurityEventDraft(.locked, by: nil, account: (account.tenantId, account.id))
        event.members["lockedUntil"] = .number(.init(lockedUntil))
        try insert(event, at: now)
    }
}
