import Contract
import ServiceContext
import Storage

extension SignInService {
    /// Starts a sign-in with a code by SMS. With `enumerationProtection`, the response is the same for existing and unknown numbers.
    ///
    /// - Throws: `TenantNotFound`, `InvalidPhoneNumber`, `PhoneSignInNotAllowed`, `PhoneNumberUnknown`, `AccountDisabled`,
    ///   `AccountLocked`, `TooManyCodes`, `TooManyFromClient`, `MessageNotSent`.
    public func startWithPhoneNumber(
        _ request: SignInStartWithPhoneNumber.Params, _ call: any CallContext
    ) throws -> SignInStartWithPhoneNumber.Result {
        let now = context.clock.now
        let client = try flows.admit(request.client, tenantId: request.tenantId, at: now)
        let tenant = try context.database.read { try configurations.enabledTenant(request.tenantId, in: $0) }
        try tenant.requirePhoneSignIn()
        let caller = try ApplicationAuthentication(context).nativeApplication(
            request.clientId, secret: request.clientSecret, isVerified: isClientAuthenticated, of: tenant)
        let application = FlowApplication(name: caller.name, accepts: request.accepts)
        let number = try PhoneNumber.checked(request.phoneNumber)
        let fingerprint = flows.fingerprint(
            SignInStartWithPhoneNumber.info.name,
            [
                .string(tenant.id), .string(number), request.language.map { .string($0) } ?? .null,
                client.map { .string($0.text) } ?? .null,
            ] + application.fingerprint(sends: request.send))
        let account = try context.database.read { try $0.account(withPhoneNumber: number, in: tenant.id) }
        if account == nil, !tenant.createsAccountsByPhone, !tenant.enumerationProtection {
            throw try flows.failed(PhoneNumberUnknown(), by: client, at: now)
        }
        try context.database.read { try $0.requireUsable(account, tenant, forSignIn: true, at: now) }
        var draft = Flow(
            id: flows.newId(), tenantId: tenant.id, kind: .signIn, stage: .codeRequired, username: number,
            accountId: account?.id ?? context.random.uuid(), language: request.language, request: fingerprint,
            requestedAt: now)
        draft.isDecoy = account == nil && !tenant.createsAccountsByPhone
        draft.application = application
        if let redirection = draft.redirection { return redirection.signIn }
        let order = CodeSending.Order(
            purpose: .signIn, tenant: tenant, locks: [Flows.lockName(address: draft.address)], client: client, now: now)
        let flow =
            !request.send
            ? try flows.beginQuietly(at: draft.address, request: fingerprint, at: now) { _ in draft }
            : try flows.begin(by: sending.by(call), order, request: fingerprint) { _ in draft }
        return answer(flow, tenant)
    }

    /// Returns the account that a code by SMS signs in to, and whether the code creates it; `nil` if the number has another owner now.
    ///
    /// - Throws: `PhoneSignInNotAllowed`, `HookQuestion`.
    func phoneAccount(
        of flow: Flow, _ number: PhoneNumber, _ tenant: TenantRecord, by attempt: SignInCompletion.SignInCall, in tx: Transaction
    ) throws -> (account: AccountRecord, isNew: Bool)? {
        try tenant.requirePhoneSignIn()
        try tx.lock([flow.accountId])
        if let owner = try tx.account(withPhoneNumber: number.description, in: tenant.id) {
            return owner.id == flow.accountId ? (owner, false) : nil
        }
        // The account of the flow may exist with another number now, or may have existed.
        guard try tx.account(flow.accountId) == nil else { return nil }
        guard tenant.createsAccountsByPhone else { throw PhoneSignInNotAllowed(tenantId: tenant.id) }
        var account = AccountRecord(
            id: flow.accountId, tenantId: tenant.id, username: nil, email: nil, isEmailVerified: false, method: .custom, attributes: [:],
            createdAt: attempt.now, updatedAt: attempt.now)
        try attempt.gate.decideCreation(of: &account, tenant, provider: SignInProof.phoneProvider, by: attempt.method, in: tx)
        guard try tx.insert(account) else { throw SerializationConflict() }
        try tx.setPhoneNumber(number.description, of: account)
        return (account, true)
    }

    /// The subject under which wrong codes of a sign-in by SMS are counted: the account, or the number while it has none.
    static func lockoutSubject(ofPhone flow: Flow, in tx: Transaction) throws -> String {
        try flow.isDecoy || tx.account(flow.accountId) == nil ? nobody(flow.address) : lockoutSubject(flow)
    }
}
