import Glibc

/// Records the store whose transaction is active on this thread. A nested transaction of the same store would deadlock.
enum ActiveTransaction {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// - Returns: The value to pass to `leave`.
    /// - Throws: `StoreError.failed` if a transaction of `store` is active on this thread.
    static func enter(_ store: AnyObject) throws(StoreError) -> UnsafeMutableRawPointer? {
        let outer = pthread_getspecific(key)
        let own = Unmanaged.passUnretained(store).toOpaque()
        if outer == own { throw .failed(reason: "a transaction was started inside another transaction of the same store") }
        pthread_setspecific(key, own)
        return outer
    }

    static func leave(to outer: UnsafeMutableRawPointer?) { pthread_setspecific(key, outer) }
}
