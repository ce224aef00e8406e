import Glibc
import JSON
import Platform
import Synchronization

/// One running `mintmark serve` and its pipe, from start to end.
///
/// Three threads stand behind it and end with it: one moves what comes and goes, one reads its log, one waits for the process to end.
final class Subprocess: Connection {
    struct State {
        /// What could not be sent at once.
        var unsent: ArraySlice<UInt8> = []
        /// Nothing is to be sent after that.
        var isEnding = false
        var isInputOpen = true
        /// When the process is killed, in `Monotonic.nanoseconds()`.
        var deadline: UInt64?
        var exit: ProcessExit?
        /// Its log is read to the end, and that descriptor closed by whoever read it.
        var isLogRead = false
        /// It is gone, and its descriptors are closed.
        var isOver = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    let name: String
    let options: Mintmark.Options
    let spawned: Spawned
    let log: LogTail
    let state = Mutex(State())
    /// Wakes the thread that moves what comes and goes.
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
        ownExchange.withLock { $0 = Exchange(isReady: false, notify: notify) { [weak self] in self?.send($0) } }
        send([UInt8](#"{"jsonrpc":"2.0","id":0,"method":"system.info"}"#.utf8) + [UInt8(ascii: "\n")])
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

    /// Sends what can be sent now; ends the input when that was the last.
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
                // It reads no more; that it ends is seen elsewhere.
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

    // MARK: The end

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

    /// On a thread of its own: who gets the log may be slow, and answers do not wait for that.
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

    // MARK: On the thread that moves what comes and goes

    private func move() {
        var output = LineBuffer(limit: 17 << 20)
        var refusal: (any Error)?
        var isOutputOpen = true
        /// Until when the rest of what it wrote is waited for, once it has ended: others may hold its pipes.
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
                // And what it has started: where it is a script, that holds the pipe.
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
                // What is not Mintmark is not kept, and what has closed its output is of no use any more.
                if refusal != nil { end(within: .zero) } else if !isOutputOpen { end(within: .seconds(10)) }
            }
            if polls[2].revents != 0 { state.withLock { flush(&$0) } }
        }
        finish(refusal)
    }

    private func take(_ line: UnsafeRawBufferPointer) throws {
        try exchange.take(line) { refusal, result in
            // One that may not be asked is taken for new enough.
            if refusal == nil, let version = result?["version"]?.string, isBelow(version, contractVersion) {
                throw BinaryTooOldError(binary: name, version: version, answer: nil)
            }
            exchange.letIn()
        }
    }

    private func finish(_ refusal: (any Error)?) {
        let (exit, waiting) = state.withLock { state in
            // The descriptors are of no use to anybody from here on, and the process is waited for last: who sees it gone gets a new one.
            state.isOver = true
            if state.isInputOpen { close(spawned.input) }
            state.isInputOpen = false
            state.unsent = []
            for each in [spawned.output, wakeReader, wakeWriter] { close(each) }
            // Others may hold it: who reads it comes to its end.
            if !state.isLogRead { shutdown(spawned.errors, Int32(SHUT_RD)) }
            defer { state.waiting = [] }
            return (state.exit ?? .unknown, state.waiting)
        }
        waitpid(spawned.id, nil, 0)
        let (name, words, advice) = (name, log.last, advice(after: exit))
        exchange.end { method in refusal ?? ProcessEndedError(binary: name, exit, words, method, advice) }
        for each in waiting { each.resume() }
    }

    /// What to do next. What Mintmark itself ends with before it has said who it is are the statuses 2, 64 and 74.
    private func advice(after exit: ProcessExit) -> String {
        var isMintmark = exchange.isLetIn
        if case .status(let status) = exit, [2, 64, 74].contains(status) { isMintmark = true }
        guard isMintmark else { return "Is it the right program? MINTMARK_BINARY or binary: … names another." }
        if options.restarts { return "The next call starts a new process." }
        return options.store == Mintmark.Options.inMemory
            ? "What was in memory is gone: start a new client, or one with restart that goes on with an empty store."
            : "This client starts no other, as restart is false: start a new client."
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
    /// Nothing for less than nothing.
    package var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        return seconds < 0 ? 0 : UInt64(min(seconds, 1 << 33)) * 1_000_000_000 + UInt64(max(0, attoseconds / 1_000_000_000))
    }
}

extension ProcessEndedError {
    init(binary: String, _ exit: ProcessExit, _ lastWords: [String], _ method: String, _ advice: String) {
        let (status, signal): (Int?, Int?) =
            switch exit {
            case .status(let status): (Int(status), nil)
            case .signal(let signal): (nil, Int(signal))
            case .unknown: (nil, nil)
            }
        self.init(binary: binary, exitStatus: status, signal: signal, lastWords: lastWords, method: method, advice: advice)
    }
}
