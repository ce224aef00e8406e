import Glibc
import JSONRPC
import Logging
import Platform
import Storage
import Synchronization

extension Mintmark {
    /// Serves over standard input and output until the input ends or a signal arrives, then exits the process. The exit status is 0 on
    /// success, 2 if the store could not be opened, or 74 (`EX_IOERR` in sysexits.h) if the input cannot be read or the responses cannot be
    /// written.
    ///
    /// - Parameters:
    ///   - methods: The methods to offer. Defaults to the contract's methods.
    ///   - output: The descriptor that `Descriptors.protect` returned.
    ///   - trace: The outputs to which all messages are written.
    ///   - prepare: Runs before any input is read.
    /// - Throws: The error that `prepare` throws.
    public func serve(
        _ methods: (any MethodLookup)? = nil, output: Int32, options: ServerOptions, tracingTo trace: TraceOutputs = TraceOutputs(),
        preparing prepare: (Mintmark) throws -> Void = { _ in }
    ) rethrows {
        var options = options
        if !trace.isEmpty { options.tap = TraceFile(trace, log: log) }
        if options.dialect == .plain { options.hostRequests = host.requests }
        let (tap, drainSeconds) = (options.tap, options.drainSeconds)
        options.observer = counters
        options.together = { body in
            let shared = SharedReads()
            defer { shared.view.end() }
            body(shared)
        }
        let server = Server(methods ?? MethodRegistry(self), input: 0, output: output, options: options) { ending in
            let status = self.status(after: ending)
            self.close(within: drainSeconds)
            tap?.finish()
            // `exit` would unload libraries that other threads still use, such as a thread that opens the store.
            _exit(status)
        }
        watchInFlight { server.inFlight }
        logRefusedThreads()
        logsOpening.store(true, ordering: .relaxed)
        Signals.take { server.terminate() }
        try prepare(self)
        // Opens the store early, so that problems are logged immediately and the first request does not wait. A request that is already
        // there comes first: on a busy machine the new thread would run before this one.
        server.run {
            if !Thread.start(name: "opening", heap: 1_200_000, { _ = try? self.services() }) { _ = try? self.services() }
        }
    }

    /// Closes the store within a time limit. If closing takes longer, the process exits without it; all data of completed requests is
    /// already stored.
    private func close(within seconds: Int) {
        let isOver = ConditionLock(false)
        let close: @Sendable () -> Void = {
            self.close(logsHeads: true)
            isOver.withLock { $0 = true }
            isOver.signal()
        }
        if !Thread.start(name: "closing", close) { close() }
        let deadline = Monotonic.nanoseconds() + UInt64(max(1, seconds)) * 1_000_000_000
        if isOver.wait(deadline: deadline, until: { $0 ? () : nil }) == nil {
            log.warning("the store could not be closed; the process exits anyway")
            logRing?.flush()
        }
    }

    /// Logs that the opened store is new, since a mistyped path also creates a store. An empty file can be the rest of a store that has
    /// lost its content, so it causes a warning in every command.
    func logNewStore(_ services: Services) {
        guard configuration.store != .memory else { return }
        switch services.context.database.beginning {
        case .existing: break
        case .createdInEmptyFile:
            log.warning(
                "the file of the store was empty; a new store was created in it",
                metadata: [
                    "store": "\(configuration.store)",
                    "remedy": "if the file contained a store before, restore a backup with mintmark restore --replace",
                ])
        case .created where logsOpening.load(ordering: .relaxed):
            log.info("a new store was created", metadata: ["store": "\(configuration.store)"])
        case .created: break
        }
    }

    /// Logs a warning for each file of the store that other users can read.
    func warnOfOpenFiles() {
        guard case .file(let path) = configuration.store else { return }
        for file in [path, path + ".key"] {
            var facts = stat()
            guard stat(file, &facts) == 0, facts.st_mode & 0o077 != 0 else { continue }
            log.warning(
                "a file of the store is readable by other users of this machine", metadata: ["file": "\(file)", "remedy": "chmod 600"])
        }
    }

    /// Returns the exit status. Logs input and output failures.
    private func status(after ending: ServerEnding) -> Int32 {
        func logged(_ message: Logger.Message, _ reason: String) -> Int32 {
            log.error(message, metadata: ["reason": "\(reason)"])
            return 74
        }
        switch ending {
        case .outputUnwritable(let reason): return logged("the responses cannot be written", String(cString: strerror(reason)))
        // The response to that header states the problem.
        case .inputUnreadable(EBADMSG):
            return logged("the requests cannot be read", "a message has a malformed header, so the next message cannot be found")
        case .inputUnreadable(let reason): return logged("the requests cannot be read", String(cString: strerror(reason)))
        case .inputEnded: return isStoreRefused(waiting: true) ? 2 : 0
        case .told: return isStoreRefused(waiting: false) ? 2 : 0
        }
    }

    /// Logs refused threads at most once every 10 seconds, because then every request can be affected.
    private func logRefusedThreads() {
        let log = log
        let last = Mutex<UInt64>(0)
        Thread.onRefusal { name, reason in
            let now = Monotonic.nanoseconds()
            let isNews = last.withLock { last in
                guard last == 0 || now - last >= 10_000_000_000 else { return false }
                last = now
                return true
            }
            guard isNews else { return }
            log.warning(
                "the operating system refuses another thread; requests wait for the threads that exist, or fail with tooManyRequests",
                metadata: [
                    "thread": "\(name)", "reason": "\(String(cString: strerror(reason)))",
                    "remedy": "raise the limit of processes and threads (ulimit -u, pids.max)",
                ])
        }
    }

    /// Processes requests on the calling thread.
    public var responder: Responder { Responder(MethodRegistry(self), observer: counters) }
}

/// The view in which pipelined calls read.
final class SharedReads: SharedByCalls {
    let view = SharedView()
}
