import Contract
import JSON
import Storage

extension HookGate {
    /// Lets the hook `beforeSignIn` decide about a session before it is inserted.
    ///
    /// - Returns: Whether a hook has decided, so that the account may be changed.
    @discardableResult
    func decideSignIn(
        to account: inout AccountRecord, _ tenant: TenantRecord, _ signIn: inout PendingSignIn, by attempt: SignInCompletion.SignInCall,
        in tx: Transaction
    ) throws -> Bool {
        let (before, proof) = (account, signIn.proof)
        let isNew = signIn.isNew
        let decision = try decision(of: .beforeSignIn, in: tenant.id, tx) {
            var params: JSONObject = [
                "account": try json(before.answer(in: tx)), "method": .string(attempt.method), "provider": .string(proof.provider),
                "amr": .array(proof.amr.map { .string($0) }), "isNewAccount": .bool(isNew),
            ]
            if !proof.claims.names.isEmpty { params["sessionClaims"] = .object(proof.claims) }
            if let factor = proof.secondFactor { params["secondFactor"] = .string(factor.kind) }
            return params
        }
        guard let decision else { return false }
        try decision.apply(to: &account, of: tenant, by: .beforeSignIn, at: attempt.now)
        for (name, value) in decision.sessionClaims?.members ?? [] { signIn.proof.claims[name] = value }
        if account.isDisabled { noteDisabled(before.id) }
        return true
    }
}
