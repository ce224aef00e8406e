import JSON
import Loopback
import Mintmark
import Platform

/// The settings of the console.
public struct ConsoleSettings: Sendable {
    /// The port on 127.0.0.1; 0 for any free port.
    public var port: UInt16 = 0
    /// Whether methods that write can be called.
    public var allowsWrites = false
    /// Whether secrets in results are shown.
    public var showsSecrets = false
    /// The trace file of another process whose requests are shown.
    public var traceFile: String?
    /// Whether the console is part of the process that serves the requests.
    public var isSidecar = false
    /// Returns the problems that `mintmark doctor` reports.
    public var warnings: @Sendable () -> [String] = { [] }

    public init() {}
}

/// The web console: a page on the loopback address for one store.
public final class Console: Sendable {
    private let server: LoopbackServer
    private let router: Router
    private let follower: TraceFollower?

    /// Starts listening.
    ///
    /// - Throws: `LoopbackFailure` if the port cannot be used.
    public init(_ mintmark: Mintmark, _ settings: ConsoleSettings) throws(LoopbackFailure) {
        let router = Router(mintmark, settings)
        self.router = router
        var limits = LoopbackLimits()
        limits.headBytes = Router.mostHead
        limits.bodyBytes = Router.mostBody
        limits.refusalHeaders = Router.headers(policy: Router.pagePolicy)
        server = try LoopbackServer(port: settings.port, limits: limits, gate: { router.gate($0, $1) }, handler: { router.answer($0) })
        router.listen(on: server.port)
        follower = settings.traceFile.map { TraceFollower(path: $0, into: router.log) }
        router.home.refresh()
    }

    /// Returns a URL with a new one-time token.
    public func newURL() -> String { "\(server.baseURL)/?token=\(router.access.newToken())" }

    /// Receives a record of the trace of this process.
    public func take(traceRecord: [UInt8]) { router.log.take(traceRecord) }

    /// Stops listening and removes temporary files.
    public func stop() {
        router.end()
        router.imports.removeFiles()
        server.stop(within: 1)
        follower?.stop()
        router.calls.close()
    }
}
