import JSON
import Loopback
import Mintmark
import Platform

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
        limits.refusalHeaders = ResponseHeaders.of(ResponseHeaders.pagePolicy)
        server = try LoopbackServer(port: settings.port, limits: limits, gate: { router.gate($0, $1) }, handler: { router.answer($0) })
        router.listen(on: server.port)
        follower = settings.traceFile.map { TraceFollower(path: $0, into: router.parts.log) }
        router.home.refresh()
    }

    /// Returns a URL with a new one-time token.
    public func newURL() -> String { "\(server.baseURL)/?token=\(router.access.newToken())" }

    /// Receives a record of the trace of this process.
    public func take(traceRecord: [UInt8]) { router.parts.log.take(traceRecord) }

    /// Stops listening and removes temporary files.
    public func stop() {
        router.end()
        router.parts.imports.removeFiles()
        server.stop(within: 1)
        follower?.stop()
        router.parts.calls.close()
    }
}
