import Contract

/// Principal tags beyond what the schema says of them (cognito.md 6.6).
enum SessionTags {
    /// - Parameter valuesAreClaims: whether the values are names of claims, which may have any characters.
    /// - Throws: `InvalidPrincipalTags` for a key that begins with `aws:`, for two keys that differ in case only, and for characters
    ///   that no tag has.
    static func validated(_ tags: Members<String>?, valuesAreClaims: Bool = false) throws -> [(key: String, value: String)] {
        guard let tags, !tags.isEmpty else { return [] }
        var seen: Set<String> = []
        return try tags.map { tag in
            let folded = tag.name.lowercased()
            if folded.hasPrefix("aws:") { throw InvalidPrincipalTags(tag: tag.name, reason: "keys that begin with aws: are reserved") }
            guard seen.insert(folded).inserted else {
                throw InvalidPrincipalTags(tag: tag.name, reason: "another key differs from it only in case")
            }
            guard TagText.isAllowed(tag.name), valuesAreClaims || TagText.isAllowed(tag.value) else {
                throw InvalidPrincipalTags(
                    tag: tag.name, reason: "keys and values can contain only letters, digits, spaces and _ . : / = + - @")
            }
            return (tag.name, tag.value)
        }
    }
}
