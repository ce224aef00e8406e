import Contract
import JSON
import Platform

/// Selects the role for a login (Sources/IdentityPools/README.md, "Role selection").
enum RoleResolution {
    /// The input of the decision.
    struct Facts {
        let poolId: String
        let isGuest: Bool
        /// The public logins of the call in the order of their provider names, with the provider keys of role mappings. Empty for a token
        /// that the pool minted.
        let logins: [(provider: String, claims: JSONNode)]
        let mappings: [String: RoleMapping]
        /// The ARN of the requested role.
        let custom: String?
    }

    enum Choice: Equatable {
        /// The role of the pool for this kind of identity.
        case ofPool
        case role(arn: String)
    }

    /// - Throws: `RoleNotOffered`, `AmbiguousRoleDenied`.
    static func decide(_ facts: Facts) throws -> Choice {
        for (provider, claims) in facts.logins {
            guard let mapping = facts.mappings[provider] else { continue }
            switch mapping.source {
            case .token: return try byToken(claims, mapping, of: provider, custom: facts.custom)
            case .rules: return try byRules(claims, mapping, of: provider, custom: facts.custom)
            }
        }
        return .ofPool
    }

    private static func byToken(_ claims: JSONNode, _ mapping: RoleMapping, of provider: String, custom: String?) throws -> Choice {
        let roles = list(claims["cognito:roles"])
        if let custom {
            guard roles.contains(custom) else {
                throw RoleNotOffered(roleArn: custom, reason: "the token of \(provider) does not contain it.")
            }
            return .role(arn: custom)
        }
        if let preferred = claims["cognito:preferred_role"]?.string, !preferred.isEmpty { return .role(arn: preferred) }
        return roles.count == 1 ? .role(arn: roles[0]) : try ambiguous(mapping, provider)
    }

    private static func byRules(_ claims: JSONNode, _ mapping: RoleMapping, of provider: String, custom: String?) throws -> Choice {
        let matching = (mapping.rules ?? []).filter { matches($0, claims) }.map(\.roleArn)
        if let custom {
            guard matching.contains(custom) else { throw RoleNotOffered(roleArn: custom, reason: "no rule of \(provider) selects it.") }
            return .role(arn: custom)
        }
        return try matching.first.map { .role(arn: $0) } ?? ambiguous(mapping, provider)
    }

    private static func ambiguous(_ mapping: RoleMapping, _ provider: String) throws -> Choice {
        switch mapping.ambiguousRoleResolution {
        case .authenticatedRole: return .ofPool
        case .deny: throw AmbiguousRoleDenied(provider: provider)
        }
    }

    /// Returns whether a rule matches. A claim that is missing or null never matches, not even with `notEqual`. A list matches if one
    /// element does; with `notEqual`, no element may be equal.
    static func matches(_ rule: RoleRule, _ claims: JSONNode) -> Bool {
        guard let claim = claims[rule.claim], !claim.isNull else { return false }
        let values = texts(claim)
        switch rule.matchType {
        case .equals: return values.contains { $0.hasBytes(of: rule.value) }
        case .contains: return values.contains { holds(Array($0.utf8), Array(rule.value.utf8)) }
        case .startsWith: return values.contains { $0.utf8.starts(with: rule.value.utf8) }
        case .notEqual: return !values.contains { $0.hasBytes(of: rule.value) }
        }
    }

    private static func holds(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        guard part.count <= text.count else { return false }
        return (0...text.count - part.count).contains { text[$0..<$0 + part.count].elementsEqual(part) }
    }

    /// Returns a list of roles, given as an array or as a comma-separated string.
    private static func list(_ claim: JSONNode?) -> [String] {
        guard let claim else { return [] }
        if claim.kind == .array { return texts(claim) }
        return (claim.string ?? "").split(separator: ",").map { String($0.drop { $0 == " " }) }.filter { !$0.isEmpty }
    }

    /// Returns the values of a claim as strings.
    private static func texts(_ claim: JSONNode) -> [String] {
        guard claim.kind == .array else { return [ClaimText.of(claim)] }
        var values: [String] = []
        claim.forEachElement { values.append(ClaimText.of($1)) }
        return values
    }
}
