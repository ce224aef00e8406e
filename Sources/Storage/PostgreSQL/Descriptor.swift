import Glibc
import Platform

/// Waits for a file descriptor.
enum Descriptor {
    enum Readiness {
        case reading
        case writing
    }

    /// Returns when the descriptor is ready, or the other side has closed the connection.
    ///
    /// - Parameter deadline: A time of `Monotonic.nanoseconds()`.
    /// - Returns: `false` if the deadline has passed or the descriptor is not valid.
    static func wait(_ descriptor: Int32, for readiness: Readiness, until deadline: UInt64) -> Bool {
        guard descriptor >= 0 else { return false }
        var waiting = pollfd(fd: descriptor, events: Int16(readiness == .reading ? POLLIN : POLLOUT), revents: 0)
        while true {
            let now = Monotonic.nanoseconds()
            let left = deadline > now ? (deadline - now) / 1_000_000 + 1 : 0
            let ready = poll(&waiting, 1, Int32(min(left, 60_000)))
            if ready > 0 { return true }
            if ready < 0, errno != EINTR { return false }
            if left == 0 { return false }
        }
    }
}
