import Contract
import Storage

/// The account and session of a verified ID token.
struct AuthenticatedAccount {
    let account: AccountRecord
    let session: SessionRecord

    /// Reads the account and the session again, in the write transaction.
    ///
    /// - Throws: `AccountMerged`; `TokenRevoked` if the account or session ended since the token was verified.
    init(_ token: VerifiedTenantToken, in tx: Transaction) throws {
        try tx.lock([token.accountId])
        guard let account = try tx.account(token.accountId) else { throw try tx.loss(ofAccount: token.accountId) }
        if account.isDisabled { throw TokenRevoked(reason: "its account is disabled") }
        try tx.requireOwner(ofAgent: account)
        guard let session = try tx.session(token.sessionId) else { throw try tx.loss(ofSession: token.sessionId) }
        self.account = account
        self.session = session
    }

    /// Returns whether the session's sign-in is recent enough for a sensitive operation. Always `true` for anonymous accounts, because
    /// their users cannot sign in again.
    func isRecent(at now: Int64) -> Bool { account.method == .anonymous || RecentSignIn.isRecent(session.authenticatedAt, at: now) }

    var tooOld: RecentSignInRequired {
        RecentSignInRequired(authenticatedAt: session.authenticatedAt, maximumAgeSeconds: RecentSignIn.maximumAgeSeconds)
    }
}
