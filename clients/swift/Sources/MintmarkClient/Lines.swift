import Glibc
import Synchronization

/// Cuts what is read into lines.
struct LineBuffer {
    private var bytes: [UInt8] = []
    /// Up to here there is no end of a line.
    private var searched = 0
    private let limit: Int
    private var chunk = [UInt8](repeating: 0, count: 64 << 10)

    /// - Parameter limit: how many bytes a line may have.
    init(limit: Int) { self.limit = limit }

    /// Reads once, and hands on the lines that are complete, without their ends.
    ///
    /// - Returns: whether there may be more.
    /// - Throws: `UnexpectedValue` for a line that is too long; what `take` throws.
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
            // Whoever takes it sees that it is none.
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

    /// What is left without an end.
    var rest: [UInt8] { bytes }
}

/// Hands on what a process writes to standard error, and keeps the last lines.
final class LogTail: Sendable {
    private let target: Mintmark.LogTarget
    private let lines = Mutex<[String]>([])

    init(_ target: Mintmark.LogTarget) { self.target = target }

    func take(_ line: UnsafeRawBufferPointer) {
        let text = String(decoding: line, as: UTF8.self)
        // Kept first: whoever takes them may be slow.
        lines.withLock { lines in
            lines.append(text)
            if lines.count > 20 { lines.removeFirst() }
        }
        target.take(text)
    }

    /// Takes the last words, though their line has no end.
    func finish(_ buffer: inout LineBuffer) {
        let rest = buffer.rest
        if !rest.isEmpty { rest.withUnsafeBytes { take($0) } }
    }

    var last: [String] { lines.withLock { $0 } }
}
