import JSON
import Synchronization

/// What is read and not answered: chunks in the hands of compute workers, and calls that have left them. Here a
/// cancellation finds its request, and the end of the process what it cuts off.
final class OpenWork: Sendable {
    private struct State {
        var chunks: [ObjectIdentifier: Chunk] = [:]
        var calls: [ObjectIdentifier: Call] = [:]
    }

    private let state = Mutex(State())

    func add(_ chunk: Chunk) { state.withLock { $0.chunks[ObjectIdentifier(chunk)] = chunk } }
    func add(_ call: Call) { state.withLock { $0.calls[ObjectIdentifier(call)] = call } }
    func remove(_ chunk: Chunk) { state.withLock { _ = $0.chunks.removeValue(forKey: ObjectIdentifier(chunk)) } }
    func remove(_ call: Call) { state.withLock { _ = $0.calls.removeValue(forKey: ObjectIdentifier(call)) } }

    /// Adds a call that is to wait for people, unless `limit` others do.
    func addWaiting(_ call: Call, limit: Int) -> Bool {
        state.withLock { state in
            guard state.calls.values.count(where: { $0.currentState == .suspended }) < limit else { return false }
            state.calls[ObjectIdentifier(call)] = call
            return true
        }
    }

    /// Cancels every request with this id. A call that leaves a chunk at this moment is found in one place or the other:
    /// it is added here before its chunk is asked again, and the chunks are told before the calls are looked through.
    func cancel(_ id: JSONNode) {
        for chunk in state.withLock({ Array($0.chunks.values) }) { chunk.cancel(id) }
        for call in state.withLock({ $0.calls.values.filter { $0.hasId(id) } }) { call.cancel() }
    }

    /// Everything at this moment.
    var all: (chunks: [Chunk], calls: [Call]) { state.withLock { (Array($0.chunks.values), Array($0.calls.values)) } }
}
