import JSON
import Storage

/// What records say of other chains: the first of each chain, and those that stand for what retention removed.
package struct AuditAnchors {
    /// The method of a record that stands for removed ones: `details.removed` names, for each chain, the last record that was.
    package static let checkpoint = "audit.checkpoint"

    /// Heads that were seen at some moment, and must still be there unless retention removed them.
    package private(set) var named: Set<AuditChainHead> = []
    /// Of each chain the last record that retention removed.
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
    /// What the records that are there say of other chains.
    package func auditAnchors() throws -> AuditAnchors {
        var anchors = AuditAnchors()
        let details = try query("SELECT details FROM audit WHERE number = 1 OR method = 'audit.checkpoint'") { $0.string(0) }
        for text in details { if let object = (try? JSONValue(parsing: text))?.object { anchors.add(object) } }
        return anchors
    }

    /// The heads that no record names at their present length: whoever knows these finds every chain that is cut off, since
    /// they lead to the others.
    package func openAuditHeads(_ anchors: AuditAnchors) throws -> [AuditChainHead] {
        try auditHeads().filter { !anchors.named.contains($0) }
    }
}
