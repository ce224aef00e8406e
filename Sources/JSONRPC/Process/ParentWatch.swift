import Glibc
import Platform

/// Notices that another process is gone.
enum ParentWatch {
    /// Runs `onGone` when the process `pid` has ended, immediately if it does not exist. On systems without `pidfd_open` the process is
    /// looked for every second. Without a thread nobody looks: then only the end of the input, which a parent usually takes with it, is
    /// noticed.
    static func start(_ pid: Int32, onGone: @escaping @Sendable () -> Void) {
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

    /// Whether there is a process `pid`; one of another user counts.
    private static func exists(_ pid: Int32) -> Bool { kill(pid, 0) == 0 || errno != ESRCH }

    /// Returns a descriptor that becomes readable when the process ends, or -1. Called by its number (Linux 5.3), because the C library has
    /// the function only since glibc 2.36.
    private static func open(_ pid: Int32) -> Int32 {
        typealias SystemCall = @convention(c) (Int, Int, Int) -> Int
        guard let function = dlsym(nil, "syscall") else { return -1 }
        let pidfdOpen = 434
        return Int32(truncatingIfNeeded: unsafeBitCast(function, to: SystemCall.self)(pidfdOpen, Int(pid), 0))
    }
}
