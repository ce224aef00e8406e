import Contract
import ServiceContext
import Storage

/// Implements the methods `signUp.*`.
public struct SignUpService: Sendable {
    let context: AccountsContext
    let configurations: TenantConfigurationCache
    let flows: Flows
    let sending: CodeSending
    /// Whether the caller has verified the secret of the application, so that confidential applications can start flows.
    package var isClientAuthenticated = false

    public init(_ context: AccountsContext, _ configurations: TenantConfigurationCache) {
        self.context = context
        self.configurations = configurations
        flows = Flows(context, configurations)
        sending = CodeSending(context)
    }

    /// The result for the current step of a sign-up. It depends only on the flow and the tenant.
    func answer(_ flow: Flow, _ tenant: TenantRecord) -> SignUpStep {
        if let redirection = flow.redirection { return redirection.signUp }
        let token = flows.token(of: flow)
        switch flow.stage {
        case .codeRequired:
            return .codeRequired(
                .init(
                    continuationToken: token, sent: flow.awaitsFirstCode ? false : nil, sentTo: flow.maskedAddress, channel: .email,
                    codeLength: tenant.codes.length,
                    resendAt: flow.shownResendAt(tenant.codes), expiresAt: flow.shownExpiresAt))
        case .passwordRequired: return .passwordRequired(.init(continuationToken: token, expiresAt: flow.expiresAt))
        case .passkeyRequired: return .passkeyRequired(.init(continuationToken: token, expiresAt: flow.expiresAt))
        case .attributesRequired:
            let missing = AttributeRules.missing(tenant.attributes, in: flow.attributes)
            return .attributesRequired(.init(continuationToken: token, expiresAt: flow.expiresAt, attributes: missing))
        case .completed, .secondFactorRequired, .enrollmentRequired, .enrollmentCode:
            return .completed(.init(continuationToken: token, expiresAt: flow.expiresAt, accountId: flow.accountId))
        }
    }

    /// Takes one step of a sign-up: decides with `SignUpTransition` and applies the effects.
    ///
    /// - Throws: `ContinuationTokenInvalid`, `ContinuationTokenExpired`, `StepNotPossible`, `UserAlreadyExists`, `SignUpNotAllowed`.
    func take(
        _ step: FlowStep, _ call: any CallContext, password: [UInt8]? = nil,
        _ input: (Transaction, inout Flow, TenantRecord) throws -> (SignUpInput, refusal: (any ContractError)?)
    ) throws -> SignUpStep {
        let (now, gate) = (step.now, HookGate(context, for: call))
        var answering: TenantRecord?
        func create(_ flow: Flow, _ tenant: TenantRecord, in tx: Transaction) throws -> Bool {
            var account = flow.account(of: tenant, at: now)
            try gate.decideCreation(
                of: &account, tenant, provider: account.password == nil ? "code" : "password", by: step.method, in: tx)
            guard try tx.insert(account) else { return false }
            try tx.registerPasskey(of: flow)
            try context.audit.record(AuditEvent(step.method, call, tenant: tenant.id, subject: flow.accountId), at: now, in: tx)
            return true
        }
        let flow = try step.take(
            asking: gate,
            again: { tx, flow, tenant in
                // The lost response may have requested values that the tenant no longer requires.
                answering = tenant
                flow.attributes = tenant.stillFitting(flow.attributes)
                let due = SignUpTransition.due(flow.signUpState, tenant.localAccountMethod, tenant.attributes)
                guard due != flow.stage, tenant.settings.signUpAllowed else { return false }
                flow.stage = due
                if due == .completed, try !create(flow, tenant, in: tx) { throw UserAlreadyExists(next: "signIn.start") }
                return true
            }
        ) { tx, flow, tenant in
            answering = tenant
            if !tenant.settings.signUpAllowed { throw SignUpNotAllowed(tenantId: tenant.id) }
            flow.attributes = tenant.stillFitting(flow.attributes)
            let (input, refusal) = try input(tx, &flow, tenant)
            let (state, effects) = try SignUpTransition.decide(
                flow.signUpState, input, tenant.localAccountMethod, attributes: tenant.attributes)
            if effects.contains(.refuseCode), let refusal { return .refused(refusal) }
            if effects.contains(.keepPassword) {
                // The tenant enabled passwords only after this request was validated, so there is no hash.
                guard let password else { throw StepNotPossible(expected: step.method) }
                flow.password = password
            }
            let isInVain = flow.stage == .attributesRequired && state.stage == .attributesRequired
            flow.application.attributesSince = isInVain ? flow.application.attributesSince ?? flow.step : nil
            flow.take(state)
            if state.stage == .completed, try tx.isPasskeyTaken(of: flow) {
                // Another user has registered this credential ID since it was accepted.
                flow.passkey?.passkey = nil
                flow.stage = .passkeyRequired
                return .moved
            }
            if effects.contains(.createAccount), try !create(flow, tenant, in: tx) {
                return .ended(UserAlreadyExists(next: "signIn.start"))
            }
            return .moved
        }
        let tenant = try answering ?? context.database.read { try configurations.tenant(flow.tenantId, in: $0) }
        return answer(flow, tenant)
    }
}

extension SignUpService: SignUpHandlers {}

extension Flow {
    /// The state on which the transition table depends.
    var signUpState: SignUpState {
        SignUpState(
            stage: stage, isVerified: isVerified, hasPassword: password != nil, hasPasskey: passkey?.passkey != nil,
            attributes: attributes)
    }

    mutating func take(_ state: SignUpState) {
        stage = state.stage
        isVerified = state.isVerified
        attributes = state.attributes
    }

    /// The account that a completed sign-up creates. If the tenant no longer accepts passwords, the account gets none.
    func account(of tenant: TenantRecord, at now: Int64) -> AccountRecord {
        let password = tenant.localAccountMethod.permitsPasswords ? password : nil
        return AccountRecord(
            id: accountId, tenantId: tenantId, username: username, email: username, isEmailVerified: true,
            method: password != nil ? .password : passkey?.passkey != nil ? .passkey : .code, password: password, attributes: attributes,
            createdAt: now, updatedAt: now)
    }
}
