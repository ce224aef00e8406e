import Contract

/// The findings about one condition on a claim of a trusted issuer.
struct PolicyFindings {
    private let condition: PolicyCondition
    /// The claim in lowercase.
    private let claim: String
    private let provider: String

    init(_ condition: PolicyCondition, _ claim: String, _ provider: String) {
        self.condition = condition
        self.claim = claim
        self.provider = provider
    }

    var all: [(code: PolicyWarning.Code, message: String)] {
        var found: [(PolicyWarning.Code, String)] = []
        if condition.quantifier == .allValues {
            found.append(
                (.forAllValuesOnOptionalClaim, "ForAllValues is also satisfied if the token has no \(claim). Use ForAnyValue."))
        }
        if claim == "sub", isGitHub, condition.isPositive, coversPullRequests {
            found.append(
                (.subjectCoversPullRequests, "The pattern also matches jobs of pull requests. Name a branch or an environment."))
        }
        if !condition.op.hasWildcards, case .text = condition.op.comparison,
            condition.values.contains(where: { $0.text.includes("*") || $0.text.includes("?") })
        {
            found.append(
                (.wildcardInStringEquals, "\(condition.op.rawValue) has no wildcards: * and ? are plain characters. Use StringLike."))
        }
        if !isOnAWS {
            found.append((.keyNotOnAws, "AWS does not offer the key \(condition.key). There, this condition is not satisfied."))
        }
        return found
    }

    private var isGitHub: Bool {
        provider == SharedIssuer.github || provider.hasPrefix("\(SharedIssuer.github)/") || provider.hasSuffix(".ghe.com")
    }

    /// Whether a value matches the subject of a pull request in one of the repositories that it names.
    private var coversPullRequests: Bool {
        condition.values.contains { value in
            guard case .text(let text) = value, condition.op.hasWildcards else { return value.text.hasSuffix(":pull_request") }
            let parts = text.text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map { String($0) }
            guard parts.count == 3, let rest = try? PolicyText(parts[2], wildcards: true, variables: false, "") else {
                return text.text.hasSuffix("*")
            }
            return rest.matches("pull_request", in: PolicyContext())
        }
    }

    /// Returns the condition by which a statement identifies the owner at GitHub or GitLab, if it does so only by a name.
    static func mutableName(_ conditions: [PolicyCondition], _ provider: String, _ limits: [String]) -> PolicyCondition? {
        guard provider == SharedIssuer.gitlab || provider == SharedIssuer.github || provider.hasPrefix("\(SharedIssuer.github)/") else {
            return nil
        }
        let claims = conditions.filter(\.isPositive).compactMap { condition in
            ProviderGuard.claim(condition.key, of: provider).map { (claim: $0, condition: condition) }
        }
        if limits.contains(where: ids.contains) || claims.contains(where: { ids.contains($0.claim) }) { return nil }
        return claims.first { claim, condition in
            names.contains(claim) && condition.values.contains { !isImmutable($0.text) }
        }?.condition
    }

    /// Whether a subject contains the IDs of owner and repository: `repo:octo-org@123456/octo-repo@456789:…`.
    private static func isImmutable(_ subject: String) -> Bool {
        guard subject.hasPrefix("repo:") else { return false }
        let owner = subject.dropFirst(5).prefix { $0 != "/" }
        guard let at = owner.lastIndex(of: "@") else { return false }
        let digits = owner[owner.index(after: at)...]
        return !digits.isEmpty && digits.allSatisfy { $0.isASCII && $0.isNumber }
    }

    private static let ids: Set<String> = [
        "repository_owner_id", "repository_id", "enterprise_id", "namespace_id", "project_id",
    ]
    private static let names: Set<String> = [
        "sub", "repository", "repository_owner", "job_workflow_ref", "namespace_path", "project_path",
    ]

    /// Whether AWS offers the key (AWS IAM User Guide, "Available keys for AWS OIDC federation"): five for every provider, and further ones
    /// for some providers.
    private var isOnAWS: Bool {
        if Self.usualKeys.contains(claim) { return true }
        if isGitHub { return Self.keysOfGitHub.contains(claim) }
        if provider == SharedIssuer.google { return claim.hasPrefix("google/") }
        return provider.hasPrefix("oidc.circleci.com/org/") && Self.keysOfCircleCI.contains(claim)
    }

    private static let usualKeys: Set<String> = ["aud", "oaud", "sub", "amr", "email"]
    private static let keysOfGitHub: Set<String> = [
        "actor", "actor_id", "job_workflow_ref", "repository", "repository_id", "workflow", "ref", "environment", "enterprise_id",
    ]
    private static let keysOfCircleCI: Set<String> = [
        "oidc.circleci.com/project-id", "oidc.circleci.com/ssh-rerun", "oidc.circleci.com/vcs-origin", "oidc.circleci.com/vcs-ref",
    ]
}

extension PolicyOperand {
    var hasVariable: Bool {
        guard case .text(let text) = self else { return false }
        return text.pieces.contains { if case .variable = $0 { true } else { false } }
    }
}
