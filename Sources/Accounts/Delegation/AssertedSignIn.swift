import Contract
import Federation
import JSON
import ServiceContext
import Storage

/// Signs in the account that is linked with the subject of a trusted issuer, for one access token. The session has no refresh token and
/// ends with the access token.
struct AssertedSignIn {
    private let configurations: TenantConfigurationCache
    private let attempt: SignInCompletion.SignInCall
    /// The ID of an account that is created.
    private let newId: String

    var gate: HookGate { attempt.gate }

    init(_ context: AccountsContext, _ configurations: TenantConfigurationCache, method: String, call: any CallContext, now: Int64) {
        self.configurations = configurations
        attempt = SignInCompletion(context, configurations).signInCall(of: method, call, at: now)
        newId = context.random.uuid()
    }

    /// Returns the account of a subject, or a new one if the tenant permits it. A login at the issuer takes precedence over one at an
    /// identity provider of the tenant that has the same issuer.
    ///
    /// - Throws: `UserNotFound`, `SignUpNotAllowed`, `AccountDisabled`, `RefusedByHook`, `HookFailed`.
    func account(of token: ExchangedToken, _ entry: SubjectIssuer, in tenant: TenantRecord, in tx: Transaction) throws -> AccountRecord {
        var owner = try tx.owner(ofLogin: token.subject, at: token.issuer, in: tenant.id)
        if owner == nil {
            let idps = try tx.idps(of: tenant.id, after: "", limit: 1000)
            for idp in idps where idp.settings.enabled && idp.issuers.contains(where: { $0.hasBytes(of: token.issuer) }) {
                owner = try owner ?? tx.owner(ofLogin: token.subject, at: idp.providerId, in: tenant.id)
            }
        }
        if let owner {
            try tx.lock([owner])
            guard let account = try tx.account(owner) else { throw SerializationConflict() }
            return account
        }
        guard entry.createAccounts else {
            throw UserNotFound(
                hint: "Link the subject \(token.subject) of \(token.issuer) with an account by account.update, or set createAccounts in "
                    + "subjectIssuers of the tenant.")
        }
        if !tenant.settings.signUpAllowed { throw SignUpNotAllowed(tenantId: tenant.id) }
        var account = AccountRecord(
            id: newId, tenantId: tenant.id, isEmailVerified: false, method: .federated, attributes: [:], createdAt: attempt.now,
            updatedAt: attempt.now)
        try gate.decideCreation(of: &account, tenant, provider: token.issuer, by: attempt.method, in: tx)
        let login = AccountLogin(providerId: token.issuer, subject: token.subject, linkedAt: attempt.now)
        guard try tx.insert(account), try tx.insert(login, of: account) else { throw SerializationConflict() }
        return account
    }

    /// Returns the subject with a session that is not stored yet.
    ///
    /// - Parameter endsWithToken: Whether the session must not be longer than the token. An assertion is valid for its redemption only.
    func subject(
        _ account: AccountRecord, _ vouched: VouchedToken, of tenant: TenantRecord, endsWithToken: Bool = true
    ) -> DelegatedSubject {
        let token = vouched.token
        let said = token.claims["auth_time"].flatMap { NumericDate.seconds($0) } ?? attempt.now
        let moment = max(account.validAfter, min(attempt.now, said))
        let end = min(endsWithToken ? token.expiresAt : .max, tenant.tokens.end(ofSessionFrom: moment) ?? .max)
        return DelegatedSubject(account, vouched, sessionId: attempt.secrets.sessionId, at: moment, end: end)
    }

    /// Stores the session of a subject, after the hook `beforeSignIn` has decided.
    ///
    /// - Throws: `AccountDisabled`, `AccountLocked`, `SecondFactorRequired`, `RefusedByHook`, `HookFailed`.
    func begin(
        _ subject: inout DelegatedSubject, until end: Int64, scopes: Scopes, of tenant: TenantRecord, in tx: Transaction
    ) throws {
        guard var account = subject.account else { return }
        var signIn = PendingSignIn(.provider(subject.token.issuer), audience: nil)
        if !gate.hasDisabled(account.id) {
            if account.isDisabled { throw AccountDisabled(accountId: account.id) }
            try tx.requireUnlocked(account, tenant, at: attempt.now)
            if account.method == .agent {
                try tx.requireOwner(ofAgent: account)
            } else {
                // A program cannot show the second factor that the account or the tenant demands.
                let passkeys = try tx.passkeys(of: account.id, usable: tenant)
                let decision = try SecondFactorRule.decide(tenant.mfa, signIn.proof, try tx.factors(of: account.id), passkeys: passkeys)
                if decision != .nothing { throw SecondFactorRequired() }
            }
            try gate.decideSignIn(to: &account, tenant, &signIn, by: attempt, in: tx)
        }
        let isDisabled = gate.hasDisabled(account.id)
        if !isDisabled { account.lastSignInAt = attempt.now }
        try tx.update(account)
        if isDisabled {
            _ = try tx.deleteSessions(of: account.id)
            return
        }
        var session = SessionRecord(
            id: subject.sessionId, accountId: account.id, amr: signIn.proof.amr, provider: subject.token.issuer,
            claims: signIn.proof.claims, secondFactor: nil, authenticatedAt: subject.authenticatedAt, createdAt: attempt.now,
            lastUsedAt: attempt.now, expiresAt: end)
        session.grant = AccessGrant(audience: nil, scopes: scopes, application: subject.application?.name)
        try tx.insert(session)
        subject.ownClaims = [session.claims, account.claims]
    }
}
