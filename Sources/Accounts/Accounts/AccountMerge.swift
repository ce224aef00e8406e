import Contract
import Messages
import ServiceContext
import Storage

extension AccountService {
    /// Merges two accounts for a user who has ID tokens of both.
    ///
    /// - Throws: the errors of ID token verification; `InvalidParams` if both tokens belong to the same account; `RecentSignInRequired`,
    ///   `SecondFactorNeeded`, `MergeUndecided`, `TooManyFactors`, `ClaimsTooLong`, `AudienceNotOffered`.
    public func merge(_ request: AccountMerge.Params, _ call: any CallContext) throws -> AccountMerge.Result {
        let now = context.clock.now
        let verifier = TenantTokenVerifier(context: context, configurations: configurations)
        let target = try verifier.verify(request.idToken, .init(use: .id), now: now)
        let source = try verifier.verify(request.sourceIdToken, .init(tenantId: target.tenantId, use: .id), now: now)
        if source.accountId == target.accountId {
            let message = "Both tokens belong to the same account. Pass a token of the account to merge into it."
            throw InvalidParams(violations: [Violation(pointer: "/sourceIdToken", rule: "distinct", message: message)])
        }
        let tenant = try context.database.read { try configurations.tenant(target.tenantId, in: $0) }
        try AccessGrant.check(request.audience, of: tenant)
        let completion = SignInCompletion(context, configurations)
        let merging = AccountMerging(
            links: identities, tenant: tenant, choices: MergeRule.Choices(request), target: target, source: source, now: now)
        if request.dryRun { return try context.database.read { try merging.decide(in: $0).answer(isDryRun: true) } }
        let attempt = completion.signInCall(of: AccountMerge.info.name, call, at: now)
        let (outcome, signedIn) = try attempt.gate.write(isolation: .serializable) { tx in
            try tx.lock([target.accountId, source.accountId])
            var outcome = try merging.decide(in: tx)
            try outcome.requireDecided()
            if outcome.plan.takesAddress, let password = outcome.plan.account.password {
                outcome.plan.account.password = try context.passwords.moved(
                    password, from: source.accountId, to: target.accountId)
            }
            if outcome.plan.endsSessions { _ = try tx.deleteSessions(of: target.accountId) }
            let lost = try tx.factors(of: source.accountId).filter { !outcome.plan.movedFactors.contains($0) }
            try tx.merge(outcome.source.account, by: outcome.plan, at: now)
            try tell(outcome.plan, lost, tenant, at: now, in: tx)
            try outcome.identities.apply(at: now, in: tx)
            try context.audit.record(outcome.event(call), at: now, in: tx)
            var signIn = PendingSignIn(outcome.proof, audience: nil)
            signIn.take(try outcome.target.session.grant.continued(audience: request.audience, by: tenant))
            return (outcome, try completion.begin(outcome.plan.account, of: tenant, with: signIn, by: attempt, in: tx))
        }
        let tokens = try completion.tokens(signedIn, tenant, at: now)
        var answer = outcome.answer(isDryRun: false)
        answer.account = signedIn.account.answer(signedIn.logins, signedIn.factors, signedIn.passkeys)
        answer.idToken = tokens.idToken
        answer.accessToken = tokens.accessToken
        answer.refreshToken = tokens.refreshToken
        answer.expiresAt = tokens.expiresAt
        return answer
    }

    /// Queues the notices to the user of the remaining account.
    private func tell(_ plan: MergeRule.Plan, _ lost: [FactorRecord], _ tenant: TenantRecord, at now: Int64, in tx: Transaction) throws {
        func notify(_ purpose: MessagePurpose, _ what: String) throws {
            try context.notify(purpose, AccountChange(plan.account, tenant, by: AccountMerge.info.name, at: now), what: what, in: tx)
        }
        for way in [plan.movedWay].compactMap({ $0 }) + plan.movedLogins.map(\.providerId) { try notify(.providerLinked, way) }
        for way in plan.droppedWays { try notify(.providerUnlinked, way.providerId) }
        for factor in plan.movedFactors { try notify(.factorAdded, factor.noticeName) }
        for factor in lost { try notify(.factorRemoved, factor.noticeName) }
    }
}

extension MergeRule.Choices {
    fileprivate init(_ request: AccountMerge.Params) {
        self.init(
            policy: request.policy, fields: request.fields ?? [:], providers: request.providers ?? [:], identities: request.identities)
    }
}
