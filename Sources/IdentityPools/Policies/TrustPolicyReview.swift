import Contract
import JSON
import ServiceContext

/// Reviews a trust policy before it is stored: refuses what can never be satisfied or is open to strangers, and warns about what probably
/// means something else than intended (Sources/IdentityPools/README.md, "Trust policies").
package struct TrustPolicyReview {
    private let realm: Deployment
    /// Returns the settings of a trusted issuer by its name.
    private let issuer: (String) throws -> TrustedIssuerDeclaration?

    package init(_ realm: Deployment, issuer: @escaping (String) throws -> TrustedIssuerDeclaration?) {
        self.realm = realm
        self.issuer = issuer
    }

    /// Validates a policy that the caller has given.
    ///
    /// - Parameter allowsUnknownIssuers: Whether the policy can name issuers that are not trusted.
    /// - Returns: The text of the policy, and warnings.
    /// - Throws: `MalformedPolicy`.
    package func accepted(_ policy: JSONObject, allowsUnknownIssuers: Bool = false) throws -> (text: String, warnings: [PolicyWarning]) {
        let text = JSONValue.object(policy).text
        let length = text.unicodeScalars.count
        guard length <= TrustPolicy.mostCharacters else {
            let reason = "it has \(length) characters as compact JSON; the maximum is \(TrustPolicy.mostCharacters)"
            throw MalformedPolicy(policy: .trust, pointer: "", reason: reason)
        }
        do {
            let policy = try TrustPolicy(parsing: text)
            for statement in policy.statements where statement.allows { try check(statement, allowsUnknownIssuers) }
            return (text, try policy.statements.filter(\.allows).flatMap { try warnings(of: $0) })
        } catch let error as PolicyMalformed {
            throw MalformedPolicy(policy: .trust, pointer: error.pointer, reason: error.reason)
        }
    }

    // MARK: Refusals

    private func check(_ statement: TrustPolicy.Statement, _ allowsUnknownIssuers: Bool) throws {
        guard !statement.federated.isEmpty else { return }
        let place = "\(statement.pointer)/Principal"
        var settings: [String: TrustedIssuerDeclaration] = [:]
        for principal in statement.federated.sorted() where principal != TrustPolicy.federatedPrincipal {
            let name = try providerName(principal, place)
            settings[name] = try issuer(name)
            guard settings[name] != nil || allowsUnknownIssuers else {
                throw PolicyMalformed(
                    pointer: place, reason: "\(name) is not a trusted issuer. Create it with issuer.put first, or set allowUnknownIssuer")
            }
        }
        let guardian = ProviderGuard(statement)
        guard !guardian.providers.isEmpty else { return }
        try checkActions(statement)
        if let failure = guardian.failure { throw PolicyMalformed(pointer: statement.pointer, reason: failure) }
        for condition in statement.conditions { try check(condition, of: statement, guardian.providers, settings) }
    }

    private func providerName(_ principal: String, _ place: String) throws -> String {
        if principal == SharedIssuer.google { return principal }
        guard let name = realm.openIDProviderName(of: principal), !name.contains("*"), !name.contains("?") else {
            throw PolicyMalformed(
                pointer: place,
                reason: "the federated principal \(principal) cannot be satisfied. Use \(TrustPolicy.federatedPrincipal), "
                    + "\(SharedIssuer.google), or the ARN of a trusted issuer such as \(realm.arn(ofOpenIDProvider: "HOST/PATH"))")
        }
        return name
    }

    private func checkActions(_ statement: TrustPolicy.Statement) throws {
        let known = [TrustPolicy.assumeAction, TrustPolicy.tagAction, TrustPolicy.sourceIdentityAction]
        guard !statement.isNotAction else { return }
        for action in statement.actions where !known.contains(where: { action.matches($0, in: PolicyContext(), ignoringCase: true) }) {
            throw PolicyMalformed(
                pointer: "\(statement.pointer)/Action",
                reason: "\(action.text) cannot be used with tokens of an issuer. Allowed are \(known.joined(separator: ", "))")
        }
    }

    private func check(
        _ condition: PolicyCondition, of statement: TrustPolicy.Statement, _ providers: [String],
        _ settings: [String: TrustedIssuerDeclaration]
    ) throws {
        guard condition.isPositive else { return }
        let place = pointer(condition, statement)
        let owner = providers.first { ProviderGuard.claim(condition.key, of: $0) != nil }
        guard let owner, let claim = ProviderGuard.claim(condition.key, of: owner) else {
            guard !Self.isGlobal(condition.key), !(statement.concernsUs && condition.key.lowercased().hasPrefix(Self.poolPrefix)) else {
                return
            }
            throw PolicyMalformed(
                pointer: place, reason: "\(condition.key) is not a key of \(providers.joined(separator: " or ")) and is never present")
        }
        guard claim == "oaud" || claim == "aud", let settings = settings[owner] else { return }
        // With other authorized parties, `aud` has the value of `azp`, which is not known here.
        let parties = settings.authorizedParties ?? (owner == SharedIssuer.google ? ["*"] : [])
        guard claim == "oaud" || parties.isEmpty, !settings.audiences.isEmpty else { return }
        let isPossible = settings.audiences.contains { audience in
            condition.values.contains { $0.matches(audience, condition.op.comparison, in: PolicyContext()) || $0.hasVariable }
        }
        guard !isPossible else { return }
        throw PolicyMalformed(
            pointer: place,
            reason: "no value fits an audience of \(owner), which accepts \(settings.audiences.joined(separator: ", "))")
    }

    private static let poolPrefix = TrustPolicy.federatedPrincipal + ":"

    /// Whether a key does not belong to a provider: its prefix contains no dot and no slash.
    private static func isGlobal(_ key: String) -> Bool {
        let prefix = key.prefix { $0 != ":" }.lowercased()
        return ["aws", "sts", "saml", "iam"].contains(prefix) || !key.contains(":")
    }

    private func pointer(_ condition: PolicyCondition, _ statement: TrustPolicy.Statement) -> String {
        statement.pointer + "/Condition" + PolicyReader.pointer([condition.name, condition.key])
    }

    // MARK: Warnings

    private func warnings(of statement: TrustPolicy.Statement) throws -> [PolicyWarning] {
        let providers = ProviderGuard(statement).providers
        var found: [PolicyWarning] = []
        for condition in statement.conditions {
            guard let provider = providers.first(where: { ProviderGuard.claim(condition.key, of: $0) != nil }),
                let claim = ProviderGuard.claim(condition.key, of: provider)
            else { continue }
            found += PolicyFindings(condition, claim, provider).all.map { code, message in
                PolicyWarning(pointer: pointer(condition, statement), code: code, message: message)
            }
        }
        for provider in providers {
            let limits = try issuer(provider)?.claims?.names ?? []
            let id = provider == SharedIssuer.gitlab ? "project_id" : "repository_id"
            if let condition = PolicyFindings.mutableName(statement.conditions, provider, limits) {
                found.append(
                    PolicyWarning(
                        pointer: pointer(condition, statement), code: .mutableNameOnly,
                        message: "Only names identify the owner. A deleted or renamed name can be registered by another party. Add a "
                            + "condition on an ID, such as \(provider):\(id)."
                    ))
            }
        }
        return found
    }
}
