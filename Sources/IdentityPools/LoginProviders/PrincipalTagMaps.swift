import Contract
import JSON

/// The tag maps of a pool, by provider (cognito.md 1.6).
package struct PrincipalTagMaps: Sendable {
    package struct Map: Sendable, Equatable {
        let usesDefaults: Bool
        /// Tag key to claim.
        package let tags: [(key: String, claim: String)]

        package static func == (a: Map, b: Map) -> Bool {
            a.usesDefaults == b.usesDefaults && a.tags.elementsEqual(b.tags) { $0.key == $1.key && $0.claim == $1.claim }
        }
    }

    private var maps: [String: Map] = [:]

    /// What `useDefaults` means.
    static let defaults = Map(usesDefaults: true, tags: [("client", "aud"), ("username", "sub")])
    /// How many bytes all keys and claims of a map may have together, and how many all values that it makes of a login.
    static let mostBytes = 460

    package subscript(_ provider: String) -> Map? {
        get { maps[provider] }
        set { maps[provider] = newValue }
    }

    /// The maps of these providers alone: a provider that goes takes its map along (cognito.md 3.1.1).
    package func only(_ providers: [String]) -> PrincipalTagMaps {
        var left = self
        left.maps = maps.filter { providers.contains($0.key) }
        return left
    }

    /// How many tags a session can have (cognito.md 6.6).
    static let mostTags = 50

    /// The tags that the claims of proven logins make (5.3, 6.6). Of two that make one tag, the first provider counts. A claim that
    /// the token lacks, or that is null, makes none; an empty one makes an empty tag.
    ///
    /// - Throws: `InvalidPrincipalTags` for a value that no tag can have. Leaving the tag out would let a policy that denies by it
    ///   pass, so there is no session then; the user is found and linked by identity.resolve all the same.
    func tags(of proofs: [LoginProof]) throws -> [(key: String, value: String)] {
        var tags: [(key: String, value: String)] = []
        for proof in proofs {
            var bytes = 0
            for (key, claim) in maps[proof.provider.name]?.tags ?? []
            where !tags.contains(where: { $0.key.lowercased() == key.lowercased() }) {
                guard let value = proof.claims[claim], !value.isNull else { continue }
                let text = ClaimText.of(value)
                if let flaw = Self.flaw(text) {
                    throw InvalidPrincipalTags(tag: key, reason: "the claim \(claim) of \(proof.provider.name) \(flaw)")
                }
                guard tags.count < Self.mostTags else {
                    throw InvalidPrincipalTags(tag: key, reason: "the logins would create more than \(Self.mostTags) tags")
                }
                bytes += text.utf8.count
                if bytes > Self.mostBytes {
                    throw InvalidPrincipalTags(
                        tag: key,
                        reason: "with it the claims of \(proof.provider.name) have \(bytes) bytes; the maximum is \(Self.mostBytes)")
                }
                tags.append((key, text))
            }
        }
        return tags
    }

    /// Why a claim's text cannot be a tag's, nil if it can.
    private static func flaw(_ text: String) -> String? {
        let length = text.unicodeScalars.count
        if length > 256 { return "has \(length) characters; the maximum for a tag is 256" }
        return TagText.isAllowed(text) ? nil : "contains characters other than letters, digits, spaces and _ . : / = + - @"
    }

    // MARK: In the store

    package init(stored text: String) {
        guard let object = (try? JSONValue(parsing: text))?.object else { return }
        for (provider, map) in object.members {
            maps[provider] =
                map["defaults"]?.bool == true
                ? Self.defaults
                : Map(usesDefaults: false, tags: (map["tags"]?.object?.members ?? []).map { ($0.name, $0.value.string ?? "") })
        }
    }

    package var json: JSONValue {
        var object = JSONObject()
        for (provider, map) in maps.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            var tags = JSONObject()
            for tag in map.tags { tags[tag.key] = .string(tag.claim) }
            object[provider] = map.usesDefaults ? ["defaults": true] : ["tags": .object(tags)]
        }
        return .object(object)
    }
}

extension PrincipalTagMaps.Map {
    /// A map as a caller gives it.
    ///
    /// - Throws: `InvalidPrincipalTags` (cognito.md 1.6).
    package init(usesDefaults: Bool, claims: Members<String>?) throws {
        if usesDefaults {
            self = PrincipalTagMaps.defaults
            return
        }
        let tags = try SessionTags.validated(claims, valuesAreClaims: true)
        let bytes = tags.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        if bytes > PrincipalTagMaps.mostBytes {
            throw InvalidPrincipalTags(
                tag: tags.last!.key, reason: "keys and claims together have \(bytes) bytes; the maximum is \(PrincipalTagMaps.mostBytes)")
        }
        self.init(usesDefaults: false, tags: tags.map { ($0.key, $0.value) })
    }
}
