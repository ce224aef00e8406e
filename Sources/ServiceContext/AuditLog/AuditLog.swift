import Crypto
import JSON
import Platform
import Storage

/// One change of state, as the audit log keeps it: who and what by ids alone, never an address or a name.
package struct AuditEvent: Sendable {
    package let method: String
    package var trace: String?
    package var poolId: String?
    package var identityId: String?
    /// What else it concerns: a role's ARN, a key's id.
    package var subject: String?
    /// Further ids and settings, without secrets.
    package var details: JSONObject = [:]

    package init(
        method: String, trace: String? = nil, poolId: String? = nil, identityId: String? = nil, subject: String? = nil,
        details: JSONObject = [:]
    ) {
        self.method = method
        self.trace = trace
        self.poolId = poolId
        self.identityId = identityId
        self.subject = subject
        self.details = details
    }
}

/// Appends records to a chain of HMACs, one chain for each writing connection. Each record's MAC covers the MAC before it, so
/// that nothing can be altered, taken out or put in between; a chain's first record names the heads of the chains before it,
/// so that no chain can be cut off unnoticed either.
package struct AuditLog: Sendable {
    /// Is told of every record, with its time.
    package let watch = AuditWatch()
    private let key: SecretBytes
    private let isTesting: Bool

    init(key: SecretBytes, isTesting: Bool = false) {
        self.key = key
        self.isTesting = isTesting
    }

    /// Appends `event` to the chain of the writing connection, in the transaction that makes the change.
    package func record(_ event: AuditEvent, at now: Int64, in tx: Transaction) throws {
        watch.noteRecord(at: now)
        let chain = try chain(in: tx)
        if let head = try tx.auditHead(of: chain) { return try append(event, after: head, at: now, in: tx) }
        // What others say of this chain, or of those that it is to name, must not be dropped before this record is there.
        try tx.keepSweepsAway()
        let anchors = try tx.auditAnchors()
        // Retention may have removed all that this connection ever wrote; its chain goes on all the same.
        if let removed = anchors.removed[chain] { return try append(event, after: removed, at: now, in: tx) }
        var event = event
        if let heads = AuditChainHead.members(try tx.openAuditHeads(anchors)) { event.details["heads"] = .object(heads) }
        try append(event, after: AuditChainHead(chain: chain, number: 0, mac: []), at: now, in: tx)
    }

    private static let seeded = "seed-"

    /// Another store with the same seed has the same records, whatever its own key is: a test's log protects nothing.
    private func key(of chain: String) -> SecretBytes {
        isTesting && chain.hasPrefix(Self.seeded) ? SecretBytes(Array(chain.utf8)) : key
    }

    /// What a chain is called: as the writing connection, or in a testing store with a seed, where all write to one, after that.
    package func chain(in tx: Transaction) throws -> String {
        guard isTesting, let seed = try tx.seed() else { return tx.connectionId }
        try tx.lock(["audit"])
        return Self.seeded + Hex.encode(StoreRandom.bytes(16, of: seed, for: "audit chain"))
    }

    /// Appends `event` to the chain of which `head` is the last record.
    package func append(_ event: AuditEvent, after head: AuditChainHead, at now: Int64, in tx: Transaction) throws {
        let record = AuditEntry(chain: head.chain, number: head.number + 1, at: now, event: event)
        try tx.insert(record, mac: mac(of: record, after: head.mac))
    }

    /// HMAC-SHA-256 over the MAC before it and the record as JSON.
    package func mac(of record: AuditEntry, after previous: [UInt8]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginArray()
        writer.string(record.chain)
        writer.int(record.number)
        writer.int(record.at)
        writer.string(record.event.method)
        for text in [record.event.trace, record.event.poolId, record.event.identityId, record.event.subject] {
            if let text { writer.string(text) } else { writer.null() }
        }
        writer.value(.object(record.event.details))
        writer.endArray()
        return HMAC.sha256(key: key(of: record.chain), previous + writer.bytes)
    }
}

/// A record with its place in its chain.
package struct AuditEntry: Sendable {
    package let chain: String
    package let number: Int64
    package let at: Int64
    package let event: AuditEvent
}

/// The end of a chain, at present or at some moment.
package struct AuditChainHead: Hashable, Sendable {
    package let chain: String
    package let number: Int64
    package let mac: [UInt8]

    /// `<number>.<mac in base64url>`, as it is named in other chains.
    package var text: String { "\(number).\(Base64URL.encode(mac))" }

    package init(chain: String, number: Int64, mac: [UInt8]) {
        self.chain = chain
        self.number = number
        self.mac = mac
    }

    init?(chain: String, text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = Int64(parts[0]), let mac = Base64URL.decode(String(parts[1])) else { return nil }
        self.init(chain: chain, number: number, mac: mac)
    }

    /// Heads as a record's details name them; nil without any.
    package static func members(_ heads: some Sequence<AuditChainHead>) -> JSONObject? {
        var members: JSONObject = [:]
        for head in heads.sorted(by: { $0.chain < $1.chain }) { members[head.chain] = .string(head.text) }
        return members.isEmpty ? nil : members
    }
}
