import Contract
import ServiceContext

extension MfaService {
    /// Replaces the recovery codes of the user of an ID token.
    ///
    /// - Throws: the errors of ID token verification, `SecondFactorsOff`, `NoSecondFactor`, `RecentSignInRequired`, `SecondFactorNeeded`.
    public func recoveryCodes(_ request: MfaRecoveryCodes.Params, _ call: any CallContext) throws -> MfaRecoveryCodes.Result {
        let now = context.clock.now
        let token = try verify(request.idToken, at: now)
        let codes = RecoveryCodes.fresh(context.random)
        let keeper = RecoveryCodes(vault: context.vault)
        try context.database.write { tx in
            let own = try AuthenticatedAccount(token, in: tx)
            let tenant = try configurations.tenant(token.tenantId, in: tx)
            try tx.requireUnlocked(own.account, tenant, at: now)
            let factors = try tx.factors(of: own.account.id)
            if tenant.mfa == .off { throw SecondFactorsOff(tenantId: tenant.id) }
            if factors.isEmpty { throw NoSecondFactor() }
            if !own.isRecent(at: now) { throw own.tooOld }
            if own.needsSecondFactor(tenant, factors) { throw SecondFactorNeeded() }
            try tx.setRecoveryCodes(codes.map { keeper.mac($0, of: own.account.id) }, of: own.account.id)
            try context.notify(.recoveryCodesMade, AccountChange(own.account, tenant, by: MfaRecoveryCodes.info.name, at: now), in: tx)
            try context.audit.record(
                AuditEvent(MfaRecoveryCodes.info.name, call, tenant: tenant.id, subject: own.account.id), at: now, in: tx)
        }
        return MfaRecoveryCodes.Result(codes: codes)
    }
}
