import Glibc

/// Reads messages with the header of the Language Server Protocol's base protocol (3.17): `Content-Length: N`, `\r\n`, an empty line, and N
/// bytes. `Content-Type` is optional and must specify UTF-8; other fields are ignored.
///
/// A body that exceeds the limit is skipped, and reading continues with the next message. After a malformed header, the start of the next
/// message is unknown: reading stops, and `failure` is EBADMSG.
struct FrameReader: MessageReader, ~Copyable {
    /// The maximum length of a header with all its lines, in bytes.
    static let maximumHeader = 4096
    /// The highest value of `--max-line`. A header with a greater length is malformed; its body is not skipped.
    static let maximumLength = 1 << 26

    private static let usualCapacity = 64 * 1024

    private let descriptor: Int32
    private let maximumBody: Int
    private var buffer: UnsafeMutableRawBufferPointer
    /// The range of bytes that have been read but not returned.
    private var start = 0
    private var end = 0
    /// The length of the next body, once its header has been parsed.
    private var body: Int?
    /// The number of bytes of an oversized body that remain to be skipped.
    private var skipping = 0
    private var hasEnded = false
    private(set) var failure: Int32?

    init(_ descriptor: Int32, maximumBody: Int) {
        self.descriptor = descriptor
        self.maximumBody = maximumBody
        buffer = .allocate(byteCount: Self.usualCapacity, alignment: 16)
    }

    deinit { buffer.deallocate() }

    var isDrained: Bool { start == end }

    mutating func fill() -> Filled {
        if hasEnded || failure != nil { return .end }
        makeRoom()
        switch Arrived(on: descriptor, into: UnsafeMutableRawBufferPointer(rebasing: buffer[end...])) {
        case .bytes(let count):
            end += count
            return .some
        case .end: break
        case .failure(let reason): failure = reason
        }
        hasEnded = true
        // `next` reports an incomplete message.
        return failure != nil || isDrained && body == nil && skipping == 0 ? .end : .some
    }

    mutating func next() -> Received? {
        while failure == nil {
            if skipping > 0 {
                let passed = min(skipping, end - start)
                start += passed
                skipping -= passed
                if skipping > 0 { return atEnd() }
            }
            guard let length = body else {
                guard start < end else { return nil }
                switch FrameHeader.read(UnsafeRawBufferPointer(rebasing: buffer[start..<end])) {
                case .unfinished: return atEnd()
                case .broken(let flaw): return broken(flaw)
                case .complete(let header):
                    start += header.size
                    if let refusal = begin(header) { return refusal }
                }
                continue
            }
            guard end - start >= length else { return atEnd() }
            defer { start += length }
            body = nil
            return .text(Self.trimmed(UnsafeRawBufferPointer(rebasing: buffer[start..<start + length])))
        }
        return nil
    }

    /// Continues with the body of a header. If the body must be skipped, returns the reason.
    private mutating func begin(_ header: FrameHeader) -> Received? {
        if header.length <= maximumBody, header.isUTF8 {
            body = header.length
            return nil
        }
        skipping = header.length
        return header.length > maximumBody ? .tooLong : .refused(.otherCharset)
    }

    /// Called if the buffer has no complete message. Returns an error if the input has ended inside a message, or `nil` if more input is
    /// expected.
    private mutating func atEnd() -> Received? { hasEnded ? broken(.endsInside) : nil }

    private mutating func broken(_ flaw: FrameFlaw) -> Received {
        failure = EBADMSG
        start = end
        return .refused(flaw)
    }

    /// Returns the body without surrounding white space, so that its first byte identifies the kind of JSON value.
    private static func trimmed(_ body: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
        var (first, end) = (0, body.count)
        while first < end, isBlank(body[end - 1]) { end -= 1 }
        while first < end, isBlank(body[first]) { first += 1 }
        return UnsafeRawBufferPointer(rebasing: body[first..<end])
    }

    /// Moves unread bytes to the front and overwrites consumed bytes, which may contain secrets. The buffer grows with the received part of
    /// a body, not with the announced length, and shrinks afterwards.
    private mutating func makeRoom() {
        if start > 0 {
            memmove(buffer.baseAddress!, buffer.baseAddress! + start, end - start)
            memset(buffer.baseAddress! + (end - start), 0, start)
        }
        (start, end) = (0, end - start)
        if end == 0, body == nil, buffer.count > Self.usualCapacity { resize(to: Self.usualCapacity) }
        if end == buffer.count { resize(to: min(buffer.count * 2, max(body ?? 0, end + 4096))) }
    }

    private mutating func resize(to capacity: Int) {
        let other = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
        other.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[..<end]))
        buffer.deallocate()
        buffer = other
    }
}
