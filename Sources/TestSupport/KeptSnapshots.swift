import Contract
import Synchronization

/// The snapshots in the memory of this process.
final class KeptSnapshots: Sendable {
    private let state = Mutex((byName: [String: Snapshot](), made: 0))
    /// The maximum number of snapshots. Each is as large as the store.
    private static let most = 100

    /// Stores a snapshot, and replaces one with the same name.
    ///
    /// - Parameter name: The name, or `nil` for a generated one.
    /// - Returns: The name.
    /// - Throws: `TooManySnapshots`.
    func keep(_ snapshot: Snapshot, as name: String?) throws -> String {
        try state.withLock { state in
            var given = name
            while given == nil {
                state.made += 1
                if state.byName["snapshot-\(state.made)"] == nil { given = "snapshot-\(state.made)" }
            }
            let name = given!
            guard state.byName[name] != nil || state.byName.count < Self.most else { throw TooManySnapshots(maximum: Int64(Self.most)) }
            state.byName[name] = snapshot
            return name
        }
    }

    /// Removes all snapshots and restarts the numbering of generated names.
    func forget() { state.withLock { $0 = ([:], 0) } }

    /// - Throws: `SnapshotNotFound`.
    func snapshot(_ name: String) throws -> Snapshot {
        try state.withLock { state in
            guard let snapshot = state.byName[name] else { throw SnapshotNotFound(name: name, kept: state.byName.keys.sorted()) }
            return snapshot
        }
    }
}
