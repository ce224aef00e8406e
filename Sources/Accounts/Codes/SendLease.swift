import Contract
import Platform
import ServiceContext
import Storage

/// The exclusive right to send a message for a flow. It is stored while the message is being sent, so that the same request, in this or
/// another process, waits for the first one instead of sending a second message.
struct SendLease: Sendable {
    /// The lifetime of a claim, in seconds. It exceeds the longest timeout of mail servers and webhooks, so its holder has finished by
    /// then.
    static let seconds: Int64 = 15

    /// The existing flow, or the request that starts one.
    let subject: String
    /// The holder of the claim: a random name for each attempt.
    let holder: String
    let expiresAt: Int64

    init(of flow: Flow, isNew: Bool, holder: String, at now: Int64) {
        subject = isNew ? "request/\(Hex.encode(flow.request))" : "flow/\(flow.id)"
        self.holder = holder
        expiresAt = now + Self.seconds
    }

    fileprivate init(_ row: Row) {
        subject = row.string(0)
        holder = row.string(1)
        expiresAt = row.int(2)
    }

    /// Returns whether the claim is valid. A claim that expires too far in the future is not valid: the clock was set back after its
    /// creation.
    func holds(at now: Int64) -> Bool { expiresAt > now && expiresAt <= now + 2 * Self.seconds }
}

/// Limits how long a request waits for the message of another one.
struct SendWaitPolicy: Sendable {
    /// The maximum waiting time, in seconds. It exceeds the lifetime of a claim, so a waiting request takes over from a process that
    /// exited.
    static let seconds: Int64 = 20
    /// The interval between two checks of the store.
    private static let pauseNanoseconds: UInt64 = 40_000_000

    private let deadline = Monotonic.nanoseconds() + UInt64(seconds) * 1_000_000_000

    /// Waits for one interval.
    ///
    /// - Throws: `SendUnderway` if the maximum waiting time has passed.
    func pause(until end: Int64, at now: Int64) throws {
        let moment = Monotonic.nanoseconds()
        if moment >= deadline { throw SendUnderway(retryAfterSeconds: max(1, end - now)) }
        _ = ConditionLock(()).wait(deadline: min(deadline, moment + Self.pauseNanoseconds)) { _ -> Void? in nil }
    }
}

/// The table of claims for messages that are being sent.
package enum SendClaimTables {
    package static let statements: [SQL] = [
        "CREATE TABLE send_claim (subject TEXT PRIMARY KEY, holder TEXT NOT NULL, expires_at BIGINT NOT NULL)",
        "CREATE INDEX send_claim_expires ON send_claim (expires_at)",
    ]
}

extension Transaction {
    func sendClaim(of subject: String) throws -> SendLease? {
        try queryOne("SELECT subject, holder, expires_at FROM send_claim WHERE subject = $1", subject, row: SendLease.init)
    }

    /// Stores a claim, replacing an expired one.
    func set(_ claim: SendLease) throws {
        try execute(
            """
            INSERT INTO send_claim (subject, holder, expires_at) VALUES ($1, $2, $3)
            ON CONFLICT (subject) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
            """, claim.subject, claim.holder, claim.expiresAt)
    }

    /// - Returns: `false` if another request holds the claim.
    func delete(_ claim: SendLease) throws -> Bool {
        try execute("DELETE FROM send_claim WHERE subject = $1 AND holder = $2", claim.subject, claim.holder) > 0
    }
}

extension ExpiryJob {
    /// Deletes claims of processes that exited while sending.
    package static let sendClaims = ExpiryJob(
        name: "claims of messages",
        hasWork: { tx, now in
            try tx.queryOne("SELECT 1 FROM send_claim WHERE expires_at < $1 LIMIT 1", now - 300) { _ in true } ?? false
        },
        remove: { tx, now, limit in
            try tx.execute(
                "DELETE FROM send_claim WHERE subject IN (SELECT s.subject FROM send_claim s WHERE s.expires_at < $1 LIMIT $2)", now - 300,
                limit)
        })
}
