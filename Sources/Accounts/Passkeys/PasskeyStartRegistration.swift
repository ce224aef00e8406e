import Contract
import ServiceContext

extension PasskeyService {
    /// Starts the registration of a passkey.
    ///
    /// - Throws: the errors of ID token verification; `PasskeysOff`, `TooManyPasskeys`, `RecentSignInRequired`, `SecondFactorNeeded`,
    ///   `TooManyFromClient`.
    public func startRegistration(
        _ request: PasskeyStartRegistration.Params, _ call: any CallContext
    ) throws -> PasskeyStartRegistration.Result {
        let now = context.clock.now
        let token = try verify(request.idToken, at: now)
        _ = try flows.admit(request.client, tenantId: token.tenantId, at: now)
        let draws = PasskeyDraws(context)
        let (ceremony, options) = try context.database.write { tx in
            let (own, tenant) = try owner(token, in: tx)
            try tx.requireUnlocked(own.account, tenant, at: now)
            let settings = try tenant.passkeySettings()
            guard own.isRecent(at: now), !request.conditional || own.session.provider == SignInProof.password.provider else {
                throw own.tooOld
            }
            try own.requireSecondFactor(tenant, in: tx)
            let passkeys = try tx.passkeys(of: own.account.id)
            if passkeys.count >= PasskeyRecord.most { throw TooManyPasskeys(maximum: Int64(PasskeyRecord.most)) }
            var handle = try tx.userHandle(of: own.account.id)
            if handle == nil {
                try tx.setUserHandle(draws.userHandle, of: own.account.id)
                handle = draws.userHandle
            }
            var ceremony = StoredCeremony(
                id: draws.id, tenantId: tenant.id, kind: .registration, accountId: own.account.id,
                challenge: try draws.challenge(context, in: tx), userHandle: handle ?? [],
                expiresAt: now + StoredCeremony.lifetimeSeconds)
            ceremony.isConditional = request.conditional
            ceremony.requiresUserVerification = settings.userVerification == .required
            ceremony.algorithms = settings.offeredAlgorithms
            try tx.insert(ceremony)
            return (ceremony, PasskeyOptions.creation(ceremony, for: own.account, in: tenant, settings, excluding: passkeys))
        }
        return answer(ceremony, EncodedObject(options))
    }

    func answer(_ ceremony: StoredCeremony, _ options: EncodedObject) -> PasskeyCeremony {
        PasskeyCeremony(
            continuationToken: ContinuationTokens(context).token(of: ceremony.id, step: 0), options: options,
            mediation: ceremony.isConditional ? .conditional : .optional, expiresAt: ceremony.expiresAt)
    }
}
