import Glibc

/// Runs a command in the foreground and forwards signals to it.
struct ChildProcess {
    /// The command could not be started.
    struct NotStarted: Error {
        /// 127 if it was not found, otherwise 126, as in a shell.
        let status: Int32
        let reason: String
    }

    /// The signals that the command gets, too: those that end it, and others.
    private static let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    private static let forwarded = ending + [SIGUSR1, SIGUSR2, SIGWINCH]
    private let awaited: sigset_t
    private let original: sigset_t

    /// Blocks the signals. Must be called before other threads start, which inherit it.
    init() {
        signal(SIGCHLD, SIG_DFL)
        var (set, before) = (sigset_t(), sigset_t())
        sigemptyset(&set)
        for number in Self.forwarded + [SIGCHLD] { sigaddset(&set, number) }
        pthread_sigmask(SIG_BLOCK, &set, &before)
        (awaited, original) = (set, before)
    }

    /// Whether a signal to end the process has arrived before the command was started.
    var isEndingSignalPending: Int32? {
        var pending = sigset_t()
        sigpending(&pending)
        return Self.ending.first { sigismember(&pending, $0) == 1 }
    }

    /// Runs a command with the standard descriptors of this process.
    ///
    /// - Returns: Its exit code, or 128 and the number of the signal that ended it.
    /// - Throws: `NotStarted`.
    func run(_ words: [String], _ environment: [String]) throws(NotStarted) -> Int32 {
        let child = try start(words, environment)
        var set = awaited
        while true {
            var info = siginfo_t()
            let number = sigwaitinfo(&set, &info)
            if number == SIGCHLD {
                var status: Int32 = 0
                guard waitpid(child, &status, WNOHANG) == child else { continue }
                let ending = status & 0x7F
                return ending == 0 ? status >> 8 & 0xFF : 128 + ending
            }
            // A signal of the terminal reaches the command without help.
            if number > 0, info.si_code != Self.ofKernel { kill(child, number) }
        }
    }

    /// SI_KERNEL of Linux.
    private static let ofKernel: Int32 = 0x80

    private func start(_ words: [String], _ environment: [String]) throws(NotStarted) -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var (mask, usual) = (original, sigset_t())
        sigemptyset(&usual)
        // This program ignores them, which the command would inherit.
        for number in [SIGPIPE, SIGXFSZ] { sigaddset(&usual, number) }
        posix_spawnattr_setsigmask(&attributes, &mask)
        posix_spawnattr_setsigdefault(&attributes, &usual)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let arguments = words.map { strdup($0) } + [nil]
        let variables = environment.map { strdup($0) } + [nil]
        defer { (arguments + variables).forEach { free($0) } }
        var child = pid_t()
        let failure = posix_spawnp(&child, words[0], nil, &attributes, arguments, variables)
        guard failure == 0 else {
            throw NotStarted(status: failure == ENOENT ? 127 : 126, reason: String(cString: strerror(failure)))
        }
        return child
    }
}
