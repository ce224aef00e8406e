import Contract
import ServiceContext
import Storage

extension PasskeyService {
    /// Starts the registration of a passkey.
    ///
    /// - Throws: the errors of ID token verification; `PasskeysOff`, `TooManyPasskeys`, `RecentSignInRequired`, `SecondFactorNeeded`,
    ///   `TooManyFromClient`; in a sign-up `SignUpNotAllowed`, `StepNotPossible` and the errors of `Flows.find`.
    public func startRegistration(
        _ request: PasskeyStartRegistration.Params, _ call: any CallContext
    ) throws -> PasskeyStartRegistration.Result {
        switch request.account {
        case .idToken(let idToken): return try startRegistration(idToken, request)
        case .continuationToken(let token):
            if request.conditional {
                let message = "conditional is for a user who has just signed in with a password. Omit it in a sign-up."
                throw InvalidParams(violations: [Violation(pointer: "/conditional", rule: "unknown", message: message)])
            }
            return try startRegistration(ofSignUp: token, from: request.client)
        }
    }

    private func startRegistration(
        _ idToken: String, _ request: PasskeyStartRegistration.Params
    ) throws -> PasskeyStartRegistration.Result {
        let now = context.clock.now
        let token = try verify(idToken, at: now)
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
            if passkeys.count(where: { $0.usage == .signIn }) >= PasskeyRecord.most {
                throw TooManyPasskeys(maximum: Int64(PasskeyRecord.most))
            }
            var ceremony = StoredCeremony(
                id: draws.id, tenantId: tenant.id, kind: .registration, accountId: own.account.id,
                challenge: try draws.challenge(context, in: tx), userHandle: try draws.userHandle(of: own.account.id, in: tx),
                expiresAt: now + StoredCeremony.lifetimeSeconds)
            ceremony.isConditional = request.conditional
            ceremony.sessionId = own.session.id
            ceremony.requiresUserVerification = settings.userVerification == .required
            ceremony.algorithms = settings.offeredAlgorithms
            try tx.insert(ceremony)
            return (ceremony, PasskeyOptions.creation(ceremony, for: own.account, in: tenant, settings, excluding: passkeys))
        }
        return answer(ceremony, EncodedObject(options))
    }

    /// Starts the registration of the passkey of an account to be. The token of the sign-up stays valid.
    private func startRegistration(ofSignUp token: String, from origin: ClientOrigin?) throws -> PasskeyStartRegistration.Result {
        let now = context.clock.now
        _ = try flows.admit(origin, token: token, at: now)
        let draws = PasskeyDraws(context)
        let (ceremony, options) = try context.database.write { tx in
            let found = try flows.find(token, [.signUp], request: [], at: now, in: tx)
            try tx.lock([Flows.lockName(address: found.flow.address)])
            guard case .current(var flow, let tenant) = try flows.find(token, [.signUp], request: [], at: now, in: tx) else {
                throw ContinuationTokenInvalid()
            }
            if !tenant.settings.signUpAllowed { throw SignUpNotAllowed(tenantId: tenant.id) }
            let due = SignUpTransition.due(flow.signUpState, tenant.localAccountMethod, tenant.attributes)
            guard due == .passkeyRequired else {
                throw StepNotPossible(expected: (due == .completed ? flow.stage : due).method(in: "signUp"))
            }
            let settings = try tenant.passkeySettings()
            // Every registration of this sign-up has the same user handle, so that authenticators replace a passkey that was refused.
            let handle = flow.passkey?.userHandle ?? draws.userHandle
            if flow.passkey == nil {
                flow.passkey = SignUpPasskey(userHandle: handle)
                try tx.update(flow)
            }
            var ceremony = StoredCeremony(
                id: draws.id, tenantId: tenant.id, kind: .registration, accountId: flow.accountId,
                challenge: try draws.challenge(context, in: tx), userHandle: handle,
                expiresAt: min(now + StoredCeremony.lifetimeSeconds, flow.expiresAt))
            ceremony.requiresUserVerification = settings.userVerification == .required
            ceremony.algorithms = settings.offeredAlgorithms
            ceremony.flowId = flow.id
            try tx.insert(ceremony)
            let account = flow.account(of: tenant, at: now)
            return (ceremony, PasskeyOptions.creation(ceremony, for: account, in: tenant, settings, excluding: []))
        }
        return answer(ceremony, EncodedObject(options))
    }

    func answer(_ ceremony: StoredCeremony, _ options: EncodedObject) -> PasskeyCeremony {
        PasskeyCeremony(
            continuationToken: ContinuationTokens(context).token(of: ceremony.id, step: 0), options: options,
            mediation: ceremony.isConditional ? .conditional : .optional, expiresAt: ceremony.expiresAt)
    }
}
