import Contract
import Messages
import ServiceContext

extension PasswordResetService {
    /// Sets the new password. Unlocks the account, and ends its sessions and its other flows.
    ///
    /// - Throws: `InvalidPassword`, `AccountDisabled`, `TooManyFromClient`, `ContinuationTokenInvalid`, `ContinuationTokenExpired`, `StepNotPossible`.
    public func submitPassword(
        _ request: PasswordResetSubmitPassword.Params, _ call: any CallContext
    ) throws -> PasswordResetSubmitPassword.Result {
        let step = try flows.step(
            of: [.passwordReset], token: request.continuationToken, by: PasswordResetSubmitPassword.info.name,
            with: [.string(request.password)], from: request.client
        ).named(request.clientId)
        let (now, name) = (step.now, step.method)
        let found = try step.peek()
        if case .repeated(let flow, let tenant) = found { return answer(flow, tenant) }
        let tenant = found.tenant
        try found.flow.require(.passwordRequired)
        guard let account = try context.database.read({ try $0.account(found.flow.accountId) }) else {
            throw FlowEnded(.accountDeleted)
        }
        try context.check(context.newPassword(request.password, for: account, in: tenant), by: name, call)
        let sealed = try context.passwords.sealed(request.password, as: account.id)
        let flow = try step.take { tx, flow, tenant in
            try flow.require(.passwordRequired)
            guard var account = try tx.account(of: flow) else { return .ended(try tx.ending(of: flow)) }
            if account.isDisabled { throw AccountDisabled(accountId: account.id) }
            account.password = sealed
            account.mustChangePassword = false
            let dropped = try tx.accountLogins(of: account.id)
            try account.reclaim(.password, at: now, in: tx)
            try tx.update(account)
            func notify(_ purpose: MessagePurpose, what: String = "") throws {
                try context.notify(purpose, AccountChange(account, tenant, language: flow.language, by: name, at: now), what: what, in: tx)
            }
            try notify(.passwordResetNotice)
            for login in dropped { try notify(.providerUnlinked, what: login.providerId) }
            try tx.clearLockout(of: account.lockoutSubject)
            try tx.endFlows(of: account.id, except: flow.id)
            try context.audit.record(AuditEvent(name, call, tenant: tenant.id, subject: account.id), at: now, in: tx)
            flow.stage = .completed
            return .moved
        }
        return answer(flow, tenant)
    }
}
