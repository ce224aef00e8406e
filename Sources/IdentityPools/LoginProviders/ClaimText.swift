import JSON

/// Converts the value of a claim to a string for a tag or a comparison.
enum ClaimText {
    static func of(_ claim: JSONNode) -> String { claim.string ?? claim.rawText }
}
