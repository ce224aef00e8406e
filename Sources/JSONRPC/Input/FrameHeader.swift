/// The header before a message: lines that end with `\r\n`, followed by an empty line.
struct FrameHeader: Equatable {
    /// The length of the body, in bytes.
    var length: Int
    /// Whether the body is UTF-8. Defaults to `true` if the header does not name a charset.
    var isUTF8 = true
    /// The length of the header, in bytes.
    var size: Int

    enum Reading: Equatable {
        case complete(FrameHeader)
        /// The end of the header has not been received.
        case unfinished
        case broken(FrameFlaw)
    }

    /// Parses the header at the beginning of `bytes`.
    static func read(_ bytes: UnsafeRawBufferPointer) -> Reading {
        if let first = bytes.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") { return .broken(.looksLikeJSON) }
        var length: Int?
        var isUTF8 = true
        var place = 0
        while let newline = bytes[place...].prefix(FrameReader.maximumHeader).firstIndex(of: 0x0A) {
            guard newline > place, bytes[newline - 1] == 0x0D else { return .broken(.bareNewline) }
            let line = bytes[place..<newline - 1]
            place = newline + 1
            if place > FrameReader.maximumHeader { return .broken(.headerTooLong) }
            if line.isEmpty {
                guard let length else { return .broken(.noLength) }
                return .complete(FrameHeader(length: length, isUTF8: isUTF8, size: place))
            }
            guard let (name, value) = field(line) else { return .broken(.notAField) }
            switch name {
            case "content-length":
                if length != nil { return .broken(.twoLengths) }
                switch number(value) {
                case nil: return .broken(.badLength)
                case let count? where count > FrameReader.maximumLength: return .broken(.hugeLength)
                case let count?: length = count
                }
            case "content-type": isUTF8 = namesUTF8(value)
            default: break
            }
        }
        return bytes.count > FrameReader.maximumHeader ? .broken(.headerTooLong) : .unfinished
    }

    /// Returns the name in lowercase and the value without surrounding white space.
    private static func field(_ line: Slice<UnsafeRawBufferPointer>) -> (name: String, value: String)? {
        guard line.allSatisfy({ 0x20...0x7E ~= $0 || $0 == 0x09 }), let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = line[..<colon]
        guard !name.isEmpty, !name.contains(where: { $0 == 0x20 || $0 == 0x09 }) else { return nil }
        let value = line[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
        let text = String(decoding: value, as: UTF8.self)
        let end = text.lastIndex { $0 != " " && $0 != "\t" }
        return (String(decoding: name, as: UTF8.self).lowercased(), end.map { String(text[...$0]) } ?? "")
    }

    /// Parses a decimal number. A number that overflows `Int` becomes `Int.max`, which exceeds every limit.
    private static func number(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else { return nil }
        return Int(text) ?? .max
    }

    /// Returns whether a content type specifies UTF-8 or no charset. The first version of the protocol required the name `utf8`.
    private static func namesUTF8(_ value: String) -> Bool {
        for parameter in value.lowercased().split(separator: ";").dropFirst() {
            let parts = parameter.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\t" && $0 != "\"" } }
            if parts.first == "charset" { return parts.count == 2 && ["utf-8", "utf8"].contains(parts[1]) }
        }
        return true
    }
}
