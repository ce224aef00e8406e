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
        let origins: AllowedOrigins
    }

    private final class ServedFirebase: Sendable {
        let endpoint = Mutex<FirebaseEndpoint?>(nil)
    }

    public init(_ compat: CompatService) { self.compat = compat }

    /// Returns the server of a port, or of any port if `nil`. Starts a server if none is running.
    ///
    /// - Parameters:
    ///   - firebase: The new Firebase endpoint of the server; `nil` changes nothing.
    ///   - allowOrigins: The new list of origins whose pages can use the server; `nil` changes nothing.
    /// - Throws: `LoopbackFailure`.
    public func server(
        port: UInt16?, firebase: FirebaseEndpoint? = nil, allowOrigins: [String]? = nil
    ) throws(LoopbackFailure) -> LoopbackServer {
        try servers.withLock { servers throws(LoopbackFailure) in
            if let known = servers.first(where: { port == nil || $0.server.port == port }) {
                if let firebase { known.firebase.endpoint.withLock { $0 = firebase } }
                if let allowOrigins { known.origins.set(allowOrigins) }
                return known.server
            }
            let (compat, served, origins) = (compat, ServedFirebase(), AllowedOrigins(allowOrigins ?? []))
            served.endpoint.withLock { $0 = firebase }
            let server = try LoopbackServer(port: port ?? 0) { request in
                Self.answer(request, compat, firebase: served.endpoint.withLock { $0 }, origins)
            }
            servers.append(Served(server: server, firebase: served, origins: origins))
            return server
        }
    }

    /// Stops the servers after their pending requests have been answered.
    public func stop() { for server in servers.withLock({ $0 }) { server.server.stop() } }

    private static func answer(
        _ request: LoopbackRequest, _ compat: CompatService, firebase: FirebaseEndpoint?, _ origins: AllowedOrigins
    ) -> LoopbackResponse {
        if let firebase, let answer = FirebaseHTTP.answer(request, compat.firebase, at: firebase) { return answer }
        if let answer = EntraHTTP.answer(request, compat.entra) { return answer }
        if request.method == "OPTIONS" { return origins.preflight(for: request) }
        return answered(request, compat).adding(origins.headers(for: request))
    }

    private static func answered(_ request: LoopbackRequest, _ compat: CompatService) -> LoopbackResponse {
        guard let body = String(validating: request.body, as: UTF8.self) else {
            return LoopbackResponse(status: 400, text: "The body is not UTF-8.")
        }
        do {
            let answer = try compat.answer(
                WireRequest(method: request.method, url: request.target, headers: request.headers, body: body, sourceIp: "127.0.0.1"),
                InProcessCall(),
                arrivedByHTTP: true)
            return LoopbackResponse(status: Int(answer.status), headers: answer.headers, body: Array(answer.body.utf8))
        } catch {
            return LoopbackResponse(status: 500, text: "The request failed.")
        }
    }
}
