import Contract
import Crypto
import JSON
import Messages
import ServiceContext
import Storage

/// A notice in the queue.
struct QueuedNotice: Sendable {
    let id: String
    let tenantId: String
    /// The notice, encrypted because it contains the address.
    let content: [UInt8]
    /// The number of failed attempts.
    let attempts: Int64
    let madeAt: Int64
    /// The time at which to send the notice, or to retry. While a process is sending it, the time at which another one may take over.
    let dueAt: Int64
}

/// A notice to one address.
struct Notice: Sendable, Equatable {
    let purpose: MessagePurpose
    /// The email address.
    let to: String
    /// The name of a factor or provider, or a number. Empty if the purpose needs no detail.
    let what: String
    /// The language tag of the flow that made the change.
    let language: String?
    let accountId: String
    /// The method that made the change.
    let method: String

    func sealed(as id: String, _ vault: Vault) -> [UInt8] {
        var object: JSONObject = [
            "purpose": .string(purpose.rawValue), "to": .string(to), "what": .string(what), "accountId": .string(accountId),
            "method": .string(method),
        ]
        object["language"] = language.map { .string($0) }
        return vault.seal(SecretBytes(JSONValue.object(object).bytes), as: Self.sealName(id))
    }

    init(_ purpose: MessagePurpose, to: String, what: String, language: String?, accountId: String, method: String) {
        self.purpose = purpose
        self.to = to
        self.what = what
        self.language = language
        self.accountId = accountId
        self.method = method
    }

    /// - Throws: `SealBroken`.
    init(_ queued: QueuedNotice, _ vault: Vault) throws {
        let name = Self.sealName(queued.id)
        let object = (try? JSONValue(parsing: try vault.open(queued.content, as: name).copy()))?.object ?? [:]
        guard let purpose = object["purpose"]?.string.flatMap(MessagePurpose.init), let to = object["to"]?.string else {
            throw SealBroken(name: name)
        }
        self.init(
            purpose, to: to, what: object["what"]?.string ?? "", language: object["language"]?.string,
            accountId: object["accountId"]?.string ?? "", method: object["method"]?.string ?? "")
    }

    private static func sealName(_ id: String) -> String { "notice \(id)" }
}

/// The table of queued notices.
package enum NoticeTables {
    package static let statements: [SQL] = [
        """
        CREATE TABLE notice (
            id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, content BYTEA NOT NULL, attempts BIGINT NOT NULL, made_at BIGINT NOT NULL,
            due_at BIGINT NOT NULL)
        """,
        "CREATE INDEX notice_due ON notice (due_at)",
    ]
}

extension Transaction {
    func insert(_ notice: QueuedNotice) throws {
        try execute(
            "INSERT INTO notice (id, tenant_id, content, attempts, made_at, due_at) VALUES ($1, $2, $3, $4, $5, $6)", notice.id,
            notice.tenantId, notice.content, notice.attempts, notice.madeAt, notice.dueAt)
    }

    /// Returns the oldest due notice. A notice whose time is far in the future is also due: the clock was set back.
    func dueNotice(at now: Int64) throws -> QueuedNotice? {
        try queryOne(
            """
            SELECT id, tenant_id, content, attempts, made_at, due_at FROM notice WHERE due_at <= $1 OR due_at > $2
            ORDER BY made_at, id LIMIT 1
            """, now, now + 2 * NoticeRule.longestPauseSeconds
        ) {
            QueuedNotice(
                id: $0.string(0), tenantId: $0.string(1), content: $0.bytes(2), attempts: $0.int(3), madeAt: $0.int(4), dueAt: $0.int(5))
        }
    }

    /// Returns the time at which the next notice is due, or `nil` if the queue is empty.
    func nextNoticeDue() throws -> Int64? { try queryOne("SELECT due_at FROM notice ORDER BY due_at LIMIT 1") { $0.int(0) } }

    /// Changes the time at which a notice is due.
    ///
    /// - Returns: `false` if another process changed it first.
    func postpone(_ notice: QueuedNotice, until dueAt: Int64, attempts: Int64) throws -> Bool {
        try execute(
            "UPDATE notice SET due_at = $3, attempts = $4 WHERE id = $1 AND due_at = $2", notice.id, notice.dueAt, dueAt, attempts) == 1
    }

    func deleteNotice(_ id: String) throws { try execute("DELETE FROM notice WHERE id = $1", id) }
}

/// The limits on notices per account, and the times at which failed notices are retried (Sources/Accounts/README.md, "Notices").
enum NoticeRule {
    /// The maximum number of emails to the user of an account within an hour. One more announces that notices are paused.
    static let most: Int64 = 10
    static let windowSeconds: Int64 = 3600
    /// The time for which a notice is retried, in seconds.
    static let retrySeconds: Int64 = 86_400
    /// The time for which a process claims a notice, in seconds. It exceeds the timeouts of mail servers and webhooks.
    static let claimSeconds: Int64 = 60
    static let longestPauseSeconds: Int64 = 3600
    /// The number of failures after which a sign-in causes a notice.
    static let tellingFailures: Int64 = 5

    /// Returns the purpose of the notice with number `count` in the window of its account, or `nil` if it must not be sent.
    static func purpose(_ purpose: MessagePurpose, number count: Int64) -> MessagePurpose? {
        count <= most ? purpose : count == most + 1 ? .noticesPaused : nil
    }

    /// Returns the pause after a failure: 1 minute, doubled after each further failure, at most 1 hour.
    static func pauseSeconds(afterAttempts attempts: Int64) -> Int64 { min(longestPauseSeconds, 60 << min(max(attempts - 1, 0), 6)) }

    /// Returns whether a notice that failed is no longer retried.
    static func isOver(madeAt: Int64, at now: Int64) -> Bool { now >= madeAt + retrySeconds }
}

extension Transaction {
    /// Counts a notice to the user of an account. Notices have their own counter, separate from codes.
    ///
    /// - Returns: The number of notices within the hour, including this one.
    func countNotice(of accountId: String, at now: Int64) throws -> Int64 {
        // Tenant IDs contain no space, so the key is unique.
        let subject = "notices of \(accountId)"
        var window = try sendWindow(of: subject, NoticeRule.windowSeconds, at: now)
        window.sent += 1
        try set(window, of: subject, NoticeRule.windowSeconds)
        return window.sent
    }
}
