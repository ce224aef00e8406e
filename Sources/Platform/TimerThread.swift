import Glibc

/// Runs closures after a delay, on a thread that exists only while a timer is pending.
public final class TimerThread: Sendable {
    private struct Alarm {
        let deadline: UInt64
        let body: @Sendable () -> Void
    }

    private struct State {
        var alarms: [Alarm] = []
        var hasThread = false
    }

    private let state = ConditionLock(State())

    public init() {}

    /// Runs `body`, which should return quickly, after the delay. If the system cannot create a thread, `body` runs later: the next timer
    /// tries again to create a thread.
    ///
    /// - Returns: Whether a thread is waiting for the timer.
    @discardableResult
    public func after(nanoseconds: UInt64, _ body: @escaping @Sendable () -> Void) -> Bool {
        let alarm = Alarm(deadline: Monotonic.nanoseconds() + nanoseconds, body: body)
        let needsThread = state.withLock { state in
            state.alarms.append(alarm)
            defer { state.hasThread = true }
            return !state.hasThread
        }
        guard needsThread else {
            state.signal()
            return true
        }
        let isStarted = Thread.start(name: "alarms") { [self] in run() }
        if !isStarted { state.withLock { $0.hasThread = false } }
        return isStarted
    }

    /// Runs `body` after the delay. If the system cannot create a thread, the current thread waits and runs `body`.
    public func afterOrHere(nanoseconds: UInt64, _ body: @escaping @Sendable () -> Void) {
        let isDone = ConditionLock(false)
        let once: @Sendable () -> Void = {
            let isFirst = isDone.withLock { isDone in
                defer { isDone = true }
                return !isDone
            }
            if isFirst { body() }
        }
        guard !after(nanoseconds: nanoseconds, once) else { return }
        usleep(UInt32(clamping: nanoseconds / 1_000))
        once()
    }

    private func run() {
        while let due = next() { for alarm in due { alarm.body() } }
    }

    /// Waits for the next timers that are due. Returns `nil` if no timer is pending.
    private func next() -> [Alarm]? {
        while true {
            let deadline = state.withLock { state in
                let deadline = state.alarms.map(\.deadline).min()
                if deadline == nil { state.hasThread = false }
                return deadline
            }
            guard let deadline else { return nil }
            // An earlier timer may be added during the wait.
            let due: [Alarm]? = state.wait(deadline: deadline) { state in
                let now = Monotonic.nanoseconds()
                guard state.alarms.contains(where: { $0.deadline <= now || $0.deadline < deadline }) else { return nil }
                defer { state.alarms.removeAll { $0.deadline <= now } }
                return state.alarms.filter { $0.deadline <= now }
            }
            if let due, !due.isEmpty { return due }
        }
    }
}
