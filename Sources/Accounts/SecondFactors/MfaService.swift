import Contract
import Storage

/// Implements the methods `mfa.*`.
public struct MfaService: Sendable {
    var context: AccountsContext
    let configurations: TenantConfigurationCache
    let flows: Flows
    let sending: CodeSending
    let check: FactorCheck
    var completion: SignInCompletion

    public init(_ context: AccountsContext, _ configurations: TenantConfigurationCache) {
        self.context = context
        self.configurations = configurations
        flows = Flows(context, configurations)
        sending = CodeSending(context)
        check = FactorCheck(context: context, sending: sending)
        completion = SignInCompletion(context, configurations)
    }

    /// The kinds of flows that can require a second factor: those that end in a sign-in.
    static let signIns: [Flow.Kind] = [.secondFactor, .signIn, .signUp, .passwordReset, .emailChange]

    /// - Throws: the errors of ID token verification.
    func verify(_ idToken: String, at now: Int64) throws -> VerifiedTenantToken {
        try TenantTokenVerifier(context: context, configurations: configurations).verify(idToken, .init(use: .id), now: now)
    }

    /// Returns the account that the developer named by its ID.
    ///
    /// - Throws: `CallerNotAllowed`, `AccountNotFound`, `AccountMerged`.
    func named(_ accountId: String, by method: String, _ call: any CallContext, in tx: Transaction) throws -> (AccountRecord, TenantRecord)
    {
        if call.isPublicCaller { throw CallerNotAllowed(method: "\(method) by accountId") }
        guard let account = try tx.account(accountId), let tenant = try configurations.knownTenant(account.tenantId, in: tx) else {
            throw try tx.absence(of: accountId)
        }
        return (account, tenant)
    }
}

extension MfaService: MfaHandlers {
    /// The parts of the service keep its own access: only methods that can wait use them.
    public func scoped(to call: any CallContext) -> Self {
        var copy = self
        copy.context = context.scoped(to: call)
        return copy
    }
}

extension AuthenticatedAccount {
    /// Returns whether the session must verify a second factor before it changes factors. This includes sessions started by custom tokens,
    /// although their sign-in required no second factor: without this rule a factor could be removed without proof of any factor.
    ///
    /// - Parameter acceptsRecovery: Whether a recovery code counts. In a security profile, it counts only where a lost factor is replaced.
    func needsSecondFactor(_ tenant: TenantRecord, _ factors: [FactorRecord], acceptsRecovery: Bool = false) -> Bool {
        if tenant.hasProfile, !acceptsRecovery, session.secondFactor == .recovery { return true }
        return tenant.mfa != .off && !factors.isEmpty && session.secondFactor == nil && !PasskeyMethods.areTwoFactors(session.amr)
    }

    /// - Throws: `SecondFactorNeeded`.
    func requireSecondFactor(_ tenant: TenantRecord, in tx: Transaction) throws {
        if needsSecondFactor(tenant, try tx.factors(of: account.id)) { throw SecondFactorNeeded() }
    }
}

extension MfaService {
    /// Returns this service for an API whose ID tokens always have the claims of Microsoft Entra.
    package var issuingProfiles: Self {
        var copy = self
        copy.completion.issuesProfiles = true
        return copy
    }
}
