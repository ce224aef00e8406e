import Crypto
import JSON
import Platform
import Storage

/// One change of state, as the audit log keeps it: who and what by ids alone, never an address or a name.
struct AuditEvent: Sendable {
    let method: String
    var trace: String?
    var poolId: String?
    var identityId: String?
    /// What else it concerns: a role's ARN, a key's id.
    var subject: String?
    /// Further ids and settings, without secrets.
    var details: JSONObject = [:]
}

/// Appends records to a chain of HMACs, one chain for each writing connection. Each record's MAC covers the MAC before it, so
/// that nothing can be altered, taken out or put in between; a chain's first record names the heads of the chains before it,
/// so that no chain can be cut off unnoticed either.
struct AuditLog: Sendable {
    private let key: SecretBytes

    init(key: SecretBytes) { self.key = key }

    /// Appends `event` to the chain of the writing connection, in the transaction that makes the change.
    func record(_ event: AuditEvent, at now: Int64, in tx: Transaction) throws {
        let chain = tx.connectionId
        let head = try tx.auditHead(of: chain)
        var event = event
        if head == nil, let heads = try heads(in: tx) { event.details["heads"] = .object(heads) }
        let record = AuditRecord(chain: chain, number: (head?.number ?? 0) + 1, at: now, event: event)
        try tx.insert(record, mac: mac(of: record, after: head?.mac ?? []))
    }

    /// The head of every chain that no other chain's beginning has named at its present length.
    private func heads(in tx: Transaction) throws -> JSONObject? {
        var open: [String: AuditHead] = [:]
        for head in try tx.auditHeads() { open[head.chain] = head }
        for named in try tx.namedAuditHeads() {
            for (chain, head) in named.members where open[chain]?.text == head.string { open[chain] = nil }
        }
        var members: JSONObject = [:]
        for head in open.values.sorted(by: { $0.chain < $1.chain }) { members[head.chain] = .string(head.text) }
        return members.isEmpty ? nil : members
    }

    /// HMAC-SHA-256 over the MAC before it and the record as JSON.
    func mac(of record: AuditRecord, after previous: [UInt8]) -> [UInt8] {
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
        return HMAC.sha256(key: key, previous + writer.bytes)
    }
}

/// A record with its place in its chain.
struct AuditRecord: Sendable {
    let chain: String
    let number: Int64
    let at: Int64
    let event: AuditEvent
}

/// The end of a chain.
struct AuditHead: Sendable {
    let chain: String
    let number: Int64
    let mac: [UInt8]

    /// `<number>.<mac in base64url>`, as it is named in other chains and exported.
    var text: String { "\(number).\(Base64URL.encode(mac))" }
}
