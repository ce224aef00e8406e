/// A condition that closes the doors of an account: the methods that return tokens or continue to them, or that change how users sign in.
enum Guard: String, CaseIterable {
    case locked, disabled, deleted, tenantDisabled, secondFactor, recentSignIn, sessionEnded, addressUnverified, merged

    /// The column of the table in the documentation.
    var heading: String {
        switch self {
        case .locked: "locked"
        case .disabled: "disabled"
        case .deleted: "deleted"
        case .tenantDisabled: "tenant disabled"
        case .secondFactor: "second factor not shown"
        case .recentSignIn: "sign-in older than 5 minutes"
        case .sessionEnded: "session ended"
        case .addressUnverified: "address not verified"
        case .merged: "merged into another"
        }
    }
}

/// The result of a method under one guard.
enum GuardOutcome: Equatable {
    /// It fails with an error of this type, or returns this state in place of tokens.
    case refuses(String)
    /// It opens, for a reason. `strict` is the error or state in tenants whose settings ask for more.
    case passes(reason: String, strict: String?)
    /// The guard cannot occur, for a reason.
    case never(reason: String)
}

/// The guards on a door.
struct DoorGuards {
    /// The result of a call under each guard.
    let outcomes: [Guard: GuardOutcome]
    /// Ways through the same method that differ: their names, and the outcomes that are not those of `outcomes`.
    let cases: [(name: String, outcomes: [Guard: GuardOutcome])]
}
