import JSON
import Platform

/// The requests that have been read but have no response: chunks that compute workers process, and calls that have left their chunk.
/// Cancellation and shutdown look up requests here.
final class InFlightRequests: Sendable {
    private struct State {
        var chunks = AddressTable<LineBatch>(size: 8)
        var calls = AddressTable<Call>(size: 8)
    }

    private let state = UnfairLock(State())

    func add(_ chunk: LineBatch) { state.withLock { $0.chunks.add(chunk) } }
    func add(_ call: Call) { state.withLock { $0.calls.add(call) } }
    func remove(_ chunk: LineBatch) { state.withLock { $0.chunks.remove(chunk) } }
    func remove(_ call: Call) { state.withLock { $0.calls.remove(call) } }

    /// Adds a call that will wait for users, unless `limit` calls are already waiting.
    func addWaiting(_ call: Call, limit: Int) -> Bool {
        state.withLock { state in
            guard state.calls.values.count(where: { $0.currentState == .suspended }) < limit else { return false }
            state.calls.add(call)
            return true
        }
    }

    /// Cancels every request with this ID. A call that leaves its chunk at the same time is found in one of the two places: it is added
    /// here before its chunk is checked again, and the chunks are notified before the calls are searched.
    func cancel(_ id: JSONNode) {
        for chunk in state.withLock({ $0.chunks.values }) { chunk.cancel(id) }
        for call in state.withLock({ $0.calls.values.filter { $0.hasId(id) } }) { call.cancel() }
    }

    /// All open chunks and calls at this moment.
    var all: (chunks: [LineBatch], calls: [Call]) { state.withLock { ($0.chunks.values, $0.calls.values) } }
}
