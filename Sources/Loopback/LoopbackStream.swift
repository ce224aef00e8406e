import Glibc
import Platform

/// A request whose body and response are transferred in parts. The response ends with the connection.
public final class LoopbackStream {
    private let descriptor: Int32
    private let limits: LoopbackLimits
    private let isChunked: Bool
    private var buffer: [UInt8]
    /// The unread bytes of the body, or of the current chunk.
    private var left: Int
    private var expectsContinue: Bool
    /// Whether the whole body was read.
    public private(set) var hasReadBody: Bool

    init(_ descriptor: Int32, _ head: RequestHead, buffer: [UInt8], limits: LoopbackLimits) {
        self.descriptor = descriptor
        self.buffer = buffer
        self.limits = limits
        isChunked = head.isChunked
        left = head.isChunked ? 0 : head.bodyLength
        expectsContinue = head.expectsContinue
        hasReadBody = !head.isChunked && head.bodyLength == 0
    }

    /// Returns the next part of the body, which is empty at its end, or `nil` if the connection ends before or the body is not valid.
    public func read() -> [UInt8]? {
        if hasReadBody { return [] }
        if expectsContinue, buffer.isEmpty, !write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) { return nil }
        expectsContinue = false
        if isChunked, left == 0 {
            guard let line = readLine(), let length = try? RequestHead.chunkLength(line) else { return nil }
            if length == 0 {
                // The trailer has no meaning here.
                while let line = readLine() {
                    guard line.isEmpty else { continue }
                    hasReadBody = true
                    return []
                }
                return nil
            }
            left = length
        }
        if buffer.isEmpty, !fill() { return nil }
        let part = Array(buffer.prefix(left))
        buffer.removeFirst(part.count)
        left -= part.count
        if left == 0, isChunked { guard readLine()?.isEmpty == true else { return nil } }
        if left == 0, !isChunked { hasReadBody = true }
        return part
    }

    /// Writes a complete response.
    public func answer(_ response: LoopbackResponse) { _ = write(response.bytes(keepsOpen: false, isForHead: false)) }

    /// Writes the head of a response whose body follows in parts. Returns `false` if the connection has ended.
    public func begin(_ response: LoopbackResponse) -> Bool { write(response.bytes(keepsOpen: false, isForHead: true, isOpenEnded: true)) }

    /// Writes bytes. Returns `false` if the connection has ended.
    public func write(_ bytes: [UInt8]) -> Bool {
        Socket.write(descriptor, bytes, deadline: Monotonic.nanoseconds() + UInt64(limits.transferSeconds) * 1_000_000_000)
    }

    /// Returns whether the client has closed the connection, or the server is stopped.
    public var isClosed: Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)
    }

    private func readLine() -> [UInt8]? {
        while true {
            if let end = buffer.firstIndex(of: 0x0A) {
                guard end > 0, buffer[end - 1] == 0x0D else { return nil }
                defer { buffer.removeFirst(end + 1) }
                return Array(buffer[..<(end - 1)])
            }
            guard buffer.count <= 4096, fill() else { return nil }
        }
    }

    private func fill() -> Bool {
        Socket.read(descriptor, into: &buffer, deadline: Monotonic.nanoseconds() + UInt64(limits.transferSeconds) * 1_000_000_000)
    }
}
