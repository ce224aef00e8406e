import Contract

extension PasswordResetService {
    /// Sends a new code.
    ///
    /// - Throws: `TooManyCodes`, `TooManyFromClient`, `MessageNotSent`, `ContinuationTokenInvalid`, `ContinuationTokenExpired`,
    ///   `StepNotPossible`.
    public func resendCode(_ request: PasswordResetResendCode.Params, _ call: any CallContext) throws -> PasswordResetResendCode.Result {
        let step = try flows.step(
            of: [.passwordReset], token: request.continuationToken, by: PasswordResetResendCode.info.name, with: [], from: request.client
        ).named(request.clientId)
        let found = try flows.resend(step, .passwordReset, sending.by(call))
        return answer(found.flow, found.tenant)
    }
}
