import Contract
import ServiceContext
import Storage

extension AccountService {
    /// Verifies the code of an email change and sets the address. Ends the account's sessions and sends notices to both addresses.
    ///
    /// - Throws: `TooManyFromClient`, `InvalidCode`, `AccountDisabled`, `TokenRevoked`, `AccountLocked`, `UserAlreadyExists`, `ContinuationTokenInvalid`,
    ///   `ContinuationTokenExpired`, `StepNotPossible`.
    public func submitCode(_ request: AccountSubmitCode.Params, _ call: any CallContext) throws -> AccountSubmitCode.Result {
        let step = try flows.step(
            of: [.emailChange, .emailVerification], token: request.continuationToken, by: AccountSubmitCode.info.name,
            with: [.string(request.code)], from: request.client)
        let (now, name) = (step.now, step.method)
        let flow = try step.take { tx, flow, tenant in
            try flow.require(.codeRequired)
            let check = CodeCheck(sending: sending, tenant: tenant, subject: "address/\(flow.address)", client: step.client)
            if let refusal = try check.judge(request.code, of: &flow, at: now, in: tx) {
                return .refused(refusal)
            }
            try tx.lock([flow.accountId])
            guard var account = try tx.account(flow.accountId) else { return .ended(FlowEnded(.accountDeleted)) }
            if account.isDisabled { throw AccountDisabled(accountId: account.id) }
            if let sessionId = try tx.factorStep(of: flow.id)?.sessionId, try tx.session(sessionId) == nil {
                return .ended(try tx.loss(ofSession: sessionId))
            }
            try tx.requireUnlocked(account, tenant, at: now)
            let isChange = flow.kind == .emailChange
            if !isChange, account.email.map(Username.fold) != Username.fold(flow.username) { return .ended(FlowEnded(.accountChanged)) }
            guard try tx.rename(account, to: flow.username) else { return .ended(UserAlreadyExists.ofAnother) }
            let left = account.email
            if isChange {
                _ = try tx.deleteSessions(of: account.id)
                try tx.endFlows(of: account.id, except: flow.id)
            }
            account.username = flow.username
            account.email = flow.username
            account.isEmailVerified = true
            // An anonymous account gains a sign-in method: codes sent to this address.
            if account.method == .anonymous { account.method = .code }
            account.updatedAt = now
            try tx.update(account)
            if isChange, let left {
                let change = AccountChange(account, tenant, language: flow.language, by: name, at: now)
                try context.notifyOfChange(from: left, change, in: tx)
                try context.notify(.addressChanged, change, to: flow.username, in: tx)
            }
            let details = [("outcome", isChange ? "changed" : "verified")]
            try context.audit.record(
                AuditEvent(name, call, tenant: tenant.id, subject: account.id, details: details), at: now, in: tx)
            flow.isVerified = true
            flow.stage = .completed
            return .moved
        }
        let account = try context.database.read { tx in try tx.account(flow.accountId)?.answer(in: tx) }
        guard let account else { throw FlowEnded(.accountDeleted) }
        guard flow.kind == .emailChange else { return .completed(.init(account: account)) }
        return .completed(.init(continuationToken: flows.token(of: flow), expiresAt: flow.expiresAt, account: account))
    }
}
