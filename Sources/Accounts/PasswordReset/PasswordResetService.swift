import Contract

/// Implements the methods `passwordReset.*`.
public struct PasswordResetService: Sendable {
    let surroundings: AccountsContext
    let catalogue: TenantConfigurationCache
    let flows: Flows
    let sending: CodeSending

    public init(_ surroundings: AccountsContext, _ catalogue: TenantConfigurationCache) {
        self.surroundings = surroundings
        self.catalogue = catalogue
        flows = Flows(surroundings, catalogue)
        sending = CodeSending(surroundings)
    }

    func answer(_ flow: Flow, _ tenant: TenantRecord) -> PasswordResetStep {
        let token = flows.token(of: flow)
        switch flow.stage {
        case .codeRequired:
            return PasswordResetStep(
                state: .codeRequired, continuationToken: token, sentTo: (try? Username(flow.username))?.masked, channel: .email,
                codeLength: tenant.codes.length, resendAt: flow.code.sentAt + tenant.codes.resendAfterSeconds,
                expiresAt: flow.code.expiresAt)
        case .passwordRequired, .attributesRequired:
            return PasswordResetStep(state: .passwordRequired, continuationToken: token, expiresAt: flow.expiresAt)
        case .completed, .secondFactorRequired, .enrolmentRequired, .enrolmentCode:
            return PasswordResetStep(state: .completed, continuationToken: token, expiresAt: flow.expiresAt)
        }
    }
}

extension PasswordResetService: PasswordResetHandlers {}
