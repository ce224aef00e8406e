import Contract
import JSON

extension SignInService {
    /// Sends the first code of a flow, or another one. If the flow waits for a password, nothing is sent.
    ///
    /// - Throws: `TooManyCodes`, `TooManyFromClient`, `MessageNotSent`, `ContinuationTokenInvalid`, `ContinuationTokenExpired`,
    ///   `StepNotPossible`.
    public func challenge(_ request: SignInChallenge.Params, _ call: any CallContext) throws -> SignInChallenge.Result {
        let accepts = request.accepts.map { [JSONValue.array($0.map { .string($0.rawValue) })] } ?? []
        let step = try flows.step(
            of: [.signIn], token: request.continuationToken, by: SignInChallenge.info.name, with: accepts, from: request.client
        ).named(request.clientId)
        switch try flows.challenge(step, accepts: request.accepts, .signIn, sending.by(call)) {
        case .advanced(let flow, let tenant): return answer(flow, tenant)
        case .redirected(let redirection): return redirection.signIn
        }
    }
}
