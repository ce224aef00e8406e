import Glibc

/// State that is protected by a lock which a running thread can acquire before threads that have waited longer.
///
/// `Synchronization.Mutex` passes the lock to the thread that has waited longest (`FUTEX_LOCK_PI`). If many threads acquire one lock for a
/// moment each, and the system interrupts the thread that holds it, the others queue. From then on every acquisition waits for a context
/// switch, until the queue is empty. Locks of the whole process that every call acquires are therefore of this type.
public final class UnfairLock<State>: @unchecked Sendable {
    // Safe because `state` is only accessed while `mutex` is held.
    private var state: State
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    public init(_ state: sending State) {
        self.state = state
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        // A thread that finds the lock taken tries again for a moment before it sleeps.
        pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
        pthread_mutex_init(mutex, &attributes)
        pthread_mutexattr_destroy(&attributes)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Runs `body` with exclusive access to the state.
    public func withLock<R, E: Error>(_ body: (inout State) throws(E) -> R) throws(E) -> R {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }
}
