import Contract

extension SignUpService {
    /// Verifies the email address with its code.
    ///
    /// - Throws: `InvalidCode`, `AccountLocked`, `UserAlreadyExists`, `TooManyFromClient`, `ContinuationTokenInvalid`,
    ///   `ContinuationTokenExpired`, `StepNotPossible`.
    public func submitCode(_ request: SignUpSubmitCode.Params, _ call: any CallContext) throws -> SignUpSubmitCode.Result {
        let step = try flows.step(
            of: [.signUp], token: request.continuationToken, by: SignUpSubmitCode.info.name,
            with: [.string(request.code)], from: request.client
        ).named(request.clientId)
        return try take(step, call) { tx, flow, tenant in
            guard flow.stage == .codeRequired else { return (.code(isRight: true), nil) }
            let check = CodeCheck(sending: sending, tenant: tenant, subject: "address/\(flow.address)", client: step.client)
            let refusal = try check.judge(request.code, of: &flow, at: step.now, in: tx)
            return (.code(isRight: refusal == nil), refusal)
        }
    }
}
