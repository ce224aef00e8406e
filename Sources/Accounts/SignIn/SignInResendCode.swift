import Contract

extension SignInService {
    /// Sends another code; the first one to whom a password was asked of, where nobody is to learn who has one.
    ///
    /// - Throws: `TooManyCodes`, `TooManyFromClient`, `MessageNotSent`, `ContinuationTokenInvalid`, `ContinuationTokenExpired`,
    ///   `StepNotPossible`.
    /// - Source: native-auth.md 2.3, challenge in I2o.
    public func resendCode(_ request: SignInResendCode.Params, _ call: any CallContext) throws -> SignInResendCode.Result {
        let found = try flows.resend(
            request.continuationToken, from: request.client, [.signIn], .signIn, SignInResendCode.info.name, sending)
        return answer(found.flow, found.tenant)
    }
}
