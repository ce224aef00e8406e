import Synchronization

/// The outcomes of the writes of several threads.
final class Kept: Sendable {
    private let state = Mutex((names: [String](), refused: 0))

    func add(_ name: String) { state.withLock { $0.names.append(name) } }
    func refuse() { state.withLock { $0.refused += 1 } }

    var names: [String] { state.withLock { $0.names } }
    var refused: Int { state.withLock { $0.refused } }
}
