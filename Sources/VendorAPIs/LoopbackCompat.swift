import Contract
import JSON
import Loopback
import ServiceContext
import Synchronization

/// The servers for `compat.http` on the loopback address, one for each port.
public final class LoopbackCompat: Sendable {
    private let compat: CompatService
    private let servers = Mutex<[Served]>([])

    /// A server with the Firebase endpoint that it has.
    private struct Served {
        let server: LoopbackServer
        let firebase: ServedFirebase
    }

    private final class ServedFirebase: Sendable {
        let endpoint = Mutex<FirebaseEndpoint?>(nil)
    }

    public init(_ compat: CompatService) { self.compat = compat }

    /// Returns the server of a port, or of any port if `nil`. Starts a server if none is running.
    ///
    /// - Parameter firebase: The Firebase endpoint that the server has from now on; `nil` changes nothing.
    /// - Throws: `LoopbackFailure`.
    public func server(port: UInt16?, firebase: FirebaseEndpoint? = nil) throws(LoopbackFailure) -> LoopbackServer {
        try servers.withLock { servers throws(LoopbackFailure) in
            if let known = servers.first(where: { port == nil || $0.server.port == port }) {
                if let firebase { known.firebase.endpoint.withLock { $0 = firebase } }
                return known.server
            }
            let (compat, served) = (compat, ServedFirebase())
            served.endpoint.withLock { $0 = firebase }
            let server = try LoopbackServer(port: port ?? 0) { request in
                Self.answer(request, compat, firebase: served.endpoint.withLock { $0 })
            }
            servers.append(Served(server: server, firebase: served))
            return server
        }
    }

    /// Stops the servers after their pending requests have been answered.
    public func stop() { for server in servers.withLock({ $0 }) { server.server.stop() } }

    private static func answer(_ request: LoopbackRequest, _ compat: CompatService, firebase: FirebaseEndpoint?) -> LoopbackResponse {
        if let firebase, let answer = FirebaseHTTP.answer(request, compat, at: firebase) { return answer }
        if let answer = EntraHTTP.answer(request, compat) { return answer }
        if request.method == "OPTIONS" { return preflight(for: request) }
        return answered(request, compat).adding([
            ("access-control-allow-origin", "*"), ("access-control-expose-headers", "x-amzn-requestid, x-amzn-errortype"),
        ])
    }

    /// Returns the response to a CORS preflight request (Fetch Standard). Like AWS, it allows all origins. SDKs send many different
    /// headers, so all requested headers are allowed.
    private static func preflight(for request: LoopbackRequest) -> LoopbackResponse {
        let usual = "authorization, content-type, x-amz-date, x-amz-security-token, x-amz-target, x-amz-user-agent"
        return LoopbackResponse(
            status: 200,
            headers: [
                ("access-control-allow-origin", "*"), ("access-control-allow-methods", "GET, POST, OPTIONS"),
                ("access-control-allow-headers", request.header("access-control-request-headers") ?? usual),
                ("access-control-max-age", "172800"), ("vary", "access-control-request-headers"),
            ])
    }

    private static func answered(_ request: LoopbackRequest, _ compat: CompatService) -> LoopbackResponse {
        guard let body = String(validating: request.body, as: UTF8.self) else {
            return LoopbackResponse(status: 400, text: "The body is not UTF-8.")
        }
        do {
            let answer = try compat.answer(
                WireRequest(method: request.method, url: request.target, headers: request.headers, body: body), InProcessCall(),
                arrivedByHTTP: true)
            return LoopbackResponse(status: Int(answer.status), headers: answer.headers, body: Array(answer.body.utf8))
        } catch {
            return LoopbackResponse(status: 500, text: "The request failed.")
        }
    }
}
