import Contract
import Storage

extension Flows {
    /// Counts a request of a client.
    ///
    /// - Returns: The key under which to count the failures and codes of the client, or `nil` if the request has no client address.
    /// - Throws: `TooManyFromClient`; `InvalidParams` if the address is not valid.
    func admit(_ origin: ClientOrigin?, tenantId: String, at now: Int64) throws -> ClientKey? {
        guard let origin else { return nil }
        let client = try ClientKey(origin, in: tenantId)
        try context.database.write { tx in
            try ClientRateLimiter.failures.check(
                try tx.window(.failures, of: client, at: now), most: ClientRateLimiter.failures.limit - 1, at: now)
            try tx.count(.requests, of: client, at: now)
        }
        return client
    }

    /// Counts a request with a credential. A request with a continuation token is not counted: it is repeated while it waits for the user
    /// to
    /// return, and its token cannot be guessed.
    func admit(_ origin: ClientOrigin?, _ credential: Credential, tenantId: String, at now: Int64) throws -> ClientKey? {
        guard let origin else { return nil }
        if case .continuationToken = credential.kind { return try ClientKey(origin, in: tenantId) }
        return try admit(origin, tenantId: tenantId, at: now)
    }

    /// Counts a request for a step of a flow. The tenant is that of the continuation token.
    func admit(_ origin: ClientOrigin?, token: String, at now: Int64) throws -> ClientKey? {
        guard let origin else { return nil }
        return try admit(origin, tenantId: context.database.read { try tenantId(ofToken: token, in: $0) } ?? "", at: now)
    }

    /// Counts a failure outside of the current transaction and returns the failure.
    func failed<Failure: ContractError>(_ failure: Failure, by client: ClientKey?, at now: Int64) throws -> Failure {
        if let client { try context.database.write { try $0.countFailure(of: client, at: now) } }
        return failure
    }
}
