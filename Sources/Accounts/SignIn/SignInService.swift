import Contract
import Storage

/// Sign-in, by steps and at once: `signIn.*`.
public struct SignInService: Sendable {
    let surroundings: AccountsContext
    let catalogue: TenantConfigurationCache
    let flows: Flows
    let sending: CodeSending
    let passwords: PasswordCheck
    let completion: SignInCompletion

    public init(_ surroundings: AccountsContext, _ catalogue: TenantConfigurationCache) {
        self.surroundings = surroundings
        self.catalogue = catalogue
        flows = Flows(surroundings, catalogue)
        sending = CodeSending(surroundings)
        passwords = PasswordCheck(surroundings)
        completion = SignInCompletion(surroundings, catalogue)
    }

    /// Where a sign-in stands that is not finished.
    func answer(_ flow: Flow, _ tenant: TenantRecord) -> SignInStep {
        let token = flows.token(of: flow)
        guard flow.stage == .codeRequired else {
            return SignInStep(state: .passwordRequired, continuationToken: token, expiresAt: flow.expiresAt)
        }
        return SignInStep(
            state: .codeRequired, continuationToken: token, sentTo: (try? Username(flow.username))?.masked, channel: .email,
            codeLength: tenant.codes.length, resendAt: flow.code.sentAt + tenant.codes.resendAfterSeconds, expiresAt: flow.code.expiresAt)
    }

    /// What failures in a sign-in are counted by: the account, or the address where nobody is to learn that there is none.
    static func lockoutSubject(_ flow: Flow) -> String { flow.isDecoy ? nobody(flow.address) : "account/\(flow.accountId)" }

    /// What failures of an address without account are counted by; not together with those of its sign-ups, as an account's are not.
    static func nobody(_ address: String) -> String { "nobody/\(address)" }
}

extension SignInService: SignInHandlers {}

extension UserNotFound {
    /// Where people cannot sign up there is nobody to go on with but whoever makes accounts.
    package init(in tenant: TenantRecord) {
        let signUp = tenant.settings.signUpAllowed
        self.init(
            next: signUp ? "signUp.start" : nil,
            hint: signUp ? nil : "This tenant does not allow sign-ups. Check the spelling, or have an administrator create the account.")
    }
}
