import Contract
import JSON

/// The trust policy of a role, which states who can assume the role (Sources/IdentityPools/README.md, "Trust policies").
package struct TrustPolicy: Sendable {
    static let federatedPrincipal = "cognito-identity.amazonaws.com"
    static let assumeAction = "sts:AssumeRoleWithWebIdentity"
    static let tagAction = "sts:TagSession"
    static let sourceIdentityAction = "sts:SetSourceIdentity"
    /// The actions that a request to assume a role can require.
    private static let ownActions: Set = [assumeAction, tagAction, sourceIdentityAction]
    /// The condition key for the pool of a token.
    static let audience = "cognito-identity.amazonaws.com:aud"

    /// The policy as it was given.
    package let text: String
    let statements: [Statement]

    struct Statement: Sendable {
        let allows: Bool
        /// Whether the principal of the statement includes tokens of pools.
        let concernsUs: Bool
        /// The federated principals of the statement, as written in the policy.
        let federated: Set<String>
        let actions: [PolicyText]
        let isNotAction: Bool
        let conditions: [PolicyCondition]
        /// The location of the statement, as a JSON Pointer (RFC 6901).
        let pointer: String
        /// The actions of `TrustPolicy` that the statement covers. They are matched once, because every exchange asks for them.
        private var covered: Set<String> = []
        /// Whether the statement denies every federated principal.
        private let includesEveryIssuer: Bool
        /// Whether the statement lets tokens of pools assume the role, and no condition limits it to named pools.
        private(set) var isOpenToAnyPool = false
        /// Whether the statement lets tokens of an issuer assume the role, and no condition limits them.
        private(set) var isOpenToIssuers = false

        init(
            allows: Bool, trust: Principals, actions: (texts: [PolicyText], areExcluded: Bool), conditions: [PolicyCondition],
            pointer: String
        ) {
            self.allows = allows
            concernsUs = trust.concernsUs
            federated = trust.federated
            includesEveryIssuer = trust.includesEveryIssuer
            self.actions = actions.texts
            isNotAction = actions.areExcluded
            self.conditions = conditions
            self.pointer = pointer
            covered = TrustPolicy.ownActions.filter { matches($0) }
            isOpenToAnyPool =
                allows && concernsUs && covers(TrustPolicy.assumeAction)
                && !conditions.contains { $0.namesValues(of: TrustPolicy.audience) }
            isOpenToIssuers = allows && !ProviderGuard(self).isSatisfied
        }

        /// Returns whether the principal of the statement includes a caller with one of these names.
        func includes(_ caller: Caller) -> Bool {
            switch caller {
            case .pool: concernsUs
            case .issuer(let principals): includesEveryIssuer || principals.contains { federated.contains($0) }
            }
        }

        /// Whether the statement allows nothing to the caller, because it would accept every token of an issuer or of every pool.
        func isOpen(to caller: Caller) -> Bool {
            switch caller {
            case .pool: isOpenToAnyPool
            case .issuer: isOpenToIssuers
            }
        }

        func covers(_ action: String) -> Bool {
            TrustPolicy.ownActions.contains(action) ? covered.contains(action) : matches(action)
        }

        private func matches(_ action: String) -> Bool {
            actions.contains { $0.matches(action, in: PolicyContext(), ignoringCase: true) } != isNotAction
        }
    }

    /// Parses a policy before it is stored.
    ///
    /// - Throws: `PolicyMalformed`, also if the policy trusts every pool.
    init(parsing text: String) throws {
        try self.init(stored: text)
        try checkGuard()
    }

    /// Parses a stored policy. A statement that trusts every pool allows nothing.
    ///
    /// - Throws: `PolicyMalformed`.
    init(stored text: String) throws {
        let (root, reader) = try PolicyReader.read(text)
        let names: Set = ["Sid", "Effect", "Principal", "Action", "NotAction", "Condition"]
        self.text = text
        statements = try reader.statements(root, allowing: names).map { pointer, object in
            try Self.statement(object, pointer, reader)
        }
    }

    /// Whether a statement trusts every pool, and therefore allows nothing.
    var hasOpenStatement: Bool { statements.contains(where: \.isOpenToAnyPool) }

    /// Checks that each statement that lets tokens of pools assume the role names the pools. All pools sign tokens for the same principal.
    /// Without such a condition, the tokens of every pool in the store would be accepted (CVE-2024-28056). A policy that trusts pools must
    /// always have a condition.
    private func checkGuard() throws {
        if let open = statements.first(where: \.isOpenToAnyPool) {
            throw PolicyMalformed(
                pointer: open.pointer, reason: "\(Self.openReason). Add {\"StringEquals\": {\"\(Self.audience)\": \"POOL_ID\"}}")
        }
        let allowing = statements.filter { $0.allows && $0.concernsUs }
        guard !allowing.isEmpty, statements.allSatisfy(\.conditions.isEmpty) else { return }
        throw PolicyMalformed(pointer: "/Statement", reason: "a statement that trusts \(Self.federatedPrincipal) must have a condition")
    }

    private static let openReason =
        "a statement that trusts \(federatedPrincipal) must name the pool: its Condition needs StringEquals, or StringLike with most of the "
        + "pool ID, on \(audience)"

    private static func statement(_ object: JSONObject, _ pointer: String, _ reader: PolicyReader) throws -> Statement {
        let allows = try reader.allows(object, pointer)
        guard let principal = object["Principal"] else { throw PolicyMalformed(pointer: pointer, reason: "Principal is missing") }
        let trust = try principals(principal, pointer + "/Principal", allows: allows, reader)
        let isNotAction = object["NotAction"] != nil
        guard let actions = object["Action"] ?? object["NotAction"], !(isNotAction && object["Action"] != nil) else {
            throw PolicyMalformed(pointer: pointer, reason: "a statement must contain either Action or NotAction")
        }
        let place = pointer + (isNotAction ? "/NotAction" : "/Action")
        return Statement(
            allows: allows, trust: trust, actions: (try reader.actions(actions, place), isNotAction),
            conditions: try reader.conditions(object, pointer), pointer: pointer)
    }

    /// The principals of a statement.
    struct Principals {
        /// Whether tokens of pools are included.
        var concernsUs = false
        var includesEveryIssuer = false
        var federated: Set<String> = []
    }

    private static func principals(_ principal: JSONValue, _ pointer: String, allows: Bool, _ reader: PolicyReader) throws -> Principals {
        // A principal of `*` counts only in `Deny` statements. `Allow` statements must name the principal.
        if principal.string == "*" { return Principals(concernsUs: !allows, includesEveryIssuer: !allows, federated: allows ? ["*"] : []) }
        guard let kinds = principal.object, !kinds.isEmpty else {
            throw PolicyMalformed(
                pointer: pointer, reason: "a principal must be \"*\" or an object such as {\"Federated\": \"\(federatedPrincipal)\"}")
        }
        var found = Principals()
        for (kind, value) in kinds.members {
            let place = pointer + PolicyReader.pointer([kind])
            guard ["Federated", "AWS", "Service", "CanonicalUser"].contains(kind) else {
                throw PolicyMalformed(pointer: place, reason: "a principal must be Federated, AWS, Service or CanonicalUser")
            }
            let names = try reader.strings(value, place)
            if kind == "Federated" { found.federated.formUnion(names) }
            if !allows, kind == "Federated" || kind == "AWS", names.contains("*") {
                (found.concernsUs, found.includesEveryIssuer) = (true, true)
            }
        }
        if found.federated.contains(federatedPrincipal) { found.concernsUs = true }
        return found
    }

    // MARK: Evaluation

    enum Judgement: Equatable, Sendable {
        case allowed
        /// The action is not allowed, for this reason.
        case refused(action: String, why: String)
    }

    /// Returns whether a token with this context can assume the role. A statement must allow each action, and no statement may deny it.
    /// With tags there are two actions.
    func judge(_ context: PolicyContext, tagged: Bool) -> Judgement {
        judge(context, tagged ? [Self.assumeAction, Self.tagAction] : [Self.assumeAction], of: .pool)
    }

    /// The party whose token is judged.
    enum Caller: Sendable {
        case pool
        /// A trusted issuer, with the values of `Principal` that name it.
        case issuer([String])
    }

    /// Returns whether a token with this context allows all of the actions.
    func judge(_ context: PolicyContext, _ actions: [String], of caller: Caller) -> Judgement {
        for action in actions {
            if let why = refusal(of: action, context, caller) { return .refused(action: action, why: why) }
        }
        return .allowed
    }

    private func refusal(of action: String, _ context: PolicyContext, _ caller: Caller) -> String? {
        var why = "no statement applies"
        var isAllowed = false
        for (index, statement) in statements.enumerated() where statement.includes(caller) && statement.covers(action) {
            if statement.isOpen(to: caller) {
                why = "statement \(index + 1) " + (caller.isPool ? "does not name the pool" : "does not limit the tokens of the issuer")
                continue
            }
            let failed = statement.conditions.first { !$0.holds(in: context) }
            switch (statement.allows, failed) {
            case (false, nil): return "statement \(index + 1) denies it"
            case (false, .some): break
            case (true, nil): isAllowed = true
            case (true, let failed?): why = "in statement \(index + 1) the condition \(failed.name) on \(failed.key) does not hold"
            }
        }
        return isAllowed ? nil : why
    }

    /// The maximum length of a policy: the highest value of the IAM quota "Role trust policy length". The time of an evaluation grows with
    /// the length.
    static let mostCharacters = 8192

    /// Returns the default policy of a role for one pool. It trusts the pool's authenticated identities, with or without tags.
    package static func standard(forPool poolId: String) -> TrustPolicy {
        let policy: JSONValue = [
            "Version": "2012-10-17",
            "Statement": [
                [
                    "Effect": "Allow",
                    "Principal": ["Federated": .string(federatedPrincipal)],
                    "Action": [.string(assumeAction), .string(tagAction)],
                    "Condition": [
                        "StringEquals": ["cognito-identity.amazonaws.com:aud": .string(poolId)],
                        "ForAnyValue:StringLike": ["cognito-identity.amazonaws.com:amr": "authenticated"],
                    ],
                ]
            ],
        ]
        return try! TrustPolicy(parsing: policy.text)
    }
}

extension TrustPolicy.Caller {
    var isPool: Bool { if case .pool = self { true } else { false } }
}
