import Contract

/// Implements the methods `passwordReset.*`.
public struct PasswordResetService: Sendable {
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

    func answer(_ flow: Flow, _ tenant: TenantRecord) -> PasswordResetStep {
        if let redirection = flow.redirection { return redirection.passwordReset }
        let token = flows.token(of: flow)
        switch flow.stage {
        case .codeRequired:
            return .codeRequired(
                .init(
                    continuationToken: token, sent: flow.awaitsFirstCode ? false : nil, sentTo: flow.maskedAddress, channel: .email,
                    codeLength: tenant.codes.length,
                    resendAt: flow.shownResendAt(tenant.codes), expiresAt: flow.shownExpiresAt))
        case .passwordRequired, .passkeyRequired, .attributesRequired:
            return .passwordRequired(.init(continuationToken: token, expiresAt: flow.expiresAt))
        case .completed, .secondFactorRequired, .enrollmentRequired, .enrollmentCode:
            return .completed(.init(continuationToken: token, expiresAt: flow.expiresAt))
        }
    }
}

extension PasswordResetService: PasswordResetHandlers {}
