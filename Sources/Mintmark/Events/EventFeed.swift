import Contract
import JSON
import JSONRPC
import Platform
import ServiceContext
import Storage

/// Sends the events of the store to the host of the process, on a thread of its own.
final class EventFeed: Sendable {
    struct Subscription: Sendable {
        /// The types of the events; `nil` for all.
        let types: Set<EventType>?
        /// The position of the last event that was sent or skipped.
        var position: Int64
        /// The ID of the store to which the position belongs.
        var storeId: String?
    }

    private struct State {
        var subscription: Subscription?
        /// Counts the subscriptions.
        var generation = 0
        var isRunning = false
    }

    private static let eventsAtOnce = 100
    private static let retryNanoseconds: UInt64 = 250_000_000

    private let database: any Database
    private let host: HostRequests
    private let writes: StoreWrites
    private let state = ConditionLock(State())

    init(_ database: any Database, host: HostRequests, writes: StoreWrites) {
        self.database = database
        self.host = host
        self.writes = writes
    }

    /// Begins a subscription, and ends the previous one.
    ///
    /// - Returns: `false` if no thread can be started.
    func begin(_ subscription: Subscription) -> Bool {
        let mustStart = state.withLock { state in
            state.subscription = subscription
            state.generation += 1
            defer { state.isRunning = true }
            return !state.isRunning
        }
        writes.ring()
        guard mustStart, !Thread.start(name: "events", { self.run() }) else { return true }
        state.withLock { ($0.isRunning, $0.subscription) = (false, nil) }
        return false
    }

    /// Ends the subscription. No event is sent afterwards.
    ///
    /// - Returns: Whether there was one.
    func end() -> Bool {
        defer {
            writes.ring()
            state.broadcast()
        }
        return state.withLock { state in
            defer { state.subscription = nil }
            return state.subscription != nil
        }
    }

    /// Ends the subscription and waits at most five seconds for the thread.
    func close() {
        _ = end()
        _ = state.wait(deadline: Monotonic.nanoseconds() + 5_000_000_000) { $0.isRunning ? nil : () }
    }

    // MARK: On the thread

    private func run() {
        var lastWrite: UInt64 = 0
        while let (generation, subscription) = current() {
            do {
                if try !sendSome(subscription, generation) { writes.wait(&lastWrite) }
            } catch {
                // The store cannot be used at present. The next attempt begins with the first event that was not sent.
                let until = Monotonic.nanoseconds() + Self.retryNanoseconds
                state.wait(deadline: until) { $0.generation != generation || $0.subscription == nil ? () : nil }
            }
        }
        state.broadcast()
    }

    /// Returns the subscription. If there is none, the thread ends.
    private func current() -> (Int, Subscription)? {
        state.withLock { state in
            if let subscription = state.subscription { return (state.generation, subscription) }
            state.isRunning = false
            return nil
        }
    }

    /// Sends the next events.
    ///
    /// - Returns: `false` if there are none, or if the host reads too slowly.
    private func sendSome(_ subscription: Subscription, _ generation: Int) throws -> Bool {
        try database.numberNewEvents()
        let (events, range) = try database.read { tx in
            (try tx.events(after: subscription.position, limit: Self.eventsAtOnce), try tx.eventRange())
        }
        // A testing store can be emptied or restored while the host is subscribed. Its positions then begin again, and can already be higher
        // than that of the subscription.
        if range.storeId != subscription.storeId {
            begin(again: range, generation)
            return true
        }
        for event in events where try !send(event, generation) { return false }
        return !events.isEmpty
    }

    private func begin(again range: EventRange, _ generation: Int) {
        state.withLock { state in
            guard state.generation == generation else { return }
            state.subscription?.position = range.start
            state.subscription?.storeId = range.storeId
        }
    }

    /// Sends one event, unless the subscription has ended.
    private func send(_ event: SecurityEventRecord, _ generation: Int) throws -> Bool {
        state.withLock { state in
            guard state.generation == generation, let subscription = state.subscription else { return false }
            if let answer = event.answer, subscription.types?.contains(answer.type) ?? true {
                switch host.notify(EventsOccurred.name, params: { answer.write(to: &$0) }) {
                case .sent: break
                case .noRoom: return false
                case .ended:
                    state.subscription = nil
                    return false
                }
            }
            state.subscription?.position = event.position
            return true
        }
    }
}

extension Database {
    /// Assigns positions to new events. Writes only if there are any.
    func numberNewEvents() throws {
        guard try read({ try $0.hasNewEvents() }) else { return }
        while try write({ try $0.numberEvents(limit: 500) }) == 500 {}
    }
}
