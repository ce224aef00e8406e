import Contract
import Platform
import ServiceContext
import Storage

/// Who is handing over a message for a flow. It stands in the store while the message is on its way, so that the same request, in this
/// process or another one, waits for the first instead of sending a second message.
struct SendClaim: Sendable {
    /// How long one is good: longer than any mail server or webhook is waited for. After it whoever made it has come to an end itself.
    static let seconds: Int64 = 15

    /// A flow that is there already, or the request that is to begin one.
    let subject: String
    /// Whose it is: a random name for each attempt.
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

    /// Whether it is to be waited for; not if the clock was set back since.
    func holds(at now: Int64) -> Bool { expiresAt > now && expiresAt <= now + 2 * Self.seconds }
}

/// How long a request waits for another one's message.
struct SendPatience: Sendable {
    /// Longer than a claim is good: whoever waits for a process that is gone takes over.
    static let seconds: Int64 = 20
    /// How often the store is looked at.
    private static let pauseNanoseconds: UInt64 = 40_000_000

    private let deadline = Monotonic.nanoseconds() + UInt64(seconds) * 1_000_000_000

    /// Waits a little.
    ///
    /// - Throws: `SendUnderway` if the time is over.
    func pause(until end: Int64, at now: Int64) throws {
        let moment = Monotonic.nanoseconds()
        if moment >= deadline { throw SendUnderway(retryAfterSeconds: max(1, end - now)) }
        _ = Gate(()).wait(deadline: min(deadline, moment + Self.pauseNanoseconds)) { _ -> Void? in nil }
    }
}

/// The table of messages that are on their way.
package enum SendClaimTables {
    package static let statements: [SQL] = [
        "CREATE TABLE send_claim (subject TEXT PRIMARY KEY, holder TEXT NOT NULL, expires_at BIGINT NOT NULL)",
        "CREATE INDEX send_claim_expires ON send_claim (expires_at)",
    ]
}

extension Transaction {
    func sendClaim(of subject: String) throws -> SendClaim? {
        try queryOne("SELECT subject, holder, expires_at FROM send_claim WHERE subject = $1", subject, row: SendClaim.init)
    }

    /// Puts it in the place of one that has ended.
    func set(_ claim: SendClaim) throws {
        try execute(
            """
            INSERT INTO send_claim (subject, holder, expires_at) VALUES ($1, $2, $3)
            ON CONFLICT (subject) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
            """, claim.subject, claim.holder, claim.expiresAt)
    }

    /// - Returns: false if it is somebody else's by now.
    func delete(_ claim: SendClaim) throws -> Bool {
        try execute("DELETE FROM send_claim WHERE subject = $1 AND holder = $2", claim.subject, claim.holder) > 0
    }
}

extension Sweep {
    /// Claims of processes that have ended amid sending.
    package static let sendClaims = Sweep(
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
