import Glibc

/// Writes whole lines into a file on which there may be no room. The first line after that says how many are missing.
struct TraceWriter {
    private let descriptor: Int32
    private var missing = 0
    /// The file ends within a line, which is to be ended first.
    private var isWithinLine = false

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Notes lines that were given up elsewhere.
    mutating func miss(_ count: Int) { missing += count }

    /// - Parameter gap: makes the line that says how many are missing.
    /// - Returns: nil, or the system's number for why the line is not there.
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
                // All but its end is there: the next line brings that.
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
