import Contract

extension SignInService {
    /// Sends a new code. With `enumerationProtection`, this can also be the first code of a sign-in that started with a password.
    ///
    /// - Throws: `TooManyCodes`, `TooManyFromClient`, `MessageNotSent`, `ContinuationTokenInvalid`, `ContinuationTokenExpired`,
    ///   `StepNotPossible`.
    public func resendCode(_ request: SignInResendCode.Params, _ call: any CallContext) throws -> SignInResendCode.Result {
        let step = try flows.step(
            of: [.signIn], token: request.continuationToken, by: SignInResendCode.info.name, with: [], from: request.client
        ).named(request.clientId)
        let found = try flows.resend(step, .signIn, sending.by(call))
        return answer(found.flow, found.tenant)
    }
}
