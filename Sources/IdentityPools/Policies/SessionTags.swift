import Contract

/// Validates principal tags with the rules that the schema does not express.
enum SessionTags {
    /// - Parameter valuesAreClaims: Whether the values are names of claims, which can contain any characters.
    /// - Throws: `InvalidPrincipalTags` if a key begins with `aws:`, if two keys differ only in case, or if characters are not allowed in
    ///   tags.
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
