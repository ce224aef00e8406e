/// A request from this machine.
public struct LoopbackRequest: Sendable, Equatable {
    public let method: String
    /// The path with its query, as received.
    public let target: String
    /// The headers in the order received, with names in lower case.
    public let headers: [(name: String, value: String)]
    public let body: [UInt8]

    public init(method: String, target: String, headers: [(name: String, value: String)], body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }

    /// Returns the value of the first header with this name, which must be in lower case.
    public func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    public static func == (a: Self, b: Self) -> Bool {
        a.method == b.method && a.target == b.target && a.body == b.body && a.headers.elementsEqual(b.headers) { $0 == $1 }
    }
}

/// The response to a request.
public struct LoopbackResponse: Sendable {
    public let status: Int
    /// The headers without Content-Length and Connection, which the server adds.
    public let headers: [(name: String, value: String)]
    public let body: [UInt8]

    public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Creates a response with a line of plain text.
    public init(status: Int, text: String) {
        self.init(status: status, headers: [("content-type", "text/plain; charset=utf-8")], body: Array((text + "\n").utf8))
    }

    /// Returns the same response with further headers.
    public func adding(_ more: [(name: String, value: String)]) -> LoopbackResponse {
        LoopbackResponse(status: status, headers: headers + more, body: body)
    }

    /// Returns the encoded response (RFC 9112).
    ///
    /// - Parameters:
    ///   - keepsOpen: Whether another request can follow on the connection.
    ///   - isForHead: Whether to omit the body, as required after HEAD.
    ///   - isOpenEnded: Whether the body ends with the connection and has no stated length.
    func bytes(keepsOpen: Bool, isForHead: Bool, isOpenEnded: Bool = false) -> [UInt8] {
        var head = "HTTP/1.1 \(status) \(Self.reasons[status] ?? "")\r\n"
        for (name, value) in headers { head += "\(Self.plain(name)): \(Self.plain(value))\r\n" }
        // A response with status 204 has no body and must not have a Content-Length (RFC 9110 section 8.6).
        if status != 204, !isOpenEnded { head += "content-length: \(body.count)\r\n" }
        head += "connection: \(keepsOpen ? "keep-alive" : "close")\r\n\r\n"
        return Array(head.utf8) + (isForHead || status == 204 ? [] : body)
    }

    /// Removes control characters, so that a value cannot begin another header line.
    private static func plain(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
    }

    private static let reasons = [
        200: "OK", 201: "Created", 204: "No Content", 302: "Found", 303: "See Other", 400: "Bad Request", 401: "Unauthorized",
        403: "Forbidden",
        404: "Not Found",
        405: "Method Not Allowed", 408: "Request Timeout", 409: "Conflict", 410: "Gone", 413: "Content Too Large",
        421: "Misdirected Request",
        429: "Too Many Requests",
        431: "Request Header Fields Too Large", 500: "Internal Server Error", 501: "Not Implemented", 503: "Service Unavailable",
        505: "HTTP Version Not Supported",
    ]
}

/// The limits of a server.
public struct LoopbackLimits: Sendable {
    /// The maximum size of the request line and headers together, in bytes.
    public var headBytes = 64 * 1024
    public var bodyBytes = 1024 * 1024
    /// The maximum number of open connections. Further connections wait, and idle connections are then closed to make room.
    public var connections = 256
    /// The time for which a connection can stay idle between requests, in seconds.
    public var idleSeconds = 60
    /// The time limit for receiving a request, and for sending a response, in seconds.
    public var transferSeconds = 20
    /// The time for which the rest of a rejected request is read and discarded, in seconds.
    public var lingerSeconds = 1
    /// Additional headers of the responses with which the server itself rejects a request.
    public var refusalHeaders: [(name: String, value: String)] = []

    public init() {}
}

/// The decision about a request after its head was read, before its body is read.
public enum LoopbackAdmission {
    /// The body is read, and the handler responds.
    case buffered
    /// The request is rejected with this response, and the connection ends.
    case rejected(LoopbackResponse)
    /// The closure reads the body and writes the response itself. The connection ends after it.
    case streamed((LoopbackStream) -> Void)
}
