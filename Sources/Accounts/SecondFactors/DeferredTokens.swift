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

extension SignInService {
    /// The kinds of flows in which a sign-in can wait for its tokens.
    static let deferring: [Flow.Kind] = MfaService.enrollments

    /// Returns whether the flow of a token waits, or waited, for its tokens only.
    func hasDeferredTokens(_ token: String) throws -> Bool {
        try context.database.read { tx in
            guard let (id, _) = try? ContinuationTokens(context).read(token, in: tx), let flow = try tx.flow(id) else { return false }
            return try deferredSignIn(of: flow, in: tx) != nil
        }
    }

    /// Returns the sign-in of a flow whose tokens wait, or `nil`.
    func deferredSignIn(of flow: Flow, in tx: Transaction) throws -> PendingSignIn? {
        guard flow.stage == .completed, let sealed = try tx.factorStep(of: flow.id)?.signIn else { return nil }
        let signIn = try PendingSignIn(sealed, of: flow.id, context.vault)
        return signIn.isDeferred ? signIn : nil
    }
}
