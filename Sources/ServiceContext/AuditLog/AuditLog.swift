import Contract
import Crypto
import JSON
import Platform
import Storage

/// A state change as the audit log records it. It identifies users only by IDs, never by an email address or a name.
package struct AuditEvent: Sendable {
    package let method: String
    package var trace: String?
    package var poolId: String?
    package var identityId: String?
    /// Another affected object, such as the ARN of a role or the ID of a key.
    package var subject: String?
    /// Additional IDs and settings, without secrets.
    package var details: JSONObject = [:]

    /// The member of `details` that the record keeps the actor in.
    package static let actor = "actor"

    /// - Parameter call: The call that makes the change. Its actor becomes a member of `details`.
    package init(
        method: String, by call: (any CallContext)? = nil, poolId: String? = nil, subject: String? = nil, details: JSONObject = [:]
    ) {
        self.method = method
        self.trace = call?.trace
        self.poolId = poolId
        self.subject = subject
        self.details = details
        if let actor = call?.actor { self.details[Self.actor] = .string(actor) }
    }

    /// Returns this event with the ID of the identity that the change affects.
    package func about(identityId: String?) -> AuditEvent {
        var event = self
        event.identityId = identityId
        return event
    }
}

/// Appends records to HMAC chains, one for each writing connection. The MAC of a record includes the previous MAC, so records cannot be
/// altered, removed or inserted. The first record of a chain contains the heads of the existing chains, so the truncation of a chain is
/// also detected.
package struct AuditLog: Sendable {
    /// Reports every record, with its time.
    package let watch = AuditWatch()
    private let key: SecretBytes
    private let isTesting: Bool
    /// Whether minting a token for a known identity is also recorded.
    package let recordsIssuance: Bool

    init(key: SecretBytes, isTesting: Bool = false, recordsIssuance: Bool = false) {
        self.key = key
        self.isTesting = isTesting
        self.recordsIssuance = recordsIssuance
    }

    /// Appends `event` to the chain of the writing connection, in the transaction of the change.
    package func record(_ event: AuditEvent, at now: Int64, in tx: Transaction) throws {
        watch.noteRecord(at: now)
        let chain = try chain(in: tx)
        if let head = try tx.auditHead(of: chain) { return try append(event, after: head, at: now, in: tx) }
        // Blocks sweeps, so that references to this chain or to the chains that it will reference are not removed before this record is
        // written.
        try tx.keepSweepsAway()
        let anchors = try tx.auditAnchors()
        // Retention may have removed all records of this connection. Its chain then continues after the last removed record.
        if let removed = anchors.removed[chain] { return try append(event, after: removed, at: now, in: tx) }
        var event = event
        if let heads = AuditChainHead.members(try tx.openAuditHeads(anchors)) { event.details["heads"] = .object(heads) }
        try append(event, after: AuditChainHead(chain: chain, number: 0, mac: []), at: now, in: tx)
    }

    private static let seeded = "seed-"

    /// Testing stores with the same seed have the same records, regardless of their master keys. The log of a testing store protects
    /// nothing.
    private func key(of chain: String) -> SecretBytes { isSeeded(chain) ? SecretBytes(Array(chain.utf8)) : key }

    private func isSeeded(_ chain: String) -> Bool { isTesting && chain.hasPrefix(Self.seeded) }

    /// Returns the name of the chain: the ID of the writing connection. A testing store with a seed has one chain, named after the seed.
    package func chain(in tx: Transaction) throws -> String {
        guard isTesting, let seed = try tx.seed() else { return tx.connectionId }
        try tx.lock(["audit"])
        return Self.seeded + Hex.encode(SeededRandomGenerator.bytes(16, of: seed, for: "audit chain"))
    }

    /// Appends `event` to the chain with the last record `head`.
    package func append(_ event: AuditEvent, after head: AuditChainHead, at now: Int64, in tx: Transaction) throws {
        let record = AuditEntry(chain: head.chain, number: head.number + 1, at: now, event: event)
        let position = isSeeded(head.chain) ? try tx.auditPosition(after: now) : AuditPositions.next()
        try tx.insert(record, mac: mac(of: record, after: head.mac), position: position)
        for draft in SecurityEventDraft.drafts(of: event, emptied: tx.takeRemarks()) { try tx.insert(draft, at: now) }
    }

    /// Returns the HMAC-SHA-256 of the previous MAC and the record as JSON.
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

/// A record with its position in its chain.
package struct AuditEntry: Sendable {
    package let chain: String
    package let number: Int64
    package let at: Int64
    package let event: AuditEvent
}

/// The last record of a chain, now or at an earlier time.
package struct AuditChainHead: Hashable, Sendable {
    package let chain: String
    package let number: Int64
    package let mac: [UInt8]

    /// The text `<number>.<MAC in base64url>`, as other chains reference it.
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

    /// Returns heads as they appear in the details of a record, or `nil` if there are none.
    package static func members(_ heads: some Sequence<AuditChainHead>) -> JSONObject? {
        var members: JSONObject = [:]
        for head in heads.sorted(by: { $0.chain < $1.chain }) { members[head.chain] = .string(head.text) }
        return members.isEmpty ? nil : members
    }
}
