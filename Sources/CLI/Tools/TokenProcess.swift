import Glibc
import Platform

/// The shell command of `--token-command`. Its standard error is discarded, because some tools read both streams.
struct TokenProcess {
    private let command: String
    /// The time limit, in nanoseconds.
    private static let patience: UInt64 = 20_000_000_000

    init(_ command: String) { self.command = command }

    /// Runs the command.
    ///
    /// - Throws: `ToolFailure` if it fails, takes too long or writes more than `limit` bytes.
    func output(limit: Int) throws -> String {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw failure("cannot be started (\(String(cString: strerror(errno))))") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        let started = start(output: ends[1])
        close(ends[1])
        let child = try started.get()
        var bytes: [UInt8] = []
        let isComplete = collect(from: ends[0], into: &bytes, limit: limit)
        // The group, because the shell can have started other processes.
        if !isComplete { kill(-child, SIGKILL) }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        guard isComplete else { throw failure("did not end within 20 s, or wrote more than \(limit) bytes") }
        guard status == 0 else {
            let ending = status & 0x7F
            throw failure(ending == 0 ? "failed with the exit code \(status >> 8 & 0xFF)" : "was ended by signal \(ending)")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// - Returns: Whether the output ended in time.
    private func collect(from descriptor: Int32, into bytes: inout [UInt8], limit: Int) -> Bool {
        let deadline = Monotonic.nanoseconds() + Self.patience
        var block = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= limit {
            let now = Monotonic.nanoseconds()
            guard now < deadline else { return false }
            var awaited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&awaited, 1, Int32((deadline - now) / 1_000_000 + 1)) > 0 else { continue }
            let count = read(descriptor, &block, block.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return true }
            bytes += block[..<count]
        }
        return false
    }

    private func start(output: Int32) -> Result<pid_t, ToolFailure> {
        var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var (mask, usual) = (sigset_t(), sigset_t())
        sigemptyset(&mask)
        sigemptyset(&usual)
        for number in [SIGPIPE, SIGXFSZ] { sigaddset(&usual, number) }
        posix_spawnattr_setsigmask(&attributes, &mask)
        posix_spawnattr_setsigdefault(&attributes, &usual)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        let words = ["/bin/sh", "-c", command]
        let arguments = words.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var child = pid_t()
        let reason = posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments, environ)
        guard reason == 0 else { return .failure(failure("cannot be started (\(String(cString: strerror(reason))))")) }
        return .success(child)
    }

    private func failure(_ what: String) -> ToolFailure {
        ToolFailure(1, "tokenCommandFailed", "The command of --token-command \(what). Run it in a shell to see the reason.")
    }
}
