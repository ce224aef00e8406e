#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif
import JSON
import Platform
import Synchronization

/// One process of `mintmark serve` and its pipes.
///
/// Uses three threads that end with it. They transfer data, read the log, and wait for the exit of the process.
final class Subprocess: Connection {
    struct State {
        /// Output that could not be sent yet.
        var unsent: ArraySlice<UInt8> = []
        /// Whether the input is closed after the unsent output.
        var isEnding = false
        var isInputOpen = true
        /// The time at which the process is killed, in `Monotonic.nanoseconds()`.
        var deadline: UInt64?
        var exit: ProcessExit?
        /// Whether the log thread has read the whole log and closed its descriptor.
        var isLogRead = false
        /// Whether the process has ended and its descriptors are closed.
        var isOver = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    let name: String
    let options: Mintmark.Options
    let spawned: Spawned
    let log: LogTail
    let state = Mutex(State())
    /// Wake the thread that transfers data.
    private let wakeReader: Int32
    private let wakeWriter: Int32
    private let ownExchange = Mutex<Exchange?>(nil)

    var exchange: Exchange { ownExchange.withLock { $0! } }

    init(_ options: Mintmark.Options, notify: @escaping @Sendable (Mintmark.Notification) -> Void) throws {
        let arguments = options.commandLine
        name = arguments[0]
        self.options = options
        log = LogTail(options.log)
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0, &ends) == 0 else {
            throw BinaryNotFoundError(binary: name, reason: String(cString: strerror(errno)))
        }
        (wakeReader, wakeWriter) = (ends[0], ends[1])
        do { spawned = try Spawned(arguments, environment: options.wholeEnvironment) } catch {
            for end in ends { close(end) }
            throw error
        }
        ownExchange.withLock { $0 = Exchange(isReady: false, hooks: options.hooks, notify: notify) { [weak self] in self?.send($0) } }
        send([UInt8](#"{"jsonrpc":"2.0","id":0,"method":"system.info"}"#.utf8) + [UInt8(ascii: "\n")])
        if !options.hooks.isEmpty { send(options.hooks.offer) }
        _ = Thread.start(name: "mintmark wait") { self.waitForExit() }
        _ = Thread.start(name: "mintmark log") { self.readLog() }
        _ = Thread.start(name: "mintmark pipe") { self.move() }
    }

    // MARK: Sending

    private func send(_ line: [UInt8]) {
        state.withLock { state in
            guard state.isInputOpen, !state.isEnding else { return }
            let wasEmpty = state.unsent.isEmpty
            state.unsent += line
            if wasEmpty {
                flush(&state)
                if !state.unsent.isEmpty { wake() }
            }
        }
    }

    /// Sends as much as possible without blocking. Closes the input after the last output if the connection is ending.
    private func flush(_ state: inout State) {
        while state.isInputOpen, !state.unsent.isEmpty {
            let sent = state.unsent.withUnsafeBytes {
                Glibc.send(spawned.input, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
            }
            if sent >= 0 {
                state.unsent = state.unsent.dropFirst(sent)
            } else if errno == EAGAIN {
                return
            } else if errno != EINTR {
                // The process no longer reads. The reader thread detects its end.
                state.unsent = []
            }
        }
        if state.unsent.isEmpty { state.unsent = [] }
        if state.isEnding, state.isInputOpen, state.unsent.isEmpty {
            close(spawned.input)
            state.isInputOpen = false
        }
    }

    private func wake() { _ = write(wakeWriter, "!", 1) }

    // MARK: Ending

    var isOver: Bool { state.withLock { $0.isOver } }

    func end(within grace: Duration) {
        state.withLock { state in
            guard !state.isOver else { return }
            let deadline = Monotonic.nanoseconds() + grace.nanoseconds
            state.deadline = min(state.deadline ?? deadline, deadline)
            state.isEnding = true
            flush(&state)
            wake()
        }
    }

    func hasEnded() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if !state.isOver { state.waiting.append(continuation) }
                return state.isOver
            }
            if isOver { continuation.resume() }
        }
    }

    private func waitForExit() {
        let exit = ProcessExit(waitingFor: spawned.id)
        state.withLock { state in
            state.exit = exit
            wake()
        }
    }

    /// Runs in its own thread, so that a slow log target does not delay responses.
    private func readLog() {
        var errors = LineBuffer(limit: 64 << 10)
        while errors.fill(from: spawned.errors, { log.take($0) }) {}
        log.finish(&errors)
        state.withLock { state in
            close(spawned.errors)
            state.isLogRead = true
            if !state.isOver { wake() }
        }
    }

    // MARK: The thread that transfers data

