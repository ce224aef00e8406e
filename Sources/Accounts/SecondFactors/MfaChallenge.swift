import Contract
import JSON

extension MfaService {
    /// Sends the code of a factor. For a TOTP app, only records that its code is expected.
    ///
    /// - Throws: `FactorNotFound`, `AccountLocked`, `AccountDisabled`, `TooManyCodes`, `MessageNotSent`, `TooManyFromClient`,
    ///   `ContinuationTokenInvalid`, `ContinuationTokenExpired`, `StepNotPossible`.
    public func challenge(_ request: MfaChallenge.Params, _ call: any CallContext) throws -> MfaChallenge.Result {
        let now = context.clock.now
        let client = try flows.admit(request.client, token: request.continuationToken, at: now)
        let (token, factorId) = (request.continuationToken, request.factorId)
        let fingerprint = flows.fingerprint(MfaChallenge.info.name, [.string(token), .string(factorId)])
        let found = try flows.peek(token, Self.signIns, request: fingerprint, at: now)
        try found.flow.require(.secondFactorRequired)
        let factor = try context.database.read { tx in
            try tx.lockout(of: FactorCheck.lockoutSubject(found.flow.accountId), at: now).check(at: now)
            guard let account = try tx.account(found.flow.accountId) else { throw ContinuationTokenExpired() }
            if account.isDisabled { throw AccountDisabled(accountId: account.id) }
            guard let factor = try tx.factors(of: account.id).first(where: { $0.id == factorId }) else {
                throw FactorNotFound(factorId: factorId)
            }
            return factor
        }
        guard let recipient = factor.recipient else {
            let flow = try flows.advance(token, Self.signIns, request: fingerprint, at: now) { tx, flow, _ in
                try flow.require(.secondFactorRequired)
                flow.code = Flow.Code()
                try tx.setChallenged(factor.id, in: flow.id)
                return .moved
            }
            return .codeRequired(
                .init(continuationToken: flows.token(of: flow), codeLength: Int64(TOTP.digits), expiresAt: flow.expiresAt))
        }
        let flow = try sending.send(
            for: found.tenant, .signIn, to: { _ in recipient }, locking: [Flows.lockName(address: found.flow.address)],
            client: client, at: now,
            draft: { tx in
                switch try flows.find(token, Self.signIns, request: fingerprint, at: now, in: tx) {
                case .repeated(let flow, _): return .repeated(flow)
                case .current(let flow, _):
                    try flow.require(.secondFactorRequired)
                    return .send(flow, isNew: false)
                }
            },
            commit: { tx, flow in
                flow.move(by: fingerprint, at: now)
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
