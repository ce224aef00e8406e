import Glibc
import Platform

/// Handles signals on a dedicated thread.
public enum Signals {
    /// Makes a write to a closed pipe, or beyond a file size limit, fail with an error instead of terminating the process.
    public static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// Makes a write to a closed pipe, or beyond a file size limit, fail with an error instead of terminating the process. The first
    /// SIGTERM, SIGINT or SIGHUP runs `onTermination`; the second one terminates the process. Must be called before other threads start.
    public static func take(onTermination: @escaping @Sendable () -> Void) {
        ignoreBrokenPipes()
        var terminating = sigset_t()
        sigemptyset(&terminating)
        for number in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&terminating, number) }
        pthread_sigmask(SIG_BLOCK, &terminating, nil)
        let set = terminating
        let isTaken = Thread.start(name: "signals") {
            var set = set
            var number: Int32 = 0
            sigwait(&set, &number)
            onTermination()
            sigwait(&set, &number)
            _exit(128 + number)
        }
        // If the thread cannot be started, the signals keep their default action. The store tolerates termination at any point.
        if !isTaken { pthread_sigmask(SIG_UNBLOCK, &terminating, nil) }
    }
}
