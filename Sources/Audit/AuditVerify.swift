import Contract
import JSON
import Platform
import ServiceContext
import Storage

extension Transaction {
    /// Returns whether the store contains a pool or a role. Their creation is always recorded, and removing the record leaves a checkpoint.
    fileprivate func hasWhatIsAlwaysRecorded() throws -> Bool {
        try queryOne("SELECT EXISTS (SELECT 1 FROM pool) OR EXISTS (SELECT 1 FROM role)") { $0.bool(0) } ?? false
    }
}

extension AuditService {
    /// Verifies every chain, from its first record or the first one after those that retention removed. Compares it with the heads that
    /// other chains reference and that the caller has stored.
    public func verify(_ request: AuditVerify.Params, _ call: any CallContext) throws -> AuditVerify.Result {
        var chains: [AuditChain] = []
        try context.database.read { tx in
            let heads = try tx.auditHeads()
            let anchors = try tx.auditAnchors()
            var expected: [String: Set<ExpectedHead>] = [:]
            for head in anchors.named { expected[head.chain, default: []].insert(.init(number: head.number, text: head.text)) }
            for head in request.heads ?? [] {
                expected[head.chain, default: []].insert(.init(number: head.records, text: "\(head.records).\(head.head)"))
            }
            for (done, head) in heads.enumerated() {
                if call.isCancelled { break }
                chains.append(try follow(head, from: anchors.removed[head.chain], expected[head.chain] ?? [], in: tx))
                call.progress(["verifiedChains": .number(.init(Int64(done + 1))), "chains": .number(.init(Int64(heads.count)))])
            }
            if heads.isEmpty, anchors.removed.isEmpty, try tx.hasWhatIsAlwaysRecorded() {
                chains.append(
                    AuditChain(
                        chain: "", records: 0, head: "", intact: false,
                        problem: "there are pools or roles but no audit records: the log was emptied"))
            }
            for chain in Set(expected.keys).subtracting(heads.map(\.chain)).sorted() {
                chains.append(Self.judge(missing: chain, anchors.removed[chain], expected[chain] ?? []))
            }
        }
        return AuditVerify.Result(intact: chains.allSatisfy(\.intact), chains: chains)
    }

    /// A head that a chain must contain or have contained.
    private struct ExpectedHead: Hashable {
        let number: Int64
        let text: String
    }

    private func follow(
        _ head: AuditChainHead, from removed: AuditChainHead?, _ expected: Set<ExpectedHead>, in tx: Transaction
    ) throws -> AuditChain {
        var (number, previous) = (removed?.number ?? 0, removed?.mac ?? [])
        var outstanding = Self.outstanding(expected, after: removed)
        var problem: String?
        var next: Int64 = 0
        walk: while problem == nil {
            let records = try tx.auditRecords(of: head.chain, from: next, limit: 500)
            if records.isEmpty { break }
            for (record, mac) in records {
                guard record.number == number + 1 else {
                    problem =
                        record.number > number
                        ? "record \(number + 1) is missing" : "record \(record.number) exists, although it was removed"
                    break walk
                }
                guard context.audit.mac(of: record, after: previous) == mac else {
                    problem = "record \(record.number) or the previous one was altered"
                    break walk
                }
                (number, previous, next) = (record.number, mac, record.number + 1)
                outstanding.remove("\(number).\(Base64URL.encode(mac))")
            }
        }
        if problem == nil, let lost = outstanding.min() { problem = "the chain no longer contains the head \(lost)" }
        return AuditChain(
            chain: head.chain, records: head.number, removedRecords: removed?.number, head: Base64URL.encode(head.mac),
            intact: problem == nil, problem: problem)
    }

    /// Returns the heads that must exist after `removed`. Earlier heads can no longer be compared; a head at the same position can.
    private static func outstanding(_ expected: Set<ExpectedHead>, after removed: AuditChainHead?) -> Set<String> {
        Set(expected.filter { $0.number >= removed?.number ?? 0 && $0.text != removed?.text }.map(\.text))
    }

    /// Returns the result for a chain without records.
    private static func judge(missing chain: String, _ removed: AuditChainHead?, _ expected: Set<ExpectedHead>) -> AuditChain {
        guard let removed else {
            return AuditChain(chain: chain, records: 0, head: "", intact: false, problem: "the whole chain is missing")
        }
        let lost = outstanding(expected, after: removed).min()
        return AuditChain(
            chain: chain, records: removed.number, removedRecords: removed.number, head: Base64URL.encode(removed.mac),
            intact: lost == nil, problem: lost.map { "the chain no longer contains the head \($0)" })
    }
}
