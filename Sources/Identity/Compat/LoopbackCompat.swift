import Contract
import JSON
import Loopback
import Synchronization

/// Servers that answer `compat.http` on this machine's loopback address, one for each port.
public final class LoopbackCompat: Sendable {
    private let compat: CompatService
    private let servers = Mutex<[LoopbackServer]>([])

    public init(_ compat: CompatService) { self.compat = compat }

    /// The server of a port, or any; it begins to listen if it does not yet.
    ///
    /// - Throws: `LoopbackFailure`.
    func server(port: UInt16?) throws(LoopbackFailure) -> LoopbackServer {
        try servers.withLock { servers throws(LoopbackFailure) in
            if let known = servers.first(where: { port == nil || $0.port == port }) { return known }
            let compat = compat
            let server = try LoopbackServer(port: port ?? 0) { request in Self.answer(request, compat) }
            servers.append(server)
            return server
        }
    }

    /// Stops listening when everything that was asked is answered.
    public func stop() { for server in servers.withLock({ $0 }) { server.stop() } }

    private static func answer(_ request: LoopbackRequest, _ compat: CompatService) -> LoopbackResponse {
        guard let body = String(validating: request.body, as: UTF8.self) else {
            return LoopbackResponse(status: 400, text: "The body is not UTF-8.")
        }
        do {
            let answer = try compat.answer(
                WireRequest(method: request.method, url: request.target, headers: request.headers, body: body), LoopbackCall())
            return LoopbackResponse(status: Int(answer.status), headers: answer.headers, body: Array(answer.body.utf8))
        } catch {
            return LoopbackResponse(status: 500, text: "The request failed.")
        }
    }
}

/// A request that came over HTTP.
struct LoopbackCall: CallContext {
    var trace: String? { nil }
    var isCancelled: Bool { false }
    var isPublicCaller: Bool { false }
    func progress(_ value: JSONValue) {}
}
