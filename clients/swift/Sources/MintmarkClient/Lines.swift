#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif
import Synchronization

/// Splits input into lines.
struct LineBuffer {
    private var bytes: [UInt8] = []
    /// The number of bytes at the start that contain no newline.
    private var searched = 0
    private let limit: Int
    private var chunk = [UInt8](repeating: 0, count: 64 << 10)

    /// - Parameter limit: the maximum length of a line, in bytes.
    init(limit: Int) { self.limit = limit }

    /// Reads once and passes on the complete lines, without their newlines.
    ///
    /// - Returns: Whether more input can follow.
    /// - Throws: Rethrows the errors of `take`. A line that is too long is passed to `take` incomplete.
    mutating func fill(
        from descriptor: Int32, _ take: (UnsafeRawBufferPointer) throws -> Void
    ) rethrows -> Bool {
        let count = read(descriptor, &chunk, chunk.count)
        if count < 0 { return errno == EINTR || errno == EAGAIN }
        if count == 0 { return false }
        bytes += chunk[..<count]
        try cut(take)
        return true
    }

    private mutating func cut(_ take: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        var start = 0
        defer {
            bytes.removeFirst(start)
            searched = bytes.count
        }
        try bytes.withUnsafeBytes { all in
            while let end = Self.endOfLine(in: all, from: max(start, searched)) {
                let line = UnsafeRawBufferPointer(rebasing: all[start..<end])
                start = end + 1
                try take(line)
            }
            // The receiver rejects it, because it is not a valid message.
            if all.count - start > limit {
                let rest = UnsafeRawBufferPointer(rebasing: all[start...])
                start = all.count
                try take(rest)
            }
        }
    }

    private static func endOfLine(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard start < bytes.count, let base = bytes.baseAddress else { return nil }
        return memchr(base + start, Int32(UInt8(ascii: "\n")), bytes.count - start).map { UnsafeRawPointer($0) - base }
    }

    /// The bytes after the last newline.
    var rest: [UInt8] { bytes }
}

/// Passes the lines that a process writes to standard error to a log target, and keeps the last lines.
final class LogTail: Sendable {
    private let target: Mintmark.LogTarget
    private let lines = Mutex<[String]>([])

    init(_ target: Mintmark.LogTarget) { self.target = target }

    func take(_ line: UnsafeRawBufferPointer) {
        let text = String(decoding: line, as: UTF8.self)
        // Store the line first, because the log target can be slow.
        lines.withLock { lines in
            lines.append(text)
            if lines.count > 20 { lines.removeFirst() }
        }
        target.take(text)
    }

    /// Handles the last line if it has no newline.
    func finish(_ buffer: inout LineBuffer) {
        let rest = buffer.rest
        if !rest.isEmpty { rest.withUnsafeBytes { take($0) } }
    }

    var last: [String] { lines.withLock { $0 } }
}
