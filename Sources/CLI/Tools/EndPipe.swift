import Glibc

/// A pipe whose closed end wakes a waiting thread. It connects signals and the end of a parent process with the thread that runs a command.
final class EndPipe: Sendable {
    private let readEnd: Int32
    private let writeEnd: Int32

    /// - Throws: `ToolFailure` if no file descriptors are available.
    init() throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw ToolFailure(74, "pipeNotCreated", "A pipe cannot be created: \(String(cString: strerror(errno))).")
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }

    /// Ends the current wait and all later ones.
    func end() {
        var byte: UInt8 = 0
        _ = write(writeEnd, &byte, 1)
    }

    /// Waits for `end`, at most `seconds`. Without a number, waits as long as necessary.
    ///
    /// - Returns: Whether `end` was called.
    func wait(seconds: Int64? = nil) -> Bool {
        var awaited = pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)
        while true {
            let count = poll(&awaited, 1, seconds.map { Int32(clamping: max($0, 0) * 1_000) } ?? -1)
            if count < 0, errno == EINTR { continue }
            return count != 0
        }
    }
}
