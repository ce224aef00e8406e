import Contract

/// Principal tags beyond what the schema says of them (cognito.md 6.6).
enum SessionTags {
    /// - Throws: `InvalidPrincipalTags` for a key that begins with `aws:`, and for two keys that differ in case only.
    static func validated(_ tags: Members<String>?) throws -> [(key: String, value: String)] {
        guard let tags, !tags.isEmpty else { return [] }
        var seen: Set<String> = []
        return try tags.map { tag in
            let folded = tag.name.lowercased()
            if folded.hasPrefix("aws:") { throw InvalidPrincipalTags(tag: tag.name, reason: "keys that begin with aws: are reserved") }
            guard seen.insert(folded).inserted else {
                throw InvalidPrincipalTags(tag: tag.name, reason: "another key differs from it in case only")
            }
            return (tag.name, tag.value)
        }
    }
}
