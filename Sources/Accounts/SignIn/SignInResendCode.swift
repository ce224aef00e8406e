import Contract

extension SignInService {
    /// Sends a new code. With `enumerationProtection`, this can also be the first code of a sign-in that started with a password.
    ///
    /// - Throws: `TooManyCodes`, `TooManyFromClient`, `MessageNotSent`, `ContinuationTokenInvalid`, `ContinuationTokenExpired`,
    ///   `StepNotPossible`.
    public func resendCode(_ request: SignInResendCode.Params, _ call: any CallContext) throws -> SignInResendCode.Result {
        let found = try flows.resend(
            request.continuationToken, from: request.client, [.signIn], .signIn, method: SignInResendCode.info.name, sending: sending)
        return answer(found.flow, found.tenant)
    }
}
