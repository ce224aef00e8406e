/// The request line and headers of a request, parsed strictly (RFC 9112): input that two parsers could interpret differently is rejected.
struct RequestHead: Sendable {
    let method: String
    let target: String
    let headers: [(name: String, value: String)]
    /// The length of the body in bytes, unless the body is chunked.
    let bodyLength: Int
    /// Whether the body is chunked.
    let isChunked: Bool
    /// Whether the client keeps the connection open for another request.
    let keepsOpen: Bool
    /// Whether the client waits for `100 Continue` before it sends the body.
    let expectsContinue: Bool

    /// The reason a request is rejected.
    struct Refusal: Error, Equatable {
        let status: Int
        let text: String
    }

    /// - Parameter bytes: The bytes before the empty line, including the preceding line break.
    init(_ bytes: some Collection<UInt8>) throws(Refusal) {
        guard bytes.allSatisfy({ $0 < 0x80 && ($0 >= 0x20 || $0 == 0x0D || $0 == 0x0A || $0 == 0x09) && $0 != 0x7F }) else {
            throw Refusal(status: 400, text: "The head of the request contains non-ASCII characters.")
        }
        let lines = try Self.lines(Array(bytes))
        let words = lines[0].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard words.count == 3, Self.isToken(words[0]) else { throw Refusal(status: 400, text: "The request line is not valid.") }
        guard words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0" else { throw Refusal(status: 505, text: "Only HTTP/1.1 is supported.") }
        guard words[1].hasPrefix("/") else { throw Refusal(status: 400, text: "The request target is not a path.") }
        method = words[0]
        target = words[1]
        var headers: [(name: String, value: String)] = []
        for line in lines.dropFirst() { headers.append(try Self.header(line)) }
        self.headers = headers
        func values(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }
        let codings = values("transfer-encoding")
        guard codings.isEmpty || (codings.count == 1 && codings[0].lowercased() == "chunked" && words[2] == "HTTP/1.1") else {
            throw Refusal(status: 501, text: "Send a Content-Length. The only supported transfer coding is chunked, in HTTP/1.1.")
        }
        // Two parsers could use different lengths (RFC 9112 section 6.1).
        guard codings.isEmpty || values("content-length").isEmpty else {
            throw Refusal(status: 400, text: "A request must not have both Content-Length and Transfer-Encoding.")
        }
        isChunked = !codings.isEmpty
        bodyLength = try Self.length(values("content-length"))
        let connection = values("connection").flatMap { $0.lowercased().split(separator: ",").map { $0.filter { $0 != " " } } }
        keepsOpen = words[2] == "HTTP/1.1" ? !connection.contains("close") : false
        expectsContinue = values("expect").contains { $0.lowercased() == "100-continue" }
        guard values("host").count == 1 else { throw Refusal(status: 400, text: "A request must have exactly one Host header.") }
    }

    /// Whether the Host header names this machine. This prevents DNS rebinding: a website whose own host name resolves to 127.0.0.1 sends
    /// that name in the Host header.
    var isForThisMachine: Bool {
        let host = headers.first { $0.name == "host" }?.value.lowercased() ?? ""
        let name = host.hasPrefix("[") ? host.prefix { $0 != "]" } + "]" : host.prefix { $0 != ":" }
        let port = host.dropFirst(name.count)
        let isPort = port.isEmpty || (port.first == ":" && port.count > 1 && port.dropFirst().utf8.allSatisfy { 0x30...0x39 ~= $0 })
        return isPort && ["127.0.0.1", "localhost", "[::1]"].contains(String(name))
    }

    private static func lines(_ bytes: [UInt8]) throws(Refusal) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: 0x0A) {
            guard end > rest.startIndex, rest[end - 1] == 0x0D else { throw Refusal(status: 400, text: "Lines must end with CR LF.") }
            lines.append(rest[..<(end - 1)])
            rest = rest[(end + 1)...]
        }
        guard rest.isEmpty, !lines.isEmpty, !lines.contains(where: { $0.contains(0x0D) }) else {
            throw Refusal(status: 400, text: "Lines must end with CR LF.")
        }
        return lines
    }

    private static func header(_ line: ArraySlice<UInt8>) throws(Refusal) -> (name: String, value: String) {
        let name = String(decoding: line.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
        guard name.utf8.count < line.count, isToken(name) else { throw Refusal(status: 400, text: "A header is not valid.") }
        let blank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 }
        let value = line.dropFirst(name.utf8.count + 1).drop(while: blank)
        let kept = value.lastIndex { !blank($0) }.map { value[...$0] } ?? []
        return (name.lowercased(), String(decoding: kept, as: UTF8.self))
    }

    private static func length(_ values: [String]) throws(Refusal) -> Int {
        guard let value = values.first else { return 0 }
        guard values.count == 1, (1...10).contains(value.utf8.count), value.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let length = Int(value)
        else {
            throw Refusal(status: 400, text: "Content-Length is not valid.")
        }
        return length
    }

    /// Returns the length of a chunk from the line that precedes it (RFC 9112 section 7.1). Ignores extensions.
    static func chunkLength(_ line: [UInt8]) throws(Refusal) -> Int {
        let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }
        let isHex = digits.allSatisfy { 0x30...0x39 ~= $0 || 0x41...0x46 ~= $0 || 0x61...0x66 ~= $0 }
        guard 1...8 ~= digits.count, isHex, let length = Int(String(decoding: digits, as: UTF8.self), radix: 16) else {
            throw Refusal(status: 400, text: "The length of a chunk is not valid.")
        }
        return length
    }

    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                switch $0 {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "!#$%&'*+-.^_`|~".utf8.contains($0)
                }
            }
    }
}
