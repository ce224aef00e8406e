import Accounts
import Contract
import JSON

/// The state of the test provider.
struct ProviderState: Sendable {
    /// The authorization of a client for one session of the tenant.
    struct Grant: Sendable {
        let issuer: String
        let clientId: String
        /// The granted scopes.
        let scopes: Scopes
        /// The audience of access tokens, or `nil` for the client itself.
        var audience: String?
        /// The login of the browser from which the grant was made.
        var loginId: String?
        /// The key to which the refresh tokens are bound, or that must redeem the code (RFC 9449).
        var thumbprint: String?

        func with(_ scopes: Scopes) -> Grant {
            Grant(issuer: issuer, clientId: clientId, scopes: scopes, audience: audience, loginId: loginId, thumbprint: thumbprint)
        }
    }

    /// An authorization code (RFC 6749 §4.1.2).
    struct Code: Sendable {
        let grant: Grant
        let redirectUri: String
        /// The PKCE code challenge, with S256.
        let challenge: String?
        let nonce: String?
        let sessionId: String
        let refreshToken: String
        let expiresAt: Int64
        var isUsed = false
    }

    /// A signed-in user in one browser.
    struct Login: Sendable {
        let issuer: String
        let accountId: String
        let username: String
        let proof: SignInProof
        /// The sessions of the clients to which the login has led.
        var sessions: [String]
    }

    /// The lifetime of a code, in seconds.
    static let codeSeconds: Int64 = 60
    /// The maximum number of entries of each kind. The limit for revoked tokens is ten times higher.
    static let limit = 10_000

    var codes = BoundedCache<Code>(atMost: limit)
    var logins = BoundedCache<Login>(atMost: limit)
    /// The pushed authorization requests by their URI.
    var pushed = BoundedCache<PushedRequest>(atMost: 1_000)
    /// The grants by session ID.
    var grants = BoundedCache<Grant>(atMost: limit)
    /// The devices by device code.
    var devices = BoundedCache<ProviderDevice>(atMost: limit)
    /// The enqueued answers by issuer, the next one first.
    var queue: [String: [TestEnqueue.Params.Answer]] = [:]
    /// The enqueued claims of access tokens, by `jti`.
    var extras = BoundedCache<JSONObject>(atMost: limit)
    /// The expiry times of revoked access tokens, by `jti`.
    var revoked = BoundedCache<Int64>(atMost: 10 * limit)
    /// The registered clients by ID.
    var registrations = BoundedCache<RegisteredClient>(atMost: 1_000)
    /// The `jti` of the redeemed assertions, with their issuers.
    var assertions = BoundedCache<Bool>(atMost: limit)
    /// Not part of snapshots.
    var proofs = ProofMemory()

    /// Stores a code, and removes codes that expired long ago.
    mutating func keep(_ code: Code, as name: String, at now: Int64) {
        codes.forget { $0.expiresAt + 600 <= now }
        codes[name] = code
    }

    mutating func keep(_ device: ProviderDevice, as code: String, at now: Int64) {
        devices.forget { $0.expiresAt + 600 <= now }
        devices[code] = device
    }

    /// Revokes an access token until it expires.
    mutating func revoke(_ id: String, until expiresAt: Int64, at now: Int64) {
        revoked.forget { $0 <= now }
        revoked[id] = expiresAt
    }

    /// Marks a code as used and stores the grant. Returns `false` if it was already used.
    mutating func spend(_ name: String, for grant: Grant) -> Bool {
        guard let code = codes[name], !code.isUsed else { return false }
        codes[name]?.isUsed = true
        grants[code.sessionId] = grant
        return true
    }

    /// Removes an approved device and creates its grant. Returns `false` if it was already removed.
    mutating func spend(device code: String, _ sessionId: String, for grant: Grant) -> Bool {
        guard devices.removeValue(forKey: code) != nil else { return false }
        grants[sessionId] = grant
        return true
    }

    /// Removes and returns the next enqueued answer for an endpoint if it is an error. An error after claims is not due yet.
    mutating func nextError(of issuer: String, at endpoint: TestAnswerError.Endpoint) -> TestAnswerError? {
        guard let place = queue[issuer]?.firstIndex(where: { $0.endpoint == endpoint }), case .error(let error) = queue[issuer]?[place]
        else { return nil }
        queue[issuer]?.remove(at: place)
        return error
    }

    /// Removes and returns the claims for the next tokens.
    mutating func nextClaims(of issuer: String) -> JSONObject? {
        guard let place = queue[issuer]?.firstIndex(where: { $0.endpoint == .token }), case .claims(let claims) = queue[issuer]?[place]
        else { return nil }
        queue[issuer]?.remove(at: place)
        return claims
    }
}

extension TestEnqueue.Params.Answer {
    /// The endpoint that returns the answer.
    fileprivate var endpoint: TestAnswerError.Endpoint {
        switch self {
        case .claims, .passkeyChallenge: .token
        case .error(let error): error.endpoint
        }
    }
}
