import Platform
import Storage
import Synchronization

/// Sends notices to users about changes of their sign-in methods.
///
/// A change queues its notice in its own transaction, so a notice exists if and only if the change was committed. After the commit a thread
/// sends it. Failed notices stay in the store and are retried for 24 hours. In a testing store, the notice is in the outbox before the
/// response to the change is sent.
public final class Notices: Sendable {
    private struct State {
        var isRunning = false
        var isDue = false
        var isClosing = false
        var hasAlarm = false
    }

    private let state = ConditionLock(State())
    private let onCommit = Mutex<ClosureBox<@Sendable () -> Void>>(ClosureBox {})

    init() {}

    /// - Parameter body: Called after the commit of each transaction that queued a notice.
    func whenCommitted(_ body: @escaping @Sendable () -> Void) { onCommit.withLock { $0.closure = body } }

    func noteCommit() { onCommit.withLock { $0 }.closure() }

    /// Runs `body` on its own thread, and again if this function is called while it runs. If no thread can be created, the notices wait for
    /// the next call.
    func start(_ body: @escaping @Sendable () -> Void) {
        let mustStart = state.withLock { state in
            state.isDue = true
            guard !state.isRunning, !state.isClosing else { return false }
            state.isRunning = true
            return true
        }
        guard mustStart else { return }
        let refusal = Thread.tryStart(name: "notices") { [self] in
            while state.withLock({ state in
                defer { state.isDue = false }
                state.isRunning = state.isDue
                return state.isDue
            }) { body() }
            state.broadcast()
        }
        if refusal != 0 { state.withLock { $0.isRunning = false } }
    }

    /// Returns whether to set a timer. Returns `false` if one is pending or the process is exiting.
    func takeAlarm() -> Bool {
        state.withLock { state in
            guard !state.hasAlarm, !state.isClosing else { return false }
            state.hasAlarm = true
            return true
        }
    }

    func dropAlarm() { state.withLock { $0.hasAlarm = false } }

    /// Waits at most 10 seconds for notices that are being sent. The others stay in the store.
    public func finish() {
        state.withLock { $0.isClosing = true }
        _ = state.wait(deadline: Monotonic.nanoseconds() + 10_000_000_000) { $0.isRunning ? nil : () }
    }
}

/// Calls `Notices.noteCommit` after each transaction that queued a notice.
struct NoticingDatabase: Database {
    let inner: any Database
    let notices: Notices

    var driver: any Database { inner.driver }

    func read<R>(_ access: StoreAccess, _ body: (Transaction) throws -> R) throws -> R { try inner.read(access, body) }

    func write<R>(_ access: StoreAccess, isolation: Isolation, _ body: (Transaction) throws -> R) throws -> R {
        var hasNotices = false
        let result = try inner.write(access, isolation: isolation) { tx in
            tx.needsFollowUp = false
            let result = try body(tx)
            hasNotices = tx.needsFollowUp
            return result
        }
        if hasNotices { notices.noteCommit() }
        return result
    }

    func tryToWrite() throws { try inner.tryToWrite() }
    func facts() throws -> StoreFacts { try inner.facts() }
    var beginning: StoreBeginning { inner.beginning }
    func close() { inner.close() }
}
