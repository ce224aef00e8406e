import Contract
import ServiceContext
import Storage

extension MfaService {
    /// Removes a factor from an account.
    ///
    /// - Throws: the errors of ID token verification; `CallerNotAllowed`, `AccountNotFound`, `FactorNotFound`, `RecentSignInRequired`,
    ///   `SecondFactorNeeded`, `LastFactor`, `AudienceNotOffered`.
    public func withdraw(_ request: MfaWithdraw.Params, _ call: any CallContext) throws -> MfaWithdraw.Result {
        let now = context.clock.now
        switch request.account {
        case .accountId(let id):
            return try context.database.write { tx in
                try tx.lock([id])
                let (account, tenant) = try named(id, by: MfaWithdraw.info.name, call, in: tx)
                try tenant.requireEnabled()
                if tenant.hasProfile, request.reason == nil {
                    let message = "The assurance of the tenant requires the reason for which a developer removes a factor."
                    throw InvalidParams(violations: [Violation(pointer: "/reason", rule: "required", message: message)])
                }
                try remove(request, from: FactorHolder(account: account, tenant: tenant, user: nil), call, at: now, in: tx)
                return .completed(.init(account: try account.answer(in: tx)))
            }
        case .idToken(let idToken):
            let token = try verify(idToken, at: now)
            let attempt = completion.signInCall(of: MfaWithdraw.info.name, call, at: now)
            let tenant = try context.database.read { try configurations.tenant(token.tenantId, in: $0) }
            try AccessGrant.check(request.audience, of: tenant)
            let (account, signedIn) = try attempt.gate.write { tx -> (Account, SignInCompletion.SignedIn?) in
                let own = try AuthenticatedAccount(token, in: tx)
                try remove(request, from: FactorHolder(account: own.account, tenant: tenant, user: own), call, at: now, in: tx)
                if own.session.secondFactor?.factorId == request.factorId {
                    _ = try tx.deleteSession(own.session.id)
                    try tx.insertEndEvent(own.account, session: own.session.id, by: MfaWithdraw.info.name, at: now)
                    return (try own.account.answer(in: tx), nil)
                }
                var signIn = PendingSignIn(own.session.proof, audience: nil)
                signIn.take(try own.session.grant.continued(audience: request.audience, by: tenant))
                let signedIn = try completion.begin(own.account, of: tenant, with: signIn, by: attempt, in: tx)
                return (try signedIn.account.answer(in: tx), signedIn)
            }
            guard let signedIn else { return .signedOut(.init(account: account)) }
            let tokens = try completion.tokens(signedIn, tenant, at: now)
            return .completed(
                .init(
                    account: account, idToken: tokens.idToken, accessToken: tokens.accessToken, refreshToken: tokens.refreshToken,
                    expiresAt: tokens.expiresAt))
        }
    }

    /// The account that loses a factor.
    private struct FactorHolder {
        let account: AccountRecord
        let tenant: TenantRecord
        /// The signed-in user, or `nil` if the caller is the developer.
        let user: AuthenticatedAccount?
    }

    private func remove(
        _ request: MfaWithdraw.Params, from holder: FactorHolder, _ call: any CallContext, at now: Int64, in tx: Transaction
    ) throws {
        let (account, tenant, owner) = (holder.account, holder.tenant, holder.user)
        let factorId = request.factorId
        if owner != nil { try tx.requireUnlocked(account, tenant, at: now) }
        let factors = try tx.factors(of: account.id)
        do throws(WithdrawalRule.Refusal) {
            try WithdrawalRule.check(
                factorId,
                WithdrawalRule.Facts(
                    factors: factors, policy: tenant.mfa, isOwner: owner != nil, isRecent: owner?.isRecent(at: now) ?? true,
                    needsSecondFactor: owner?.needsSecondFactor(tenant, factors, acceptsRecovery: true) ?? false))
        } catch {
            switch error {
            case .notFound: throw FactorNotFound(factorId: factorId)
            case .tooOld: throw owner!.tooOld
            case .secondFactorNeeded: throw SecondFactorNeeded()
            case .last: throw LastFactor(factorId: factorId)
            }
        }
        if let factor = factors.first(where: { $0.id == factorId }) { try tx.delete(factor) }
        // End the lockout that wrong codes caused, so that it does not block the user's next factor.
        try tx.clearLockout(of: FactorCheck.lockoutSubject(account.id))
        if factors.count == 1 { try tx.setRecoveryCodes([], of: account.id) }
        let name = factors.first { $0.id == factorId }?.noticeName ?? ""
        try context.notify(.factorRemoved, AccountChange(account, tenant, by: MfaWithdraw.info.name, at: now), what: name, in: tx)
        try context.audit.record(
            AuditEvent(
                MfaWithdraw.info.name, call, tenant: tenant.id, subject: account.id,
                details: [("factorId", factorId)] + (request.reason.map { [("reason", $0)] } ?? [])), at: now,
            in: tx)
    }
}
