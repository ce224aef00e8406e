import Glibc

/// Many may read or one may write. A waiting writer goes before new readers.
final class ReaderWriterLock: @unchecked Sendable {
    // Safe because the lock is never moved and only used through its functions.
    private let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)

    init() {
        var attributes = pthread_rwlockattr_t()
        pthread_rwlockattr_init(&attributes)
        pthread_rwlockattr_setkind_np(&attributes, Int32(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP))
        pthread_rwlock_init(lock, &attributes)
        pthread_rwlockattr_destroy(&attributes)
    }

    deinit {
        pthread_rwlock_destroy(lock)
        lock.deallocate()
    }

    func lockForReading() -> Bool { pthread_rwlock_rdlock(lock) == 0 }
    func tryLockForReading() -> Bool { pthread_rwlock_tryrdlock(lock) == 0 }
    func lockForWriting() { pthread_rwlock_wrlock(lock) }
    func unlock() { pthread_rwlock_unlock(lock) }
}
