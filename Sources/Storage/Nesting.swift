import Glibc

/// Remembers in which store's transaction this thread is. A transaction inside another of the same store would wait for itself.
enum Nesting {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// - Returns: what `leave` must be given.
    /// - Throws: `StoreError.failed` if this thread is in a transaction of `store`.
    static func enter(_ store: AnyObject) throws(StoreError) -> UnsafeMutableRawPointer? {
        let outer = pthread_getspecific(key)
        let own = Unmanaged.passUnretained(store).toOpaque()
        if outer == own { throw .failed(reason: "a transaction was started inside another transaction of the same store") }
        pthread_setspecific(key, own)
        return outer
    }

    static func leave(to outer: UnsafeMutableRawPointer?) { pthread_setspecific(key, outer) }
}
