import Contract

extension PasswordResetService {
    /// Changes the password. Then the account is unlocked, its sessions are over, and so is every other flow of its owner.
    ///
    /// - Throws: `InvalidPassword`, `TooManyFromClient`, `ContinuationTokenInvalid`, `ContinuationTokenExpired`, `StepNotPossible`.
    /// - Source: native-auth.md 2.5, submit in R3, and its side effects; 1.7 (not the current one).
    public func submitPassword(
        _ request: PasswordResetSubmitPassword.Params, _ call: any CallContext
    ) throws -> PasswordResetSubmitPassword.Result {
        let now = surroundings.clock.now
        _ = try flows.admit(request.client, token: request.continuationToken, at: now)
        let (token, name) = (request.continuationToken, PasswordResetSubmitPassword.info.name)
        let fingerprint = flows.fingerprint(name, [.string(token), .string(request.password)])
        let found = try flows.peek(token, [.passwordReset], request: fingerprint, at: now)
        if case .repeated(let flow, let tenant) = found { return answer(flow, tenant) }
        let tenant = found.tenant
        try found.flow.require(.passwordRequired)
        guard let account = try surroundings.database.read({ try $0.account(found.flow.accountId) }) else {
            throw FlowEnded(.accountDeleted)
        }
        try surroundings.checkNew(request.password, for: account, tenant, name, call)
        let sealed = try surroundings.passwords.sealed(request.password, as: account.id)
        let flow = try flows.advance(token, .passwordReset, request: fingerprint, at: now) { tx, flow, tenant in
            try flow.require(.passwordRequired)
            guard var account = try tx.account(of: flow) else { return .ended(try tx.ending(of: flow)) }
            account.password = sealed
            account.mustChangePassword = false
            try account.reclaim(.password, at: now, in: tx)
            try tx.update(account)
            try tx.clearLockout(of: account.lockoutSubject)
            try tx.endFlows(of: account.id, except: flow.id)
            try surroundings.audit.record(AuditEvent(name, call, tenant: tenant.id, subject: account.id), at: now, in: tx)
            flow.stage = .completed
            return .moved
        }
        return answer(flow, tenant)
    }
}

extension Surroundings {
    /// Holds a new password of an account against the rules, with its names and its present one.
    ///
    /// - Throws: `InvalidPassword` with every rule that it breaks.
    func checkNew(_ password: String, for account: AccountRecord, _ tenant: TenantRecord, _ method: String, _ call: any CallContext) throws
    {
        let names = ["givenName", "surname"].compactMap { account.attributes[$0]?.string } + [tenant.settings.name].compactMap { $0 }
        let isCurrent = try account.password != nil && passwords.matches(password, account.password, as: account.id)
        try check(password, tenant, names: names, isCurrent: isCurrent, of: account.id, method, call)
    }
}
