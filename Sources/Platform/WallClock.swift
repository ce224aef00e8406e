import Glibc

/// The time of day, handed in wherever a rule depends on it, so that tests can turn it.
public protocol WallClock: Sendable {
    /// Seconds since 1970-01-01T00:00:00Z.
    var now: Int64 { get }
}

/// The machine's own clock.
public struct SystemClock: WallClock {
    public init() {}

    public var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec)
    }
}

/// Time that only moves forward, for durations and deadlines; it says nothing about the time of day.
public enum Monotonic {
    /// Nanoseconds since some moment before this process started.
    public static func nanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
