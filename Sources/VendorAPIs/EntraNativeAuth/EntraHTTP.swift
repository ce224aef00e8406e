import Loopback
import ServiceContext

/// The native authentication API at an HTTP server.
enum EntraHTTP {
    /// Returns the response to a request, or `nil` if the request is addressed to another API.
    static func answer(_ request: LoopbackRequest, _ service: EntraService) -> LoopbackResponse? {
        // The form refuses the replacements of invalid bytes.
        let body = String(decoding: request.body, as: UTF8.self)
        let wire = WireRequest(method: request.method, url: request.target, headers: request.headers, body: body)
        guard wire.header("x-amz-target") == nil, EntraAddress(wire) != nil else { return nil }
        do {
            guard let answer = try service.answer(wire, limitsClients: false, InProcessCall()) else { return nil }
            return LoopbackResponse(status: Int(answer.status), headers: answer.headers, body: Array(answer.body.utf8))
        } catch {
            return LoopbackResponse(status: 500, text: "The request failed.")
        }
    }
}
