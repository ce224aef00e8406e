import Glibc
import JSONRPC
import Logging
import Platform
import Storage
import Synchronization

extension Mintmark {
    /// Serves over the standard input and output until the input ends or a signal comes, and ends the process: with 0 when all is well,
    /// 2 if the store could not be opened, 74 (EX_IOERR of sysexits.h) if the input cannot be read or the answers not be written.
    ///
    /// - Parameters:
    ///   - methods: what is offered; nil: the contract's methods by their names.
    ///   - output: the descriptor that `Descriptors.protect` answered.
    ///   - trace: where every message is written to.
    ///   - prepare: runs before anything is read.
    /// - Throws: what `prepare` throws.
    public func serve(
        _ methods: (any MethodLookup)? = nil, output: Int32, options: ServerOptions, tracingTo trace: OpenedTraceFile? = nil,
        preparing prepare: (Mintmark) throws -> Void = { _ in }
    ) rethrows {
        var options = options
        options.tap = trace.map { TraceFile($0, log: log) }
        let (tap, drainSeconds) = (options.tap, options.drainSeconds)
        let server = Server(
            methods ?? Offering(self), input: 0, output: output, options: options, observer: counters, together: { SharedReads.during($0) },
            onEnd: { ending in
                let status = self.status(after: ending)
                self.close(within: drainSeconds)
                tap?.finish()
                // Not `exit`: what that runs would take libraries from under threads that still use them, such as one that opens a store.
                _exit(status)
            })
        watchInFlight { server.inFlight }
        logsOpening.store(true, ordering: .relaxed)
        Signals.take { server.terminate() }
        try prepare(self)
        // So that what is wrong with the store is said at once, and the first request finds it open.
        Thread.start(name: "opening") { _ = try? self.services() }
        server.run()
    }

    /// Closes the store, unless a server that does nothing any more keeps it from that: what was answered is kept there all the same.
    private func close(within seconds: Int) {
        let isOver = Gate(false)
        Thread.start(name: "closing") {
            self.close(logsHeads: true)
            isOver.withLock { $0 = true }
            isOver.signal()
        }
        let deadline = Monotonic.nanoseconds() + UInt64(max(1, seconds)) * 1_000_000_000
        if isOver.wait(deadline: deadline, until: { $0 ? () : nil }) == nil {
            log.warning("the store does not let itself be closed; the process ends without that")
            logRing?.flush()
        }
    }

    /// Says which of the store's files others may read.
    func warnOfOpenFiles() {
        guard case .file(let path) = configuration.store else { return }
        for file in [path, path + ".key"] {
            var facts = stat()
            guard stat(file, &facts) == 0, facts.st_mode & 0o077 != 0 else { continue }
            log.warning("others on this machine may read a file of the store", metadata: ["file": "\(file)", "remedy": "chmod 600"])
        }
    }

    /// What to end the process with; what is wrong with its input and output is logged.
    private func status(after ending: ServerEnding) -> Int32 {
        func logged(_ message: Logger.Message, _ reason: Int32) -> Int32 {
            log.error(message, metadata: ["reason": "\(String(cString: strerror(reason)))"])
            return 74
        }
        switch ending {
        case .outputUnwritable(let reason): return logged("the answers cannot be written", reason)
        case .inputUnreadable(let reason): return logged("the input cannot be read", reason)
        case .inputEnded: return isStoreRefused(waiting: true) ? 2 : 0
        case .told: return isStoreRefused(waiting: false) ? 2 : 0
        }
    }

    /// Answers requests on the caller's own thread.
    public var responder: Responder { Responder(Offering(self), observer: counters) }
}
