import Glibc
import JSONRPC
import Platform
import Storage

extension Mintmark {
    /// Serves over the standard input and output until the input ends or a signal comes, and ends the process.
    ///
    /// - Parameters:
    ///   - output: the descriptor that `Descriptors.protect` answered.
    ///   - prepare: runs before anything is read.
    /// - Throws: what `prepare` throws.
    public func serve(output: Int32, options: ServerOptions, preparing prepare: (Mintmark) throws -> Void = { _ in }) rethrows {
        let server = Server(
            Offering(self), input: 0, output: output, options: options, observer: counters, together: { SharedReads.during($0) },
            onEnd: { status in
                self.close(logsHeads: true)
                exit(status)
            })
        watchInFlight { server.inFlight }
        Signals.take { server.terminate() }
        try prepare(self)
        // So that what is wrong with the store is said at once, and the first request finds it open.
        Thread.start(name: "opening") { _ = try? self.services() }
        server.run()
    }

    /// Answers requests on the caller's own thread.
    public var responder: Responder { Responder(Offering(self), observer: counters) }
}
