import Contract
import Storage

/// Implements the methods `signIn.*`.
public struct SignInService: Sendable {
    package let context: AccountsContext
    let configurations: TenantConfigurationCache
    let flows: Flows
    let sending: CodeSending
    let passwords: PasswordCheck
    var completion: SignInCompletion
    /// Whether the caller has verified the secret of the application, so that confidential applications can start flows.
    package var isClientAuthenticated = false

    public init(_ context: AccountsContext, _ configurations: TenantConfigurationCache) {
        self.context = context
        self.configurations = configurations
        flows = Flows(context, configurations)
        sending = CodeSending(context)
        passwords = PasswordCheck(context)
        completion = SignInCompletion(context, configurations)
    }

    /// The result for a sign-in that is not complete.
    func answer(_ flow: Flow, _ tenant: TenantRecord) -> SignInStep {
        if let redirection = flow.redirection { return redirection.signIn }
        let token = flows.token(of: flow)
        guard flow.stage == .codeRequired else {
            return .passwordRequired(.init(continuationToken: token, expiresAt: flow.expiresAt))
        }
        return .codeRequired(
            .init(
                continuationToken: token, sent: flow.awaitsFirstCode ? false : nil, sentTo: flow.phoneNumber?.masked ?? flow.maskedAddress,
                channel: flow.recipient.channel, codeLength: tenant.codes.length,
                resendAt: flow.shownResendAt(tenant.codes), expiresAt: flow.shownExpiresAt))
    }

    /// The subject under which failures of a sign-in are counted: the account, or the address if the flow is a decoy.
    static func lockoutSubject(_ flow: Flow) -> String { flow.isDecoy ? nobody(flow.address) : "account/\(flow.accountId)" }

    /// The subject for failures of an address without an account. It differs from that of sign-ups, as an account's subject does.
    static func nobody(_ address: String) -> String { "nobody/\(address)" }
}

extension SignInService: SignInHandlers {}

extension UserNotFound {
    /// The error for an unknown address. If the tenant does not allow sign-ups, it refers to an administrator.
    package init(in tenant: TenantRecord) {
        let signUp = tenant.settings.signUpAllowed
        self.init(
            next: signUp ? "signUp.start" : nil,
            hint: signUp ? nil : "This tenant does not allow sign-ups. Check the spelling, or have an administrator create the account.")
    }
}

extension SignInService {
    /// Returns this service for an API whose ID tokens always have the claims of Microsoft Entra.
    package var issuingProfiles: Self {
        var copy = self
        copy.completion.issuesProfiles = true
        return copy
    }

    /// Returns this service for a request that asks for authentication contexts.
    package func requesting(contexts: [String]) -> Self {
        var copy = self
        copy.completion.requestedContexts = contexts
        return copy
    }
}
