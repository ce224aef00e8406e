import Contract

extension SignInService {
    /// Begins a sign-in: asks for the password, or sends a code, as the account was made. Where nobody is to learn who has an account
    /// it asks everybody for the same, and the steps after it take a password and a code of everybody.
    ///
    /// - Throws: `TenantNotFound`, `InvalidUsername`, `UserNotFound`, `PasswordNotSet`, `TooManyCodes`, `TooManyFromClient`, `MessageNotSent`.
    /// - Source: native-auth.md 2.3, states I0 and I1; 6.1.
    public func start(_ request: SignInStart.Params, _ call: any CallContext) throws -> SignInStart.Result {
        let now = surroundings.clock.now
        let client = try flows.admit(request.client, tenantId: request.tenantId, at: now)
        let tenant = try surroundings.database.read { try catalogue.tenant(request.tenantId, in: $0) }
        let username = try Username(request.username)
        let fingerprint = flows.fingerprint(
            SignInStart.info.name,
            [
                .string(tenant.id), .string(request.username), request.language.map { .string($0) } ?? .null,
                client.map { .string($0.text) } ?? .null,
            ])
        let account = try surroundings.database.read { try $0.account(named: username.folded, in: tenant.id) }
        if account == nil, !tenant.settings.enumerationProtection {
            throw try flows.failed(UserNotFound(in: tenant), by: client, at: now)
        }
        let way = try account.map { account in try surroundings.database.read { try WayIn(to: account, tenant, catalogue, in: $0) } }
        // Somebody who signs in elsewhere is sent there, or told nothing at all.
        if case .elsewhere(let providers, let reset) = way, !tenant.settings.enumerationProtection {
            if let reset, providers.isEmpty { throw PasswordNotSet(next: reset) }
            return SignInStep(state: .providerRequired, next: reset, providers: providers)
        }
        if let account, !tenant.settings.enumerationProtection { try PasswordCheck(surroundings).requireKnown(account) }
        let known: AccountRecord.Method? = if case .here(let method) = way { method } else { nil }
        let usual: AccountRecord.Method = tenant.settings.localAccountMethod == .emailPassword ? .password : .code
        let method = tenant.settings.enumerationProtection ? usual : known ?? usual
        var draft = flows.newFlow(
            .signIn, method == .password ? .passwordRequired : .codeRequired, username,
            of: (known == nil ? nil : account?.id) ?? surroundings.random.uuid(),
            in: tenant, language: request.language, request: fingerprint, at: now)
        draft.isDecoy = known == nil
        guard method == .password else {
            return answer(
                try flows.begin(.signIn, tenant, draft.address, sending, request: fingerprint, client: client, at: now) { _ in draft },
                tenant)
        }
        let flow = try surroundings.database.write { tx in
            try tx.lock([Flows.lockName(address: draft.address)])
            if let earlier = try tx.flow(begunBy: fingerprint, at: now) { return earlier }
            try tx.insert(draft)
            return draft
        }
        return answer(flow, tenant)
    }
}
