import Contract

/// Decides which sign-in methods can be linked to an account. Linking never changes the account ID. The trailing comments number the rows
/// of the decision table in Sources/Accounts/README.md, "Account linking".
enum LinkRule {
    struct Facts {
        let accountId: String
        let providerId: String
        /// The ID of the account to which the login is linked.
        var owner: String?
        /// Whether the account already has a login at this provider, or a password if a password is to be linked.
        var hasProvider = false
        /// Whether the tenant permits only one account per email address.
        var oneAccountPerAddress = true
        /// The current address of the account, in lowercase.
        var ownAddress: String?
        /// The address of the credential if an account can have it, in lowercase.
        var address: String?
        /// The ID of the account that has that address.
        var addressOwner: String?
        /// Whether the provider's email addresses are trusted for this login.
        var isTrusted = false
        /// Whether the account's current address is verified.
        var isOwnAddressVerified = false
    }

    /// The effect on the account's address.
    enum Address: Equatable {
        case stays
        /// The address is now verified.
        case isVerified
        case isTaken(String, verified: Bool)
    }

    enum Refusal: Equatable {
        case credentialAlreadyInUse
        case emailAlreadyInUse
        case providerAlreadyLinked
        /// The account has a different verified address. Linking a password does not replace it; `account.changeEmail` does, with a code.
        case addressDiffers
    }

    /// Decides whether the login of a provider can be linked.
    static func provider(_ facts: Facts) -> Result<Address, Refusal.Failure> {
        // The call also fails if the login is already linked to this account.
        if facts.owner != nil { return .failure(.init(.credentialAlreadyInUse)) }  // row 2
        if facts.hasProvider { return .failure(.init(.providerAlreadyLinked)) }  // row 1
        guard facts.oneAccountPerAddress, let address = facts.address else { return .success(.stays) }  // row 7
        if let holder = facts.addressOwner, holder != facts.accountId { return .failure(.init(.emailAlreadyInUse)) }  // row 3
        guard let own = facts.ownAddress else { return .success(.isTaken(address, verified: facts.isTrusted)) }  // row 4
        return .success(own == address && facts.isTrusted ? .isVerified : .stays)  // rows 5, 6
    }

    /// Decides whether an address with a password can be linked.
    static func password(_ facts: Facts) -> Result<Address, Refusal.Failure> {
        if facts.hasProvider { return .failure(.init(.providerAlreadyLinked)) }  // row 9
        guard let address = facts.address else { return .success(.stays) }
        if let holder = facts.addressOwner, holder != facts.accountId { return .failure(.init(.emailAlreadyInUse)) }  // row 8
        if facts.ownAddress == address { return .success(.stays) }
        if facts.ownAddress != nil, facts.isOwnAddressVerified { return .failure(.init(.addressDiffers)) }
        return .success(.isTaken(address, verified: false))
    }
}

extension LinkRule.Refusal {
    /// A refusal as the failure of a result.
    struct Failure: Error, Equatable {
        let refusal: LinkRule.Refusal
        init(_ refusal: LinkRule.Refusal) { self.refusal = refusal }
    }
}

/// Decides which sign-in methods can be unlinked from an account.
enum UnlinkRule {
    enum Refusal: Error, Equatable {
        case notLinked
        case tooOld
        case last
    }

    struct Facts {
        /// The account's own sign-in method, `password` or `code`.
        let own: String?
        /// The providers of its logins, and `passkey` if it has passkeys with which the user signs in.
        let providers: [String]
        /// Those of `providers` that permit sign-in: providers that are disabled or deleted are excluded.
        let usable: [String]
        /// Whether custom tokens also sign in to the account.
        let isNamedByBackend: Bool
        let isRecent: Bool
    }

    static func check(_ providerId: String, _ facts: Facts, force: Bool) throws(Refusal) {
        let own = [facts.own].compactMap { $0 }
        guard (own + facts.providers).contains(providerId) else { throw .notLinked }
        if providerId == facts.own || providerId == SignInProof.passkeyProvider, !facts.isRecent { throw .tooOld }
        let isLast = (own + facts.usable).allSatisfy { $0 == providerId }
        if isLast, !facts.isNamedByBackend, !force { throw .last }
    }
}
