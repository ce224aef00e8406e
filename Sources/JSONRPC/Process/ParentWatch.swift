import Glibc
import Platform

/// Detects the end of another process.
package enum ParentWatch {
    /// Runs `onGone` when the process `pid` has ended, or immediately if it does not exist. On systems without `pidfd_open`, it checks once
    /// per second. If no thread can be started, the process is not watched; the end of the parent usually also ends the input.
    package static func start(_ pid: Int32, onGone: @escaping @Sendable () -> Void) {
        guard exists(pid) else { return onGone() }
        let descriptor = open(pid)
        if descriptor < 0, errno == ESRCH { return onGone() }
        let isWatched = Thread.start(name: "parent") {
            if descriptor >= 0 {
                var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                while poll(&request, 1, -1) < 0, errno == EINTR {}
                close(descriptor)
            } else {
                while exists(pid) { sleep(1) }
            }
            onGone()
        }
        if !isWatched, descriptor >= 0 { close(descriptor) }
    }

    /// Returns whether the process `pid` exists, including processes of other users.
    private static func exists(_ pid: Int32) -> Bool { kill(pid, 0) == 0 || errno != ESRCH }

    /// Returns a descriptor that becomes readable when the process ends, or -1. Uses the system call number (Linux 5.3), because the C
    /// library provides the function only since glibc 2.36.
    private static func open(_ pid: Int32) -> Int32 {
        typealias SystemCall = @convention(c) (Int, Int, Int) -> Int
        guard let function = dlsym(nil, "syscall") else { return -1 }
        let pidfdOpen = 434
        return Int32(truncatingIfNeeded: unsafeBitCast(function, to: SystemCall.self)(pidfdOpen, Int(pid), 0))
    }
}
