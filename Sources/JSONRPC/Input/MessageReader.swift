import Glibc

/// Reads messages from a descriptor, many with one `read(2)`. Each message is a view into the buffer.
protocol MessageReader: ~Copyable {
    /// Whether all received bytes have been consumed.
    var isDrained: Bool { get }
    /// The `errno` of the read failure, or `nil` at a regular end of the input.
    var failure: Int32? { get }
    /// Performs one read, and blocks until data arrives. Invalidates the messages returned earlier.
    mutating func fill() -> Filled
    /// Returns the next complete message.
    mutating func next() -> Received?
}

enum Filled { case some, end }

/// The outcome of one `read(2)`.
enum Arrived {
    case bytes(Int)
    case end
    case failure(Int32)

    /// Performs one read, and blocks until data arrives. `buffer` must not be empty.
    init(on descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) {
        while true {
            let count = read(descriptor, buffer.baseAddress!, buffer.count)
            if count > 0 {
                self = .bytes(count)
                return
            }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN {
                // The host has made the shared open file description nonblocking. Wait instead of changing its flags.
                var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                _ = poll(&request, 1, -1)
                continue
            }
            self = count < 0 ? .failure(errno) : .end
            return
        }
    }
}

/// An item read from the stream.
enum Received {
    /// One message without its frame. Valid until the next `fill`.
    case text(UnsafeRawBufferPointer)
    /// A message that exceeds the limit and is skipped.
    case tooLong
    /// Input that is not a message. If the flaw is final, the start of the next message is unknown and reading stops.
    case refused(FrameFlaw)
}

/// The flaws that the frame of a message can have.
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
    /// The body has a charset other than UTF-8 and is skipped.
    case otherCharset

    /// Whether the start of the next message is unknown.
    var isFinal: Bool { self != .otherCharset }

    /// The problem and the next step, as a clause without a final period.
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
