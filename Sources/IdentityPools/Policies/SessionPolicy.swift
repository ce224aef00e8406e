import JSON

/// A session policy, with which a caller restricts a session to less than the role allows. It is validated and contained in the
/// credentials; the services that accept the credentials enforce it.
enum SessionPolicy {
    /// - Throws: `PolicyMalformed`.
    static func check(_ text: String) throws {
        guard 1...2048 ~= text.unicodeScalars.count else {
            throw PolicyMalformed(pointer: "", reason: "a session policy must have 1 to 2048 characters")
        }
        let isPlain = text.unicodeScalars.allSatisfy { [0x09, 0x0A, 0x0D].contains($0.value) || 0x20...0xFF ~= $0.value }
        guard isPlain else {
            throw PolicyMalformed(
                pointer: "", reason: "a session policy can contain only characters from space to U+00FF, tabs and line ends")
        }
        let (root, reader) = try PolicyReader.read(text)
        let names: Set = ["Sid", "Effect", "Action", "NotAction", "Resource", "NotResource", "Condition"]
        for (pointer, statement) in try reader.statements(root, allowing: names) {
            _ = try reader.allows(statement, pointer)
            for (one, other) in [("Action", "NotAction"), ("Resource", "NotResource")] {
                guard (statement[one] == nil) != (statement[other] == nil) else {
                    throw PolicyMalformed(pointer: pointer, reason: "a statement must contain either \(one) or \(other)")
                }
                let name = statement[one] == nil ? other : one
                let place = "\(pointer)/\(name)"
                if name.hasSuffix("Action") {
                    _ = try reader.actions(statement[name]!, place)
                } else {
                    _ = try reader.strings(statement[name]!, place)
                }
            }
            if let conditions = statement["Condition"], conditions.object == nil {
                throw PolicyMalformed(pointer: pointer + "/Condition", reason: "Condition must be an object of operators")
            }
        }
    }
}

/// The used percentage of the space for a session's policy and tags. The packing of AWS is not published. Here, 2048 characters of policy
/// or 4096 bytes of tag keys and values are 100 percent, and the higher percentage counts.
enum PackedPolicy {
    static func percent(policy: String?, tags: [(key: String, value: String)]) -> Int {
        let policyPart = (policy?.unicodeScalars.count ?? 0) * 100 / 2048
        let tagPart = tags.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count } * 100 / 4096
        return max(policyPart, tagPart)
    }
}
