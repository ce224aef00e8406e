import Contract

/// What a credential provider holds in memory (cognito.md 8.1), and how it changes (8.3).
struct ProviderMemory: Sendable, Equatable {
    /// Credentials, and whom they are for.
    struct Held: Sendable, Equatable {
        let identityId: String
        let credentials: Contract.Credentials
        let roleArn: String
    }

    /// A token that the caller's backend was asked for.
    struct Awaited: Sendable, Equatable {
        let continuationToken: String
        let reason: CredentialsProviderAnswer.Reason
    }

    /// A question that was answered.
    struct Answered: Sendable, Equatable {
        let continuationToken: String
        /// The backend's.
        let token: String
    }

    /// Who the user is; nobody: a guest.
    var logins: Members<String>
    /// The id that the caller was told last, by this provider or, before it was opened, under its key.
    var identityId: String?
    /// Whether other logins may have made the id another one.
    var mustLookAgain = false
    var held: Held?
    var awaited: Awaited?
    /// The question whose answer brought what is held, and that answer.
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

    /// Another user may come: nothing of this one is left.
    mutating func dropAll() { self = ProviderMemory(logins: [:]) }

    /// Notes whom the logins prove. Answers the id it was before, if it was another one.
    mutating func identify(_ id: String) -> String? {
        defer { (identityId, mustLookAgain) = (id, false) }
        return identityId == id ? nil : identityId
    }

    /// Notes that the caller's backend is asked for a token; a question that is open already stands.
    mutating func ask(_ reason: CredentialsProviderAnswer.Reason, continuationToken: @autoclosure () -> String) {
        guard awaited == nil else { return }
        awaited = Awaited(continuationToken: continuationToken(), reason: reason)
        answered = nil
    }

    /// Notes what a refresh brought.
    ///
    /// - Parameter token: the backend's, if it was awaited.
    mutating func hold(_ held: Held, for token: String? = nil) {
        self.held = held
        answered = awaited.flatMap { awaited in token.map { Answered(continuationToken: awaited.continuationToken, token: $0) } }
        awaited = nil
    }
}
