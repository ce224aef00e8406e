import Crypto

/// The cached state of an issuer and the rules for its use. Times are in nanoseconds of a monotonic clock.
struct IssuerState: Sendable {
    /// The action for a token that needs a key.
    enum Decision {
        /// Use this key; `nil` means that the issuer does not have it.
        case answer(PublicKey?)
        /// Use this key, and fetch newer keys in the background.
        case answerAndRenew(PublicKey)
        /// The last request failed a moment ago; no new request is sent yet.
        case fail(IssuerFailure)
        /// The caller sends the request.
        case ask
        /// The caller waits for the request of another caller.
        case join
    }

    private static let second: UInt64 = 1_000_000_000
    /// The time after expiry during which keys are still used immediately while newer keys are fetched.
    static let renewing = 600 * second
    /// The time after expiry during which keys are still used if the issuer is unavailable.
    static let mostStale = 86_400 * second
    /// The time between requests after a failure: without cached keys, and with old ones.
    static let (pause, pauseWithKeys) = (5 * second, 30 * second)
    /// The time during which an unknown key ID is not requested again.
    static let unknownPause = 30 * second
    /// The maximum number of unknown key IDs that are requested in that time. Any caller can invent key IDs. One invented ID must not block
    /// the request for the next ID, which may be a new key of the issuer, and many invented IDs must not cause unlimited requests.
    static let mostUnknown = 8

    private(set) var keys: JWKSet?
    private var freshUntil: UInt64 = 0
    private var failure: IssuerFailure?
    private var retryAt: UInt64 = 0
    /// The hashes of requested key IDs that the issuer does not have, and the time at which each entry expires.
    private var unknown: [[UInt8]: UInt64] = [:]
    private(set) var isAsking = false
    /// The time of the last request.
    private(set) var askedAt: UInt64 = 0

    func decide(_ header: JWSHeader, at now: UInt64) -> Decision {
        guard let keys, now < freshUntil + Self.mostStale else {
            if isAsking { return .join }
            if let failure, now < retryAt { return .fail(failure) }
            return .ask
        }
        if let key = keys.key(for: header) {
            if now < freshUntil || isAsking || now < retryAt { return .answer(key) }
            return now < freshUntil + Self.renewing ? .answerAndRenew(key) : .ask
        }
        if now < freshUntil, let weakness = keys.weakness(ofKeyFor: header) {
            return .fail(IssuerFailure(.keys, "The key that signed the token is not accepted: \(weakness)."))
        }
        if isAsking { return .join }
        if let failure, now < retryAt { return .fail(failure) }
        if let until = unknown[Self.name(header)], now < until { return .answer(nil) }
        guard unknown.count(where: { now < $0.value }) < Self.mostUnknown else { return .fail(Self.tooManyUnknown) }
        return .ask
    }

    private static let tooManyUnknown = IssuerFailure(
        .unavailable,
        "The provider did not have the requested keys \(mostUnknown) times within 30 seconds; it is not requested again for some time.")

    private static func name(_ header: JWSHeader) -> [UInt8] { Hash.sha256(Array((header.keyID ?? "").utf8)) }

    /// Allows a request immediately, regardless of earlier results.
    mutating func forgetFailure() { (failure, retryAt, unknown) = (nil, 0, [:]) }

    /// Records that a request has begun.
    mutating func begin(at now: UInt64) {
        isAsking = true
        askedAt = now
    }

    /// Records the result of a request for the key of `header`, or of a request without a specific key if `header` is `nil`.
    mutating func end(_ result: Result<PublishedKeys, IssuerFailure>, for header: JWSHeader?, at now: UInt64) {
        isAsking = false
        switch result {
        case .success(let published):
            keys = published.set
            freshUntil = now + UInt64(published.lifetimeSeconds) * Self.second
            (failure, retryAt) = (nil, 0)
            unknown = unknown.filter { now < $0.value }
            if let header, published.set.key(for: header) == nil { unknown[Self.name(header)] = now + Self.unknownPause }
        case .failure(let failure) where failure.check == .cancelled: break
        case .failure(let failure):
            self.failure = failure
            retryAt = now + (keys == nil ? Self.pause : Self.pauseWithKeys)
        }
    }
}
