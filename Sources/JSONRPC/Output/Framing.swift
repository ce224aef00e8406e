/// How messages are told apart on a stream, both ways.
public enum Framing: String, Sendable, CaseIterable {
    /// One JSON text per line, ended by `\n`.
    case lines
    /// A header that says how many bytes follow, as in the base protocol of the Language Server Protocol 3.17.
    case contentLength = "content-length"

    /// Completes the message that begins at `start`.
    func seal(_ bytes: inout [UInt8], from start: Int) {
        switch self {
        case .lines: bytes.append(UInt8(ascii: "\n"))
        case .contentLength: bytes.insert(contentsOf: "Content-Length: \(bytes.count - start)\r\n\r\n".utf8, at: start)
        }
    }
}
