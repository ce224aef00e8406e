import Contract
import ServiceContext
import Storage

/// The response of a passkey as the credential to link (Sources/Accounts/README.md, "Passkeys").
///
/// Only a registration adds a passkey, so a response always belongs to one that exists. If it is one of another account, its user can sign
/// in there with a pending token, once.
struct PasskeyLinking: Sendable {
    private let signIn: PasskeySignIn
    private let pending: PendingTokens

    init(_ context: AccountsContext, _ configurations: TenantConfigurationCache) {
        signIn = PasskeySignIn(context, configurations)
        pending = PendingTokens(vault: context.vault, seeded: context.seededKey("pending token"))
    }

    /// Returns the error for a response that was accepted: the passkey belongs to the user of the ID token, or to another account.
    ///
    /// - Throws: The errors of `PasskeySignIn.accept`, `AccountMerged`, `SecondFactorNeeded`.
    func refusal(
        of request: PasskeySignIn.Request, in tenant: TenantRecord, _ method: String, _ call: any CallContext
    ) throws -> any ContractError {
        let now = signIn.context.clock.now
        let attempt = signIn.completion.signInCall(of: method, call, at: now)
        return try signIn.accept(request, in: tenant.id, by: attempt) { proven, tx -> (any ContractError)? in
            guard let own = proven.own else { return nil }
            try tx.requireUnlocked(own.account, tenant, at: now)
            try own.requireSecondFactor(tenant, in: tx)
            if proven.passkey.accountId == own.account.id { return Self.ownPasskey }
            try tx.keepUnused(proven.ceremonyId, until: now + PendingTokens.lifetimeSeconds)
            let found = PendingPasskey(
                credentialId: proven.passkey.credentialId, isVerified: proven.isVerified, ceremonyId: proven.ceremonyId,
                authenticatedAt: now)
            return CredentialAlreadyInUse(
                providerId: SignInProof.passkeyProvider, pendingToken: pending.token(of: found, in: tenant.id, at: now))
        }.0
    }

    /// Returns the error for a pending token, which stays valid.
    ///
    /// - Throws: `PendingTokenInvalid`, `AccountMerged`, `TokenRevoked`, `SecondFactorNeeded`.
    func refusal(of found: PendingPasskey, _ token: VerifiedTenantToken, in tenant: TenantRecord) throws -> any ContractError {
        let now = signIn.context.clock.now
        return try signIn.context.database.write { tx in
            let own = try AuthenticatedAccount(token, in: tx)
            try tx.requireUnlocked(own.account, tenant, at: now)
            try own.requireSecondFactor(tenant, in: tx)
            guard try tx.ceremony(found.ceremonyId)?.stage == .pending else { throw PendingTokenInvalid() }
            if try passkey(found, of: tenant, in: tx).accountId == own.account.id { return Self.ownPasskey }
            return CredentialAlreadyInUse(
                providerId: SignInProof.passkeyProvider, pendingToken: pending.token(of: found, in: tenant.id, at: now))
        }
    }

    /// Signs in with a pending token, which is then used.
    ///
    /// - Throws: `PendingTokenInvalid`, and the errors of `PasskeySignIn.begin`.
    func signIn(
        _ found: PendingPasskey, for wish: PasskeySignIn.Wish, in tenant: TenantRecord, _ method: String, _ call: any CallContext
    ) throws -> SignInStep {
        let attempt = signIn.completion.signInCall(of: method, call, at: signIn.context.clock.now)
        let (factor, pending) = try attempt.gate.write { tx in
            guard try tx.spend(pendingPasskey: found.ceremonyId) else { throw PendingTokenInvalid() }
            let proven = PasskeySignIn.Proven(
                passkey: try passkey(found, of: tenant, in: tx), isVerified: found.isVerified, ceremonyId: found.ceremonyId,
                tenant: tenant, own: try wish.own.map { try AuthenticatedAccount($0, in: tx) }, authenticatedAt: found.authenticatedAt)
            guard let begun = try signIn.begin(proven, wish, by: attempt, in: tx) else { throw PendingTokenInvalid() }
            return begun
        }
        return try signIn.completion.answer(factor, tenant, pending, at: attempt.now)
    }

    private static var ownPasskey: ProviderAlreadyLinked { ProviderAlreadyLinked(providerId: SignInProof.passkeyProvider) }

    /// Returns the passkey if its user can still sign in with it.
    ///
    /// - Throws: `PendingTokenInvalid`.
    private func passkey(_ found: PendingPasskey, of tenant: TenantRecord, in tx: Transaction) throws -> PasskeyRecord {
        guard let passkey = try tx.passkey(found.credentialId, in: tenant.id), passkey.usage == .signIn,
            passkey.relyingPartyId == tenant.settings.passkeys?.relyingPartyId
        else { throw PendingTokenInvalid() }
        return passkey
    }
}

extension Transaction {
    /// Keeps an accepted ceremony for a sign-in with its pending token.
    fileprivate func keepUnused(_ ceremonyId: String, until expiresAt: Int64) throws {
        try execute(
            "UPDATE passkey_ceremony SET stage = $2, expires_at = $3 WHERE id = $1", ceremonyId, StoredCeremony.Stage.pending.rawValue,
            expiresAt)
    }

    /// Marks a pending token as used. Returns `false` if it was used before.
    fileprivate func spend(pendingPasskey ceremonyId: String) throws -> Bool {
        try execute(
            "UPDATE passkey_ceremony SET stage = $2 WHERE id = $1 AND stage = $3", ceremonyId, StoredCeremony.Stage.finished.rawValue,
            StoredCeremony.Stage.pending.rawValue) == 1
    }
}
