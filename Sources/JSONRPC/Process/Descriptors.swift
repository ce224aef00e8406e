import Glibc

/// The descriptors that a process is born with: made safe for a protocol on the standard output, and looked after.
public enum Descriptors {
    /// Opens missing ones on the null device, moves the standard output to a descriptor of its own that no child inherits,
    /// and lets everything else that writes to the standard output write to the standard error instead.
    ///
    /// - Returns: the descriptor that answers go to.
    public static func protect() -> Int32 {
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) == -1 {
            // The lowest free number is taken, which is this one.
            _ = open("/dev/null", descriptor == 0 ? O_RDONLY : O_WRONLY)
        }
        let output = fcntl(1, F_DUPFD_CLOEXEC, 3)
        guard output >= 0 else { return 1 }
        dup2(2, 1)
        return output
    }

    /// Whether the other end of a pipe or socket is closed, so that nobody reads what is written there. A file or a terminal is never such.
    static func isReadByNobody(_ descriptor: Int32) -> Bool {
        var looked = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&looked, 1, 0) > 0 && looked.revents & Int16(POLLERR | POLLHUP) != 0
    }
}
