import JSONRPC

extension Mintmark {
    /// Serves the contract's methods to the program in which this library is embedded.
    ///
    /// - Parameter receive: Receives responses and notifications; see `LocalServer`.
    public func local(options: ServerOptions = ServerOptions(), receive: @escaping @Sendable (UnsafeRawBufferPointer) -> Void)
        -> LocalServer
    {
        let server = LocalServer(MethodRegistry(self), options: options, observer: counters, receive: receive)
        watchInFlight { [weak server] in server?.inFlight ?? 0 }
        logsOpening.store(true, ordering: .relaxed)
        return server
    }
}
