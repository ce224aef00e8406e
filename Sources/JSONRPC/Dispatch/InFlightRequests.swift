import JSON
import Platform

/// The requests that have been read but have no response: chunks that compute workers process, and calls that have left their chunk.
/// Cancellation and shutdown look up requests here.
final class InFlightRequests: Sendable {
    private struct State {
        var chunks: [ObjectIdentifier: LineBatch] = [:]
        var calls: [ObjectIdentifier: Call] = [:]
    }

    private let state = UnfairLock(State())

    func add(_ chunk: LineBatch) { state.withLock { $0.chunks[ObjectIdentifier(chunk)] = chunk } }
    func add(_ call: Call) { state.withLock { $0.calls[ObjectIdentifier(call)] = call } }
    func remove(_ chunk: LineBatch) { state.withLock { _ = $0.chunks.removeValue(forKey: ObjectIdentifier(chunk)) } }
    func remove(_ call: Call) { state.withLock { _ = $0.calls.removeValue(forKey: ObjectIdentifier(call)) } }

    /// Adds a call that will wait for users, unless `limit` calls are already waiting.
    func addWaiting(_ call: Call, limit: Int) -> Bool {
        state.withLock { state in
            guard state.calls.values.count(where: { $0.currentState == .suspended }) < limit else { return false }
            state.calls[ObjectIdentifier(call)] = call
            return true
        }
    }

    /// Cancels every request with this ID. A call that leaves its chunk at the same time is found in one of the two places: it is added
    /// here before its chunk is checked again, and the chunks are notified before the calls are searched.
    func cancel(_ id: JSONNode) {
        for chunk in state.withLock({ Array($0.chunks.values) }) { chunk.cancel(id) }
        for call in state.withLock({ $0.calls.values.filter { $0.hasId(id) } }) { call.cancel() }
    }

    /// All open chunks and calls at this moment.
    var all: (chunks: [LineBatch], calls: [Call]) { state.withLock { (Array($0.chunks.values), Array($0.calls.values)) } }
}
