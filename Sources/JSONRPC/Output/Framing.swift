/// How messages are told apart on a stream.
public enum Framing: Sendable {
    /// One JSON text per line, ended by `\n`.
    case lines

    /// Ends the message that begins at `start`.
    func seal(_ bytes: inout [UInt8], from start: Int) {
        switch self {
        case .lines: bytes.append(UInt8(ascii: "\n"))
        }
    }

    /// A reader of such a stream.
    func reader(of descriptor: Int32, maximumMessage: Int) -> LineReader {
        switch self {
        case .lines: LineReader(descriptor, maximumLine: maximumMessage)
        }
    }
}
