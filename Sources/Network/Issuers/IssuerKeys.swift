import Crypto
import JSON
import Platform

/// The public keys of issuers elsewhere, fetched when first needed and kept.
///
/// An issuer is asked by one caller at a time, and others wait for the same answer. Keys are kept as long as the issuer says, between
/// five minutes and a day; while it cannot be asked, for a day more. A key that is not among them makes the issuer be asked once; then
/// not for half a minute, and not for more than a few such keys in that time. An issuer that gave no usable answer is left in peace for some seconds.
public final class IssuerKeys: Sendable {
    /// What is known without asking anybody.
    public enum Lookup: Sendable {
        /// The key, nil if the issuer has none such.
        case known(PublicKey?)
        /// Only the issuer can tell.
        case mustAsk
        /// Only the issuer can tell, and somebody is asking already; see `whenAnswered`.
        case isAsked
    }

    /// Told after each time that an issuer was asked; nil is success.
    public typealias Report = @Sendable (_ address: IssuerAddress, _ failure: IssuerFailure?) -> Void

    private let client: any HTTPClient
    private let clock: @Sendable () -> UInt64
    private let report: Report
    private let issuers = Gate(Issuers())

    private struct Issuers {
        var states: [IssuerAddress: IssuerState] = [:]
        /// What is to run when an issuer that is being asked has answered.
        var waiting: [IssuerAddress: [@Sendable () -> Void]] = [:]
    }

    /// How many issuers' keys are kept.
    static let capacity = 1024

    /// - Parameter clock: nanoseconds of a clock that only moves forward.
    public init(
        _ client: any HTTPClient, clock: @escaping @Sendable () -> UInt64 = { Monotonic.nanoseconds() },
        report: @escaping Report = { _, _ in }
    ) {
        self.client = client
        self.clock = clock
        self.report = report
    }

    /// Every issuer may be asked at once, also one that has just failed. For tests, which make them fail.
    public func forgetFailures() {
        issuers.withLock { issuers in for address in issuers.states.keys { issuers.states[address]?.forgetFailure() } }
    }

    /// The key that a token's header asks for, if that is known. Returns at once.
    ///
    /// - Throws: why the issuer could not be asked a moment ago.
    public func lookUp(_ header: JWSHeader, of address: IssuerAddress) throws(IssuerFailure) -> Lookup {
        switch decide(header, address, asks: false) {
        case .answer(let key): return .known(key)
        case .answerAndRenew(let key): return .known(renewing(address, key))
        case .fail(let failure): throw failure
        case .ask: return .mustAsk
        case .join: return .isAsked
        }
    }

    /// The key that a token's header asks for, nil if the issuer has none such. Waits for the issuer if it must.
    ///
    /// - Throws: why there is no telling; `cancelled` when `isCancelled` said so.
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

    /// Looks at everything that an issuer publishes, anew and for this caller alone. Waits for it.
    public func inspect(_ address: IssuerAddress, isCancelled: @escaping @Sendable () -> Bool = { false }) -> IssuerInspection {
        IssuerDocuments(client: client, address: address, isCancelled: isCancelled).inspect()
    }

    /// Runs `body` once nobody asks the issuer any more: at once, or on the thread that got the answer. It should return soon.
    public func whenAnswered(_ address: IssuerAddress, _ body: @escaping @Sendable () -> Void) {
        let waits = issuers.withLock { issuers in
            guard issuers.states[address]?.isAsking == true else { return false }
            issuers.waiting[address, default: []].append(body)
            return true
        }
        if !waits { body() }
    }

    /// - Parameter asks: whether the caller will ask if nobody else does.
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

    /// Answers `key`, and asks for newer ones on a thread of its own.
    private func renewing(_ address: IssuerAddress, _ key: PublicKey) -> PublicKey {
        if !Thread.start(name: "issuer keys", { self.ask(address, for: nil, isCancelled: { false }) }) {
            // The key at hand does; the next token that needs it asks for newer ones again.
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

    /// Notes what came of asking an issuer, and lets those go on who wait for it.
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

    /// Waits until nobody asks the issuer any more, or the caller gave up.
    private func waitForAnswer(_ address: IssuerAddress, isCancelled: @Sendable () -> Bool) {
        while !isCancelled() {
            let settled: Void? = issuers.wait(deadline: Monotonic.nanoseconds() + 250_000_000) { issuers in
                issuers.states[address]?.isAsking == true ? nil : ()
            }
            if settled != nil { return }
        }
    }

    /// Forgets the issuer that was not asked for the longest time, if there are too many.
    private static func makeRoom(in issuers: inout [IssuerAddress: IssuerState]) {
        guard issuers.count >= capacity else { return }
        let oldest = issuers.filter { !$0.value.isAsking }.min { $0.value.askedAt < $1.value.askedAt }
        if let oldest { issuers[oldest.key] = nil }
    }
}
