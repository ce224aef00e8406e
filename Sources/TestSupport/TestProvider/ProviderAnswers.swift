import Contract
import JSON
import Loopback

/// An OAuth error response (RFC 6749 §5.2, RFC 6750 §3).
struct OAuthRefusal: Error {
    let code: String
    let description: String?
    let status: Int
    var headers: [(name: String, value: String)] = []
    /// Whether a test has set the description, which is then sent unchanged.
    private var isChosen = false

    /// - Parameter status: The HTTP status, or `nil` for the status that belongs to the code.
    init(_ code: String, _ description: String?, status: Int? = nil) {
        self.code = code
        self.description = description
        self.status = status ?? Self.statuses[code] ?? 400
        let isOfToken = ["invalid_token", "insufficient_scope"].contains(code)
        if self.status == 401 || isOfToken {
            let scheme = isOfToken ? "Bearer" : "Basic"
            let words = description.map { ", error_description=\"\(Self.quoted($0))\"" } ?? ""
            headers = [("www-authenticate", "\(scheme) realm=\"mintmark\", error=\"\(code)\"\(words)")]
        }
    }

    init(_ error: TestAnswerError) {
        self.init(error.code, error.description, status: error.status.map { Int($0) })
        isChosen = true
    }

    /// Maps an error of the service: `temporarily_unavailable` if the store is busy, otherwise `code`.
    init(_ error: any ContractError, or code: String) {
        let isPassing = 8000..<9000 ~= error.code
        self.init(isPassing ? "temporarily_unavailable" : code, error.message)
        if isPassing { headers.append(("retry-after", "1")) }
    }

    static let notUTF8 = OAuthRefusal("invalid_request", "The parameters are not UTF-8.")

    private static let statuses = [
        "invalid_client": 401, "invalid_token": 401, "insufficient_scope": 403, "server_error": 500, "temporarily_unavailable": 503,
    ]

    /// The value of `error_description`.
    var words: String? { isChosen ? description : description.map(Self.quoted) }

    /// Replaces characters that are not allowed in `error_description` and in a quoted header value (RFC 6749 §4.1.2.1 and §5.2, RFC 6750
    /// §3).
    static func quoted(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { 0x20...0x7E ~= $0.value && $0 != "\"" && $0 != "\\" ? $0 : "'" }))
    }

    /// The response for an endpoint that programs call.
    var response: LoopbackResponse {
        var object: JSONObject = ["error": .string(code)]
        object["error_description"] = words.map { .string($0) }
        return LoopbackResponse(json: object, status: status, headers: headers)
    }
}

extension LoopbackResponse {
    /// A JSON document that must not be cached (RFC 6749 §5.1).
    init(json: JSONObject, status: Int = 200, headers: [(name: String, value: String)] = []) {
        self.init(
            status: status,
            headers: [("content-type", "application/json"), ("cache-control", "no-store"), ("pragma", "no-cache")] + headers,
            body: JSONValue.object(json).bytes)
    }

    /// A redirect.
    ///
    /// - Parameter afterForm: Whether the request was a form post, after which the next request must be a GET.
    init(redirect url: String, afterForm: Bool, cookie: String? = nil) {
        self.init(
            status: afterForm ? 303 : 302,
            headers: [("location", url), ("cache-control", "no-store"), ("referrer-policy", "no-referrer")]
                + (cookie.map { [("set-cookie", $0)] } ?? []))
    }

    /// The response with CORS headers, so that clients in browsers can read it.
    var readableElsewhere: LoopbackResponse {
        adding([("access-control-allow-origin", "*"), ("access-control-expose-headers", "www-authenticate, retry-after, dpop-nonce")])
    }

    /// The response to a CORS preflight request (Fetch Standard). It allows all headers, such as those for tracing.
    static func preflight(for request: LoopbackRequest) -> LoopbackResponse {
        LoopbackResponse(
            status: 204,
            headers: [
                ("access-control-allow-origin", "*"), ("access-control-allow-methods", "GET, POST, PUT, DELETE, OPTIONS"),
                ("access-control-allow-headers", request.header("access-control-request-headers") ?? "authorization, content-type, dpop"),
                ("access-control-max-age", "600"), ("vary", "access-control-request-headers"),
            ])
    }
}
