import Contract

extension SignUpService {
    /// Sends another code. If that is not possible, nothing changes.
    ///
    /// - Throws: `TooManyCodes`, `MessageNotSent`, `ContinuationTokenInvalid`, `ContinuationTokenExpired`, `StepNotPossible`.
    /// - Source: native-auth.md 2.1, challenge in U2; 6.3.
    public func resendCode(_ request: SignUpResendCode.Params, _ call: any CallContext) throws -> SignUpResendCode.Result {
        let now = surroundings.clock.now
        let token = request.continuationToken
        let fingerprint = flows.fingerprint(SignUpResendCode.info.name, [.string(token)])
        let found = try flows.peek(token, .signUp, request: fingerprint, at: now)
        let flow = try sending.send(
            for: found.tenant, .signUp, locking: [Flows.lockName(address: found.flow.address)], at: now,
            draft: { tx in
                guard case .current(let flow, let tenant) = try flows.find(token, [.signUp], request: fingerprint, at: now, in: tx) else {
                    return .repeated(try flows.find(token, [.signUp], request: fingerprint, at: now, in: tx).flow)
                }
                _ = try SignUpTransition.decide(flow.signUpState, .resend, tenant.settings.localAccountMethod, tenant.attributes)
                return .send(flow, isNew: false)
            }, commit: { _, flow in flow.move(by: fingerprint, at: now) })
        return answer(flow, found.tenant)
    }
}
