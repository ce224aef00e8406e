import Contract
import Storage

/// Sign-ins whose second factor is verified and whose tokens a later call returns.
extension MfaService {
    /// Stores a sign-in, so that `signIn.withContinuation` completes it. The flow is then completed, but has not ended.
    func deferTokens(of signIn: PendingSignIn, in flow: inout Flow, _ tx: Transaction) throws -> FlowStep.Outcome {
        var signIn = signIn
        signIn.isDeferred = true
        try tx.setFactorStep(FactorStep(signIn: signIn.sealed(in: flow.id, context.vault)), of: flow.id)
        flow.stage = .completed
        flow.code = Flow.Code()
        return .moved
    }

    /// The result of a flow whose tokens wait.
    ///
    /// - Throws: `ContinuationTokenInvalid` if the flow is in another step.
    func deferred(_ flow: Flow) throws -> SignInStep {
        guard flow.stage == .completed, flow.ending == nil else { throw ContinuationTokenInvalid() }
        return .tokensDeferred(.init(continuationToken: flows.token(of: flow), expiresAt: flow.expiresAt))
    }
}
