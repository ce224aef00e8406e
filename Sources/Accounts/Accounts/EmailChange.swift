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

    /// Whether the response describes a change of the address.
    var isChange: Bool { self == .change || self == .show }

    /// - Parameters:
    ///   - present: The current address of the account.
    ///   - owner: The ID of the account that signs in with `address`, if any.
    ///   - isHidden: Whether the tenant has account enumeration protection.
    /// - Throws: `UserAlreadyExists`.
    static func decide(
        _ address: Username, of accountId: String, present: String?, isVerified: Bool, owner: String?, isHidden: Bool
    ) throws -> EmailChange {
        if let owner, owner != accountId {
            if isHidden { return .show }
            throw UserAlreadyExists.ofAnother
        }
        guard let present, Username.fold(present) == address.folded else { return .change }
        return isVerified && present == address.typed ? .nothing : .verification
    }
}
