import Glibc

/// Protects the standard descriptors of the process, because standard output carries the protocol.
public enum Descriptors {
    /// Opens missing standard descriptors on the null device, moves standard output to a new descriptor that child processes do not
    /// inherit, and redirects other writes from standard output to standard error.
    ///
    /// - Returns: The descriptor for responses.
    public static func protect() -> Int32 {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 {
            // `open` uses the lowest free number, which is this one.
            _ = open("/dev/null", descriptor == 0 ? O_RDONLY : O_WRONLY)
        }
        let output = fcntl(1, F_DUPFD_CLOEXEC, 3)
        guard output >= 0 else { return 1 }
        dup2(2, 1)
        return output
    }

    /// Returns whether a read returns at once, with data or with the end of the input.
    static func hasInput(_ descriptor: Int32) -> Bool {
        var looked = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&looked, 1, 0) > 0
    }

    /// Returns whether the other end of a pipe or socket is closed, so that no reader is left. Always `false` for a file or terminal.
    static func isReadByNobody(_ descriptor: Int32) -> Bool {
        var looked = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&looked, 1, 0) > 0 && looked.revents & Int16(POLLERR | POLLHUP) != 0
    }
}
