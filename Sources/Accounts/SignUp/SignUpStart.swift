import Contract
import JSON
import Storage

extension SignUpService {
    /// Starts a sign-up and sends the code.
    ///
    /// - Throws: `TenantNotFound`, `SignUpNotAllowed`, `InvalidUsername`, `UserAlreadyExists`, `PasswordNotAccepted`, `InvalidPassword`,
    ///   `InvalidAttributes`, `TooManyCodes`, `TooManyFromClient`, `MessageNotSent`. The first one that applies is thrown.
    public func start(_ request: SignUpStart.Params, _ call: any CallContext) throws -> SignUpStart.Result {
        let now = context.clock.now
        let client = try flows.admit(request.client, tenantId: request.tenantId, at: now)
        let tenant = try context.database.read { try configurations.enabledTenant(request.tenantId, in: $0) }
        let caller = try ApplicationAuthentication(context).nativeApplication(
            request.clientId, secret: request.clientSecret, isVerified: isClientAuthenticated, of: tenant)
        let application = FlowApplication(name: caller.name, accepts: request.accepts)
        if !tenant.settings.signUpAllowed { throw SignUpNotAllowed(tenantId: tenant.id) }
        let username = try Username(request.username)
        let fingerprint = flows.fingerprint(
            SignUpStart.info.name,
            [
                .string(tenant.id), .string(request.username), request.password.map { .string($0) } ?? .null,
                request.attributes.map { .object($0) } ?? .null, request.language.map { .string($0) } ?? .null,
                client.map { .string($0.text) } ?? .null,
            ] + application.fingerprint(sends: request.send))
        if let redirection = application.redirection(for: request.needed(by: tenant)) { return redirection.signUp }
        let isHidden = tenant.enumerationProtection
        let isTaken = try context.database.read { try $0.isTaken(username.folded, in: tenant.id) }
        if isTaken, !isHidden { throw try flows.failed(UserAlreadyExists(next: "signIn.start"), by: client, at: now) }
        let attributes = try checkedAttributes(request, username, tenant, call: call)
        let accountId = context.random.uuid()
        var draft = Flow(
            id: flows.newId(), tenantId: tenant.id, kind: .signUp, stage: .codeRequired, username: username.typed, accountId: accountId,
            language: request.language, request: fingerprint, requestedAt: now)
        draft.application = application
        draft.attributes = attributes
        draft.password = try request.password.map { try context.passwords.sealed($0, as: draft.accountId) }
        let begun: (Transaction) throws -> Flow = { tx in
            var flow = draft
            flow.isDecoy = try tx.isTaken(username.folded, in: tenant.id)
            if flow.isDecoy, !isHidden { throw UserAlreadyExists(next: "signIn.start") }
            return flow
        }
        let order = CodeSending.Order(
            purpose: .signUp, tenant: tenant, locks: [Flows.lockName(address: draft.address)], client: client, now: now)
        let flow =
            request.send
            ? try flows.begin(by: sending.by(call), order, request: fingerprint, draft: begun)
            : try flows.beginQuietly(at: draft.address, request: fingerprint, at: now, draft: begun)
        return answer(flow, tenant)
    }

    /// Returns the validated attributes of the request, after validating its password.
    ///
    /// - Throws: `PasswordNotAccepted`, `InvalidPassword`, `InvalidAttributes`.
    private func checkedAttributes(
        _ request: SignUpStart.Params, _ username: Username, _ tenant: TenantRecord, call: any CallContext
    ) throws -> JSONObject {
        if let password = request.password {
            let words = ContextWords(addresses: [username.typed], attributes: request.attributes ?? [:], tenant)
            try check(NewPassword(text: password, tenant: tenant, words: words), by: SignUpStart.info.name, call)
        }
        return try tenant.accept(request.attributes ?? [:])
    }

    /// - Throws: `PasswordNotAccepted`, `InvalidPassword`.
    func check(_ password: NewPassword, by method: String, _ call: any CallContext) throws {
        if !password.tenant.localAccountMethod.permitsPasswords { throw PasswordNotAccepted() }
        try context.check(password, by: method, call)
    }
}

extension SignUpStart.Params {
    /// The parts of the flow that the sign-up needs.
    fileprivate func needed(by tenant: TenantRecord) -> [FlowCapability] {
        switch tenant.localAccountMethod {
        case .emailCode, .passkey: [.code]
        case .emailPassword: [.code, .password]
        case .either: password == nil ? [.code] : [.code, .password]
        }
    }
}
