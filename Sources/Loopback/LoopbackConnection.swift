import Platform

/// One connection to a server: requests come one after the other.
struct LoopbackConnection {
    private let descriptor: Int32
    private let limits: LoopbackLimits
    /// What was read and not used yet.
    private var buffer: [UInt8] = []
    /// Whether another request may follow the last one.
    private(set) var keepsOpen = true

    init(descriptor: Int32, limits: LoopbackLimits) {
        self.descriptor = descriptor
        self.limits = limits
    }

    /// Waits for the next request. What cannot be one is answered here, and is the last.
    mutating func nextRequest() -> LoopbackRequest? {
        guard keepsOpen else { return nil }
        do {
            if buffer.isEmpty, !read(deadline: deadline(limits.idleSeconds)) { return nil }
            let deadline = deadline(limits.transferSeconds)
            guard let bytes = try readHead(deadline) else { return nil }
            let head = try RequestHead(bytes)
            guard head.isForThisMachine else {
                throw RequestHead.Refusal(status: 421, text: "Address this server as 127.0.0.1 or localhost.")
            }
            guard head.bodyLength <= limits.bodyBytes else {
                throw RequestHead.Refusal(status: 413, text: "A body has at most \(limits.bodyBytes) bytes.")
            }
            if head.expectsContinue, buffer.count < head.bodyLength {
                guard Socket.write(descriptor, Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), deadline: deadline) else { return nil }
            }
            while buffer.count < head.bodyLength { guard read(deadline: deadline) else { return nil } }
            let body = Array(buffer.prefix(head.bodyLength))
            buffer.removeFirst(head.bodyLength)
            keepsOpen = head.keepsOpen
            return LoopbackRequest(method: head.method, target: head.target, headers: head.headers, body: body)
        } catch let refusal as RequestHead.Refusal {
            keepsOpen = false
            _ = answer(LoopbackResponse(status: refusal.status, text: refusal.text), to: "", keepsOpen: false)
        } catch {}
        return nil
    }

    /// Writes an answer. Answers whether the connection goes on.
    mutating func answer(_ response: LoopbackResponse, to method: String, keepsOpen: Bool) -> Bool {
        let bytes = response.bytes(keepsOpen: keepsOpen, isForHead: method == "HEAD")
        return Socket.write(descriptor, bytes, deadline: deadline(limits.transferSeconds)) && keepsOpen
    }

    /// Everything up to the empty line, nil if the connection ends before.
    private mutating func readHead(_ deadline: UInt64) throws -> ArraySlice<UInt8>? {
        var searched = 0
        while true {
            if let end = Self.emptyLine(in: buffer, from: searched) {
                let head = buffer[..<(end + 2)]
                buffer.removeFirst(end + 4)
                return head
            }
            guard buffer.count <= limits.headBytes else {
                throw RequestHead.Refusal(status: 431, text: "A request's head has at most \(limits.headBytes) bytes.")
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
