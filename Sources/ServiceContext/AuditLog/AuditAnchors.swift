import JSON
import Storage

/// The references to other chains in audit records: in the first record of each chain, and in checkpoints.
package struct AuditAnchors {
    /// The method of a checkpoint, a record that replaces removed ones. Its `details.removed` contains the last removed record of each
    /// chain.
    package static let checkpoint = "audit.checkpoint"

    /// The heads of chains at earlier times. They must still exist unless retention has removed them.
    package private(set) var named: Set<AuditChainHead> = []
    /// The last removed record of each chain.
    package private(set) var removed: [String: AuditChainHead] = [:]

    mutating func add(_ details: JSONObject) {
        named.formUnion(Self.heads(details["heads"]))
        for head in Self.heads(details["removed"]) where head.number > removed[head.chain]?.number ?? 0 { removed[head.chain] = head }
    }

    private static func heads(_ value: JSONValue?) -> [AuditChainHead] {
        (value?.object?.members ?? []).compactMap { name, value in value.string.flatMap { AuditChainHead(chain: name, text: $0) } }
    }
}

extension Transaction {
    /// Returns the references to other chains in the existing records.
    package func auditAnchors() throws -> AuditAnchors {
        var anchors = AuditAnchors()
        let details = try query("SELECT details FROM audit WHERE number = 1 OR method = 'audit.checkpoint'") { $0.string(0) }
        for text in details { if let object = (try? JSONValue(parsing: text))?.object { anchors.add(object) } }
        return anchors
    }

    /// Returns the current heads that no record references. These heads are sufficient to detect the truncation of any chain, since they
    /// lead to all others.
    package func openAuditHeads(_ anchors: AuditAnchors) throws -> [AuditChainHead] {
        try auditHeads().filter { !anchors.named.contains($0) }
    }
}
