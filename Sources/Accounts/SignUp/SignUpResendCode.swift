import Contract

extension SignUpService {
    /// Sends a new code. If sending fails, nothing changes.
    ///
    /// - Throws: `TooManyCodes`, `TooManyFromClient`, `MessageNotSent`, `ContinuationTokenInvalid`, `ContinuationTokenExpired`,
    ///   `StepNotPossible`.
    public func resendCode(_ request: SignUpResendCode.Params, _ call: any CallContext) throws -> SignUpResendCode.Result {
        let found = try flows.resend(
            request.continuationToken, from: request.client, [.signUp], .signUp, method: SignUpResendCode.info.name, sending: sending)
        return answer(found.flow, found.tenant)
    }
}
