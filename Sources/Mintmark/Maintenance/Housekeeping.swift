import Contract
import Platform
import ServiceContext
import Storage

/// What is done now and then while a store is written to: rows that have expired are swept, and the heads of the audit log are
/// handed out to be kept elsewhere.
///
/// It goes by the store's clock and looks at it when a change is recorded; an idle process does nothing and has no thread for
/// it. Of several processes on a store one sweeps at a time.
public final class Housekeeping: Sendable {
    /// What is done with what comes of it. Called on the thread that keeps house.
    public struct Reports: Sendable {
        let heads: @Sendable (_ heads: [Contract.AuditHead], _ isLast: Bool) -> Void
        let failure: @Sendable (_ task: String, any Error) -> Void

        /// - Parameters:
        ///   - heads: takes heads of the audit log, as `audit.verify` takes them, and whether they are those of the end of the process.
        ///   - failure: is told what went wrong. It is tried again next time.
        public init(
            heads: @escaping @Sendable (_ heads: [Contract.AuditHead], _ isLast: Bool) -> Void,
            failure: @escaping @Sendable (_ task: String, any Error) -> Void
        ) {
            self.heads = heads
            self.failure = failure
        }
    }

    private static let sweepSeconds: Int64 = 600

    private struct State {
        var sweep = Rhythm(seconds: Housekeeping.sweepSeconds)
        var heads = Rhythm(seconds: 3600)
        var isSweepDue = false
        var areHeadsDue = false
        var isRunning = false
        var isClosing = false
        var hasRecorded = false
        var lastHeads: [Contract.AuditHead] = []
        var lastSweep: (at: Int64, rows: Int)?
        var sweptRows = 0
    }

    private let surroundings: ServiceContext
    private let sweeps: [Sweep]
    private let reports: Reports
    private let afterSweep: @Sendable (_ settles: Bool) -> Void
    private let state = Gate(State())

    /// - Parameters:
    ///   - sweeps: what is removed when it expires.
    ///   - afterSweep: other work that is due; whether it has to be done on return.
    public init(
        _ surroundings: ServiceContext, sweeps: [Sweep], reports: Reports,
        afterSweep: @escaping @Sendable (_ settles: Bool) -> Void = { _ in }
    ) {
        self.surroundings = surroundings
        self.sweeps = sweeps
        self.reports = reports
        self.afterSweep = afterSweep
        surroundings.audit.watch.tell { [weak self] now in self?.noteRecord(at: now) }
    }

    /// When this process swept last, on the store's clock; nil if it has not.
    public var lastSweptAt: Int64? { state.withLock { $0.lastSweep?.at } }

    /// How many rows this process has removed.
    public var sweptRows: Int { state.withLock { $0.sweptRows } }

    private func noteRecord(at now: Int64) {
        let mustStart = state.withLock { state in
            state.hasRecorded = true
            if state.sweep.isDue(at: now) { state.isSweepDue = true }
            if state.heads.isDue(at: now) { state.areHeadsDue = true }
            guard state.isSweepDue || state.areHeadsDue, !state.isRunning, !state.isClosing else { return false }
            state.isRunning = true
            return true
        }
        guard mustStart, !Thread.start(name: "housekeeping", { self.run() }) else { return }
        // What is due stays so: the next record asks for a thread again.
        state.withLock { $0.isRunning = false }
        state.broadcast()
    }

    private func run() {
        while true {
            let (sweep, heads) = state.withLock { state in
                defer { (state.isSweepDue, state.areHeadsDue) = (false, false) }
                state.isRunning = !state.isClosing && (state.isSweepDue || state.areHeadsDue)
                return (state.isSweepDue && state.isRunning, state.areHeadsDue && state.isRunning)
            }
            guard sweep || heads else { return state.broadcast() }
            if sweep { self.sweep(untilDone: true) }
            if heads { handOutHeads(isLast: false) }
        }
    }

    /// Ends the work. What was recorded since the heads were last handed out is handed out now, and what nobody has swept for
    /// long is swept, as far as one transaction for each kind gets: some processes live for one request only.
    ///
    /// - Parameter handsOutHeads: whether anybody keeps them.
    public func finish(handsOutHeads: Bool) {
        state.withLock { $0.isClosing = true }
        state.broadcast()
        state.wait { $0.isRunning ? nil : () }
        guard state.withLock({ $0.hasRecorded }) else { return }
        sweep(untilDone: false)
        if handsOutHeads { handOutHeads(isLast: true) }
    }

