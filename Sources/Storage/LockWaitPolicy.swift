import Glibc

/// Whether this thread can wait for the store. The reading thread and the computing threads cannot: work that would wait runs again on a
/// thread that can.
public enum LockWaitPolicy: UInt, Sendable {
    case full
    case none
    /// The thread can wait, and the same work has already run with `none` and found that it must write. The decision in a read transaction
    /// is skipped, because the write transaction decides again.
    case fullToWrite

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// The value for this thread; `full` outside `with`.
    public static var current: LockWaitPolicy { LockWaitPolicy(rawValue: UInt(bitPattern: pthread_getspecific(key)))! }

    /// Runs `body` on this thread with `patience`.
    public static func with<R>(_ patience: LockWaitPolicy, _ body: () throws -> R) rethrows -> R {
        let before = pthread_getspecific(key)
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: patience.rawValue))
        defer { pthread_setspecific(key, before) }
        return try body()
    }
}

/// Thrown under `LockWaitPolicy.none` if the operation would have to wait for the store. The store is unchanged.
public struct WouldWait: Error {
    /// Whether the operation was a write.
    public let isWrite: Bool

    public init(isWrite: Bool = false) { self.isWrite = isWrite }
}
