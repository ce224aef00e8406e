import JSONRPC

extension Mintmark {
    /// Serves the contract's methods to the program in which this library is embedded.
    ///
    /// - Parameter receive: Receives responses and notifications; see `LocalServer`.
    public func local(options: ServerOptions = ServerOptions(), receive: @escaping @Sendable (UnsafeRawBufferPointer) -> Void)
        -> LocalServer
    {
        var options = options
        options.hostRequests = host.requests
        options.observer = counters
        let server = LocalServer(MethodRegistry(self), options: options, receive: receive)
        watchInFlight { [weak server] in server?.inFlight ?? 0 }
        logsOpening.store(true, ordering: .relaxed)
        return server
    }

    /// Serves the contract's methods to an interface in this process, such as the web console. Its calls are not part of `system.metrics`.
    ///
    /// - Parameters:
    ///   - actor: The actor of the calls in the audit log.
    ///   - receive: Receives responses and notifications; see `LocalServer`.
    public func local(actor: String, receive: @escaping @Sendable (UnsafeRawBufferPointer) -> Void) -> LocalServer {
        var options = ServerOptions()
        options.observer = FailureLog(counters: counters)
        return LocalServer(MethodRegistry(self, actor: actor), options: options, receive: receive)
    }

    /// Logs an event of an interface in this process.
    public func logNotice(_ message: String, _ facts: [String: String]) {
        log.notice("\(message)", metadata: facts.mapValues { "\($0)" })
    }
}

/// Logs internal errors and counts nothing.
private struct FailureLog: CallObserver {
    let counters: Counters

    func ended(_ call: Call, _ report: CallReport) {}
    func failed(_ call: Call, with error: any Error, incident: String) { counters.failed(call, with: error, incident: incident) }
    func refused(_ errorType: String) {}
}
