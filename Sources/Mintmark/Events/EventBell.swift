import Contract
import Platform
import ServiceContext
import Storage

/// Tells calls and the sender of new events. One thread watches the store for all of them, while any of them waits.
final class EventBell: Sendable {
    private struct Waiter {
        let position: Int64
        let deadline: UInt64
        let ring: @Sendable () -> Void
    }

    private struct State {
        /// The position of the last event that the thread has seen.
        var last: Int64 = -1
        /// The waits, and the places of those that have not begun.
        var waiters: [Int: Waiter] = [:]
        var reserved: Set<Int> = []
        var nextTicket = 0
        var isRunning = false
        var isClosed = false
    }

    private static let retryNanoseconds: UInt64 = 250_000_000

    private let database: any Database
    private let writes: StoreWrites
    private let state = ConditionLock(State())

    init(_ database: any Database, writes: StoreWrites) {
        self.database = database
        self.writes = writes
    }

    /// Returns the name of a new wait, or `nil` if there are already this many.
    func ticket(limit: Int = .max) -> Int? {
        state.withLock { state in
            guard state.waiters.count + state.reserved.count < limit else { return nil }
            state.nextTicket += 1
            state.reserved.insert(state.nextTicket)
            return state.nextTicket
        }
    }

    /// Calls `ring` once: after an event with a higher position, or about the deadline, which is checked once per second.
    func add(_ ticket: Int, after position: Int64, until deadline: UInt64, _ ring: @escaping @Sendable () -> Void) {
        let (isOver, mustStart) = state.withLock { state in
            // A wait that was removed before it began does not begin.
            guard state.reserved.remove(ticket) != nil else { return (true, false) }
            // The thread may have seen the event before this wait begins. Positions begin again if a testing store is emptied.
            guard !state.isClosed, !state.isRunning || state.last == position else { return (true, false) }
            state.waiters[ticket] = Waiter(position: position, deadline: deadline, ring: ring)
            defer { state.isRunning = true }
            return (false, !state.isRunning)
        }
        if isOver { return ring() }
        guard mustStart, !Thread.start(name: "event bell", { self.run() }) else { return }
        let waiters = state.withLock { state in
            state.isRunning = false
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.ring() }
    }

    /// Ends a wait without a call.
    func remove(_ ticket: Int) {
        state.withLock { state in
            state.waiters[ticket] = nil
            state.reserved.remove(ticket)
        }
    }

    /// Ends all waits, and waits at most five seconds for the thread.
    func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.ring() }
        state.broadcast()
        writes.ring()
        _ = state.wait(deadline: Monotonic.nanoseconds() + 5_000_000_000) { $0.isRunning ? nil : () }
    }

    // MARK: On the thread

    private func run() {
        var lastWrite: UInt64 = 0
        while goesOn() {
            do {
                try database.numberNewEvents()
                let last = try database.read { try $0.eventRange().last }
                for waiter in over(at: last) { waiter.ring() }
                if state.withLock({ !$0.waiters.isEmpty }) { writes.wait(&lastWrite) }
            } catch {
                // The store cannot be used at present.
                _ = state.wait(deadline: Monotonic.nanoseconds() + Self.retryNanoseconds) { $0.isClosed ? () : nil }
            }
        }
        state.broadcast()
    }

    /// Removes and returns the waits that end.
    private func over(at last: Int64) -> [Waiter] {
        let now = Monotonic.nanoseconds()
        return state.withLock { state in
            state.last = last
            let over = state.waiters.filter { $0.value.position != last || $0.value.deadline <= now }
            for ticket in over.keys { state.waiters[ticket] = nil }
            return Array(over.values)
        }
    }

    /// Returns whether anyone waits. Otherwise, the thread ends.
    private func goesOn() -> Bool {
        state.withLock { state in
            state.isRunning = !state.waiters.isEmpty && !state.isClosed
            return state.isRunning
        }
    }
}