    // MARK: Heads

    private func handOutHeads(isLast: Bool) {
        attempt("the heads of the audit log") {
            let heads = try surroundings.driver.read { try $0.openAuditHeads(try $0.auditAnchors()) }.map {
                Contract.AuditHead(chain: $0.chain, records: $0.number, head: Base64URL.encode($0.mac))
            }
            let isNews = state.withLock { state in
                defer { state.lastHeads = heads }
                return !state.lastHeads.elementsEqual(heads) { $0.chain == $1.chain && $0.head == $1.head }
            }
            if isNews { reports.heads(heads, isLast) }
        }
    }

    // MARK: Sweeping

    /// How many rows one transaction removes.
    private static let rowsAtOnce = 200

    /// Sweeps all that is to be swept, whoever swept when, and rests for nobody.
    ///
    /// - Throws: what the store throws.
    public func settle() throws {
        let now = surroundings.clock.now
        var rows = 0
        for sweep in sweeps where try surroundings.driver.read({ try sweep.hasWork($0, now) }) {
            var removed = 0
            repeat {
                removed = try removeSome(sweep, at: now)
                rows += removed
            } while removed >= Self.rowsAtOnce
        }
        noteSweep(rows, at: now)
        afterSweep(true)
    }

    private func noteSweep(_ rows: Int, at now: Int64) {
        state.withLock { state in
            state.lastSweep = (now, rows)
            state.sweptRows += rows
        }
    }

    /// One transaction's worth.
    private func removeSome(_ sweep: Sweep, at now: Int64) throws -> Int {
        try surroundings.driver.write { tx in
            // Holds this row until the end of the transaction, so that nobody else sweeps meanwhile.
            try tx.setSweptAt(now)
            return try sweep.remove(tx, now, Self.rowsAtOnce)
        }
    }

    private func sweep(untilDone: Bool) {
        let now = surroundings.clock.now
        attempt("whose turn it is to sweep") {
            guard try surroundings.driver.write({ try $0.takeSweepTurn(at: now, every: Self.sweepSeconds) }) else { return }
            var rows = 0
            for sweep in sweeps { attempt(sweep.name) { rows += try run(sweep, at: now, untilDone: untilDone) } }
            noteSweep(rows, at: now)
        }
        afterSweep(false)
    }

    /// Removes what is to be removed, a little at a time, with pauses in which requests have the store for themselves.
    private func run(_ sweep: Sweep, at now: Int64, untilDone: Bool) throws -> Int {
        guard try surroundings.driver.read({ try sweep.hasWork($0, now) }) else { return 0 }
        var rows = 0
        while true {
            let began = Monotonic.nanoseconds()
            let removed = try removeSome(sweep, at: now)
            rows += removed
            guard removed >= Self.rowsAtOnce, untilDone else { return rows }
            let end = Monotonic.nanoseconds()
            let isClosing = state.wait(deadline: end + (end - began) * 9) { $0.isClosing ? true : nil } ?? false
            if isClosing { return rows }
        }
    }

    private func attempt(_ task: String, _ body: () throws -> Void) {
        do { try body() } catch { reports.failure(task, error) }
    }
}

/// What is due every so many seconds of a clock that may be turned.
struct Rhythm: Sendable {
    let seconds: Int64
    private var last: Int64?

    init(seconds: Int64) { self.seconds = seconds }

    /// Whether it is due; then it is due again `seconds` later. The first look begins the count.
    mutating func isDue(at now: Int64) -> Bool {
        guard let last else {
            last = now
            return false
        }
        guard now >= last + seconds || now < last else { return false }
        self.last = now
        return true
    }
}

extension Transaction {
    /// Whether nobody has swept for `seconds`; then the caller does now.
    fileprivate func takeSweepTurn(at now: Int64, every seconds: Int64) throws -> Bool {
        if let last = try storeFact("swept.at").flatMap({ Int64($0) }), last...(last + seconds - 1) ~= now { return false }
        try setSweptAt(now)
        return true
    }

    fileprivate func setSweptAt(_ now: Int64) throws { try setStoreFact("swept.at", String(now)) }
}
