import Glibc

/// Reads the lines of a descriptor.
final class LineInput {
    private let descriptor: Int32
    private var bytes: ArraySlice<UInt8> = []
    private var isEnded = false

    init(descriptor: Int32) { self.descriptor = descriptor }

    /// Returns the next line without its end, or `nil` at the end.
    func next() -> String? {
        while true {
            if let end = bytes.firstIndex(of: 0x0A) {
                defer { bytes = bytes[(end + 1)...] }
                return String(decoding: bytes[..<end], as: UTF8.self)
            }
            if isEnded {
                defer { bytes = [] }
                return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
            }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { isEnded = true } else { bytes += buffer[..<count] }
        }
    }
}
