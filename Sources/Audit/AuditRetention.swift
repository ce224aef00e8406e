import JSON
import ServiceContext
import Storage

/// Removes records that are old enough, and appends one that stands for them, so that what is left can still be verified.
package struct AuditRetention: Sendable {
    package let log: AuditLog
    /// How long records are kept.
    package let seconds: Int64

    package init(log: AuditLog, seconds: Int64) {
        self.log = log
        self.seconds = seconds
    }

    /// Whether some chain begins with a record that is old enough.
    func hasWork(at now: Int64, in tx: Transaction) throws -> Bool { try !tx.auditChains(beginningBefore: now - seconds, limit: 1).isEmpty }

    /// Removes up to `limit` records, from the beginnings of chains, up to the first that is young enough. Of a chain that does
    /// not verify nothing is removed: it is evidence.
    ///
    /// The transaction must be the only one that does this at the time.
    ///
    /// - Returns: how many were removed.
    func remove(limit: Int, at now: Int64, in tx: Transaction) throws -> Int {
        let anchors = try tx.auditAnchors()
        var removed: [AuditChainHead] = []
        var room = limit
        for chain in try tx.auditChains(beginningBefore: now - seconds, limit: limit) where room > 0 {
            guard let (last, count) = try old(chain, anchors.removed[chain], before: now - seconds, limit: room, in: tx) else { continue }
            try tx.execute("DELETE FROM audit WHERE chain = $1 AND number <= $2", chain, last.number)
            removed.append(last)
            room -= count
        }
        guard !removed.isEmpty else { return 0 }
        try record(removed, before: anchors, at: now, in: tx)
        return limit - room
    }

    /// The last of the records at the beginning of `chain` that are old enough, nil if there is none or they do not verify.
    private func old(
        _ chain: String, _ start: AuditChainHead?, before moment: Int64, limit: Int, in tx: Transaction
    ) throws -> (last: AuditChainHead, count: Int)? {
        var last = start ?? AuditChainHead(chain: chain, number: 0, mac: [])
        var count = 0
        for (record, mac) in try tx.auditRecords(of: chain, from: 0, limit: limit) {
            if record.at >= moment { break }
            guard record.number == last.number + 1, log.mac(of: record, after: last.mac) == mac else { return nil }
            last = AuditChainHead(chain: chain, number: record.number, mac: mac)
            count += 1
        }
        return count > 0 ? (last, count) : nil
    }

    /// Appends the record that stands for the removed ones. It takes over what the removed records themselves said and what is
    /// still needed: how far chains were removed of which something is left or named, or to which this process can still append, and
    /// the heads that are named nowhere else.
    private func record(_ removed: [AuditChainHead], before anchors: AuditAnchors, at now: Int64, in tx: Transaction) throws {
        let left = try tx.auditAnchors()
        let chain = try log.chain(in: tx)
        let needed = Set(try tx.auditHeads().map(\.chain)).union(left.named.map(\.chain))
        // A chain of this process goes on where it ended, this one with the very record that is made here: even if none of its records
        // is left, the place where they ended must be known for as long as a record comes after it.
        let own = tx.connectionId.prefix { $0 != "." }
        var state = anchors.removed.filter { $0.key == chain || needed.contains($0.key) || $0.key.hasPrefix(own) }
        for head in removed { state[head.chain] = head }

        var details: JSONObject = [:]
        if let members = AuditChainHead.members(state.values) { details["removed"] = .object(members) }
        if let heads = AuditChainHead.members(try tx.openAuditHeads(left)) { details["heads"] = .object(heads) }
        let head = try tx.auditHead(of: chain) ?? state[chain] ?? AuditChainHead(chain: chain, number: 0, mac: [])
        try log.append(AuditEvent(method: AuditAnchors.checkpoint, details: details), after: head, at: now, in: tx)
    }
}
