/// Reads `multipart/form-data` (RFC 7578) in parts, so that files of any length need little memory.
struct MultipartReader {
    /// A field, or a piece of the file.
    enum Event {
        case field(name: String, value: String)
        case file([UInt8])
    }

    private static let mostField = 64 * 1024
    private static let mostHead = 8 * 1024

    private enum Place: Equatable { case before, head, field(String), file, after }

    private let mark: [UInt8]
    private var buffer: [UInt8] = Array("\r\n".utf8)
    private var place = Place.before

    /// - Parameter contentType: The header of the request.
    init?(contentType: String) {
        guard contentType.lowercased().hasPrefix("multipart/form-data"), let start = contentType.firstRange(of: "boundary=") else {
            return nil
        }
        let boundary = contentType[start.upperBound...].prefix { $0 != ";" }.filter { $0 != "\"" }
        guard 1...200 ~= boundary.utf8.count else { return nil }
        mark = Array("\r\n--\(boundary)".utf8)
    }

    /// Whether the last boundary was read.
    var isComplete: Bool { place == .after }

    /// Takes the next bytes. Returns `nil` if they are not valid.
    mutating func take(_ bytes: [UInt8]) -> [Event]? {
        buffer += bytes
        var events: [Event] = []
        while true {
            switch place {
            case .after:
                buffer = []
                return events
            case .before, .field, .file:
                guard let at = Self.find(mark, in: buffer) else {
                    if case .field = place { return buffer.count > Self.mostField ? nil : events }
                    // The end of the buffer can be the beginning of the boundary.
                    let ready = max(0, buffer.count - mark.count)
                    if place == .file, ready > 0 { events.append(.file(Array(buffer[..<ready]))) }
                    buffer.removeFirst(ready)
                    return events
                }
                guard buffer.count >= at + mark.count + 2 else { return events }
                if case .field(let name) = place {
                    events.append(.field(name: name, value: String(decoding: buffer[..<at], as: UTF8.self)))
                }
                if place == .file, at > 0 { events.append(.file(Array(buffer[..<at]))) }
                let isLast = buffer[at + mark.count] == UInt8(ascii: "-")
                buffer.removeFirst(at + mark.count + 2)
                place = isLast ? .after : .head
            case .head:
                guard let end = Self.find(Array("\r\n\r\n".utf8), in: buffer) else { return buffer.count > Self.mostHead ? nil : events }
                let head = String(decoding: buffer[..<end], as: UTF8.self)
                guard let name = Self.parameter("name", in: head) else { return nil }
                place = Self.parameter("filename", in: head) == nil ? .field(name) : .file
                buffer.removeFirst(end + 4)
            }
        }
    }

    private static func parameter(_ name: String, in head: String) -> String? {
        guard let start = head.firstRange(of: " \(name)=\"") else { return nil }
        return String(head[start.upperBound...].prefix { $0 != "\"" })
    }

    private static func find(_ mark: [UInt8], in bytes: [UInt8]) -> Int? {
        guard bytes.count >= mark.count else { return nil }
        return bytes.withUnsafeBufferPointer { bytes in
            var at = 0
            while at <= bytes.count - mark.count {
                if bytes[at] == mark[0], mark.indices.allSatisfy({ bytes[at + $0] == mark[$0] }) { return at }
                at += 1
            }
            return nil
        }
    }
}
