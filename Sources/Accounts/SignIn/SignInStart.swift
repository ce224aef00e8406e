import Contract

extension SignInService {
    /// Starts a sign-in. Depending on the account, the next step is a password, or a code that is sent. With `enumerationProtection`, the
    /// response is the same for existing and unknown addresses, and later steps accept both a password and a code.
    ///
    /// - Throws: `TenantNotFound`, `InvalidUsername`, `UserNotFound`, `PasswordNotSet`, `AccountDisabled`, `AccountLocked`, `TooManyCodes`, `TooManyFromClient`,
    ///   `MessageNotSent`.
    public func start(_ request: SignInStart.Params, _ call: any CallContext) throws -> SignInStart.Result {
        let now = context.clock.now
        let client = try flows.admit(request.client, tenantId: request.tenantId, at: now)
        let tenant = try context.database.read { try configurations.enabledTenant(request.tenantId, in: $0) }
        let caller = try ApplicationAuthentication(context).nativeApplication(
            request.clientId, secret: request.clientSecret, isVerified: isClientAuthenticated, of: tenant)
        let application = FlowApplication(name: caller.name, accepts: request.accepts)
        let username = try Username(request.username)
        let fingerprint = flows.fingerprint(
            SignInStart.info.name,
            [
                .string(tenant.id), .string(request.username), request.language.map { .string($0) } ?? .null,
                client.map { .string($0.text) } ?? .null,
            ] + application.fingerprint(sends: request.send))
        let account = try context.database.read { try $0.account(named: username.folded, in: tenant.id) }
        if account == nil, !tenant.enumerationProtection {
            throw try flows.failed(UserNotFound(in: tenant), by: client, at: now)
        }
        let way = try account.map { account in
            try context.database.read { try SignInMethodHint(to: account, tenant, configurations, in: $0) }
        }
        // For a user who signs in with a provider, return the providers, unless this would reveal the account.
        if case .elsewhere(let providers, let reset) = way, !tenant.enumerationProtection {
            if let reset, providers.isEmpty { throw PasswordNotSet(next: reset) }
            if let redirection = application.redirection(for: [.provider]) { return redirection.signIn }
            return .providerRequired(.init(next: reset, providers: providers))
        }
        if let account, !tenant.enumerationProtection { try PasswordCheck(context).requireKnown(account) }
        let known: AccountRecord.Method? = if case .here(let method) = way { method } else { nil }
        let usual: AccountRecord.Method = tenant.localAccountMethod == .emailPassword ? .password : .code
        let method = tenant.enumerationProtection ? usual : known ?? usual
        // A locked account with a password gets the step of the password; the lockout applies to that step.
        try context.database.read { try $0.requireUsable(account, tenant, forSignIn: method == .code, at: now) }
        let accountId = (known == nil ? nil : account?.id) ?? context.random.uuid()
        var draft = Flow(
            id: flows.newId(), tenantId: tenant.id, kind: .signIn, stage: method == .password ? .passwordRequired : .codeRequired,
            username: username.typed, accountId: accountId, language: request.language, request: fingerprint, requestedAt: now)
        draft.isDecoy = known == nil
        draft.application = application
        if let redirection = draft.redirection { return redirection.signIn }
        let order = CodeSending.Order(
            purpose: .signIn, tenant: tenant, locks: [Flows.lockName(address: draft.address)], client: client, now: now)
        let flow =
            method == .password || !request.send
            ? try flows.beginQuietly(at: draft.address, request: fingerprint, at: now) { _ in draft }
            : try flows.begin(by: sending.by(call), order, request: fingerprint) { _ in draft }
        return answer(flow, tenant)
    }
}
