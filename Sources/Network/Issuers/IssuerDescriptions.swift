import JSON
import Platform

/// The discovery documents of issuers, fetched on first use and cached like key sets (`IssuerKeys`). The issuer determines the cache
/// lifetime, between five minutes and one day. If the issuer is unavailable, the document remains usable for another day. Concurrent
/// callers share one request.
public final class IssuerDescriptions: Sendable {
    /// The cached state of an issuer's document.
    public enum Lookup: Sendable {
        case known(JSONNode)
        case mustAsk
        /// Another caller is already sending the request; see `whenAnswered`.
        case isAsked
    }

    private let client: any HTTPClient
    private let clock: @Sendable () -> UInt64
    private let issuers = ConditionLock(Issuers())

    private struct Issuers {
        var states: [IssuerAddress: DescriptionState] = [:]
        /// The closures to run after the pending request to an issuer.
        var waiting: [IssuerAddress: [@Sendable () -> Void]] = [:]
    }

    /// - Parameter clock: A monotonic clock, in nanoseconds.
    public init(_ client: any HTTPClient, clock: @escaping @Sendable () -> UInt64 = { Monotonic.nanoseconds() }) {
        self.client = client
        self.clock = clock
    }

    /// Allows requests to every issuer immediately, even after a recent failure. Used by tests that inject failures.
    public func forgetFailures() {
        issuers.withLock { issuers in for address in issuers.states.keys { issuers.states[address]?.forgetFailure() } }
    }

    /// Drops the document of an issuer, so that the next caller fetches it again.
    public func forget(_ address: IssuerAddress) {
        issuers.withLock { issuers in
            if issuers.states[address]?.isAsking == false { issuers.states[address] = nil }
        }
    }

    /// Returns the document of an issuer, if it is cached. Does not block.
    ///
    /// - Throws: The reason that the last request failed, if it failed a moment ago.
    public func lookUp(_ address: IssuerAddress) throws(IssuerFailure) -> Lookup {
        switch decide(address, asks: false) {
        case .answer(let document): return .known(document)
        case .fail(let failure): throw failure
        case .ask: return .mustAsk
        case .join: return .isAsked
        }
    }

    /// Returns the document of an issuer. Sends a request if necessary.
    ///
    /// - Throws: The reason that the request failed or the document is of another issuer; `cancelled` if `isCancelled` returned true.
    public func description(
        of address: IssuerAddress, isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(IssuerFailure) -> JSONNode {
        while true {
            switch decide(address, asks: true) {
            case .answer(let document): return document
            case .fail(let failure): throw failure
            case .ask: ask(address, isCancelled: isCancelled)
            case .join: waitForAnswer(address, isCancelled: isCancelled)
            }
            if isCancelled() { throw IssuerFailure(.cancelled, "The request was cancelled.") }
        }
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

    private func decide(_ address: IssuerAddress, asks: Bool) -> DescriptionState.Decision {
        let now = clock()
        return issuers.withLock { issuers in
            let decision = issuers.states[address, default: DescriptionState()].decide(at: now)
            if case .ask = decision, asks {
                if issuers.states[address] == nil { Self.makeRoom(in: &issuers.states) }
                issuers.states[address, default: DescriptionState()].begin(at: now)
            }
            return decision
        }
    }

    private func ask(_ address: IssuerAddress, isCancelled: @escaping @Sendable () -> Bool) {
        let result = Result { () throws(IssuerFailure) in
            try IssuerDocuments(client: client, address: address, isCancelled: isCancelled).describe()
        }
        let now = clock()
        let waiting = issuers.withLock { issuers in
            issuers.states[address]?.end(result, at: now)
            return issuers.waiting.removeValue(forKey: address) ?? []
        }
        issuers.broadcast()
        for body in waiting { body() }
    }

    private func waitForAnswer(_ address: IssuerAddress, isCancelled: @Sendable () -> Bool) {
        while !isCancelled() {
            let settled: Void? = issuers.wait(deadline: Monotonic.nanoseconds() + 250_000_000) { issuers in
                issuers.states[address]?.isAsking == true ? nil : ()
            }
            if settled != nil { return }
        }
    }

    private static func makeRoom(in issuers: inout [IssuerAddress: DescriptionState]) {
        guard issuers.count >= IssuerKeys.capacity else { return }
        let oldest = issuers.filter { !$0.value.isAsking }.min { $0.value.askedAt < $1.value.askedAt }
        if let oldest { issuers[oldest.key] = nil }
    }
}

/// A discovery document as its issuer published it.
struct PublishedDescription: Sendable {
    let document: JSONNode
    /// The time for which the document can be used without another request, in seconds.
    let lifetimeSeconds: Int
}

/// The cached state of an issuer's document and the rules for its use. Times are in nanoseconds of a monotonic clock.
struct DescriptionState: Sendable {
    enum Decision: Sendable {
        case answer(JSONNode)
        /// The last request failed a moment ago.
        case fail(IssuerFailure)
        /// The caller sends the request.
        case ask
        /// The caller waits for the request of another caller.
        case join
    }

    private static let second: UInt64 = 1_000_000_000

    private var document: JSONNode?
    private var freshUntil: UInt64 = 0
    private var failure: IssuerFailure?
    private var retryAt: UInt64 = 0
    private(set) var isAsking = false
    private(set) var askedAt: UInt64 = 0

    func decide(at now: UInt64) -> Decision {
        let hasFailed = failure != nil && now < retryAt
        if let document, now < freshUntil + IssuerState.mostStale {
            return now < freshUntil || isAsking || hasFailed ? .answer(document) : .ask
        }
        if isAsking { return .join }
        if let failure, hasFailed { return .fail(failure) }
        return .ask
    }

    mutating func forgetFailure() { (failure, retryAt) = (nil, 0) }

    mutating func begin(at now: UInt64) {
        isAsking = true
        askedAt = now
    }

    mutating func end(_ result: Result<PublishedDescription, IssuerFailure>, at now: UInt64) {
        isAsking = false
        switch result {
        case .success(let published):
            document = published.document
            freshUntil = now + UInt64(published.lifetimeSeconds) * Self.second
            forgetFailure()
        case .failure(let failure) where failure.check == .cancelled: break
        case .failure(let failure):
            self.failure = failure
            retryAt = now + (document == nil ? IssuerState.pause : IssuerState.pauseWithKeys)
        }
    }
}
