import Accounts
import Contract
import JSON

/// What the provider for tests remembers.
struct ProviderState: Sendable {
    /// What a client may do for somebody who signed in: a session of the tenant.
    struct Grant: Sendable {
        let issuer: String
        let clientId: String
        /// As the client was granted them.
        let scopes: Scopes
        /// Whom access tokens are for, nil for the client itself.
        var audience: String?
        /// The browser's login that it came from.
        var loginId: String?
    }

    /// A code on its way to a client (RFC 6749 4.1.2).
    struct Code: Sendable {
        let grant: Grant
        let redirectUri: String
        /// Of PKCE, with S256.
        let challenge: String?
        let nonce: String?
        let sessionId: String
        let refreshToken: String
        let expiresAt: Int64
        var isUsed = false
    }

    /// Somebody who is signed in, in one browser.
    struct Login: Sendable {
        let issuer: String
        let accountId: String
        let username: String
        let proof: SignInProof
        /// What the clients that it led to were given.
        var sessions: [String]
    }

    /// How long a code is good, in seconds.
    static let codeSeconds: Int64 = 60
    /// How much is remembered of each kind, and ten times that of what was taken back.
    static let limit = 10_000

    var codes = Remembered<Code>(atMost: limit)
    var logins = Remembered<Login>(atMost: limit)
    /// By session.
    var grants = Remembered<Grant>(atMost: limit)
    /// By device code.
    var devices = Remembered<ProviderDevice>(atMost: limit)
    /// By issuer, the next one first.
    var queue: [String: [TestEnqueue.Params.Answer]] = [:]
    /// Claims that were enqueued for access tokens, by jti.
    var extras = Remembered<JSONObject>(atMost: limit)
    /// Access tokens that were taken back, by jti: when they would have ended.
    var revoked = Remembered<Int64>(atMost: 10 * limit)

    /// Keeps a code; what is long over is forgotten.
    mutating func keep(_ code: Code, as name: String, at now: Int64) {
        codes.forget { $0.expiresAt + 600 <= now }
        codes[name] = code
    }

    mutating func keep(_ device: ProviderDevice, as code: String, at now: Int64) {
        devices.forget { $0.expiresAt + 600 <= now }
        devices[code] = device
    }

    /// Takes an access token back, until it would have ended.
    mutating func revoke(_ id: String, until expiresAt: Int64, at now: Int64) {
        revoked.forget { $0 <= now }
        revoked[id] = expiresAt
    }

    /// Spends a code, from which its grant begins; false if it was spent before.
    mutating func spend(_ name: String) -> Bool {
        guard let code = codes[name], !code.isUsed else { return false }
        codes[name]?.isUsed = true
        grants[code.sessionId] = code.grant
        return true
    }

    /// Takes away a device that somebody has signed in, from which its grant begins; false if that was done before.
    mutating func spend(device code: String, _ sessionId: String) -> Bool {
        guard let device = devices.removeValue(forKey: code) else { return false }
        grants[sessionId] = device.grant
        return true
    }

    /// The error that is due at an endpoint, which is taken out. One that waits behind claims is not due yet.
    mutating func nextError(of issuer: String, at endpoint: TestAnswerError.Endpoint) -> TestAnswerError? {
        guard let place = queue[issuer]?.firstIndex(where: { $0.endpoint == endpoint }), case .error(let error) = queue[issuer]?[place]
        else { return nil }
        queue[issuer]?.remove(at: place)
        return error
    }

    /// The claims that wait for the next tokens, which are taken out.
    mutating func nextClaims(of issuer: String) -> JSONObject? {
        guard let place = queue[issuer]?.firstIndex(where: { $0.endpoint == .token }), case .claims(let claims) = queue[issuer]?[place]
        else { return nil }
        queue[issuer]?.remove(at: place)
        return claims
    }
}

extension TestEnqueue.Params.Answer {
    /// Where it is answered.
    fileprivate var endpoint: TestAnswerError.Endpoint {
        switch self {
        case .claims: .token
        case .error(let error): error.endpoint
        }
    }
}
