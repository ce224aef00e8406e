import Glibc

/// Reads lines from a descriptor, many with one `read(2)`, each lent out where it lies in the buffer.
///
/// The buffer holds 64 KiB and grows for a long line, never beyond `maximumLine`; of a longer one nothing is kept.
struct LineReader: MessageReader, ~Copyable {
    private static let usualCapacity = 64 * 1024

    private let descriptor: Int32
    private let maximumLine: Int
    private var buffer: UnsafeMutableRawBufferPointer
    /// What is read and not taken; up to `searched` there is no end of a line in it.
    private var start = 0
    private var searched = 0
    private var end = 0
    /// Inside a line that was too long.
    private var isSkipping = false
    private var hasEnded = false
    /// The system's number for why nothing more can be read, nil at a regular end.
    private(set) var failure: Int32?

    init(_ descriptor: Int32, maximumLine: Int) {
        self.descriptor = descriptor
        self.maximumLine = maximumLine
        buffer = .allocate(byteCount: Self.usualCapacity, alignment: 16)
    }

    deinit { buffer.deallocate() }

    /// Whether everything that was read has been taken.
    var isDrained: Bool { start == end }

    /// Whether a message that could be `$/cancelRequest` may be among what is read.
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

    /// Reads once, waiting for as long as it takes. Lines lent out before are no longer valid.
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

    /// The next line that has been read to its end, without that end and never blank; at the end of the stream also one that has no end.
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

    /// The line in `range`, nil if it is blank.
    private func line(_ range: Range<Int>) -> Received? {
        var first = range.lowerBound
        var end = range.upperBound
        while first < end, Self.isBlank(buffer[end - 1]) { end -= 1 }
        while first < end, Self.isBlank(buffer[first]) { first += 1 }
        if first == end { return nil }
        return end - first > maximumLine ? .tooLong : .text(UnsafeRawBufferPointer(rebasing: buffer[first..<end]))
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0D || byte == 0x09 }

    /// Moves what is left to the front, and overwrites what was taken, which may be secret; grows when a line fills the buffer, and shrinks
    /// again after it.
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
