import Contract
import Storage

extension SignInCompletion {
    /// Stores a sign-in that needs no second factor, so that `signIn.withContinuation` completes it.
    func deferred(_ signIn: PendingSignIn, in flow: Flow, _ account: AccountRecord, _ tx: Transaction) throws -> Flow {
        var (flow, signIn) = (flow, signIn)
        signIn.isDeferred = true
        try tx.update(account)
        try tx.setFactorStep(FactorStep(signIn: signIn.sealed(in: flow.id, context.vault)), of: flow.id)
        flow.stage = .completed
        flow.code = Flow.Code()
        return flow
    }
}
