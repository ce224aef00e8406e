import Contract

extension SignUpService {
    /// Verifies the email address with its code.
    ///
    /// - Throws: `InvalidCode`, `AccountLocked`, `UserAlreadyExists`, `TooManyFromClient`, `ContinuationTokenInvalid`,
    ///   `ContinuationTokenExpired`, `StepNotPossible`.
    public func submitCode(_ request: SignUpSubmitCode.Params, _ call: any CallContext) throws -> SignUpSubmitCode.Result {
        let now = context.clock.now
        let client = try flows.admit(request.client, token: request.continuationToken, at: now)
        let fingerprint = flows.fingerprint(SignUpSubmitCode.info.name, [.string(request.continuationToken), .string(request.code)])
        return try advance(request.continuationToken, request: fingerprint, SignUpSubmitCode.info.name, call) { tx, flow, tenant in
            guard flow.stage == .codeRequired else { return (.code(isRight: true), nil) }
            let check = CodeCheck(sending: sending, tenant: tenant, subject: "address/\(flow.address)", client: client)
            let refusal = try check.judge(request.code, of: &flow, at: now, in: tx)
            return (.code(isRight: refusal == nil), refusal)
        }
    }
}
