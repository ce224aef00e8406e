/// A request that came from this machine.
public struct LoopbackRequest: Sendable, Equatable {
    public let method: String
    /// The path with its query, as it was sent.
    public let target: String
    /// In their order, names in lower case.
    public let headers: [(name: String, value: String)]
    public let body: [UInt8]

    public init(method: String, target: String, headers: [(name: String, value: String)], body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
    }

    /// The value of the first header of this name, which is in lower case.
    public func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    public static func == (a: Self, b: Self) -> Bool {
        a.method == b.method && a.target == b.target && a.body == b.body && a.headers.elementsEqual(b.headers) { $0 == $1 }
    }
}

/// What is answered.
public struct LoopbackResponse: Sendable {
    public let status: Int
    /// Without Content-Length and Connection, which the server writes.
    public let headers: [(name: String, value: String)]
    public let body: [UInt8]

    public init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A line of plain text.
    public init(status: Int, text: String) {
        self.init(status: status, headers: [("content-type", "text/plain; charset=utf-8")], body: Array((text + "\n").utf8))
    }

    /// Returns the same response with further headers.
    public func adding(_ more: [(name: String, value: String)]) -> LoopbackResponse {
        LoopbackResponse(status: status, headers: headers + more, body: body)
    }

    /// As it goes over the wire (RFC 9112).
    ///
    /// - Parameters:
    ///   - keepsOpen: whether another request may follow on the connection.
    ///   - isForHead: whether the body stays out, as after HEAD.
    func bytes(keepsOpen: Bool, isForHead: Bool) -> [UInt8] {
        var head = "HTTP/1.1 \(status) \(Self.reasons[status] ?? "")\r\n"
        for (name, value) in headers { head += "\(Self.plain(name)): \(Self.plain(value))\r\n" }
        // 204 has no body, and must not name its length (RFC 9110 8.6).
        if status != 204 { head += "content-length: \(body.count)\r\n" }
        head += "connection: \(keepsOpen ? "keep-alive" : "close")\r\n\r\n"
        return Array(head.utf8) + (isForHead || status == 204 ? [] : body)
    }

    /// No value can begin a line of its own.
    private static func plain(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
    }

    private static let reasons = [
        200: "OK", 204: "No Content", 302: "Found", 303: "See Other", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden",
        404: "Not Found",
        405: "Method Not Allowed", 408: "Request Timeout", 410: "Gone", 413: "Content Too Large", 421: "Misdirected Request",
        429: "Too Many Requests",
        431: "Request Header Fields Too Large", 500: "Internal Server Error", 501: "Not Implemented", 503: "Service Unavailable",
        505: "HTTP Version Not Supported",
    ]
}

/// What a server lets happen.
public struct LoopbackLimits: Sendable {
    /// Request line and headers together, in bytes.
    public var headBytes = 64 * 1024
    public var bodyBytes = 1024 * 1024
    /// Connections at a time; further ones wait until there is room, and then those that are idle give way.
    public var connections = 256
    /// How long a connection may stay idle between requests, in seconds.
    public var idleSeconds = 60
    /// How long a request may take to arrive, and an answer to be taken, in seconds.
    public var transferSeconds = 20
    /// How long the rest of a request that was refused is read and thrown away, in seconds.
    public var lingerSeconds = 1

    public init() {}
}
