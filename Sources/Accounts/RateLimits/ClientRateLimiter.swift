import Contract
import Storage

/// The rate limits per client address and tenant, across all methods: requests, failures and codes (Sources/Accounts/README.md, "Lockout
/// and rate limits").
enum ClientRateLimiter: String, Sendable, CaseIterable {
    /// Requests of any kind.
    case requests
    /// Wrong codes and passwords. If the tenant reveals whether an address has an account, also requests for unknown or already registered
    /// addresses.
    case failures
    /// Codes that were sent.
    case codes
    /// Messages whose delivery failed because the server rejected them or was unreachable.
    case undelivered = "messages that failed"

    /// The maximum number per window. Many users can share an address, so the limits are generous. 20 requests per second is the limit of
    /// Microsoft Entra.
    var limit: Int64 {
        switch self {
        case .requests: 20
        case .failures, .undelivered: 100
        case .codes: 50
        }
    }

    /// The length of the window, in seconds.
    var seconds: Int64 {
        switch self {
        case .requests: 1
        case .failures, .codes: 900
        case .undelivered: 60
        }
    }

    /// - Parameters:
    ///   - window: The start of the current window and its count, or `nil` if nothing was counted.
    ///   - most: The maximum count.
    /// - Throws: `TooManyFromClient` if the count exceeds `most`.
    func check(_ window: (since: Int64, count: Int64)?, most: Int64, at now: Int64) throws {
        guard let window, window.count > most else { return }
        throw TooManyFromClient(counted: rawValue, retryAfterSeconds: max(1, window.since + seconds - now))
    }
}

extension Transaction {
    /// Counts one event.
    ///
    /// - Throws: `TooManyFromClient` if the limit is exceeded. The event then must not take effect: the transaction rolls the count back.
    func count(_ what: ClientRateLimiter, of client: ClientKey?, at now: Int64) throws {
        guard let client else { return }
        try what.check(try add(what, of: client, at: now), most: what.limit, at: now)
    }

    /// Counts a failure even above the limit, because it has already happened.
    func countFailure(of client: ClientKey?, at now: Int64) throws {
        if let client { _ = try add(.failures, of: client, at: now) }
    }

    /// Counts a message whose delivery failed.
    func countUndelivered(of client: ClientKey?, at now: Int64) throws {
        if let client { _ = try add(.undelivered, of: client, at: now) }
    }

    /// - Throws: `TooManyFromClient` if one more failed message would exceed the limit.
    func checkUndelivered(of client: ClientKey?, at now: Int64) throws {
        guard let client else { return }
        let what = ClientRateLimiter.undelivered
        try what.check(try window(what, of: client, at: now), most: what.limit - 1, at: now)
    }

    /// Reverts the count of an event that had no effect.
    func takeBack(_ what: ClientRateLimiter, of client: ClientKey?, at now: Int64) throws {
        guard let client else { return }
        try execute(
            "UPDATE client_count SET count = count - 1 WHERE kind = $1 AND client = $2 AND since <= $3 AND expires_at > $3 AND count > 0",
            what.rawValue, client.text, now)
    }

    func window(_ what: ClientRateLimiter, of client: ClientKey, at now: Int64) throws -> (since: Int64, count: Int64)? {
        try queryOne(
            "SELECT since, count FROM client_count WHERE kind = $1 AND client = $2 AND since <= $3 AND expires_at > $3", what.rawValue,
            client.text, now
        ) { ($0.int(0), $0.int(1)) }
    }

    /// Adds one to the window that contains `now`, or starts a new window if it expired or the clock was set back. A single statement is
    /// atomic,
    /// so no lock is necessary.
    private func add(_ what: ClientRateLimiter, of client: ClientKey, at now: Int64) throws -> (since: Int64, count: Int64)? {
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
