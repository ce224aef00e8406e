/// What kind of waiting a call may cause, and so where it runs.
public enum Lane: UInt8, Sendable, CaseIterable {
    /// Computes, or reads what is at hand without waiting. May run on the reading thread itself.
    case compute
    /// May wait for the store.
    case store
    /// Computes for long: one at a time per core, at lowered priority.
    case hash
    /// Waits for other machines.
    case network
    /// Waits for people. `Method.run` starts the wait, calls `Call.answerLater` and returns: no thread is held.
    case wait
}

/// Thrown by a method that found out that it would have to wait where it must not: what it wrote is forgotten and it is
/// run again, from the beginning, on `lane`.
public struct MoveToLane: Error, Hashable {
    public let lane: Lane
    /// Whether it found something to write, which `Call.isToWrite` then says to the next run.
    public let isToWrite: Bool

    public init(_ lane: Lane, isToWrite: Bool = false) {
        self.lane = lane
        self.isToWrite = isToWrite
    }
}
