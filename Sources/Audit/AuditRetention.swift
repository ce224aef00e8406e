import JSON
import ServiceContext
import Storage

/// Removes records past their retention and appends a checkpoint that replaces them, so that the remaining records can still be verified
/// (Sources/Audit/README.md, "Retention of the audit log").
package struct AuditRetention: Sendable {
    package let log: AuditLog
    /// The retention period, in seconds.
    package let seconds: Int64

    package init(log: AuditLog, seconds: Int64) {
        self.log = log
        self.seconds = seconds
    }

    /// Returns whether a chain begins with a record past its retention.
    func hasWork(at now: Int64, in tx: Transaction) throws -> Bool { try !tx.auditChains(beginningBefore: now - seconds, limit: 1).isEmpty }

    /// Removes up to `limit` records from the beginnings of chains. Nothing is removed from a chain that cannot be verified, because it is
    /// evidence.
    ///
    /// Transactions that call this method must not run concurrently.
    ///
    /// - Returns: The number of removed records.
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

    /// Returns the last record to remove from the beginning of `chain`, or `nil` if there is none or the records cannot be verified.
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

    /// Appends the checkpoint for the removed records. It also takes over the references in the removed records that are still needed.
    /// These are the heads that no other record references, and the removed ends of chains that have records, are referenced, or can be
    /// continued by this process.
    private func record(_ removed: [AuditChainHead], before anchors: AuditAnchors, at now: Int64, in tx: Transaction) throws {
        let left = try tx.auditAnchors()
        let chain = try log.chain(in: tx)
        let needed = Set(try tx.auditHeads().map(\.chain)).union(left.named.map(\.chain))
        // Chains of this process continue at their end, and the checkpoint itself may continue one. Their ends must therefore be known even
        // if all their records were removed.
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
