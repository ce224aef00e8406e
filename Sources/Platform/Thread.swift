import CGuard
import Glibc
import Synchronization

/// Operating system threads. Work that may block runs on them, never on a shared cooperative pool.
public enum Thread {
    /// The scheduling priority of a thread.
    public enum Priority: Sendable {
        case normal
        /// Runs after all other threads (nice 10 for this thread), for long computations.
        case low
    }

    /// Starts a detached thread named `name` (truncated to 15 bytes). All signals are blocked in it, so that only the thread that waits for
    /// signals receives them.
    ///
    /// - Parameter heap: The number of bytes for which the allocator extends the memory of the thread at once.
    /// - Returns: Whether the thread was created. The system refuses if a user or a group of processes has too many threads
    ///   (`RLIMIT_NPROC`, `pids.max`). Then `body` does not run, and the listener of `onRefusal` has been called.
    public static func start(
        name: String, priority: Priority = .normal, heap: Int = 0, _ body: @escaping @Sendable () -> Void
    ) -> Bool {
        let reason = tryStart(name: name, priority: priority, heap: heap, body)
        if reason != 0 { listener.withLock { $0 }.closure?(name, reason) }
        return reason == 0
    }

    /// Sets the listener that `start` calls for every thread that the system refuses, with the name of the thread and the `errno`.
    ///
    /// - Parameter listener: Runs on the thread that called `start`, possibly with locks held. It must return quickly and must not call
    ///   `start`.
    public static func onRefusal(_ listener: @escaping @Sendable (_ name: String, _ reason: Int32) -> Void) {
        Self.listener.withLock { $0.closure = listener }
    }

    private static let listener = Mutex<ClosureBox<(@Sendable (_ name: String, _ reason: Int32) -> Void)?>>(ClosureBox(nil))

    /// Starts a thread as `start` does, without calling the listener of `onRefusal`.
    ///
    /// - Returns: 0, or the `errno` if the system refused, such as `EAGAIN` for too many threads.
    public static func tryStart(
        name: String, priority: Priority = .normal, heap: Int = 0, _ body: @escaping @Sendable () -> Void
    ) -> Int32 {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, 512 * 1024)

        let start = Unmanaged.passRetained(
            Start(name: String(name.utf8.prefix(15)) ?? "mintmark", priority: priority, heap: heap, body: body))
        var everySignal = sigset_t()
        var before = sigset_t()
        sigfillset(&everySignal)
        pthread_sigmask(SIG_SETMASK, &everySignal, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

        var thread = pthread_t()
        // pthread_create can call the dynamic loader, which saves all registers to the stack.
        ProcessMemory.wipeRegisters()
        let status = pthread_create(&thread, &attributes, { Unmanaged<Start>.fromOpaque($0!).takeRetainedValue().run() }, start.toOpaque())
        if status != 0 { start.release() }
        return status
    }

    private final class Start: Sendable {
        let name: String
        let priority: Priority
        let heap: Int
        let body: @Sendable () -> Void

        init(name: String, priority: Priority, heap: Int, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.priority = priority
            self.heap = heap
            self.body = body
        }

        func run() -> UnsafeMutableRawPointer? {
            name.withCString { guard_name_thread($0) }
            if heap > 0 { guard_reserve_heap(heap) }
            if priority == .low { setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10) }
            body()
            return nil
        }
    }
}
