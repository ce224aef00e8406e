import Glibc

/// A file, a pipe or a terminal that a command reads as a whole.
enum InputFile {
    /// Reads a descriptor until its end. Returns `nil` if it cannot be read.
    static func readAll(_ descriptor: Int32) -> [UInt8]? {
        var all: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return count == 0 ? all : nil }
            all += buffer[..<count]
        }
    }
}
