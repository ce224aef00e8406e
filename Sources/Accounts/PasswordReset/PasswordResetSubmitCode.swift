import Contract

extension PasswordResetService {
    /// Verifies the email address with its code. A reset unlocks the account, so a lockout of the account does not block it. Wrong codes
    /// count for the account, and for a separate counter that locks password resets.
    ///
    /// - Throws: `InvalidCode`, `AccountLocked`, `AccountDisabled`, `TooManyFromClient`, `ContinuationTokenInvalid`, `ContinuationTokenExpired`,
    ///   `StepNotPossible`.
    public func submitCode(_ request: PasswordResetSubmitCode.Params, _ call: any CallContext) throws -> PasswordResetSubmitCode.Result {
        let step = try flows.step(
            of: [.passwordReset], token: request.continuationToken, by: PasswordResetSubmitCode.info.name,
            with: [.string(request.code)], from: request.client
        ).named(request.clientId)
        let now = step.now
        var answering: TenantRecord?
        let flow = try step.take { tx, flow, tenant in
            answering = tenant
            try flow.require(.codeRequired)
            let account = try tx.account(flow.accountId)
            if let account { try tx.lock([account.id]) }
            func isLocked() throws -> Bool {
                try account.map { try tx.lockout(of: $0.lockoutSubject, at: now).lock(at: now) != nil } ?? false
            }
            let wasLocked = try isLocked()
            let check = CodeCheck(
                sending: sending, tenant: tenant, subject: Lockout.resets(of: flow.address),
                alsoOf: account?.lockoutSubject ?? SignInService.nobody(flow.address), only: "password resets", client: step.client)
            if let refusal = try check.judge(request.code, of: &flow, at: now, in: tx) {
                if !flow.isDecoy, !wasLocked, try isLocked(), let account {
                    try context.notify(
                        .accountLocked, AccountChange(account, tenant, language: flow.language, by: step.method, at: now), in: tx)
                }
                return .refused(refusal)
            }
            // If the account can no longer be used, fail before the user chooses a new password.
            guard let owner = try tx.account(of: flow) else { return .ended(try tx.ending(of: flow)) }
            if owner.isDisabled { throw AccountDisabled(accountId: owner.id) }
            flow.isVerified = true
            flow.stage = .passwordRequired
            return .moved
        }
        return answer(flow, try answering ?? context.database.read { try configurations.tenant(flow.tenantId, in: $0) })
    }
}
