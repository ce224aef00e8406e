import Contract
import Storage

extension AccountService {
    /// Gives the account the address whose code this is. Its sessions end, and the address before gets a notice.
    ///
    /// - Throws: `TooManyFromClient`, `InvalidCode`, `AccountLocked`, `UserAlreadyExists`, `ContinuationTokenInvalid`, `ContinuationTokenExpired`,
    ///   `StepNotPossible`.
    /// - Source: firebase.md, section 2.9 (apply VERIFY_AND_CHANGE_EMAIL, VERIFY_EMAIL); native-auth.md 1.8, 6.2, 6.11.
    public func submitCode(_ request: AccountSubmitCode.Params, _ call: any CallContext) throws -> AccountSubmitCode.Result {
        let now = surroundings.clock.now
        let (token, name) = (request.continuationToken, AccountSubmitCode.info.name)
        let client = try flows.admit(request.client, token: token, at: now)
        let fingerprint = flows.fingerprint(name, [.string(token), .string(request.code)])
        var left: (address: String, tenant: TenantRecord)?
        let flow = try flows.advance(token, .emailChange, .emailVerification, request: fingerprint, at: now) { tx, flow, tenant in
            left = nil
            try flow.require(.codeRequired)
            let subject = "address/\(flow.address)"
            if let refusal = try flows.judge(request.code, of: &flow, tenant, sending, lockout: subject, client: client, at: now, in: tx) {
                return .refused(refusal)
            }
            try tx.lock([flow.accountId])
            guard var account = try tx.account(flow.accountId) else { return .ended(FlowEnded(.accountDeleted)) }
            let isChange = flow.kind == .emailChange
            if !isChange, account.email.map(Username.fold) != Username.fold(flow.username) { return .ended(FlowEnded(.accountChanged)) }
            guard try tx.rename(account, to: flow.username) else { return .ended(UserAlreadyExists.ofAnother) }
            if isChange {
                left = account.email.map { ($0, tenant) }
                _ = try tx.deleteSessions(of: account.id)
                try tx.endFlows(of: account.id, except: flow.id)
            }
            account.username = flow.username
            account.email = flow.username
            account.isEmailVerified = true
            // Whoever was anonymous has a way to sign in from now on: codes to this address.
            if account.method == .anonymous { account.method = .code }
            account.updatedAt = now
            try tx.update(account)
            let details = [("outcome", isChange ? "changed" : "verified")]
            try surroundings.audit.record(
                AuditEvent(name, call, tenant: tenant.id, subject: account.id, details: details), at: now, in: tx)
            flow.isVerified = true
            flow.stage = .completed
            return .moved
        }
        if let left { try tell(left.address, of: left.tenant, after: flow, call, at: now) }
        let account = try surroundings.database.read { tx in try tx.account(flow.accountId)?.answer(in: tx) }
        guard let account else { throw FlowEnded(.accountDeleted) }
        guard flow.kind == .emailChange else { return EmailChangeStep(state: .completed, account: account) }
        return EmailChangeStep(
            state: .completed, continuationToken: flows.token(of: flow), expiresAt: flow.expiresAt, account: account)
    }

    /// Writes to the address that an account had. The change stands whether that works or not: who moves often has lost the mailbox.
    /// What was not taken leaves a record in the audit log.
    private func tell(_ address: String, of tenant: TenantRecord, after flow: Flow, _ call: any CallContext, at now: Int64) throws {
        do {
            try MessageSending(surroundings: surroundings).send(.addressChanged, to: .email(address), language: flow.language, of: tenant)
        } catch is MessageNotSent {
            let event = AuditEvent(
                AccountSubmitCode.info.name, call, tenant: tenant.id, subject: flow.accountId, details: [("notice", "messageNotSent")])
            try surroundings.database.write { try surroundings.audit.record(event, at: now, in: $0) }
        }
    }
}
