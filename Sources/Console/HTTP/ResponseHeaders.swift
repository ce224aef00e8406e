import Loopback

/// The headers of every response.
enum ResponseHeaders {
    static let pagePolicy = """
        default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; \
        frame-src 'self'; frame-ancestors 'none'; base-uri 'none'
        """

    /// - Parameter policy: The Content Security Policy.
    static func of(_ policy: String) -> [(name: String, value: String)] {
        [
            ("content-security-policy", policy), ("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"), ("cache-control", "no-store"),
        ]
    }
}

extension LoopbackResponse {
    /// Returns a redirect to a page of this server.
    static func redirect(to place: String) -> LoopbackResponse {
        LoopbackResponse(status: 303, headers: [("location", place)] + ResponseHeaders.of(ResponseHeaders.pagePolicy))
    }
}