    private func move() {
        var output = LineBuffer(limit: 17 << 20)
        var refusal: (any Error)?
        var isOutputOpen = true
        /// The time until which remaining output is read after the exit. Other processes can hold the pipes open.
        var lastMoment: UInt64?
        while true {
            let (exit, deadline, isLogRead, wantsToSend) = state.withLock {
                ($0.exit, $0.deadline, $0.isLogRead, $0.isInputOpen && !$0.unsent.isEmpty)
            }
            if exit != nil {
                if !isOutputOpen && isLogRead { break }
                let moment = lastMoment ?? Monotonic.nanoseconds() + 1_000_000_000
                if Monotonic.nanoseconds() >= moment { break }
                lastMoment = moment
            } else if let deadline, Monotonic.nanoseconds() >= deadline {
                state.withLock { $0.deadline = .max }
                // Kill the process group: if the program is a script, its child process holds the pipe.
                kill(-spawned.id, SIGKILL)
            }
            var polls = [
                pollfd(fd: wakeReader, events: Int16(POLLIN), revents: 0),
                pollfd(fd: isOutputOpen ? spawned.output : -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: wantsToSend ? spawned.input : -1, events: Int16(POLLOUT), revents: 0),
            ]
            _ = poll(&polls, nfds_t(polls.count), Self.milliseconds(until: lastMoment ?? deadline))
            if polls[0].revents != 0 { Self.drain(wakeReader) }
            if polls[1].revents != 0 {
                do {
                    isOutputOpen = try output.fill(from: spawned.output) { line in if refusal == nil { try take(line) } }
                } catch {
                    refusal = refusal ?? (error as? UnexpectedValue).map { ProtocolError(binary: name, reason: $0.description) } ?? error
                }
                // Kill a program that is not Mintmark. Give a process that has closed its output 10 seconds to exit.
                if refusal != nil { end(within: .zero) } else if !isOutputOpen { end(within: .seconds(10)) }
            }
            if polls[2].revents != 0 { state.withLock { flush(&$0) } }
        }
        finish(refusal)
    }

    private func take(_ line: UnsafeRawBufferPointer) throws {
        try exchange.take(line) { refusal, result in
            // A process that does not allow system.info counts as supported.
            if refusal == nil, let version = result?["version"]?.string, isBelow(version, contractVersion) {
                throw BinaryTooOldError(binary: name, version: version, answer: nil)
            }
            // With hooks, the requests are sent after the offer was accepted.
            if options.hooks.isEmpty { exchange.letIn() }
        }
    }

    private func finish(_ refusal: (any Error)?) {
        let (exit, waiting) = state.withLock { state in
            // The descriptors are no longer used. The process is reaped last, so that a caller that sees the end of the connection opens a
            // new one.
            state.isOver = true
            if state.isInputOpen { close(spawned.input) }
            state.isInputOpen = false
            state.unsent = []
            for each in [spawned.output, wakeReader, wakeWriter] { close(each) }
            // If another process holds the log pipe open, shutting it down ends the log thread.
            if !state.isLogRead { shutdown(spawned.errors, Int32(SHUT_RD)) }
            defer { state.waiting = [] }
            return (state.exit ?? .unknown, state.waiting)
        }
        waitpid(spawned.id, nil, 0)
        let (name, words, advice) = (name, log.last, advice(after: exit))
        exchange.end { method in refusal ?? ProcessEndedError(binary: name, exit, lastLogLines: words, method: method, advice: advice) }
        for each in waiting { each.resume() }
    }

    /// The recommended next action. Before it has identified itself, Mintmark exits only with status 2, 64 or 74.
    private func advice(after exit: ProcessExit) -> String {
        var isMintmark = exchange.isLetIn
        if case .status(let status) = exit, [2, 64, 74].contains(status) { isMintmark = true }
        guard isMintmark else { return "Is it the right program? Set another path with binary: … or MINTMARK_BINARY." }
        if options.restarts { return "The next call starts a new process." }
        return options.store == Mintmark.Options.inMemory
            ? "The store in memory is lost. Start a new client, or set restart to continue with an empty store."
            : "restart: false forbids a new process. Start a new client."
    }

    private static func milliseconds(until moment: UInt64?) -> Int32 {
        guard let moment, moment != .max else { return -1 }
        let now = Monotonic.nanoseconds()
        return moment <= now ? 0 : Int32(min(UInt64(Int32.max), (moment - now) / 1_000_000 + 1))
    }

    private static func drain(_ descriptor: Int32) {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(descriptor, &bytes, bytes.count) > 0 {}
    }
}

extension Duration {
    /// The duration in nanoseconds; 0 if it is negative.
    package var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        return seconds < 0 ? 0 : UInt64(min(seconds, 1 << 33)) * 1_000_000_000 + UInt64(max(0, attoseconds / 1_000_000_000))
    }
}

extension ProcessEndedError {
    init(binary: String, _ exit: ProcessExit, lastLogLines: [String], method: String, advice: String) {
        let (status, signal): (Int?, Int?) =
            switch exit {
            case .status(let status): (Int(status), nil)
            case .signal(let signal): (nil, Int(signal))
            case .unknown: (nil, nil)
            }
        self.init(binary: binary, exitStatus: status, signal: signal, lastLogLines: lastLogLines, method: method, advice: advice)
    }
}
