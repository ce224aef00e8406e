import Contract

extension SignUpService {
    /// Sends a new code. If sending fails, nothing changes.
    ///
    /// - Throws: `TooManyCodes`, `TooManyFromClient`, `MessageNotSent`, `ContinuationTokenInvalid`, `ContinuationTokenExpired`,
    ///   `StepNotPossible`.
    public func resendCode(_ request: SignUpResendCode.Params, _ call: any CallContext) throws -> SignUpResendCode.Result {
        let step = try flows.step(
            of: [.signUp], token: request.continuationToken, by: SignUpResendCode.info.name, with: [], from: request.client
        ).named(request.clientId)
        let found = try flows.resend(step, .signUp, sending.by(call))
        return answer(found.flow, found.tenant)
    }
}
