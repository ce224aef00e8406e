import Contract
import JSON
import ServiceContext
import Storage

/// Resolves a verified provider identity to an account: reads the facts, decides with `FederatedSignIn`, and writes the result.
struct FederatedAccounts: Sendable {
    let context: AccountsContext
    let tenant: TenantRecord
    let identity: ProviderIdentity
    let now: Int64
    /// Asks the hooks of the sign-in.
    let gate: HookGate

    enum Outcome {
        case account(AccountRecord, isNew: Bool)
        /// The account has a second factor. `link` stores the login after the factor was verified.
        case pending(AccountRecord)
        /// The user may not own the address. Contains the account with this address.
        case providerRequired(AccountRecord)
    }

    /// - Parameter newId: The ID for a new account.
    /// - Throws: `AccountDisabled`, `SignUpNotAllowed`.
    func resolve(newId: String, _ method: String, _ call: any CallContext, in tx: Transaction) throws -> Outcome {
        let facts = try facts(in: tx)
        switch try FederatedSignIn.decide(facts) {
        case .signIn(let id):
            let account = try existing(id, in: tx)
            try tx.update(identity.login(at: now), of: id)
            return .account(account, isNew: false)
        case .create(let withAddress):
            if !tenant.settings.signUpAllowed { throw SignUpNotAllowed(tenantId: tenant.id) }
            return .account(try create(newId, withAddress: withAddress, method, in: tx), isNew: true)
        case .link(let id), .takeOver(let id):
            let account = try existing(id, in: tx)
            let proof = SignInProof.provider(identity.providerId)
            // The passkeys of an account whose address was never verified may be those of another user.
            let passkeys = account.isEmailVerified ? try tx.passkeys(of: id, usable: tenant) : []
            if case .challenge = try SecondFactorRule.decide(tenant.mfa, proof, try tx.factors(of: id), passkeys: passkeys) {
                return .pending(account)
            }
            return .account(try add(to: account, method, call, in: tx), isNew: false)
        case .providerRequired(let id, _): return .providerRequired(try existing(id, in: tx))
        }
    }

    /// Stores the login after the second factor of an account was verified, if the login still resolves to this account.
    ///
    /// - Returns: The updated account, or `nil` if the login now resolves to another account or is rejected.
    /// - Throws: `AccountDisabled`.
    func link(to account: AccountRecord, _ method: String, _ call: any CallContext, in tx: Transaction) throws -> AccountRecord? {
        switch try FederatedSignIn.decide(try facts(in: tx)) {
        case .signIn(account.id):
            try tx.update(identity.login(at: now), of: account.id)
            return account
        case .link(account.id), .takeOver(account.id):
            return try add(to: account, hasShownFactor: true, method, call, in: tx)
        case .signIn, .create, .link, .takeOver, .providerRequired: return nil
        }
    }

    /// Links the login to the account that has its address. If the account's address was never verified, removes all other sign-in methods.
    ///
    /// - Parameter hasShownFactor: Whether the user verified a second factor of the account. Its factors are then kept.
    private func add(
        to account: AccountRecord, hasShownFactor: Bool = false, _ method: String, _ call: any CallContext, in tx: Transaction
    ) throws -> AccountRecord {
        var account = account
        guard !account.isEmailVerified else {
            takeProfile(&account, keepsUnsaid: KnownProvider(rawValue: identity.providerId)?.saysNameOnce == true)
            return try adopt(account, method, call, in: tx)
        }
        try tx.deleteAccountLogins(of: account.id)
        try tx.deletePasskeys(of: account.id)
        if !hasShownFactor { try tx.deleteFactors(of: account.id) }
        _ = try tx.deleteSessions(of: account.id)
        try tx.endFlows(of: account.id)
        try tx.clearLockout(of: account.lockoutSubject)
        account.password = nil
        account.mustChangePassword = false
        account.method = .federated
        account.isEmailVerified = true
        takeProfile(&account)
        return try adopt(account, method, call, in: tx)
    }

    private func facts(in tx: Transaction) throws -> FederatedSignIn.Facts {
        func owner(_ account: AccountRecord?) throws -> FederatedSignIn.Owner? {
            guard let account else { return nil }
            let logins = try tx.accountLogins(of: account.id).map { ($0.providerId, $0.subject) }
            return FederatedSignIn.Owner(
                id: account.id, isDisabled: account.isDisabled, isEmailVerified: account.isEmailVerified,
                logins: Dictionary(uniqueKeysWithValues: logins))
        }
        let ownerId = try tx.owner(ofLogin: identity.subject, at: identity.providerId, in: tenant.id)
        let address = identity.address
        let holder = try ownerId == nil ? address.flatMap { try tx.account(named: $0.folded, in: tenant.id) } : nil
        return FederatedSignIn.Facts(
            providerId: identity.providerId, hasAddress: address != nil, isTrusted: identity.isEmailTrusted,
            oneAccountPerAddress: tenant.settings.oneAccountPerAddress, owner: try owner(ownerId.flatMap { try tx.account($0) }),
            addressOwner: try owner(holder))
    }

    private func existing(_ id: String, in tx: Transaction) throws -> AccountRecord {
        try tx.lock([id])
        guard let account = try tx.account(id) else { throw SerializationConflict() }
        return account
    }

    private func create(_ id: String, withAddress: Bool, _ method: String, in tx: Transaction) throws -> AccountRecord {
        let address = withAddress ? identity.address?.folded : nil
        var account = AccountRecord(
            id: id, tenantId: tenant.id, username: address, email: address, isEmailVerified: address != nil && identity.isEmailTrusted,
            method: .federated, attributes: [:], createdAt: now, updatedAt: now)
        takeProfile(&account)
        try gate.decideCreation(of: &account, tenant, provider: identity.providerId, by: method, in: tx)
        guard try tx.insert(account), try tx.insert(identity.login(at: now), of: account) else { throw SerializationConflict() }
        return account
    }

    /// Sets display name and picture to the provider's values, and removes those that the provider omits: row 3 of "Sign-in with an
    /// identity provider" in Sources/Accounts/README.md.
    ///
    /// - Parameter keepsUnsaid: Whether to keep values that the provider omits, because it sends them only at the first sign-in.
    private func takeProfile(_ account: inout AccountRecord, keepsUnsaid: Bool = false) {
        for (name, said) in [("displayName", identity.displayName), ("picture", identity.photoUrl)] where said != nil || !keepsUnsaid {
            account.attributes[name] = said.map { .string($0) }
        }
        account.updatedAt = now
    }

    private func adopt(_ account: AccountRecord, _ method: String, _ call: any CallContext, in tx: Transaction) throws -> AccountRecord {
        guard try tx.insert(identity.login(at: now), of: account) else { throw SerializationConflict() }
        try tx.update(account)
        try context.notify(.providerLinked, AccountChange(account, tenant, by: method, at: now), what: identity.providerId, in: tx)
        try context.audit.record(
            AuditEvent(method, call, tenant: tenant.id, subject: account.id, details: [("linked", identity.providerId)]), at: now, in: tx)
        return account
    }
}
