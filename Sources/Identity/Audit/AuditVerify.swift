import Contract
import JSON
import Platform
import Storage

extension AuditService {
    /// Follows every chain from its first record to its last, and compares with heads that the caller has kept.
    public func verify(_ request: AuditVerify.Params, _ call: any CallContext) throws -> AuditVerify.Result {
        var chains: [AuditChain] = []
        try surroundings.database.read { tx in
            let heads = try tx.auditHeads()
            var named: [String: String] = [:]
            for beginning in try tx.namedAuditHeads() {
                for (chain, head) in beginning.members { named["\(chain) \(head.string ?? "")"] = chain }
            }
            for (done, head) in heads.enumerated() {
                if call.isCancelled { break }
                let expected =
                    named.compactMap { $0.value == head.chain ? String($0.key.dropFirst(head.chain.count + 1)) : nil }
                    + (request.heads ?? []).filter { $0.chain == head.chain }.map { "\($0.records).\($0.head)" }
                chains.append(try follow(head, expected, in: tx))
                call.progress(["verifiedChains": .number(.init(Int64(done + 1))), "chains": .number(.init(Int64(heads.count)))])
            }
            let present = Set(heads.map(\.chain))
            let missing = Set(named.values).union((request.heads ?? []).map(\.chain)).subtracting(present)
            for chain in missing.sorted() {
                chains.append(AuditChain(chain: chain, records: 0, head: "", intact: false, problem: "the whole chain is missing"))
            }
        }
        return AuditVerify.Result(intact: chains.allSatisfy(\.intact), chains: chains)
    }

    private func follow(_ head: AuditHead, _ expected: [String], in tx: Transaction) throws -> AuditChain {
        var previous: [UInt8] = []
        var number: Int64 = 0
        var problem: String?
        var outstanding = Set(expected)
        walk: while problem == nil {
            let records = try tx.auditRecords(of: head.chain, from: number + 1, limit: 500)
            if records.isEmpty { break }
            for (record, mac) in records {
                guard record.number == number + 1 else {
                    problem = "record \(number + 1) is missing"
                    break walk
                }
                guard surroundings.audit.mac(of: record, after: previous) == mac else {
                    problem = "record \(record.number) was altered, or the one before it"
                    break walk
                }
                (number, previous) = (record.number, mac)
                outstanding.remove("\(number).\(Base64URL.encode(mac))")
            }
        }
        if problem == nil, let lost = outstanding.min() { problem = "it no longer has the head \(lost) that it once had" }
        return AuditChain(
            chain: head.chain, records: head.number, head: Base64URL.encode(head.mac), intact: problem == nil, problem: problem)
    }
}
