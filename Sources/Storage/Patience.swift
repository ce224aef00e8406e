import Glibc

/// Whether this thread may wait for the store. The reading thread and those that compute may not: what would wait is run
/// again by a thread that may.
public enum Patience: Sendable {
    case none
    case full

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// What holds on this thread; `full` unless `with` says otherwise.
    public static var current: Patience { pthread_getspecific(key) == nil ? .full : .none }

    /// Runs `body` with `patience` on this thread.
    public static func with<R>(_ patience: Patience, _ body: () throws -> R) rethrows -> R {
        let before = pthread_getspecific(key)
        pthread_setspecific(key, patience == .none ? UnsafeRawPointer(bitPattern: 1) : nil)
        defer { pthread_setspecific(key, before) }
        return try body()
    }
}

/// Thrown under `Patience.none` where the store would have to be waited for. Nothing was changed.
public struct WouldWait: Error {
    public init() {}
}
