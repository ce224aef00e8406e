import Contract
import JSON

/// What a token of a trusted issuer sets for the session: tags and the source identity (AWS IAM User Guide, "Pass session tags in AWS
/// STS" and "Monitor and control actions taken with assumed roles").
struct WorkloadSession: Sendable {
    let tags: [(key: String, value: String)]
    /// The keys of the tags that later sessions would inherit.
    let transitiveTagKeys: [String]
    let sourceIdentity: String?

    private static let tagsClaim = "https://aws.amazon.com/tags"
    private static let flatPrefix = "https://aws.amazon.com/tags/principal_tags/"
    private static let flatTransitive = "https://aws.amazon.com/tags/transitive_tag_keys"
    private static let sourceIdentityClaim = "https://aws.amazon.com/source_identity"

    /// - Throws: `TokenClaimRejected`.
    init(_ claims: JSONNode) throws {
        var tags: [(key: String, value: String)] = []
        var transitive: [String] = []
        try claims.forEachMember { (name: String, value: JSONNode) throws in
            if name == Self.tagsClaim {
                guard value.kind == .object else { throw Self.refused("it is not an object") }
                try value["principal_tags"]?.forEachMember { (key: String, value: JSONNode) throws in
                    tags.append((key, try Self.only(value, of: key, allowsPlain: false)))
                }
                transitive += try Self.list(value["transitive_tag_keys"])
            } else if name.hasPrefix(Self.flatPrefix) {
                let key = String(name.dropFirst(Self.flatPrefix.count))
                tags.append((key, try Self.only(value, of: key, allowsPlain: true)))
            } else if name == Self.flatTransitive {
                transitive += try Self.list(value)
            }
        }
        try Self.check(tags, transitive)
        self.tags = tags
        transitiveTagKeys = transitive
        sourceIdentity = try claims[Self.sourceIdentityClaim].map { try Self.sourceIdentity($0) }
    }

    private static func refused(_ reason: String) -> TokenClaimRejected { TokenClaimRejected(claim: tagsClaim, reason: reason) }

    private static func only(_ value: JSONNode, of key: String, allowsPlain: Bool) throws -> String {
        if allowsPlain, let text = value.string { return text }
        var texts: [String?] = []
        value.forEachElement { texts.append($1.string) }
        guard value.kind == .array, texts.count == 1, let text = texts[0] else {
            throw refused("the tag \(key) must have exactly one value")
        }
        return text
    }

    private static func list(_ value: JSONNode?) throws -> [String] {
        guard let value else { return [] }
        var texts: [String] = []
        var isPlain = value.kind == .array
        value.forEachElement { if let text = $1.string { texts.append(text) } else { isPlain = false } }
        guard isPlain else { throw refused("transitive_tag_keys must be a list of strings") }
        return texts
    }

    private static func check(_ tags: [(key: String, value: String)], _ transitive: [String]) throws {
        guard tags.count <= 50 else { throw refused("there are more than 50 tags") }
        var seen: Set<String> = []
        for (key, value) in tags {
            let folded = key.lowercased()
            guard seen.insert(folded).inserted else { throw refused("two keys differ only in case") }
            guard 1...128 ~= key.unicodeScalars.count, value.unicodeScalars.count <= 256 else {
                throw refused("a key can have 1 to 128 characters and a value up to 256")
            }
            guard !folded.hasPrefix("aws:"), TagText.isAllowed(key), TagText.isAllowed(value) else {
                throw refused("keys and values can contain letters, digits, spaces and _ . : / = + - @, and keys cannot begin with aws:")
            }
        }
        guard transitive.allSatisfy({ key in tags.contains { $0.key == key } }) else {
            throw refused("transitive_tag_keys contains a key that is not a tag")
        }
    }

    private static func sourceIdentity(_ claim: JSONNode) throws -> String {
        let isAllowed: (Unicode.Scalar) -> Bool = { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "_", "+", "=", ",", ".", "@", "-": true
            default: false
            }
        }
        guard let text = claim.string, 2...64 ~= text.unicodeScalars.count, !text.lowercased().hasPrefix("aws:"),
            text.unicodeScalars.allSatisfy(isAllowed)
        else {
            throw TokenClaimRejected(
                claim: sourceIdentityClaim, reason: "it must be a string of 2 to 64 letters, digits and _ + = , . @ -")
        }
        return text
    }
}
