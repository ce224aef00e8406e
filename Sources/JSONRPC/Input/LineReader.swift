import Glibc

/// Reads lines from a descriptor, many with one `read(2)`. Each line is a view into the buffer.
///
/// The buffer holds 64 KiB and grows for longer lines, up to `maximumLine`. Lines beyond that limit are discarded.
struct LineReader: MessageReader, ~Copyable {
    private static let usualCapacity = 64 * 1024

    private let descriptor: Int32
    private let maximumLine: Int
    private var buffer: UnsafeMutableRawBufferPointer
    /// The range of bytes that have been read but not returned. The bytes before `searched` contain no line end.
    private var start = 0
    private var searched = 0
    private var end = 0
    /// Whether the reader is inside a line that exceeds the limit.
    private var isSkipping = false
    private var hasEnded = false
    /// The `errno` of the read failure, or `nil` at a regular end of the input.
    private(set) var failure: Int32?

    init(_ descriptor: Int32, maximumLine: Int) {
        self.descriptor = descriptor
        self.maximumLine = maximumLine
        buffer = .allocate(byteCount: Self.usualCapacity, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// Whether all received bytes have been consumed.
    var isDrained: Bool { start == end }

    /// Whether the received bytes may contain a `$/cancelRequest` message.
    var mayHoldControl: Bool { Self.mayBeControl(UnsafeRawBufferPointer(rebasing: buffer[start..<end])) }

    static func mayBeControl(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard var rest = bytes.baseAddress else { return false }
        let end = rest + bytes.count
        while let dollar = memchr(rest, Int32(UInt8(ascii: "$")), end - rest) {
            rest = UnsafeRawPointer(dollar) + 1
            if rest < end, rest.load(as: UInt8.self) == UInt8(ascii: "/") { return true }
        }
        return false
    }

    /// Performs one read, and blocks until data arrives. Invalidates the lines returned earlier.
    mutating func fill() -> Filled {
        if hasEnded { return .end }
        makeRoom()
        switch Arrived(on: descriptor, into: UnsafeMutableRawBufferPointer(rebasing: buffer[end...])) {
        case .bytes(let count):
            end += count
            return .some
        case .end: break
        case .failure(let reason): failure = reason
        }
        hasEnded = true
        return isDrained ? .end : .some
    }

    /// Returns the next complete line without its line end, and skips blank lines. At the end of the stream, the last line may lack a line
    /// end.
    mutating func next() -> Received? {
        while start < end {
            guard let newline = memchr(buffer.baseAddress! + searched, 10, end - searched) else { return lineWithoutEnd() }
            let lineStart = start
            let lineEnd = UnsafeRawPointer(newline) - UnsafeRawPointer(buffer.baseAddress!)
            start = lineEnd + 1
            searched = start
            if isSkipping {
                isSkipping = false
                continue
            }
            if let line = line(lineStart..<lineEnd) { return line }
        }
        return nil
    }

    private mutating func lineWithoutEnd() -> Received? {
        searched = end
        if isSkipping {
            start = end
            return nil
        }
        if end - start > maximumLine + 1 {
            start = end
            isSkipping = true
            return .tooLong
        }
        guard hasEnded else { return nil }
        defer { start = end }
        return line(start..<end)
    }

    /// Returns the line in `range`, or `nil` if it is blank.
    private func line(_ range: Range<Int>) -> Received? {
        var first = range.lowerBound
        var end = range.upperBound
        while first < end, Self.isBlank(buffer[end - 1]) { end -= 1 }
        while first < end, Self.isBlank(buffer[first]) { first += 1 }
        if first == end { return nil }
        return end - first > maximumLine ? .tooLong : .text(UnsafeRawBufferPointer(rebasing: buffer[first..<end]))
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0D || byte == 0x09 }

    /// Moves unread bytes to the front and overwrites consumed bytes, which may contain secrets. The buffer grows if a line fills it, and
    /// shrinks afterwards.
    private mutating func makeRoom() {
        if start == end {
            memset(buffer.baseAddress!, 0, end)
            (start, searched, end) = (0, 0, 0)
            if buffer.count > Self.usualCapacity { resize(to: Self.usualCapacity) }
        } else if start > 0 {
            memmove(buffer.baseAddress!, buffer.baseAddress! + start, end - start)
            memset(buffer.baseAddress! + (end - start), 0, start)
            (start, searched, end) = (0, searched - start, end - start)
        }
        if end == buffer.count { resize(to: min(buffer.count * 2, maximumLine + 4096)) }
    }

    private mutating func resize(to capacity: Int) {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: max(capacity, end + 4096), alignment: 16)
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[..<end]))
        buffer.deallocate()
        buffer = larger
    }
}
