import Contract
import Storage

/// Whoever shows an ID token, with the account and the session that it is of.
struct OwnAccount {
    let account: AccountRecord
    let session: SessionRecord

    /// Reads them anew, in the transaction that writes.
    ///
    /// - Throws: `AccountMerged`; `TokenRevoked` for what else is over since the token was verified.
    init(_ token: VerifiedTenantToken, in tx: Transaction) throws {
        try tx.lock([token.accountId])
        guard let account = try tx.account(token.accountId) else { throw try tx.loss(ofAccount: token.accountId) }
        if account.isDisabled { throw TokenRevoked(reason: "its account is disabled") }
        guard let session = try tx.session(token.sessionId) else { throw try tx.loss(ofSession: token.sessionId) }
        self.account = account
        self.session = session
    }

    /// Whether the sign-in that the session began with is recent enough for something weighty. Whoever is anonymous has no way to sign in
    /// again, and is not asked (firebase.md 7).
    func isRecent(at now: Int64) -> Bool { account.method == .anonymous || RecentSignIn.isRecent(session.authenticatedAt, at: now) }

    var tooOld: RecentSignInRequired {
        RecentSignInRequired(authenticatedAt: session.authenticatedAt, maximumAgeSeconds: RecentSignIn.maximumAgeSeconds)
    }
}
