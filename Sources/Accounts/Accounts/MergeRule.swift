import Contract
import JSON

/// What two accounts become when they are merged (firebase.md 5.3 leaves it to the application). Everything that only one of them has is
/// kept; what both have and an account can have once, is as the caller chose.
struct MergeRule {
    /// One of the two, with all that hangs on it.
    struct Side {
        var account: AccountRecord
        var logins: [AccountLogin]
        var factors: [FactorRecord]
    }

    /// What the caller allows to be dropped.
    struct Choices {
        var policy = MergePolicy.fail
        var fields: Members<MergePolicy> = [:]
        var providers: Members<MergePolicy> = [:]
        var identities: MergePolicy?
    }

    /// What is to be done. Of the password alone it says whose it is: it is sealed for its account.
    struct Plan {
        /// The account that stays, as it becomes.
        var account: AccountRecord
        var conflicts: [MergeConflict] = []
        /// Whether it signs in with the other account's address and password or codes.
        var takesAddress = false
        var movedWay: String?
        var movedLogins: [AccountLogin] = []
        var droppedWays: [LinkedProvider] = []
        /// Logins of the account that stays which give way.
        var replacedLogins: [AccountLogin] = []
        var movedFactors: [FactorRecord] = []

        /// Whether the account that stays loses a way in of its own or gains a factor: then sessions that began before go with it
        /// (firebase.md 4.3).
        var endsSessions = false

        var undecided: [MergeConflict] { conflicts.filter { $0.policy == .fail } }
    }

    let choices: Choices

    /// - Throws: `TooManyFactors`, `ClaimsTooLong`.
    func plan(_ target: Side, _ source: Side, at now: Int64) throws -> Plan {
        var plan = Plan(account: target.account)
        plan.account.updatedAt = now
        let way = address(target.account, source.account, &plan)
        plan.account.attributes = united(target.account.attributes, source.account.attributes, &plan) { ($0, choices.fields[$0]) }
        plan.account.claims = united(target.account.claims, source.account.claims, &plan) {
            ("claims/\($0)", choices.fields["claims/\($0)"] ?? choices.fields["claims"])
        }
        try TenantTokenClaims.check(custom: plan.account.claims)
        logins(target, source, &plan)
        try factors(target, source, &plan)
        plan.account.method = method(way, target.account, source.account, hasLogins: !target.logins.isEmpty || !plan.movedLogins.isEmpty)
        return plan
    }

    /// Whether what the target has is kept, of something that both have.
    private func keepsTarget(
        _ kind: MergeConflict.Kind, _ name: String, _ target: String, _ source: String, _ policy: MergePolicy?, _ plan: inout Plan
    ) -> Bool {
        let policy = policy ?? choices.policy
        plan.conflicts.append(MergeConflict(kind: kind, name: name, target: target, source: source, policy: policy))
        return policy != .keepSource
    }

    /// The address with the password or the codes of its own: they belong together, or somebody could sign in with a password for an
    /// address that it never was for.
    ///
    /// - Returns: the own way into the account that stays.
    private func address(_ target: AccountRecord, _ source: AccountRecord, _ plan: inout Plan) -> String? {
        guard let theirs = source.email else { return target.ownWayIn }
        let own = target.email
        let keeps = own.map { keepsTarget(.field, "email", $0, theirs, choices.fields["email"], &plan) } ?? false
        let (kept, dropped) = keeps ? (target, source) : (source, target)
        if let way = dropped.ownWay { plan.droppedWays.append(way) }
        guard !keeps else { return target.ownWayIn }
        plan.takesAddress = true
        plan.endsSessions = target.ownWayIn != nil
        plan.movedWay = kept.ownWayIn
        plan.account.username = kept.username
        plan.account.email = kept.email
        plan.account.isEmailVerified = kept.isEmailVerified
        plan.account.mustChangePassword = kept.mustChangePassword
        plan.account.password = kept.password
        return kept.ownWayIn
    }

    private func united(
        _ target: JSONObject, _ source: JSONObject, _ plan: inout Plan, called: (String) -> (name: String, policy: MergePolicy?)
    ) -> JSONObject {
        func text(_ value: JSONValue) -> String { value.string ?? value.text }
        var united = target
        for (key, value) in source.members {
            if let own = target[key] {
                let (name, policy) = called(key)
                if own == value || keepsTarget(.field, name, text(own), text(value), policy, &plan) { continue }
            }
            united[key] = value
        }
        return united
    }

    private func logins(_ target: Side, _ source: Side, _ plan: inout Plan) {
        for login in source.logins {
            if let own = target.logins.first(where: { $0.providerId == login.providerId }) {
                let policy = choices.providers[login.providerId]
                if keepsTarget(.provider, login.providerId, own.subject, login.subject, policy, &plan) {
                    plan.droppedWays.append(login.answer)
                    continue
                }
                plan.replacedLogins.append(own)
                plan.droppedWays.append(own.answer)
            }
            plan.movedLogins.append(login)
        }
    }

    /// No factor of either is ever dropped, but the same number or address is one factor.
    private func factors(_ target: Side, _ source: Side, _ plan: inout Plan) throws {
        plan.movedFactors = source.factors.filter { factor in
            !target.factors.contains { own in
                own.kind == factor.kind && factor.target != nil && own.target.map(Username.fold) == factor.target.map(Username.fold)
            }
        }
        if !plan.movedFactors.isEmpty { plan.endsSessions = true }
        if target.factors.count + plan.movedFactors.count > FactorRecord.most { throw TooManyFactors(maximum: Int64(FactorRecord.most)) }
    }

    private func method(_ way: String?, _ target: AccountRecord, _ source: AccountRecord, hasLogins: Bool) -> AccountRecord.Method {
        if let way { return way == "password" ? .password : .code }
        if target.method == .custom { return .custom }
        if hasLogins { return .federated }
        // Nobody can sign in to it: an anonymous one stays what it is, unless something has come to it that is not anonymous.
        return target.method == .anonymous && source.method == .anonymous ? .anonymous : .federated
    }
}

extension AccountRecord {
    /// Its own way in as it is listed, if it has one.
    fileprivate var ownWay: LinkedProvider? { ownWayIn.map { LinkedProvider(providerId: $0, subject: email ?? "", email: email) } }
}
