import Crypto

/// What is known of an issuer, and the rule for what to do with it. Moments are nanoseconds of a clock that only moves forward.
struct IssuerState: Sendable {
    /// What a token that needs a key leads to.
    enum Decision {
        /// This key, or none: the issuer has none such.
        case answer(PublicKey?)
        /// This key, and somebody asks for newer ones meanwhile.
        case answerAndRenew(PublicKey)
        /// The issuer could not be asked a moment ago, and is left in peace.
        case fail(IssuerFailure)
        /// The caller asks the issuer.
        case ask
        /// Somebody is asking; the caller waits for what comes of it.
        case join
    }

    private static let second: UInt64 = 1_000_000_000
    /// How long keys past their time are used at once while newer ones are fetched.
    static let renewing = 600 * second
    /// How long keys past their time are used while the issuer cannot be asked.
    static let mostStale = 86_400 * second
    /// How long an issuer that could not be asked is left in peace: without keys, and when there are old ones.
    static let (pause, pauseWithKeys) = (5 * second, 30 * second)
    /// How long keys that the issuer did not have are not asked for again.
    static let unknownPause = 30 * second
    /// How many such keys are asked for in that time. Anybody can make up names: one that nobody has must not keep the next one, which
    /// may be the issuer's new key, from being asked for, and many must not make it be asked without end.
    static let mostUnknown = 8

    private(set) var keys: JWKSet?
    private var freshUntil: UInt64 = 0
    private var failure: IssuerFailure?
    private var retryAt: UInt64 = 0
    /// Names of keys that the issuer does not have, as far as they were asked for, and until when that is taken for an answer.
    private var unknown: [[UInt8]: UInt64] = [:]
    private(set) var isAsking = false
    /// When it was asked last.
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

    /// The issuer may be asked at once, whatever came of it before.
    mutating func forgetFailure() { (failure, retryAt, unknown) = (nil, 0, [:]) }

    /// Notes that somebody asks now.
    mutating func begin(at now: UInt64) {
        isAsking = true
        askedAt = now
    }

    /// Notes what came of asking for the key of `header`, nil if for no certain one.
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
