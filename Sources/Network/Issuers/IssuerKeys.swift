import Crypto
import JSON
import Platform

/// The public keys of external issuers, fetched on first use and cached.
///
/// Concurrent callers share one request to an issuer. The issuer determines the cache lifetime, between five minutes and one day. If the
/// issuer is unavailable, its keys remain usable for another day. An unknown key ID causes one request; the same key ID causes no further
/// request for 30 seconds, and at most 8 different unknown key IDs are requested in that time. After a failed request, no request is sent
/// for 5 seconds, or for 30 seconds if keys are cached.
public final class IssuerKeys: Sendable {
    /// The cached state of a key.
    public enum Lookup: Sendable {
        /// The key, or `nil` if the issuer does not have it.
        case known(PublicKey?)
        /// A request to the issuer is necessary.
        case mustAsk
        /// A request to the issuer is necessary, and another caller is already sending it; see `whenAnswered`.
        case isAsked
    }

    /// Called after each request to an issuer; `nil` means success.
    public typealias Report = @Sendable (_ address: IssuerAddress, _ failure: IssuerFailure?) -> Void

    private let client: any HTTPClient
    private let clock: @Sendable () -> UInt64
    private let report: Report
    private let issuers = ConditionLock(Issuers())

    private struct Issuers {
        var states: [IssuerAddress: IssuerState] = [:]
        /// The closures to run after the pending request to an issuer.
        var waiting: [IssuerAddress: [@Sendable () -> Void]] = [:]
    }

    /// The maximum number of issuers whose keys are cached.
    static let capacity = 1024

    /// - Parameter clock: A monotonic clock, in nanoseconds.
    public init(
        _ client: any HTTPClient, clock: @escaping @Sendable () -> UInt64 = { Monotonic.nanoseconds() },
        report: @escaping Report = { _, _ in }
    ) {
        self.client = client
        self.clock = clock
        self.report = report
    }

    /// Allows requests to every issuer immediately, even after a recent failure. Used by tests that inject failures.
    public func forgetFailures() {
        issuers.withLock { issuers in for address in issuers.states.keys { issuers.states[address]?.forgetFailure() } }
    }

    /// Returns the key for a token's header, if it is cached. Does not block.
    ///
    /// - Throws: The reason that the last request failed, if it failed a moment ago.
    public func lookUp(_ header: JWSHeader, of address: IssuerAddress) throws(IssuerFailure) -> Lookup {
        switch decide(header, address, asks: false) {
        case .answer(let key): return .known(key)
        case .answerAndRenew(let key): return .known(renewing(address, key))
        case .fail(let failure): throw failure
        case .ask: return .mustAsk
        case .join: return .isAsked
        }
    }

    /// Returns the key for a token's header, or `nil` if the issuer does not have it. Sends a request if necessary.
    ///
    /// - Throws: The reason that the request failed; `cancelled` if `isCancelled` returned true.
    public func key(
        for header: JWSHeader, of address: IssuerAddress, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(IssuerFailure) -> PublicKey? {
        while true {
            switch decide(header, address, asks: true) {
            case .answer(let key): return key
            case .answerAndRenew(let key): return renewing(address, key)
            case .fail(let failure): throw failure
            case .ask: ask(address, for: header, isCancelled: isCancelled)
            case .join: waitForAnswer(address, isCancelled: isCancelled)
            }
            if isCancelled() { throw IssuerFailure(.cancelled, "The request was canceled.") }
        }
    }

    /// Fetches all documents of an issuer, without the cache and for this caller only. Blocks until the end.
    public func inspect(_ address: IssuerAddress, isCancelled: @escaping @Sendable () -> Bool = { false }) -> IssuerInspection {
        IssuerDocuments(client: client, address: address, isCancelled: isCancelled).inspect()
    }

    /// Runs `body` when no request to the issuer is pending: immediately, or on the thread that received the response. `body` should return
    /// quickly.
    public func whenAnswered(_ address: IssuerAddress, _ body: @escaping @Sendable () -> Void) {
        let waits = issuers.withLock { issuers in
            guard issuers.states[address]?.isAsking == true else { return false }
            issuers.waiting[address, default: []].append(body)
            return true
        }
        if !waits { body() }
    }

    /// - Parameter asks: Whether the caller sends the request if no other caller does.
    private func decide(_ header: JWSHeader, _ address: IssuerAddress, asks: Bool) -> IssuerState.Decision {
        let now = clock()
        return issuers.withLock { issuers in
            let decision = issuers.states[address, default: IssuerState()].decide(header, at: now)
            switch decision {
            case .ask where asks, .answerAndRenew:
                if issuers.states[address] == nil { Self.makeRoom(in: &issuers.states) }
                issuers.states[address, default: IssuerState()].begin(at: now)
            default: break
            }
            return decision
        }
    }

    /// Returns `key` and starts a thread that fetches newer keys.
    private func renewing(_ address: IssuerAddress, _ key: PublicKey) -> PublicKey {
        if !Thread.start(name: "issuer keys", { self.ask(address, for: nil, isCancelled: { false }) }) {
            // The current key suffices; the next token that needs it starts another attempt.
            conclude(.failure(IssuerFailure(.cancelled, "The system refuses another thread.")), address, for: nil)
        }
        return key
    }

    private func ask(_ address: IssuerAddress, for header: JWSHeader?, isCancelled: @escaping @Sendable () -> Bool) {
        let result = Result { () throws(IssuerFailure) in
            try IssuerDocuments(client: client, address: address, isCancelled: isCancelled).fetch()
        }
        conclude(result, address, for: header)
    }

    /// Records the result of a request to an issuer and resumes the callers that wait for it.
    private func conclude(_ result: Result<PublishedKeys, IssuerFailure>, _ address: IssuerAddress, for header: JWSHeader?) {
        let now = clock()
        let waiting = issuers.withLock { issuers in
            issuers.states[address]?.end(result, for: header, at: now)
            return issuers.waiting.removeValue(forKey: address) ?? []
        }
        issuers.broadcast()
        for body in waiting { body() }
        switch result {
        case .success: report(address, nil)
        case .failure(let failure): if failure.check != .cancelled { report(address, failure) }
        }
    }

    /// Waits until no request to the issuer is pending, or the caller cancels.
    private func waitForAnswer(_ address: IssuerAddress, isCancelled: @Sendable () -> Bool) {
        while !isCancelled() {
            let settled: Void? = issuers.wait(deadline: Monotonic.nanoseconds() + 250_000_000) { issuers in
                issuers.states[address]?.isAsking == true ? nil : ()
            }
            if settled != nil { return }
        }
    }

    /// Removes the issuer whose last request is the oldest, if the cache is full.
    private static func makeRoom(in issuers: inout [IssuerAddress: IssuerState]) {
        guard issuers.count >= capacity else { return }
        let oldest = issuers.filter { !$0.value.isAsking }.min { $0.value.askedAt < $1.value.askedAt }
        if let oldest { issuers[oldest.key] = nil }
    }
}
