import Glibc
import Synchronization

/// The threads that run the body of a transaction of one store. A transaction inside another one of the same store would deadlock, also if
/// transactions of other stores are between them.
final class ThreadsInTransaction: Sendable {
    private let threads = Mutex<[pthread_t]>([])

    /// The threads that run a body for another thread, which waits for it.
    private static let callers = Mutex<[pthread_t: pthread_t]>([:])

    /// Checks that this thread, and every thread for which it runs, runs no transaction of the store.
    ///
    /// - Throws: `StoreError.failed` if one does.
    func requireNone() throws(StoreError) {
        var next: pthread_t? = pthread_self()
        while let thread = next {
            if threads.withLock({ $0.contains(thread) }) {
                throw .failed(reason: "a transaction was started inside another transaction of the same store")
            }
            next = Self.callers.withLock { $0[thread] }
        }
    }

    /// Records that this thread runs a transaction, until `leave`.
    ///
    /// - Throws: `StoreError.failed` if it already runs one.
    func enter() throws(StoreError) {
        try requireNone()
        let this = pthread_self()
        threads.withLock { $0.append(this) }
    }

    func leave() {
        let this = pthread_self()
        threads.withLock { threads in
            guard let index = threads.lastIndex(of: this) else { return }
            threads.swapAt(index, threads.count - 1)
            threads.removeLast()
        }
    }

    /// Runs `body` on this thread for `caller`, which waits for it.
    static func run<R>(for caller: pthread_t, _ body: () throws -> R) rethrows -> R {
        let this = pthread_self()
        // Without a writer thread, the caller does its work.
        if this == caller { return try body() }
        callers.withLock { $0[this] = caller }
        defer { callers.withLock { $0[this] = nil } }
        return try body()
    }
}
