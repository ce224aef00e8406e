import Contract
import JSON

/// Decides the result of merging two accounts. Values that only one account has are kept. If both have a value that must be unique, the
/// caller's choice decides. The table is in Sources/Accounts/README.md, "Merging accounts".
struct MergeRule {
    /// One of the two accounts, with its logins and factors.
    struct Side {
        var account: AccountRecord
        var logins: [AccountLogin]
        var factors: [FactorRecord]
    }

    /// The caller's choices of which values to drop.
    struct Choices {
        var policy = MergePolicy.fail
        var fields: Members<MergePolicy> = [:]
        var providers: Members<MergePolicy> = [:]
        var identities: MergePolicy?
    }

    /// The changes that the merge makes. The password itself is not included, because it is encrypted for its account.
    struct Plan {
        /// The remaining account after the merge.
        var account: AccountRecord
        var conflicts: [MergeConflict] = []
        /// Whether the remaining account receives the other account's address with its password or codes.
        var takesAddress = false
        var movedWay: String?
        var movedLogins: [AccountLogin] = []
        var droppedWays: [LinkedProvider] = []
        /// Logins of the remaining account that are replaced.
        var replacedLogins: [AccountLogin] = []
        var movedFactors: [FactorRecord] = []

        /// Whether the remaining account loses its own sign-in method or gains a factor. In both cases its earlier sessions end.
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
        try CustomClaims.check(plan.account.claims)
        logins(target, source, &plan)
        try factors(target, source, &plan)
        plan.account.method = method(way, target.account, source.account, hasLogins: !target.logins.isEmpty || !plan.movedLogins.isEmpty)
        return plan
    }

    /// Records a conflict, and returns whether the target's value is kept.
    private func keepsTarget(in conflict: MergeConflict, _ plan: inout Plan) -> Bool {
        plan.conflicts.append(conflict)
        return conflict.policy != .keepSource
    }

    /// Merges the address together with its password or code method. They must stay together; otherwise a password would give access with
    /// an address for which it was never set.
    ///
    /// - Returns: The remaining account's own sign-in method.
    private func address(_ target: AccountRecord, _ source: AccountRecord, _ plan: inout Plan) -> String? {
        guard let theirs = source.email else { return target.ownWayIn }
        let own = target.email
        let policy = choices.fields["email"] ?? choices.policy
        let keeps =
            own.map {
                keepsTarget(in: MergeConflict(kind: .field, name: "email", target: $0, source: theirs, policy: policy), &plan)
            } ?? false
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
                let conflict = MergeConflict(
                    kind: .field, name: name, target: text(own), source: text(value), policy: policy ?? choices.policy)
                if own == value || keepsTarget(in: conflict, &plan) { continue }
            }
            united[key] = value
        }
        return united
    }

    private func logins(_ target: Side, _ source: Side, _ plan: inout Plan) {
        for login in source.logins {
            if let own = target.logins.first(where: { $0.providerId == login.providerId }) {
                let conflict = MergeConflict(
                    kind: .provider, name: login.providerId, target: own.subject, source: login.subject,
                    policy: choices.providers[login.providerId] ?? choices.policy)
                if keepsTarget(in: conflict, &plan) {
                    plan.droppedWays.append(login.answer)
                    continue
                }
                plan.replacedLogins.append(own)
                plan.droppedWays.append(own.answer)
            }
            plan.movedLogins.append(login)
        }
    }

    /// Merges the factors. No factor is dropped, but the same phone number or email address in both accounts counts as one factor.
    private func factors(_ target: Side, _ source: Side, _ plan: inout Plan) throws {
        plan.movedFactors = source.factors.filter { factor in
            !target.factors.contains { own in
                own.kind == factor.kind && factor.target != nil && own.target.map(Username.fold) == factor.target.map(Username.fold)
            }
        }
        if !plan.movedFactors.isEmpty { plan.endsSessions = true }
        // All passkeys move, also above the limit: an authenticator cannot enroll them again.
        let moved = plan.movedFactors.filter { $0.kind != .passkey }
        if !moved.isEmpty, target.factors.count + moved.count > FactorRecord.most {
            throw TooManyFactors(maximum: Int64(FactorRecord.most))
        }
    }

    private func method(_ way: String?, _ target: AccountRecord, _ source: AccountRecord, hasLogins: Bool) -> AccountRecord.Method {
        if let way { return way == "password" ? .password : .code }
        if target.method == .custom { return .custom }
        if hasLogins { return .federated }
        if [target.method, source.method].contains(.passkey) { return .passkey }
        // The account has no sign-in method. It stays anonymous only if both accounts were anonymous.
        return target.method == .anonymous && source.method == .anonymous ? .anonymous : .federated
    }
}

extension AccountRecord {
    /// The account's own sign-in method as a linked provider, if it has one.
    fileprivate var ownWay: LinkedProvider? { ownWayIn.map { LinkedProvider(providerId: $0, subject: email ?? "", email: email) } }
}
