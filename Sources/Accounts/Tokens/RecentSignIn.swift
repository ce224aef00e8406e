import Contract

/// The recent sign-in requirement for operations that could lock the user out, in seconds since the sign-in.
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
