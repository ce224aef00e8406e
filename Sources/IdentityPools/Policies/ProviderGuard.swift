import Contract

/// Decides whether a statement limits the tokens of the OpenID providers that it trusts. A statement without such a condition would accept
/// every user of the provider.
struct ProviderGuard {
    private let conditions: [PolicyCondition]
    /// The names of the OpenID providers among the principals.
    let providers: [String]

    init(_ statement: TrustPolicy.Statement) {
        conditions = statement.conditions
        providers = statement.federated.compactMap(Self.providerName).sorted()
    }

    /// Returns the name of the OpenID provider that a principal names, or `nil` if it names none.
    static func providerName(_ principal: String) -> String? {
        if principal == SharedIssuer.google { return principal }
        let parts = principal.split(separator: ":", maxSplits: 5, omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0] == "arn", parts[2] == "iam", parts[5].hasPrefix("oidc-provider/") else { return nil }
        return String(parts[5].dropFirst("oidc-provider/".count))
    }

    /// Returns the claim of a condition key, in lowercase, or `nil` if the key belongs to another provider.
    static func claim(_ key: String, of provider: String) -> String? {
        let (key, prefix) = (key.lowercased(), provider.lowercased() + ":")
        return key.hasPrefix(prefix) && key.utf8.count > prefix.utf8.count ? String(key.dropFirst(prefix.count)) : nil
    }

    var isSatisfied: Bool { failure == nil }

    /// Returns the reason for which the statement is too open, or `nil` if it is not.
    var failure: String? {
        for provider in providers where !conditions.contains(where: { limits($0, provider) }) {
            let others = providers.filter { $0 != provider }
            // A condition on another provider's key is never satisfied by tokens of this one.
            if conditions.contains(where: { condition in others.contains { limits(condition, $0) } }) { continue }
            if SharedIssuer.isShared(provider) {
                return
                    "a statement that trusts \(provider), which many organizations share, must have a condition on \(provider):sub or "
                    + "another claim that names the owner. A value that begins with a wildcard does not count"
            }
            return
                "a statement that trusts \(provider) must have a condition on one of its claims, such as "
                + "{\"StringEquals\": {\"\(provider):sub\": \"SUBJECT\"}}"
        }
        return nil
    }

    private func limits(_ condition: PolicyCondition, _ provider: String) -> Bool {
        guard let claim = Self.claim(condition.key, of: provider), condition.isPositive else { return false }
        guard SharedIssuer.isShared(provider) else { return !condition.values.contains(where: \.isOpen) }
        return SharedIssuer.namesOwner(claim, provider) && !condition.values.contains { SharedIssuer.isOpen($0, claim) }
    }
}

extension PolicyCondition {
    /// Whether the condition is satisfied only if the key is present and has one of the values.
    var isPositive: Bool { !op.isNegated && op != .null && !ifExists && quantifier != .allValues }
}

extension PolicyOperand {
    /// Whether the value consists only of wildcards, or is determined by the request.
    var isOpen: Bool {
        if case .range(let range) = self { return range.isEverything }
        guard case .text(let text) = self else { return false }
        return text.pieces.allSatisfy { piece in
            switch piece {
            case .anyRun, .anyOne, .variable: true
            case .character: false
            }
        }
    }
}

/// Issuers whose tokens many organizations get. IAM requires for them that a trust policy names the owner (AWS IAM User Guide, "OIDC
/// provider controls for shared providers").
enum SharedIssuer {
    static let github = "token.actions.githubusercontent.com"
    static let gitlab = "gitlab.com"
    /// The issuer whose tokens IAM accepts by the principal `accounts.google.com`.
    static let google = "accounts.google.com"

    static func isShared(_ name: String) -> Bool {
        let host = name.prefix { $0 != "/" }.lowercased()
        return hosts.contains(host) || host.hasSuffix(".ghe.com")
    }

    private static let hosts: Set<String> = [
        github, gitlab, "app.terraform.io", "oidc.circleci.com", "agent.buildkite.com", google,
    ]

    /// Returns whether a claim names the owner of the workload.
    ///
    /// - Parameter claim: The claim in lowercase.
    static func namesOwner(_ claim: String, _ name: String) -> Bool {
        if claim == "sub" || claim == "email" { return true }
        // The issuer of CircleCI is that of one organization, and `aud` is its ID.
        if name.hasPrefix("oidc.circleci.com/org/"), claim == "aud" || claim == "oaud" { return true }
        return owners.contains(claim)
    }

    private static let owners: Set<String> = [
        "repository", "repository_id", "repository_owner", "repository_owner_id", "enterprise", "enterprise_id", "job_workflow_ref",
        "namespace_id", "namespace_path", "project_id", "project_path", "terraform_organization_id", "terraform_organization_name",
        "terraform_project_id", "terraform_workspace_id", "oidc.circleci.com/project-id", "organization_id", "organization_slug",
        "pipeline_id", "hd",
    ]

    /// The beginnings of subjects that precede the owner.
    private static let prefixes = ["repo:", "project_path:", "organization:", "org/"]

    /// Returns whether a value does not name an owner.
    static func isOpen(_ value: PolicyOperand, _ claim: String) -> Bool {
        if value.isOpen { return true }
        guard claim == "sub", case .text(let text) = value else { return false }
        var literal = String.UnicodeScalarView()
        for piece in text.pieces {
            guard case .character(let scalar) = piece else {
                // The owner is a wildcard or variable, as in `repo:*`.
                return literal.isEmpty || prefixes.contains { $0.hasPrefix(String(literal)) }
            }
            literal.append(scalar)
        }
        return false
    }
}
