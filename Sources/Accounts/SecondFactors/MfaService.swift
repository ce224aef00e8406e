import Contract
import Storage

/// Second factors: `mfa.*`.
public struct MfaService: Sendable {
    let surroundings: AccountsContext
    let catalogue: TenantConfigurationCache
    let flows: Flows
    let sending: CodeSending
    let check: FactorCheck
    let completion: SignInCompletion

    public init(_ surroundings: AccountsContext, _ catalogue: TenantConfigurationCache) {
        self.surroundings = surroundings
        self.catalogue = catalogue
        flows = Flows(surroundings, catalogue)
        sending = CodeSending(surroundings)
        check = FactorCheck(surroundings: surroundings, sending: sending)
        completion = SignInCompletion(surroundings, catalogue)
    }

    /// Flows that can wait for a second factor: a sign-in of any kind.
    static let signIns: [Flow.Kind] = [.secondFactor, .signIn, .signUp, .passwordReset, .emailChange]

    /// - Throws: a `Token…` error.
    func verify(_ idToken: String, at now: Int64) throws -> VerifiedTenantToken {
        try TenantTokenVerifier(surroundings: surroundings, catalogue: catalogue).verify(idToken, .init(use: .id), now: now)
    }

    /// The account of a developer who names it.
    ///
    /// - Throws: `CallerNotAllowed`, `AccountNotFound`, `AccountMerged`.
    func named(_ accountId: String, by method: String, _ call: any CallContext, in tx: Transaction) throws -> (AccountRecord, TenantRecord)
    {
        if call.isPublicCaller { throw CallerNotAllowed(method: "\(method) by accountId") }
        guard let account = try tx.account(accountId), let tenant = try catalogue.knownTenant(account.tenantId, in: tx) else {
            throw try tx.absence(of: accountId)
        }
        return (account, tenant)
    }
}

extension MfaService: MfaHandlers {}

extension OwnAccount {
    /// Whether the session has to show a second factor before it changes any. One that a custom token began was asked for none when it
    /// began (firebase.md 6.3), and is no exception here: nobody would have shown what is taken away.
    func needsSecondFactor(_ tenant: TenantRecord, _ factors: [FactorRecord]) -> Bool {
        tenant.settings.mfa != .off && !factors.isEmpty && session.secondFactor == nil
    }

    /// - Throws: `SecondFactorNeeded`.
    func requireSecondFactor(_ tenant: TenantRecord, in tx: Transaction) throws {
        if needsSecondFactor(tenant, try tx.factors(of: account.id)) { throw SecondFactorNeeded() }
    }
}
