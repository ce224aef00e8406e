import Contract

/// The state of a credentials provider in memory, and its changes.
struct CachedCredentials: Sendable, Equatable {
    /// Credentials and the identity they are for.
    struct Held: Sendable, Equatable {
        let identityId: String
        let credentials: Contract.Credentials
        let roleArn: String
    }

    /// A token that was requested from the application's backend.
    struct Awaited: Sendable, Equatable {
        let continuationToken: String
        let reason: CredentialsProviderAnswer.TokenRequired.Reason
    }

    /// A request that was fulfilled.
    struct Answered: Sendable, Equatable {
        let continuationToken: String
        /// The token of the application's backend.
        let token: String
    }

    /// The logins of the user. Empty for a guest.
    var logins: Members<String>
    /// The identity ID that was last returned to the caller, or that was stored when the provider was opened.
    var identityId: String?
    /// Whether a change of logins may have changed the identity ID.
    var mustLookAgain = false
    var held: Held?
    var awaited: Awaited?
    /// The request and the token that led to the held credentials.
    var answered: Answered?

    init(logins: Members<String>, identityId: String? = nil) {
        self.logins = logins
        self.identityId = identityId
    }

    mutating func setLogins(_ logins: Members<String>) {
        self.logins = logins
        dropCredentials()
        awaited = nil
        mustLookAgain = identityId != nil
    }

    mutating func dropCredentials() {
        held = nil
        answered = nil
    }

    /// Removes everything, because another user may follow.
    mutating func dropAll() { self = CachedCredentials(logins: [:]) }

    /// Stores the resolved identity ID. Returns the previous ID if it was different.
    mutating func identify(_ id: String) -> String? {
        defer { (identityId, mustLookAgain) = (id, false) }
        return identityId == id ? nil : identityId
    }

    /// Records that a token is requested from the application's backend. A pending request is kept.
    mutating func ask(_ reason: CredentialsProviderAnswer.TokenRequired.Reason, continuationToken: @autoclosure () -> String) {
        guard awaited == nil else { return }
        awaited = Awaited(continuationToken: continuationToken(), reason: reason)
        answered = nil
    }

    /// Stores the result of a refresh.
    ///
    /// - Parameter token: The token of the application's backend, if one was awaited.
    mutating func hold(_ held: Held, for token: String? = nil) {
        self.held = held
        answered = awaited.flatMap { awaited in token.map { Answered(continuationToken: awaited.continuationToken, token: $0) } }
        awaited = nil
    }
}
