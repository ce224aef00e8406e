import Contract

extension SignUpService {
    /// Sends another code. If that is not possible, nothing changes.
    ///
    /// - Throws: `TooManyCodes`, `TooManyFromClient`, `MessageNotSent`, `ContinuationTokenInvalid`, `ContinuationTokenExpired`,
    ///   `StepNotPossible`.
    /// - Source: native-auth.md 2.1, challenge in U2; 6.3.
    public func resendCode(_ request: SignUpResendCode.Params, _ call: any CallContext) throws -> SignUpResendCode.Result {
        let found = try flows.resend(
            request.continuationToken, from: request.client, [.signUp], .signUp, SignUpResendCode.info.name, sending)
        return answer(found.flow, found.tenant)
    }
}
