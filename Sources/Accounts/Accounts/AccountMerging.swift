import Contract
import JSON
import ServiceContext
import Storage

/// Decides the result of merging two accounts, both for the merge and for its dry run.
struct AccountMerging: Sendable {
    let links: any LinkedIdentities
    let tenant: TenantRecord
    let choices: MergeRule.Choices
    let target: VerifiedTenantToken
    let source: VerifiedTenantToken
    let now: Int64

    struct Outcome {
        let target: AuthenticatedAccount
        let source: AuthenticatedAccount
        var plan: MergeRule.Plan
        let identities: any LinkedIdentityMerge
        /// The sign-in methods and factors of the remaining account after the merge.
        let logins: [AccountLogin]
        let factors: [FactorRecord]
        /// The passkeys of the remaining account after the merge, and those that move.
        let passkeys: [PasskeyRecord]
        let movedPasskeys: [PasskeyRecord]
        let endedSessions: Int
        let now: Int64
    }

    /// - Throws: `InvalidParams` if a choice names an unknown field or provider; `AccountMerged`, `TokenRevoked`, `RecentSignInRequired`,
    ///   `SecondFactorNeeded`, `TooManyFactors`, `ClaimsTooLong`.
    func decide(in tx: Transaction) throws -> Outcome {
        let owners = (target: try AuthenticatedAccount(target, in: tx), source: try AuthenticatedAccount(source, in: tx))
        let (own, other) = (try side(owners.target, in: tx), try side(owners.source, in: tx))
        try MergeNames(own, other, tenant, in: tx).check(choices)
        let plan = try MergeRule(choices: choices).plan(own, other, at: now)
        let identities = try links.merge(
            of: other.account.id, into: own.account.id, tenantId: tenant.id, policy: choices.identities ?? choices.policy, in: tx)
        let replaced = plan.replacedLogins.map(\.providerId)
        var ended = try tx.sessionCount(of: other.account.id)
        if plan.endsSessions { ended += try tx.sessionCount(of: own.account.id) }
        let moved = try tx.passkeys(of: other.account.id)
        return Outcome(
            target: owners.target, source: owners.source, plan: plan, identities: identities,
            logins: (own.logins.filter { !replaced.contains($0.providerId) } + plan.movedLogins)
                .sorted { $0.providerId.utf8.lexicographicallyPrecedes($1.providerId.utf8) },
            factors: own.factors + plan.movedFactors, passkeys: try tx.passkeys(of: own.account.id) + moved, movedPasskeys: moved,
            endedSessions: ended, now: now)
    }

    private func side(_ own: AuthenticatedAccount, in tx: Transaction) throws -> MergeRule.Side {
        try own.account.requireUser("agents cannot be merged")
        try tx.requireUnlocked(own.account, tenant, at: now)
        if !own.isRecent(at: now) { throw own.tooOld }
        let factors = try tx.factors(of: own.account.id)
        if own.needsSecondFactor(tenant, factors) { throw SecondFactorNeeded() }
        return MergeRule.Side(account: own.account, logins: try tx.accountLogins(of: own.account.id), factors: factors)
    }
}

extension AccountMerging.Outcome {
    private var conflicts: [MergeConflict] { plan.conflicts + identities.conflicts }

    /// The names of the conflicts for which the caller made no choice.
    private var undecided: [String] { conflicts.filter { $0.policy == .fail }.map(\.name) }

    /// - Throws: `MergeUndecided`.
    func requireDecided() throws {
        if !undecided.isEmpty { throw MergeUndecided(names: undecided, conflicts: conflicts) }
    }

    /// The proof for the new session: that of the remaining account's session, with the second factor verified in either session.
    var proof: SignInProof {
        var proof = target.session.proof
        // The merged session ends when the first of both would have ended.
        proof.authenticatedAt = min(target.session.authenticatedAt, source.session.authenticatedAt)
        return proof.secondFactor == nil ? proof.adding(source.session.secondFactor) : proof
    }

    func answer(isDryRun: Bool) -> AccountMerge.Result {
        var account = plan.account
        account.lastSignInAt = now
        return AccountMerge.Result(
            account: account.answer(logins, factors, passkeys), absorbedAccountId: source.account.id,
            conflicts: conflicts, undecided: isDryRun ? undecided : nil,
            movedProviders: [plan.movedWay].compactMap { $0 } + plan.movedLogins.map(\.providerId), droppedProviders: plan.droppedWays,
            movedFactors: plan.movedFactors.map(\.id), movedPasskeys: movedPasskeys.isEmpty ? nil : movedPasskeys.map(\.id),
            endedSessions: Int64(endedSessions), identities: identities.changes,
            dryRun: isDryRun)
    }

    /// The audit event of the merge.
    func event(_ call: any CallContext) -> AuditEvent {
        var event = AuditEvent(
            AccountMerge.info.name, call, tenant: target.account.tenantId, subject: target.account.id,
            details: [("absorbed", source.account.id)])
        func list(_ name: String, _ values: [String]) {
            if !values.isEmpty { event.details[name] = .array(values.map { .string($0) }) }
        }
        list("movedProviders", [plan.movedWay].compactMap { $0 } + plan.movedLogins.map(\.providerId))
        list("droppedProviders", plan.droppedWays.map(\.providerId))
        list("movedFactors", plan.movedFactors.map(\.id))
        list("movedPasskeys", movedPasskeys.map(\.id))
        list("identities", identities.changes.map(\.identityId))
        list("disabledIdentities", identities.changes.compactMap(\.absorbedIdentityId))
        return event
    }
}
