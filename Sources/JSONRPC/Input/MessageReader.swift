import Glibc

/// Reads messages from a descriptor, many with one `read(2)`, each lent out where it lies in the buffer.
protocol MessageReader: ~Copyable {
    /// Whether everything that was read has been taken.
    var isDrained: Bool { get }
    /// The system's number for why nothing more can be read, nil at a regular end.
    var failure: Int32? { get }
    /// Reads once, waiting for as long as it takes. Messages lent out before are no longer valid.
    mutating func fill() -> Filled
    /// The next message that has been read to its end.
    mutating func next() -> Received?
}

enum Filled { case some, end }

/// What one `read(2)` has brought.
enum Arrived {
    case bytes(Int)
    case end
    case failure(Int32)

    /// Reads once, waiting for as long as it takes. There is room in `buffer`.
    init(on descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) {
        while true {
            let count = read(descriptor, buffer.baseAddress!, buffer.count)
            if count > 0 {
                self = .bytes(count)
                return
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN {
                // The host has made the shared description nonblocking; it is not ours to change.
                var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = poll(&request, 1, -1)
                continue
            }
            self = count < 0 ? .failure(errno) : .end
            return
        }
    }
}

/// What was found on the stream.
enum Received {
    /// One message without its frame. Valid until the next `fill`.
    case text(UnsafeRawBufferPointer)
    /// A message beyond the limit, which is skipped.
    case tooLong
    /// Something that is no message. If it is final, nobody can say where the next one begins: nothing more is read.
    case refused(FrameFlaw)
}

/// What can be wrong with the frame of a message.
enum FrameFlaw: Equatable {
    case bareNewline
    case looksLikeJSON
    case notAField
    case noLength
    case twoLengths
    case badLength
    case hugeLength
    case headerTooLong
    case endsInside
    /// The body is named as something else than UTF-8; it is skipped.
    case otherCharset

    /// Whether nobody can say where the next message begins.
    var isFinal: Bool { self != .otherCharset }

    /// What is wrong and what to do, half a sentence without a full stop.
    var reason: String {
        switch self {
        case .bareNewline: "the header line ends with \\n instead of \\r\\n" + Self.end
        case .looksLikeJSON: "a message must begin with Content-Length; for JSON lines, omit --framing content-length" + Self.end
        case .notAField: "a header line must be a name, a colon and a value, in ASCII" + Self.end
        case .noLength: "the header has no Content-Length" + Self.end
        case .twoLengths: "the header has Content-Length twice" + Self.end
        case .badLength: "Content-Length must be the number of bytes that follow, in decimal digits" + Self.end
        case .hugeLength: "Content-Length exceeds \(FrameReader.maximumLength), the highest value of --max-line" + Self.end
        case .headerTooLong: "the header is longer than \(FrameReader.maximumHeader) bytes" + Self.end
        case .endsInside: "the input ended inside a message" + Self.end
        case .otherCharset: "messages must be UTF-8; this message uses another charset and was skipped"
        }
    }

    private static let end = "; the start of the next message is unknown, so reading stops"
}
