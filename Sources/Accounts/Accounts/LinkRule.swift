import Contract

/// What may be linked to an account: the truth table of firebase.md 5.2. Rows stand beside the cases. The id never changes.
enum LinkRule {
    struct Facts {
        let accountId: String
        let providerId: String
        /// Whose the login is.
        var owner: String?
        /// Whether the account has a login of this provider, or a password if that is to be linked.
        var hasProvider = false
        /// OAPE.
        var oneAccountPerAddress = true
        /// The account's own address, in lower case.
        var ownAddress: String?
        /// What the credential says, if an account can have it, in lower case.
        var address: String?
        /// Who has that address.
        var addressOwner: String?
        /// V.
        var isTrusted = false
        /// U: whether the own address was shown to be the owner's.
        var isOwnAddressVerified = false
    }

    /// What happens to the account's own address.
    enum Address: Equatable {
        case stays
        /// It has been shown to be its owner's.
        case isVerified
        case isTaken(String, verified: Bool)
    }

    enum Refusal: Equatable {
        case credentialAlreadyInUse
        case emailAlreadyInUse
        case providerAlreadyLinked
        /// The account has shown that another address is its owner's; a password drops none (account.changeEmail does, with a code).
        case addressDiffers
    }

    /// A login of a provider.
    static func provider(_ facts: Facts) -> Result<Address, Refusal.Failure> {
        // Who owns it already gets no quiet yes either: the table knows no exception.
        if facts.owner != nil { return .failure(.init(.credentialAlreadyInUse)) }  // row 2
        if facts.hasProvider { return .failure(.init(.providerAlreadyLinked)) }  // row 1
        guard facts.oneAccountPerAddress, let address = facts.address else { return .success(.stays) }  // row 7
        if let holder = facts.addressOwner, holder != facts.accountId { return .failure(.init(.emailAlreadyInUse)) }  // row 3
        guard let own = facts.ownAddress else { return .success(.isTaken(address, verified: facts.isTrusted)) }  // row 4
        return .success(own == address && facts.isTrusted ? .isVerified : .stays)  // rows 5, 6
    }

    /// An address with a password.
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

/// What may be unlinked from an account: firebase.md 5.4.
enum UnlinkRule {
    enum Refusal: Error, Equatable {
        case notLinked
        case tooOld
        case last
    }

    /// - Parameters:
    ///   - own: the account's own way in: `password` or `code`.
    ///   - providers: those of its logins.
    ///   - usable: those of them that somebody can sign in with: a provider that is switched off or gone is no way in.
    ///   - isNamedByBackend: whether custom tokens lead to it too.
    static func check(
        _ providerId: String, own: String?, providers: [String], usable: [String], isNamedByBackend: Bool, isRecent: Bool, force: Bool
    ) throws(Refusal) {
        guard ([own].compactMap { $0 } + providers).contains(providerId) else { throw .notLinked }
        if providerId == own, !isRecent { throw .tooOld }
        let isLast = ([own].compactMap { $0 } + usable).allSatisfy { $0 == providerId }
        if isLast, !isNamedByBackend, !force { throw .last }
    }
}
