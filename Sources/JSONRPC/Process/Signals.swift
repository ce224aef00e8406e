import Glibc
import Platform

/// Signals, taken by one thread that waits for them.
public enum Signals {
    /// From now on a write to a closed pipe or beyond a file size limit is an error, not a death.
    public static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
        signal(SIGXFSZ, SIG_IGN)
    }

    /// From now on a write to a closed pipe or beyond a file size limit is an error, not a death, and the first SIGTERM,
    /// SIGINT or SIGHUP runs `onTermination`, a second one ends the process. To be called before other threads start.
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
        // Without a thread for them they do what they do to any program: the store bears that.
        if !isTaken { pthread_sigmask(SIG_UNBLOCK, &terminating, nil) }
    }
}
