import Contract
import JSON
import Loopback
import ServiceContext

/// The Identity Toolkit API at an HTTP server.
enum FirebaseHTTP {
    /// Returns the response to a request, or `nil` if the request is addressed to another API.
    static func answer(_ request: LoopbackRequest, _ service: FirebaseService, at endpoint: FirebaseEndpoint) -> LoopbackResponse? {
        guard let body = String(validating: request.body, as: UTF8.self) else {
            return answer(.json(FirebaseError.payload("The body is not UTF-8.").body, status: 400), to: request)
        }
        let wire = WireRequest(method: request.method, url: request.target, headers: request.headers, body: body)
        guard FirebaseService.isAddressed(by: wire) else { return nil }
        if request.method == "OPTIONS" { return preflight(for: request) }
        do {
            return answer(try service.answer(wire, at: endpoint, InProcessCall()), to: request)
        } catch {
            return answer(.json(FirebaseError("INTERNAL_ERROR", status: 500).body, status: 500), to: request)
        }
    }

    private static func answer(_ answer: WireAnswer, to request: LoopbackRequest) -> LoopbackResponse {
        let caching = answer.headers.contains { $0.name == "cache-control" } ? [] : [("cache-control", "no-store")]
        return LoopbackResponse(status: Int(answer.status), headers: answer.headers, body: Array(answer.body.utf8)).adding(
            [("access-control-allow-origin", request.header("origin") ?? "*"), ("vary", "origin")] + caching)
    }

    /// Returns the response to a CORS preflight request (Fetch Standard). All headers that a client asks for are allowed.
    private static func preflight(for request: LoopbackRequest) -> LoopbackResponse {
        var headers = [
            ("access-control-allow-origin", request.header("origin") ?? "*"),
            ("access-control-allow-methods", request.header("access-control-request-method") ?? "GET, POST, PATCH, DELETE"),
            ("access-control-allow-headers", request.header("access-control-request-headers") ?? "authorization, content-type"),
            ("vary", "origin"),
        ]
        if request.header("access-control-request-private-network") == "true" {
            headers.append(("access-control-allow-private-network", "true"))
        }
        return LoopbackResponse(status: 204, headers: headers)
    }
}
