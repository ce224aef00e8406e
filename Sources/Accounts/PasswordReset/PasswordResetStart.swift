import Contract

extension PasswordResetService {
    /// Starts a password reset and sends the code.
    ///
    /// - Throws: `TenantNotFound`, `InvalidUsername`, `UserNotFound`, `PasswordNotSet`, `AccountDisabled`, `TooManyCodes`,
    ///   `TooManyFromClient`, `MessageNotSent`.
    public func start(_ request: PasswordResetStart.Params, _ call: any CallContext) throws -> PasswordResetStart.Result {
        let now = context.clock.now
        let client = try flows.admit(request.client, tenantId: request.tenantId, at: now)
        let tenant = try context.database.read { try configurations.enabledTenant(request.tenantId, in: $0) }
        let caller = try ApplicationAuthentication(context).nativeApplication(
            request.clientId, secret: request.clientSecret, isVerified: isClientAuthenticated, of: tenant)
        let application = FlowApplication(name: caller.name, accepts: request.accepts)
        let username = try Username(request.username)
        let fingerprint = flows.fingerprint(
            PasswordResetStart.info.name,
            [
                .string(tenant.id), .string(request.username), request.language.map { .string($0) } ?? .null,
                client.map { .string($0.text) } ?? .null,
            ] + application.fingerprint(sends: request.send))
        let account = try context.database.read { try $0.account(named: username.folded, in: tenant.id) }
        if !tenant.enumerationProtection {
            guard let account else { throw try flows.failed(UserNotFound(in: tenant), by: client, at: now) }
            if !account.canReset(in: tenant) { throw PasswordNotSet(next: "signIn.start") }
            // The user has proved nothing yet, so the error omits the account ID.
            if account.isDisabled { throw AccountDisabled() }
        }
        // A reset needs a code and a new password; only the code can be missing in an application that resets passwords.
        if let redirection = application.redirection(for: [.code]) { return redirection.passwordReset }
        let canReset = account.map { $0.canReset(in: tenant) && !$0.isDisabled } ?? false
        let accountId = account?.id ?? context.random.uuid()
        var draft = Flow(
            id: flows.newId(), tenantId: tenant.id, kind: .passwordReset, stage: .codeRequired, username: username.typed,
            accountId: accountId, language: request.language, request: fingerprint, requestedAt: now)
        draft.isDecoy = !canReset
        draft.application = application
        let order = CodeSending.Order(
            purpose: .passwordReset, tenant: tenant, locks: [Flows.lockName(address: draft.address)], client: client, now: now)
        let flow =
            request.send
            ? try flows.begin(by: sending.by(call), order, request: fingerprint, draft: { _ in draft })
            : try flows.beginQuietly(at: draft.address, request: fingerprint, at: now) { _ in draft }
        return answer(flow, tenant)
    }
}
