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
