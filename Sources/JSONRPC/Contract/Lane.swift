/// The kind of waiting that a call may cause. It selects the thread pool that runs the call.
public enum Lane: UInt8, Sendable, CaseIterable {
    /// Computes, or reads data that is available without waiting. May run on the reading thread.
    case compute
    /// May wait for the store.
    case store
    /// Computes for a long time. Runs at lowered priority, at most one call per core.
    case hash
    /// Waits for other machines.
    case network
    /// Waits for users. `Method.run` starts the wait, calls `Call.answerLater` and returns, so that no thread is blocked.
    case wait
}

/// Thrown by a method that would have to wait on a lane that does not allow it. The output of the run is discarded, and the method runs
/// again from the beginning on `lane`.
public struct MoveToLane: Error, Hashable {
    public let lane: Lane
    /// Whether the run found something to write. `Call.isToWrite` passes this to the next run.
    public let isToWrite: Bool

    public init(_ lane: Lane, isToWrite: Bool = false) {
        self.lane = lane
        self.isToWrite = isToWrite
    }
}
