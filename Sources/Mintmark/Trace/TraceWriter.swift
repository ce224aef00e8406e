import Glibc

/// Writes complete lines to a file that may run out of space. The first line after a failure states how many lines are missing.
struct TraceWriter {
    private let descriptor: Int32
    private var missing = 0
    /// Whether the file ends with an incomplete line, which must be terminated first.
    private var isWithinLine = false

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Records lines that were dropped elsewhere.
    mutating func miss(_ count: Int) { missing += count }

    /// - Parameter gap: Creates the line that states the number of missing lines.
    /// - Returns: `nil`, or the `errno` if the line was not written.
    mutating func write(_ line: [UInt8], noting gap: (Int) -> [UInt8]) -> Int32? {
        if missing > 0 {
            if let reason = write(gap(missing)) {
                missing += 1
                return reason
            }
            missing = 0
        }
        guard let reason = write(line) else { return nil }
        missing += 1
        return reason
    }

    private mutating func write(_ line: [UInt8]) -> Int32? {
        let end = [UInt8(ascii: "\n")]
        let bytes = (isWithinLine ? end : []) + line + end
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + done, $0.count - done) }
            if count < 0, errno == EINTR { continue }
            if count <= 0 {
                let reason = count < 0 ? errno : EIO
                // Only the line end is missing; the next line adds it.
                if done == bytes.count - 1 { break }
                if done > 0 { isWithinLine = bytes[done - 1] != UInt8(ascii: "\n") }
                return reason
            }
            done += count
        }
        isWithinLine = done < bytes.count
        return nil
    }
}
