import Contract
import Storage

/// Adds an email address with a password to an account. All other sessions of the account end.
struct PasswordLinking: Sendable {
    let context: AccountsContext
    let completion: SignInCompletion
    let tenant: TenantRecord
    let token: VerifiedTenantToken

    /// - Throws: `RecentSignInRequired`, `SecondFactorNeeded`, `ProviderAlreadyLinked`, `EmailAlreadyInUse`, `AddressDiffers`,
    ///   `InvalidPassword`, `PasswordNotAccepted`, `TokenRevoked`.
    func link(_ username: Username, _ password: String, audience: String?, _ call: any CallContext, at now: Int64) throws -> (
        FirstFactor, PendingSignIn
    ) {
        let name = AccountLink.info.name
        if !tenant.localAccountMethod.permitsPasswords { throw PasswordNotAccepted() }
        let before = try context.database.read { tx in
            let own = try AuthenticatedAccount(token, in: tx)
            _ = try decide(username, own, at: now, in: tx)
            return own.account
        }
        try context.check(context.newPassword(password, for: before, gaining: username.typed, in: tenant), by: name, call)
        let sealed = try context.passwords.sealed(password, as: before.id)
        let attempt = completion.signInCall(of: name, call, at: now)
        return try attempt.gate.write(isolation: .serializable) { tx in
            let own = try AuthenticatedAccount(token, in: tx)
            var account = own.account
            if case .isTaken(let address, let isVerified) = try decide(username, own, at: now, in: tx) {
                try tx.releaseNames(of: account.id)
                guard try tx.claim(address, for: account) else { throw SerializationConflict() }
                account.username = username.typed
                account.email = username.typed
                account.isEmailVerified = isVerified
            }
            account.password = sealed
            account.mustChangePassword = false
            account.method = .password
            account.updatedAt = now
            try tx.deleteSessions(of: account.id, by: .linkedPassword, at: now)
            try tx.insertLinkEvent("password", account, by: name, at: now)
            try tx.endFlows(of: account.id)
            try context.notify(.providerLinked, AccountChange(account, tenant, by: name, at: now), what: "password", in: tx)
            var proof = SignInProof.password
            proof.claims = own.session.claims
            var signIn = PendingSignIn(proof.adding(own.session.secondFactor), audience: nil)
            signIn.take(try own.session.grant.continued(audience: audience, by: tenant))
            let linked = LinkedAccount(before: own.account, after: account)
            return (try completion.conclude(linked, of: tenant, with: signIn, by: attempt, in: tx), signIn)
        }
    }

    private func decide(_ username: Username, _ own: AuthenticatedAccount, at now: Int64, in tx: Transaction) throws -> LinkRule.Address {
        try tx.requireUnlocked(own.account, tenant, at: now)
        if !own.isRecent(at: now) { throw own.tooOld }  // row 10 of "Account linking" in Sources/Accounts/README.md
        try own.requireSecondFactor(tenant, in: tx)
        let facts = LinkRule.Facts(
            accountId: own.account.id, providerId: "password", hasProvider: own.account.password != nil,
            ownAddress: own.account.email.map(Username.fold), address: username.folded,
            addressOwner: try tx.account(named: username.folded, in: tenant.id)?.id, isOwnAddressVerified: own.account.isEmailVerified)
        switch LinkRule.password(facts) {
        case .success(let address): return address
        case .failure(let failure):
            switch failure.refusal {
            case .providerAlreadyLinked: throw ProviderAlreadyLinked(providerId: "password")
            case .addressDiffers: throw AddressDiffers(email: own.account.email ?? "", next: "account.changeEmail")
            case .credentialAlreadyInUse, .emailAlreadyInUse: throw EmailAlreadyInUse(email: username.typed)
            }
        }
    }
}
