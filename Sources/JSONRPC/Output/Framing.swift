/// The message framing of a stream, for input and output.
public enum Framing: String, Sendable, CaseIterable {
    /// One JSON text per line, terminated by `\n`.
    case lines
    /// A header that contains the length of the body, as in the base protocol of the Language Server Protocol 3.17.
    case contentLength = "content-length"

    /// Completes the frame of the message that begins at `start`.
    func seal(_ bytes: inout [UInt8], from start: Int) {
        switch self {
        case .lines: bytes.append(UInt8(ascii: "\n"))
        case .contentLength: bytes.insert(contentsOf: "Content-Length: \(bytes.count - start)\r\n\r\n".utf8, at: start)
        }
    }
}
