import Glibc
import Platform

/// Notices that another process is gone.
enum ParentWatch {
    /// Runs `onGone` when the process `pid` has ended, at once if there is none such. Nothing wakes up meanwhile.
    static func start(_ pid: Int32, onGone: @escaping @Sendable () -> Void) {
        let descriptor = open(pid)
        guard descriptor >= 0 else { return onGone() }
        Thread.start(name: "parent") {
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            while poll(&request, 1, -1) < 0, errno == EINTR {}
            close(descriptor)
            onGone()
        }
    }

    /// A descriptor that becomes readable when the process ends. The function is too young for Swift's view of the C library.
    private static func open(_ pid: Int32) -> Int32 {
        typealias Open = @convention(c) (Int32, UInt32) -> Int32
        guard let function = dlsym(nil, "pidfd_open") else { return -1 }
        return unsafeBitCast(function, to: Open.self)(pid, 0)
    }
}
