import Glibc

/// Whether this thread may wait for the store. The reading thread and those that compute may not: what would wait is run
/// again by a thread that may.
public enum Patience: UInt, Sendable {
    case full
    case none
    /// It may wait, and the same work has been begun without patience and found something to write: what was read to find that
    /// out need not be read again outside of the write, which decides anew.
    case fullToWrite

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// What holds on this thread; `full` unless `with` says otherwise.
    public static var current: Patience { Patience(rawValue: UInt(bitPattern: pthread_getspecific(key)))! }

    /// Runs `body` with `patience` on this thread.
    public static func with<R>(_ patience: Patience, _ body: () throws -> R) rethrows -> R {
        let before = pthread_getspecific(key)
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: patience.rawValue))
        defer { pthread_setspecific(key, before) }
        return try body()
    }
}

/// Thrown under `Patience.none` where the store would have to be waited for. Nothing was changed.
public struct WouldWait: Error {
    /// Whether it was a write that would have waited.
    public let isWrite: Bool

    public init(isWrite: Bool = false) { self.isWrite = isWrite }
}
