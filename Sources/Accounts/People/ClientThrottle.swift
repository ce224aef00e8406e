import Contract
import Storage

/// What may come from one client's address in a tenant, wherever it goes: requests, failures, codes (native-auth.md 1.1, 1.8, 6.4).
enum ClientThrottle: String, Sendable, CaseIterable {
    /// Requests of any kind.
    case requests
    /// Wrong codes and passwords, and addresses that have no account or have one already, where that is said.
    case failures
    /// Codes that were sent.
    case codes
    /// Codes that nobody took, at a server that refuses them or is away.
    case undelivered = "messages that failed"

    /// How many there may be. 20 requests a second are the model's; behind one address there may be many people.
    var limit: Int64 {
        switch self {
        case .requests: 20
        case .failures, .undelivered: 100
        case .codes: 50
        }
    }

    /// Within how many seconds.
    var seconds: Int64 {
        switch self {
        case .requests: 1
        case .failures, .codes: 900
        case .undelivered: 60
        }
    }

    /// - Parameter window: what was counted so far, and since when.
    /// - Throws: `TooManyFromClient` if that is more than `most`.
    func check(_ window: (since: Int64, count: Int64)?, most: Int64, at now: Int64) throws {
        guard let window, window.count > most else { return }
        throw TooManyFromClient(counted: rawValue, retryAfterSeconds: max(1, window.since + seconds - now))
    }
}

extension Flows {
    /// Counts a request of a client.
    ///
    /// - Returns: by what its failures and codes are to be counted; nil if the host does not say where it comes from.
    /// - Throws: `TooManyFromClient`, `InvalidParams` for what is no address.
    func admit(_ origin: ClientOrigin?, tenantId: String, at now: Int64) throws -> ClientKey? {
        guard let origin else { return nil }
        let client = try ClientKey(origin, in: tenantId)
        try surroundings.database.write { tx in
            try ClientThrottle.failures.check(
                try tx.window(.failures, of: client, at: now), most: ClientThrottle.failures.limit - 1, at: now)
            try tx.count(.requests, of: client, at: now)
        }
        return client
    }

    /// The same for a call with a credential. One that waits for somebody to come back is run more than once, and has nothing that could
    /// be guessed: it counts nothing.
    func admit(_ origin: ClientOrigin?, _ credential: Credential, tenantId: String, at now: Int64) throws -> ClientKey? {
        guard let origin else { return nil }
        if case .continuationToken = credential.kind { return try ClientKey(origin, in: tenantId) }
        return try admit(origin, tenantId: tenantId, at: now)
    }

    /// The same for a step of a flow, whose tenant its token tells.
    func admit(_ origin: ClientOrigin?, token: String, at now: Int64) throws -> ClientKey? {
        guard let origin else { return nil }
        return try admit(origin, tenantId: surroundings.database.read { try tenantId(ofToken: token, in: $0) } ?? "", at: now)
    }

    /// Counts a failure that nothing else is put down with, and answers it.
    func failed<Failure: ContractError>(_ failure: Failure, by client: ClientKey?, at now: Int64) throws -> Failure {
        if let client { try surroundings.database.write { try $0.countFailure(of: client, at: now) } }
        return failure
    }
}

extension Transaction {
    /// Counts one more.
    ///
    /// - Throws: `TooManyFromClient` if it is one too many, which is then not counted.
    func count(_ what: ClientThrottle, of client: ClientKey?, at now: Int64) throws {
        guard let client else { return }
        try what.check(try add(what, of: client, at: now), most: what.limit, at: now)
    }

    /// Counts a failure, also one too many: it has happened.
    func countFailure(of client: ClientKey?, at now: Int64) throws {
        if let client { _ = try add(.failures, of: client, at: now) }
    }

    /// Counts a message that nobody took.
    func countUndelivered(of client: ClientKey?, at now: Int64) throws {
        if let client { _ = try add(.undelivered, of: client, at: now) }
    }

    /// - Throws: `TooManyFromClient` if another one would be one too many.
    func checkUndelivered(of client: ClientKey?, at now: Int64) throws {
        guard let client else { return }
        let what = ClientThrottle.undelivered
        try what.check(try window(what, of: client, at: now), most: what.limit - 1, at: now)
    }

    /// Takes one back that was counted and has come to nothing.
    func takeBack(_ what: ClientThrottle, of client: ClientKey?, at now: Int64) throws {
        guard let client else { return }
        try execute(
            "UPDATE client_count SET count = count - 1 WHERE kind = $1 AND client = $2 AND since <= $3 AND expires_at > $3 AND count > 0",
            what.rawValue, client.text, now)
    }

    fileprivate func window(_ what: ClientThrottle, of client: ClientKey, at now: Int64) throws -> (since: Int64, count: Int64)? {
        try queryOne(
            "SELECT since, count FROM client_count WHERE kind = $1 AND client = $2 AND since <= $3 AND expires_at > $3", what.rawValue,
            client.text, now
        ) { ($0.int(0), $0.int(1)) }
    }

    /// Adds one to the window that `now` lies in, or begins another; also where the clock was set back. One statement, so that nobody
    /// has to be kept out, whatever else a transaction has locked.
    private func add(_ what: ClientThrottle, of client: ClientKey, at now: Int64) throws -> (since: Int64, count: Int64)? {
        try queryOne(
            """
            INSERT INTO client_count (kind, client, since, count, expires_at) VALUES ($1, $2, $3, 1, $4)
            ON CONFLICT (kind, client) DO UPDATE SET
                count = CASE WHEN client_count.since <= $3 AND client_count.expires_at > $3 THEN client_count.count + 1 ELSE 1 END,
                since = CASE WHEN client_count.since <= $3 AND client_count.expires_at > $3 THEN client_count.since ELSE $3 END,
                expires_at = CASE WHEN client_count.since <= $3 AND client_count.expires_at > $3 THEN client_count.expires_at ELSE $4 END
            RETURNING since, count
            """, what.rawValue, client.text, now, now + what.seconds
        ) { ($0.int(0), $0.int(1)) }
    }
}
