import Glibc

/// The time of day. It is injected wherever a rule depends on it, so that tests can control it.
public protocol WallClock: Sendable {
    /// The time in seconds since 1970-01-01 UTC.
    var now: Int64 { get }
}

/// The system clock.
public struct SystemClock: WallClock {
    public init() {}

    public var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec)
    }
}

/// A clock that only moves forward, for durations and deadlines. It is unrelated to the time of day.
public enum Monotonic {
    /// Returns the nanoseconds since an arbitrary time before this process started.
    public static func nanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
