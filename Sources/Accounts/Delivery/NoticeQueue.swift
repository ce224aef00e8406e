import Contract
import Crypto
import JSON
import Messages
import ServiceContext
import Storage

/// A notice that waits to be sent.
struct QueuedNotice: Sendable {
    let id: String
    let tenantId: String
    /// Sealed, since it holds the address.
    let content: [UInt8]
    /// How often sending it has failed.
    let attempts: Int64
    let madeAt: Int64
    /// When it is to be sent, or sent again; while it is being sent, when another process may do so.
    let dueAt: Int64
}

/// The content of a notice to one address.
struct Notice: Sendable, Equatable {
    let purpose: MessagePurpose
    /// The address.
    let to: String
    /// The name of a factor or a provider, or a number; empty where the purpose says it all.
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

    init(_ purpose: MessagePurpose, to address: String, what: String, language: String?, of accountId: String, by method: String) {
        self.purpose = purpose
        to = address
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
            of: object["accountId"]?.string ?? "", by: object["method"]?.string ?? "")
    }

    private static func sealName(_ id: String) -> String { "notice \(id)" }
}

/// The table of notices that wait to be sent.
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

    /// The oldest notice that is due. After the clock was set back, a notice that is due in the far future is due now.
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

    /// When the next notice is due; nil if none waits.
    func nextNoticeDue() throws -> Int64? { try queryOne("SELECT due_at FROM notice ORDER BY due_at LIMIT 1") { $0.int(0) } }

    /// Makes a notice due at another time.
    ///
    /// - Returns: false if another process was faster.
    func postpone(_ notice: QueuedNotice, until dueAt: Int64, attempts: Int64) throws -> Bool {
        try execute(
            "UPDATE notice SET due_at = $3, attempts = $4 WHERE id = $1 AND due_at = $2", notice.id, notice.dueAt, dueAt, attempts) == 1
    }

    func deleteNotice(_ id: String) throws { try execute("DELETE FROM notice WHERE id = $1", id) }
}

/// How many notices an account gets, and when one that could not be sent is tried again.
enum NoticeRule {
    /// The most emails to the owner of an account within an hour; then one that says so.
    static let most: Int64 = 10
    static let windowSeconds: Int64 = 3600
    /// For how long a notice is retried.
    static let retrySeconds: Int64 = 86_400
    /// For how long a process has a notice to itself: longer than any mail server or webhook is waited for.
    static let claimSeconds: Int64 = 60
    static let longestPauseSeconds: Int64 = 3600
    /// The failures after which a sign-in is told.
    static let tellingFailures: Int64 = 5

    /// What becomes of the notice that is number `count` of its account within the window.
    static func purpose(_ purpose: MessagePurpose, number count: Int64) -> MessagePurpose? {
        count <= most ? purpose : count == most + 1 ? .noticesPaused : nil
    }

    /// The pause after a failure: 1 minute, then twice as long each time, up to an hour.
    static func pauseSeconds(afterAttempts attempts: Int64) -> Int64 { min(longestPauseSeconds, 60 << min(max(attempts - 1, 0), 6)) }

    /// Whether a notice that has failed again is given up.
    static func isOver(madeAt: Int64, at now: Int64) -> Bool { now >= madeAt + retrySeconds }
}
