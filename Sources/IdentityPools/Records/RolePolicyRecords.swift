import Contract
import JSON
import Storage

/// The permission policies of a role. They are stored for the IAM API, and the services that verify credentials evaluate them.
package struct RolePolicySet: Sendable {
    /// The inline policies by name, sorted by name.
    package var inline: [(name: String, document: String)] = []
    /// The ARNs of attached policies, sorted.
    package var attached: [String] = []

    /// The policies in the format of the contract; `nil` if there are none.
    var answer: RolePolicies? {
        if inline.isEmpty, attached.isEmpty { return nil }
        return RolePolicies(
            inline: Members(inline.map { ($0.name, EncodedObject(encoded: Array($0.document.utf8))) }), attached: attached)
    }
}

extension Transaction {
    package func policies(ofRole name: String) throws -> RolePolicySet {
        var set = RolePolicySet()
        let rows = try query("SELECT kind, name, document FROM role_policy WHERE role_name = $1 ORDER BY kind, name", name) {
            ($0.string(0), $0.string(1), $0.string(2))
        }
        for (kind, name, document) in rows {
            if kind == "attached" { set.attached.append(name) } else { set.inline.append((name, document)) }
        }
        return set
    }

    /// Creates or replaces a policy of a role.
    ///
    /// - Parameter document: The document of an inline policy, or `nil` for an attached policy.
    package func putPolicy(_ name: String, _ document: String?, ofRole role: String) throws {
        try execute(
            """
            INSERT INTO role_policy (role_name, kind, name, document) VALUES ($1, $2, $3, $4)
            ON CONFLICT (role_name, kind, name) DO UPDATE SET document = excluded.document
            """, role, document == nil ? "attached" : "inline", name, document ?? "")
        try advanceEpoch()
    }

    /// Deletes a policy of a role. Returns `false` if it does not exist.
    package func deletePolicy(_ name: String, isAttached: Bool, ofRole role: String) throws -> Bool {
        let count = try execute(
            "DELETE FROM role_policy WHERE role_name = $1 AND kind = $2 AND name = $3", role, isAttached ? "attached" : "inline", name)
        if count == 1 { try advanceEpoch() }
        return count == 1
    }
}
