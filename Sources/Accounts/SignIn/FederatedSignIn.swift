import Contract

/// Where a proven identity leads: the truth table of firebase.md 5.1. Rows stand beside the cases.
enum FederatedSignIn {
    /// An account as the table looks at it.
    struct Owner: Equatable {
        let id: String
        var isDisabled = false
        /// U: whether its owner has shown that the address is theirs.
        var isEmailVerified = false
        /// Its logins: provider to subject.
        var logins: [String: String] = [:]
    }

    struct Facts {
        let providerId: String
        /// Whether the provider gave an address that an account can have.
        var hasAddress = true
        /// V.
        var isTrusted = false
        /// OAPE.
        var oneAccountPerAddress = true
        /// P: whom the login leads to.
        var owner: Owner?
        /// E: who has the address.
        var addressOwner: Owner?
    }

    enum Decision: Equatable {
        /// The login leads there already; only what the provider says is kept.
        case signIn(String)
        case create(withAddress: Bool)
        /// The login is added.
        case link(String)
        /// The login is added, and every other way in is taken away: whoever made the account never showed that the address is theirs.
        case takeOver(String)
        /// Nothing is written: the account's owner has to say so. With the providers that lead to it.
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
        // Row 5: the provider knows the account's owner by another subject. The address may have been given to another user there, or its
        // domain may have been registered again, so it leads nowhere (CVE-2023-3128).
        let isTrusted = facts.isTrusted && holder.logins[facts.providerId] == nil
        // The id is told to whoever has shown that the address is theirs.
        if holder.isDisabled { throw AccountDisabled(accountId: isTrusted ? holder.id : nil) }
        guard isTrusted else { return .providerRequired(holder.id, providers: holder.logins.keys.sorted()) }  // rows 5, 6
        return holder.isEmailVerified ? .link(holder.id) : .takeOver(holder.id)  // rows 3, 4
    }
}
