import Glibc

/// Runs something after a while, on one thread of its own that is there only as long as something is to come.
public final class Alarms: Sendable {
    private struct Alarm {
        let deadline: UInt64
        let body: @Sendable () -> Void
    }

    private struct State {
        var alarms: [Alarm] = []
        var hasThread = false
    }

    private let state = Gate(State())

    public init() {}

    /// Runs `body`, which should return soon, after so many nanoseconds. Where the system refuses a thread it runs later: a thread is asked
    /// for again with the next alarm.
    ///
    /// - Returns: Whether there is a thread that waits for it.
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

    /// Runs `body` after so many nanoseconds. Where the system refuses a thread, this one waits, and runs it.
    public func afterOrHere(nanoseconds: UInt64, _ body: @escaping @Sendable () -> Void) {
        let isDone = Gate(false)
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

    /// Waits for what comes next; nil if nothing is to come.
    private func next() -> [Alarm]? {
        while true {
            let deadline = state.withLock { state in
                let deadline = state.alarms.map(\.deadline).min()
                if deadline == nil { state.hasThread = false }
                return deadline
            }
            guard let deadline else { return nil }
            // An earlier one may be added meanwhile.
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
