import Glibc
import Platform

/// The threads that run the body of a transaction of one store. A transaction inside another one of the same store would deadlock, also if
/// transactions of other stores are between them.
final class ThreadsInTransaction: Sendable {
    private let threads = ValueOfThreads<[pthread_t]>([])

    /// The threads that run a body for another thread, which waits for it.
    private static let callers = ValueOfThreads<[(thread: pthread_t, caller: pthread_t)]>([])

    /// Checks that this thread, and every thread for which it runs, runs no transaction of the store.
    ///
    /// - Throws: `StoreError.failed` if one does.
    func requireNone() throws(StoreError) {
        var next: pthread_t? = pthread_self()
        while let thread = next {
            if threads.withLock(thread, { $0.contains(thread) }) {
                throw .failed(reason: "a transaction was started inside another transaction of the same store")
            }
            next = Self.callers.withLock(thread) { callers in callers.first { $0.thread == thread }?.caller }
        }
    }

    /// Records that this thread runs a transaction, until `leave`.
    ///
    /// - Throws: `StoreError.failed` if it already runs one.
    func enter() throws(StoreError) {
        try requireNone()
        let this = pthread_self()
        threads.withLock(this) { $0.append(this) }
    }

    func leave() {
        let this = pthread_self()
        threads.withLock(this) { threads in
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
        callers.withLock(this) { $0.append((this, caller)) }
        defer { callers.withLock(this) { callers in callers.removeAll { $0.thread == this } } }
        return try body()
    }
}

/// A value for the threads, in parts with a lock each. Every transaction takes the lock of its thread several times: with one lock for all,
/// many threads wait for one that the system has interrupted, and spend most of the processor time on that.
private final class ValueOfThreads<Value: Sendable>: Sendable {
    private final class Part: Sendable {
        let value: UnfairLock<Value>

        init(_ value: Value) { self.value = UnfairLock(value) }
    }

    /// 64 parts, for the six highest bits of a product.
    private let parts: [Part]

    init(_ value: Value) { parts = (0..<64).map { _ in Part(value) } }

    /// Calls `body` with the part for a thread.
    func withLock<R>(_ thread: pthread_t, _ body: (inout Value) -> R) -> R {
        parts[Int((UInt64(thread) &* 0x9E37_79B9_7F4A_7C15) >> 58)].value.withLock(body)
    }
}
