import JSON

/// Keeps the temporary credentials of one user fresh. Where a token of the application's own backend is needed, `onTokenRequired` is asked for it,
/// once for all calls that wait.
///
/// The first call opens it; after the process has died, the next one opens it again, with the same identity.
public actor CredentialsProvider {
    /// For whom a token is needed.
    public struct TokenRequired: Sendable {
        /// Who the user is.
        public let logins: [String: String]
        /// The identity that is kept so far, for the backend to name in `token.mintForDeveloper`.
        public let identityId: String?
        /// Why it is needed.
        public let reason: CredentialsProviderAnswer.Reason?
    }

    /// Gives what the application's backend got from `token.mintForDeveloper`. What it throws is the call's error.
    public typealias OnTokenRequired = @Sendable (TokenRequired) async throws -> (identityId: String, token: String)

    private let caller: any Caller
    private let onTokenRequired: OnTokenRequired
    private var params: JSONObject
    private var handle: String?
    private var isClosed = false
    private var opening: SharedWork<String>?
    /// The tokens that are asked for, by the continuation tokens that they are for.
    private var asking: [String: SharedWork<CredentialsProviderAnswer>] = [:]

    /// - Parameters:
    ///   - caller: the client.
    ///   - options: further parameters of `credentialsProvider.open`, by their names.
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

    // MARK: What an application calls

    /// Credentials that are good for a while, with `identityId` and `roleArn`.
    public func get() async throws -> CredentialsProviderAnswer {
        try await ready { try await $0.get(provider: $1) }
    }

    /// `get` that renews the credentials in any case.
    public func refresh() async throws -> CredentialsProviderAnswer {
        try await ready { try await $0.get(provider: $1, refresh: true) }
    }

    /// The id of the identity.
    public func identityId() async throws -> String {
        guard let id = try await ready({ try await $0.identityId(provider: $1) }).identityId else {
            throw ProtocolError(method: "credentialsProvider.identityId", reason: "it has no identityId")
        }
        return id
    }

    /// Says who the user is now. The identity is kept, and may become another one that the logins own.
    public func setLogins(_ logins: [String: String]) async throws {
        params["logins"] = logins.wire
        _ = try await call { try await $0.setLogins(provider: $1, logins: logins) }
    }

    /// Drops the credentials and keeps the identity.
    public func clearCredentials() async throws {
        _ = try await call { try await $0.clearCredentials(provider: $1) }
    }

    /// Drops everything: credentials, identity and logins. For a sign-out, and for another user.
    public func clearKeychain() async throws {
        params["logins"] = nil
        _ = try await call { try await $0.clearKeychain(provider: $1) }
    }

    /// Closes it; the identity's id stays in the store under its key.
    public func close() async throws {
        guard !isClosed else { return }
        isClosed = true
        // One that is being opened is closed by whoever opens it.
        guard let handle else { return }
        do { _ = try await methods.close(provider: handle) } catch is ProviderNotOpenError {
            // Its process was started anew: there is nothing to close.
        }
    }

    // MARK: What stands behind it

    private typealias Body<Result> = (_ methods: CredentialsProviderMethods, _ provider: String) async throws -> Result

    private var methods: CredentialsProviderMethods { CredentialsProviderMethods(caller) }

    private func ready(_ body: Body<CredentialsProviderAnswer>) async throws -> CredentialsProviderAnswer {
        let answer = try await call(body)
        guard answer.state == .tokenRequired, let continuation = answer.continuationToken else { return answer }
        // Whoever meets the same refresh gets the same continuation token, and shares one token.
        let work: SharedWork<CredentialsProviderAnswer>
        if let begun = asking[continuation], begun.join() { work = begun } else { work = ask(answer, continuation) }
        asking[continuation] = work
        defer { if work.isOver, asking[continuation] === work { asking[continuation] = nil } }
        return try await work.value()
    }

    private func ask(_ answer: CredentialsProviderAnswer, _ continuation: String) -> SharedWork<CredentialsProviderAnswer> {
        let required = TokenRequired(logins: answer.logins ?? [:], identityId: answer.identityId, reason: answer.reason)
        return SharedWork { [onTokenRequired, methods] in
            let (identityId, token) = try await onTokenRequired(required)
            return try await methods.submitToken(continuationToken: continuation, identityId: identityId, token: token)
        }
    }

    /// Calls with the provider's handle, and once more with a new one where a process that was started anew does not know it.
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
