import Contract
import JSON

/// The principal tag mappings of a pool, by provider.
package struct PrincipalTagMaps: Sendable {
    package struct Map: Sendable, Equatable {
        package let usesDefaults: Bool
        /// The tag keys and the claims from which their values derive.
        package let tags: [(key: String, claim: String)]

        package static func == (a: Map, b: Map) -> Bool {
            a.usesDefaults == b.usesDefaults && a.tags.elementsEqual(b.tags) { $0.key == $1.key && $0.claim == $1.claim }
        }
    }

    private var maps: [String: Map] = [:]

    /// The mapping for `useDefaults`.
    static let defaults = Map(usesDefaults: true, tags: [("client", "aud"), ("username", "sub")])
    /// The maximum total length of all keys and claims of a mapping, and of all tag values that it derives from a login, in bytes.
    static let mostBytes = 460

    package subscript(_ provider: String) -> Map? {
        get { maps[provider] }
        set { maps[provider] = newValue }
    }

    /// Returns the mappings of these providers only. If a provider is removed, its mapping is removed too.
    package func only(_ providers: [String]) -> PrincipalTagMaps {
        var left = self
        left.maps = maps.filter { providers.contains($0.key) }
        return left
    }

    /// The maximum number of tags of a session.
    static let mostTags = 50

    /// Derives tags from the claims of verified logins. If two claims set the same tag, the first provider takes precedence. A missing or
    /// null claim sets no tag; an empty claim sets an empty tag.
    ///
    /// - Throws: `InvalidPrincipalTags` if a value is not valid for a tag. Omitting the tag could bypass a policy that denies access based
    ///   on it, so no session is created. `identity.resolve` still finds and links the user.
    func tags(of proofs: [VerifiedLogin]) throws -> [(key: String, value: String)] {
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

    /// Returns the reason a claim's text is not valid for a tag, or `nil` if it is valid.
    private static func flaw(_ text: String) -> String? {
        let length = text.unicodeScalars.count
        if length > 256 { return "has \(length) characters; the maximum for a tag is 256" }
        return TagText.isAllowed(text) ? nil : "contains characters other than letters, digits, spaces and _ . : / = + - @"
    }

    // MARK: Storage

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
    /// Creates a mapping from its configuration.
    ///
    /// - Throws: `InvalidPrincipalTags`.
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
