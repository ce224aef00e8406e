import Accounts

/// Cross-origin requests of pages (Fetch Standard).
enum EntraOrigins {
    private static let exposed = "client-request-id, x-ms-request-id"
    private static let usual = """
        content-type, x-client-sku, x-client-ver, x-client-os, x-client-cpu, x-client-current-telemetry, x-client-last-telemetry, \
        client-request-id, return-client-request-id
        """

    /// Returns the headers that let the page of the request read the response: those of an origin that an application of the tenant lists,
    /// and in a testing store of any origin as long as no application lists one.
    static func headers(for request: WireRequest, of tenant: TenantRecord, isTesting: Bool) -> [(name: String, value: String)] {
        guard let origin = request.header("origin") else { return [] }
        let client = (try? EntraForm(request))?["client_id"]
        guard tenant.allows(origin: origin, clientId: request.method == "OPTIONS" ? nil : client, isTesting: isTesting) else {
            return [("vary", "Origin")]
        }
        return [("access-control-allow-origin", origin), ("vary", "Origin"), ("access-control-expose-headers", exposed)]
    }

    /// Returns the response to a preflight request, which names no application.
    static func preflight(for request: WireRequest, _ headers: [(name: String, value: String)]) -> WireAnswer {
        guard headers.count > 1 else { return WireAnswer(status: 204, headers: headers, body: "") }
        let more = [
            ("access-control-allow-methods", "POST, GET, OPTIONS"),
            ("access-control-allow-headers", request.header("access-control-request-headers") ?? usual), ("access-control-max-age", "600"),
        ]
        return WireAnswer(status: 204, headers: headers + more, body: "")
    }
}
