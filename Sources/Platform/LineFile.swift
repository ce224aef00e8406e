import Glibc

/// Reads a file line by line in bounded memory.
public final class LineFile {
    /// The reason a file cannot be read.
    public struct Failure: Error, Hashable, Sendable {
        /// A clause without a final period.
        public let reason: String
        /// Whether reading had already begun.
        public let hasBegun: Bool
    }

    /// One line, without its line end.
    public enum Line: Hashable, Sendable {
        case text([UInt8])
        /// The line exceeds the maximum length and is skipped.
        case tooLong
    }

    private let descriptor: Int32
    private let longestLine: Int
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    private var unread = 0..<0

    /// - Parameters:
    ///   - path: The path of a regular file. Directories, pipes and devices are rejected.
    ///   - longestLine: The maximum length of a line, in bytes.
    public init(_ path: String, longestLine: Int) throws(Failure) {
        descriptor = try Self.openFile(path)
        self.longestLine = longestLine
    }

    deinit { close(descriptor) }

    /// Separate from `init`, because throwing after all properties are set would run `deinit` and close the descriptor twice.
    private static func openFile(_ path: String) throws(Failure) -> Int32 {
        // Without `O_NONBLOCK`, opening a pipe that has no writer would block the thread.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw Failure(reason: String(cString: strerror(errno)), hasBegun: false) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw Failure(reason: status.st_mode & S_IFMT == S_IFDIR ? "it is a directory" : "it is not a regular file", hasBegun: false)
        }
        return descriptor
    }

    /// Returns the next line, or `nil` at the end. Bytes after the last line end form a line.
    public func next() throws(Failure) -> Line? {
        var line: [UInt8] = []
        var isTooLong = false
        while true {
            if unread.isEmpty {
                unread = 0..<(try fill())
                if unread.isEmpty { return isTooLong ? .tooLong : line.isEmpty ? nil : .text(Self.trimmed(line)) }
            }
            let end = buffer.withUnsafeBytes { bytes -> Int? in
                memchr(bytes.baseAddress! + unread.lowerBound, 0x0A, unread.count).map { UnsafeRawPointer($0) - bytes.baseAddress! }
            }
            let piece = unread.lowerBound..<(end ?? unread.upperBound)
            if line.count + piece.count > longestLine { (isTooLong, line) = (true, []) }
            if !isTooLong { line += buffer[piece] }
            unread = min(piece.upperBound + (end == nil ? 0 : 1), unread.upperBound)..<unread.upperBound
            if end != nil { return isTooLong ? .tooLong : .text(Self.trimmed(line)) }
        }
    }

    private func fill() throws(Failure) -> Int {
        while true {
            let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 { return count }
            if errno != EINTR { throw Failure(reason: String(cString: strerror(errno)), hasBegun: true) }
        }
    }

    private static func trimmed(_ line: [UInt8]) -> [UInt8] { line.last == 0x0D ? line.dropLast() : line }
}
