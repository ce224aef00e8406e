import Contract

extension SignInService {
    /// Sends another code.
    ///
    /// - Throws: `TooManyCodes`, `MessageNotSent`, `ContinuationTokenInvalid`, `ContinuationTokenExpired`, `StepNotPossible`.
    /// - Source: native-auth.md 2.3, challenge in I2o.
    public func resendCode(_ request: SignInResendCode.Params, _ call: any CallContext) throws -> SignInResendCode.Result {
        let found = try flows.resend(request.continuationToken, [.signIn], .signIn, SignInResendCode.info.name, sending)
        return answer(found.flow, found.tenant)
    }
}
