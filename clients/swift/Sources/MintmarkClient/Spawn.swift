#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A started process and this side's ends of its standard streams.
struct Spawned {
    let id: pid_t
    /// Writing does not block and does not raise SIGPIPE.
    let input: Int32
    let output: Int32
    let errors: Int32

    /// Starts a program in its own process group, so that an interrupt at the terminal reaches only this program, which then closes the
    /// pipe.
    ///
    /// - Throws: `BinaryNotFoundError`.
    init(_ arguments: [String], environment: [String]) throws(BinaryNotFoundError) {
        let binary = arguments[0]
        func failure(_ reason: Int32) -> BinaryNotFoundError {
            var about = stat()
            let isFolder = binary.contains("/") && stat(binary, &about) == 0 && about.st_mode & S_IFMT == S_IFDIR
            return BinaryNotFoundError(binary: binary, reason: isFolder ? "it is a folder" : String(cString: strerror(reason)))
        }
        var opened: [Int32] = []
        // Socket pairs, even for one-way streams: no other call available here creates close-on-exec descriptors atomically.
        func pair() throws(BinaryNotFoundError) -> (Int32, Int32) {
            var ends: [Int32] = [-1, -1]
            guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
                let reason = errno
                for end in opened { close(end) }
                throw failure(reason)
            }
            opened += ends
            return (ends[0], ends[1])
        }
        let (ownInput, input) = try pair()
        let (ownOutput, output) = try pair()
        let (ownErrors, errors) = try pair()

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var noSignals = sigset_t()
        var allSignals = sigset_t()
        sigemptyset(&noSignals)
        sigfillset(&allSignals)
        posix_spawnattr_setsigmask(&attributes, &noSignals)
        posix_spawnattr_setsigdefault(&attributes, &allSignals)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))

        let argv = arguments.map { strdup($0) } + [nil]
        let envp = environment.map { strdup($0) } + [nil]
        defer { for each in argv + envp { free(each) } }
        var process = pid_t()
        let refusal = posix_spawnp(&process, binary, &actions, &attributes, argv, envp)
        for end in [input, output, errors] { close(end) }
        guard refusal == 0 else {
            for end in [ownInput, ownOutput, ownErrors] { close(end) }
            throw failure(refusal)
        }
        (id, self.input, self.output, self.errors) = (process, ownInput, ownOutput, ownErrors)
    }
}

/// How a process ended.
enum ProcessExit: Sendable {
    case status(Int32)
    case signal(Int32)
    /// The exit status is unknown, because other code has waited for the process.
    case unknown

    /// Waits until the process has ended, without reaping it.
    init(waitingFor process: pid_t) {
        var info = siginfo_t()
        while waitid(P_PID, id_t(process), &info, WEXITED | WNOWAIT) != 0 {
            guard errno == EINTR else {
                self = .unknown
                return
            }
        }
        let status = info._sifields._sigchld.si_status
        self = info.si_code == Int32(CLD_EXITED) ? .status(status) : .signal(status)
    }
}
