import MintmarkClient

/// A CredentialsProvider and its simulated backend.
actor Provided {
    private let client: Mintmark
    private let pool: String
    private var provider: CredentialsProvider?
    private var backend: String
    private var asked: [JSONValue] = []

    init(_ client: Mintmark, _ params: JSONObject, backend: String) {
        self.client = client
        self.backend = backend
        pool = params["poolId"]?.string ?? ""
        var options = params
        options["poolId"] = nil
        options["logins"] = nil
        let logins = params["logins"].flatMap { try? [String: String](wire: $0) }
        provider = nil
        made = { [pool, options, logins] provided in
            CredentialsProvider(provided.client, poolId: pool, logins: logins, options: options) { try await provided.token($0) }
        }
    }

    private let made: @Sendable (Provided) -> CredentialsProvider

    func carryOut(_ what: String, _ step: Step) async throws -> JSONValue {
        let provider = self.provider ?? made(self)
        self.provider = provider
        switch what {
        case "provider.get": return try await (step["refresh"]?.bool == true ? provider.refresh() : provider.get()).wire
        case "provider.identityId": return .string(try await provider.identityId())
        case "provider.setLogins": try await provider.setLogins(try [String: String](wire: step["logins"] ?? [:]))
        case "provider.clearCredentials": try await provider.clearCredentials()
        case "provider.clearKeychain": try await provider.clearKeychain()
        case "provider.close": try await provider.close()
        case "provider.asked": return .array(asked)
        case "provider.backend": backend = text(step, "backend")
        default: throw Fault(reason: "there is no step \(what)")
        }
        return .null
    }

    /// Simulates the backend of the application.
    private func token(_ required: CredentialsProvider.TokenRequired) async throws -> (identityId: String, token: String) {
        asked.append(required.logins.wire)
        if backend == "fails" { throw BackendDown() }
        if backend == "slow" { try await Task.sleep(for: .milliseconds(300)) }
        do { return try await mint(required.logins, required.identityId) } catch is DeveloperUserAlreadyRegisteredError {
            return try await mint(required.logins, nil)
        }
    }

    private func mint(_ logins: [String: String], _ identityId: String?) async throws -> (identityId: String, token: String) {
        let minted = try await client.token.mintForDeveloper(poolId: pool, logins: logins, identityId: identityId)
        return (minted.identityId, minted.token)
    }
}
