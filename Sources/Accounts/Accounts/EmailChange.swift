import Contract

/// The required action for a requested email address.
enum EmailChange: Equatable {
    /// Nothing is to be done: the account already has the address, and it is verified.
    case nothing
    /// The account already has the address, but it must be verified.
    case verification
    case change
    /// Another account has the address, which the response must not reveal.
    case show

    struct Facts {
        let accountId: String
        /// The current address of the account.
        let present: String?
        /// Whether the current address is verified.
        let isVerified: Bool
        /// The ID of the account that signs in with the requested address, if any.
        let owner: String?
        /// Whether the tenant has account enumeration protection.
        let isHidden: Bool
    }

    /// Whether the response describes a change of the address.
    var isChange: Bool { self == .change || self == .show }

    /// - Throws: `UserAlreadyExists`.
    static func decide(_ address: Username, _ facts: Facts) throws -> EmailChange {
        if let owner = facts.owner, owner != facts.accountId {
            if facts.isHidden { return .show }
            throw UserAlreadyExists.ofAnother
        }
        guard let present = facts.present, Username.fold(present) == address.folded else { return .change }
        return facts.isVerified && present == address.typed ? .nothing : .verification
    }
}
