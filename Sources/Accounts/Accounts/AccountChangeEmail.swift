import Contract
import JSON
import Storage

extension AccountService {
    /// Sends a code to the new email address of an account, or to its current address if that is not verified.
    ///
    /// - Throws: `CallerNotAllowed`, `AccountNotFound`, `AccountMerged`, `InvalidUsername`, `UserAlreadyExists`, `RecentSignInRequired`,
    ///   `SecondFactorNeeded`, `InvalidPassword`, `PasswordNotSet`, `AccountLocked`, `TooManyCodes`, `TooManyFromClient`, `MessageNotSent`,
    ///   and the errors of ID token verification; for a continuation token `ContinuationTokenInvalid`, `ContinuationTokenExpired`,
    ///   `StepNotPossible`.
    public func changeEmail(_ request: AccountChangeEmail.Params, _ call: any CallContext) throws -> AccountChangeEmail.Result {
        let name = AccountChangeEmail.info.name
        guard case .email(let typed) = request.address, let asker = try asker(request.account, call) else {
            guard case .continuationToken(let token) = request.account else { throw ContinuationTokenInvalid() }
            let step = try flows.step(
                of: [.emailChange, .emailVerification], token: token, by: name, with: [], from: request.client)
            let found = try flows.resend(step, .verifyAddress, sending.by(call))
            return answer(found.flow, found.tenant)
        }
        let now = context.clock.now
        let address = try Username(typed)
        let (account, shown, tenant, wanted) = try context.database.read { tx in
            let (account, tenant) = try found(asker, in: tx)
            if asker.token != nil { try tx.requireUnlocked(account, tenant, at: now) }
            let wanted = try decide(address, account, tenant, in: tx)
            if let token = asker.token, wanted.isChange { try AuthenticatedAccount(token, in: tx).requireSecondFactor(tenant, in: tx) }
            return (account, try account.answer(in: tx), tenant, wanted)
        }
        let client = try flows.admit(request.client, tenantId: tenant.id, at: now)
        if wanted == .nothing { return .completed(.init(account: shown)) }
        if let token = asker.token, wanted.isChange { try prove(account, tenant, token, password: request.currentPassword, client: client) }
        let fingerprint = flows.fingerprint(
            name,
            [.string(asker.named), .string(typed)] + [request.currentPassword, request.language].map { $0.map { .string($0) } ?? .null })
        let kind: Flow.Kind = wanted == .verification ? .emailVerification : .emailChange
        let draft = Flow(
            id: flows.newId(), tenantId: tenant.id, kind: kind, stage: .codeRequired, username: address.typed, accountId: account.id,
            language: request.language, request: fingerprint, requestedAt: now)
        let order = CodeSending.Order(
            purpose: .verifyAddress, tenant: tenant, locks: [Flows.lockName(address: draft.address)], client: client, now: now)
        let flow = try flows.begin(by: sending.by(call), order, request: fingerprint) { tx in
            let (account, tenant) = try found(asker, in: tx)
            let wanted = try decide(address, account, tenant, in: tx)
            if let token = asker.token, wanted.isChange { try AuthenticatedAccount(token, in: tx).requireSecondFactor(tenant, in: tx) }
            var flow = draft
            flow.isDecoy = wanted == .show
            if let token = asker.token {
                flow.application = FlowApplication(name: try AuthenticatedAccount(token, in: tx).session.grant.application)
            }
            return flow
        } stored: { tx, flow in
            // The change ends with the session that began it.
            if let token = asker.token { try tx.setFactorStep(FactorStep(sessionId: token.sessionId), of: flow.id) }
        }
        return answer(flow, tenant)
    }

    /// The account whose address changes, and the caller's authorization.
    private struct Asker {
        let accountId: String
        /// The user's ID token; `nil` if the caller is the developer.
        let token: VerifiedTenantToken?
        /// The parameter that identifies the account.
        let named: String
    }

    /// - Returns: `nil` for a continuation token.
    private func asker(_ account: AccountChangeEmail.Params.Account, _ call: any CallContext) throws -> Asker? {
        switch account {
        case .continuationToken: return nil
        case .accountId(let id):
            if call.isPublicCaller { throw CallerNotAllowed(method: "\(AccountChangeEmail.info.name) by accountId") }
            return Asker(accountId: id, token: nil, named: id)
        case .idToken(let idToken):
            let token = try TenantTokenVerifier(context: context, configurations: configurations).verify(
                idToken, .init(use: .id), now: context.clock.now)
            return Asker(accountId: token.accountId, token: token, named: idToken)
        }
    }

    private func found(_ asker: Asker, in tx: Transaction) throws -> (AccountRecord, TenantRecord) {
        guard let account = try tx.account(asker.accountId), let tenant = try configurations.knownTenant(account.tenantId, in: tx) else {
            throw try tx.absence(of: asker.accountId)
        }
        return (account, tenant)
    }

    private func decide(_ address: Username, _ account: AccountRecord, _ tenant: TenantRecord, in tx: Transaction) throws -> EmailChange {
        try EmailChange.decide(
            address,
            EmailChange.Facts(
                accountId: account.id, present: account.email, isVerified: account.isEmailVerified,
                owner: try tx.account(named: address.folded, in: tenant.id)?.id, isHidden: tenant.enumerationProtection))
    }

    /// - Throws: `RecentSignInRequired` without a password; with a password `InvalidPassword`, `PasswordNotSet`, `AccountLocked`.
    private func prove(
        _ account: AccountRecord, _ tenant: TenantRecord, _ token: VerifiedTenantToken, password: String?, client: ClientKey?
    ) throws {
        let now = context.clock.now
        guard let password else { return try RecentSignIn.check(authenticatedAt: token.authenticatedAt, at: now) }
        if account.password == nil { throw PasswordNotSet(next: "signIn.start") }
        let (check, subject) = (PasswordCheck(context), account.lockoutSubject)
        let unlock = try context.database.read { tx in
            let unlock = try tenant.unlock(account, of: account.address, at: now, in: tx)
            try tx.lockout(of: subject, at: now).check(at: now, unlock: unlock)
            return unlock
        }
        let match = try check.match(password, account)
        let refusal = try context.database.write { tx in
            try tx.lock([account.id])
            let isStillRight = try check.isStillRight(match, tx.account(account.id))
            let refusal = try check.judge(
                .init(password: password, subject: subject, unlock: unlock, client: client), isRight: isStillRight, tenant.lockout, at: now,
                in: tx)
            if refusal?.lockedUntil != nil {
                try context.notify(.accountLocked, AccountChange(account, tenant, by: AccountChangeEmail.info.name, at: now), in: tx)
            }
            return refusal
        }
        if let refusal { throw refusal }
    }

    /// The result for a flow that waits for its code.
    func answer(_ flow: Flow, _ tenant: TenantRecord) -> EmailChangeStep {
        .codeRequired(
            .init(
                continuationToken: flows.token(of: flow), sentTo: flow.maskedAddress, channel: .email, codeLength: tenant.codes.length,
                resendAt: flow.code.sentAt + tenant.codes.resendAfterSeconds, expiresAt: flow.code.expiresAt))
    }
}
