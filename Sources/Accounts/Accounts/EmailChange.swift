import Contract

/// What asking for an address comes to: its owner has to show a code, nothing is to be done, or it is somebody else's.
enum EmailChange: Equatable {
    /// It is the account's own, and verified.
    case nothing
    /// It is the account's own; only the code is missing.
    case verification
    case change
    /// Somebody else has it, and whoever asks is not to learn that.
    case show

    /// Whether the account would get another address, as far as whoever asks is told.
    var isChange: Bool { self == .change || self == .show }

    /// - Parameters:
    ///   - present: the account's address.
    ///   - owner: the account that signs in with `address`, if there is one.
    ///   - isHidden: whether the tenant hides who has an account.
    /// - Throws: `UserAlreadyExists`.
    /// - Source: firebase.md, section 2.9 (VERIFY_AND_CHANGE_EMAIL) and the table of email enumeration protection.
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

/// How long ago a sign-in may be for what could lock its owner out (firebase.md, section 7).
enum RecentSignIn {
    static let maximumAgeSeconds: Int64 = 300

    static func isRecent(_ authenticatedAt: Int64, at now: Int64) -> Bool { now - authenticatedAt <= maximumAgeSeconds }

    /// - Throws: `RecentSignInRequired`.
    static func check(authenticatedAt: Int64, at now: Int64) throws {
        if !isRecent(authenticatedAt, at: now) {
            throw RecentSignInRequired(authenticatedAt: authenticatedAt, maximumAgeSeconds: maximumAgeSeconds)
        }
    }
}
