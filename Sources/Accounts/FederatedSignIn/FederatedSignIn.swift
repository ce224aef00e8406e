import Contract

/// Decides to which account a verified provider identity resolves. The comments number the rows of the decision table in
/// Sources/Accounts/README.md, "Sign-in with an identity provider".
enum FederatedSignIn {
    /// The relevant facts of an account.
    struct Owner: Equatable {
        let id: String
        var isDisabled = false
        /// Whether the account's address is verified.
        var isEmailVerified = false
        /// The account's logins: the subject by provider ID.
        var logins: [String: String] = [:]
    }

    struct Facts {
        let providerId: String
        /// Whether the provider returned an address that an account can have.
        var hasAddress = true
        /// Whether the provider's email address is trusted for this login.
        var isTrusted = false
        /// Whether the tenant permits only one account per email address.
        var oneAccountPerAddress = true
        /// The account to which the login is linked.
        var owner: Owner?
        /// The account that has the address.
        var addressOwner: Owner?
    }

    enum Decision: Equatable {
        /// The login is already linked to this account; only the profile from the provider is stored.
        case signIn(String)
        case create(withAddress: Bool)
        /// Link the login to the account.
        case link(String)
        /// Link the login and remove all other sign-in methods, because the creator of the account never verified the address.
        case takeOver(String)
        /// Write nothing: the user must sign in to the account first. Contains the providers that are linked to it.
        case providerRequired(String, providers: [String])
    }

    /// - Throws: `AccountDisabled` (row 9), before anything is written.
    static func decide(_ facts: Facts) throws -> Decision {
        if let owner = facts.owner {
            if owner.isDisabled { throw AccountDisabled(accountId: owner.id) }
            return .signIn(owner.id)  // row 1
        }
        guard facts.hasAddress, facts.oneAccountPerAddress else { return .create(withAddress: false) }  // rows 7, 8
        guard let holder = facts.addressOwner else { return .create(withAddress: true) }  // row 2
        // Row 5: the account has another subject at this provider. The address may have been given to another user there, or its domain may
        // have been registered again, so the login is not linked (CVE-2023-3128).
        let isTrusted = facts.isTrusted && holder.logins[facts.providerId] == nil
        // The error reveals the account ID only to a user who has proved ownership of the address.
        if holder.isDisabled { throw AccountDisabled(accountId: isTrusted ? holder.id : nil) }
        guard isTrusted else { return .providerRequired(holder.id, providers: holder.logins.keys.sorted()) }  // rows 5, 6
        return holder.isEmailVerified ? .link(holder.id) : .takeOver(holder.id)  // rows 3, 4
    }
}
