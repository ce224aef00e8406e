import Glibc
import Platform

/// One connection to a server. Requests are processed one after the other.
struct LoopbackConnection {
    private let descriptor: Int32
    private let limits: LoopbackLimits
    private let gate: LoopbackServer.Gate?
    /// The bytes that were received and not parsed yet.
    private var buffer: [UInt8] = []
    /// Whether another request can follow the last one.
    private(set) var keepsOpen = true

    init(descriptor: Int32, limits: LoopbackLimits, gate: LoopbackServer.Gate? = nil) {
        self.descriptor = descriptor
        self.gate = gate
        self.limits = limits
    }

    /// Waits for the next request. Responds to a request that is not valid with an error, after which the connection accepts no further
    /// request.
    ///
    /// - Parameter whenItBegins: Called when the first bytes of the request have been received.
    mutating func nextRequest(whenItBegins: () -> Void) -> LoopbackRequest? {
        guard keepsOpen else { return nil }
        do {
            if buffer.isEmpty, !read(deadline: deadline(limits.idleSeconds)) { return nil }
            whenItBegins()
            let deadline = deadline(limits.transferSeconds)
            guard let bytes = try readHead(deadline) else { return nil }
            let head = try RequestHead(bytes)
            guard passes(head) else { return nil }
            guard head.isForThisMachine else {
                throw RequestHead.Refusal(status: 421, text: "Use 127.0.0.1 or localhost as the host.")
            }
            guard head.bodyLength <= limits.bodyBytes else {
                throw RequestHead.Refusal(status: 413, text: "The body can have at most \(limits.bodyBytes) bytes.")
            }
            if head.expectsContinue, head.isChunked ? buffer.isEmpty : buffer.count < head.bodyLength {
                guard Socket.write(descriptor, Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), deadline: deadline) else { return nil }
            }
            guard let body = try head.isChunked ? readChunks(deadline) : readBody(head.bodyLength, deadline) else { return nil }
            keepsOpen = head.keepsOpen
            return LoopbackRequest(method: head.method, target: head.target, headers: head.headers, body: body)
        } catch let refusal as RequestHead.Refusal {
            keepsOpen = false
            reject(LoopbackResponse(status: refusal.status, text: refusal.text).adding(limits.refusalHeaders), to: "")
        } catch {}
        return nil
    }

    /// Asks the gate. Returns whether the request takes the usual way; otherwise, it has its response.
    private mutating func passes(_ head: RequestHead) -> Bool {
        guard let gate else { return true }
        let request = LoopbackRequest(method: head.method, target: head.target, headers: head.headers, body: [])
        switch gate(request, head.isChunked ? nil : head.bodyLength) {
        case .buffered: return true
        case .rejected(let response): reject(response, to: head.method)
        case .streamed(let take):
            let stream = LoopbackStream(descriptor, head, buffer: buffer, limits: limits)
            take(stream)
            buffer = []
            if !stream.hasReadBody { discardRest() }
        }
        keepsOpen = false
        return false
    }

    private mutating func reject(_ response: LoopbackResponse, to method: String) {
        _ = answer(response, to: method, keepsOpen: false)
        discardRest()
    }

    /// Reads and discards the remaining input for a short time. If a connection is closed with unread input, TCP can discard the response
    /// that was already sent (RFC 9112 section 9.6).
    private mutating func discardRest() {
        shutdown(descriptor, Int32(SHUT_WR))
        let deadline = deadline(limits.lingerSeconds)
        var left = 4 * 1024 * 1024
        repeat {
            left -= buffer.count
            buffer = []
        } while left > 0 && read(deadline: deadline)
    }

    /// Writes a response. Returns whether the connection stays open.
    mutating func answer(_ response: LoopbackResponse, to method: String, keepsOpen: Bool) -> Bool {
        let bytes = response.bytes(keepsOpen: keepsOpen, isForHead: method == "HEAD")
        return Socket.write(descriptor, bytes, deadline: deadline(limits.transferSeconds)) && keepsOpen
    }

    /// Returns the next `count` bytes, or `nil` if the connection ends before.
    private mutating func readBody(_ count: Int, _ deadline: UInt64) throws -> [UInt8]? {
        while buffer.count < count { guard read(deadline: deadline) else { return nil } }
        defer { buffer.removeFirst(count) }
        return Array(buffer.prefix(count))
    }

    /// Returns a chunked body (RFC 9112 section 7.1), or `nil` if the connection ends before. Ignores the trailer.
    private mutating func readChunks(_ deadline: UInt64) throws -> [UInt8]? {
        var body: [UInt8] = []
        while true {
            guard let line = try readLine(deadline) else { return nil }
            let count = try RequestHead.chunkLength(line)
            guard body.count + count <= limits.bodyBytes else {
                throw RequestHead.Refusal(status: 413, text: "The body can have at most \(limits.bodyBytes) bytes.")
            }
            if count == 0 { break }
            guard let chunk = try readBody(count, deadline), let end = try readLine(deadline) else { return nil }
            guard end.isEmpty else { throw RequestHead.Refusal(status: 400, text: "A chunk is longer than its stated length.") }
            body += chunk
        }
        var trailing = 0
        while true {
            guard let line = try readLine(deadline) else { return nil }
            if line.isEmpty { return body }
            trailing += line.count
            guard trailing <= limits.headBytes else { throw RequestHead.Refusal(status: 431, text: "The trailer of the body is too long.") }
        }
    }

    /// Returns the next line of a chunked body without its line break, or `nil` if the connection ends before.
    private mutating func readLine(_ deadline: UInt64) throws -> [UInt8]? {
        while true {
            if let end = buffer.firstIndex(of: 0x0A) {
                guard end > 0, buffer[end - 1] == 0x0D else { throw RequestHead.Refusal(status: 400, text: "Lines must end with CR LF.") }
                defer { buffer.removeFirst(end + 1) }
                return Array(buffer[..<(end - 1)])
            }
            guard buffer.count <= 4096 else { throw RequestHead.Refusal(status: 400, text: "A line between chunks is too long.") }
            guard read(deadline: deadline) else { return nil }
        }
    }

    /// Returns the bytes before the empty line, or `nil` if the connection ends before.
    private mutating func readHead(_ deadline: UInt64) throws -> ArraySlice<UInt8>? {
        var searched = 0
        while true {
            if let end = Self.emptyLine(in: buffer, from: searched) {
                let head = buffer[..<(end + 2)]
                buffer.removeFirst(end + 4)
                return head
            }
            guard buffer.count <= limits.headBytes else {
                throw RequestHead.Refusal(status: 431, text: "The head of a request can have at most \(limits.headBytes) bytes.")
            }
            searched = max(0, buffer.count - 3)
            guard read(deadline: deadline) else { return nil }
        }
    }

    private static func emptyLine(in buffer: [UInt8], from start: Int) -> Int? {
        guard buffer.count >= start + 4 else { return nil }
        return (start...(buffer.count - 4)).first {
            buffer[$0] == 0x0D && buffer[$0 + 1] == 0x0A && buffer[$0 + 2] == 0x0D && buffer[$0 + 3] == 0x0A
        }
    }

    private mutating func read(deadline: UInt64) -> Bool { Socket.read(descriptor, into: &buffer, deadline: deadline) }

    private func deadline(_ seconds: Int) -> UInt64 { Monotonic.nanoseconds() + UInt64(seconds) * 1_000_000_000 }
}
