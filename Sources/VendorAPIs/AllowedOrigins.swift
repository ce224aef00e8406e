import Loopback
import Synchronization

/// The origins whose pages can use a server for `compat.http` (Fetch Standard, "CORS protocol").
final class AllowedOrigins: Sendable {
    private let origins: Mutex<[String]>

    /// - Parameter origins: Origins as browsers send them, or `*` for all.
    init(_ origins: [String]) { self.origins = Mutex(origins) }

    func set(_ origins: [String]) { self.origins.withLock { $0 = origins } }

    /// Returns the origin of a page if it can use the server.
    private func origin(of request: LoopbackRequest) -> String? {
        guard let origin = request.header("origin") else { return nil }
        return origins.withLock { $0.contains(origin) || $0.contains("*") } ? origin : nil
    }

    /// Returns the headers with which the page of a request can read the response; none if its origin is not allowed.
    func headers(for request: LoopbackRequest) -> [(name: String, value: String)] {
        guard let origin = origin(of: request) else { return [] }
        return [
            ("access-control-allow-origin", origin), ("vary", "Origin"),
            ("access-control-expose-headers", "x-amzn-requestid, x-amzn-errortype, date"),
        ]
    }

    /// Returns the response to a preflight request. All headers that a page asks for are allowed, because SDKs send many.
    func preflight(for request: LoopbackRequest) -> LoopbackResponse {
        guard let origin = origin(of: request) else {
            return LoopbackResponse(
                status: 403, text: "Pages of this origin cannot use the endpoint. Add the origin to allowOrigins of test.http.")
        }
        var headers = [
            ("access-control-allow-origin", origin), ("access-control-allow-methods", "POST, GET, OPTIONS"),
            ("access-control-max-age", "600"), ("vary", "Origin"),
        ]
        if let wanted = request.header("access-control-request-headers") { headers.append(("access-control-allow-headers", wanted)) }
        if request.header("access-control-request-private-network") == "true" {
            headers.append(("access-control-allow-private-network", "true"))
        }
        return LoopbackResponse(status: 204, headers: headers)
    }
}
