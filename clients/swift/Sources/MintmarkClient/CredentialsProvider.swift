import JSON

/// Provides valid temporary credentials of one user and renews them when necessary. If the application's backend must issue a token,
/// `onTokenRequired` is called once for all waiting calls.
///
/// The first call opens the provider. If the process has ended, the next call opens the provider again with the same identity.
public actor CredentialsProvider {
    /// The request for a token of the application's backend.
    public struct TokenRequired: Sendable {
        /// The logins of the user.
        public let logins: [String: String]
        /// The current identity ID, which the backend passes to `token.mintForDeveloper`; nil if there is none.
        public let identityId: String?
        /// The reason a token is required.
        public let reason: CredentialsProviderAnswer.TokenRequired.Reason?
    }

    /// Returns the identity ID and the token that the application's backend obtained from `token.mintForDeveloper`. If it throws, the call
    /// throws the same error.
    public typealias OnTokenRequired = @Sendable (TokenRequired) async throws -> (identityId: String, token: String)

    private let caller: any Caller
    private let onTokenRequired: OnTokenRequired
    private var params: JSONObject
    private var handle: String?
    private var isClosed = false
    private var opening: SharedWork<String>?
    /// The token requests in progress, by the continuation tokens that they belong to.
    private var asking: [String: SharedWork<CredentialsProviderAnswer>] = [:]

    /// - Parameters:
    ///   - caller: the client.
    ///   - options: additional parameters of `credentialsProvider.open`, by their names.
    public init(
        _ caller: any Caller, poolId: String, logins: [String: String]? = nil, options: JSONObject = [:],
        onTokenRequired: @escaping OnTokenRequired
    ) {
        self.caller = caller
        self.onTokenRequired = onTokenRequired
        params = options
        params["poolId"] = .string(poolId)
        if let logins { params["logins"] = logins.wire }
        params["tokenSource"] = "caller"
    }

    // MARK: Public methods

    /// Returns valid credentials, with `identityId` and `roleArn`.
    public func get() async throws -> CredentialsProviderAnswer.Ready {
        try await ready { try await $0.get(provider: $1) }
    }

    /// Renews the credentials even if they are still valid.
    public func refresh() async throws -> CredentialsProviderAnswer.Ready {
        try await ready { try await $0.get(provider: $1, refresh: true) }
    }

    /// Returns the ID of the identity.
    public func identityId() async throws -> String {
        try await ready { try await $0.identityId(provider: $1) }.identityId
    }

    /// Replaces the user's logins. The identity ID is kept, unless the logins are already linked to another identity.
    public func setLogins(_ logins: [String: String]) async throws {
        params["logins"] = logins.wire
        _ = try await call { try await $0.setLogins(provider: $1, logins: logins) }
    }

    /// Discards the credentials and keeps the identity.
    public func clearCredentials() async throws {
        _ = try await call { try await $0.clearCredentials(provider: $1) }
    }

    /// Discards the credentials, the identity and the logins. Call this when the user signs out or another user signs in.
    public func clearKeychain() async throws {
        params["logins"] = nil
        _ = try await call { try await $0.clearKeychain(provider: $1) }
    }

    /// Closes the provider. The store keeps the identity ID under the provider's key.
    public func close() async throws {
        guard !isClosed else { return }
        isClosed = true
        // If another call is opening the provider, that call closes it.
        guard let handle else { return }
        do { _ = try await methods.close(provider: handle) } catch is ProviderNotOpenError {
            // The process was restarted and no longer has the provider.
        }
    }

    // MARK: Implementation

    private typealias Body<Result> = (_ methods: CredentialsProviderMethods, _ provider: String) async throws -> Result

    private var methods: CredentialsProviderMethods { CredentialsProviderMethods(caller) }

    private func ready(_ body: Body<CredentialsProviderAnswer>) async throws -> CredentialsProviderAnswer.Ready {
        let answer = try await call(body)
        guard case .tokenRequired(let required) = answer else { return try known(answer) }
        let continuation = required.continuationToken
        // Calls that need the same renewal receive the same continuation token, and share one token request.
        let work: SharedWork<CredentialsProviderAnswer>
        if let begun = asking[continuation], begun.join() { work = begun } else { work = ask(required) }
        asking[continuation] = work
        defer { if work.isOver, asking[continuation] === work { asking[continuation] = nil } }
        return try known(try await work.value())
    }

    private func known(_ answer: CredentialsProviderAnswer) throws -> CredentialsProviderAnswer.Ready {
        if case .ready(let ready) = answer { return ready }
        throw ProtocolError(method: "credentialsProvider.get", reason: "its state is not known")
    }

    private func ask(_ required: CredentialsProviderAnswer.TokenRequired) -> SharedWork<CredentialsProviderAnswer> {
        let request = TokenRequired(logins: required.logins, identityId: required.identityId, reason: required.reason)
        let continuation = required.continuationToken
        return SharedWork { [onTokenRequired, methods] in
            let (identityId, token) = try await onTokenRequired(request)
            return try await methods.submitToken(continuationToken: continuation, identityId: identityId, token: token)
        }
    }

    /// Calls with the provider's handle. If a restarted process does not have the handle, opens the provider again and retries once.
    private func call<Result>(_ body: Body<Result>) async throws -> Result {
        let old = try await opened()
        do { return try await body(methods, old) } catch let error as ProviderNotOpenError {
            if isClosed { throw error }
            if handle == old { handle = nil }
            return try await body(methods, try await opened())
        }
    }

    private func opened() async throws -> String {
        if let handle { return handle }
        if isClosed { throw ClientClosedError(ofProvider: "credentialsProvider.open") }
        let work: SharedWork<String>
        if let begun = opening, begun.join() { work = begun } else { work = open() }
        opening = work
        defer { if work.isOver, opening === work { opening = nil } }
        let provider = try await work.value()
        if isClosed {
            _ = try? await methods.close(provider: provider)
            throw ClientClosedError(ofProvider: "credentialsProvider.open")
        }
        if opening === work { handle = provider }
        return provider
    }

    private func open() -> SharedWork<String> {
        SharedWork { [caller, params] in
            let opened: CredentialsProviderOpenResult = try await caller.call("credentialsProvider.open", params)
            return opened.provider
        }
    }
}
