import Glibc

/// A file of lines, read from its beginning to its end in bounded memory.
public final class LineFile {
    /// Why a file is not read.
    public struct Failure: Error, Hashable, Sendable {
        /// Half a sentence.
        public let reason: String
        /// Whether the file was being read already.
        public let hasBegun: Bool
    }

    /// One line, without its end.
    public enum Line: Hashable, Sendable {
        case text([UInt8])
        /// It has more bytes than a line may have, and is passed over.
        case tooLong
    }

    private let descriptor: Int32
    private let longestLine: Int
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    private var unread = 0..<0

    /// - Parameters:
    ///   - path: a file; folders, pipes and devices are refused.
    ///   - longestLine: in bytes.
    public init(_ path: String, longestLine: Int) throws(Failure) {
        descriptor = try Self.openFile(path)
        self.longestLine = longestLine
    }

    deinit { close(descriptor) }

    /// Here and not in `init`: what throws once all of an object is set is destroyed, and `deinit` would close the descriptor once more.
    private static func openFile(_ path: String) throws(Failure) -> Int32 {
        // Without O_NONBLOCK a pipe that nobody writes to would hold the thread.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw Failure(reason: String(cString: strerror(errno)), hasBegun: false) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw Failure(reason: status.st_mode & S_IFMT == S_IFDIR ? "it is a directory" : "it is not a regular file", hasBegun: false)
        }
        return descriptor
    }

    /// The next line, nil at the end. What follows the last line's end is a line if it has any bytes.
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
