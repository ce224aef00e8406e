import JSON

/// The claims of a token as the values of condition keys `<name>:<claim>`.
struct WorkloadClaims: Sendable {
    /// The prefix of the keys, in lowercase: the name of the issuer and a colon. The name can contain colons itself.
    private let prefix: String
    private let claims: JSONNode

    init(issuerName: String, _ claims: JSONNode) {
        prefix = issuerName.lowercased() + ":"
        self.claims = claims
    }

    /// Returns the value of a condition key.
    ///
    /// - Parameter key: The key in lowercase.
    func value(of key: String) -> PolicyContext.Value? {
        guard key.hasPrefix(prefix) else { return nil }
        switch key.dropFirst(prefix.count) {
        case "aud": return claims["azp"].flatMap(Self.value) ?? claims["aud"].flatMap(Self.value)
        case "oaud": return claims["aud"].flatMap(Self.value)
        case "sub": return claims["sub"].flatMap(Self.value)
        case "amr": return claims["amr"].flatMap(Self.texts).flatMap { $0.isEmpty ? nil : .many($0) }
        // An address that the issuer has not verified could belong to another person.
        case "email": return claims["email_verified"]?.bool == true ? claims["email"].flatMap(Self.value) : nil
        case let name: return named(String(name)).flatMap(Self.value)
        }
    }

    /// Returns all keys of the token with their values.
    var all: [(key: String, values: [String])] {
        var found: [(String, [String])] = []
        var names = ["aud", "oaud", "sub", "amr", "email"]
        claims.forEachMember { name, _ in if !names.contains(name.lowercased()) { names.append(name) } }
        for name in names {
            switch value(of: prefix + name.lowercased()) {
            case .single(let text): found.append((prefix + name, [text]))
            case .many(let texts): found.append((prefix + name, texts))
            case nil: break
            }
        }
        return found
    }

    private func named(_ name: String) -> JSONNode? {
        if let claim = claims[name] { return claim }
        var found: JSONNode?
        claims.forEachMember { if $0.lowercased() == name { found = $1 } }
        return found
    }

    /// Returns a claim as a value. A list with one element is a single value. Objects and null do not count as values.
    private static func value(_ claim: JSONNode) -> PolicyContext.Value? {
        guard let texts = texts(claim), let first = texts.first else { return nil }
        return claim.kind == .array && texts.count > 1 ? .many(texts) : .single(first)
    }

    /// Returns the texts of a string, number, Boolean, or list of these; `nil` for other values.
    static func texts(_ claim: JSONNode) -> [String]? {
        guard claim.kind == .array else { return text(claim).map { [$0] } }
        var texts: [String] = []
        var isPlain = true
        claim.forEachElement { if let text = text($1) { texts.append(text) } else { isPlain = false } }
        return isPlain ? texts : nil
    }

    private static func text(_ claim: JSONNode) -> String? {
        switch claim.kind {
        case .string: claim.string
        case .number: claim.rawText
        case .bool: claim.bool == true ? "true" : "false"
        case .null, .array, .object: nil
        }
    }

    /// Returns a claim whose name differs from that of another claim only in case, because the names of condition keys ignore case.
    static func ambiguousName(_ claims: JSONNode) -> String? {
        var hasUppercase = false
        // Names without capitals differ in more than case. An escaped name can contain any character.
        claims.forEachPair { name, _ in
            hasUppercase = hasUppercase || name.raw { $0.contains { 0x41...0x5A ~= $0 || $0 > 0x7F || $0 == UInt8(ascii: "\\") } }
        }
        guard hasUppercase else { return nil }
        var names: [String] = []
        claims.forEachMember { name, _ in names.append(name) }
        var seen: Set<String> = []
        return names.first { !seen.insert($0.lowercased()).inserted }
    }
}
