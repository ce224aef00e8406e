import Contract
import Platform
import ServiceContext
import Storage

/// Maintenance work while a store is written to: removes expired rows and reports the heads of the audit log, which can be stored
/// elsewhere.
///
/// The schedule follows the store's clock and is checked when a change is recorded; an idle process has no maintenance thread. If several
/// processes use a store, one of them sweeps at a time.
public final class MaintenanceScheduler: Sendable {
    /// The receivers of the results. They are called on the maintenance thread.
    public struct Reports: Sendable {
        let heads: @Sendable (_ heads: [Contract.AuditHead], _ isLast: Bool) -> Void
        let failure: @Sendable (_ task: String, any Error) -> Void

        /// - Parameters:
        ///   - heads: Receives heads of the audit log in the format of `audit.verify`, and whether they are those at the end of the
        ///     process.
        ///   - failure: Receives the error of a failed task. The task is retried the next time.
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
        var sweep = Rhythm(seconds: MaintenanceScheduler.sweepSeconds)
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

    private let context: ServiceContext
    private let sweeps: [ExpiryJob]
    private let reports: Reports
    private let afterSweep: @Sendable (_ settles: Bool) -> Void
    private let state = ConditionLock(State())

    /// - Parameters:
    ///   - sweeps: The kinds of expired rows to remove.
    ///   - afterSweep: Further maintenance work. Its argument is whether the work must be complete when it returns.
    public init(
        _ context: ServiceContext, sweeps: [ExpiryJob], reports: Reports,
        afterSweep: @escaping @Sendable (_ settles: Bool) -> Void = { _ in }
    ) {
        self.context = context
        self.sweeps = sweeps
        self.reports = reports
        self.afterSweep = afterSweep
        context.audit.watch.tell { [weak self] now in self?.noteRecord(at: now) }
    }

    /// The time of the last sweep of this process, on the store's clock, or `nil` before the first one.
    public var lastSweptAt: Int64? { state.withLock { $0.lastSweep?.at } }

    /// The number of rows that this process has removed.
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
        // The work remains due, so the next record tries to start a thread again.
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

    /// Ends the maintenance work. Reports the heads if there are records since the last report. Also sweeps if it is due, with one
    /// transaction for each kind of row, because some processes live for one request only.
    ///
    /// - Parameter handsOutHeads: Whether to report the heads.
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
            let heads = try context.driver.read { try $0.openAuditHeads(try $0.auditAnchors()) }.map {
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

    /// The number of rows that one transaction removes.
    private static let rowsAtOnce = 200

    /// Removes all expired rows, regardless of the time of the last sweep and without pauses.
    ///
    /// - Throws: The errors of the store.
    public func settle() throws {
        let now = context.clock.now
        var rows = 0
        for sweep in sweeps where try context.driver.read({ try sweep.hasWork($0, now) }) {
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

    /// Removes the rows of one transaction.
    private func removeSome(_ sweep: ExpiryJob, at now: Int64) throws -> Int {
        try context.driver.write { tx in
            // Locks this row until the end of the transaction, so that no other process sweeps concurrently.
            try tx.setSweptAt(now)
            return try sweep.remove(tx, now, Self.rowsAtOnce)
        }
    }

    private func sweep(untilDone: Bool) {
        let now = context.clock.now
        attempt("whose turn it is to sweep") {
            guard try context.driver.write({ try $0.takeSweepTurn(at: now, every: Self.sweepSeconds) }) else { return }
            var rows = 0
            for sweep in sweeps { attempt(sweep.name) { rows += try run(sweep, at: now, untilDone: untilDone) } }
            noteSweep(rows, at: now)
        }
        afterSweep(false)
    }

    /// Removes expired rows in small transactions, with pauses in which requests can use the store.
    private func run(_ sweep: ExpiryJob, at now: Int64, untilDone: Bool) throws -> Int {
        guard try context.driver.read({ try sweep.hasWork($0, now) }) else { return 0 }
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

/// A fixed interval on a clock that can be set.
struct Rhythm: Sendable {
    let seconds: Int64
    private var last: Int64?

    init(seconds: Int64) { self.seconds = seconds }

    /// Returns whether the interval has passed, and then starts the next one. The first call starts the first interval.
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
    /// Returns whether no process has swept for `seconds`. If so, the caller's turn is recorded.
    fileprivate func takeSweepTurn(at now: Int64, every seconds: Int64) throws -> Bool {
        if let last = try storeFact("swept.at").flatMap({ Int64($0) }), last...(last + seconds - 1) ~= now { return false }
        try setSweptAt(now)
        return true
    }

    fileprivate func setSweptAt(_ now: Int64) throws { try setStoreFact("swept.at", String(now)) }
}
