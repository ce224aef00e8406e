import Contract
import JSON

extension MfaService {
    /// Sends the code of a factor. For a TOTP app, only records that its code is expected.
    ///
    /// - Throws: `FactorNotFound`, `AccountLocked`, `AccountDisabled`, `TooManyCodes`, `MessageNotSent`, `TooManyFromClient`,
    ///   `ContinuationTokenInvalid`, `ContinuationTokenExpired`, `StepNotPossible`.
    public func challenge(_ request: MfaChallenge.Params, _ call: any CallContext) throws -> MfaChallenge.Result {
        let factorId = request.factorId
        let step = try flows.step(
            of: Self.signIns, token: request.continuationToken, by: MfaChallenge.info.name, with: [.string(factorId)],
            from: request.client
        ).named(request.clientId)
        let now = step.now
        let found = try step.peek()
        try found.flow.require(.secondFactorRequired)
        let factor = try context.database.read { tx in
            try tx.lockout(of: FactorCheck.lockoutSubject(found.flow.accountId), at: now).check(at: now)
            guard let account = try tx.account(found.flow.accountId) else { throw ContinuationTokenExpired() }
            if account.isDisabled { throw AccountDisabled(accountId: account.id) }
            try tx.requireUnlocked(account, found.tenant, at: now)
            let factors = try tx.factors(of: account.id) + tx.passkeys(of: account.id, usable: found.tenant).map(FactorRecord.init)
            guard let factor = factors.first(where: { $0.id == factorId }) else { throw FactorNotFound(factorId: factorId) }
            return factor
        }
        if factor.kind == .passkey { return try challenge(factor, step, found.tenant) }
        guard let recipient = factor.recipient else {
            let flow = try step.take { tx, flow, _ in
                try flow.require(.secondFactorRequired)
                flow.code = Flow.Code()
                try tx.setChallenged(factor.id, in: flow.id)
                return .moved
            }
            return .codeRequired(
                .init(continuationToken: flows.token(of: flow), codeLength: Int64(TOTP.digits), expiresAt: flow.expiresAt))
        }
        let flow = try sending.by(call).send(
            .init(
                purpose: .signIn, tenant: found.tenant, recipient: { _ in recipient },
                locks: [Flows.lockName(address: found.flow.address)], client: step.client, now: now),
            draft: { tx in
                switch try step.find(in: tx) {
                case .repeated(let flow, _): return .repeated(flow)
                case .current(let flow, _):
                    try flow.require(.secondFactorRequired)
                    return .send(flow, isNew: false)
                }
            },
            commit: { tx, flow in
                flow.move(by: step.request, at: now)
                try tx.setChallenged(factor.id, in: flow.id)
            })
        let tenant = found.tenant
        return .codeRequired(
            .init(
                continuationToken: flows.token(of: flow), sentTo: recipient.masked, channel: recipient.channel,
                codeLength: tenant.codes.length, resendAt: flow.code.sentAt + tenant.codes.resendAfterSeconds,
                expiresAt: flow.code.expiresAt))
    }
}
