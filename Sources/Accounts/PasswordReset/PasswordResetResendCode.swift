import Contract

extension PasswordResetService {
    /// Sends a new code.
    ///
    /// - Throws: `TooManyCodes`, `TooManyFromClient`, `MessageNotSent`, `ContinuationTokenInvalid`, `ContinuationTokenExpired`,
    ///   `StepNotPossible`.
    public func resendCode(_ request: PasswordResetResendCode.Params, _ call: any CallContext) throws -> PasswordResetResendCode.Result {
        let found = try flows.resend(
            request.continuationToken, from: request.client, [.passwordReset], .passwordReset, method: PasswordResetResendCode.info.name,
            sending: sending)
        return answer(found.flow, found.tenant)
    }
}
